// The gallery as this window knows it; views subscribe, and changes by other windows arrive as events.

import { Refused, get, post } from "./api.js";
import { say, warn } from "./toast.js";

let gallery = null;
let asking = null;
let names = []; // decided on in the inbox, and not yet in the gallery
const done = []; // what this window did, newest last: COMMAND, or { words, undo, redo }
const undone = []; // what was undone since
const COMMAND = "command";
let again = null; // the timer of the next request, of which there is one at most
let nWaiting = 0; // commands that are not done yet
const listeners = {
  gallery: new Set(),
  inbox: new Set(),
  offline: new Set(),
  ways: new Set(),
  busy: new Set(),
  start: new Set(), // there is no gallery yet
};

export const current = () => gallery;
export const subscribe = (topic, act) => {
  listeners[topic].add(act);
};
const tell = (topic, value) => {
  for (const act of listeners[topic]) act(value);
};

/** Names that people may choose: those of the gallery, and those decided on since. */
export const knownNames = () => {
  const known = new Set(gallery?.classes.map(({ name }) => name));
  return [
    ...(gallery?.classes ?? []),
    ...names.filter((name) => !known.has(name)).map((name) => ({ name, isNew: true, sets: [] })),
  ];
};
export const offerNames = (decided) => {
  names = [...new Set(decided)].sort();
};

/** Something this window did that is no command, and can be undone by itself. */
export const did = (act) => {
  done.push(act);
  undone.length = 0;
  tell("ways");
};

/** What Undo and Redo would do, in words: the last thing done, whatever it was. */
export const ways = () => {
  const of = (list, way) => {
    const last = list.at(-1);
    return last && last !== COMMAND ? last.words : (way?.words ?? null);
  };
  return { undo: of(done, gallery?.can_undo), redo: of(undone, gallery?.can_redo) };
};

const travel = (name) => async () => {
  const [from, to] = name === "undo" ? [done, undone] : [undone, done];
  const last = from.at(-1);
  if (!last || last === COMMAND) return command(name);
  from.pop();
  to.push(last);
  tell("ways");
  const isDone = await last[name]();
  if (isDone) say(`${name === "undo" ? "Undone" : "Redone"}: ${last.words}`);
  return isDone;
};
/** Undo the last thing, be it a decision of this window or a change of the gallery. */
export const undo = travel("undo");
export const redo = travel("redo");

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
        gallery = await get("/api/v1/gallery");
        tell("offline", null);
        tell("gallery", gallery);
      } while (job.again);
      if (gallery.weak_state === "computing") later(1500);
    } catch (error) {
      if (error.status === 409) {
        tell("offline", null);
        tell("start");
        return;
      }
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
  return act(`/api/v1/commands/${name}`, body, name);
};

const act = async (path, body, name) => {
  nWaiting += 1;
  tell("busy", nWaiting);
  try {
    const { words } = await post(path, { ...body, revision: gallery.revision });
    const [from, to] = name === "undo" ? [done, undone] : [undone, done];
    if (from.at(-1) === COMMAND) from.pop();
    to.push(COMMAND);
    if (name !== "undo" && name !== "redo") undone.length = 0;
    await refresh();
    tell("ways");
    if (name === "undo") say(words, { words: "Redo", act: redo });
    else say(words, { words: "Undo", act: undo });
    return true;
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    warn(error.message);
    refresh();
    return false;
  } finally {
    nWaiting -= 1;
    tell("busy", nWaiting);
  }
};

let last = Promise.resolve();

const inTurn = (work) => {
  const result = last.then(work);
  last = result.catch(() => {});
  return result;
};

/** Change the gallery, one command after the other, and say what was done. Returns whether it was done. */
export const command = (name, body = {}) => inTurn(() => perform(name, body));

/** The same at another address, such as that of the inbox. */
export const commandAt = (path, body) => inTurn(() => act(path, body, path));

/** Follow what other windows and programs do. A hidden window lets go: browsers lend few connections. */
export const follow = () => {
  let source = null;
  const listen = () => {
    if (source || document.hidden) return;
    source = new EventSource("/api/v1/events");
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
    source.addEventListener("start", () => tell("start"));
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
