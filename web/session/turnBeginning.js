// When the running turn began, for a page that is opened in the middle of it.

import { ask, sessionPath } from "../lib/api.js";

const BEGINNINGS = ["onUserPrompt", "onGeneratedUserPrompt", "onAgentStart"];
/** Other ids are of later steps, or an agent's own. */
const FIRST_STEP = /^turn-[1-9]\d*$/;

export class TurnBeginning {
  /** In milliseconds; null while it is unknown. */
  time = null;
  #oldest = Infinity;
  #isDone = false;

  /** Takes a page of the log, the newest first. */
  note(events) {
    const isNext = this.#oldest === Infinity || events.at(-1)?.seq === this.#oldest - 1;
    if (this.#isDone || events.length === 0 || !isNext) return;
    this.#oldest = events[0].seq;
    const idle = events.findLastIndex(({ response }) => response.callback === "onIdle");
    const turn = events.slice(idle + 1);
    const isWhole = idle >= 0 || events[0].seq === 1;
    const first = turn.find(({ response }) => (isWhole ? BEGINNINGS.includes(response.callback) && !response.queued : FIRST_STEP.test(response.turnId) && response.callback === "onAgentStart"));
    this.#isDone = isWhole || first !== undefined;
    if (first) this.time = new Date(first.time).getTime();
  }

  /** Asks for the turn's prompt: the turn is longer than what is loaded. */
  async find({ sessionId, queued, signal }) {
    if (this.#isDone) return;
    const { prompts } = await ask(sessionPath(sessionId, "outline"), { signal });
    const running = prompts.findLast(({ promptId, verdict }) => verdict === null && !queued.includes(promptId));
    if (!running) return;
    const { events } = await ask(sessionPath(sessionId, `log?before=${running.seq + 1}&limit=1`), { signal });
    // A prompt that waited was written before its turn began.
    if (this.#isDone || events[0]?.response.promptId !== running.promptId || events[0].response.queued) return;
    this.#isDone = true;
    this.time = new Date(events[0].time).getTime();
  }
}
