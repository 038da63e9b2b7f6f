// Numbers and counts in plain English.

export const counted = (n, noun, plural = `${noun}s`) => `${n.toLocaleString("en")} ${n === 1 ? noun : plural}`;

/** A set's name without its class's, which stands beside it. */
export const nameOf = (set, label) => (set.name.startsWith(`${label}/`) ? set.name.slice(label.length + 1) : set.name);

export const percent = (share) => {
  const rounded = Math.round(100 * share);
  if (rounded === 0 && share > 0) return "< 1 %";
  if (rounded === 100 && share < 1) return "> 99 %";
  return `${rounded} %`;
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

export const listed = (names, most = 3) => {
  const shown = names.slice(0, most);
  if (names.length > most) return `${shown.join(", ")} and ${names.length - most} more`;
  return shown.length < 2 ? shown.join("") : `${shown.slice(0, -1).join(", ")} and ${shown.at(-1)}`;
};

export const time = (given) => {
  const moment = new Date(typeof given === "number" ? given * 1000 : given);
  if (Number.isNaN(moment.getTime())) return String(given);
  const isToday = moment.toDateString() === new Date().toDateString();
  const clock = moment.toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit" });
  return isToday ? clock : `${moment.toLocaleDateString(undefined, { day: "numeric", month: "short" })}, ${clock}`;
};

export const folded = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLocaleLowerCase().trim();
