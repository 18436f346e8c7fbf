// The tab of a gate: what was asked, and what was answered. While it waits, it is answered in the card above.

import { askHtml } from "../lib/api.js";
import { make } from "../lib/dom.js";
import { exactElement } from "../lib/exactText.js";
import { relativeTime } from "../lib/relativeTime.js";
import { gatePromptPath } from "../lib/jobs.js";
import { renderedElement } from "../session/renderedContent.js";
import { BY } from "../session/requestBlock.js";

export class GateTab {
  name = "Gate";
  panel = make("div", { class: "tab-panel gate-panel", role: "tabpanel", tabindex: "0" });
  openRequests = [];
  #shown = null;
  /** The gate whose prompt is rendered, with the element. */
  #rendered = { gateId: null, element: null };

  update(run, { jobId }) {
    const text = JSON.stringify(run?.gate ?? null);
    if (text === this.#shown) return;
    this.#shown = text;
    if (!run?.gate) {
      this.panel.replaceChildren(make("p", { class: "empty work-empty", text: "The job has not reached this gate yet." }));
      return;
    }
    const { gateId, prompt, answer } = run.gate;
    this.panel.replaceChildren(prompt ? this.#promptOf(gateId, prompt, jobId) : "", answerLine(answer));
  }

  /** The prompt: as plain text until the server has rendered it. */
  #promptOf(gateId, prompt, jobId) {
    if (this.#rendered.gateId === gateId) return this.#rendered.element;
    const rendered = { gateId, element: exactElement("p", { class: "gate-prompt" }, prompt) };
    this.#rendered = rendered;
    this.#render(rendered, gatePromptPath(jobId, gateId));
    return rendered.element;
  }

  async #render(rendered, path) {
    try {
      const element = renderedElement(await askHtml(path), "gate-rendered");
      rendered.element.replaceWith(element);
      rendered.element = element;
    } catch {
      // The plain text says the same.
    }
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
    make("p", {}, make("b", { class: approved ? "verdict-yes" : "verdict-no", text: approved ? "Approved" : "Rejected" }), by ? exactElement("span", {}, ` ${BY[by] ?? `by ${by}`}`, { oneLine: true }) : "", ...(time ? [" ", relativeTime(time)] : [])),
    note ? exactElement("blockquote", { class: "gate-note" }, note) : null,
  );
}
