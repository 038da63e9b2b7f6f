// The inbox one album at a time: large photos, one answer, a swipe.

import { button, el, photo, spoken } from "./dom.js";
import { guessOf } from "./inbox_acts.js";
import { candidatesOf } from "./inbox_pane.js";
import { decisionButtons } from "./inbox_row.js";
import { coverOf } from "./store.js";
import { percent } from "./words.js";

const SHOWN = 9,
  SWIPE = 90; // pixels that mean it

const candidate = (row, { label, probability }, onDecide) => {
  const url = coverOf(label);
  return el(
    "li",
    {},
    el(
      "button",
      { type: "button", class: "whom", "aria-pressed": String(row.decided === label), on: { click: () => onDecide(label) } },
      url ? photo(url) : el("span", { class: "plus" }, "+"),
      el("span", { class: "label" }, label),
      probability !== null && el("small", {}, percent(probability)),
    ),
  );
};

/** Follow a finger: to the right accepts, to the left goes on. */
const swipeable = (card, onRight, onLeft) => {
  let from = null;
  card.addEventListener("pointerdown", (event) => {
    if (event.pointerType === "touch" && !event.target.closest("ol, .actions")) from = event.clientX;
  });
  card.addEventListener("pointermove", (event) => {
    if (from === null) return;
    const moved = event.clientX - from;
    card.style.setProperty("--moved", `${moved}px`);
    card.classList.toggle("to-right", moved > SWIPE);
    card.classList.toggle("to-left", moved < -SWIPE);
  });
  const end = (event) => {
    if (from === null) return;
    const moved = event.type === "pointerup" ? event.clientX - from : 0;
    from = null;
    card.style.setProperty("--moved", "0px");
    card.classList.remove("to-right", "to-left");
    if (moved > SWIPE) onRight();
    else if (moved < -SWIPE) onLeft();
  };
  for (const type of ["pointerup", "pointercancel"]) card.addEventListener(type, end);
};

const hint = (row) => {
  if (row.parts.length) return "Swipe right to split it, left for the next.";
  const guess = guessOf(row);
  return guess === null || row.members ? "Swipe left for the next." : `Swipe right: it is ${guess}. Left: later.`;
};

/** The card of a row; `at` of `n` that are to be decided. */
export const oneCard = (row, { at, n }, acts) => {
  if (!row) return el("p", { class: "lead" }, "All albums are decided.");
  const card = el(
    "article",
    { class: "one-album", "aria-label": row.name },
    el(
      "div",
      { class: "one-photos", data: { n: Math.min(row.photos.length, SHOWN) } },
      ...row.photos.slice(0, SHOWN).map(({ url, is_outlier: isOut }, i) =>
        el("button", { type: "button", class: isOut ? "tile odd" : "tile", "aria-label": `Enlarge photo ${i + 1}`, on: { click: () => acts.onLarge(i) } }, photo(url, "", { class: isOut ? "out" : null })),
      ),
    ),
    el(
      "div",
      { class: "one-answer" },
      el("p", { class: "eyebrow" }, `${row.name} · ${at} of ${n}`),
      el("h2", {}, ...spoken(row.words, row.label ?? row.most_like)),
      el("p", { class: "reason" }, row.reason),
      el(
        "div",
        { class: "actions" },
        ...decisionButtons(row, acts, "").filter(Boolean),
        button("Later", acts.onNext, { class: "button quiet" }),
      ),
      !row.members && el("ol", { class: "whoms" }, ...candidatesOf(row).map((one) => candidate(row, one, acts.onDecide))),
      el("p", { class: "small swipe-hint" }, hint(row)),
    ),
  );
  swipeable(card, acts.onAccept, acts.onNext);
  return card;
};
