// What an agent began and then began again: out of the way, one line for all of a turn.

import { make } from "../lib/dom.js";
import { plural } from "../lib/format.js";

export class PartialOutputs {
  #element = null;
  #count = 0;
  /** The last one: it is the answer unless another begins. */
  #last = null;

  /** A message that the agent did not finish. */
  add(block) {
    this.#last = block;
  }

  /** Another message begins in the same turn. */
  fold() {
    const { divElement: div } = this.#last ?? {};
    this.#last = null;
    if (!div?.parentElement) return;
    this.#count += 1;
    if (!this.#element) {
      this.#element = make("details", { class: "partial-outputs" }, make("summary"));
      div.before(this.#element);
    }
    this.#element.append(div);
    this.#element.querySelector("summary").textContent = `${plural(this.#count, "partial answer")} before a retry`;
  }
}
