// The one store: what this window knows of the server, and what it is asking for. Views subscribe.

import { Refused, get, post } from "./api.js";
import { follow } from "./events.js";
import { applied } from "./optimistic.js";
import { say, warn } from "./toast.js";

/** @typedef {import("./types.js").Overview} Overview */
/** @typedef {import("./types.js").Inbox} Inbox */

const WAITING = "setwise-changes",
  COMMAND = "command",
  AGAIN_MS = 700;

/** @type {Overview | null} */
let known = null; // as the server knows it
/** @type {Overview | null} */
let gallery = null; // as it will be, when what waits is done
/** @type {Inbox | null} */
let inbox = null;
let questions = {}; // versions by id
let names = []; // decided on in the inbox, and not yet in the gallery
const done = []; // what this window did, newest last: COMMAND, or { words, undo, redo }
const undone = []; // what was undone since
const listeners = Object.fromEntries(
  ["gallery", "inbox", "questions", "start", "offline", "ways", "busy"].map((topic) => [topic, new Set()]),
);

/** @returns {any} the gallery, with what waits: see optimistic.js */
export const current = () => gallery;
export const currentInbox = () => inbox;
export const questionVersions = () => questions;
/** Hear of a topic; the function that is returned ends that. */
export const subscribe = (topic, act) => {
  listeners[topic].add(act);
  return () => void listeners[topic].delete(act);
};
const tell = (topic, value) => {
  for (const act of listeners[topic]) act(value);
};

/** Names that people may choose: those of the gallery, and those decided on since. */
/** @type {() => any[]} */
export const knownNames = () => {
  const there = new Set(gallery?.classes.map(({ name }) => name));
  return [
    ...(gallery?.classes ?? []),
    ...names.filter((name) => !there.has(name)).map((name) => ({ name, isNew: true, sets: [] })),
  ];
};
export const offerNames = (decided) => {
  names = [...new Set(decided)].sort();
};

/** The photo that stands for a person or thing. */
export const coverOf = (label) => gallery?.classes.find((one) => one.name === label)?.cover ?? null;

// ------------------------------------------------------------------------- what the server knows

const asking = new Map(); // one request of a kind at a time; the last wish wins
const once = (kind, ask) => {
  const now = asking.get(kind);
  if (now) {
    now.again = true;
    return now.promise;
  }
  const job = { again: false, promise: null };
  asking.set(kind, job);
  job.promise = (async () => {
    try {
      do {
        job.again = false;
        await ask();
      } while (job.again);
    } finally {
      asking.delete(kind);
    }
  })();
  return job.promise;
};

let again = null;
const later = (ms) => {
  clearTimeout(again);
  again = setTimeout(refresh, ms);
};

const show = () => {
  gallery = known && waiting.reduce(applied, known);
  if (gallery) tell("gallery", gallery);
  tell("ways");
};

/** Ask for the gallery again. */
export const refresh = () =>
  once("gallery", async () => {
    try {
      known = await get("/api/v1/gallery");
      tell("offline", null);
      show();
    } catch (error) {
      if (error.status === 409) {
        tell("offline", null);
        return tell("start");
      }
      tell("offline", error.message);
      later(2000);
    }
    return undefined;
  });

/** Ask for what has changed in the inbox. */
export const refreshInbox = () =>
  once("inbox", async () => {
    if (!known?.inbox) return;
    try {
      const found = await get(`/api/v1/inbox?since=${encodeURIComponent(inbox?.version ?? "")}`);
      takeInbox(found);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      tell("inbox", { ...inbox, error: error.message });
    }
  });

/** Rows that have changed, and all others as they were. */
export const takeInbox = (found) => {
  const rows = new Map((found.is_whole ? [] : (inbox?.rows ?? [])).map((row) => [row.id, row]));
  for (const row of found.rows) rows.set(row.id, row);
  const ids = found.ids ?? [...rows.keys()];
  inbox = { ...inbox, ...found, rows: ids.map((id) => rows.get(id)).filter(Boolean) };
  offerNames(inbox.rows.map((row) => row.decided).filter(Boolean));
  tell("inbox", inbox);
};

const NEWS = {
  gallery: (now) => {
    const isNew = now.revision !== known?.revision || now.covers !== seen.covers;
    const isReady = known?.weak_state === "computing" && now.weak_ready;
    seen = now;
    showBusy();
    if (isNew || isReady) refresh();
  },
  questions: (now) => {
    questions = now;
    tell("questions", questions);
  },
  inbox: (now) => {
    if (now.version !== inbox?.version || now.state !== inbox?.state || now.done !== inbox?.done) refreshInbox();
  },
  start: () => tell("start"),
  open: () => {
    refresh();
    refreshInbox();
  },
  lost: () => later(500),
};
let seen = { covers: 0, is_learning: false, learnt_by: null };

// ------------------------------------------------------------------------- changes

const remembered = () => {
  try {
    return JSON.parse(sessionStorage.getItem(WAITING) ?? "[]");
  } catch {
    return [];
  }
};
/** Changes that are not done yet: a reload or a server that was started anew loses none. */
let waiting = remembered();
const wait = (list) => {
  waiting = list;
  try {
    sessionStorage.setItem(WAITING, JSON.stringify(waiting));
  } catch {
    /* not allowed here: then a reload loses what waits */
  }
  show();
  showBusy();
};

