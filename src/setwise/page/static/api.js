// Talks to the server. Whatever goes wrong is a `Refused` with one sentence that can be shown as it is.

export class Refused extends Error {
  constructor(sentence, status = 0) {
    super(sentence);
    this.status = status;
  }
}

const SILENT = "The server does not answer. Is “setwise serve” still running?";

const sentenceOf = (status, text) => {
  try {
    const { error } = JSON.parse(text);
    if (typeof error === "string" && error) return error;
  } catch {
    /* not JSON: said below */
  }
  if (status === 413) return "That is more than can be sent at once.";
  if (status === 429 || status === 503) return "The server is busy with others. Please try again in a moment.";
  return `The server refused this (${status}).`;
};

const call = async (method, path, body, headers = {}) => {
  /** @type {RequestInit} */
  const options = { method, headers: { ...headers }, credentials: "same-origin", cache: "no-cache" };
  if (body !== undefined) {
    options.headers = { ...headers, "Content-Type": "application/json" };
    options.body = JSON.stringify(body);
  }
  let response, text;
  try {
    response = await fetch(path, options);
    text = await response.text();
  } catch {
    throw new Refused(SILENT);
  }
  if (!response.ok) throw new Refused(sentenceOf(response.status, text), response.status);
  return text ? JSON.parse(text) : null;
};

export const get = (path) => call("GET", path);
export const post = (path, body = {}, headers = {}) => call("POST", path, body, headers);
export const put = (path, body = {}) => call("PUT", path, body);
export const remove = (path) => call("DELETE", path);

/** Send files; `onProgress(share)` hears how much is through. `stop()` breaks it off. */
export const upload = (path, files, onProgress) => {
  const request = new XMLHttpRequest();
  const form = new FormData();
  for (const { file, name } of files) form.append("files", file, name);
  const answer = new Promise((resolve, reject) => {
    let share = 0;
    request.upload.addEventListener("progress", (event) => {
      share = event.total ? event.loaded / event.total : 0;
      onProgress(share);
    });
    request.addEventListener("load", () => {
      const { status, responseText } = request;
      if (status >= 200 && status < 300) resolve(JSON.parse(responseText));
      else reject(new Refused(sentenceOf(status, responseText), status));
    });
    request.addEventListener("error", () =>
      reject(
        new Refused(
          share > 0 && share < 1
            ? "The server broke off while the files were being sent: they are too many or too large."
            : SILENT,
        ),
      ),
    );
    request.addEventListener("abort", () => reject(new Refused("Cancelled.", -1)));
  });
  request.open("POST", path);
  request.send(form);
  return { answer, stop: () => request.abort() };
};
