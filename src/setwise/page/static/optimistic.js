// The gallery as it will be: changes that wait are shown at once. Pure functions of JSON.

/** @typedef {import("./types.js").Overview} Overview */
/** @typedef {{ name: string, body: any, about?: any, key: string }} Waiting */

const byName = (one, other) => one.name.localeCompare(other.name, undefined, { numeric: true });

const classOf = (classes, name) => {
  let found = classes.find((one) => one.name === name);
  if (!found) {
    found = { id: `new ${name}`, name, cover: null, weak: [], confused_with: [], sets: [], isWaiting: true };
    classes.push(found);
  }
  return found;
};

const take = (classes, id) => {
  for (const one of classes) {
    const at = one.sets.findIndex((set) => set.id === id);
    if (at >= 0) return [one, one.sets.splice(at, 1)[0]];
  }
  return [null, null];
};

const waiting = (set, more = {}) => ({ ...set, ...more, isWaiting: true });

/** A set without some photos, where it was; nothing where none is left. */
const without = (classes, id, images) => {
  const [one, set] = take(classes, id);
  const left = (set?.n_images ?? 0) - images.length;
  if (one && left > 0) one.sets.push(waiting(set, { n_images: left, shown: Math.min(set.shown, left) }));
  return set;
};

const ACTS = {
  forget: (classes, { set_id: id }) => void take(classes, id),
  remove_photos: (classes, { set_id: id, images }) => void without(classes, id, images),
  move_photos: (classes, { photos, label }) => {
    for (const { set_id: id, images } of photos) {
      const set = without(classes, id, images);
      if (set && label !== null)
        classOf(classes, label).sets.push(waiting(set, { id: `${id} ${label}`, n_images: images.length, shown: 0 }));
    }
  },
  move: (classes, { set_id: id, label }) => {
    const [, set] = take(classes, id);
    if (set) classOf(classes, label).sets.push(waiting(set));
  },
  rename: (classes, { label, to }) => {
    const old = classes.find((one) => one.name === label);
    if (!old) return;
    const isThere = classes.some((one) => one.name === to);
    if (isThere) classOf(classes, to).sets.push(...old.sets.splice(0).map((set) => waiting(set)));
    else [old.name, old.isWaiting] = [to, true];
  },
  enroll: (classes, { label }, { name, n_images: n, cover }, key) =>
    void classOf(classes, label).sets.push(waiting({ id: key, name, n_images: n, shown: 0, cover })),
};

/** @type {(gallery: Overview, change: Waiting) => Overview} */
export const applied = (gallery, { name, body, about = {}, key }) => {
  if (!(name in ACTS)) return gallery;
  let classes = gallery.classes.map((one) => ({ ...one, sets: [...one.sets] }));
  ACTS[name](classes, body, about, key);
  classes = classes.filter((one) => one.sets.length).sort(byName);
  for (const one of classes) {
    one.sets.sort(byName);
    one.n_sets = one.sets.length;
    one.n_images = one.sets.reduce((sum, set) => sum + set.n_images, 0);
  }
  const sum = (of) => classes.reduce((total, one) => total + one[of], 0);
  return { ...gallery, classes, n_classes: classes.length, n_sets: sum("n_sets"), n_images: sum("n_images") };
};