/** What is being done with the gallery, for the badge. */
const showBusy = () =>
  tell("busy", { n: waiting.length + nTravels, isLearning: seen.is_learning, learntBy: seen.learnt_by });

const keyOf = () => [...crypto.getRandomValues(new Uint8Array(12))].map((byte) => byte.toString(16).padStart(2, "0")).join("");

const isThere = async () => {
  try {
    await get("/api/v1/history?limit=1");
    return true;
  } catch (error) {
    return error.status !== 0;
  }
};
/** Wait for a server that does not answer. */
export const untilItIsBack = async (isOver = () => false) => {
  while (!isOver() && !(await isThere())) await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
};

/** Send a change until the server has it; under its key it is done once. */
const sent = async ({ path, body, key }) => {
  for (;;) {
    try {
      let change = await post(path, { ...body, key, revision: known.revision }, { Prefer: "wait=30" });
      while (change.state === "waiting" || change.state === "working") {
        await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
        change = await get(`/api/v1/changes/${key}`);
      }
      if (change.state === "failed") throw new Refused(change.error, 422);
      return change;
    } catch (error) {
      if (error.status !== 0 && error.status !== 503) throw error;
      tell("offline", error.message);
      await untilItIsBack();
      await refresh();
    }
  }
};

const perform = async (change) => {
  try {
    const { words } = await sent(change);
    done.push(COMMAND);
    undone.length = 0;
    waiting = waiting.filter(({ key }) => key !== change.key);
    await refresh(); // which has it
    wait(waiting);
    say(words, { words: "Undo", act: undo });
    return true;
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    wait(waiting.filter(({ key }) => key !== change.key));
    warn(error.message);
    refresh();
    return false;
  } finally {
    refreshInbox();
  }
};

/** @type {Promise<any>} */
let last = Promise.resolve();
/** @type {(work: () => Promise<boolean>) => Promise<boolean>} */
const inTurn = (work) => {
  const result = last.then(work);
  last = result.catch(() => {});
  return result;
};

const asked = (name, path, body, about) => {
  const change = { key: keyOf(), name, path, body, about };
  wait([...waiting, change]);
  return inTurn(() => perform(change));
};

/** Change the gallery: it shows at once. Resolves with whether it was done; `about` is for the eye. */
export const command = (name, body = {}, about = undefined) => asked(name, `/api/v1/commands/${name}`, body, about);

/** A change at another address, such as that of the inbox. */
export const commandAt = (path, body) => asked(path, path, body);

// ------------------------------------------------------------------------- undo and redo

/** Something this window did that is no command, and can be undone; what is returned forgets it. */
export const did = (act) => {
  done.push(act);
  undone.length = 0;
  tell("ways");
  return () => {
    if (done.includes(act)) done.splice(done.indexOf(act), 1);
    tell("ways");
  };
};

/** What Undo and Redo would do, in words: the last thing done, whatever it was. */
export const ways = () => {
  const of = (list, way) => {
    const newest = list.at(-1);
    return newest && newest !== COMMAND ? newest.words : (way?.words ?? null);
  };
  return { undo: of(done, gallery?.can_undo), redo: of(undone, gallery?.can_redo) };
};

let nTravels = 0;
const travelled = async (name, from, to) => {
  if (!known?.[`can_${name}`]) return false;
  nTravels += 1;
  showBusy();
  try {
    const { words } = await post(`/api/v1/commands/${name}`, { revision: known.revision }, { Prefer: "wait=60" });
    if (from.at(-1) === COMMAND) from.pop();
    to.push(COMMAND);
    await refresh();
    say(words, name === "undo" ? { words: "Redo", act: redo } : { words: "Undo", act: undo });
    return true;
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    warn(error.message);
    refresh();
    return false;
  } finally {
    nTravels -= 1;
    showBusy();
    refreshInbox();
  }
};

const travel = (name) => async () => {
  await last; // what was asked for before
  const [from, to] = name === "undo" ? [done, undone] : [undone, done];
  const newest = from.at(-1);
  if (!newest || newest === COMMAND) return inTurn(() => travelled(name, from, to));
  from.pop();
  to.push(newest);
  tell("ways");
  const isDone = await newest[name]();
  if (isDone) say(`${name === "undo" ? "Undone" : "Redone"}: ${newest.words}`);
  return isDone;
};
/** Undo or redo a change of the gallery, whatever this window has done since. */
export const undoCommand = () => inTurn(() => travelled("undo", done, undone));
export const redoCommand = () => inTurn(() => travelled("redo", undone, done));
/** Undo the last thing, be it a decision of this window or a change of the gallery. */
export const undo = travel("undo");
export const redo = travel("redo");

/** Begin: ask for everything, send what waits since a reload, and follow what others do. */
export const begin = async () => {
  await refresh();
  if (known) for (const change of waiting) inTurn(() => perform(change));
  refreshInbox();
  follow((topic, data) => NEWS[topic](data));
};
