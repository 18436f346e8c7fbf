// What permissions and questions have in common: a card that waits, how it is answered, and the line that is left of it.

import { make } from "../lib/dom.js";
import { exactElement, exactNodes, exactString } from "../lib/exactText.js";
import { ago, exactTime } from "../lib/format.js";
import { icon } from "../lib/icons.js";
import { relativeTime } from "../lib/relativeTime.js";
import { addOpenCard, placeOf } from "./openCards.js";
import { renderedElement } from "./renderedContent.js";

/** Who decided, or what. */
export const BY = {
  page: "in the browser",
  api: "by a program",
  rule: "by a rule",
  mode: "by the permission mode",
  grant: "by your earlier answer",
  prompt: "because a new prompt was sent",
  timeout: "because nobody was watching",
  interrupt: "because the turn was interrupted",
  close: "because the session was closed",
  shutdown: "because the server was stopped",
  restart: "because the server was restarted",
  storage: "because the data folder is not writable",
  agent: "by the agent",
};

/** Nobody decided these: the request was lost. */
const LOST_BY = new Set(["restart", "shutdown", "storage"]);

/** A card that has just appeared or moved takes no answer for so long: the person was aiming at something else. */
const HELD_FOR = 400;
const MOST_KEYS = 9;
const AGE_TICK = 30_000;
/** Younger requests do not say their age. */
const WORTH_SAYING = 60_000;

/** Of a longer answer only the beginning is repeated. */
const MOST_WORDS = 60;

let requestsMade = 0;

export class RequestBlock {
  divElement;
  /** Waiting until the answer is in the log. */
  isOpen = true;
  request;
  titleId;
  problem = make("p", { class: "request-problem", role: "alert", hidden: true });
  #actions;
  #choices = [];
  /** Other buttons that give the agent something. */
  #guarded = [];
  #keyHint = make("p", { class: "request-keys" });
  #takesKeys = false;
  #held = null;
  /** Whether keys are ignored too while it is held: a pointer misses a card that moved, a key does not. */
  #holdsKeys = false;
  /** Where it was when it was last looked at; null if it was not shown. */
  #place = null;
  #age = null;
  /** The person's answer, in their words, once another one was first. */
  #late = null;
  /** Whether the last answer got no reply. */
  #isUnreachable = false;
  #settled = null;

  /** `actions` is `{ folder, answer(requestId, body) }`, or null where nothing can be answered. `asked` is when, if known. */
  constructor(request, actions, { kind, asked = null }) {
    this.request = request;
    this.#actions = actions;
    requestsMade += 1;
    this.titleId = `request-${requestsMade}`;
    this.#keyHint.id = `${this.titleId}-keys`;
    this.divElement = make("div", {
      class: `request-block ${kind} waiting`,
      role: "group",
      tabindex: "-1",
      "aria-labelledby": this.titleId,
      "aria-describedby": this.canAnswer ? this.#keyHint.id : null,
      data: { requestId: request.requestId },
    });
    if (this.canAnswer) addOpenCard(this);
    this.#listen();
    this.#showKeys();
    this.#showAge(asked);
    this.hold();
  }

  get canAnswer() {
    return this.#actions !== null;
  }

  get folder() {
    return this.#actions?.folder;
  }

  /** Since when it waits; filled in for requests that are old enough. */
  get ageElement() {
    return this.#age.element;
  }

  /** Which keys answer; placed below the choices. */
  get keyHint() {
    return this.#keyHint;
  }

  /**
   * Takes the focus because the person asked for it. Only now do digits answer: a focus that came by a click, by Tab or
   * with the next block may be followed by anything that is typed.
   */
  takeKeys() {
    this.divElement.focus();
    this.#takesKeys = true;
    this.#showKeys();
  }

  /** Whether it has just appeared or moved. */
  get isHeld() {
    return this.#held !== null;
  }

