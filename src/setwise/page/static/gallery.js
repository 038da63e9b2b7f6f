// Gallery: everybody and everything by face, or with all their albums.

import { el, photo } from "./dom.js";
import { openLightbox } from "./lightbox.js";
import { openSet, photosOf } from "./set_dialog.js";
import { current, subscribe } from "./store.js";
import { term } from "./terms.js";
import { counted, countedClasses, folded, nameOf } from "./words.js";

const COVERS = 4,
  SHOWN_AS = "setwise-gallery";
const ORDERS = {
  name: ["by name", (a, b) => a.name.localeCompare(b.name, undefined, { numeric: true })],
  large: ["most photos first", (a, b) => b.n_images - a.n_images],
  small: ["fewest photos first", (a, b) => a.n_images - b.n_images],
  weak: ["weak first", (a, b) => b.weak.length - a.weak.length],
};

/** @type {any} */
let parts = null;
// Elements by class name, each with what it was made of: only classes that changed are made again.
const made = new Map();

const cover = (set) => {
  if (set.cover) return el("span", { class: "cover covers-1" }, photo(set.cover));
  const shown = Math.min(set.shown, set.shown < COVERS ? 1 : COVERS);
  const url = (i) => `/api/v1/sets/${encodeURIComponent(set.id)}/images/${Math.floor((i * set.shown) / COVERS)}`;
  return el("span", { class: `cover covers-${shown}` }, ...Array.from({ length: shown }, (_, i) => photo(url(i))));
};

export const setCard = (set, label) =>
  el(
    "li",
    {},
    el(
      "button",
      {
        type: "button",
        class: set.isWaiting ? "set waiting" : "set",
        disabled: set.isWaiting,
        on: {
          click: () => openSet(set.id),
          keydown: (event) => {
            if (event.key !== " " || !set.shown) return;
            event.preventDefault();
            openLightbox(photosOf(set));
          },
        },
        "aria-label": `${nameOf(set, label)}, an album of ${label}, ${counted(set.n_images, "photo")}`,
      },
      cover(set),
      el("span", { class: "name", title: set.name }, nameOf(set, label)),
      el("small", {}, counted(set.n_images, "photo")),
    ),
  );

const heading = (one) =>
  el("h2", {}, one.isWaiting ? one.name : el("a", { href: `#person/${one.id}` }, one.name));

const withAlbums = (one) =>
  el(
    "section",
    { class: "class", "aria-label": one.name },
    el(
      "header",
      {},
      heading(one),
      el("p", { class: "small" }, `${counted(one.n_sets, "album")} · ${counted(one.n_images, "photo")}`),
      ...one.weak.map((sentence) => el("p", { class: "weak" }, sentence)),
    ),
    el("ul", { class: "sets" }, ...one.sets.map((set) => setCard(set, one.name))),
  );

const face = (one) =>
  el(
    "section",
    { class: one.isWaiting ? "person waiting" : "person", "aria-label": one.name },
    el(
      "a",
      { href: one.isWaiting ? null : `#person/${one.id}`, class: "person-open", title: one.weak.join(" ") || null },
      one.cover ? photo(one.cover, "", { class: "person-cover" }) : el("span", { class: "person-cover letter", "aria-hidden": "true" }, one.name.slice(0, 1)),
      el("h2", {}, one.name),
      el("small", {}, el("span", { class: "n-albums" }, `${counted(one.n_sets, "album")} · `), counted(one.n_images, "photo")),
      one.weak.length > 0 && el("small", { class: "weak" }, "weak"),
    ),
  );

const isAlbums = () => parts.shownAs.value === "albums";

const sectionOf = (one) => {
  const content = JSON.stringify([one, isAlbums()]);
  const kept = made.get(one.name);
  if (kept?.content === content) return kept.section;
  const section = isAlbums() ? withAlbums(one) : face(one);
  made.set(one.name, { content, section });
  return section;
};

