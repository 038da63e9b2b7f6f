// The tree of cuts, from the root to the leaves, one cut at a time.

import { get } from "./api.js";
import { button, el, svg } from "./dom.js";
import { term } from "./terms.js";
import { counted, percent } from "./words.js";

const GAP = 74, DEEP = 92, MARGIN = 46, STEP_MS = 1300;

/** Where each node lies: leaves side by side, parents above the middle of their children. */
export const layOut = (nodes) => {
  const places = new Map(nodes.map((node) => [node.id, { node, children: [], x: 0, y: node.depth * DEEP }]));
  let root = null;
  for (const place of places.values()) {
    const parent = places.get(place.node.parent);
    if (parent) parent.children.push(place);
    else root = place;
    place.parent = parent ?? null;
  }
  let leaves = 0;
  const order = [];
  const visit = (place) => {
    order.push(place);
    place.children.forEach(visit);
    place.x = place.children.length ? (place.children[0].x + place.children.at(-1).x) / 2 : GAP * leaves++;
  };
  if (root) visit(root);
  return { places: order, width: GAP * Math.max(leaves - 1, 0), height: Math.max(...order.map(({ y }) => y), 0) };
};

const sector = (radius, share, offset, kind) => svg("circle", {
  class: kind, r: radius / 2, pathLength: 1, "stroke-width": radius, "stroke-dasharray": `${share} 1`, "stroke-dashoffset": -offset,
});

/** A node: a disc of the classes in it, with a ring as long as the share of the set that is in it. */
const disc = (node, kindOf, most) => {
  const radius = 7 + 15 * Math.sqrt(node.n_images_gallery / most);
  const group = svg("g", { class: "node" }, svg("circle", { class: "ground", r: radius + 6 }));
  let offset = 0;
  for (const { label, share } of [...node.classes].sort((a, b) => kindOf(a.label).localeCompare(kindOf(b.label)))) {
    group.append(sector(radius, share, offset, kindOf(label)));
    offset += share;
  }
  if (!node.classes.length) group.append(svg("circle", { class: "empty", r: radius }));
  if (node.share_probe > 0) group.append(svg("circle", { class: "ring", r: radius + 4, pathLength: 1, "stroke-dasharray": `${node.share_probe} 1` }));
  return { group, radius };
};

const topOf = (node) => [...node.classes].sort((a, b) => b.share - a.share)[0]?.label ?? null;

const sentenceOf = (place) => {
  const { node, children } = place;
  const parts = children.map((child) => {
    const what = topOf(child.node) ? `mostly ${topOf(child.node)}` : "your set alone";
    return `${counted(child.node.n_images_gallery, "photo")} (${what}) with ${percent(child.node.share_probe)} of your set`;
  });
  const price = Number.isFinite(node.ncut) && node.ncut !== null ? `, at a price of ${node.ncut.toPrecision(2)}` : "";
  return `A heap of ${counted(node.n_images_gallery, "photo")} is cut in two${price}: ${parts.join("; ")}.`;
};

const draw = (tree, answer) => {
  const { places, width, height } = layOut(tree.nodes);
  const [first, second] = [answer.candidates[0]?.label, answer.runner_up?.label];
  const kindOf = (label) => (label === first ? "first" : label === second ? "second" : "other");
  const most = Math.max(...tree.nodes.map((node) => node.n_images_gallery), 1);
  const box = [-MARGIN, -MARGIN, width + 2 * MARGIN, height + 2 * MARGIN + 14];
  const lines = svg("g", {}), discs = svg("g", {});
  for (const place of places) {
    const { group, radius } = disc(place.node, kindOf, most);
    if (!place.children.length) group.append(svg("text", { y: radius + 22, "text-anchor": "middle" }, shortened(topOf(place.node) ?? "your set")));
    place.group = group;
    discs.append(group);
    if (!place.parent) continue;
    const { x, y, parent } = place;
    place.line = svg("path", { class: place.node.share_probe > 0 ? "branch probe" : "branch", pathLength: 1, "stroke-width": 1.5 + 5 * place.node.share_probe,
      d: `M${parent.x},${parent.y}C${parent.x},${(parent.y + y) / 2} ${x},${(parent.y + y) / 2} ${x},${y}` });
    lines.append(place.line);
  }
  return { places, picture: svg("svg", { viewBox: box.join(" "), width: box[2], role: "img", "aria-label": "The tree of cuts; the sentence below it says what each cut does" }, lines, discs) };
};

