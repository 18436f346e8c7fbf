// Permission requests and questions of the agent, and their answers.

import { make } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { clockTime, exactTime } from "../lib/format.js";
import { onRenderedClick, parseRendered } from "./renderedContent.js";

const DECISIONS = {
  "allow-once": { label: "Allow once", done: "Allowed once" },
  "allow-always": { label: "Always allow", done: "Allowed for the rest of the session" },
  deny: { label: "Deny", done: "Denied" },
};

const BY = {
  page: "here",
  api: "by a program",
  rule: "by a rule",
  mode: "by the permission mode",
  timeout: "because nobody was watching",
  interrupt: "because the turn was interrupted",
  close: "because the session was closed",
  shutdown: "because the server was stopped",
  restart: "because the server was restarted",
  storage: "because the data folder cannot be written",
  agent: "by the agent",
};

let requestsMade = 0;

/** The key that presses a choice, wherever the focus is. */
function keyOf(number) {
  return number <= 9 ? `Alt+${number}` : null;
}

class RequestBlock {
  divElement;
  /** Waiting until the answer is in the log. */
  isOpen = true;
  request;
  titleId;
  #problem;
  #choices = [];
  #actions;

  /** `actions` is `{ folder, answer(body), sendAgain() }`, or null where nothing can be answered. */
  constructor(request, actions, kind) {
    this.request = request;
    this.#actions = actions;
    requestsMade += 1;
    this.titleId = `request-${requestsMade}`;
    this.#problem = make("p", { class: "request-problem", role: "alert", hidden: true });
    this.divElement = make("div", {
      class: `request-block ${kind} waiting`,
      role: "group",
      tabindex: "-1",
      "aria-labelledby": this.titleId,
      data: { requestId: request.requestId },
    });
    this.divElement.requestBlock = this;
  }

  get canAnswer() {
    return this.#actions !== null;
  }

  get actions() {
    return this.#actions;
  }

  get problem() {
    return this.#problem;
  }

  /** Replaces the plain text with the rendered form, unless the request was answered. */
  async renderWith(load) {
    try {
      const html = await load();
      if (!this.isOpen) return;
      const place = this.divElement.querySelector(".request-detail");
      const rendered = make("div", { class: "request-rendered rendered-content", tabindex: "0" }, parseRendered(html));
      rendered.addEventListener("click", (event) => onRenderedClick(event, () => {}));
      place.replaceWith(rendered);
    } catch {
      // The plain text says the same.
    }
  }

  /** Whether the plain text is hard to read. */
  get wantsRendering() {
    return false;
  }

  /** A button for one choice, with its key. */
  choice(label, body, className = "") {
    const number = this.#choices.length + 1;
    const key = keyOf(number);
    const button = make(
      "button",
      { type: "button", class: `request-choice ${className}`, "aria-keyshortcuts": key, on: { click: () => this.send(body()) } },
      label,
      key && make("kbd", { text: key }),
    );
    this.#choices.push(button);
    return button;
  }

  /** Presses the choice with that number. Returns whether there is one. */
  press(number) {
    const button = this.#choices[number - 1];
    if (!this.isOpen || !button || button.disabled) return false;
    button.click();
    return true;
  }

  async send(body) {
    this.#lock(true);
    this.#problem.hidden = true;
    try {
      await this.#actions.answer(this.request.requestId, body);
    } catch (problem) {
      if (!this.isOpen) return;
      this.#lock(false);
      this.#problem.textContent = problem.message;
      this.#problem.hidden = false;
    }
  }

