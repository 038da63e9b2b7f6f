// Inbox: many albums, the most uncertain on top, decided with a few keys, clicks or swipes.

import { confirm } from "./dialogs.js";
import { button, byId, el } from "./dom.js";
import { asListed, askName, decide, decideAll, divide, guessOf, isOpen, lookAt, takeApart } from "./inbox_acts.js";
import { oneCard } from "./inbox_one.js";
import { candidatesOf, paneOf } from "./inbox_pane.js";
import { rowOf } from "./inbox_row.js";
import { confirmSure, rowPhotos } from "./inbox_sheet.js";
import { openLightbox } from "./lightbox.js";
import { commandAt, current, currentInbox, refreshInbox, subscribe, undo } from "./store.js";
import { term } from "./terms.js";
import { say } from "./toast.js";
import { counted, duration, folded } from "./words.js";

const RANKS = { done: 0, failed: 1, waiting: 2, enrolled: 3, transferred: 3 };
const FILTERS = {
  all: ["all", () => true],
  open: ["to decide", isOpen],
  unsure: ["unsure", (row) => row.confidence === "not sure" || row.confidence === "a guess"],
  unknown: ["unknown", (row) => row.is_known === false],
  decided: ["decided", (row) => row.decided !== null],
};

/** @type {any} */
let parts = null;
let listed = []; // the rows as they are shown
let chosen = null; // the id of the row that keys act on
let isByHand = false; // until somebody chooses one, it is the first
let wasPicked = null; // the last one, from which Shift picks on
const picked = new Set();
const made = new Map();
const later = new Set(); // ids that were put off, one at a time

const isOne = () => location.hash === "#inbox/one";
const listedWith = (id) => listed.find((row) => row.id === id) ?? null;
const pickedRows = () => listed.filter((row) => picked.has(row.id));
/** The rows that a decision is about: those that are picked, or the chosen one. */
const meant = () => (picked.size ? pickedRows() : [listedWith(chosen)].filter(Boolean));

const choose = (id, { focus = false } = {}) => {
  isByHand ||= focus;
  chosen = id;
  for (const tr of parts.body.children) {
    const isChosen = tr.dataset.id === id;
    tr.tabIndex = isChosen ? 0 : -1;
    if (isChosen) tr.setAttribute("aria-current", "true");
    else tr.removeAttribute("aria-current");
    if (isChosen && focus) tr.focus();
    for (const one of tr.querySelectorAll("button, input")) one.tabIndex = isChosen ? 0 : -1;
  }
  const row = listedWith(id);
  parts.pane.replaceChildren(...(row ? paneOf(row, acts) : []));
};

const move = (change) => {
  if (!listed.length) return;
  const at = listed.findIndex(({ id }) => id === chosen);
  choose(listed[Math.max(0, Math.min(listed.length - 1, at < 0 ? 0 : at + change))].id, { focus: true });
};

const moveToOpen = (at) => {
  const next = [...listed.slice(at), ...listed.slice(0, at)].find((row) => isOpen(row));
  choose(next?.id ?? chosen, { focus: true });
};

const back = (id) => {
  if (!byId("view-inbox").hidden) choose(id, { focus: true });
};

/** Give some rows a name, or take it away, and go on to the next. */
const name = async (rows, label, without = null) => {
  const ready = rows.filter((row) => row.state === "done");
  if (!ready.length || label === undefined) return;
  const at = listed.findIndex(({ id }) => id === ready[0].id);
  const isChosen = ready.some(({ id }) => id === chosen);
  picked.clear();
  if (!(await decideAll(ready, label, without, back))) return showPicked();
  const what = ready.length === 1 ? ready[0].name : counted(ready.length, "row");
  parts.live.textContent = label === null ? `${what}: to be decided again.` : `${what}: ${label}.`;
  if (label !== null && isChosen && !isOne()) moveToOpen(Math.max(at, 0));
};

const ask = async (rows) => {
  const ready = rows.filter((row) => row.state === "done");
  if (!ready.length) return;
  const label = await askName(ready);
  if (label !== null) await name(ready, label);
};

const accept = (row) => {
  if (row.parts.length && !row.members) return divide(row, "split");
  return row.members || guessOf(row) === null ? ask([row]) : name([row], guessOf(row));
};

const large = (row, at) => {
  const shown = row.members ? row.members.flatMap(rowPhotos) : rowPhotos(row);
  const url = row.photos[at]?.url;
  openLightbox(shown, Math.max(0, shown.findIndex((one) => one.url === url)));
};

