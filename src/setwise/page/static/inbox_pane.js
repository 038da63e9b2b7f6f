// Beside the inbox, where there is room: the chosen album, large, and whom it may show.

import { button, el, thumb } from "./dom.js";
import { spoken } from "./answer.js";
import { current } from "./state.js";
import { percent } from "./words.js";

const coverOf = (label) => {
  const set = current()?.classes.find((one) => one.name === label)?.sets[0];
  return set?.shown ? `/api/sets/${encodeURIComponent(set.id)}/images/0` : null;
};

/** Whom the keys 1 to 9 choose. */
export const candidatesOf = (row) =>
  (
    row.candidates ??
    [row.most_like && { label: row.most_like, probability: row.probability }, row.runner_up].filter(Boolean)
  ).slice(0, 9);

const candidate = (row, { label, probability }, i, decide) => {
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
        on: { click: () => decide(row.id, label) },
      },
      el("kbd", {}, String(i + 1)),
      url ? thumb(url) : el("span", { class: "plus" }),
      el("span", { class: "label" }, label),
      el("span", { class: `gauge ${["first", "second"][i] ?? "other"}`, vars: { share: probability } }),
      el("small", {}, percent(probability)),
    ),
  );
};

export const paneOf = (row, decide, ask) =>
  [
    el("h2", {}, row.name),
    row.words && el("p", { class: "pane-words" }, ...spoken(row.words, row.label ?? row.most_like)),
    el("div", { class: "pane-photos" }, ...row.photos.map((url) => thumb(url))),
    row.state === "done" &&
      el("ol", { class: "candidates" }, ...candidatesOf(row).map((one, i) => candidate(row, one, i, decide))),
    row.state === "done" &&
      button([el("kbd", {}, "c"), " another name, or a new one…"], () => ask(row.id), { class: "button quiet" }),
  ].filter(Boolean);
