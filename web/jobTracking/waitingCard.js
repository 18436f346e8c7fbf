// One thing that a job waits for: what is asked, what it is about, and the two answers.

import { make } from "../lib/dom.js";
import { exactElement, exactNodes } from "../lib/exactText.js";
import { plural } from "../lib/format.js";
import { RequestBlock } from "../session/requestBlock.js";
import { decisionParts } from "../session/taskDecision.js";

const KINDS = {
  gate: { word: "Gate", yes: "Approve", no: "Reject", note: "Note for the steps that follow (optional)" },
  interrupted: { word: "Interrupted", yes: "Continue", no: "Fail", note: "Note (optional)" },
};
const STATUS = { modified: "M", added: "A", deleted: "D", renamed: "R", untracked: "U" };
const MOST_FILES = 200;

export class WaitingCard extends RequestBlock {
  #note;

  /** `waiting` is what the job says; `before` is the card that showed an earlier state of the same. */
  constructor(waiting, actions, { before = null } = {}) {
    super({ ...waiting, requestId: waiting.waitingId }, actions, { kind: "gate-request", asked: waiting.since ? new Date(waiting.since) : null });
    const words = KINDS[waiting.kind] ?? KINDS.gate;
    this.#note = make("textarea", { class: "gate-note-input", rows: "2", placeholder: words.note, "aria-label": words.note });
    this.#note.value = before?.note ?? "";
    this.divElement.append(
      make("p", { class: "request-title", id: this.titleId }, make("span", { class: "request-kind", text: words.word }), " ", make("bdi", {}, ...exactNodes(waiting.title, { oneLine: true }))),
      before ? make("p", { class: "gate-changed", role: "alert", text: "This has changed since it was shown. Review it before you answer." }) : "",
      waiting.kind === "interrupted" ? make("p", { class: "gate-lead", text: "The server was restarted while the agent was working on this step. If you continue, the agent checks what is already done, but side effects may happen twice." }) : "",
      waiting.prompt ? exactElement("div", { class: "gate-prompt request-detail", tabindex: "0" }, waiting.prompt) : "",
      ...shownBefore(waiting.shown ?? {}),
      make("p", { class: "request-facts" }, this.ageElement),
    );
    const answer = (action) => () => ({ action, json: { note: this.#note.value.trim() || undefined } });
    const yes = this.choice(words.yes, answer("approve"));
    const no = this.choice(words.no, answer("reject"), { grants: false });
    this.divElement.append(make("div", { class: "request-choices" }, yes, no, this.#note), this.keyHint, this.problem);
  }

  get wantsRendering() {
    return Boolean(this.request.prompt);
  }

  /** What the person has written so far. */
  get note() {
    return this.#note.value;
  }

  /** The answer did not change anything: the card can be used again. */
  unlock() {
    for (const control of this.divElement.querySelectorAll("button, textarea")) control.disabled = false;
  }

  remove() {
    this.isOpen = false;
    this.divElement.remove();
  }
}

/** What the works before have produced. */
function shownBefore({ works = [], changes, note }) {
  const parts = [];
  if (note) parts.push(make("p", { class: "gate-lead" }, "Last note: ", exactElement("span", {}, note)));
  if (works.length > 0) parts.push(make("ul", { class: "gate-works", "aria-label": "Previous steps" }, ...works.map(workLine)));
  if (changes) parts.push(...changedFiles(changes));
  return parts;
}

function workLine({ taskName, succeeded, lastDecision }) {
  const { kind, text } = decisionParts(lastDecision ?? "");
  // That a task succeeded is said already.
  const decision = kind === "TASK SUCCEEDED" ? "" : text;
  return make(
    "li",
    { class: decision ? "gate-work-decided" : "" },
    make("b", { class: succeeded ? "verdict-yes" : "verdict-no", text: succeeded ? "Succeeded" : "Failed" }),
    " ",
    exactElement("bdi", { class: "gate-work" }, taskName, { oneLine: true }),
    decision ? make("span", { class: "gate-decision" }, " ", exactElement("span", {}, decision, { oneLine: true })) : null,
  );
}

function changedFiles({ files = [], truncated }) {
  if (files.length === 0) return [make("p", { class: "gate-lead", text: "No files have changed." })];
  const shown = files.slice(0, MOST_FILES);
  const left = files.length - shown.length;
  const rest = left > 0 ? `${plural(left, "more file")}${truncated ? " and others" : ""}` : truncated ? "and more files" : null;
  const added = files.reduce((sum, file) => sum + (file.added ?? 0), 0);
  const removed = files.reduce((sum, file) => sum + (file.removed ?? 0), 0);
  const summary = make("summary", {}, `${plural(files.length, "changed file")}${truncated ? " or more" : ""} `, make("span", { class: "changes-added", text: `+${added}` }), " ", make("span", { class: "changes-removed", text: `−${removed}` }));
  const list = make("ul", { class: "gate-files" }, ...shown.map(fileLine), rest ? make("li", { class: "work-quiet", text: rest }) : null);
  return [make("details", { class: "gate-changes", open: shown.length <= 12 }, summary, list)];
}

function fileLine({ path, kind, added, removed }) {
  return make(
    "li",
    { class: "gate-file" },
    make("span", { class: `changes-status status-${STATUS[kind] ? kind : "other"}`, title: kind, "aria-label": kind, role: "img", text: STATUS[kind] ?? "?" }),
    exactElement("code", { class: "gate-path" }, path, { oneLine: true }),
    make("span", { class: "changes-added", text: added ? `+${added}` : "" }),
    make("span", { class: "changes-removed", text: removed ? `−${removed}` : "" }),
  );
}
