// Files out of a drop or a file field, with the folders they lie in.

const MOST_FILES = 5000;

const entriesOf = (reader) => new Promise((resolve, reject) => reader.readEntries(resolve, reject));
const fileOf = (entry) => new Promise((resolve, reject) => entry.file(resolve, reject));

const isHidden = (name) => name.startsWith(".") || name === "Thumbs.db" || name === "desktop.ini";

const walk = async (entry, found) => {
  if (isHidden(entry.name) || found.length >= MOST_FILES) return;
  if (entry.isFile) {
    const file = await fileOf(entry);
    found.push({ file, name: entry.fullPath.replace(/^\//, "") });
    return;
  }
  const reader = entry.createReader();
  // A folder is read in portions, until one is empty.
  for (let some = await entriesOf(reader); some.length; some = await entriesOf(reader)) {
    for (const inner of some) await walk(inner, found);
  }
};

/** Files of a drop: folders are opened. To be called at once: a drop forgets its items. */
export const droppedFiles = async (transfer) => {
  const entries = [...transfer.items]
    .filter((item) => item.kind === "file")
    .map((item) => item.webkitGetAsEntry?.() ?? null);
  const plain = [...transfer.files];
  const found = [];
  for (const [i, entry] of entries.entries()) {
    if (entry) await walk(entry, found);
    else if (plain[i]) found.push({ file: plain[i], name: plain[i].name });
  }
  return found;
};

/** Files of a field; those of a folder keep the path below it. */
export const chosenFiles = (field) =>
  [...field.files]
    .map((file) => ({ file, name: file.webkitRelativePath || file.name }))
    .filter(({ name }) => !name.split("/").some(isHidden));
