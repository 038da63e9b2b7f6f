// One answer: plain words first, what to do with it, then the evidence.

import { get } from "./api.js";
import { curveFigure } from "./curve.js";
import { chooseClass } from "./dialogs.js";
import { button, el, thumb } from "./dom.js";
import { photoTiles } from "./set_dialog.js";
import { act, current } from "./state.js";
import { term } from "./terms.js";
import { treeSection } from "./tree.js";
import { counted, percent } from "./words.js";

const PAIRS_SHOWN = 8,
  CURVE_MS = 2000,
  CURVE_TRIES = 60;

/** Words with the label set apart, where they hold it. */
export const spoken = (words, label) => {
  const at = label ? words.indexOf(label) : -1;
  if (at < 0) return [words];
  return [words.slice(0, at), el("b", { class: "first" }, label), words.slice(at + label.length)];
};

const rank = (i) => ["first", "second"][i] ?? "other";

export const candidateBars = (candidates) =>
  el(
    "ol",
    { class: "chances" },
    ...candidates.map(({ label, probability }, i) =>
      el(
        "li",
        { class: rank(i) },
        el("span", { class: "label" }, label),
        el("span", { class: `gauge ${rank(i)}`, vars: { share: probability } }),
        el("span", { class: "right" }, percent(probability)),
      ),
    ),
  );

const block = (title, ...content) => el("section", { class: "block" }, el("h3", {}, title), ...content);

const pair = ({ name, url, nearest, is_out_of_place: isOut }) =>
  el(
    "li",
    { class: isOut ? "out" : null },
    el(
      "span",
      { class: "couple" },
      thumb(url, `Yours: ${name}`),
      thumb(nearest.url, `In the gallery: ${nearest.label}`),
    ),
    el("small", {}, el("b", {}, nearest.label), ` · ${name}`),
  );

const pairs = (photos) => {
  const withNearest = photos.filter((photo) => photo.nearest);
  if (!withNearest.length) return null;
  const list = el("ul", { class: "pairs" }, ...withNearest.slice(0, PAIRS_SHOWN).map(pair));
  const rest = withNearest.slice(PAIRS_SHOWN);
  const more = rest.length
    ? button(
        `Show all ${withNearest.length}`,
        () => {
          list.append(...rest.map(pair));
          more.remove();
        },
        { class: "button quiet" },
      )
    : null;
  return block(
    term("most alike", "Most alike in the gallery"),
    el("p", { class: "small" }, "Left your photo, right the one of the gallery that looks most like it."),
    list,
    more,
  );
};

const kindOf = (answer) => (label) =>
  label === null
    ? "silent"
    : label === answer.most_like
      ? "first"
      : label === answer.runner_up?.label
        ? "second"
        : "other";

/** How much of the weight of some members each class has, heaviest first. */
const shares = (members) => {
  const sums = new Map();
  for (const { label, weight } of members) sums.set(label, (sums.get(label) ?? 0) + weight);
  const total = [...sums.values()].reduce((a, b) => a + b, 0) || 1;
  return [...sums].map(([label, sum]) => ({ label, share: sum / total })).sort((a, b) => b.share - a.share);
};

const stack = (parts, kind) =>
  el(
    "span",
    { class: "stack" },
    ...parts.map(({ label, share }) =>
      el(
        "span",
        { class: kind(label), vars: { share }, title: `${label ?? "nobody"}: ${percent(share)}` },
        label ?? "nobody",
      ),
    ),
  );

/** What the photos were looked at for, and whom that speaks for; every single member, for those who open it. */
const votes = (answer) => {
  if (!answer.votes?.length) return null;
  const kind = kindOf(answer),
    byLook = new Map();
  for (const vote of answer.votes) {
    const look = vote.words.split(/[,:]/)[0];
    byLook.set(look, [...(byLook.get(look) ?? []), vote]);
  }
  const every = el(
    "details",
    {},
    el("summary", {}, `All ${answer.votes.length} members`),
    el(
      "ul",
      { class: "members" },
      ...answer.votes.map((vote) => el("li", { class: kind(vote.label) }, vote.words)),
    ),
  );
  return block(
    term("members", "Who voted for what"),
    el(
      "dl",
      { class: "looks" },
      ...[...byLook].map(([look, members]) =>
        el("div", {}, el("dt", {}, look), el("dd", {}, stack(shares(members), kind))),
      ),
    ),
    answer.votes.length > byLook.size && every,
  );
};

