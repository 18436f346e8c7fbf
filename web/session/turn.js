// A turn on a page of a transcript: when it began, what it cost, what went wrong.

import { addUsage } from "./notices.js";
import { PartialOutputs } from "./partialOutputs.js";

/** What agents say of their own when a person has denied something. */
const AFTER_DENIAL = /^(info: )?operation cancelled by user\.?$/i;

export class Turn {
  /** When it began; null if that is on a page that is not loaded. */
  started;
  usage = null;
  /** Its last line, if its beginning is not known. */
  end = null;
  /** The line that says how it failed. */
  failure = null;
  /** Messages that were begun and begun again. */
  partials = new PartialOutputs();
  /** Whether a person denied something. */
  wasDenied = false;

  constructor(started) {
    this.started = started;
  }

  /** Whether a text only says that a person denied something, which is there already. */
  repeatsDenial(text) {
    return this.wasDenied && AFTER_DENIAL.test(text.trim());
  }

  /** Whether a notice says nothing that is not there already. */
  says(notice) {
    if (this.repeatsDenial(notice.message)) return true;
    return notice.kind === "interrupted" && (this.failure?.includes(notice) ?? false);
  }
}

/** A turn that begins on one page may end on a later one: its end then has the figures of all of it. */
export function joinTurns(pages) {
  let before = null;
  for (const { isLoaded, headTurn, turn, hasEnd } of pages) {
    const whole = before && headTurn ? { started: before.started, usage: addUsage(before.usage, headTurn.usage ?? {}) } : before;
    if (isLoaded && headTurn?.end && whole) headTurn.end.show(whole);
    if (!isLoaded) before = null;
    else before = turn ?? (hasEnd ? null : whole);
  }
}