const shortened = (text) => (text.length > 11 ? `${text.slice(0, 10)}…` : text);

const player = (tree, answer) => {
  const { places, picture } = draw(tree, answer);
  const cuts = places.filter(({ children }) => children.length).sort((a, b) => a.node.depth - b.node.depth);
  const isCalm = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
  const words = el("p", { class: "tree-words", "aria-live": "polite" });
  let at = 0, timer = null;
  const show = (step) => {
    at = Math.max(0, Math.min(cuts.length, step));
    const open = new Set(cuts.slice(0, at));
    for (const place of places) {
      const isBorn = !place.parent || open.has(place.parent);
      const { x, y } = isBorn ? place : place.parent;
      place.group.style.transform = `translate(${x}px, ${y}px)`;
      place.group.classList.toggle("unborn", !isBorn);
      place.group.classList.toggle("cut-now", place === cuts[at - 1]);
      place.line?.classList.toggle("unborn", !isBorn);
    }
    slider.value = at;
    words.textContent = at ? `${at} of ${cuts.length}. ${sentenceOf(cuts[at - 1])}` : "All sets and yours in one heap.";
    if (at === cuts.length) stop();
  };
  const stop = () => { clearInterval(timer); timer = null; play.textContent = at === cuts.length ? "Play again" : "Play"; };
  const start = () => {
    if (at === cuts.length) show(0);
    play.textContent = "Pause";
    timer = setInterval(() => show(at + 1), STEP_MS);
  };
  const step = (change) => () => { stop(); show(at + change); };
  const play = button("Play", () => (timer ? stop() : start()));
  const slider = el("input", { type: "range", min: 0, max: cuts.length, value: 0, "aria-label": "Cut", on: { input: () => { stop(); show(Number(slider.value)); } } });
  show(isCalm ? cuts.length : 0);
  if (!isCalm) start();
  return { elements: [
    el("div", { class: "tree-frame", tabindex: "0", role: "group", "aria-label": "Picture of the tree of cuts" }, picture), words,
    el("div", { class: "tree-controls" }, play, button("Back", step(-1)), button("Step", step(1)), slider)], stop };
};

/** The tree, for those who open it. */
export const treeSection = (id, k, answer) => {
  const details = el("details", { class: "block tree" }, el("summary", {}, "How it was found: the tree of cuts"),
    el("p", { class: "small" }, "See how the heap of all sets is cut: the ", term("tree of cuts"), ", one ", term("cut"), " at a time. ",
      "The ring is your set; colours are classes: ", el("span", { class: "swatch first" }), ` ${answer.candidates[0]?.label ?? ""} `,
      answer.runner_up && [el("span", { class: "swatch second" }), ` ${answer.runner_up.label} `], el("span", { class: "swatch" }), " others."));
  let playing = null;
  details.addEventListener("toggle", async () => {
    if (!details.open) return void playing?.stop();
    if (playing) return;
    playing = { stop: () => {} };
    try {
      const tree = await get(`/api/asks/${encodeURIComponent(id)}/answers/${k}/tree`);
      playing = player(tree, answer);
      details.append(tree.words && el("p", { class: "small" }, tree.words), ...playing.elements);
    } catch (error) {
      details.append(el("p", { class: "notice", role: "alert" }, error.message));
    }
  });
  return details;
};
