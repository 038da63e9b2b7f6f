// Photos on their way to the server: made smaller first, and sent in portions that it takes.

import { upload } from "./api.js";

const SIDE = 1600,
  SMALL_BYTES = 1_500_000, // what is no larger is sent as it is
  QUALITY = 0.88,
  PORTION_FILES = 24,
  PORTION_BYTES = 20e6;
const SHRINKABLE = new Set(["image/jpeg", "image/webp", "image/png"]);

/** A large photo with its longer side at most so long, upright; others as they are. */
export const smaller = async ({ file, name }) => {
  if (file.size <= SMALL_BYTES || !SHRINKABLE.has(file.type)) return { file, name };
  try {
    const bitmap = await createImageBitmap(file, { imageOrientation: "from-image" });
    const scale = Math.min(1, SIDE / Math.max(bitmap.width, bitmap.height));
    const canvas = document.createElement("canvas");
    canvas.width = Math.round(bitmap.width * scale);
    canvas.height = Math.round(bitmap.height * scale);
    canvas.getContext("2d").drawImage(bitmap, 0, 0, canvas.width, canvas.height);
    bitmap.close();
    const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/jpeg", QUALITY));
    if (!blob || blob.size >= file.size) return { file, name };
    return { file: new File([blob], file.name, { type: "image/jpeg" }), name: name.replace(/\.(png|webp)$/i, ".jpg") };
  } catch {
    return { file, name }; // the server says what is wrong with it
  }
};

/** Send files in portions; `onProgress(done)` hears how many are there. */
export const sendAll = async (path, files, limits, onProgress) => {
  const mostBytes = Math.min(PORTION_BYTES, limits?.upload_bytes ?? PORTION_BYTES);
  let portion = [],
    bytes = 0,
    done = 0;
  const flush = async () => {
    if (!portion.length) return;
    await upload(path, portion, () => {}).answer;
    done += portion.length;
    [portion, bytes] = [[], 0];
    onProgress(done);
  };
  for (const one of files) {
    const small = await smaller(one);
    if (portion.length >= PORTION_FILES || bytes + small.file.size > mostBytes) await flush();
    portion.push(small);
    bytes += small.file.size;
  }
  await flush();
};