  #lock(locked) {
    for (const control of this.divElement.querySelectorAll("button, input, select, textarea")) control.disabled = locked;
  }

  /** Shrinks to one line that says what was decided. */
  settle({ verdict, tone, about, by, time, again }) {
    this.isOpen = false;
    const hadFocus = this.divElement.contains(document.activeElement);
    this.divElement.className = this.divElement.className.replace("waiting", "answered");
    const line = make(
      "p",
      { class: "request-answer" },
      icon(tone === "yes" ? "check" : "close"),
      make("span", { class: `request-verdict verdict-${tone}`, id: this.titleId, text: verdict }),
      make("span", { class: "request-about", text: about, title: about }),
      make("span", { class: "request-by", text: BY[by] ?? `by ${by}`, title: time ? exactTime(time) : null }),
      time && make("span", { class: "request-time", text: clockTime(time), title: exactTime(time) }),
    );
    this.divElement.replaceChildren(line);
    if (again && this.#actions?.sendAgain) {
      line.append(make("button", { type: "button", class: "quiet-button", text: "Send the prompt again", on: { click: () => this.#actions.sendAgain() } }));
    }
    if (hadFocus) this.divElement.focus({ preventScroll: true });
  }
}

export class PermissionBlock extends RequestBlock {
  get wantsRendering() {
    return looksLikeDiff(this.request.detail);
  }

  constructor(request, actions) {
    super(request, actions, "permission-request");
    const detail = looksLikeDiff(request.detail) ? diffOf(request.detail) : make("pre", { class: "request-detail", tabindex: "0", text: request.detail });
    this.divElement.append(
      make("p", { class: "request-title", id: this.titleId }, make("span", { class: "request-kind", text: "Permission" }), " ", request.title),
      detail,
    );
    if (actions?.folder) {
      this.divElement.append(make("p", { class: "request-place" }, `${request.kind} in `, make("code", { text: actions.folder })));
    }
    if (!this.canAnswer) return;
    const feedback = make("input", {
      type: "text",
      class: "request-feedback",
      placeholder: "If you deny: what should the agent do instead? (optional)",
      "aria-label": "What the agent should do instead if you deny",
      autocomplete: "off",
    });
    const buttons = request.options
      .filter((option) => option in DECISIONS)
      .map((option) =>
        this.choice(
          option === "allow-always" ? `Always allow ${request.kind}` : DECISIONS[option].label,
          () => ({ path: "permission", json: { decision: option, feedback: (option === "deny" && feedback.value.trim()) || undefined } }),
          `decision-${option}`,
        ),
      );
    feedback.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      this.send({ path: "permission", json: { decision: "deny", feedback: feedback.value.trim() || undefined } });
    });
    this.divElement.append(make("div", { class: "request-choices" }, ...buttons, feedback), this.problem);
  }

  answered({ decision, by }, time) {
    const known = DECISIONS[decision];
    const verdict = known?.done ?? (decision === "agent-gone" ? "The agent stopped" : "Cancelled");
    const tone = decision.startsWith("allow") ? "yes" : "no";
    const about = this.request.detail.trim().split("\n", 1)[0];
    this.settle({ verdict, tone, about, by, time, again: decision === "agent-gone" });
  }
}

export class QuestionBlock extends RequestBlock {
  get wantsRendering() {
    return Boolean(this.request.detail);
  }

  async renderWith(load) {
    await super.renderWith(load);
    // The question is part of what was rendered.
    if (this.divElement.querySelector(".request-rendered")) this.divElement.querySelector(".request-question")?.classList.add("visually-hidden");
  }

  constructor(request, actions) {
    super(request, actions, "question-request");
    this.divElement.append(
      make("p", { class: "request-title", id: this.titleId }, make("span", { class: "request-kind", text: "Question" }), " ", make("span", { class: "request-question", text: request.question })),
    );
    if (request.detail) this.divElement.append(make("div", { class: "request-detail request-prose", tabindex: "0", text: request.detail }));
    if (request.url && /^https?:\/\//i.test(request.url)) {
      this.divElement.append(
        make("p", { class: "request-place" }, make("a", { href: request.url, target: "_blank", rel: "noopener noreferrer nofollow", text: request.url })),
      );
    }
    if (!this.canAnswer) return;
    if (request.form) this.#addForm(request.form);
    else this.#addAnswers(request.choices ?? []);
    this.divElement.append(this.problem);
  }

  #addAnswers(choices) {
    const answer = (text) => ({ path: "answer", json: { answer: text } });
    const buttons = choices.map((text) => this.choice(text, () => answer(text)));
    const input = make("input", {
      type: "text",
      class: "request-feedback",
      placeholder: choices.length > 0 ? "Or your own answer" : "Your answer",
      "aria-label": "Your own answer",
      autocomplete: "off",
    });
    const send = make("button", { type: "submit", text: "Answer" });
    const form = make("form", { class: "request-free" }, input, send, this.#declineButton());
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (input.value.trim()) this.send(answer(input.value));
      else input.focus();
    });
    this.divElement.append(buttons.length > 0 ? make("div", { class: "request-choices" }, ...buttons) : "", form);
  }

  #addForm(schema) {
    const buttons = make("div", { class: "request-choices" }, make("button", { type: "submit", text: "Answer" }), this.#declineButton());
    const form = make("form", { class: "request-form", novalidate: true }, buttons);
    this.divElement.append(form);
    // Few questions have a form, so what they need is loaded with the first.
    import("./questionForm.js").then(({ QuestionForm }) => {
      const fields = new QuestionForm(schema, this.titleId);
      form.prepend(...fields.elements);
      form.addEventListener("submit", (event) => {
        event.preventDefault();
        const content = fields.read();
        if (content) this.send({ path: "answer", json: { content } });
      });
    });
  }

  #declineButton() {
    return make("button", { type: "button", class: "quiet-button", text: "Decline", on: { click: () => this.send({ path: "answer", json: { decline: true } }) } });
  }

  answered({ answer, by }, time) {
    const said = answer === null || answer === undefined ? null : typeof answer === "string" ? answer : JSON.stringify(answer);
    const verdict = said === null ? "Not answered" : "Answered";
    const about = said === null ? this.request.question : `${this.request.question} — ${said}`;
    this.settle({ verdict, tone: said === null ? "no" : "yes", about, by, time, again: by === "restart" });
  }
}

function looksLikeDiff(text) {
  return /^(diff --git |--- |@@ )/m.test(text) && /^@@ /m.test(text);
}

/** A diff before any file is touched, with a class for each line. */
function diffOf(text) {
  const lines = text.replace(/\n$/, "").split("\n");
  return make("pre", { class: "request-detail diff-plain", tabindex: "0" }, ...lines.map((line) => make("span", { class: `diff-line ${classOf(line)}`, text: `${line}\n` })));
}

function classOf(line) {
  if (/^(\+\+\+|---|diff --git|index )/.test(line)) return "diff-file";
  if (line.startsWith("@@")) return "diff-hunk";
  if (line.startsWith("+")) return "diff-added";
  if (line.startsWith("-")) return "diff-removed";
  return "diff-context";
}
