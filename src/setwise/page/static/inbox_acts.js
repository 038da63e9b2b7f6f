// What people do with albums of the inbox: decide, split, take groups apart; each with a way back.

import { Refused, post } from "./api.js";
import { chooseClass } from "./dialogs.js";
import { candidatesOf } from "./inbox_pane.js";
import { openRow } from "./inbox_sheet.js";
import { currentInbox, did, refreshInbox, takeInbox } from "./store.js";
import { say, warn } from "./toast.js";
import { counted } from "./words.js";

/** @typedef {import("./types.js").InboxRow} InboxRow */

export const isOpen = (row) => row.state === "done" && row.decided === null;
export const rowWith = (id) => currentInbox()?.rows.find((row) => row.id === id) ?? null;

/** The name that Enter takes; null where nobody is near. */
export const guessOf = (row) => row.label ?? (row.is_far ? row.most_like : null);

const tried = async (work) => {
  try {
    await work();
    return true;
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    warn(error.message);
    return false;
  }
};

/** Decisions `{ id, label, without }`, sent at once; they show before the server has them. */
const set = (decisions) => {
  const wanted = new Map(decisions.map((one) => [one.id, one]));
  const before = decisions.map(({ id }) => rowWith(id)).filter(Boolean);
  takeInbox({ rows: before.map((row) => ({ ...row, decided: wanted.get(row.id).label })) });
  return tried(async () => {
    try {
      takeInbox({ rows: await post("/api/v1/inbox/decide", { decisions }) });
    } catch (error) {
      takeInbox({ rows: before });
      throw error;
    }
  });
};

const asItIs = ({ id, decided, without }) => (decided === null ? { id, label: null } : { id, label: decided, without });

/** Make decisions, with a way back; `onTravel(id)` is called after each way. */
export const decide = async (decisions, words, onTravel = (_) => {}) => {
  const before = decisions.map(({ id }) => asItIs(rowWith(id)));
  const sent = set(decisions);
  const goTo = (list) => async () => {
    await sent;
    if (!(await set(list))) return false;
    onTravel(list[0].id);
    return true;
  };
  const forget = did({ words, undo: goTo(before), redo: goTo(decisions) });
  const isDone = await sent;
  if (!isDone) forget();
  return isDone;
};

/** The albums that a row stands for: a group is several. */
export const membersOf = (row) => row.members ?? [row];

/** One name, or none, for the albums of some rows. */
export const decideAll = (rows, label, without, onTravel) => {
  const albums = rows.flatMap(membersOf).filter((row) => row.state === "done" && (label !== row.decided || without));
  if (!albums.length) return false;
  const what = albums.length === 1 ? albums[0].name : counted(albums.length, "album");
  const words = label === null ? `${what} ${albums.length === 1 ? "is" : "are"} to be decided again` : `${what} ${albums.length === 1 ? "is" : "are"} ${label}`;
  return decide(albums.map(({ id }) => ({ id, label, without })), words, onTravel);
};

/** Ask who the albums of some rows show. Resolves with a name or null. */
export const askName = (rows) => {
  const [row] = rows;
  const n = rows.flatMap(membersOf).length;
  const title = n > 1 ? `Who or what are these ${counted(n, "album")}?` : `Who or what is “${row.name}”?`;
  return chooseClass(title, { hint: n > 1 ? "One name for all of them." : row.words, likely: candidatesOf(row) });
};

/** Look at all photos of an album; what is left out, and who it is. */
export const lookAt = async (row, onTravel) => {
  const guess = row.decided ?? guessOf(row);
  const without = await openRow(row, guess);
  if (!without) return;
  const label = guess ?? (await askName([row]));
  if (label !== null) await decideAll([row], label, without, onTravel);
};

/** Take the parts of an album for albums of their own, or for one again. */
export const divide = async (row, how) => {
  const call = (id, which) => () =>
    tried(async () => takeInbox(await post(`/api/v1/inbox/${encodeURIComponent(id)}/${which}`)));
  if (!(await call(row.id, how)())) return;
  const isSplit = how === "split";
  if (isSplit) did({ words: `${row.name} is split`, undo: call(`${row.id}-1`, "join"), redo: call(row.id, "split") });
  say(isSplit ? `${row.name} is ${counted(row.parts.length, "album")} now.` : "Joined again.");
};

/** Albums of a group that are not the same. */
export const takeApart = async (row) => {
  const ids = row.members.map(({ id }) => id);
  const call = (isBack) => () =>
    tried(async () => {
      await post("/api/v1/inbox/apart", { ids, is_back: isBack });
      await refreshInbox();
    });
  if (await call(false)()) did({ words: `${counted(ids.length, "album")} are shown one by one`, undo: call(true), redo: call(false) });
};

const spread = (lists, n) => {
  const mixed = [];
  for (let i = 0; mixed.length < n && lists.some((list) => i < list.length); i += 1)
    for (const list of lists) if (i < list.length) mixed.push(list[i]);
  return mixed.slice(0, n);
};

/** Unknown albums that belong together, as one row. */
const groupRow = (members) => ({
  ...members[0],
  id: `group ${members[0].id}`,
  members,
  name: members.map(({ name }) => name).join(", "),
  n_images: members.reduce((sum, row) => sum + row.n_images, 0),
  words: `${counted(members.length, "album")} that belong together`,
  reason: "They are like each other, and like nobody in the gallery. Name them once.",
  uncertainty: Math.max(...members.map((row) => row.uncertainty)),
  photos: spread(members.map((row) => row.photos), 8),
  without: members.flatMap((row) => row.without),
});

/** The rows as they are listed: groups that are not decided yet are one row. */
export const asListed = (rows) => {
  const groups = new Map();
  for (const row of rows)
    if (row.group !== null && isOpen(row)) groups.set(row.group, [...(groups.get(row.group) ?? []), row]);
  const grouped = new Map([...groups].filter(([, members]) => members.length > 1));
  const listed = rows.filter((row) => !(isOpen(row) && grouped.has(row.group)));
  return [...listed, ...[...grouped.values()].map(groupRow)];
};