const actsOf = (id) => {
  const row = () => listedWith(id);
  const byHand = (act) => () => {
    isByHand = true;
    if (!isOne()) choose(id);
    return act(row());
  };
  return {
    onChoose: (event) => {
      isByHand = true;
      if (event?.shiftKey) return pick(id, true, true);
      return choose(id);
    },
    onPick: (event) => pick(id, event.target.checked, event.shiftKey),
    onAccept: byHand(accept),
    onAsk: byHand((one) => ask([one])),
    onDecide: (label) => name([row()], label),
    onClear: () => name([row()], null),
    onLarge: (at) => large(row(), at),
    onSplit: () => divide(row(), "split"),
    onJoin: () => divide(row(), "join"),
    onApart: () => takeApart(row()),
    onNext: () => {
      later.add(id);
      fillOne();
    },
  };
};

/** Of the pane beside the list, which is about the chosen row. */
const acts = {
  onDecide: (id, label) => name([listedWith(id)], label),
  onAsk: (id) => ask([listedWith(id)]),
  onPhotos: (id) => lookAt(listedWith(id), back),
  onLarge: (row, at) => large(row, at),
};

const pick = (id, isOn, isRange) => {
  const ids = listed.map((row) => row.id);
  const [from, to] = [ids.indexOf(isRange && wasPicked ? wasPicked : id), ids.indexOf(id)].sort((a, b) => a - b);
  for (const row of listed.slice(Math.max(from, 0), to + 1))
    if (row.state !== "done" || !isOn) picked.delete(row.id);
    else picked.add(row.id);
  wasPicked = id;
  showPicked();
};

const pickAll = () => {
  const all = listed.filter((row) => row.state === "done" && row.decided === null);
  const isAll = all.every((row) => picked.has(row.id));
  picked.clear();
  if (!isAll) for (const row of all) picked.add(row.id);
  showPicked();
};

const showPicked = () => {
  for (const tr of parts.body.children) {
    const isPicked = picked.has(tr.dataset.id);
    tr.classList.toggle("picked", isPicked);
    const box = tr.querySelector(".pick");
    if (box) box.checked = isPicked;
  }
  parts.picked.hidden = !picked.size;
  parts.pickedWords.textContent = `${counted(picked.size, "row")} chosen`;
};

const rows = () => currentInbox()?.rows ?? [];
const sureOnes = () => rows().filter((row) => isOpen(row) && row.label !== null && row.confidence === "sure");
const decidedOnes = () => rows().filter((row) => row.decided !== null && row.state === "done");
// What is in the gallery already may still lie in the inbox.
const transferable = () =>
  rows().filter((row) => row.decided !== null && (row.state === "done" || row.state === "enrolled"));

const acceptSure = async () => {
  const taken = await confirmSure(sureOnes());
  if (!taken?.length) return;
  const words = `${counted(taken.length, "sure answer")} accepted`;
  const decisions = taken.map(({ id, label }) => ({ id, label, without: null }));
  if (await decide(decisions, words)) say(`${words}.`, { words: "Undo", act: undo });
};

const acceptPicked = () => {
  const ready = pickedRows().filter((row) => isOpen(row) && !row.members && !row.parts.length && guessOf(row) !== null);
  if (!ready.length) return say("None of these has an answer to accept.");
  picked.clear();
  return decide(ready.map((row) => ({ id: row.id, label: guessOf(row), without: null })), `${counted(ready.length, "answer")} accepted`);
};

const change = async (path, body, control, words) => {
  const before = control.textContent;
  control.disabled = true;
  control.setAttribute("aria-busy", "true");
  control.textContent = words;
  await commandAt(path, body);
  control.removeAttribute("aria-busy");
  control.textContent = before;
  await refreshInbox();
};

const enrollAll = () =>
  change("/api/v1/inbox/enroll", { ids: decidedOnes().map(({ id }) => id) }, parts.enroll, "Adding…");

