// Start: from a heap of photos to people with names, before there is a gallery.

import { Refused, get, post, remove } from "./api.js";
import { button, byId, el } from "./dom.js";
import { chosenFiles } from "./drop.js";
import { confirm } from "./dialogs.js";
import { sendAll } from "./sending.js";
import { fillStacks, startStacks } from "./start_stacks.js";
import { did, offerNames, refresh, subscribe } from "./store.js";
import { say, warn } from "./toast.js";
import { counted } from "./words.js";

const LEAST_MS = 700; // between two looks at what is found
/** @type {any} */
let parts = null;
let heap = null;
let kind = "faces";
let fetching = false,
  isStale = false;

/** Send a correction, which shows at once; with a way back. */
const correct = async (path, body) => {
  try {
    const { words } = await post(`/api/v1/start/${path}`, { ...body, run: heap.run });
    const travel = (name) => async () => {
      await post(`/api/v1/start/${name}`);
      await fetchHeap();
      return true;
    };
    did({ words, undo: travel("undo"), redo: travel("redo") });
    await fetchHeap();
    return true;
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    warn(error.message);
    await fetchHeap();
    return false;
  }
};

const fetchHeap = async () => {
  if (fetching) {
    isStale = true;
    return;
  }
  fetching = true;
  const began = performance.now();
  try {
    do {
      isStale = false;
      heap = await get("/api/v1/start");
    } while (isStale && heap.state !== "reading");
    fill();
  } catch (error) {
    if (error.status === 409) return void refresh();
    warn(error.message);
  } finally {
    const spent = performance.now() - began;
    setTimeout(() => {
      fetching = false;
      if (isStale) fetchHeap();
    }, heap?.state === "reading" ? Math.max(LEAST_MS, 3 * spent) : 0);
  }
};

/** The gallery is there: the page goes on with it. */
const leave = () => {
  if (!document.body.classList.contains("starting")) return;
  document.body.classList.remove("starting");
  offerNames([]);
  location.hash = "#gallery";
  say("Your gallery is made. From now on, new photos are recognised.");
};

const people = (n) => (heap.noun === "person" ? counted(n, "person", "people") : counted(n, "group"));

const progressWords = () => {
  const { state, done, total, stacks } = heap;
  const found = stacks.length ? `${people(stacks.length)} so far` : "nobody found yet";
  if (state === "failed") return heap.error;
  if (state === "reading") return `Looking at ${done} of ${counted(total, "photo")}: ${found}.`;
  if (state === "making") return done < total ? `Looking at the last photos: ${done} of ${total}.` : "Making the gallery…";
  const open = stacks.filter(({ name }) => name === null).length;
  const all = `${people(stacks.length)} in ${counted(total, "photo")}.`;
  return open ? `${all} ${counted(open, "group")} without a name yet.` : `${all} All have a name.`;
};

const fill = () => {
  const isEmpty = heap.state === "empty" || (heap.state === "failed" && !heap.items.length);
  parts.choose.hidden = !isEmpty;
  parts.sort.hidden = isEmpty;
  byId("start-title").textContent = heap.noun === "thing" ? "What is in your photos?" : "Who is in your photos?";
  parts.failed.hidden = !heap.error;
  parts.failed.textContent = heap.error;
  for (const [name, control] of Object.entries(parts.kinds)) {
    control.disabled = name in heap.missing;
    parts.why[name].textContent = heap.missing[name] ?? "";
  }
  if (parts.kinds[kind].disabled) choosekind(Object.keys(parts.kinds).find((name) => !parts.kinds[name].disabled) ?? kind);
  if (isEmpty) return void showFolders(null);
  const words = progressWords();
  if (parts.progress.textContent !== words) parts.progress.textContent = words;
  parts.gauge.hidden = heap.state !== "reading" && heap.state !== "making";
  parts.gauge.style.setProperty("--share", heap.total ? heap.done / heap.total : 0);
  parts.make.disabled = heap.stacks.length < 2 || heap.state === "making";
  parts.make.textContent = heap.state === "making" ? "Making the gallery…" : "Make the gallery";
  if (heap.state === "making") parts.make.setAttribute("aria-busy", "true");
  else parts.make.removeAttribute("aria-busy");
  offerNames(heap.stacks.map(({ name }) => name).filter(Boolean));
  fillStacks(heap, correct);
};

const choosekind = (name) => {
  kind = name;
  parts.kinds[name].checked = true;
};

const begin = async (folder) => {
  try {
    await post("/api/v1/start", { folder, kind });
    await fetchHeap();
    byId("start-title").focus({ preventScroll: true });
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    warn(error.message);
  }
};

