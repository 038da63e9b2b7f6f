// One album of the gallery: all its photos, and what can be done with it.

import { Refused, get } from "./api.js";
import { ask, chooseClass, closer } from "./dialogs.js";
import { add, button, el, photo, thumb } from "./dom.js";
import { openLightbox } from "./lightbox.js";
import { command, current } from "./store.js";
import { counted, nameOf } from "./words.js";

const MOST_TILES = 400;

/** @type {(id: string) => any[]} */
const find = (id) => {
  for (const one of current().classes) for (const set of one.sets) if (set.id === id) return [one.name, set];
  return [null, null];
};

/** Photos to look at, and to mark where `marked` is a set; `onChange(marked)` hears which are. */
export const photoTiles = (photos, marked, onChange, words) => {
  const tiles = new Map();
  const toggle = (image) => {
    if (!marked.delete(image)) marked.add(image);
    tiles.get(image).setAttribute("aria-pressed", String(marked.has(image)));
    onChange(marked);
  };
  const marks = marked && { has: (image) => marked.has(image), toggle, words: words[0].toUpperCase() + words.slice(1) };
  const enlarge = (at) => openLightbox(photos, at, marks);
  return el(
    "ol",
    { class: "tiles" },
    ...photos.map(({ image, name, url, small, why, looks_like: like }, at) => {
      const tile = el(
        "button",
        {
          type: "button",
          class: why ? "tile odd" : "tile",
          "aria-pressed": marked ? String(marked.has(image)) : null,
          title: [why ? `${name}: ${why}` : name, "Space: large"].join(" · "),
          on: {
            click: () => (marked ? toggle(image) : enlarge(at)),
            keydown: (event) => {
              if (event.key !== " ") return;
              event.preventDefault();
              enlarge(at);
            },
            // Or else Firefox clicks the button, too.
            keyup: (event) => event.key === " " && event.preventDefault(),
          },
        },
        small ? thumb(small, name) : photo(url, marked ? `${name}: ${words}` : name),
        like && el("span", { class: "caption" }, `like ${like}`),
      );
      tiles.set(image, tile);
      const loupe = button("⤢", () => enlarge(at), {
        class: "loupe",
        tabindex: "-1",
        "aria-label": `Enlarge ${name}`,
      });
      return el("li", {}, tile, marked && loupe);
    }),
  );
};

/** The photos of an album of the gallery, as the tiles and the lightbox want them. */
export const photosOf = (set) =>
  Array.from({ length: Math.min(set.shown, MOST_TILES) }, (_, i) => ({
    image: i,
    name: `Photo ${i + 1}`,
    url: `/api/v1/sets/${encodeURIComponent(set.id)}/images/${i}`,
  }));

export const openSet = async (id) => {
  const [label, set] = find(id);
  if (!set) return;
  const dialog = el("dialog", { class: "one-set", "aria-labelledby": "set-title" });
  const marked = new Set();
  const canChange = current().can_change;
  const takeOut = button("", () => dialog.choose(["remove_photos", { images: [...marked].sort((a, b) => a - b) }]), {
    class: "button primary",
  });
  const hint = el("p", { class: "small", role: "status" });
  const describe = () => {
    takeOut.disabled = !marked.size || marked.size === set.n_images;
    takeOut.textContent = marked.size ? `Remove ${counted(marked.size, "photo")}` : "Remove photos";
    hint.textContent =
      marked.size === set.n_images ? "To remove all of them, remove the album." : "Click photos to remove them. Space shows one large.";
  };
  const move = async () => {
    const chosen = await chooseClass(`Whose album is “${nameOf(set, label)}”?`, {
      without: [label],
      hint: `It is an album of ${label} now.`,
    });
    if (chosen !== null) dialog.choose(["move", { label: chosen }]);
  };
  const photos = photosOf(set);
  const place = el("div", {}, photoTiles(photos, canChange ? marked : null, describe, "remove"));
  add(
    dialog,
    el("p", { class: "eyebrow" }, `An album of ${label} · ${counted(set.n_images, "photo")}`),
    el("h2", { id: "set-title" }, nameOf(set, label)),
    closer(dialog),
    place,
    photos.length < set.n_images &&
      el("p", { class: "small" }, `${photos.length} of ${set.n_images} are shown.`),
  );
  if (canChange) {
    describe();
    dialog.append(
      hint,
      el(
        "div",
        { class: "actions" },
        takeOut,
        button("Move to someone or something else…", move),
        button("Remove this album", () => dialog.choose(["forget", {}]), { class: "button bad" }),
      ),
    );
  }
  nameThem(set, photos);
  const chosen = await ask(dialog);
  if (chosen) await command(chosen[0], { set_id: set.id, ...chosen[1] });
};

/** The files of an album's photos, and where a face is in its photo: for the lightbox. */
const nameThem = async (set, photos) => {
  try {
    const about = await get(`/api/v1/sets/${encodeURIComponent(set.id)}/photos`);
    for (const [i, one] of photos.entries()) Object.assign(one, { name: about[i].name, spot: about[i].spot });
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
  }
};
