// Beside the inbox, or below it where there is less room: the chosen album, and whom it may show.

import { button, el, photo, spoken } from "./dom.js";
import { coverOf, knownNames } from "./store.js";
import { percent } from "./words.js";

/** Whom the keys 1 to 9 choose: candidates, then names that are new. */
export const candidatesOf = (row) => {
  const likely = row.candidates ?? [];
  const fresh = knownNames()
    .filter(({ isNew, name }) => isNew && name !== row.decided)
    .map(({ name }) => ({ label: name, probability: null }));
  return [...likely.slice(0, 9 - Math.min(fresh.length, 4)), ...fresh].slice(0, 9);
};

const candidate = (row, { label, probability }, i, onDecide) => {
  const url = coverOf(label);
  return el(
    "li",
    {},
    el(
      "button",
      {
        type: "button",
        class: "candidate",
        "aria-pressed": String(row.decided === label),
        on: { click: () => onDecide(row.id, label) },
      },
      el("kbd", {}, String(i + 1)),
      url ? photo(url) : el("span", { class: "plus" }, "+"),
      el("span", { class: "label" }, label),
      probability === null
        ? el("small", { class: "is-new" }, "new")
        : [
            el("span", { class: `gauge ${["first", "second"][i] ?? "other"}`, vars: { share: probability } }),
            el("small", {}, percent(probability)),
          ],
    ),
  );
};

export const paneOf = (row, { onDecide, onAsk, onPhotos, onLarge }) =>
  [
    el("h2", {}, row.name),
    row.words && el("p", { class: "pane-words" }, ...spoken(row.words, row.label ?? row.most_like)),
    row.reason && el("p", { class: "reason" }, row.reason),
    el(
      "div",
      { class: "pane-photos" },
      ...row.photos.map(({ url, is_outlier: isOut }, at) =>
        el(
          "button",
          {
            type: "button",
            class: isOut ? "tile odd" : "tile",
            "aria-label": `Enlarge photo ${at + 1}`,
            on: { click: () => onLarge(row, at) },
          },
          photo(url, "", { class: isOut ? "out" : null }),
        ),
      ),
    ),
    row.state === "done" &&
      el("ol", { class: "candidates" }, ...candidatesOf(row).map((one, i) => candidate(row, one, i, onDecide))),
    row.state === "done" &&
      el(
        "p",
        { class: "pane-more" },
        button([el("kbd", {}, "c"), " another name…"], () => onAsk(row.id), { class: "button quiet" }),
        !row.members && button([el("kbd", {}, "p"), " all photos…"], () => onPhotos(row.id), { class: "button quiet" }),
      ),
  ].filter(Boolean);
