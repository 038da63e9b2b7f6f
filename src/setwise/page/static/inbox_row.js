// One row of the inbox.

import { button, el, thumb } from "./dom.js";
import { counted, percent } from "./words.js";

const REEL = 5;

const answerCell = (row) => {
  if (row.state === "waiting") return [el("span", { class: "none" }, "waiting…")];
  if (row.state === "failed") return [el("small", { class: "bad" }, row.words)];
  if (row.label !== null) return [el("b", { class: "first" }, row.label)];
  return [
    el("b", { class: "unknown" }, "unknown"),
    row.most_like && el("small", {}, `most like ${row.most_like}`),
  ];
};

const surenessCell = (row) => {
  if (row.probability === null || row.is_known === false) return [el("span", { class: "none" }, "–")];
  const kind = row.confidence === "sure" || row.confidence === "quite sure" ? "" : " unsure";
  return [
    el("span", { class: `gauge${kind}`, vars: { share: row.probability } }),
    el("span", {}, row.confidence),
    " ",
    el("small", {}, percent(row.probability)),
  ];
};

const decisionCell = (row, { onAccept, onAsk, onClear }) => {
  if (row.state === "enrolled")
    return [el("span", { class: "right-mark" }, `✓ ${row.decided}`), el("small", {}, "in the gallery")];
  if (row.state === "transferred")
    return [el("span", { class: "right-mark" }, `✓ ${row.decided}`), el("small", {}, "in its folder")];
  if (row.state !== "done") return [];
  if (row.decided !== null)
    return [
      el("span", { class: "right-mark" }, `✓ ${row.decided}`),
      button("Take back", onClear, {
        class: "button quiet",
        "aria-label": `Take back: ${row.name} is ${row.decided}`,
      }),
    ];
  return [
    row.label !== null &&
      button("Accept", onAccept, {
        class: "button small",
        "aria-label": `Accept: ${row.name} is ${row.label}`,
      }),
    button(row.label === null ? "Name it…" : "Other…", onAsk, {
      class: "button small",
      "aria-label": `Choose another name for ${row.name}`,
    }),
  ];
};

export const rowOf = (row, acts) =>
  el(
    "tr",
    {
      data: { id: row.id },
      tabindex: "-1",
      class: row.decided !== null ? "decided" : row.state,
      on: {
        click: (event) => {
          if (!event.target.closest("button")) acts.onChoose();
        },
        focus: acts.onChoose,
      },
    },
    el(
      "th",
      { scope: "row" },
      el("span", { class: "reel" }, ...row.photos.slice(0, REEL).map((url) => thumb(url))),
      el("span", { class: "name" }, row.name),
      " ",
      el("small", {}, counted(row.n_images, "photo")),
    ),
    el("td", {}, ...answerCell(row)),
    el("td", {}, ...surenessCell(row)),
    el(
      "td",
      { class: "next" },
      row.runner_up && row.state === "done"
        ? [
            el("span", { class: "second" }, row.runner_up.label),
            " ",
            el("small", {}, percent(row.runner_up.probability)),
          ]
        : el("span", { class: "none" }, "–"),
    ),
    el("td", { class: "decision" }, ...decisionCell(row, acts)),
  );
