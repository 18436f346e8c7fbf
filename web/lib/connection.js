// Trying again while the server cannot be reached: after growing pauses, and at once when somebody looks.

const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 15_000;

export class Connection {
  /** Called with `{ problem, retryAt }` when the server cannot be reached, with null when it can again. */
  onChange = () => {};
  #failures = 0;
  #wakeUp = () => {};

  /** The server answered. */
  succeeded() {
    if (this.#failures > 0) this.onChange(null);
    this.#failures = 0;
  }

  /** The server did not answer. Resolves when it is time to try again. */
  async failed(problem) {
    const pause = Math.min(FIRST_PAUSE * 2 ** this.#failures, LONGEST_PAUSE);
    this.#failures += 1;
    this.onChange({ problem, retryAt: Date.now() + pause });
    await this.pause(pause);
  }

  /** Waits; the tab becoming visible or the network coming back ends the pause, too. */
  pause(milliseconds = FIRST_PAUSE) {
    return new Promise((resolve) => {
      const timer = setTimeout(done, milliseconds);
      function done() {
        clearTimeout(timer);
        document.removeEventListener("visibilitychange", done);
        removeEventListener("online", done);
        resolve();
      }
      document.addEventListener("visibilitychange", done);
      addEventListener("online", done);
      this.#wakeUp = done;
    });
  }

  /** Ends the pause. */
  now() {
    this.#wakeUp();
  }
}
