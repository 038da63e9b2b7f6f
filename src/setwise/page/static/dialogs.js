// Questions in <dialog>s: who is it, are you sure, which keys.

import { add, button, el, photo } from "./dom.js";
import { knownNames } from "./store.js";
import { counted, folded, percent } from "./words.js";

/** Show a dialog; resolves with what was chosen, or null. Focus goes back where it was. */
export const ask = (dialog) =>
  new Promise((resolve) => {
    const before = /** @type {HTMLElement | null} */ (document.activeElement);
    let answer = null;
    dialog.choose = (value) => {
      answer = value;
      dialog.close();
    };
    dialog.addEventListener("close", () => {
      dialog.remove();
      before?.focus?.({ preventScroll: true });
      resolve(answer);
    });
    dialog.addEventListener("click", (event) => {
      if (event.target === dialog) dialog.close();
    });
    document.body.append(dialog);
    dialog.showModal();
  });

export const closer = (dialog) =>
  button("×", () => dialog.close(), { class: "icon close", "aria-label": "Close" });

/** Say exactly what will happen, and ask. */
export const confirm = (title, paragraphs, yes) => {
  const dialog = el("dialog", { class: "question", "aria-labelledby": "question-title" });
  dialog.append(
    el("h2", { id: "question-title" }, title),
    ...paragraphs.map((words) => el("p", {}, words)),
    el(
      "div",
      { class: "actions" },
      button(yes, () => dialog.choose(true), { class: "button primary" }),
      button("Cancel", () => dialog.close(), { autofocus: true }),
    ),
  );
  return ask(dialog);
};

/** Names for what was typed: an exact one first, then what begins so; the probable ones if nothing was. */
const matching = (typed, without, likely) => {
  const wanted = folded(typed);
  const chance = new Map(likely.map(({ label, probability }) => [label, probability]));
  const rank = ({ name }) => {
    if (!wanted) return 1 - (chance.get(name) ?? 0);
    return folded(name) === wanted ? 0 : folded(name).startsWith(wanted) ? 1 : 2;
  };
  return knownNames()
    .filter(({ name }) => !without.includes(name) && folded(name).includes(wanted))
    .sort((one, two) => rank(one) - rank(two) || one.name.localeCompare(two.name, undefined, { numeric: true }))
    .slice(0, 60)
    .map((one) => ({ ...one, chance: wanted ? undefined : chance.get(one.name) }));
};

const noteOf = (one) => {
  if (one.isNew) return "new, not yet in the gallery";
  const size = `${counted(one.n_sets, "album")}, ${counted(one.n_images, "photo")}`;
  return one.chance === undefined ? size : `${percent(one.chance)} · ${size}`;
};

const option = (i, label, note, url, pick) =>
  el(
    "li",
    {
      role: "option",
      id: `option-${i}`,
      "aria-selected": "false",
      on: { click: () => pick(label), mousedown: (event) => event.preventDefault() },
    },
    url ? photo(url) : el("span", { class: "plus", "aria-hidden": "true" }, "+"),
    el("span", {}, el("b", {}, label), el("small", {}, note)),
  );

/** Which person or thing? Type to find it, or to name a new one. Resolves with a name or null. */
export const chooseClass = (title, { without = [], typed = "", hint = "", likely = [] } = {}) => {
  const dialog = el("dialog", { class: "chooser", "aria-labelledby": "chooser-title" });
  const list = el("ul", { role: "listbox", id: "options", "aria-label": "People and things" });
  const field = el("input", {
    type: "text",
    role: "combobox",
    "aria-expanded": "true",
    "aria-controls": "options",
    "aria-autocomplete": "list",
    "aria-label": "A name, old or new",
    placeholder: "Type a name",
    autocomplete: "off",
    spellcheck: "false",
    maxlength: 100,
  });
  const foot = el("p", { class: "small", "aria-live": "polite" });
  let at = -1;
  const mark = () => {
    [...list.children].forEach((item, i) => item.setAttribute("aria-selected", String(i === at)));
    if (list.children[at]) {
      field.setAttribute("aria-activedescendant", `option-${at}`);
      list.children[at].scrollIntoView({ block: "nearest" });
    } else field.removeAttribute("aria-activedescendant");
    const name = list.children[at]?.querySelector("b").textContent;
    foot.textContent = name ? `Enter takes “${name}”.` : "Type a name, or choose one with ↓.";
  };
  const fill = () => {
    const name = field.value.trim();
    const found = matching(name, without, likely);
    const known = found.map((one) => [one.name, noteOf(one), one.cover ?? null]);
    // Enter takes an exact name or the new one, never one that only begins so.
    const nExact = name ? found.filter((one) => folded(one.name) === folded(name)).length : 0;
    const isThere = knownNames().some((one) => one.name === name);
    if (name && !isThere && !nExact) known.unshift([name, "new in the gallery", null]);
    else if (name && !isThere) known.splice(nExact, 0, [name, "new, written like this", null]);
    list.replaceChildren(...known.map((one, i) => option(i, ...one, dialog.choose)));
    at = name && known.length ? 0 : -1;
    mark();
  };
  field.addEventListener("input", fill);
  field.addEventListener("keydown", (event) => {
    const { length } = list.children;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && length) {
      event.preventDefault();
      at = at < 0 ? (step > 0 ? 0 : length - 1) : (at + step + length) % length;
      mark();
    }
    if (event.key === "Enter") {
      event.preventDefault();
      list.children[at]?.click();
    }
  });
  add(
    dialog,
    el("h2", { id: "chooser-title" }, title),
    closer(dialog),
    hint && el("p", { class: "small" }, hint),
    field,
    list,
    foot,
  );
  const answer = ask(dialog);
  field.value = typed;
  fill();
  field.focus();
  field.select();
  return answer;
};

/** @type {[string, [string, string][]][]} */
const KEYS = [
  [
    "Everywhere",
    [
      ["?", "these keys"],
      ["/", "search"],
      ["Ctrl Z", "undo"],
      ["Ctrl Shift Z", "redo"],
      ["Space", "photos large; arrows go on"],
      ["Esc", "close what is open"],
    ],
  ],
  [
    "Inbox",
    [
      ["j k", "next album, previous album"],
      ["Enter", "accept the answer"],
      ["1 – 9", "choose a candidate"],
      ["c", "choose another name, or a new one"],
      ["p", "all photos of the album"],
      ["s a", "choose this row, all rows"],
      ["x", "take this decision back"],
      ["u", "undo what was done last"],
    ],
  ],
];

export const keysDialog = () => {
  const dialog = el("dialog", { class: "keys", "aria-labelledby": "keys-title" });
  dialog.append(
    el("h2", { id: "keys-title" }, "Keys"),
    closer(dialog),
    ...KEYS.map(([where, rows]) => [
      el("h3", {}, where),
      el(
        "dl",
        {},
        ...rows.map(([key, words]) =>
          el(
            "div",
            {},
            el(
              "dt",
              {},
              ...key
                .split(" ")
                .map((part) => (part === "or" || part === "–" ? ` ${part} ` : el("kbd", {}, part))),
            ),
            el("dd", {}, words),
          ),
        ),
      ),
    ]).flat(),
  );
  return ask(dialog);
};
