// The frame: which view is shown, undo and redo, keys that hold everywhere.

import * as ask from "./ask.js";
import { isTyping, byId } from "./dom.js";
import { keysDialog } from "./dialogs.js";
import * as journal from "./journal.js";
import * as sort from "./sort.js";
import { act, follow, refresh, subscribe } from "./state.js";
import { explainTerms } from "./terms.js";
import * as wall from "./wall.js";

const VIEWS = { wall, ask, sort, journal };
let shown = null;

const viewOf = (hash) => {
  const name = hash.replace(/^#/, "").split("/")[0];
  return name in VIEWS ? name : "wall";
};

const show = (isFirst = false) => {
  if (location.hash === "#main") return;
  const name = viewOf(location.hash);
  if (name === shown) return;
  shown = name;
  for (const other of Object.keys(VIEWS)) byId(`view-${other}`).hidden = other !== name;
  for (const link of document.querySelectorAll(".bar nav a")) {
    if (link.hash === `#${name}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  const title = byId(`view-${name}`).querySelector("h1");
  document.title = `${title?.textContent ?? name} · setwise`;
  VIEWS[name].show?.();
  if (isFirst) return;
  window.scrollTo(0, 0);
  title?.focus({ preventScroll: true });
};

const showGallery = (gallery) => {
  byId("file").textContent = gallery.file.split(/[\\/]/).at(-1);
  byId("to-sort").hidden = !gallery.inbox;
  for (const [id, way] of [
    ["undo", gallery.can_undo],
    ["redo", gallery.can_redo],
  ]) {
    const words = way ? `${id === "undo" ? "Undo" : "Redo"}: ${way.words}` : `Nothing to ${id}`;
    byId(id).disabled = !way;
    byId(id).title = words;
    byId(id).setAttribute("aria-label", words);
  }
};

const undo = () => (shown === "sort" && sort.undoDecision()) || act("undo");

const onKey = (event) => {
  const isUndo = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z";
  if (isTyping(event)) return;
  if (isUndo) {
    event.preventDefault();
    if (event.shiftKey) act("redo");
    else undo();
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "?") keysDialog();
  else if (event.key === "u" && (shown === "sort" || shown === "journal")) undo();
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
subscribe("offline", (sentence) => {
  byId("offline").hidden = !sentence;
  byId("offline").textContent = sentence ? `${sentence} What you see may be old.` : "";
});
byId("undo").addEventListener("click", () => act("undo"));
byId("redo").addEventListener("click", () => act("redo"));
byId("help").addEventListener("click", keysDialog);
document.addEventListener("keydown", onKey);
window.addEventListener("hashchange", () => show());
// A file dropped beside the place for it must not replace the page.
for (const type of ["dragover", "drop"]) window.addEventListener(type, (event) => event.preventDefault());
refresh().then(follow);
show(true);
