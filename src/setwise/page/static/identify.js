// Identify: send photos, watch the work, read the answers.

import { Refused, get, post, remove, upload } from "./api.js";
import { answerArticle, enroll } from "./answer.js";
import { button, byId, el, photo } from "./dom.js";
import { chosenFiles } from "./drop.js";
import { smaller } from "./sending.js";
import { current, questionVersions, subscribe, untilItIsBack } from "./store.js";
import { term } from "./terms.js";
import { warn } from "./toast.js";
import { counted, duration, size, time } from "./words.js";

const SENDING = { name: "sending", words: "Sending the photos" },
  SHRINKING = { name: "shrinking", words: "Making large photos smaller" },
  MOST_AT_ONCE = 4; // photos that are made smaller at the same time
/** @type {any} */
let parts = null;

/** Why these files cannot be sent, once large photos were made smaller. */
const refusal = (files) => {
  const bytes = files.reduce((sum, { file }) => sum + file.size, 0);
  const { upload_bytes: mostBytes = Infinity, files: mostFiles = Infinity } = current()?.limits ?? {};
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

/** The card of one question: its steps, then its answers. It outlives a reload and a restart. */
class Question {
  /** Of files that are to be sent, or of an id that the server knows. */
  constructor({ files = null, id = null, title }) {
    this.files = files;
    this.id = id;
    this.title = title;
    this.isOver = false;
    this.steps = el("ol", { class: "steps" });
    this.status = el("p", { class: "small", role: "status" });
    this.cancel = button("Cancel", () => this.stop());
    this.element = el("section", { class: "question-card", "aria-label": this.title });
    this.start();
  }

  start() {
    this.isOver = false;
    this.progress = el(
      "div",
      { class: "progress" },
      el("h2", {}, this.title),
      this.status,
      this.steps,
      this.cancel,
    );
    this.element.replaceChildren(this.progress);
    this.run().catch((error) => this.fail(error));
  }

  async run() {
    if (this.id === null) await this.send();
    remember(this.id);
    cards.set(this.id, this);
    if (this.isOver) return this.forget();
    await this.watch();
  }

  /** Large photos are made smaller on the way: galleries look at them much smaller. */
  async shrink() {
    const small = [...this.files];
    let n = 0;
    const next = async (i) => {
      if (i >= small.length || this.isOver) return;
      small[i] = await smaller(this.files[i]);
      n += 1;
      this.status.textContent = "Making large photos smaller…";
      this.steps.replaceChildren(stepItem({ ...SHRINKING, state: "working", done: n, total: small.length }));
      await next(i + MOST_AT_ONCE);
    };
    await Promise.all(Array.from({ length: MOST_AT_ONCE }, (_, i) => next(i)));
    if (this.isOver) throw new Refused("Cancelled.", -1);
    const sentence = refusal(small);
    if (sentence) throw new Refused(sentence, 413);
    return small;
  }

  async send() {
    this.element.dataset.sending = true;
    const files = await this.shrink();
    for (;;) {
      this.showSending(0);
      this.element.dataset.sending = true;
      this.sending = upload("/api/v1/identify", files, (share) => this.showSending(share));
      try {
        ({ id: this.id } = await this.sending.answer);
        return;
      } catch (error) {
        if (error.status !== 0 || (await isThere())) throw error;
        // A server that was stopped gets the files again when it is back.
        await this.untilItIsBack("The photos will be sent again when it is back.");
      } finally {
        this.sending = null;
        delete this.element.dataset.sending;
      }
    }
  }

  /** Look whenever the server tells that something has changed. */
  async watch() {
    while (!this.isOver) {
      const version = questionVersions()[this.id];
      try {
        const job = await get(`/api/v1/identify/${encodeURIComponent(this.id)}`);
        if (this.isOver) return;
        if (job.state === "done") return this.finish(job);
        if (job.state === "failed") throw new Refused(job.error ?? "That did not work.", 422);
        if (job.state === "cancelled") return this.finishCancelled();
        this.showWork(job);
      } catch (error) {
        if (error.status !== 0) throw error;
        await this.untilItIsBack("The answer comes when it is back.");
      }
      await changed(this.id, version);
    }
  }

  async untilItIsBack(words) {
    this.status.textContent = `The server does not answer. ${words}`;
    await untilItIsBack(() => this.isOver);
    if (this.isOver) throw new Refused("Cancelled.", -1);
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
    this.files = null; // no need to hold them
    this.progress.remove();
    const { left_out: leftOut = [], answers } = job;
    const several = answers.length > 1;
    if (several)
      this.element.append(
        el("h2", {}, `${this.title}: ${counted(answers.length, "album")}`),
        contents(answers, job.id),
      );
    this.element.append(
      ...answers.map((answer, k) => answerArticle(job.id, k, answer, () => this.split(k, answer))),
    );
    if (leftOut.length) this.element.append(leftOutNote(leftOut));
    this.element.append(
      el(
        "p",
        { class: "small keep" },
        el("a", { href: `#identify/${job.id}` }, "The address of this answer"),
        " · ",
        el("a", { href: `/api/v1/identify/${job.id}/report.html`, download: "answers.html" }, "Keep it as a file"),
      ),
      this.closer(),
    );
    const title = this.element.querySelector("h2");
    title.setAttribute("tabindex", "-1");
    parts.live.textContent = answers.map((answer) => `${answer.set.name}: ${answer.words}.`).join(" ");
    if (document.activeElement === document.body || this.element.contains(document.activeElement))
      title.focus({ preventScroll: true });
  }

  closer() {
    const close = () => {
      this.forget();
      this.leave();
    };
    return button("×", close, { class: "icon close", "aria-label": `Close ${this.title}` });
  }

  async split(k, answer) {
    try {
      const { id } = await post(`/api/v1/identify/${encodeURIComponent(this.id)}/answers/${k}/split`);
      showCard(new Question({ id, title: `${answer.set.name}, split` }));
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      warn(error.message);
    }
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
    const again = () => {
      this.id = null;
      this.start();
    };
    this.progress.replaceChildren(
      el("h2", {}, this.title),
      el("p", { class: "notice", role: "alert" }, error.message),
      el(
        "div",
        { class: "actions" },
        this.files && button("Try again", again, { class: "button primary" }),
        button("Close", () => {
          this.forget();
          this.leave();
        }),
      ),
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
    cards.delete(this.id);
    this.element.remove();
    showWhetherEmpty();
  }

  forget() {
    if (this.id === null) return;
    remember(this.id, false);
    remove(`/api/v1/identify/${encodeURIComponent(this.id)}`).catch(() => {});
  }
}

const cards = new Map(); // by the id of their question
const AT_LEAST_MS = 5000; // a look now and then, should the stream of news be cut

/** Resolves when the version of a question is another one. */
const changed = (id, version) =>
  new Promise((resolve) => {
    const look = () => {
      if (questionVersions()[id] !== version) end();
    };
    const timer = setTimeout(() => end(), AT_LEAST_MS);
    const end = () => {
      clearTimeout(timer);
      unsubscribe();
      resolve();
    };
    const unsubscribe = subscribe("questions", look);
    look();
  });

const isThere = async () => {
  try {
    await get("/api/v1/history");
    return true;
  } catch (error) {
    return error.status !== 0;
  }
};

// The questions of this window, so that a reload opens them again.
const KEPT = "setwise-questions";
const remembered = () => {
  try {
    return JSON.parse(sessionStorage.getItem(KEPT) ?? "[]");
  } catch {
    return [];
  }
};
const remember = (id, isKept = true) => {
  const ids = remembered().filter((one) => one !== id);
  try {
    sessionStorage.setItem(KEPT, JSON.stringify(isKept ? [...ids, id] : ids));
  } catch {
    /* not allowed here: a reload then shows it among the earlier ones */
  }
};

const showCard = (question) => {
  if (question.id !== null) cards.set(question.id, question);
  parts.list.prepend(question.element);
  showWhetherEmpty();
};

/** Questions that the server keeps: those of this window and of the address open, others by name. */
const fetchQuestions = async () => {
  let known;
  try {
    known = await get("/api/v1/identify");
  } catch {
    return; // the strip at the top says so
  }
  const asked = location.hash.split("/")[1] ?? null;
  const open = new Set([...remembered(), asked]);
  for (const one of [...known].reverse())
    if (open.has(one.id) && !cards.has(one.id) && one.state !== "cancelled")
      showCard(new Question({ id: one.id, title: one.name }));
  if (asked && !known.some(({ id }) => id === asked)) {
    parts.refused.hidden = false;
    parts.refused.textContent = "This answer is no longer kept. Drop the photos again.";
  }
  const ownIds = new Set([...cards.values()].map(({ id }) => id));
  const others = known.filter((one) => !ownIds.has(one.id) && one.state !== "cancelled");
  parts.earlier.hidden = !others.length;
  parts.earlierList.replaceChildren(...others.map(earlierItem));
  if (asked) cards.get(asked)?.element.scrollIntoView();
};

const earlierItem = ({ id, name, n_images: n, asked, words }) =>
  el(
    "li",
    {},
    el("a", { href: `#identify/${id}` }, name),
    el("small", {}, ` · ${counted(n, "photo")} · ${time(asked)} · ${words.join("; ") || "not answered yet"}`),
  );

/** Several albums at a glance: who each is, to be accepted with one click. */
const contents = (answers, id) =>
  el(
    "ol",
    { class: "contents" },
    ...answers.map((answer, k) => {
      const label = answer.label ?? (answer.is_far ? answer.most_like : null);
      const isReady = label !== null && !answer.parts.length && current()?.can_change;
      const open = () => document.getElementById(`answer-${id}-${k}`).scrollIntoView({ behavior: "smooth" });
      const accept = async () => {
        yes.disabled = true;
        yes.textContent = (await enroll(id, k, answer, label)) ? `✓ ${label}` : `Add to ${label}`;
      };
      const yes = button(`Add to ${label}`, accept, { class: "button small" });
      return el(
        "li",
        {},
        el(
          "button",
          { type: "button", class: "glance", on: { click: open } },
          el("span", { class: "reel" }, ...answer.photos.slice(0, 4).map((one) => photo(one.url, "", { class: one.is_outlier ? "out" : null }))),
          el("b", {}, answer.set.name),
          el("span", {}, answer.words),
        ),
        isReady && yes,
      );
    }),
  );

const leftOutNote = (files) =>
  el(
    "details",
    { class: "left-out" },
    el("summary", {}, `${counted(files.length, "file")} could not be used`),
    el("ul", {}, ...files.map(({ name, reason }) => el("li", {}, el("code", {}, name), ` ${reason}`))),
  );

const showWhetherEmpty = () => parts.view.classList.toggle("has-questions", parts.list.childElementCount > 0);

/** Ask whose photos these files are. */
export const send = (files) => {
  parts.refused.hidden = files.length > 0;
  parts.refused.textContent = files.length ? "" : "There are no files in that.";
  if (!files.length) return;
  showCard(new Question({ files, title: nameOf(files) }));
};

/** Read the list of questions whenever the view is shown. */
export const show = () => fetchQuestions();

const fieldOf = (id, words, properties) => {
  const field = el("input", { type: "file", id, class: "unseen", multiple: true, ...properties });
  field.addEventListener("change", () => {
    send(chosenFiles(field));
    field.value = "";
  });
  return [field, el("label", { for: id, class: "button" }, words)];
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
    earlier: el("details", { class: "earlier", hidden: true }),
    earlierList: el("ul", {}),
  };
  const zone = el(
    "div",
    { class: "zone" },
    el("p", { class: "zone-words" }, "Drop a folder, photos, a clip or a zip here, or anywhere"),
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
    parts.earlier,
  );
  let before = "";
  subscribe("questions", (versions) => {
    const now = Object.entries(versions).map(([id, version]) => `${id} ${version.split(" ")[0]}`).join();
    if (now === before || byId("view-identify").hidden) return;
    before = now;
    fetchQuestions();
  });
  parts.earlier.append(el("summary", {}, "Earlier questions"), parts.earlierList);
  window.addEventListener("beforeunload", (event) => {
    // What is not sent yet would be lost.
    if ([...parts.list.children].some((card) => card.dataset.sending)) event.preventDefault();
  });
};
