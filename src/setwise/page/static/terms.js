// Words that need explaining: dotted, and explained on hover and on focus.

import { byId, el } from "./dom.js";

const MEANINGS = {
  gallery: "All the sets that have been given a name: what a new set is compared with.",
  set: "Some photos that belong together: one album, one folder, one clip.",
  class: "Whom or what sets show: one person, one thing. All its sets carry its name.",
  weak: "Each set was left out in turn and looked for in the rest. Where that goes wrong, or where there is little to compare with, answers are less sure.",
  "how probable": "Of 100 answers as sure as this one, about so many are right.",
  "runner-up": "The second-best answer. The closer it comes, the less sure the first one is.",
  "out of place":
    "A photo unlike the others of its set. It was not listened to, and stays out unless you say otherwise.",
  "most alike": "For each of your photos, the photo in the gallery that looks most like it.",
  nearness:
    "How near this set came to its best class. Sets of the gallery, each left out in turn, show how near one usually comes, and how near strangers come.",
  unknown: "Nothing in the gallery came near enough. It may be somebody new.",
  members:
    "The photos are looked at in several ways: light and dark, outlines, and so on. Each way has a member, and clear ones count for more.",
  "tree of cuts":
    "The pieces of all sets, yours too, are put in one heap. The heap is cut in two where it hangs together least, each half again, and so on. Whoever ends in your set’s heap is the answer.",
  piece: "Every set, yours too, is first boiled down to a few pieces: what many of its photos have in common.",
  cut: "One division of a heap in two. Its price (NCut) says how much it tears apart: 0 is nothing, 2 is everything.",
  "teaches most":
    "Sets that the gallery is unsure of come first: each answer of yours to these teaches it more than ten to the others.",
};

/** A word with its explanation; `words` where it reads differently from its name. */
export const term = (name, words = name) =>
  el("button", { type: "button", class: "term", data: { term: name } }, words);

const place = (tip, word) => {
  const box = word.getBoundingClientRect();
  tip.hidden = false;
  const { width, height } = tip.getBoundingClientRect();
  const left = Math.max(
    8,
    Math.min(box.left + box.width / 2 - width / 2, document.documentElement.clientWidth - width - 8),
  );
  const isAbove = box.top > height + 16;
  tip.style.setProperty("--left", `${left}px`);
  tip.style.setProperty("--top", `${isAbove ? box.top - height - 8 : box.bottom + 8}px`);
};

export const explainTerms = () => {
  const tip = byId("tip");
  let shown = null;
  const hide = () => {
    shown?.removeAttribute("aria-describedby");
    shown = null;
    tip.hidden = true;
  };
  const show = (event) => {
    const word = event.target.closest?.(".term");
    if (!word || word === shown) return;
    hide();
    shown = word;
    // In a dialog, what lies outside of it is covered.
    (word.closest("dialog") ?? document.body).append(tip);
    tip.textContent = MEANINGS[word.dataset.term] ?? "";
    word.setAttribute("aria-describedby", "tip");
    place(tip, word);
  };
  const leave = (event) => {
    if (event.target.closest?.(".term") === shown && document.activeElement !== shown) hide();
  };
  for (const type of ["pointerover", "focusin", "click"]) document.addEventListener(type, show);
  document.addEventListener("pointerout", leave);
  document.addEventListener("focusout", hide);
  document.addEventListener(
    "scroll",
    () => {
      if (shown) place(tip, shown);
    },
    { passive: true, capture: true },
  );
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !shown) return;
    event.preventDefault();
    hide();
  });
};
