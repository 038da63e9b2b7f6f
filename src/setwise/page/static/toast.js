// Short sentences at the foot of the window: what was done, with a way back, or why it was not.

import { button, byId, el } from "./dom.js";

const STAYS_MS = 9000;

const show = (words, kind, way) => {
  const place = byId("toasts");
  const toast = el("div", { class: `toast ${kind}` }, el("p", {}, words));
  let timer;
  const close = () => {
    clearTimeout(timer);
    if (toast.contains(document.activeElement)) byId("main").focus({ preventScroll: true });
    toast.remove();
  };
  const wait = () => {
    timer = setTimeout(close, STAYS_MS);
  };
  if (way)
    toast.append(
      button(
        way.words,
        () => {
          close();
          way.act();
        },
        { class: "button quiet" },
      ),
    );
  toast.append(button("×", close, { class: "icon close", "aria-label": "Close" }));
  for (const type of ["pointerenter", "focusin"]) toast.addEventListener(type, () => clearTimeout(timer));
  for (const type of ["pointerleave", "focusout"])
    toast.addEventListener(type, () => {
      clearTimeout(timer);
      wait();
    });
  for (const older of [...place.children].slice(0, -1)) older.remove();
  place.querySelectorAll(".done").forEach((older) => older.remove());
  place.append(toast);
  wait();
};

export const say = (words, way = null) => show(words, "done", way);
export const warn = (words) => show(words, "warning", null);
