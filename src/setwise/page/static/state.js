// The gallery as this window knows it; views subscribe, and changes by other windows arrive as events.

import { Refused, get, post } from "./api.js";
import { say, warn } from "./toast.js";

let gallery = null;
let asking = null;
let again = null; // the timer of the next request, of which there is one at most
const listeners = { gallery: new Set(), inbox: new Set(), offline: new Set() };

export const current = () => gallery;
export const subscribe = (topic, act) => {
  listeners[topic].add(act);
};
const tell = (topic, value) => {
  for (const act of listeners[topic]) act(value);
};

const later = (ms) => {
  clearTimeout(again);
  again = setTimeout(refresh, ms);
};

/** Ask for the gallery again; several wishes at once are one request, and the last one wins. */
export const refresh = async () => {
  if (asking) {
    asking.again = true;
    return asking.promise;
  }
  const job = { again: false };
  asking = job;
  job.promise = (async () => {
    try {
      do {
        job.again = false;
        gallery = await get("/api/gallery");
        tell("offline", null);
        tell("gallery", gallery);
      } while (job.again);
      if (gallery.weak_state === "computing") later(1500);
    } catch (error) {
      tell("offline", error.message);
      later(2000);
    } finally {
      asking = null;
    }
  })();
  return job.promise;
};

const perform = async (name, body) => {
  if ((name === "undo" && !gallery.can_undo) || (name === "redo" && !gallery.can_redo)) return false;
  try {
    const { words } = await post(`/api/commands/${name}`, { ...body, revision: gallery.revision });
    await refresh();
    const undo = name === "undo" ? null : { words: "Undo", act: () => command("undo") };
    say(words, name === "undo" ? { words: "Redo", act: () => command("redo") } : undo);
    return true;
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    warn(error.message);
    refresh();
    return false;
  }
};

let last = Promise.resolve();

/** Change the gallery, one command after the other, and say what was done. Returns whether it was done. */
export const command = (name, body = {}) => {
  const done = last.then(() => perform(name, body));
  last = done.catch(() => {});
  return done;
};

/** Follow what other windows and programs do. A hidden window lets go: browsers lend few connections. */
export const follow = () => {
  let source = null;
  const listen = () => {
    if (source || document.hidden) return;
    source = new EventSource("/api/events");
    let wasLost = false;
    source.addEventListener("open", () => {
      if (wasLost) refresh();
      wasLost = false;
    });
    source.addEventListener("error", () => {
      wasLost = true;
      if (source?.readyState === EventSource.CLOSED) {
        close();
        setTimeout(listen, 2000);
      }
      later(500);
    });
    source.addEventListener("gallery", (event) => {
      let revision;
      try {
        ({ revision } = JSON.parse(event.data));
      } catch {
        /* then ask anyway */
      }
      if (revision === undefined || revision !== gallery?.revision || gallery?.weak_state === "computing")
        refresh();
    });
    source.addEventListener("inbox", () => tell("inbox"));
  };
  const close = () => {
    source?.close();
    source = null;
  };
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) close();
    else {
      listen();
      refresh();
      tell("inbox");
    }
  });
  window.addEventListener("pagehide", close);
  window.addEventListener("pageshow", listen);
  listen();
};
