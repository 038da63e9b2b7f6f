// One answer: plain words first, what to do with it, then the evidence.

import { get } from "./api.js";
import { curveFigure } from "./curve.js";
import { chooseClass } from "./dialogs.js";
import { button, el, photo, spoken } from "./dom.js";
import { photoTiles } from "./set_dialog.js";
import { command, current } from "./store.js";
import { term } from "./terms.js";
import { treeSection } from "./tree.js";
import { counted, lookWords, percent, voteWords } from "./words.js";

const PAIRS_SHOWN = 8,
  PART_SHOWN = 12,
  CURVE_MS = 2000,
  CURVE_TRIES = 60,
  UNLIKE = "It looks unlike the other photos of this album.";

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

const pair = ({ name, url, nearest, is_outlier: isOut }) =>
  el(
    "li",
    { class: isOut ? "out" : null },
    el(
      "span",
      { class: "couple" },
      photo(url, `Yours: ${name}`),
      photo(nearest.url, `In the gallery: ${nearest.label}`),
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
    el("p", { class: "small" }, "Left your photo, right the most similar one of the whole gallery."),
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

/** Share of the weight of some votes for each class, heaviest first. */
const shares = (votes) => {
  const sums = new Map();
  for (const { label, weight } of votes) sums.set(label, (sums.get(label) ?? 0) + weight);
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
        { class: kind(label), vars: { share }, title: `${label ?? "no one"}: ${percent(share)}` },
        label ?? "no one",
      ),
    ),
  );

/** The votes of each way of looking; every single vote, for those who open it. */
const votesBlock = (answer) => {
  if (!answer.votes?.length) return null;
  const kind = kindOf(answer),
    byLook = new Map();
  for (const vote of answer.votes) {
    const look = lookWords(vote);
    byLook.set(look, [...(byLook.get(look) ?? []), vote]);
  }
  const every = el(
    "details",
    {},
    el("summary", {}, `All ${answer.votes.length} votes, in words`),
    el(
      "ul",
      { class: "votes" },
      ...answer.votes.map((vote) => el("li", { class: kind(vote.label) }, voteWords(vote))),
    ),
  );
  return block(
    term("votes", "What each way of looking votes for"),
    el(
      "dl",
      { class: "looks" },
      ...[...byLook].map(([look, votes]) =>
        el("div", {}, el("dt", {}, look), el("dd", {}, stack(shares(votes), kind))),
      ),
    ),
    answer.votes.length > byLook.size && every,
  );
};

/** The curve; it comes later while the gallery is still being compared with itself. */
const curveOf = (id, k, answer) => {
  const place = el("div", {}, curveFigure(answer.nearness, answer.is_known));
  let tries = 0;
  const again = async () => {
    if (!place.isConnected || ++tries > CURVE_TRIES) return;
    try {
      const { nearness } = (await get(`/api/v1/identify/${encodeURIComponent(id)}`)).answers[k];
      if (nearness.curve) return void place.replaceChildren(curveFigure(nearness, answer.is_known));
    } catch {
      return; /* without a curve, then */
    }
    setTimeout(again, CURVE_MS);
  };
  if (answer.nearness.threshold !== null && !answer.nearness.curve) setTimeout(again, CURVE_MS);
  return place;
};

/** Add the album of an answer, without what does not belong; whether it was done. */
export const enroll = (id, k, answer, label, without = answer.outliers) =>
  command(
    "enroll",
    { job: id, answer: k, label, without },
    {
      name: answer.set.name,
      n_images: answer.set.n_images - without.length,
      cover: answer.photos.find((one) => !without.includes(one.image))?.url,
    },
  );

