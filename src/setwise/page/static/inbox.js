// Inbox: many sets, the most uncertain on top, decided with a few keys.

import { Refused, get, post } from "./api.js";
import { chooseClass, confirm } from "./dialogs.js";
import { button, byId, el } from "./dom.js";
import { rowOf } from "./inbox_row.js";
import { candidatesOf, paneOf } from "./inbox_pane.js";
import { confirmSure, openRow, rowPhotos } from "./inbox_sheet.js";
import { openLightbox } from "./lightbox.js";
import { commandAt, current, did, offerNames, subscribe, undo } from "./store.js";
import { term } from "./terms.js";
import { say, warn } from "./toast.js";
import { counted, duration, folded } from "./words.js";

const RANKS = { done: 0, failed: 1, waiting: 2, enrolled: 3, transferred: 3 };
const FILTERS = {
  all: ["all", () => true],
  open: ["to decide", (row) => row.state === "done" && row.decided === null],
  unsure: ["unsure", (row) => row.confidence === "not sure" || row.confidence === "a guess"],
  unknown: ["unknown", (row) => row.is_known === false],
  decided: ["decided", (row) => row.decided !== null],
};

let parts = null;
let inbox = null;
let chosen = null; // the id of the row that keys act on
let isByHand = false; // until somebody chooses one, it is the first
let fetching = false,
  isStale = false;
const made = new Map();

const rowsShown = () => [...parts.body.children].map((tr) => tr.dataset.id).filter(Boolean);
const rowWith = (id) => inbox?.rows.find((row) => row.id === id) ?? null;
const isOpen = (row) => row.state === "done" && row.decided === null;

const fetchInbox = async () => {
  if (!current()?.inbox) return;
  if (fetching) {
    isStale = true;
    return;
  }
  fetching = true;
  try {
    do {
      isStale = false;
      take(await get("/api/v1/inbox"));
    } while (isStale);
  } catch (error) {
    parts.progress.textContent = error.message;
  } finally {
    fetching = false;
  }
  if (inbox && (inbox.state === "reading" || inbox.state === "looking")) setTimeout(fetchInbox, 1000);
};

const take = (given) => {
  inbox = given;
  offerNames(inbox.rows.map((row) => row.decided).filter(Boolean));
  fill();
};

const choose = (id, { focus = false } = {}) => {
  isByHand ||= focus;
  chosen = id;
  for (const tr of parts.body.children) {
    const isChosen = tr.dataset.id === id;
    tr.tabIndex = isChosen ? 0 : -1;
    if (isChosen) tr.setAttribute("aria-current", "true");
    else tr.removeAttribute("aria-current");
    if (isChosen && focus) tr.focus();
    for (const one of tr.querySelectorAll("button")) one.tabIndex = isChosen ? 0 : -1;
  }
  const row = rowWith(id);
  parts.pane.replaceChildren(...(row ? paneOf(row, acts) : []));
};

const move = (change) => {
  const ids = rowsShown();
  if (!ids.length) return;
  const at = ids.indexOf(chosen);
  choose(ids[Math.max(0, Math.min(ids.length - 1, at < 0 ? 0 : at + change))], { focus: true });
};

const moveToOpen = () => {
  const ids = rowsShown(),
    at = ids.indexOf(chosen);
  const next = [...ids.slice(at + 1), ...ids.slice(0, at)].find((id) => isOpen(rowWith(id)));
  if (next) choose(next, { focus: true });
  else choose(chosen, { focus: true });
};

/** Decisions `{ id, label, without }`, sent at once; returns whether they are made. */
const set = async (decisions) => {
  try {
    const rows = new Map(
      (await post("/api/v1/inbox/decide", { decisions })).map((row) => [row.id, row]),
    );
    take({ ...inbox, rows: inbox.rows.map((row) => rows.get(row.id) ?? row) });
    return true;
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    warn(error.message);
    return false;
  }
};

const asItIs = ({ id, decided, without }) =>
  decided === null ? { id, label: null } : { id, label: decided, without };

