// A small box that scrolls: its end stays in view while text arrives, until the reader scrolls up.

const NEAR_END = 8;

export class BoxEnd {
  #box;
  #following = true;
  #frame = null;
  /** Where the box was, and how high its content, when this last looked. */
  #lastTop = 0;
  #lastHeight = 0;

  constructor(box) {
    this.#box = box;
    box.addEventListener("scroll", () => this.#scrolled(), { passive: true });
  }

  /** Something was added. Goes to the end with the next frame, behind what else was planned for it: that may format the text. */
  added() {
    if (!this.#following) return;
    cancelAnimationFrame(this.#frame);
    this.#frame = requestAnimationFrame(() => {
      if (!this.#following) return;
      this.#box.scrollTop = this.#box.scrollHeight;
      this.#look();
    });
  }

  /**
   * The event for the page's own scrolling comes a frame later, when there may be more text below: that the end is out of view says
   * nothing. Only the reader moves up, unless there is less text than before.
   */
  #scrolled() {
    const { scrollTop, scrollHeight, clientHeight } = this.#box;
    const lowest = scrollHeight - clientHeight;
    const isReader = scrollHeight >= this.#lastHeight && scrollTop < Math.min(this.#lastTop, lowest) - 1;
    if (isReader) this.#following = false;
    else if (lowest - scrollTop < NEAR_END) this.#following = true;
    this.#look();
  }

  #look() {
    this.#lastTop = this.#box.scrollTop;
    this.#lastHeight = this.#box.scrollHeight;
  }
}