const transfer = (how) => async () => {
  const some = transferable();
  const photos = some.reduce((sum, row) => sum + row.n_images - row.without.length, 0);
  const nOut = some.reduce((sum, row) => sum + row.without.length, 0);
  const labels = new Set(some.map((row) => row.decided));
  const verb = how === "copy" ? "Copy" : "Move";
  const isSure = await confirm(
    `${verb} ${counted(some.length, "album")}?`,
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
  const ids = some.map(({ id }) => id);
  await change("/api/v1/inbox/transfer", { how, ids }, parts[how], how === "copy" ? "Copying…" : "Moving…");
};

const progressWords = ({ state, done, total, error, estimate_s: left }) => {
  if (state === "failed" || (error && !rows().length)) return error ?? "The inbox could not be read.";
  if (state === "reading")
    return total ? `Reading the inbox: ${done} of ${counted(total, "photo")}.` : "Reading the inbox…";
  if (state === "looking" && rows().some((row) => row.state === "waiting"))
    return `${done} of ${counted(total, "album")} compared${left ? `: ${duration(left)} left` : ""}.`;
  const open = rows().filter(isOpen).length;
  if (open) return `${counted(open, "album")} to decide.`;
  return rows().length ? "All albums are decided." : "The inbox is empty. Albums that you put into its folder appear here.";
};

const label = (control, words, n) => {
  if (control.getAttribute("aria-busy")) return;
  control.textContent = n ? `${words} (${n})` : words;
  control.disabled = !n;
};

const showLeftOut = (files) => {
  parts.leftOut.hidden = !files.length;
  parts.leftOut.replaceChildren(
    el("summary", {}, `${counted(files.length, "file")} could not be used`),
    el("ul", {}, ...files.map(({ name: file, reason }) => el("li", {}, el("code", {}, file), ` ${reason}`))),
  );
};

const showHead = (inbox) => {
  const sentence = progressWords(inbox);
  if (parts.progress.textContent !== sentence) parts.progress.textContent = sentence;
  parts.gauge.hidden = inbox.state !== "looking" && inbox.state !== "reading";
  parts.gauge.style.setProperty("--share", inbox.total ? inbox.done / inbox.total : 0);
  showLeftOut(inbox.left_out);
  byId("to-inbox-count").textContent = rows().filter(isOpen).length || "";
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
  const tr = rowOf(row, actsOf(row.id));
  made.set(row.id, { content, tr });
  return tr;
};

const byUncertainty = (a, b) =>
  RANKS[a.state] - RANKS[b.state] ||
  b.uncertainty - a.uncertainty ||
  a.name.localeCompare(b.name, undefined, { numeric: true });

const fill = () => {
  const inbox = currentInbox();
  if (!inbox || !parts || !current()) return;
  showHead(inbox);
  const wanted = folded(parts.search.value);
  const isShown = FILTERS[parts.filter.value][1];
  const all = asListed(inbox.rows);
  listed = all
    .filter(
      (row) =>
        isShown(row) &&
        (!wanted || folded(`${row.name} ${row.label ?? "unknown"} ${row.decided ?? ""}`).includes(wanted)),
    )
    .sort(byUncertainty);
  const ids = new Set(all.map(({ id }) => id));
  for (const kept of [picked, later]) for (const id of kept) if (!ids.has(id)) kept.delete(id);
  for (const id of made.keys()) if (!ids.has(id)) made.delete(id);
  parts.output.textContent = listed.length < all.length ? `${listed.length} of ${all.length}` : "";
  for (const one of [parts.list, parts.bar]) one.hidden = isOne();
  parts.one.hidden = !isOne();
  parts.how.textContent = isOne() ? "As a list" : "One at a time";
  parts.how.href = isOne() ? "#inbox" : "#inbox/one";
  if (isOne()) return fillOne();
  const trs = listed.map(trOf);
  const hadFocus = parts.body.contains(document.activeElement);
  if (trs.length !== parts.body.children.length || trs.some((tr, i) => tr !== parts.body.children[i]))
    parts.body.replaceChildren(...trs);
  if (!isByHand || !listedWith(chosen)) chosen = listed[0]?.id ?? null;
  choose(chosen, { focus: hadFocus });
  return showPicked();
};

/** One album at a time: those that were put off come last. */
const fillOne = () => {
  const open = listed.filter(isOpen);
  const row = open.find(({ id }) => !later.has(id)) ?? open[0] ?? null;
  if (row && later.has(row.id)) later.clear();
  const content = JSON.stringify(row);
  if (parts.one.dataset.content === content) return;
  parts.one.dataset.content = content;
  chosen = row?.id ?? null;
  const decided = listed.length - open.length;
  parts.one.replaceChildren(oneCard(row, { at: decided + 1, n: listed.length }, row ? actsOf(row.id) : {}));
};

export const show = fill;

export const onKey = (event) => {
  const row = listedWith(chosen);
  // Enter on a button or a link is that button's.
  const isOnControl = event.target.closest("button, a, summary, input") !== null;
  const isDown = event.key === "j" || event.key === "k";
  if (isDown && isOne() && row) actsOf(row.id).onNext();
  else if (isDown) move(event.key === "j" ? 1 : -1);
  else if (event.key === "a") pickAll();
  else if (!row) return;
  else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && parts.body.contains(event.target)) {
    event.preventDefault();
    move(event.key === "ArrowDown" ? 1 : -1);
  } else if (event.key === "Enter" && !isOnControl) {
    if (picked.size) ask(meant());
    else accept(row);
  } else if (event.key === "c") {
    event.preventDefault();
    ask(meant());
  } else if (event.key === "s") pick(row.id, !picked.has(row.id), false);
  else if (event.key === "p") {
    if (!row.members) lookAt(row, back);
  } else if (event.key === " " && !isOnControl) {
    event.preventDefault();
    large(row, 0);
  } else if (event.key === "x") name(meant(), null);
  // Only what can be seen can be chosen.
  else if (/^[1-9]$/.test(event.key) && candidatesAreSeen()) name(meant(), candidatesOf(row)[Number(event.key) - 1]?.label);
};