/** Make decisions, with a way back. */
const make = async (decisions, words) => {
  const before = decisions.map(({ id }) => asItIs(rowWith(id)));
  if (!(await set(decisions))) return false;
  const goTo = (done) => async () => {
    if (!(await set(done))) return false;
    if (!byId("view-inbox").hidden) choose(done[0].id, { focus: true });
    return true;
  };
  did({ words, undo: goTo(before), redo: goTo(decisions) });
  return true;
};

const decide = async (id, label, without = null) => {
  const row = rowWith(id);
  if (!row || row.state !== "done" || label === undefined) return;
  if (label === row.decided && without === null) return;
  const words = label === null ? `${row.name} is to be decided again` : `${row.name} is ${label}`;
  if (!(await make([{ id, label, without }], words))) return;
  parts.live.textContent = `${words}.`;
  if (label !== null && id === chosen) moveToOpen();
};

const ask = async (id) => {
  const row = rowWith(id);
  if (!row || row.state !== "done") return;
  const label = await chooseClass(`Who or what is “${row.name}”?`, {
    hint: row.words,
    likely: candidatesOf(row),
  });
  if (label !== null) await decide(id, label);
};

const guessOf = (row) => row.label ?? (row.is_far ? row.most_like : null);

const accept = (row) => {
  if (row.parts.length) return divide(row, "split");
  return guessOf(row) === null ? ask(row.id) : decide(row.id, guessOf(row));
};

const divide = async (row, how) => {
  const call = (id, which) => async () => {
    try {
      take(await post(`/api/v1/inbox/${encodeURIComponent(id)}/${which}`));
      return true;
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      warn(error.message);
      return false;
    }
  };
  const isSplit = how === "split";
  if (!(await call(row.id, how)())) return;
  const words = isSplit ? `${row.name} is split` : "an album is joined again";
  if (isSplit) did({ words, undo: call(`${row.id}-1`, "join"), redo: call(row.id, "split") });
  say(isSplit ? `${row.name} is ${counted(row.parts.length, "album")} now.` : "Joined again.");
};

const photosOf = async (row) => {
  const without = await openRow(row, guessOf(row) ?? row.decided);
  if (!without) return;
  const label = row.decided ?? guessOf(row);
  if (label === null) await ask(row.id);
  else await decide(row.id, label, without);
};

const acts = {
  onDecide: decide,
  onAsk: ask,
  onPhotos: (id) => photosOf(rowWith(id)),
  onLarge: (row, at) => openLightbox(rowPhotos(row), at),
  onJoin: (row) => divide(row, "join"),
};

const sureOnes = () =>
  inbox.rows.filter((row) => isOpen(row) && row.label !== null && row.confidence === "sure");
const decidedOnes = () => inbox.rows.filter((row) => row.decided !== null && row.state === "done");

// What is in the gallery already may still lie in the inbox.
const transferable = () =>
  inbox.rows.filter((row) => row.decided !== null && (row.state === "done" || row.state === "enrolled"));

const acceptSure = async () => {
  const chosenRows = await confirmSure(sureOnes());
  if (!chosenRows?.length) return;
  const decisions = chosenRows.map(({ id, label }) => ({ id, label, without: null }));
  const words = `${counted(decisions.length, "sure answer")} accepted`;
  if (await make(decisions, words)) say(`${words}.`, { words: "Undo", act: undo });
};

const change = async (path, body, control, words) => {
  const before = control.textContent;
  control.disabled = true;
  control.setAttribute("aria-busy", "true");
  control.textContent = words;
  await commandAt(path, body);
  control.removeAttribute("aria-busy");
  control.textContent = before;
  await fetchInbox();
};

const enrollAll = () =>
  change("/api/v1/inbox/enroll", { ids: decidedOnes().map(({ id }) => id) }, parts.enroll, "Adding…");