/** The curve; where the gallery is still being learnt by heart, it comes later. */
const curveOf = (id, k, answer) => {
  const place = el("div", {}, curveFigure(answer.nearness, answer.is_known));
  let tries = 0;
  const again = async () => {
    if (!place.isConnected || ++tries > CURVE_TRIES) return;
    try {
      const { nearness } = (await get(`/api/asks/${encodeURIComponent(id)}`)).answers[k];
      if (nearness.curve) return void place.replaceChildren(curveFigure(nearness, answer.is_known));
    } catch {
      return; /* without a curve, then */
    }
    setTimeout(again, CURVE_MS);
  };
  if (answer.nearness.threshold !== null && !answer.nearness.curve) setTimeout(again, CURVE_MS);
  return place;
};

/** What can be done with an answer: accept, correct, a new class, all without the marked photos. */
const actions = (id, k, answer, marked) => {
  const done = el("p", { class: "done-words", role: "status" });
  const row = el("div", { class: "actions" });
  const enroll = async (label) => {
    if (label === null) return;
    for (const one of row.children) one.disabled = true;
    const isDone = await act("enroll", {
      ask: id,
      answer: k,
      label,
      without: [...marked].sort((a, b) => a - b),
    });
    for (const one of row.children) one.disabled = false;
    if (!isDone) return;
    row.hidden = true;
    done.textContent = `✓ Added to ${label}.`;
  };
  const best = answer.label ?? answer.most_like ?? null;
  const pick = (title, options) => async () => enroll(await chooseClass(title, options));
  const correct = button("No, it is…", pick("Who or what is it?", { without: [best] }));
  const newClass = (properties) =>
    button(
      "Make a new class…",
      pick("What is the new class called?", { hint: "Type a name that is not there yet." }),
      properties,
    );
  const accept = (words, properties) => best !== null && button(words, () => enroll(best), properties);
  if (answer.label === null)
    row.append(
      ...[
        newClass({ class: "button primary" }),
        accept(`It is ${best} after all`),
        button("It is…", pick("Who or what is it?")),
      ].filter(Boolean),
    );
  else row.append(accept(`Yes, add to ${best}`, { class: "button primary" }), correct, newClass());
  return [row, done];
};

const photosBlock = (answer, marked) => {
  const why = new Map(answer.out_of_place.map((one) => [one.image, one.why]));
  const hint = el("p", { class: "small", role: "status" });
  const describe = () => {
    hint.textContent = marked.size
      ? `${counted(marked.size, "photo")} will be left out. Click a photo to change that.`
      : "All of them will be added. Click a photo to leave it out.";
  };
  describe();
  return block(
    "Its photos",
    photoTiles(
      answer.photos.map((photo) => ({ ...photo, why: why.get(photo.image) })),
      marked,
      describe,
      "leave out",
    ),
    why.size > 0 &&
      el(
        "p",
        { class: "out-words" },
        el("b", {}, counted(why.size, "photo")),
        " ",
        term("out of place"),
        ": unlike the rest of the set, and not listened to.",
      ),
    current()?.can_change && hint,
  );
};

export const answerArticle = (id, k, answer) => {
  const marked = new Set(answer.out_of_place.map((one) => one.image));
  const isUnknown = answer.label === null;
  const canChange = current()?.can_change;
  const best = answer.most_like;
  return el(
    "article",
    { class: "answer", id: `answer-${id}-${k}` },
    el(
      "header",
      {},
      el("p", { class: "eyebrow" }, `${answer.set.name} · ${counted(answer.set.n_images, "photo")}`),
      el(
        "h2",
        { class: isUnknown ? "words unknown" : "words" },
        ...spoken(answer.words, isUnknown ? best : answer.label),
      ),
      ...(answer.notes ?? []).map((note) => el("p", { class: "small" }, note)),
      canChange ? actions(id, k, answer, marked) : el("p", { class: "small" }, current()?.reason_it_cannot),
    ),
    photosBlock(answer, marked),
    el(
      "div",
      { class: "beside" },
      block(
        term("how probable", isUnknown ? "How probable, if it were of the gallery after all" : "How probable"),
        candidateBars(answer.candidates),
      ),
      answer.nearness && block(term("nearness", "Known or unknown"), curveOf(id, k, answer)),
    ),
    pairs(answer.photos),
    votes(answer),
    answer.has_tree && treeSection(id, k, answer),
  );
};
