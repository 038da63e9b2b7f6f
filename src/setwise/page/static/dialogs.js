// Questions in <dialog>s: who is it, are you sure, which keys.

import { add, button, el, thumb } from "./dom.js";
import { current } from "./state.js";
import { counted, folded } from "./words.js";

/** Show a dialog; resolves with what was chosen, or null. Focus goes back where it was. */
export const ask = (dialog) =>
  new Promise((resolve) => {
    const before = document.activeElement;
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

const matching = (typed, without) => {
  const wanted = folded(typed);
  const names = current().classes.filter(
    ({ name }) => !without.includes(name) && folded(name).includes(wanted),
  );
  // Those that begin so come first.
  return names
    .sort((one, two) => folded(two.name).startsWith(wanted) - folded(one.name).startsWith(wanted))
    .slice(0, 60);
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
    url ? thumb(url) : el("span", { class: "plus", "aria-hidden": "true" }, "+"),
    el("span", {}, el("b", {}, label), el("small", {}, note)),
  );

/** Which person or thing? Type to find it, or to name a new one. Resolves with a name or null. */
export const chooseClass = (title, { without = [], typed = "", hint = "" } = {}) => {
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
    maxlength: 200,
  });
  let at = 0;
  const mark = () => {
    [...list.children].forEach((item, i) => item.setAttribute("aria-selected", String(i === at)));
    if (list.children[at]) {
      field.setAttribute("aria-activedescendant", `option-${at}`);
      list.children[at].scrollIntoView({ block: "nearest" });
    } else field.removeAttribute("aria-activedescendant");
  };
  const fill = () => {
    const name = field.value.trim();
    const found = matching(name, without);
    const items = found.map((one, i) =>
      option(
        i,
        one.name,
        `${counted(one.n_sets, "album")}, ${counted(one.n_images, "photo")}`,
        one.sets[0]?.shown ? `/api/sets/${encodeURIComponent(one.sets[0].id)}/images/0` : null,
        dialog.choose,
      ),
    );
    const isThere = current().classes.some((one) => one.name === name);
    if (name && !isThere) items.push(option(items.length, name, "new in the gallery", null, dialog.choose));
    list.replaceChildren(...items);
    at = 0;
    mark();
  };
  field.addEventListener("input", fill);
  field.addEventListener("keydown", (event) => {
    const { length } = list.children;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && length) {
      event.preventDefault();
      at = (at + step + length) % length;
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
  );
  const answer = ask(dialog);
  field.value = typed;
  fill();
  field.focus();
  field.select();
  return answer;
};

const KEYS = [
  [
    "Everywhere",
    [
      ["?", "these keys"],
      ["/", "search"],
      ["Ctrl Z", "undo"],
      ["Ctrl Shift Z", "redo"],
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
      ["x", "take this decision back"],
      ["u", "take back what was done last"],
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