const transfer = (how) => async () => {
  const rows = transferable();
  const photos = rows.reduce((sum, row) => sum + row.n_images - row.without.length, 0);
  const nOut = rows.reduce((sum, row) => sum + row.without.length, 0);
  const labels = new Set(rows.map((row) => row.decided));
  const verb = how === "copy" ? "Copy" : "Move";
  const isSure = await confirm(
    `${verb} ${counted(rows.length, "album")}?`,
    [
      `${counted(photos, "photo")} will be ${how === "copy" ? "copied" : "moved"} into ${counted(labels.size, "folder")}, one for each person or thing, below the folder given with --into.`,
      how === "copy"
        ? "The inbox stays as it is. Nothing is overwritten."
        : "They will be gone from the inbox. Nothing is overwritten, and Undo brings them back.",
      ...(nOut ? [`${counted(nOut, "photo")} that ${nOut === 1 ? "does" : "do"} not belong ${nOut === 1 ? "stays" : "stay"} in the inbox.`] : []),
    ],
    `${verb} ${counted(photos, "photo")}`,
  );
  if (!isSure) return;
  const ids = rows.map(({ id }) => id);
  await change("/api/v1/inbox/transfer", { how, ids }, parts[how], how === "copy" ? "Copying…" : "Moving…");
};

const progressWords = () => {
  const { state, done, total, error, estimate_s: left } = inbox;
  if (state === "failed") return error ?? "The inbox could not be read.";
  if (state === "reading")
    return total ? `Reading the inbox: ${done} of ${counted(total, "photo")}.` : "Reading the inbox…";
  if (state === "looking")
    return `${done} of ${counted(total, "album")} compared${left ? `: ${duration(left)} left` : ""}.`;
  const open = inbox.rows.filter(isOpen).length;
  return open
    ? `${counted(open, "album")} to decide.`
    : inbox.rows.length
      ? "All albums are decided."
      : "The inbox is empty. Albums that you put into its folder appear here.";
};

const label = (control, words, n) => {
  if (control.getAttribute("aria-busy")) return;
  control.textContent = n ? `${words} (${n})` : words;
  control.disabled = !n;
};

const showLeftOut = () => {
  const files = inbox.left_out;
  parts.leftOut.hidden = !files.length;
  parts.leftOut.replaceChildren(
    el("summary", {}, `${counted(files.length, "file")} could not be used`),
    el("ul", {}, ...files.map(({ name, reason }) => el("li", {}, el("code", {}, name), ` ${reason}`))),
  );
};

const showHead = () => {
  const sentence = progressWords();
  if (parts.progress.textContent !== sentence) parts.progress.textContent = sentence;
  parts.gauge.hidden = inbox.state !== "looking" && inbox.state !== "reading";
  showLeftOut();
  parts.gauge.style.setProperty("--share", inbox.total ? inbox.done / inbox.total : 0);
  byId("to-inbox-count").textContent = inbox.rows.filter(isOpen).length || "";
  label(parts.acceptSure, "Accept sure ones…", sureOnes().length);
  label(parts.enroll, "Add decided to the gallery", current().can_change ? decidedOnes().length : 0);
  for (const control of [parts.copy, parts.move]) {
    control.hidden = !current().into;
    control.disabled = !transferable().length;
  }
};

const trOf = (row) => {
  const content = JSON.stringify(row);
  const kept = made.get(row.id);
  if (kept?.content === content) return kept.tr;
  const tr = rowOf(row, {
    onChoose: () => {
      isByHand = true;
      choose(row.id);
    },
    onAccept: () => {
      isByHand = true;
      choose(row.id);
      accept(rowWith(row.id));
    },
    onAsk: () => {
      isByHand = true;
      choose(row.id);
      ask(row.id);
    },
    onClear: () => decide(row.id, null),
    onLarge: (at) => acts.onLarge(rowWith(row.id), at),
    onSplit: () => divide(rowWith(row.id), "split"),
    onJoin: () => divide(rowWith(row.id), "join"),
  });
  made.set(row.id, { content, tr });
  return tr;
};

const fill = () => {
  if (!inbox || !parts) return;
  showHead();
  const wanted = folded(parts.search.value);
  const isShown = FILTERS[parts.filter.value][1];
  const rows = inbox.rows
    .filter(
      (row) =>
        isShown(row) &&
        (!wanted || folded(`${row.name} ${row.label ?? "unknown"} ${row.decided ?? ""}`).includes(wanted)),
    )
    .sort(
      (a, b) =>
        RANKS[a.state] - RANKS[b.state] ||
        b.uncertainty - a.uncertainty ||
        a.name.localeCompare(b.name, undefined, { numeric: true }),
    );
  parts.output.textContent = rows.length < inbox.rows.length ? `${rows.length} of ${inbox.rows.length}` : "";
  const trs = rows.map(trOf);
  const hadFocus = parts.body.contains(document.activeElement);
  if (trs.length !== parts.body.children.length || trs.some((tr, i) => tr !== parts.body.children[i]))
    parts.body.replaceChildren(...trs);
  if (!isByHand || !rows.some((row) => row.id === chosen)) chosen = rows[0]?.id ?? null;
  choose(chosen, { focus: hadFocus });
};

