// What was decided about a task, as a quiet block of a transcript.

import { MessageBlock } from "../messageBlock.js";

/** Verdicts stand out a little. */
const TONES = { "TASK SUCCEEDED": "done", "TASK FAILED": "failed", "SESSION CRASHED": "failed" };

/** `{ kind, text }` of a decision: its reason begins with its kind in brackets. */
export function decisionParts(reason) {
  const [, kind = "", text = reason] = /^\[([A-Z ]+)\]\s*([\s\S]*)$/.exec(reason) ?? [];
  return { kind, text };
}

/** A block for a decision `{ time, reason }`. */
export function decisionBlock({ time, reason }) {
  const { kind, text } = decisionParts(reason);
  const block = new MessageBlock("User");
  block.title = "TaskDecision";
  block.replaceData(reason);
  block.complete();
  block.divElement.classList.add("task-decision");
  block.divElement.dataset.decision = kind;
  block.setOutcome(kind.toLowerCase(), TONES[kind] ?? "");
  // Most are one line, which then stands in the header.
  if (!text.includes("\n")) {
    block.setSummary(text);
    block.toggle();
  }
  if (time) block.setMoment(time);
  return block;
}
