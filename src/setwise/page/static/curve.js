// How near an album came, beside albums of the gallery and beside strangers.

import { el, svg } from "./dom.js";

const WIDE = 640,
  HIGH = 170,
  FOOT = 34,
  HEAD = 34;

const scaleOf = ({ value, threshold, curve }) => {
  const all = [...curve.x, value, threshold].filter(Number.isFinite);
  const [low, high] = [Math.min(...all), Math.max(...all)];
  const span = high - low || 1;
  return (x) => 12 + ((WIDE - 24) * (x - low)) / span;
};

const area = (xs, ys, top, at) => {
  const y = (value) => HIGH - FOOT - ((HIGH - FOOT - HEAD) * value) / top;
  const points = xs.map((x, i) => `${at(x).toFixed(1)},${y(ys[i]).toFixed(1)}`);
  const base = HIGH - FOOT;
  return {
    fill: `M${at(xs[0]).toFixed(1)},${base}L${points.join("L")}L${at(xs.at(-1)).toFixed(1)},${base}Z`,
    line: `M${points.join("L")}`,
  };
};

const hump = (kind, xs, ys, top, at) => {
  const { fill, line } = area(xs, ys, top, at);
  return svg(
    "g",
    { class: kind },
    svg("path", { class: "hill", d: fill }),
    svg("path", { class: "ridge", d: line }),
  );
};

/** A line with its words on the side where there is room. */
const mark = (kind, x, words, isRight) => {
  const side = x < 130 ? 1 : x > WIDE - 130 ? -1 : isRight ? 1 : -1;
  return svg(
    "g",
    { class: kind },
    svg("line", { x1: x, x2: x, y1: 6, y2: HIGH - FOOT }),
    svg("text", { x: x + 6 * side, y: 18, "text-anchor": side > 0 ? "start" : "end" }, words),
  );
};

export const curveFigure = (nearness, isKnown) => {
  const { value, threshold, curve } = nearness;
  if (threshold === null)
    return el(
      "p",
      { class: "small" },
      "This gallery does not detect strangers, so the nearest person or thing is always the answer.",
    );
  if (!curve)
    return el(
      "p",
      { class: "small", role: "status" },
      "The albums of the gallery are still being compared with each other. The picture comes in a moment.",
    );
  const at = scaleOf(nearness);
  const top = Math.max(...curve.known, ...curve.strangers, 1e-9);
  const sentence = isKnown
    ? "This album is near enough: it is known."
    : "This album is not near enough: it is unknown.";
  return el(
    "figure",
    { class: "curve" },
    svg(
      "svg",
      {
        viewBox: `0 0 ${WIDE} ${HIGH}`,
        role: "img",
        "aria-label": `${sentence} Its nearness is ${value.toPrecision(3)}; ${threshold.toPrecision(3)} is needed.`,
      },
      hump("strangers", curve.x, curve.strangers, top, at),
      hump("known", curve.x, curve.known, top, at),
      svg("line", { class: "floor", x1: 0, x2: WIDE, y1: HIGH - FOOT, y2: HIGH - FOOT }),
      svg("text", { class: "axis", x: 12, y: HIGH - 12 }, "← farther"),
      svg("text", { class: "axis", x: WIDE - 12, y: HIGH - 12, "text-anchor": "end" }, "nearer →"),
      mark("asked", at(threshold), "needed", threshold > value),
      mark("this", at(value), "this album", value >= threshold),
      svg("circle", { class: "this", cx: at(value), cy: HIGH - FOOT, r: 5 }),
    ),
    el(
      "figcaption",
      {},
      sentence,
      " ",
      el(
        "span",
        { class: "key" },
        el("span", { class: "swatch known" }),
        " albums of the gallery, each left out in turn",
      ),
      " ",
      el("span", { class: "key" }, el("span", { class: "swatch strangers" }), " strangers"),
    ),
  );
};
