// The tree of cuts, from the root to the leaves, one cut at a time.

import { get } from "./api.js";
import { add, button, el, sized, svg } from "./dom.js";
import { coverOf } from "./store.js";
import { term } from "./terms.js";
import { counted, percent } from "./words.js";

const GAP = 66,
  DEEP = 88,
  MARGIN = 44,
  LEAF = 20, // radius of a leaf, on which there is a photo
  STEP_MS = 1300;

/** Push the second subtree aside until it clears the first at every depth; returns by how much. */
const apart = (first, second) =>
  Math.max(...second.left.slice(0, first.right.length).map((left, depth) => first.right[depth] - left + GAP));

/** Outlines of a subtree by depth, around a root at 0; children get their offset from it. */
const outline = (place) => {
  if (!place.children.length) return { left: [0], right: [0] };
  // Your set's way goes left and right in turn, so that the trunk stays in the middle.
  place.children.sort((a, b) => (place.node.depth % 2 ? 1 : -1) * (a.node.share_probe - b.node.share_probe));
  const shapes = place.children.map(outline),
    shifts = [0];
  const whole = { left: [...shapes[0].left], right: [...shapes[0].right] };
  for (const shape of shapes.slice(1)) {
    const shift = apart(whole, shape);
    shifts.push(shift);
    shape.left.forEach((left, depth) => {
      whole.left[depth] ??= left + shift;
    });
    shape.right.forEach((right, depth) => {
      whole.right[depth] = right + shift;
    });
  }
  const middle = (shifts[0] + shifts.at(-1)) / 2;
  place.children.forEach((child, i) => {
    child.offset = shifts[i] - middle;
  });
  return { left: [0, ...whole.left.map((x) => x - middle)], right: [0, ...whole.right.map((x) => x - middle)] };
};

/** Where each node lies; the root on the left where there is room, else on top. */
export const layOut = (nodes, isWide) => {
  const places = new Map(nodes.map((node) => [node.id, { node, children: [], offset: 0 }]));
  for (const place of places.values()) {
    place.parent = places.get(place.node.parent) ?? null;
    place.parent?.children.push(place);
  }
  const root = [...places.values()].find((place) => !place.parent);
  const { left, right } = outline(root);
  const least = Math.min(...left),
    order = [];
  const visit = (place, across) => {
    order.push(place);
    const along = place.node.depth * DEEP;
    [place.x, place.y] = isWide ? [along, across] : [across, along];
    for (const child of place.children) visit(child, across + child.offset);
  };
  visit(root, -least);
  const size = [(left.length - 1) * DEEP, Math.max(...right) - least];
  return { places: order, width: size[isWide ? 0 : 1], height: size[isWide ? 1 : 0] };
};

const sector = (radius, share, offset, kind) =>
  svg("circle", {
    class: kind,
    r: radius / 2,
    pathLength: 1,
    "stroke-width": radius,
    "stroke-dasharray": `${share} 1`,
    "stroke-dashoffset": -offset,
  });

/** A node: a disc of the classes in it, with a ring as long as the share of the set that is in it. */
const disc = (node, kindOf, most, isLeaf) => {
  const radius = isLeaf ? LEAF : 6 + 12 * Math.sqrt(node.n_images_gallery / most);
  const group = svg("g", { class: "node" }, svg("circle", { class: "ground", r: radius + 6 }));
  let offset = 0;
  for (const kind of ["first", "second", "other"]) {
    const share = node.classes.reduce((sum, one) => sum + (kindOf(one.label) === kind ? one.share : 0), 0);
    if (share > 0) group.append(sector(radius, share, offset, kind));
    offset += share;
  }
  if (!node.classes.length) group.append(svg("circle", { class: "empty", r: radius }));
  if (node.share_probe > 0)
    group.append(
      svg("circle", {
        class: "ring",
        r: radius + 4,
        pathLength: 1,
        "stroke-dasharray": `${node.share_probe} 1`,
      }),
    );
  return { group, radius };
};

const topOf = (node) => [...node.classes].sort((a, b) => b.share - a.share)[0]?.label ?? null;

const sentenceOf = ({ node, children }) => {
  const halves = children.map((child) => {
    const what = topOf(child.node) ? `mostly ${topOf(child.node)}` : "your album alone";
    const part = child.node.share_probe > 0 ? percent(child.node.share_probe) : "nothing";
    return `${child.node.n_images_gallery} (${what}) with ${part} of your album`;
  });
  const price = node.ncut === null ? "" : `, at a price of ${node.ncut.toPrecision(2)}`;
  return `A group of ${counted(node.n_images_gallery, "piece")} is cut in two${price}: ${halves.join("; ")}.`;
};

/** Who or what is left, by photo and by name. */
const leaf = (node, answer, radius) => {
  const top = topOf(node);
  const url = top === null ? answer.photos[0]?.url : coverOf(top);
  const inner = radius - 3;
  const side = { x: -inner, y: -inner, width: 2 * inner, height: 2 * inner };
  return [
    ...(url ? [svg("image", { class: "leaf-photo", href: sized(url, 320), preserveAspectRatio: "xMidYMid slice", ...side })] : []),
    svg("text", { y: radius + 19, "text-anchor": "middle" }, shortened(top ?? "your album")),
  ];
};

