// Permission requests and questions of the agent, and their answers.

import { make } from "../lib/dom.js";
import { exactElement, exactNodes, exactString, sizeOf } from "../lib/exactText.js";
import { plural } from "../lib/format.js";
import { diffSummary } from "./diffSummary.js";
import { RequestBlock } from "./requestBlock.js";

const DECISIONS = {
  "allow-once": { label: "Allow once", done: "Allowed once" },
  "allow-always": { label: "Always allow", done: "Always allowed" },
  deny: { label: "Deny", done: "Denied" },
};

/** A longer title scrolls, so that the command and the buttons stay in view. */
const LONG_TITLE = 300;
const MOST_BLANK_LINES = 4;

export class PermissionBlock extends RequestBlock {
  constructor(request, actions, asked) {
    super(request, actions, { kind: "permission-request", asked });
    this.divElement.append(titleOf(this, "Permission", request.title, "request-headline"), detailOf(request));
    const size = sizeOf(request.detail);
    this.divElement.append(
      make(
        "p",
        { class: "request-facts" },
        size ? make("b", { class: "request-size", text: `${size} in total` }) : null,
        this.folder ? make("span", { class: "request-place" }, exactElement("bdi", {}, request.kind, { oneLine: true }), " in ", exactElement("code", {}, this.folder, { oneLine: true })) : null,
        this.ageElement,
      ),
    );
    if (this.canAnswer) this.#addChoices();
  }

  #addChoices() {
    const { options, kind } = this.request;
    const feedback = make("input", {
      type: "text",
      class: "request-feedback",
      placeholder: "What to do instead (optional)",
      "aria-label": "What the agent should do instead if you deny",
      autocomplete: "off",
    });
    const covers = options.includes("allow-always") ? coversSelect(this.request) : null;
    const place = covers && this.folder ? placeSelect(this.folder) : null;
    const decide = (decision) => {
      const covered = decision === "allow-always" && covers ? { ...coveredBy(covers, this.request), ...(place?.value === "folder" ? { scope: "folder" } : {}) } : {};
      return { path: "permission", json: { decision, ...covered, feedback: (decision === "deny" && feedback.value.trim()) || undefined } };
    };
    // What belongs to a decision stays beside it.
    const besides = { "allow-always": [covers, place].filter(Boolean), deny: [feedback] };
    const groups = options
      .filter((option) => option in DECISIONS)
      .map((option) => {
        const label = option === "allow-always" && !covers ? `Always allow ${kind}` : DECISIONS[option].label;
        const button = this.choice(label, () => decide(option), { className: `decision-${option}`, grants: option !== "deny" });
        const beside = besides[option] ?? [];
        return beside.length > 0 ? make("div", { class: `request-decision request-decision-${option}` }, button, ...beside) : button;
      });
    feedback.addEventListener("keydown", (event) => {
      // Enter may only end the composition of a word.
      if (event.key !== "Enter" || event.isComposing) return;
      event.preventDefault();
      this.send(decide("deny"), DECISIONS.deny.label);
    });
    const rest = options.includes("deny") ? [] : [feedback];
    this.divElement.append(make("div", { class: "request-choices" }, ...groups, ...rest), this.keyHint, this.problem);
  }

  answered({ decision, by, feedback }, time, again) {
    const known = DECISIONS[decision];
    const verdict = known?.done ?? (decision === "agent-gone" ? "The agent stopped" : "Cancelled");
    const tone = decision.startsWith("allow") ? "yes" : "no";
    const { title, detail } = this.request;
    const about = isDiff(this.request) ? (diffSummary(detail, this.folder) ?? title) : detail.trim().split("\n", 1)[0];
    this.settle({ verdict, tone, about, by, time, again, said: feedback });
  }
}

/** What "Always allow" covers, the least first. Servers of earlier versions do not say, and cover the tool. */
function coversSelect({ covers = [], kind, prefix }) {
  if (covers.length < 2) return null;
  const texts = {
    call: kind === "shell" ? "exactly this command" : "exactly this",
    prefix: `commands that begin with ${exactString(prefix ?? "")}`,
    tool: `every ${exactString(kind)}`,
  };
  const choices = covers.filter((scope) => scope in texts).map((scope) => make("option", { value: scope, text: texts[scope] }));
  const select = make("select", { class: "request-scope", "aria-label": "What to always allow" }, ...choices);
  // A box cuts off a long name.
  const name = () => {
    select.title = select.selectedOptions[0].text;
  };
  select.addEventListener("change", name);
  name();
  return select;
}

/** Where "Always allow" holds, the least first. */
function placeSelect(folder) {
  const choices = [
    make("option", { value: "session", text: "in this session" }),
    make("option", { value: "folder", text: "in every session in this folder" }),
  ];
  return make("select", { class: "request-scope request-scope-place", "aria-label": "Where to always allow it", title: exactString(folder) }, ...choices);
}

