// Numbers and counts in plain English.

export const counted = (n, noun, plural = `${noun}s`) => `${n.toLocaleString("en")} ${n === 1 ? noun : plural}`;

/** A set's name without its class's, which stands beside it. */
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
