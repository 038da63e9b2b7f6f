// Dialogs of the inbox: the contact sheet of sure answers, and all photos of one album.

import { ask, closer } from "./dialogs.js";
import { add, button, el, photo } from "./dom.js";
import { photoTiles } from "./set_dialog.js";
import { counted } from "./words.js";

const MOST_TILES = 400,
  UNLIKE = "it looks unlike the other photos of this album";

/** All photos of an album of the inbox, as tiles and the lightbox want them. */
export const rowPhotos = (row) => {
  const odd = new Set(row.outliers);
  return Array.from({ length: Math.min(row.n_images, MOST_TILES) }, (_, j) => ({
    image: j,
    name: `Photo ${j + 1}`,
    url: `/api/v1/inbox/${encodeURIComponent(row.id)}/photos/${j}`,
    why: odd.has(j) ? UNLIKE : null,
    box: row.boxes[j] ?? null,
  }));
};

const outWords = (n) => (n ? `${counted(n, "photo")} ${n === 1 ? "stays" : "stay"} out` : "");

/** What all sure answers would add, to be looked at; resolves with the rows that are taken. */
export const confirmSure = (rows) => {
  const dialog = el("dialog", { class: "sheet", "aria-labelledby": "sheet-title" });
  const taken = new Set(rows);
  const yes = button("", () => dialog.choose([...taken]), { class: "button primary", autofocus: true });
  const describe = () => {
    yes.textContent = `Accept ${counted(taken.size, "album")}`;
    yes.disabled = !taken.size;
  };
  const item = (row) => {
    const box = el("input", {
      type: "checkbox",
      checked: true,
      on: {
        change: () => {
          if (box.checked) taken.add(row);
          else taken.delete(row);
          describe();
        },
      },
    });
    return el(
      "li",
      {},
      el(
        "label",
        {},
        box,
        el("b", { class: "first" }, row.label),
        el("small", {}, [row.name, counted(row.n_images, "photo"), outWords(row.outliers.length)].filter(Boolean).join(" · ")),
        el(
          "span",
          { class: "reel" },
          ...row.photos.map(({ url, is_outlier: isOut }) => photo(url, "", { class: isOut ? "out" : null })),
        ),
      ),
    );
  };
  describe();
  add(
    dialog,
    el("h2", { id: "sheet-title" }, "Are these right?"),
    el("p", { class: "small" }, "Untick what is not. Photos that do not belong are crossed out, and stay out."),
    closer(dialog),
    el("ul", { class: "sheet-rows" }, ...rows.map(item)),
    el("div", { class: "actions" }, yes, button("Cancel", () => dialog.close())),
  );
  return ask(dialog);
};

/** All photos of an album; resolves with those that stay out, or null. */
export const openRow = (row, label) => {
  const dialog = el("dialog", { class: "one-set", "aria-labelledby": "row-title" });
  const marked = new Set(row.without);
  const yes = button(label === null ? "Name it…" : `It is ${label}`, () => dialog.choose([...marked].sort((a, b) => a - b)), {
    class: "button primary",
  });
  const hint = el("p", { class: "small", role: "status" });
  const describe = () => {
    yes.disabled = marked.size === row.n_images;
    hint.textContent = `${outWords(marked.size) || "No photo stays out"}. Click photos to change that; Space shows one large.`;
  };
  describe();
  add(
    dialog,
    el("p", { class: "eyebrow" }, `${row.words} · ${counted(row.n_images, "photo")}`),
    el("h2", { id: "row-title" }, row.name),
    closer(dialog),
    photoTiles(rowPhotos(row), marked, describe, "leave out"),
    hint,
    row.state === "done" && el("div", { class: "actions" }, yes, button("Cancel", () => dialog.close())),
  );
  return ask(dialog);
};
