// The frame: which view is shown, undo and redo, keys that hold everywhere.

import * as gallery from "./gallery.js";
import * as history from "./history.js";
import * as identify from "./identify.js";
import * as inbox from "./inbox.js";
import * as person from "./person.js";
import * as startView from "./start.js";
import { isTyping, byId } from "./dom.js";
import { keysDialog } from "./dialogs.js";
import { droppedFiles } from "./drop.js";
import { begin, redo, subscribe, undo, ways } from "./store.js";
import { explainTerms } from "./terms.js";

const VIEWS = { gallery, person, identify, inbox, history, start: startView };
const WITHIN = { person: "gallery" }; // views that are a part of another
let shown = null;

const viewOf = (hash) => {
  if (document.body.classList.contains("starting")) return "start"; // there is nothing else yet
  const name = hash.replace(/^#/, "").split("/")[0];
  return name in VIEWS && name !== "start" ? name : "gallery";
};

const show = (isFirst = false) => {
  if (location.hash === "#main") return;
  const name = viewOf(location.hash);
  if (name === shown) return VIEWS[name].show?.();
  shown = name;
  for (const other of Object.keys(VIEWS)) byId(`view-${other}`).hidden = other !== name;
  for (const link of /** @type {NodeListOf<HTMLAnchorElement>} */ (document.querySelectorAll(".bar nav a"))) {
    if (link.hash === `#${WITHIN[name] ?? name}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  /** @type {HTMLElement | null} */
  const title = byId(`view-${name}`).querySelector("h1");
  document.title = `${title?.textContent ?? name} · setwise`;
  VIEWS[name].show?.();
  if (isFirst) return;
  window.scrollTo(0, 0);
  title?.focus({ preventScroll: true });
};

const showGallery = (now) => {
  byId("file").textContent = now.file.split(/[\\/]/).at(-1);
  byId("to-inbox").hidden = !now.inbox;
  showWays();
};

const inSeconds = (seconds) => (seconds > 1.5 ? ` ${Math.round(seconds)} s` : "");

const showBusy = ({ n, isLearning, learntBy }) => {
  const badge = byId("busy");
  badge.hidden = !n && !isLearning;
  if (badge.hidden) return;
  const left = learntBy ? inSeconds(learntBy - Date.now() / 1000) : "";
  badge.textContent = n ? "Saving…" : `Learning…${left}`;
  badge.title = n ? "" : "The change is there. What the gallery answers is being fitted to it.";
};

const showWays = () => {
  for (const [id, done] of Object.entries(ways())) {
    const words = done ? `${id === "undo" ? "Undo" : "Redo"}: ${done}` : `Nothing to ${id}`;
    byId(id).disabled = !done;
    byId(id).title = words;
    byId(id).setAttribute("aria-label", words);
  }
};

const onKey = (event) => {
  const isUndo = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z";
  if (isTyping(event)) return;
  if (isUndo) {
    event.preventDefault();
    if (event.shiftKey) redo();
    else undo();
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "?") keysDialog();
  else if (event.key === "u" && (shown === "inbox" || shown === "history")) undo();
  else if (event.key === "/") {
    const search = byId(`view-${shown}`).querySelector("input[type=search]");
    if (!search) return;
    event.preventDefault();
    search.focus();
  } else VIEWS[shown].onKey?.(event);
};

for (const [name, view] of Object.entries(VIEWS)) view.start(byId(`view-${name}`));
explainTerms();
subscribe("gallery", showGallery);
subscribe("ways", showWays);
subscribe("busy", showBusy);
subscribe("offline", (sentence) => {
  byId("offline").hidden = !sentence;
  byId("offline").textContent = sentence ? `${sentence} What you see may be old.` : "";
});
byId("undo").addEventListener("click", () => undo());
byId("redo").addEventListener("click", () => redo());
byId("help").addEventListener("click", keysDialog);
document.addEventListener("keydown", onKey);
window.addEventListener("hashchange", () => show());
// Files may be dropped anywhere.
const holdsFiles = (event) => event.dataTransfer?.types.includes("Files");
let depth = 0;
const mark = (change) => {
  depth = Math.max(0, depth + change);
  document.body.classList.toggle("dropping", depth > 0);
};
window.addEventListener("dragenter", (event) => holdsFiles(event) && mark(1));
window.addEventListener("dragleave", (event) => holdsFiles(event) && mark(-1));
window.addEventListener("dragover", (event) => {
  event.preventDefault();
  if (holdsFiles(event)) event.dataTransfer.dropEffect = "copy";
});
window.addEventListener("drop", async (event) => {
  event.preventDefault();
  mark(-depth);
  if (!holdsFiles(event)) return;
  const files = droppedFiles(event.dataTransfer);
  for (const dialog of /** @type {NodeListOf<HTMLDialogElement>} */ (document.querySelectorAll("dialog[open]"))) dialog.close();
  if (document.body.classList.contains("starting")) return startView.send(await files);
  location.hash = "#identify";
  identify.send(await files);
});
begin();
show(true);