export const onKey = (event) => {
  const row = rowWith(chosen);
  // Enter on a button or a link is that button's.
  const isOnControl = event.target.closest("button, a, summary") !== null;
  if (event.key === "j" || event.key === "k") move(event.key === "j" ? 1 : -1);
  else if (!row) return;
  else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && parts.body.contains(event.target)) {
    event.preventDefault();
    move(event.key === "ArrowDown" ? 1 : -1);
  } else if (event.key === "Enter" && !isOnControl) accept(row);
  else if (event.key === "c") {
    event.preventDefault();
    ask(row.id);
  } else if (event.key === "p") photosOf(row);
  else if (event.key === " " && !isOnControl) {
    event.preventDefault();
    acts.onLarge(row, 0);
  } else if (event.key === "x") decide(row.id, null);
  // Only what can be seen can be chosen.
  else if (/^[1-9]$/.test(event.key) && parts.pane.querySelector(".candidates")?.getClientRects().length)
    decide(row.id, candidatesOf(row)[Number(event.key) - 1]?.label);
};

export const start = (view) => {
  parts = {
    progress: el("p", { class: "lead", role: "status" }),
    gauge: el("span", { class: "gauge", hidden: true }),
    live: el("p", { class: "unseen", role: "status" }),
    search: el("input", { type: "search", placeholder: "any name", "aria-label": "Search the inbox" }),
    filter: el(
      "select",
      {},
      ...Object.entries(FILTERS).map(([value, [words]]) => el("option", { value }, words)),
    ),
    output: el("output", {}),
    leftOut: el("details", { class: "left-out", hidden: true }),
    acceptSure: button("Accept sure ones…", acceptSure),
    enroll: button("Add decided to the gallery", enrollAll, { class: "button primary" }),
    copy: button("Copy files…", transfer("copy"), { hidden: true }),
    move: button("Move files…", transfer("move"), { hidden: true }),
    body: el("tbody", {}),
    pane: el("aside", { class: "pane", "aria-label": "The chosen album" }),
  };
  const heads = ["Album", "Answer, and why", "Your decision"].map((words) =>
    el("th", { scope: "col" }, words),
  );
  view.append(
    el(
      "header",
      { class: "head" },
      el("h1", { id: "inbox-title", tabindex: "-1" }, "Inbox"),
      parts.progress,
      el("p", { class: "small" }, "The most ", term("uncertain"), " albums come first."),
      parts.gauge,
    ),
    parts.live,
    el(
      "div",
      { class: "controls" },
      el("label", {}, "Search ", parts.search),
      el("label", {}, "Show ", parts.filter),
      parts.output,
      el(
        "span",
        { class: "keys-hint" },
        el("kbd", {}, "j"),
        el("kbd", {}, "k"),
        " move ",
        el("kbd", {}, "Enter"),
        " accept ",
        el("kbd", {}, "1"),
        "–",
        el("kbd", {}, "9"),
        " choose ",
        el("kbd", {}, "Space"),
        " large ",
        el("kbd", {}, "?"),
        " keys",
      ),
    ),
    el(
      "div",
      { class: "actions" },
      parts.acceptSure,
      parts.enroll,
      el("a", { class: "button", href: "/api/v1/inbox.csv", download: "inbox.csv" }, "Export CSV"),
      parts.copy,
      parts.move,
    ),
    el(
      "div",
      { class: "desk" },
      el("table", { class: "inbox" }, el("thead", {}, el("tr", {}, ...heads)), parts.body),
      parts.pane,
    ),
    parts.leftOut,
  );
  for (const control of [parts.search, parts.filter]) control.addEventListener("input", fill);
  subscribe("inbox", fetchInbox);
  subscribe("gallery", fetchInbox);
};
