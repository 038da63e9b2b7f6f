// The groups of a heap: stacks of pictures with a name, a question which may be one, an unsure pile.

import { ask, chooseClass, closer } from "./dialogs.js";
import { add, button, el, thumb } from "./dom.js";
import { openLightbox } from "./lightbox.js";
import { photoTiles } from "./set_dialog.js";
import { counted } from "./words.js";

const SHOWN = 5,
  MOST_TILES = 600,
  MOST_UNSURE = 200;
/** @type {any} */
let parts = null;
let heap = null;
let correct = null;
let wereAsked = new Set(); // pairs that people put off
const made = new Map(); // cards by their first item

const pictureOf = (i) => `/api/v1/start/items/${i}/picture?run=${heap.run}`;
const photoOf = (i) => ({
  image: i,
  name: heap.items[i].name,
  url: `/api/v1/start/items/${i}/photo?run=${heap.run}`,
  small: pictureOf(i),
  box: heap.items[i].box,
});
const noun = () => (heap.noun === "person" ? "person" : "thing");
const asked = () => (heap.noun === "person" ? "Who is this?" : "What is this?");
const spread = (items, n) => {
  if (items.length <= n) return items;
  return Array.from({ length: n }, (_, k) => items[Math.round((k * (items.length - 1)) / (n - 1))]);
};

const nameStack = (items, name) => correct("name", { items, name });

/** All pictures of a stack: mark those that are someone else, or say who it is. */
const openStack = async (stack) => {
  const dialog = el("dialog", { class: "one-set", "aria-labelledby": "stack-title" });
  const marked = new Set();
  const out = button("", () => dialog.choose("out"), { class: "button primary" });
  const split = button("Split them off", () => dialog.choose("split"));
  const hint = el("p", { class: "small", role: "status" });
  const describe = () => {
    out.disabled = !marked.size || marked.size === stack.items.length;
    split.hidden = out.disabled || marked.size < 2;
    out.textContent = marked.size ? `Take ${counted(marked.size, "picture")} out` : "Take out";
    hint.textContent = "Click what does not belong. Space shows the whole photo.";
  };
  describe();
  const others = heap.stacks.filter((one) => one !== stack && one.items[0] !== stack.items[0]);
  add(
    dialog,
    el("p", { class: "eyebrow" }, counted(stack.n_photos, "photo")),
    el("h2", { id: "stack-title" }, stack.name ?? asked()),
    closer(dialog),
    photoTiles(stack.items.slice(0, MOST_TILES).map(photoOf), marked, describe, "not the same"),
    hint,
    el(
      "div",
      { class: "actions" },
      out,
      split,
      button(stack.name === null ? "Name it…" : "Another name…", () => dialog.choose("name")),
      stack.name !== null && button("No name", () => dialog.choose("unname")),
    ),
    others.length > 0 && el("h3", { class: "same-as" }, `The same ${noun()} as…`),
    el("ul", { class: "same-list" }, ...others.slice(0, 60).map((one) => el("li", {}, sameButton(one, dialog)))),
  );
  dialog.querySelector(".tile").autofocus = true;
  const chosen = await ask(dialog);
  const rest = stack.items.filter((i) => !marked.has(i));
  if (chosen === "out") await correct("out", { items: [...marked], others: rest });
  else if (chosen === "split") await correct("split", { items: [...marked], others: rest });
  else if (chosen === "unname") await nameStack(stack.items, null);
  else if (chosen === "name") {
    const name = await chooseClass(asked(), { typed: stack.name ?? "" });
    if (name !== null) await nameStack(stack.items, name);
  } else if (chosen) await correct("same", { items: stack.items, others: chosen.items });
};

const sameButton = (one, dialog) =>
  el(
    "button",
    { type: "button", class: "same", on: { click: () => dialog.choose(one) } },
    thumb(pictureOf(one.items[0])),
    el("span", {}, one.name ?? counted(one.items.length, "picture")),
  );

const focusNext = (from) => {
  const fields = [...parts.list.querySelectorAll("input")];
  const at = fields.indexOf(from);
  const next = [...fields.slice(at + 1), ...fields.slice(0, Math.max(at, 0))].find((field) => !field.value);
  next?.focus();
};

const card = (key) => {
  const field = el("input", {
    type: "text",
    maxlength: 100,
    autocomplete: "off",
    spellcheck: "false",
    list: "known-names",
    enterkeyhint: "next",
  });
  const own = { key, field, pictures: el("span", { class: "fan" }), count: el("small", {}), stack: null, shown: "" };
  const commit = async () => {
    const name = field.value.trim();
    if (name === (own.stack.name ?? "")) return;
    await nameStack(own.stack.items, name || null);
  };
  field.addEventListener("keydown", (event) => {
    if (event.key === "Escape") field.value = own.stack.name ?? "";
    if (event.key !== "Enter" || !field.value.trim()) return;
    event.preventDefault();
    commit();
    focusNext(field);
  });
  field.addEventListener("change", commit);
  own.open = el("button", { type: "button", class: "stack-open", on: { click: () => openStack(own.stack) } }, own.pictures);
  own.element = el("li", { class: "person-stack" }, own.open, field, own.count);
  return own;
};

