// The tab of a gate: what was asked, and what was answered. While it waits, it is answered in the card above.

import { make } from "../lib/dom.js";
import { exactElement } from "../lib/exactText.js";
import { ago, exactTime } from "../lib/format.js";
import { BY } from "../session/requestBlock.js";

export class GateTab {
  name = "Gate";
  panel = make("div", { class: "tab-panel gate-panel", role: "tabpanel", tabindex: "0" });
  openRequests = [];
  #shown = null;

  update(run) {
    const text = JSON.stringify(run?.gate ?? null);
    if (text === this.#shown) return;
    this.#shown = text;
    if (!run?.gate) {
      this.panel.replaceChildren(make("p", { class: "empty work-empty", text: "The job has not reached this gate yet." }));
      return;
    }
    const { title, prompt, answer } = run.gate;
    this.panel.replaceChildren(exactElement("h3", { class: "gate-title" }, title, { oneLine: true }), prompt ? exactElement("p", { class: "gate-prompt" }, prompt) : "", answerLine(answer));
  }

  holds() {
    return false;
  }

  show() {}

  hide() {}

  leave() {}
}

function answerLine(answer) {
  if (!answer) return make("p", { class: "gate-answer", text: "Waiting for an answer." });
  const { approved, note, by, time } = answer;
  return make(
    "div",
    { class: "gate-answer" },
    make("p", {}, make("b", { class: approved ? "verdict-yes" : "verdict-no", text: approved ? "Approved" : "Rejected" }), by ? exactElement("span", {}, ` ${BY[by] ?? `by ${by}`}`, { oneLine: true }) : "", time ? make("time", { text: ` ${ago(time)}`, title: exactTime(time), datetime: time }) : ""),
    note ? exactElement("blockquote", { class: "gate-note" }, note) : null,
  );
}