let shownPath;
const showFolders = async (path) => {
  if (shownPath === path && parts.folders.children.length) return;
  shownPath = path;
  let found;
  try {
    found = await get(`/api/v1/start/folders${path === null ? "" : `?path=${encodeURIComponent(path)}`}`);
  } catch (error) {
    return warn(error.message);
  }
  const up = found.path !== null && button("‹ Back", () => showFolders(found.parent), { class: "button quiet" });
  const here = found.path !== null && button(`Use “${found.path.split(/[\\/]/).at(-1)}”`, () => begin(found.path), { class: "button primary" });
  const item = ({ path: one, name, n_files: n }) =>
    el(
      "li",
      {},
      button([el("span", { class: "folder-name" }, name), el("small", {}, n ? counted(n, "photo") : "open")], () => showFolders(one), { class: "button folder" }),
    );
  parts.folders.replaceChildren(
    ...[
      el("p", { class: "actions" }, up || "", here || ""),
      el("ul", {}, ...found.folders.map(item)),
      !found.folders.length && el("p", { class: "small" }, "There are no folders in here."),
    ].filter(Boolean),
  );
};

/** Photos that were dropped or chosen in the browser: sent in portions, then read. */
export const send = async (files) => {
  if (!files.length) return warn("There are no files in that.");
  parts.sending.hidden = false;
  const show = (done) => {
    parts.sendingWords.textContent = `Sending ${counted(files.length, "photo")}: ${done} there.`;
    parts.sendingGauge.style.setProperty("--share", done / files.length);
  };
  show(0);
  try {
    await sendAll("/api/v1/start/photos", files, heap.limits, show);
    await begin(null);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    warn(error.message);
  } finally {
    parts.sending.hidden = true;
  }
};

const make = async () => {
  const open = heap.stacks.filter(({ name }) => name === null).length;
  if (open === heap.stacks.length) {
    const isSure = await confirm(
      "Nobody has a name yet",
      [`The gallery will call them “${heap.noun === "person" ? "person" : "thing"} 1”, “2” and so on. You can name them later.`],
      "Make the gallery",
    );
    if (!isSure) return;
  }
  try {
    await post("/api/v1/start/gallery");
    await fetchHeap();
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    warn(error.message);
  }
};

const again = async () => {
  const isSure = await confirm(
    "Begin with other photos?",
    ["The groups and all names that you gave are forgotten. Your photos stay where they are."],
    "Begin anew",
  );
  if (!isSure) return;
  await remove("/api/v1/start");
  shownPath = undefined;
  await fetchHeap();
};

/** @type {Record<string, [string, string]>} */
const KINDS = {
  faces: ["Faces in photos", "Who is who, also in photos of several people."],
  photos: ["Whole photos", "Things, pets, places: what looks alike comes together."],
};

const fieldOf = () => {
  const field = el("input", { type: "file", id: "start-folder", class: "unseen", multiple: true, webkitdirectory: true });
  field.addEventListener("change", () => {
    send(chosenFiles(field));
    field.value = "";
  });
  return [field, el("label", { for: "start-folder", class: "button primary" }, "Choose a folder")];
};

const kindChoice = (name, [words, what]) => {
  const control = el("input", { type: "radio", name: "kind", value: name, checked: name === kind, on: { change: () => choosekind(name) } });
  parts.kinds[name] = control;
  parts.why[name] = el("small", { class: "bad" });
  return el("label", { class: "kind" }, control, el("span", {}, el("b", {}, words), el("small", {}, what), parts.why[name]));
};

export const start = (view) => {
  parts = {
    kinds: {},
    why: {},
    progress: el("p", { class: "lead", role: "status" }),
    gauge: el("span", { class: "gauge", hidden: true }),
    failed: el("p", { class: "notice", role: "alert", hidden: true }),
    make: button("Make the gallery", make, { class: "button primary" }),
    folders: el("div", { class: "folders" }),
    sendingWords: el("p", { role: "status" }),
    sendingGauge: el("span", { class: "gauge" }),
  };
  parts.sending = el("div", { class: "progress", hidden: true }, parts.sendingWords, parts.sendingGauge);
  parts.choose = el(
    "div",
    { class: "choose" },
    el("fieldset", { class: "kinds" }, el("legend", {}, "What do you want to sort?"), ...Object.entries(KINDS).map(([name, words]) => kindChoice(name, words))),
    el(
      "div",
      { class: "ways" },
      el(
        "section",
        { class: "zone" },
        el("h2", { class: "zone-words" }, "Drop a folder of photos here"),
        el("p", { class: "choices" }, fieldOf()),
        el("p", { class: "small" }, "Large photos are made smaller on the way. They go to setwise on this machine, and nowhere else."),
      ),
      el("section", { class: "places" }, el("h2", {}, "Or a folder where setwise runs"), el("p", { class: "small" }, "The photos stay where they are, and are not copied."), parts.folders),
    ),
    parts.sending,
  );
  parts.sort = el(
    "div",
    { hidden: true },
    el("div", { class: "start-head" }, el("div", {}, parts.progress, parts.gauge), el("div", { class: "actions" }, parts.make, button("Other photos…", again))),
    startStacks(),
  );
  view.append(
    el(
      "header",
      { class: "head" },
      el("p", { class: "eyebrow" }, "A new gallery"),
      el("h1", { id: "start-title", tabindex: "-1" }, "Who is in your photos?"),
    ),
    parts.failed,
    parts.choose,
    parts.sort,
  );
  subscribe("start", () => {
    document.body.classList.add("starting");
    if (location.hash !== "#start") location.hash = "#start";
    fetchHeap();
  });
  subscribe("gallery", leave);
};

export const show = () => {};
