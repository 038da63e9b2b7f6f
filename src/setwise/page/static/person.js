// One person or thing: the name, doubtful photos first, the albums, all photos.

import { Refused, get, put } from "./api.js";
import { chooseClass, confirm } from "./dialogs.js";
import { add, button, byId, el, photo } from "./dom.js";
import { setCard } from "./gallery.js";
import { photoTiles } from "./set_dialog.js";
import { command, current, subscribe } from "./store.js";
import { say, warn } from "./toast.js";
import { counted } from "./words.js";

/** @typedef {import("./types.js").ClassPhotos} ClassPhotos */

const PAGE = 120;
/** @type {any} */
let parts = null;
let shown = null; // { id, name } of whom the page is
let revision = null;
let found = null; // their photos, as far as they were asked for
const marked = new Set();
let isAsking = false;

const idOf = () => location.hash.split("/")[1] ?? "";
const who = () => current()?.classes.find((one) => one.id === shown?.id) ?? null;
const keyOf = ({ set_id: id, image }) => `${id} ${image}`;
const asTile = (one) => ({
  ...one,
  image: keyOf(one),
  name: one.name || `${one.album}, photo ${one.image + 1}`,
  why: one.looks_like && `It looks more like ${one.looks_like}.`,
});

const chosen = () => found.photos.filter((one) => marked.has(keyOf(one)));

/** The chosen photos as the server wants them: by album. */
const bySet = () => {
  const sets = new Map();
  for (const { set_id: id, image } of chosen()) sets.set(id, [...(sets.get(id) ?? []), image]);
  return [...sets].map(([id, images]) => ({ set_id: id, images }));
};

const give = async (label) => {
  const photos = bySet();
  found.photos = found.photos.filter((one) => !marked.has(keyOf(one))); // it shows at once
  found.n_doubtful = found.photos.filter((one) => one.looks_like).length;
  marked.clear();
  draw();
  await command("move_photos", { photos, label });
};

const giveAway = async () => {
  const counts = new Map();
  for (const { looks_like: like } of chosen()) if (like) counts.set(like, (counts.get(like) ?? 0) + 1);
  const likely = [...counts].sort((a, b) => b[1] - a[1]).map(([label, n]) => ({ label, probability: n / marked.size }));
  const label = await chooseClass(marked.size === 1 ? "Who or what is this?" : "Who or what are these?", { without: [shown.name], likely });
  if (label !== null) await give(label);
};

const makeCover = async () => {
  const [{ set_id: id, image }] = chosen();
  try {
    await put("/api/v1/cover", { set_id: id, image });
    marked.clear();
    draw();
    say("That is the cover now.");
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    warn(error.message);
  }
};

const rename = async () => {
  const to = await chooseClass(`Another name for ${shown.name}`, {
    without: [shown.name],
    typed: shown.name,
    hint: "A name that is there already makes the two one.",
  });
  if (to !== null && to !== shown.name) await renameTo(to);
};

const renameTo = async (to) => {
  const other = current().classes.find((one) => one.name === to);
  if (other) {
    const words = `The ${counted(other.n_sets, "album")} of ${to} and the ${counted(who().n_sets, "album")} of ${shown.name} become one. Undo brings both back.`;
    if (!(await confirm(`${shown.name} is ${to}?`, [words], "Yes, they are the same"))) return;
  }
  const { name } = shown;
  shown.name = to; // whatever it is called from now on
  if (!(await command("rename", { label: name, to }))) shown.name = name;
};

const join = async () => {
  const to = await chooseClass(`Who is the same as ${shown.name}?`, { without: [shown.name] });
  if (to !== null) await renameTo(to);
};

const grid = (photos) => photoTiles(photos.map(asTile), current().can_change ? marked : null, showChosen, "choose");

const showChosen = () => {
  const n = marked.size;
  parts.chosen.hidden = !n;
  if (!n) return;
  parts.chosenWords.textContent = `${counted(n, "photo")} chosen`;
  parts.cover.hidden = n !== 1;
};