const fillCard = (own, stack) => {
  own.stack = stack;
  const shown = JSON.stringify([heap.run, spread(stack.items, SHOWN)]);
  if (own.shown !== shown) own.pictures.replaceChildren(...spread(stack.items, SHOWN).map((i) => thumb(pictureOf(i))));
  own.shown = shown;
  own.count.textContent = counted(stack.n_photos, "photo");
  own.element.classList.toggle("named", stack.name !== null);
  own.open.setAttribute("aria-label", `All pictures of ${stack.name ?? "this group"}, ${counted(stack.n_photos, "photo")}`);
  own.field.placeholder = asked();
  own.field.setAttribute("aria-label", stack.name === null ? `${asked()} ${counted(stack.n_photos, "photo")}` : `Name: ${stack.name}`);
  if (document.activeElement !== own.field) own.field.value = stack.name ?? "";
};

/** "Same person?", with the two side by side. */
const fillQuestion = () => {
  const stackOf = new Map();
  for (const one of heap.stacks) for (const i of one.items) stackOf.set(i, one);
  const itemsOf = (i) => stackOf.get(i)?.items ?? [i];
  const keyOf = ([a, b]) => `${itemsOf(a)[0]}-${itemsOf(b)[0]}`;
  const next = heap.alike.find((pair) => itemsOf(pair[0])[0] !== itemsOf(pair[1])[0] && !wereAsked.has(keyOf(pair)));
  const key = next ? heap.run + JSON.stringify(next.map(itemsOf)) : "";
  if (parts.question.dataset.key === key) return;
  parts.question.dataset.key = key;
  parts.question.hidden = !next;
  if (!next) return;
  const [one, other] = next.map(itemsOf);
  const side = (items) =>
    el(
      "figure",
      {},
      el("span", { class: "pair-pictures" }, ...spread(items, 3).map((i) => thumb(pictureOf(i)))),
      el("figcaption", {}, stackOf.get(items[0])?.name ?? counted(items.length, "picture")),
    );
  const answer = (path) => () => correct(path, { items: one, others: other });
  const later = () => {
    wereAsked.add(keyOf(next));
    fillQuestion();
  };
  parts.question.replaceChildren(
    el("h2", {}, `The same ${noun()}?`),
    el("div", { class: "pair" }, side(one), side(other)),
    el(
      "div",
      { class: "actions" },
      button("Yes, the same", answer("same"), { class: "button primary" }),
      button("No", answer("different")),
      button("I do not know", later, { class: "button quiet" }),
    ),
  );
};

const unsureTile = (i) =>
  el(
    "li",
    {},
    el(
      "button",
      {
        type: "button",
        class: "tile",
        "aria-label": `${asked()} ${heap.items[i].name}`,
        on: {
          click: async () => {
            const name = await chooseClass(asked(), { hint: heap.items[i].name });
            if (name !== null) await nameStack([i], name);
          },
          keydown: (event) => {
            if (event.key !== " ") return;
            event.preventDefault();
            openLightbox([photoOf(i)]);
          },
        },
      },
      thumb(pictureOf(i)),
    ),
  );

const fillUnsure = () => {
  const shown = heap.unsure.slice(0, MOST_UNSURE);
  parts.unsure.hidden = !shown.length;
  const key = heap.run + shown.join();
  if (parts.unsure.dataset.key === key) return;
  parts.unsure.dataset.key = key;
  parts.unsureWords.textContent = `${counted(heap.unsure.length, "picture")} that ${heap.unsure.length === 1 ? "is" : "are"} like no other`;
  parts.unsureList.replaceChildren(...shown.map(unsureTile));
};

export const fillStacks = (given, act) => {
  heap = given;
  correct = act;
  const wanted = new Map(heap.stacks.map((one) => [`${heap.run} ${one.items[0]}`, one]));
  for (const [key, own] of made)
    if (!wanted.has(key)) {
      own.element.remove();
      made.delete(key);
    }
  for (const [key, stack] of wanted) {
    if (!made.has(key)) made.set(key, card(key));
    fillCard(made.get(key), stack);
  }
  // While somebody types, nothing moves: new stacks come last.
  const elements = [...wanted.keys()].map((key) => made.get(key).element);
  const isTyped = parts.list.contains(document.activeElement);
  if (isTyped) for (const one of elements) one.isConnected || parts.list.append(one);
  else if (elements.some((one, i) => one !== parts.list.children[i])) parts.list.replaceChildren(...elements);
  const names = [...new Set(heap.stacks.map(({ name }) => name).filter(Boolean))];
  parts.names.replaceChildren(...names.map((value) => el("option", { value })));
  parts.leftOut.hidden = !heap.left_out.length;
  parts.leftOut.replaceChildren(
    el("summary", {}, `${counted(heap.left_out.length, "file")} could not be used`),
    el("ul", {}, ...heap.left_out.map(({ name, reason }) => el("li", {}, el("code", {}, name), ` ${reason}`))),
  );
  fillQuestion();
  fillUnsure();
};

export const startStacks = () => {
  parts = {
    question: el("section", { class: "same-question", hidden: true, "aria-live": "polite" }),
    list: el("ul", { class: "person-stacks" }),
    names: el("datalist", { id: "known-names" }),
    unsure: el("section", { class: "unsure-pile", hidden: true }),
    unsureWords: el("h2", {}),
    unsureList: el("ul", { class: "tiles" }),
    leftOut: el("details", { class: "left-out", hidden: true }),
  };
  parts.unsure.append(
    parts.unsureWords,
    el("p", { class: "small" }, "Seen once, turned away or blurred. Click one to say who it is; the others stay out of the gallery."),
    parts.unsureList,
  );
  return el("div", {}, parts.question, parts.list, parts.names, parts.unsure, parts.leftOut);
};
