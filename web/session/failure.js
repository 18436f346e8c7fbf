// A turn that failed: one sentence, what to do about it, and the agent's own words for those who want them.

import { detailsOf } from "../lib/banners.js";
import { make } from "../lib/dom.js";
import { exactTime } from "../lib/format.js";
import { icon } from "../lib/icons.js";

/** Failures that another model may not have. */
const OF_THE_MODEL = new Set(["auth", "rate-limit", "quota", "model-unavailable", "context-too-long", "content-filter", "invalid-request", "tool-conflict", "network", "stream-broken", "timeout", "unknown"]);
/** Failures of the agent's program, which another model would not change. */
const ENDED = new Set(["process-gone", "crash"]);
const LONGEST_SENTENCE = 200;

export class FailureLine {
  element;
  #text;
  #error;

  /** `again` is the button that sends the prompt again, or null; `canChangeModel` whether there is a model to choose. */
  constructor(data, time, { again = null, canChangeModel = false }) {
    this.#error = data;
    const { sentence, details } = wordsOf(data);
    this.#text = make("span", { class: "session-error-text" }, make("b", { text: "Failed" }), " ", sentence);
    const change = canChangeModel && OF_THE_MODEL.has(data.errorClass ?? "unknown") ? changeModelButton() : null;
    const actions = make("span", { class: "session-error-actions" }, again, change);
    this.element = make(
      "div",
      { class: "session-error", role: "group", "aria-label": "Error", title: time ? exactTime(time) : null },
      icon("close"),
      make("div", { class: "session-line-body" }, this.#text, " ", actions, detailsOf(details)),
    );
  }

  /** Whether a notice that the turn was interrupted says nothing else. What it adds is shown here. */
  includes({ message }) {
    const reason = message.replace(/^The turn was interrupted: /, "");
    const own = this.#error.sessionError.replace(/\.$/, "");
    if (reason === message || !reason.startsWith(own)) return false;
    const more = reason.slice(own.length).replace(/^[.\s]+/, "");
    if (more) this.#text.append(`${/[.!?]$/.test(this.#text.textContent) ? "" : "."} ${more}`);
    return true;
  }
}

/** The first sentence, and everything that was said if there is more. */
function wordsOf({ sessionError, raw, errorClass }) {
  // Of a program that ended, the server has how it ended and what it wrote last, in one text.
  const [, ended, written] = (ENDED.has(errorClass) && /^(.+?)[;:] stderr: ([\s\S]+)$/.exec(sessionError)) || [];
  if (written) return { sentence: `${ended}.`, details: [written, raw].filter(Boolean).join("\n\n") };
  // The server puts the first line of the agent's words into brackets.
  const [, before, quoted] = /^([^(]+?) \(([\s\S]+)\)\.?$/.exec(sessionError) ?? [];
  const isQuoted = quoted && raw?.includes(quoted.replace(/…$/, "").slice(0, 60));
  const sentence = isQuoted ? `${before}.` : firstSentence(sessionError);
  const all = [sentence === sessionError || isQuoted ? null : sessionError, raw].filter((text) => text && text !== sentence);
  return { sentence, details: [...new Set(all)].join("\n\n") || null };
}

function firstSentence(text) {
  const line = text.trim().split("\n", 1)[0];
  if (line.length <= LONGEST_SENTENCE) return line;
  const end = /[.!?](?=\s)/.exec(line);
  return end && end.index < LONGEST_SENTENCE ? line.slice(0, end.index + 1) : `${line.slice(0, LONGEST_SENTENCE)}…`;
}

function changeModelButton() {
  const button = make("button", { type: "button", class: "change-model", text: "Change model" });
  button.addEventListener("click", () => {
    // Whoever has the switch opens it; otherwise it is in the session's details.
    const isOpened = !document.dispatchEvent(new CustomEvent("flightdeck:change-model", { cancelable: true }));
    if (!isOpened) document.querySelector("#details-button[aria-expanded=false]")?.click();
  });
  return button;
}
