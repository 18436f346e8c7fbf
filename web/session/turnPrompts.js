// Which prompt each turn is about, as far as the loaded part of the log says it for certain.
//
// A turn lies between two `onIdle`. Its prompt is named by the turn's own id (`turn-N`), or is the one that was sent while
// nothing ran or waited: the first event of its turn. Agents give turns ids of their own too, and a turn of a queued
// prompt with such an id stays unknown rather than guessed.

const OWN_TURN = /^turn-([1-9]\d*)$/;

export class TurnPrompts {
  /** `{ seq, kind, promptId }`, ordered by number; of several tools in a row only one. */
  #marks = [];
  #lowest = Infinity;

  /** Takes an event of the log, in any order; each once. Returns whether it may have made a turn's prompt known. */
  note(seq, response) {
    this.#lowest = Math.min(this.#lowest, seq);
    const mark = markOf(response);
    if (!mark) return false;
    const after = this.#marks.findLastIndex((other) => other.seq < seq);
    if (mark.kind === "tool" && [after, after + 1].some((place) => this.#marks[place]?.kind === "tool")) return false;
    this.#marks.splice(after + 1, 0, { seq, ...mark });
    return true;
  }

  /**
   * The turn that an event belongs to: `{ promptId, isOver, isKept, ranTools }`; the prompt is null if it is unknown, and tools
   * count as far as they are loaded.
   */
  turnOf(seq) {
    const before = this.#marks.findLastIndex((mark) => mark.kind === "idle" && mark.seq < seq);
    const end = this.#marks.findIndex((mark) => mark.kind === "idle" && mark.seq >= seq);
    const all = this.#marks.slice(before + 1, end < 0 ? undefined : end);
    const marks = all.filter(({ kind }) => kind !== "kept" && kind !== "tool");
    const named = marks.find((mark) => mark.kind === "start" && mark.promptId)?.promptId;
    const beginsHere = before >= 0 || this.#lowest === 1;
    const sent = beginsHere && marks[0]?.kind === "sent" ? marks[0].promptId : null;
    // That a request is kept is said when its turn is over.
    return { promptId: named ?? sent, isOver: end >= 0, isKept: end >= 0 && this.#marks[end + 1]?.kind === "kept", ranTools: all.some(({ kind }) => kind === "tool") };
  }
}

function markOf({ callback, promptId, queued, turnId, kind }) {
  if (callback === "onIdle") return { kind: "idle", promptId: null };
  const isPrompt = callback === "onUserPrompt" || (callback === "onGeneratedUserPrompt" && promptId);
  if (isPrompt && !queued) return { kind: "sent", promptId };
  if (callback === "onAgentStart") {
    const number = OWN_TURN.exec(turnId)?.[1];
    return { kind: "start", promptId: number ? `prompt-${number}` : null };
  }
  if (callback === "onStartToolExecution") return { kind: "tool", promptId: null };
  if (callback === "onNotice" && kind === "request-kept") return { kind: "kept", promptId: null };
  return null;
}
