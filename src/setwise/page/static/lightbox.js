// One photo as large as the window; the arrows go on to the next.

import { ask, closer } from "./dialogs.js";
import { add, button, el, sized } from "./dom.js";

const SIDE = 1600,
  SWIPE = 40,
  AROUND = 0.09; // of the shorter side, where only the middle of a face is known

const whole = (url) => `${sized(url, SIDE)}&whole=true`;

/** Show photos `{ url, name, why }` from the one at `at`; with `marks`, `x` marks the one shown. */
export const openLightbox = (photos, at = 0, marks = null) => {
  if (!photos.length) return null;
  const dialog = el("dialog", { class: "lightbox", "aria-label": "Photo" });
  const image = el("img", { alt: "" });
  const words = el("p", { "aria-live": "polite" });
  const frame = el("span", { class: "face-box", hidden: true });
  const mark = marks && button("", () => toggle(), { class: "button" });
  const show = (step) => {
    at = (at + step + photos.length) % photos.length;
    const { url, name, why, label } = photos[at];
    frame.hidden = true;
    image.onload = () => place(photos[at]);
    image.src = whole(url);
    image.alt = label ?? name;
    words.textContent = [`${name}, ${at + 1} of ${photos.length}`, why].filter(Boolean).join(" · ");
    if (!mark) return;
    const isMarked = marks.has(photos[at].image);
    dialog.classList.toggle("marked", isMarked);
    mark.textContent = isMarked ? `Keep (x)` : `${marks.words} (x)`;
    // The next one is fetched while this one is looked at.
    new Image().src = whole(photos[(at + 1) % photos.length].url);
  };
  // The face in the photo, which is as large as its stage allows.
  const place = ({ box, spot }) => {
    const isWhole = image.naturalWidth !== image.naturalHeight || box;
    frame.hidden = !box && !(spot && isWhole);
    if (frame.hidden) return;
    const [outer, inner] = [stage.getBoundingClientRect(), image.getBoundingClientRect()];
    const scale = Math.min(inner.width / image.naturalWidth, inner.height / image.naturalHeight);
    const [width, height] = [image.naturalWidth * scale, image.naturalHeight * scale];
    const [left, top] = [inner.left - outer.left + (inner.width - width) / 2, inner.top - outer.top + (inner.height - height) / 2];
    const half = AROUND * Math.min(width, height);
    const sides = box
      ? [left + box[0] * width, top + box[1] * height, box[2] * width, box[3] * height]
      : [left + spot[0] * width - half, top + spot[1] * height - half, 2 * half, 2 * half];
    for (const [i, side] of ["left", "top", "width", "height"].entries()) frame.style[side] = `${sides[i]}px`;
  };
  const toggle = () => {
    marks.toggle(photos[at].image);
    show(0);
  };
  dialog.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (step) show(step);
    else if (event.key === " " && !event.target.closest("button")) dialog.close();
    else if (event.key === "x" && marks) toggle();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  let from = null;
  dialog.addEventListener("pointerdown", (event) => {
    from = event.clientX;
  });
  dialog.addEventListener("pointerup", (event) => {
    if (from !== null && Math.abs(event.clientX - from) > SWIPE) show(event.clientX < from ? 1 : -1);
    from = null;
  });
  image.draggable = false;
  const stage = el("div", { class: "stage", tabindex: "0", autofocus: true, role: "group", "aria-label": "Photo; arrows show the next" }, image, frame);
  add(
    dialog,
    stage,
    el(
      "div",
      { class: "foot" },
      photos.length > 1 && button("←", () => show(-1), { class: "icon", "aria-label": "Previous photo" }),
      words,
      mark,
      photos.length > 1 && button("→", () => show(1), { class: "icon", "aria-label": "Next photo" }),
    ),
    closer(dialog),
  );
  const closed = ask(dialog);
  show(0);
  return closed;
};
