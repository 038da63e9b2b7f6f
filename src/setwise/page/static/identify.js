// Identify: send photos, watch the work, read the answers.

import { Refused, get, remove, upload } from "./api.js";
import { answerArticle } from "./answer.js";
import { button, el } from "./dom.js";
import { chosenFiles, droppedFiles } from "./drop.js";
import { current } from "./state.js";
import { term } from "./terms.js";
import { counted, duration, size } from "./words.js";

const POLL_MS = 250;
const SENDING = { name: "sending", words: "Sending the photos" };
let parts = null;

const refusal = (files) => {
  const bytes = files.reduce((sum, { file }) => sum + file.size, 0);
  const { upload_bytes: mostBytes = Infinity, files: mostFiles = Infinity } = current()?.limits ?? {};
  if (!files.length) return "There are no files in that.";
  if (files.length > mostFiles)
    return `These are ${counted(files.length, "file")}; at most ${mostFiles.toLocaleString("en")} can be sent at once. Send fewer.`;
  if (bytes > mostBytes)
    return `These files weigh ${size(bytes)} together; at most ${size(mostBytes)} can be sent at once. Send fewer or smaller photos.`;
  return null;
};

const nameOf = (files) => {
  const folders = new Set(files.map(({ name }) => (name.includes("/") ? name.split("/")[0] : null)));
  if (folders.size === 1 && !folders.has(null)) return [...folders][0];
  return files.length === 1 ? files[0].name : counted(files.length, "file");
};

const stepItem = (step) => {
  // One thing of one is not measured: it is there or not yet.
  const share = step.state === "done" ? 1 : step.total > 1 ? Math.min(1, step.done / step.total) : null;
  const isUnmeasured = step.state === "working" && share === null;
  return el(
    "li",
    { class: step.state },
    el(
      "span",
      { class: "step-words" },
      step.words,
      step.total > 1 && step.state !== "waiting" ? el("small", {}, ` ${step.done} of ${step.total}`) : null,
    ),
    el("span", { class: `gauge${isUnmeasured ? " unmeasured" : ""}`, vars: { share: share ?? 0 } }),
  );
};

/** The card of one question: its steps, then its answers. */
class Question {
  constructor(files) {
    this.files = files;
    this.title = nameOf(files);
    this.isOver = false;
    this.steps = el("ol", { class: "steps" });
    this.status = el("p", { class: "small", role: "status" });
    this.cancel = button("Cancel", () => this.stop());
    this.element = el(
      "section",
      { class: "question-card", "aria-label": this.title },
      (this.progress = el(
        "div",
        { class: "progress" },
        el("h2", {}, this.title),
        this.status,
        this.steps,
        this.cancel,
      )),
    );
    this.run().catch((error) => this.fail(error));
  }

  async run() {
    this.showSending(0);
    this.sending = upload("/api/identify", this.files, (share) => this.showSending(share));
    const { id } = await this.sending.answer;
    this.sending = null;
    this.id = id;
    this.files = null; // no need to hold them
    if (this.isOver) return void remove(`/api/identify/${id}`).catch(() => {});
    await this.watch();
  }

