// The line at the end of a turn: how long it took and what it cost, as far as that is known.

import { make } from "../lib/dom.js";
import { duration } from "../lib/format.js";
import { icon } from "../lib/icons.js";
import { relativeTime } from "../lib/relativeTime.js";
import { usageFacts } from "./notices.js";

/** Shorter turns do not say how long they took. */
const WORTH_SAYING = 1000;

/**
 * The end of a turn `{ started, usage }` at `time`; null for a turn whose beginning is not known. `fork` is called by its
 * button, or null. `watch(end)` is called each time that more of the turn is known, so that a link to its changes can be shown.
 */
export class TurnEnd {
  element = make("p", { class: "turn-end" });
  #time;
  #facts = make("span", { class: "turn-facts" });
  #usage = null;
  #watch;

  constructor(turn, time, { fork = null, watch = null } = {}) {
    this.#time = time;
    this.#watch = watch;
    const button = fork && make("button", { type: "button", class: "fork-button quiet-button", title: "Start a new session that continues from here" }, icon("branch"), make("span", { text: "Fork" }));
    button?.addEventListener("click", () => press(button, fork));
    this.element.append(this.#facts, ...(button ? [button] : []));
    this.show(turn);
  }

  /** What the agent reported of the turn. */
  get usage() {
    return this.#usage;
  }

  /** Puts the link to the changes of the turn first. */
  showChanges(link) {
    this.element.querySelector(".turn-changes")?.remove();
    this.element.prepend(link);
  }

  /** The turn became known. */
  show(turn) {
    this.#usage = turn?.usage ?? null;
    this.#watch?.(this);
    const facts = [];
    const took = turn?.started && this.#time ? this.#time - turn.started : 0;
    if (took >= WORTH_SAYING) facts.push(duration(took));
    facts.push(...usageFacts(turn?.usage));
    const words = facts.join(" · ");
    this.#facts.replaceChildren(...(words ? [make("span", { text: words })] : []), ...(words && this.#time ? [" · "] : []), this.#time ? relativeTime(this.#time) : words ? "" : "done");
  }
}

async function press(button, fork) {
  button.disabled = true;
  await fork();
  button.disabled = false;
}