const candidatesAreSeen = () => {
  const list = isOne() ? parts.one.querySelector(".whoms") : parts.pane.querySelector(".candidates");
  return Boolean(list?.getClientRects().length);
};

/** @type {[string[], string][]} */
const KEYS = [
  [["j", "k"], "move"],
  [["Enter"], "accept"],
  [["1", "9"], "choose"],
  [["Space"], "large"],
  [["?"], "keys"],
];

const pickedBar = () => {
  parts.pickedWords = el("p", { role: "status" });
  return el(
    "div",
    { class: "chosen", hidden: true },
    parts.pickedWords,
    button("They are…", () => ask(pickedRows()), { class: "button primary" }),
    button("Accept their answers", acceptPicked),
    button("None", () => {
      picked.clear();
      showPicked();
    }, { class: "button quiet" }),
  );
};

export const start = (view) => {
  parts = {
    progress: el("p", { class: "lead", role: "status" }),
    gauge: el("span", { class: "gauge", hidden: true }),
    live: el("p", { class: "unseen", role: "status" }),
    search: el("input", { type: "search", placeholder: "any name", "aria-label": "Search the inbox" }),
    filter: el("select", { "aria-label": "Show" }, ...Object.entries(FILTERS).map(([value, [words]]) => el("option", { value }, words))),
    output: el("output", {}),
    how: el("a", { class: "button", href: "#inbox/one" }, "One at a time"),
    leftOut: el("details", { class: "left-out", hidden: true }),
    acceptSure: button("Accept sure ones…", acceptSure),
    enroll: button("Add decided to the gallery", enrollAll, { class: "button primary" }),
    copy: button("Copy files…", transfer("copy"), { hidden: true }),
    move: button("Move files…", transfer("move"), { hidden: true }),
    body: el("tbody", {}),
    pane: el("section", { class: "pane", "aria-label": "The chosen album" }),
    one: el("div", { class: "one-at-a-time", hidden: true }),
  };
  parts.picked = pickedBar();
  const heads = ["Album", "Answer, and why", "Your decision"].map((words) => el("th", { scope: "col" }, words));
  const hint = KEYS.map(([keys, words]) => [keys.map((key, i) => [i && key === "9" ? "–" : "", el("kbd", {}, key)]), ` ${words} `]);
  parts.bar = el(
    "div",
    { class: "controls" },
    el("label", {}, el("span", { class: "label-words" }, "Search "), parts.search),
    el("label", {}, el("span", { class: "label-words" }, "Show "), parts.filter),
    parts.output,
  );
  parts.list = el(
    "div",
    { class: "desk" },
    el("table", { class: "inbox" }, el("thead", {}, el("tr", {}, ...heads)), parts.body),
    parts.pane,
  );
  const table = el("a", { class: "button quiet", href: "/api/v1/inbox.csv", download: "inbox.csv" }, "Export CSV");
  const menu = el("details", { class: "menu" }, el("summary", { class: "button" }, "More"), el("div", { on: { click: () => menu.removeAttribute("open") } }, table, parts.copy, parts.move));
  view.append(
    el(
      "header",
      { class: "head in-line" },
      el("h1", { id: "inbox-title", tabindex: "-1" }, "Inbox"),
      parts.progress,
      el("p", { class: "small" }, "The most ", term("uncertain"), " albums come first."),
      el("p", { class: "keys-hint" }, hint),
      parts.gauge,
    ),
    parts.live,
    el("div", { class: "inbox-bar" }, el("div", { class: "actions" }, parts.acceptSure, parts.enroll, parts.how, menu), parts.bar),
    parts.list,
    parts.one,
    parts.picked,
    parts.leftOut,
  );
  for (const control of [parts.search, parts.filter]) control.addEventListener("input", fill);
  subscribe("inbox", fill);
  subscribe("gallery", () => {
    fill();
    refreshInbox();
  });
};