const draw = (tree, answer) => {
  const isWide = window.matchMedia("(min-width: 46rem)").matches;
  const { places, width, height } = layOut(tree.nodes, isWide);
  const [first, second] = [answer.most_like, answer.runner_up?.label];
  const kindOf = (label) => (label === first ? "first" : label === second ? "second" : "other");
  const most = Math.max(...tree.nodes.map((node) => node.n_images_gallery), 1);
  const box = [-MARGIN, -MARGIN, width + 2 * MARGIN, height + 2 * MARGIN + 14];
  const lines = svg("g", {}),
    discs = svg("g", {});
  for (const place of places) {
    const isLeaf = !place.children.length;
    const { group, radius } = disc(place.node, kindOf, most, isLeaf);
    if (isLeaf) group.append(...leaf(place.node, answer, radius));
    place.group = group;
    discs.append(group);
    if (!place.parent) continue;
    const { parent } = place;
    place.line = svg("path", {
      class: place.node.share_probe > 0 ? "branch probe" : "branch",
      pathLength: 1,
      "stroke-width": 1.5 + 5 * place.node.share_probe,
      d: bend(parent, place, isWide),
    });
    lines.append(place.line);
  }
  return {
    places,
    picture: svg(
      "svg",
      {
        viewBox: box.join(" "),
        vars: { width: box[2] },
        role: "img",
        "aria-label": "The tree of cuts; the sentence below it says what each cut does",
      },
      lines,
      discs,
    ),
  };
};

const bend = (from, to, isWide) => {
  const [x, y] = [(from.x + to.x) / 2, (from.y + to.y) / 2];
  return `M${from.x},${from.y}C${isWide ? `${x},${from.y} ${x},${to.y}` : `${from.x},${y} ${to.x},${y}`} ${to.x},${to.y}`;
};

const shortened = (text) => (text.length > 11 ? `${text.slice(0, 10)}…` : text);

/** With whom most of the set ends, all leaves of a class together. */
const endOf = (places) => {
  const ends = new Map();
  for (const { node, children } of places)
    if (!children.length) ends.set(topOf(node), (ends.get(topOf(node)) ?? 0) + node.share_probe);
  const [label, share] = [...ends].reduce((most, one) => (one[1] > most[1] ? one : most));
  const part = percent(Math.min(share, 1));
  return label === null
    ? `${part} of your album ends up by itself.`
    : `${part} of your album stays with ${label} to the end.`;
};

const player = (tree, answer) => {
  const { places, picture } = draw(tree, answer);
  const cuts = places.filter(({ children }) => children.length).sort((a, b) => a.node.depth - b.node.depth);
  const isCalm = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
  const words = el("p", { class: "tree-words", "aria-live": "polite" });
  let at = 0,
    timer = null;
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
    words.textContent = at
      ? `${at} of ${cuts.length}. ${sentenceOf(cuts[at - 1])}${at === cuts.length ? ` ${endOf(places)}` : ""}`
      : "All albums and yours in one group.";
    if (at === cuts.length) stop();
  };
  const stop = () => {
    clearInterval(timer);
    timer = null;
    play.textContent = at === cuts.length ? "Play again" : "Play";
  };
  const start = () => {
    if (at === cuts.length) show(0);
    play.textContent = "Pause";
    timer = setInterval(() => show(at + 1), STEP_MS);
  };
  const step = (change) => () => {
    stop();
    show(at + change);
  };
  const play = button("Play", () => (timer ? stop() : start()));
  const slider = el("input", {
    type: "range",
    min: 0,
    max: cuts.length,
    value: 0,
    "aria-label": "Cut",
    on: {
      input: () => {
        stop();
        show(Number(slider.value));
      },
    },
  });
  show(isCalm ? cuts.length : 0);
  if (!isCalm) start();
  return {
    elements: [
      el("p", { class: "tree-end" }, endOf(places)),
      el(
        "div",
        { class: "tree-frame", tabindex: "0", role: "group", "aria-label": "Picture of the tree of cuts" },
        picture,
      ),
      words,
      el("div", { class: "tree-controls" }, play, button("Back", step(-1)), button("Step", step(1)), slider),
    ],
    stop,
  };
};

const swatch = (kind, words) => el("span", { class: "key" }, el("span", { class: `swatch ${kind}` }), ` ${words}`);

/** The tree, for those who open it. */
export const treeSection = (id, k, answer) => {
  const details = el(
    "details",
    { class: "block tree" },
    el("summary", {}, "How it was found: the tree of cuts"),
  );
  const key = [
    el(
      "p",
      { class: "small" },
      "The ",
      term("tree of cuts"),
      " of all ",
      term("piece", "pieces"),
      ", one ",
      term("cut"),
      " at a time. ",
      "The ring is your album; colours are people or things: ",
      swatch("first", answer.most_like),
      answer.runner_up && swatch("second", answer.runner_up.label),
      swatch("", "others"),
    ),
  ];
  let playing = null;
  details.addEventListener("toggle", async () => {
    if (!details.open) return void playing?.stop();
    if (playing) return;
    playing = { stop: () => {} };
    try {
      const tree = await get(`/api/v1/identify/${encodeURIComponent(id)}/answers/${k}/tree`);
      playing = player(tree, answer);
      add(details, ...playing.elements, ...key, tree.words && el("p", { class: "small" }, tree.words));
    } catch (error) {
      details.append(el("p", { class: "notice", role: "alert" }, error.message));
    }
  });
  return details;
};
