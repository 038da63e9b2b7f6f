// Numbers and counts in plain English.

export const counted = (n, noun, plural = `${noun}s`) => `${n.toLocaleString("en")} ${n === 1 ? noun : plural}`;

/** "1 person or thing", "4 people or things". */
export const countedClasses = (n) => counted(n, "person or thing", "people or things");

const FEATURES = {
  plain: "light and dark",
  whitened: "light and dark",
  pixels: "light and dark",
  edges: "outlines",
  "fine edges": "fine outlines",
  "coarse edges": "rough outlines",
  network: "what a network sees",
  lengths: "the numbers as they are",
};
const BASES = {
  mean: "on average",
  means: "in a few averages",
  centred: "in how they differ",
  svd: "in what they share",
  dictionary: "in their parts",
};
const EVIDENCE = {
  clusters: "by who ends up in one group",
  edges: "by who is linked to whom",
  "smallest angle": "by the closest likeness",
  "all angles": "by the whole likeness",
};

/** What a vote compares: "fine outlines". */
export const lookWords = ({ feature }) => {
  const plain = feature.replace(/^whitened /, "").replace(/ whitened$/, "");
  return FEATURES[plain] ?? plain;
};

/** A vote in one sentence. */
export const voteWords = (vote) => {
  const how = [lookWords(vote), BASES[vote.basis] ?? vote.basis, EVIDENCE[vote.evidence] ?? vote.evidence];
  const says = vote.label ?? "no one in particular";
  return `${how.filter(Boolean).join(", ")}: ${says}${vote.is_narrow ? ", but only just" : ""}`;
};

/** An album's name without that of its person or thing, which stands beside it. */
export const nameOf = (set, label) =>
  set.name.startsWith(`${label}/`) ? set.name.slice(label.length + 1) : set.name;

export const percent = (share) => {
  const rounded = Math.round(100 * share);
  if (rounded === 0 && share > 0) return "<\u00a01\u00a0%";
  if (rounded === 100 && share < 1) return ">\u00a099\u00a0%";
  return `${rounded}\u00a0%`;
};

export const duration = (seconds) => {
  if (seconds < 1.5) return "about a second";
  if (seconds < 60) return `about ${Math.round(seconds)} seconds`;
  const minutes = Math.round(seconds / 60);
  return minutes === 1 ? "about a minute" : `about ${minutes} minutes`;
};

export const size = (bytes) => {
  if (bytes < 1e6) return `${Math.max(1, Math.round(bytes / 1e3))} kB`;
  return `${(bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0)} MB`;
};

export const time = (given) => {
  const moment = new Date(typeof given === "number" ? given * 1000 : given);
  if (Number.isNaN(moment.getTime())) return String(given);
  const isToday = moment.toDateString() === new Date().toDateString();
  const clock = moment.toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit" });
  return isToday
    ? clock
    : `${moment.toLocaleDateString(undefined, { day: "numeric", month: "short" })}, ${clock}`;
};

export const folded = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLocaleLowerCase().trim();
