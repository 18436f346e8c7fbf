// Lines between the blocks: notices, and the figures of a turn.

import { detailsOf } from "../lib/banners.js";
import { make } from "../lib/dom.js";
import { exactElement } from "../lib/exactText.js";
import { icon } from "../lib/icons.js";
import { count, exactTime, plural } from "../lib/format.js";

const NEED_ATTENTION = new Set(["warning", "retrying", "interrupted", "dropped", "unattended", "limit", "budget", "incomplete", "fresh-session", "login-needed", "hung", "agent-gone", "request-kept", "queue-held"]);

/** A notice; `button` is what can be done about it, or null. */
export function noticeLine({ kind, message, detail }, time, button = null) {
  const tone = NEED_ATTENTION.has(kind) ? "warning" : "info";
  return make(
    "div",
    { class: `session-notice notice-${tone}`, data: { kind }, title: time ? exactTime(time) : null },
    icon("info"),
    make("div", { class: "session-line-body" }, exactElement("span", { class: "session-notice-text" }, message), " ", button, detailsOf(detail)),
  );
}

/** Attempts to reach the model, in one line that says the last and counts them. */
export class RetryLine {
  element = make("div");
  #count = 0;

  add({ message, detail }, time) {
    this.#count += 1;
    // The agent's own retries are counted by the server.
    const counted = this.#count > 1 && !/Retried \d+ times\.$/.test(message) ? ` (${plural(this.#count, "retry", "retries")})` : "";
    const line = noticeLine({ kind: "retrying", message: `${message}${counted}`, detail }, time);
    this.element.replaceWith(line);
    this.element = line;
  }
}

/** Figures of a turn or a session, only those that are known. */
export function usageFacts(usage) {
  if (!usage) return [];
  const facts = [];
  if (usage.inputTokens) facts.push(`${count(usage.inputTokens)} tokens in`);
  if (usage.outputTokens) facts.push(`${count(usage.outputTokens)} out`);
  if (usage.numTurns) facts.push(plural(usage.numTurns, "model call"));
  if (usage.premiumRequests) facts.push(plural(usage.premiumRequests, "premium request"));
  if (usage.credits) facts.push(`${Math.round(usage.credits * 1000) / 1000} credits`);
  if (usage.costUsd) facts.push(`$${usage.costUsd.toFixed(usage.costUsd < 1 ? 3 : 2)}`);
  return facts;
}

/** Adds up reports; figures that no report has stay unknown. */
export function addUsage(total, report) {
  const sum = { ...total };
  for (const [name, value] of Object.entries(report)) {
    if (typeof value === "number") sum[name] = (sum[name] ?? 0) + value;
  }
  return sum;
}
