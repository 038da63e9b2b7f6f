// Gallery: every person or thing with its albums.

import { el, photo } from "./dom.js";
import { openLightbox } from "./lightbox.js";
import { openSet, photosOf } from "./set_dialog.js";
import { current, subscribe } from "./store.js";
import { term } from "./terms.js";
import { counted, countedClasses, folded, nameOf } from "./words.js";

const COVERS = 4;
const ORDERS = {
  name: ["by name", (a, b) => a.name.localeCompare(b.name, undefined, { numeric: true })],
  large: ["largest first", (a, b) => b.n_images - a.n_images],
  small: ["smallest first", (a, b) => a.n_images - b.n_images],
  weak: ["weak first", (a, b) => b.weak.length - a.weak.length],
};

let parts = null;
// Elements by class name, each with what it was made of: only classes that changed are made again.
const made = new Map();

const cover = (set) => {
  const shown = Math.min(set.shown, set.shown < COVERS ? 1 : COVERS);
  const url = (i) => `/api/v1/sets/${encodeURIComponent(set.id)}/images/${Math.floor((i * set.shown) / COVERS)}`;
  return el(
    "span",
    { class: `cover covers-${shown}` },
    ...Array.from({ length: shown }, (_, i) => photo(url(i))),
  );
};

const setCard = (set, label) =>
  el(
    "li",
    {},
    el(
      "button",
      {
        type: "button",
        class: "set",
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

const classSection = (one) =>
  el(
    "section",
    { class: "class", "aria-label": one.name },
    el(
      "header",
      {},
      el("h2", {}, one.name),
      el("p", { class: "small" }, `${counted(one.n_sets, "album")} · ${counted(one.n_images, "photo")}`),
      ...one.weak.map((sentence) => el("p", { class: "weak" }, sentence)),
    ),
    el("ul", { class: "sets" }, ...one.sets.map((set) => setCard(set, one.name))),
  );

const sectionOf = (one) => {
  const kept = made.get(one.name);
  const content = JSON.stringify(one);
  if (kept?.content === content) return kept.section;
  const section = classSection(one);
  made.set(one.name, { content, section });
  return section;
};

const lead = (gallery) => {
  const weak = gallery.classes.filter((one) => one.weak.length).length;
  if (!gallery.n_classes) return ["Nothing is here yet."];
  if (gallery.weak_state === "computing")
    return ["Checking which people or things need more photos…"];
  if (!weak)
    return [
      "Each album was found again when it was left out. Drop new photos on ",
      el("a", { href: "#identify" }, "Identify"),
      ".",
    ];
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
  const sections = classes.map(sectionOf);
  const isSame =
    sections.length === parts.list.children.length &&
    sections.every((one, i) => one === parts.list.children[i]);
  if (!isSame) parts.list.replaceChildren(...sections);
  if (!sections.length && isNarrowed)
    parts.list.replaceChildren(el("p", { class: "lead none" }, "No person, thing or album has that name."));
};

const showGallery = (gallery) => {
  parts.counts.replaceChildren(
    `${countedClasses(gallery.n_classes)} · ${counted(gallery.n_sets, "album")} · ${counted(gallery.n_images, "photo")}`,
  );
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

export const start = (view) => {
  const order = el(
    "select",
    { id: "order" },
    ...Object.entries(ORDERS).map(([value, [words]]) => el("option", { value }, words)),
  );
  parts = {
    counts: el("p", { class: "eyebrow" }),
    title: el("h1", { id: "gallery-title", tabindex: "-1" }, "Gallery"),
    lead: el("p", { class: "lead" }),
    locked: el("p", { class: "notice", hidden: true }),
    search: el("input", { type: "search", placeholder: "any name", "aria-label": "Search people, things and albums" }),
    order,
    onlyWeak: el("input", { type: "checkbox" }),
    output: el("output", {}),
    list: el("div", { class: "classes" }),
  };
  view.append(
    el("header", { class: "head" }, parts.counts, parts.title, parts.lead, parts.locked),
    el(
      "div",
      { class: "controls" },
      el("label", {}, "Search ", parts.search),
      el("label", {}, "Order ", order),
      el("label", { class: "check" }, parts.onlyWeak, " weak only"),
      parts.output,
    ),
    parts.list,
  );
  for (const control of [parts.search, parts.order, parts.onlyWeak]) control.addEventListener("input", fill);
  subscribe("gallery", showGallery);
};
