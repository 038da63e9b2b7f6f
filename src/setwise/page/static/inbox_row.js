// One row of the inbox: photos first, then the answer and why, then what to do.

import { button, el, photo } from "./dom.js";
import { counted, percent } from "./words.js";

const REEL = 5;

const sureness = (row) => {
  if (row.parts.length || row.is_known === false) return null;
  const kind = row.confidence === "sure" || row.confidence === "quite sure" ? "" : " unsure";
  return el(
    "span",
    { class: "sure" },
    el("span", { class: `gauge${kind}`, vars: { share: row.probability } }),
    el("small", {}, `${row.confidence}, ${percent(row.probability)}`),
  );
};

const headline = (row) => {
  if (row.parts.length)
    return el("b", { class: "unknown" }, `${counted(row.parts.length, "different thing")}`);
  if (row.label !== null) return el("b", { class: "first" }, row.label);
  if (row.is_far)
    return el("b", {}, "Probably ", el("span", { class: "first" }, row.most_like), ", but farther than usual");
  return el("b", { class: "unknown" }, row.confidence === "a guess" ? "no idea" : `unknown, most like ${row.most_like}`);
};

const answerCell = (row) => {
  if (row.state === "waiting") return [el("span", { class: "none" }, "waiting…")];
  if (row.state === "failed") return [el("small", { class: "bad" }, row.words)];
  const n = row.without.length;
  return [
    headline(row),
    sureness(row),
    el("small", { class: "why" }, row.reason),
    n > 0 && el("small", { class: "bad" }, `${counted(n, "photo")} ${n === 1 ? "stays" : "stay"} out`),
  ];
};

const guessOf = (row) => row.label ?? (row.is_far ? row.most_like : null);

const decisionCell = (row, { onAccept, onAsk, onClear, onSplit, onJoin }) => {
  const isOver = { enrolled: "in the gallery", transferred: "in its folder" }[row.state];
  if (isOver) return [el("span", { class: "right-mark" }, `✓ ${row.decided ?? ""}`), el("small", {}, isOver)];
  if (row.state !== "done") return [];
  if (row.decided !== null)
    return [
      el("span", { class: "right-mark" }, `✓ ${row.decided}`),
      button("Take back", onClear, {
        class: "button quiet",
        "aria-label": `Take back: ${row.name} is ${row.decided}`,
      }),
    ];
  const guess = guessOf(row);
  const small = (words, act, label) => button(words, act, { class: "button small", "aria-label": label });
  return [
    row.parts.length > 0
      ? small("Split", onSplit, `Split ${row.name} into ${counted(row.parts.length, "album")}`)
      : guess !== null && small("Accept", onAccept, `Accept: ${row.name} is ${guess}`),
    small(guess === null ? "Name it…" : "Other…", onAsk, `Choose another name for ${row.name}`),
    row.is_part && small("Join again", onJoin, `Join the album that ${row.name} is part of`),
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
      el(
        "span",
        { class: "reel" },
        ...row.photos.slice(0, REEL).map(({ image, url, is_outlier: isOut }) => {
          const tile = photo(url, "", { class: isOut ? "out" : null });
          tile.addEventListener("dblclick", () => acts.onLarge(image));
          return tile;
        }),
      ),
      el("span", { class: "name" }, row.name),
      " ",
      el("small", {}, counted(row.n_images, "photo")),
    ),
    el("td", { class: "answer-cell" }, ...answerCell(row).filter(Boolean)),
    el("td", { class: "decision" }, ...decisionCell(row, acts).filter(Boolean)),
  );
