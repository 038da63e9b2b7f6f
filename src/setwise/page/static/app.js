// The frame: which view is shown, undo and redo, keys that hold everywhere.

import * as gallery from "./gallery.js";
import * as history from "./history.js";
import * as identify from "./identify.js";
import * as inbox from "./inbox.js";
import { isTyping, byId } from "./dom.js";
import { keysDialog } from "./dialogs.js";
import { command, follow, refresh, subscribe } from "./state.js";
import { explainTerms } from "./terms.js";

const VIEWS = { gallery, identify, inbox, history };
let shown = null;

const viewOf = (hash) => {
  const name = hash.replace(/^#/, "").split("/")[0];
  return name in VIEWS ? name : "gallery";
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

const showGallery = (now) => {
  byId("file").textContent = now.file.split(/[\\/]/).at(-1);
  byId("to-inbox").hidden = !now.inbox;
  for (const [id, way] of [
    ["undo", now.can_undo],
    ["redo", now.can_redo],
  ]) {
    const words = way ? `${id === "undo" ? "Undo" : "Redo"}: ${way.words}` : `Nothing to ${id}`;
    byId(id).disabled = !way;
    byId(id).title = words;
    byId(id).setAttribute("aria-label", words);
  }
};

const undo = () => (shown === "inbox" && inbox.undoDecision()) || command("undo");

const onKey = (event) => {
  const isUndo = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z";
  if (isTyping(event)) return;
  if (isUndo) {
    event.preventDefault();
    if (event.shiftKey) command("redo");
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
subscribe("offline", (sentence) => {
  byId("offline").hidden = !sentence;
  byId("offline").textContent = sentence ? `${sentence} What you see may be old.` : "";
});
byId("undo").addEventListener("click", () => command("undo"));
byId("redo").addEventListener("click", () => command("redo"));
byId("help").addEventListener("click", keysDialog);
document.addEventListener("keydown", onKey);
window.addEventListener("hashchange", () => show());
// A file dropped beside the place for it must not replace the page.
for (const type of ["dragover", "drop"]) window.addEventListener(type, (event) => event.preventDefault());
refresh().then(follow);
show(true);