  /** Ignores answers for a moment, or only those of a pointer. */
  hold({ keysToo = true } = {}) {
    if (!this.isOpen) return;
    clearTimeout(this.#held);
    this.#holdsKeys ||= keysToo;
    this.#held = setTimeout(() => {
      this.#held = null;
      this.#holdsKeys = false;
      for (const button of this.#granting()) button.removeAttribute("aria-disabled");
    }, HELD_FOR);
    for (const button of this.#granting()) button.setAttribute("aria-disabled", "true");
  }

  /** Holds it if it is no longer where it was; `scrolled` is how far the page itself scrolled. */
  holdIfMoved(scrolled = 0) {
    const before = this.#place;
    this.#place = this.divElement.checkVisibility() ? placeOf(this.divElement) : null;
    if (before !== null && this.#place !== null && Math.abs(this.#place - before - scrolled) >= 1) this.hold({ keysToo: false });
  }

  /** Has a button that sends what was filled in held like a choice. Returns it. */
  guard(button) {
    if (this.isHeld) button.setAttribute("aria-disabled", "true");
    button.addEventListener("click", (event) => this.#refuses(event) && event.preventDefault());
    this.#guarded.push(button);
    return button;
  }

  /** Whether a press comes too early. A pointer may hit a card just after it has moved. */
  #refuses({ detail }) {
    if (detail === 0) return this.#holdsKeys;
    this.holdIfMoved();
    return this.isHeld;
  }

  /** A button for one choice. `grants` is false only for a choice by which the agent gets nothing. */
  choice(label, body, { className = "", grants = true } = {}) {
    const number = this.#choices.length + 1;
    const button = make("button", { type: "button", class: `request-choice ${className}`.trim(), "aria-disabled": grants && this.isHeld ? "true" : null });
    button.append(make("bdi", {}, ...exactNodes(label, { oneLine: true })), number <= MOST_KEYS ? make("kbd", { "aria-hidden": "true", text: String(number) }) : "");
    button.addEventListener("click", (event) => {
      if (!(grants && this.#refuses(event))) this.send(body(), label);
    });
    // Enter is pressed without looking, at the end of a line that was meant for another place.
    if (grants) button.addEventListener("keydown", (event) => this.#refuseEnter(event));
    this.#choices.push({ button, grants });
    this.#showKeys();
    return button;
  }

  /** Sends an answer; `words` is what the person chose or wrote. */
  async send(body, words) {
    this.#lock(true);
    this.say(null);
    try {
      await this.#actions.answer(this.request.requestId, body);
    } catch (problem) {
      if (problem.code === "AlreadyAnswered") this.#late = words;
      if (!this.isOpen) {
        this.#sayLate();
        return;
      }
      this.#lock(false);
      this.say(problem.message);
      this.#isUnreachable = Boolean(problem.isUnreachable);
    }
  }

  /** The server can be reached again: whether the answer arrived, its log says. */
  connected() {
    if (!this.#isUnreachable) return;
    this.#isUnreachable = false;
    this.say(null);
  }

  /** Shows a problem in the card, or hides it. */
  say(text) {
    this.problem.textContent = text ?? "";
    this.problem.hidden = !text;
  }

  /** Replaces the plain text with the rendered form, unless the request was answered. */
  async renderWith(load) {
    try {
      const html = await load();
      if (!this.isOpen) return;
      this.divElement.querySelector(".request-detail").replaceWith(renderedElement(html, "request-rendered"));
    } catch {
      // The plain text says the same.
    }
  }

  /** Whether the plain text is hard to read. */
  get wantsRendering() {
    return false;
  }

  /** Whether an answer means that the request was lost. */
  isLost({ decision, by }) {
    return decision === "agent-gone" || LOST_BY.has(by);
  }

  /** Shrinks to what was decided, in one line, and `said`, what the agent was told. `again` is the button that asks again, or null. */
  settle({ verdict, tone, about, by, time, again, said }) {
    this.isOpen = false;
    clearTimeout(this.#held);
    clearInterval(this.#age.timer);
    const hadFocus = this.divElement.contains(document.activeElement);
    this.divElement.className = this.divElement.className.replace("waiting", "answered");
    this.divElement.removeAttribute("aria-describedby");
    const line = make(
      "p",
      { class: "request-answer" },
      icon(tone === "yes" ? "check" : "close"),
      make("span", { class: `request-verdict verdict-${tone}`, id: this.titleId, text: verdict }),
      exactElement("bdi", { class: "request-about", title: exactString(about) }, about, { oneLine: true }),
      make("span", { class: "request-by", text: BY[by] ?? `by ${by}`, title: time ? exactTime(time) : null }),
      time && make("span", { class: "request-time" }, relativeTime(time)),
      again,
    );
    this.divElement.replaceChildren(line, said ? make("p", { class: "request-said" }, ...exactNodes(said)) : "");
    this.#settled = { verdict, by };
    this.#sayLate();
    if (hadFocus) this.divElement.focus({ preventScroll: true });
  }

  /** The line above shows an answer that is not the person's own: without a word they would take it for theirs. */
  #sayLate() {
    if (this.#late === null || !this.#settled) return;
    const { verdict, by } = this.#settled;
    const words = exactString(this.#late.trim().replace(/\s+/g, " "));
    const short = words.length > MOST_WORDS ? `${words.slice(0, MOST_WORDS)}…` : words;
    this.divElement.append(make("p", { class: "request-late", role: "alert", text: `Your answer (${short}) came too late: ${outcome(verdict, by)}.` }));
    this.#late = null;
  }

  #granting() {
    return [...this.#choices.filter(({ grants }) => grants).map(({ button }) => button), ...this.#guarded];
  }

  #listen() {
    const div = this.divElement;
    div.addEventListener("pointerdown", () => this.#leaveKeys());
    div.addEventListener("blur", () => this.#leaveKeys());
    div.addEventListener("keydown", (event) => this.#key(event));
  }

  /** Answers only when the card itself has the focus, on purpose, and each press once. */
  #key(event) {
    if (!this.#takesKeys || event.target !== this.divElement || ["Shift", "Control", "Alt", "Meta"].includes(event.key)) return;
    const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey;
    const choice = isPlain && /^[1-9]$/.test(event.key) && this.#choices[Number(event.key) - 1];
    if (choice) {
      event.preventDefault();
      if (!event.repeat && this.isOpen && !choice.button.disabled) choice.button.click();
    } else if (isPlain && event.key.length === 1) {
      // Somebody is writing: the next digit is part of it.
      this.#leaveKeys();
    }
  }

  #leaveKeys() {
    if (!this.#takesKeys) return;
    this.#takesKeys = false;
    this.#showKeys();
  }

  #showKeys() {
    const most = Math.min(this.#choices.length, MOST_KEYS);
    this.divElement.classList.toggle("takes-keys", this.#takesKeys);
    const keys = most > 2 ? `1 to ${most}` : most === 2 ? "1 or 2" : "1";
    this.#keyHint.textContent = this.#takesKeys ? `Press ${keys} to choose.` : "To answer from the keyboard, press Alt+A, then a number.";
    this.#keyHint.hidden = most === 0;
  }

  #refuseEnter(event) {
    if (event.key !== "Enter") return;
    event.preventDefault();
    this.say("Enter does not choose this. Press Space, or click.");
  }

  #showAge(asked) {
    const element = make("span", { class: "request-age", hidden: true });
    this.#age = { element, timer: null };
    if (!asked) return;
    const show = () => {
      element.hidden = Date.now() - asked < WORTH_SAYING;
      element.textContent = element.hidden ? "" : `asked ${ago(asked)}`;
    };
    element.title = exactTime(asked);
    show();
    this.#age.timer = setInterval(() => {
      if (this.divElement.isConnected) show();
      else clearInterval(this.#age.timer);
    }, AGE_TICK);
  }

  #lock(locked) {
    for (const control of this.divElement.querySelectorAll("button, input, select, textarea")) control.disabled = locked;
  }
}

/** How a request ended, as the rest of a sentence. */
function outcome(verdict, by) {
  const how = { "Always allowed": "answered with “Always allow”", "Not answered": "closed" }[verdict] ?? verdict.toLowerCase();
  return verdict === "The agent stopped" ? "the agent stopped first" : `it was already ${how} ${BY[by] ?? `by ${by}`}`;
}
