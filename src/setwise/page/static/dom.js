// Elements by hand. Whatever the server or a user wrote becomes text nodes and attributes, never markup.

const SVG = "http://www.w3.org/2000/svg";

const put = (element, properties, children) => {
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") for (const [type, act] of Object.entries(value)) element.addEventListener(type, act);
    else if (name === "vars")
      for (const [key, number] of Object.entries(value)) element.style.setProperty(`--${key}`, number);
    else if (name === "data") Object.assign(element.dataset, value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(
    ...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false),
  );
  return element;
};

/** An element: `el("a", { href, class, on: { click }, vars: { share: 0.5 } }, "text", element…)`. */
export const el = (tag, properties = {}, ...children) => put(document.createElement(tag), properties, children);

/** The same for the elements of a drawing. */
export const svg = (tag, properties = {}, ...children) =>
  put(document.createElementNS(SVG, tag), properties, children);

/** More children for an element; what is null or false is left out. */
export const add = (element, ...children) => put(element, {}, children);

/** A button that does something. */
export const button = (words, act, properties = {}) =>
  el("button", { type: "button", class: "button", ...properties, on: { click: act } }, words);

/** Words with the label set apart, where they hold it. */
export const spoken = (words, label) => {
  const at = label ? words.indexOf(label) : -1;
  if (at < 0) return [words];
  return [words.slice(0, at), el("b", { class: "first" }, label), words.slice(at + label.length)];
};

/** A thumbnail that is loaded when it comes near. */
export const thumb = (url, alt = "", properties = {}) => {
  const image = el("img", {
    alt,
    loading: "lazy",
    decoding: "async",
    width: 96,
    height: 96,
    draggable: "false",
    ...properties,
  });
  image.addEventListener("error", () => image.classList.add("broken"), { once: true });
  image.src = url;
  return image;
};

/** The address of a photo so large, where its file is at hand. */
export const sized = (url, side) => `${url}${url.includes("?") ? "&" : "?"}side=${side}`;

/** A photo to be looked at: large enough for a sharp screen. */
export const photo = (url, alt = "", properties = {}) => thumb(sized(url, 320), alt, properties);

/** @type {(id: string) => any} */
export const byId = (id) => document.getElementById(id);

/** Whether letters typed now are meant for a field, or for an open dialog. */
export const isTyping = (event) =>
  event.target.closest?.("input, select, textarea, [contenteditable]") !== null ||
  document.querySelector("dialog[open]") !== null;