  async watch() {
    for (let misses = 0; !this.isOver;) {
      try {
        const job = await get(`/api/identify/${encodeURIComponent(this.id)}`);
        misses = 0;
        if (this.isOver) return;
        if (job.state === "done") return this.finish(job);
        if (job.state === "failed") throw new Refused(job.error ?? "That did not work.", 422);
        if (job.state === "cancelled") return this.finishCancelled();
        this.showWork(job);
      } catch (error) {
        // A server that is silent for a moment may come back.
        if (error.status !== 0 || ++misses > 20) throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }

  showSending(share) {
    this.status.textContent = "Sending…";
    this.steps.replaceChildren(
      stepItem({ ...SENDING, state: "working", done: Math.round(100 * share), total: 100 }),
    );
  }

  showWork(job) {
    const words =
      job.state === "waiting"
        ? "Waiting for its turn…"
        : (job.steps.find((step) => step.state === "working")?.words ?? "Working…");
    const left =
      job.estimate_s === null || job.estimate_s === undefined ? "" : `: ${duration(job.estimate_s)} left`;
    const sentence = `${words.replace(/[.…]+$/, "")}${left}`;
    if (this.status.textContent !== sentence) this.status.textContent = sentence;
    this.steps.replaceChildren(stepItem({ ...SENDING, state: "done" }), ...job.steps.map(stepItem));
  }

  finish(job) {
    this.isOver = true;
    this.progress.remove();
    const { left_out: leftOut = [], answers } = job;
    const close = () => {
      this.forget();
      this.leave();
    };
    const several = answers.length > 1;
    if (several)
      this.element.append(
        el("h2", {}, `${this.title}: ${counted(answers.length, "album")}`),
        contents(answers, job.id),
      );
    this.element.append(...answers.map((answer, k) => answerArticle(job.id, k, answer)));
    if (leftOut.length) this.element.append(leftOutNote(leftOut));
    this.element.append(
      button("×", close, { class: "icon close", "aria-label": `Close the answer on ${this.title}` }),
    );
    const title = this.element.querySelector("h2");
    title.setAttribute("tabindex", "-1");
    parts.live.textContent = answers.map((answer) => `${answer.set.name}: ${answer.words}.`).join(" ");
    if (document.activeElement === document.body || this.element.contains(document.activeElement))
      title.focus({ preventScroll: true });
  }

  finishCancelled() {
    this.isOver = true;
    this.leave();
    parts.live.textContent = "Cancelled.";
  }

  fail(error) {
    if (error.status === -1) return this.finishCancelled();
    if (!(error instanceof Refused)) console.error(error);
    this.isOver = true;
    this.progress.replaceChildren(
      el("h2", {}, this.title),
      el("p", { class: "notice", role: "alert" }, error.message),
      button("Close", () => this.leave()),
    );
    return null;
  }

  stop() {
    this.isOver = true;
    if (this.sending) this.sending.stop();
    this.forget();
    this.finishCancelled();
    parts.field.focus();
  }

  leave() {
    this.element.remove();
    showWhetherEmpty();
  }

  forget() {
    if (this.id) remove(`/api/identify/${encodeURIComponent(this.id)}`).catch(() => {});
  }
}

const contents = (answers, id) =>
  el(
    "ol",
    { class: "contents" },
    ...answers.map((answer, k) =>
      el(
        "li",
        {},
        el(
          "button",
          {
            type: "button",
            class: "button quiet",
            on: {
              click: () => document.getElementById(`answer-${id}-${k}`).scrollIntoView({ behavior: "smooth" }),
            },
          },
          el("b", {}, answer.set.name),
          el("span", {}, answer.words),
        ),
      ),
    ),
  );

const leftOutNote = (files) =>
  el(
    "details",
    { class: "left-out" },
    el("summary", {}, `${counted(files.length, "file")} could not be used`),
    el("ul", {}, ...files.map(({ name, reason }) => el("li", {}, el("code", {}, name), ` ${reason}`))),
  );

const showWhetherEmpty = () => parts.view.classList.toggle("has-questions", parts.list.childElementCount > 0);

const send = (files) => {
  const sentence = refusal(files);
  parts.refused.hidden = !sentence;
  parts.refused.textContent = sentence ?? "";
  if (sentence) return;
  parts.list.prepend(new Question(files).element);
  showWhetherEmpty();
};

const fieldOf = (id, words, properties) => {
  const field = el("input", { type: "file", id, class: "unseen", multiple: true, ...properties });
  field.addEventListener("change", () => {
    send(chosenFiles(field));
    field.value = "";
  });
  return [field, el("label", { for: id, class: "button" }, words)];
};

const acceptDrops = (zone) => {
  let depth = 0;
  const mark = (change) => {
    depth = Math.max(0, depth + change);
    zone.classList.toggle("over", depth > 0);
  };
  zone.addEventListener("dragenter", (event) => {
    event.preventDefault();
    mark(1);
  });
  zone.addEventListener("dragleave", () => mark(-1));
  zone.addEventListener("dragover", (event) => {
    event.preventDefault();
    event.dataTransfer.dropEffect = "copy";
  });
  zone.addEventListener("drop", async (event) => {
    event.preventDefault();
    mark(-depth);
    send(await droppedFiles(event.dataTransfer));
  });
};

export const start = (view) => {
  const [files, filesLabel] = fieldOf("choose-files", "Choose photos, a clip or a zip");
  const [folder, folderLabel] = fieldOf("choose-folder", "Choose a folder", { webkitdirectory: true });
  parts = {
    view,
    field: files,
    live: el("p", { class: "unseen", role: "status" }),
    refused: el("p", { class: "notice", role: "alert", hidden: true }),
    list: el("div", { class: "questions" }),
  };
  const zone = el(
    "div",
    { class: "zone" },
    el("p", { class: "zone-words" }, "Drop a folder, photos, a clip or a zip here"),
    el("p", { class: "choices" }, files, filesLabel, folder, folderLabel),
    el(
      "p",
      { class: "small" },
      "Photos of one folder are one ",
      term("album"),
      ". They go to setwise and nowhere else.",
    ),
  );
  view.append(
    el(
      "header",
      { class: "head" },
      el("p", { class: "eyebrow" }, "Who or what is this?"),
      el("h1", { id: "identify-title", tabindex: "-1" }, "Identify"),
    ),
    zone,
    parts.refused,
    parts.live,
    parts.list,
  );
  acceptDrops(view);
};