/** What can be done with an answer: accept, correct, a new class, all without the marked photos. */
const actions = (id, k, answer, marked, onSplit) => {
  const done = el("p", { class: "done-words", role: "status" });
  const row = el("div", { class: "actions" });
  const give = async (label) => {
    if (label === null) return;
    for (const one of row.children) one.disabled = true;
    done.textContent = `Adding to ${label}…`;
    const isDone = await enroll(id, k, answer, label, [...marked].sort((a, b) => a - b));
    for (const one of row.children) one.disabled = false;
    done.textContent = isDone ? `✓ Added to ${label}.` : "";
    row.hidden = isDone;
    row.closest(".answer")?.classList.toggle("added", isDone);
  };
  const likely = answer.candidates;
  const best = answer.label ?? answer.most_like ?? null;
  const pick = (title, options) => async () => give(await chooseClass(title, { likely, ...options }));
  const correct = button("No, it is…", pick("Who or what is it?", { without: [best] }));
  const newClass = (properties) =>
    button(
      "Someone or something new…",
      pick("Who or what is new?", { hint: "Type a name that is not there yet." }),
      properties,
    );
  const accept = (words, properties) => best !== null && button(words, () => give(best), properties);
  const primary = { class: "button primary" };
  const buttons = answer.parts.length
    ? [
        button(`Split into ${counted(answer.parts.length, "album")}`, onSplit, primary),
        accept(`No, all of it is ${best}`),
        button("All of it is…", pick("Who or what is all of it?")),
      ]
    : answer.label !== null
      ? [accept(`Yes, add to ${best}`, primary), correct, newClass()]
      : answer.is_far
        ? [accept(`Yes, it is ${best}`, primary), correct, newClass()]
        : [newClass(primary), accept(`It is ${best} after all`), button("It is…", pick("Who or what is it?"))];
  row.append(...buttons.filter(Boolean));
  return [row, done];
};

/** An album that shows several: the photos of each part. */
const partsBlock = (id, k, answer) =>
  answer.parts.length > 0 &&
  block(
    "What it seems to show",
    el(
      "ul",
      { class: "parts" },
      ...answer.parts.map(({ label, images }) => {
        const photos = images.map((j) => ({
          image: j,
          name: `Photo ${j + 1}`,
          url: `/api/v1/identify/${encodeURIComponent(id)}/answers/${k}/photos/${j}`,
        }));
        return el(
          "li",
          {},
          el("p", {}, el("b", {}, label ?? "the rest"), ` · ${counted(images.length, "photo")}`),
          photoTiles(photos.slice(0, PART_SHOWN), null, () => {}, ""),
        );
      }),
    ),
  );

const photosBlock = (answer, marked) => {
  const outliers = new Set(answer.outliers);
  const hint = el("p", { class: "small leave-out", role: "status" });
  const describe = () => {
    hint.textContent = marked.size
      ? `${counted(marked.size, "photo")} will be left out. Click a photo to change that.`
      : "All of them will be added. Click a photo to leave it out; Space shows it large.";
  };
  describe();
  return block(
    "Its photos",
    photoTiles(
      answer.photos.map((photo) => ({ ...photo, why: outliers.has(photo.image) ? UNLIKE : null })),
      marked,
      describe,
      "leave out",
    ),
    outliers.size > 0 &&
      el(
        "p",
        { class: "out-words" },
        el("b", {}, counted(outliers.size, "photo")),
        " ",
        term("out of place"),
        ": unlike the rest of the album, and left out of the comparison.",
      ),
    current()?.can_change && hint,
  );
};

export const answerArticle = (id, k, answer, onSplit) => {
  const marked = new Set(answer.outliers);
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
      el("p", { class: "reason" }, answer.reason),
      ...(answer.notes ?? []).map((note) => el("p", { class: "small" }, note)),
      canChange ? actions(id, k, answer, marked, onSplit) : el("p", { class: "small" }, current()?.reason_it_cannot),
    ),
    partsBlock(id, k, answer),
    photosBlock(answer, marked),
    el(
      "div",
      { class: "beside" },
      block(
        term("how probable", isUnknown ? "How probable, if it is in the gallery after all" : "How probable"),
        candidateBars(answer.candidates),
      ),
      answer.nearness && block(term("nearness", "Known or unknown"), curveOf(id, k, answer)),
    ),
    pairs(answer.photos),
    votesBlock(answer),
    answer.has_tree && treeSection(id, k, answer),
  );
};
