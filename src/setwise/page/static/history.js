// History: everything that was done to the gallery, and the way back.

import { get } from "./api.js";
import { button, byId, el } from "./dom.js";
import { current, redoCommand, subscribe, undoCommand } from "./store.js";
import { time } from "./words.js";

/** @type {any} */
let parts = null;

const entry = (one, isNext) =>
  el(
    "li",
    { class: one.undone ? "undone" : null },
    el("time", {}, time(one.time)),
    el("p", {}, one.words, one.undone && el("small", {}, " · undone")),
    isNext && button("Undo", undoCommand, { "aria-label": `Undo: ${one.words}` }),
  );

const fill = async () => {
  if (byId("view-history").hidden) return;
  let entries;
  try {
    entries = await get("/api/v1/history");
  } catch {
    return; // the strip at the top says so
  }
  const newest = [...entries].sort((a, b) => b.n - a.n);
  const next = current()?.can_undo ? newest.find((one) => !one.undone) : null;
  parts.list.replaceChildren(...newest.map((one) => entry(one, one === next)));
  parts.empty.hidden = newest.length > 0;
  parts.redo.hidden = !current()?.can_redo;
  if (current()?.can_redo) parts.redo.textContent = `Redo: ${current().can_redo.words}`;
};

export const start = (view) => {
  parts = {
    list: el("ol", { class: "history", reversed: true }),
    empty: el("p", { class: "lead none", hidden: true }, "Nothing has been changed yet."),
    redo: button("Redo", redoCommand, { class: "button", hidden: true }),
  };
  view.append(
    el(
      "header",
      { class: "head" },
      el("p", { class: "eyebrow" }, "What was done, newest first"),
      el("h1", { id: "history-title", tabindex: "-1" }, "History"),
      el(
        "p",
        { class: "lead" },
        "Each change keeps the file as it was before, so each change can be undone.",
      ),
    ),
    parts.redo,
    parts.empty,
    parts.list,
  );
  subscribe("gallery", fill);
};

export const show = fill;