const draw = () => {
  const one = who();
  if (!one || !found) return;
  const canChange = current().can_change;
  for (const control of [parts.rename, parts.join]) control.hidden = !canChange;
  parts.title.textContent = one.name;
  document.title = `${one.name} · setwise`;
  parts.counts.textContent = `${counted(one.n_sets, "album")} · ${counted(one.n_images, "photo")}`;
  parts.weak.replaceChildren(...one.weak.map((sentence) => el("p", { class: "weak" }, sentence)));
  parts.face.replaceChildren(one.cover ? photo(one.cover) : "");
  parts.albums.replaceChildren(...one.sets.map((set) => setCard(set, one.name)));
  const doubtful = found.photos.filter((photo) => photo.looks_like);
  const rest = found.photos.filter((photo) => !photo.looks_like);
  parts.doubtful.hidden = !doubtful.length;
  parts.doubtfulTitle.textContent = doubtful.length === 1 ? `Is this ${one.name}?` : `Are these ${one.name}?`;
  parts.doubtfulTiles.replaceChildren(grid(doubtful));
  parts.photos.replaceChildren(grid(rest));
  parts.all.hidden = !found.photos.length;
  showChosen();
};

/** The next photos, when the end comes near. */
const more = async () => {
  if (isAsking || !found || found.next === null) return;
  isAsking = true;
  try {
    const next = await get(`/api/v1/classes/${encodeURIComponent(shown.id)}/photos?first=${found.next}&limit=${PAGE}`);
    found = { ...next, photos: [...found.photos, ...next.photos] };
    const last = parts.photos.querySelector(".tiles");
    const added = grid(next.photos.filter((photo) => !photo.looks_like));
    last.append(...added.children);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
  } finally {
    isAsking = false;
  }
};

const fetchPhotos = async () => {
  const now = current();
  const one =
    now.classes.find(({ id }) => id === idOf()) ??
    now.classes.find(({ name }) => name === shown?.name) ??
    now.classes.find(({ sets }) => sets.some((set) => shown?.albums.has(set.name))); // renamed elsewhere
  if (!one || one.isWaiting) {
    if (!now.classes.some(({ isWaiting }) => isWaiting)) location.hash = "#gallery"; // gone
    return;
  }
  if (one.id !== idOf()) history.replaceState(null, "", `#person/${one.id}`); // renamed
  if (shown?.id === one.id && revision === now.revision && found) return draw();
  if (shown?.id !== one.id) marked.clear();
  shown = { id: one.id, name: one.name, albums: new Set(one.sets.map((set) => set.name)) };
  revision = now.revision;
  try {
    found = await get(`/api/v1/classes/${encodeURIComponent(one.id)}/photos?limit=${PAGE}`);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return; // the next state of the gallery asks again
  }
  const there = new Set(found.photos.map(keyOf));
  for (const key of marked) if (!there.has(key)) marked.delete(key);
  draw();
};

export const show = () => {
  if (current()) fetchPhotos();
};

export const start = (view) => {
  parts = {
    face: el("div", { class: "person-face" }),
    title: el("h1", { id: "person-title", tabindex: "-1" }),
    counts: el("p", { class: "small" }),
    weak: el("div", {}),
    rename: button("Rename…", rename),
    join: button("The same as…", join),
    albums: el("ul", { class: "sets" }),
    doubtful: el("section", { class: "doubtful", hidden: true }),
    doubtfulTitle: el("h2", {}),
    doubtfulTiles: el("div", {}),
    all: el("section", { class: "all-photos" }),
    photos: el("div", {}),
    end: el("div", { class: "end" }),
    chosenWords: el("p", { role: "status" }),
    cover: button("Make it the cover", makeCover),
  };
  parts.chosen = el(
    "div",
    { class: "chosen", hidden: true },
    parts.chosenWords,
    button("Somebody else…", giveAway, { class: "button primary" }),
    button("Take out", () => give(null)),
    parts.cover,
    button("None", () => {
      marked.clear();
      draw();
    }, { class: "button quiet" }),
  );
  add(parts.doubtful, parts.doubtfulTitle, el("p", { class: "small" }, "They look more like somebody else. Click those that are, and say who."), parts.doubtfulTiles);
  add(parts.all, el("h2", {}, "All photos"), parts.photos, parts.end);
  view.append(
    el(
      "header",
      { class: "person-head" },
      parts.face,
      el(
        "div",
        {},
        el("p", { class: "eyebrow" }, el("a", { href: "#gallery" }, "‹ Gallery")),
        parts.title,
        parts.counts,
        parts.weak,
        el("div", { class: "actions" }, parts.rename, parts.join),
      ),
    ),
    parts.doubtful,
    el("section", {}, el("h2", {}, "Albums"), parts.albums),
    parts.all,
    parts.chosen,
  );
  new IntersectionObserver(more, { rootMargin: "800px" }).observe(parts.end);
  subscribe("gallery", () => {
    if (!byId("view-person").hidden) fetchPhotos();
  });
};