const lead = (gallery) => {
  const weak = gallery.classes.filter((one) => one.weak.length).length;
  if (!gallery.n_classes) return ["Nothing is here yet."];
  if (gallery.weak_state === "computing") return ["Checking who needs more photos…"];
  if (!weak) return ["All are well known. Drop new photos anywhere."];
  return [`${countedClasses(weak)} ${weak === 1 ? "is" : "are"} `, term("weak"), ": more photos would help."];
};

const fill = () => {
  const gallery = current();
  if (!gallery) return;
  const wanted = folded(parts.search.value);
  const isShown = (one) =>
    (!parts.onlyWeak.checked || one.weak.length) &&
    (!wanted || folded(one.name).includes(wanted) || one.sets.some((set) => folded(set.name).includes(wanted)));
  const classes = gallery.classes.filter(isShown).sort(ORDERS[parts.order.value][1]);
  const names = new Set(gallery.classes.map((one) => one.name));
  for (const name of made.keys()) if (!names.has(name)) made.delete(name);
  const isNarrowed = classes.length < gallery.n_classes;
  parts.output.textContent = isNarrowed ? `${classes.length} of ${gallery.n_classes}` : "";
  parts.list.className = isAlbums() ? "classes" : "people";
  const sections = classes.map(sectionOf);
  const isSame =
    sections.length === parts.list.children.length && sections.every((one, i) => one === parts.list.children[i]);
  if (!isSame) parts.list.replaceChildren(...sections);
  if (!sections.length && isNarrowed)
    parts.list.replaceChildren(el("p", { class: "lead none" }, "No person, thing or album has that name."));
};

const showGallery = (gallery) => {
  parts.counts.textContent = [
    countedClasses(gallery.n_classes),
    counted(gallery.n_sets, "album"),
    counted(gallery.n_images, "photo"),
  ].join(" · ");
  parts.title.textContent = gallery.file
    .split(/[\\/]/)
    .at(-1)
    .replace(/\.setwise$/, "");
  parts.lead.replaceChildren(...lead(gallery));
  parts.locked.hidden = gallery.can_change;
  parts.locked.textContent = gallery.can_change
    ? ""
    : `This gallery cannot be changed, but it can identify photos. ${gallery.reason_it_cannot}`;
  fill();
};

const choice = (options, properties = {}) =>
  el("select", properties, ...Object.entries(options).map(([value, words]) => el("option", { value }, words)));

const words = (text) => el("span", { class: "label-words" }, text);

export const start = (view) => {
  parts = {
    counts: el("p", { class: "small counts" }),
    title: el("h1", { id: "gallery-title", tabindex: "-1" }, "Gallery"),
    lead: el("p", { class: "small" }),
    locked: el("p", { class: "notice", hidden: true }),
    search: el("input", { type: "search", placeholder: "any name", "aria-label": "Search people, things and albums" }),
    order: choice(Object.fromEntries(Object.entries(ORDERS).map(([value, [words]]) => [value, words])), { id: "order", "aria-label": "Order" }),
    shownAs: choice({ people: "covers", albums: "albums" }, { id: "shown-as", "aria-label": "Show" }),
    onlyWeak: el("input", { type: "checkbox" }),
    output: el("output", {}),
    list: el("div", {}),
  };
  parts.shownAs.value = localStorage.getItem(SHOWN_AS) ?? "people";
  parts.shownAs.addEventListener("input", () => localStorage.setItem(SHOWN_AS, parts.shownAs.value));
  view.append(
    el("header", { class: "head in-line" }, parts.title, parts.counts, parts.lead),
    parts.locked,
    el(
      "div",
      { class: "controls" },
      el("label", {}, words("Search "), parts.search),
      el("label", {}, words("Show "), parts.shownAs),
      el("label", {}, words("Order "), parts.order),
      el("label", { class: "check" }, parts.onlyWeak, " weak only"),
      parts.output,
    ),
    parts.list,
  );
  for (const control of [parts.search, parts.order, parts.onlyWeak, parts.shownAs]) control.addEventListener("input", fill);
  subscribe("gallery", showGallery);
};
