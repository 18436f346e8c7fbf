// Which changes are shown: since the last commit, of the session, or of one turn.

import { make } from "../lib/dom.js";
import { exactString } from "../lib/exactText.js";
import { clockTime, exactTime } from "../lib/format.js";

const SCOPES = [
  ["commit", "Last commit", "Changes since the last commit"],
  ["session", "Session", "Changes since this session's first turn began"],
  ["turn", "Turn", "Changes between the beginning and the end of one turn"],
];

export class ScopeChoice extends EventTarget {
  element;
  #scope = "commit";
  /** The chosen turn; the newest one while it is null. */
  #turn = null;
  #turns = [];
  #buttons;
  #select;

  /** Begins with the changes of `turn`, or with those since the last commit. */
  constructor(turn = null) {
    super();
    if (turn) {
      this.#scope = "turn";
      this.#turn = turn;
    }
    this.#buttons = SCOPES.map(([scope, text, title]) => make("button", { type: "button", class: "choice-button", title, "aria-pressed": "false", data: { scope }, text, on: { click: () => this.#choose(scope) } }));
    this.#select = make("select", { class: "changes-turn", "aria-label": "Turn", hidden: true, on: { change: () => this.#chooseTurn() } });
    this.element = make("div", { class: "changes-scope" }, make("div", { class: "choice", role: "group", "aria-label": "Scope of changes" }, ...this.#buttons), this.#select);
    this.#show();
  }

  /** The scope as the server takes it; null while there is no turn to ask for. */
  get query() {
    if (this.#scope !== "turn") return { scope: this.#scope };
    const turn = this.#turn ?? this.#turns.at(-1)?.turn;
    return turn ? { scope: "turn", turn } : null;
  }

  get scope() {
    return this.#scope;
  }

  /** How the scope is said in a sentence. */
  get words() {
    if (this.#scope === "commit") return "since the last commit";
    if (this.#scope === "session") return "in this session";
    return `in ${turnName(this.query?.turn ?? "this turn")}`;
  }

  setTurns(turns) {
    const isSame = turns.length === this.#turns.length && turns.every((turn, index) => turn.turn === this.#turns[index].turn && turn.endedAt === this.#turns[index].endedAt);
    this.#turns = turns;
    if (!turns.some(({ turn }) => turn === this.#turn)) this.#turn = null;
    if (!isSame) this.#show();
  }

  #choose(scope) {
    if (scope === this.#scope) return;
    this.#scope = scope;
    this.#show();
    this.dispatchEvent(new Event("change"));
  }

  #chooseTurn() {
    // The newest one stays the newest when another turn begins.
    this.#turn = this.#select.value === this.#turns.at(-1)?.turn ? null : this.#select.value;
    this.dispatchEvent(new Event("change"));
  }

  #show() {
    for (const button of this.#buttons) button.setAttribute("aria-pressed", String(button.dataset.scope === this.#scope));
    this.#select.hidden = this.#scope !== "turn" || this.#turns.length === 0;
    this.#select.replaceChildren(...this.#turns.map(option).reverse());
    const chosen = this.query?.turn;
    if (chosen) this.#select.value = chosen;
  }
}

function option({ turn, prompt, startedAt, endedAt }) {
  const parts = [turnName(turn), clockTime(startedAt), endedAt ? "" : "running", exactString(prompt ?? "")];
  return make("option", { value: turn, title: exactTime(startedAt), text: parts.filter(Boolean).join(" · ") });
}

/** `turn-3` is turn 3. */
function turnName(turn) {
  return turn.replace(/^turn-/, "turn ");
}