function coveredBy(select, { prefix }) {
  return select.value === "prefix" ? { covers: "prefix", prefix } : { covers: select.value };
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

  constructor(request, actions, asked) {
    super(request, actions, { kind: "question-request", asked });
    this.divElement.append(titleOf(this, "Question", request.question, "request-question"));
    if (request.detail) this.divElement.append(exactElement("div", { class: "request-detail request-prose", tabindex: "0" }, request.detail));
    const isAddress = request.url && /^https?:\/\//i.test(request.url);
    const link = isAddress ? exactElement("a", { href: request.url, target: "_blank", rel: "noopener noreferrer nofollow" }, request.url, { oneLine: true }) : null;
    this.divElement.append(make("p", { class: "request-facts" }, link, this.ageElement));
    if (!this.canAnswer) return;
    if (request.form) this.#addForm(request.form);
    else this.#addAnswers(request.choices ?? []);
    this.divElement.append(this.keyHint, this.problem);
  }

  #addAnswers(choices) {
    const answer = (text) => ({ path: "answer", json: { answer: text } });
    const buttons = choices.map((text) => this.choice(text, () => answer(text)));
    const input = make("input", {
      type: "text",
      class: "request-feedback",
      placeholder: choices.length > 0 ? "Or type your own answer" : "Your answer",
      "aria-label": "Your own answer",
      autocomplete: "off",
    });
    const send = make("button", { type: "submit", text: "Answer" });
    const form = make("form", { class: "request-free" }, input, send, this.#declineButton());
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (input.value.trim()) this.send(answer(input.value), input.value);
      else input.focus();
    });
    this.divElement.append(buttons.length > 0 ? make("div", { class: "request-choices" }, ...buttons) : "", form);
  }

  #addForm(schema) {
    const buttons = make("div", { class: "request-choices" }, this.guard(make("button", { type: "submit", text: "Answer" })), this.#declineButton());
    const form = make("form", { class: "request-form", novalidate: true }, buttons);
    this.divElement.append(form);
    let fields = null;
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      // Nothing is answered before the person has seen what is asked for.
      const content = fields?.read();
      if (content) this.send({ path: "answer", json: { content } }, "Answer");
    });
    // Few questions have a form, so what they need is loaded with the first.
    import("./questionForm.js").then(({ QuestionForm }) => {
      fields = new QuestionForm(schema, this.titleId);
      form.prepend(...fields.elements);
      this.hold();
    });
  }

  #declineButton() {
    return make("button", { type: "button", class: "quiet-button", text: "Decline", on: { click: () => this.send({ path: "answer", json: { decline: true } }, "Decline") } });
  }

  answered({ answer, by }, time, again) {
    const said = answer === null || answer === undefined ? null : typeof answer === "string" ? answer : JSON.stringify(answer);
    const verdict = said === null ? "Not answered" : "Answered";
    const about = said === null ? this.request.question : `${this.request.question} — ${said}`;
    this.settle({ verdict, tone: said === null ? "no" : "yes", about, by, time, again });
  }
}

function titleOf({ titleId }, kind, text, className) {
  const isLong = text.length > LONG_TITLE;
  return make(
    "p",
    { class: `request-title${isLong ? " long" : ""}`, id: titleId, tabindex: isLong ? "0" : null },
    make("span", { class: "request-kind", text: kind }),
    " ",
    make("bdi", { class: className }, ...exactNodes(text, { oneLine: kind === "Permission" })),
  );
}

/** What would be done, every character of it. */
function detailOf(request) {
  if (!isDiff(request)) return exactElement("pre", { class: "request-detail", tabindex: "0" }, request.detail);
  return make("pre", { class: "request-detail diff-plain", tabindex: "0" }, ...diffLines(request.detail));
}

/** Only a file edit is laid out as a diff: a command may merely look like one. */
function isDiff({ kind, detail }) {
  return kind !== "shell" && /^(diff --git |--- |@@ )/m.test(detail) && /^@@ /m.test(detail);
}

function diffLines(text) {
  const lines = text.replace(/\n$/, "").split("\n");
  const shown = [];
  for (let at = 0; at < lines.length; ) {
    const blank = blanksFrom(lines, at);
    shown.push(blank > MOST_BLANK_LINES ? blankLines(lines[at], blank) : diffLine(lines[at]));
    at += blank > MOST_BLANK_LINES ? blank : 1;
  }
  return shown;
}

/** How many lines from there on say the same and have no text. */
function blanksFrom(lines, at) {
  if (!/^[-+ ]?$/.test(lines[at])) return 0;
  let end = at;
  while (lines[end] === lines[at]) end += 1;
  return end - at;
}

function blankLines(line, count) {
  return make("span", { class: `exact-text diff-line ${classOf(line)}` }, line, make("mark", { class: "exact-mark", text: plural(count, "blank line") }), "\n");
}

function diffLine(line) {
  const sign = /^[-+ ]/.exec(line)?.[0] ?? "";
  return make("span", { class: `exact-text diff-line ${classOf(line)}` }, sign, ...exactNodes(line.slice(sign.length)), "\n");
}

function classOf(line) {
  if (/^(\+\+\+|---|diff --git|index )/.test(line)) return "diff-file";
  if (line.startsWith("@@")) return "diff-hunk";
  if (line.startsWith("+")) return "diff-added";
  if (line.startsWith("-")) return "diff-removed";
  return "diff-context";
}
