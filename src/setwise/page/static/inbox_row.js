// One row of the inbox: photos first, then the answer and why, then what to do.

import { button, el, photo } from "./dom.js";
import { guessOf } from "./inbox_acts.js";
import { counted, percent } from "./words.js";

const REEL = 5;

const sureness = (row) => {
  if (row.members || row.parts.length || row.is_known === false) return null;
  const kind = row.confidence === "sure" || row.confidence === "quite sure" ? "" : " unsure";
  return el(
    "span",
    { class: "sure" },
    el("span", { class: `gauge${kind}`, vars: { share: row.probability } }),
    el("small", {}, `${row.confidence}, ${percent(row.probability)}`),
  );
};

/** Who it is, in a few words. */
export const headline = (row) => {
  if (row.members) return el("b", { class: "unknown" }, `Somebody new, ${counted(row.members.length, "album")}`);
  if (row.parts.length) return el("b", { class: "unknown" }, `${counted(row.parts.length, "different thing")}`);
  if (row.label !== null) return el("b", { class: "first" }, row.label);
  if (row.is_far)
    return el("b", {}, "Probably ", el("span", { class: "first" }, row.most_like), ", but farther than usual");
  return el("b", { class: "unknown" }, row.confidence === "a guess" ? "No idea" : `Unknown, most like ${row.most_like}`);
};

const answerCell = (row) => {
  if (row.state === "waiting") return [el("span", { class: "none" }, "waiting…")];
  if (row.state === "failed") return [el("small", { class: "bad" }, row.words)];
  const n = row.without.length;
  return [
    headline(row),
    sureness(row),
    el("small", { class: "why" }, row.reason),
    n > 0 && !row.parts.length && el("small", { class: "bad" }, `${counted(n, "photo")} ${n === 1 ? "stays" : "stay"} out`),
  ];
};

/** The buttons that decide on a row. */
export const decisionButtons = (row, { onAccept, onAsk, onSplit, onJoin, onApart }, kind = "small") => {
  const guess = guessOf(row);
  const one = (words, act, label, more = "") => button(words, act, { class: `button ${kind} ${more}`, "aria-label": label });
  if (row.members)
    return [
      one("Who is it?", onAsk, `Name ${counted(row.members.length, "album")} at once: ${row.name}`, "primary"),
      one("Not the same", onApart, `These albums are not the same: ${row.name}`),
    ];
  return [
    row.parts.length > 0
      ? one("Split", onSplit, `Split ${row.name} into ${counted(row.parts.length, "album")}`, "primary")
      : guess !== null && one("Accept", onAccept, `Accept: ${row.name} is ${guess}`, "primary"),
    one(guess === null ? "Who is it?" : "Other…", onAsk, `Choose ${guess === null ? "a" : "another"} name for ${row.name}`),
    row.is_part && one("Join again", onJoin, `Join the album that ${row.name} is part of`),
  ];
};

const decisionCell = (row, acts) => {
  const isOver = { enrolled: "in the gallery", transferred: "in its folder" }[row.state];
  if (isOver) return [el("span", { class: "right-mark" }, `✓ ${row.decided ?? ""}`), el("small", {}, isOver)];
  if (row.state !== "done") return [];
  if (row.decided === null) return decisionButtons(row, acts);
  return [
    el("span", { class: "right-mark" }, `✓ ${row.decided}`),
    button("Take back", acts.onClear, {
      class: "button quiet",
      "aria-label": `Take back: ${row.name} is ${row.decided}`,
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
          if (!event.target.closest("button, input, label")) acts.onChoose(event);
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
        ...row.photos.slice(0, REEL).map(({ url, is_outlier: isOut }, at) => {
          const tile = photo(url, "", { class: isOut ? "out" : null });
          tile.addEventListener("click", (event) => {
            if (!event.shiftKey) acts.onLarge(at);
          });
          return tile;
        }),
      ),
      row.state === "done" &&
        el("input", { type: "checkbox", class: "pick", tabindex: "-1", "aria-label": `Choose ${row.name}`, on: { click: acts.onPick } }),
      el("span", { class: "name", title: row.name }, row.name),
      " ",
      el("small", {}, counted(row.n_images, "photo")),
    ),
    el("td", { class: "answer-cell" }, ...answerCell(row).filter(Boolean)),
    el("td", { class: "decision" }, ...decisionCell(row, acts).filter(Boolean)),
  );
