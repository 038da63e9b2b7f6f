// Words that need explaining: dotted, and explained on hover and on focus.

import { byId, el } from "./dom.js";

const MEANINGS = {
  gallery: "All albums with a name: new albums are compared with them.",
  album: "Some photos that belong together: one folder, or one clip.",
  weak: "Each album was left out in turn and looked for in the rest. Where that goes wrong, or where there are few photos, answers are less sure.",
  "how probable": "Of 100 answers with this percentage, about as many are right.",
  "runner-up": "The second-best answer. The closer it comes, the less sure the first one is.",
  "out of place":
    "A photo unlike the others of its album. It was not compared, and stays out unless you click it.",
  "most alike": "For each of your photos, the most similar photo of that person or thing.",
  nearness:
    "How near this album comes to the most similar person or thing. The albums of the gallery show how near is usual, and how near strangers come.",
  unknown: "Nothing in the gallery is near enough. It may be someone new.",
  votes:
    "The photos are compared in several ways: light and dark, outlines, and so on. Each way of looking votes, and clear votes count for more.",
  "tree of cuts":
    "The pieces of all albums, yours too, start in one group. The group is cut in two at its weakest link, each half again, and so on. The answer is the person or thing that ends in one group with your album.",
  piece: "A summary of photos: every album, yours too, is first reduced to a few pieces that many of its photos have in common.",
  cut: "One division of a group in two. Its price (NCut) is 0 if nothing links the halves, and 2 if everything does.",
  uncertain:
    "Albums that the gallery is least sure of come first: your decisions on them improve it most.",
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
