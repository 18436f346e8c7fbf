// All prompts of a session, to jump to any of them, loaded or not.

import { ask, sessionPath } from "../lib/api.js";
import { byId, make } from "../lib/dom.js";
import { exactNodes } from "../lib/exactText.js";
import { plural } from "../lib/format.js";
import { icon } from "../lib/icons.js";
import { relativeTime } from "../lib/relativeTime.js";
import { SidePanel } from "./sidePanel.js";

const VERDICTS = { failed: "failed", interrupted: "interrupted", dropped: "not sent" };
/** With fewer prompts there is nothing to look for. */
const WORTH_FILTERING = 8;

/** The panel for the session that `current()` returns, and its button. */
export function useOutline(current) {
  const button = make("button", { type: "button", id: "outline-button", class: "quiet-button", "aria-expanded": "false", "aria-controls": "side-panel", title: "All prompts of this session (Alt+O)" }, icon("outline"), make("span", { class: "button-label", text: "Outline" }));
  const changes = byId("changes-button");
  const show = () => {
    button.hidden = changes.hidden;
  };
  changes.before(button);
  show();
  // Both are for sessions only.
  new MutationObserver(show).observe(changes, { attributeFilter: ["hidden"] });
  return new SidePanel({ title: "Outline", button, build: (body) => new Outline(body, current()).start() });
}

class Outline {
  #body;
  #view;
  #list = make("ol", { class: "outline-list" });
  #status = make("p", { class: "empty", role: "status", text: "Loading …" });
  #closed = new AbortController();

  constructor(body, view) {
    this.#body = body;
    this.#view = view;
  }

  start() {
    const beginning = make("button", { type: "button", class: "outline-beginning", on: { click: () => this.#view.showBeginning() } }, icon("up"), make("span", { text: "Beginning of the session" }), make("kbd", { text: "Alt+Home" }));
    this.#body.replaceChildren(beginning, this.#status, this.#list);
    this.#load();
    return () => this.#closed.abort();
  }

  async #load() {
    try {
      const { prompts, truncated } = await ask(sessionPath(this.#view.sessionId, "outline"), { signal: this.#closed.signal });
      this.#show(prompts, truncated);
    } catch (problem) {
      if (this.#closed.signal.aborted) return;
      const again = make("button", { type: "button", text: "Retry", on: { click: () => this.#load() } });
      this.#status.replaceChildren(`Could not load the outline: ${problem.message} `, again);
    }
  }

  #show(prompts, truncated) {
    const at = promptInView(prompts);
    this.#list.replaceChildren(...prompts.map((prompt) => this.#item(prompt, prompt === at)));
    this.#status.textContent = prompts.length === 0 ? "No prompts yet." : truncated ? `Showing the newest ${plural(prompts.length, "prompt")}.` : "";
    this.#status.hidden = this.#status.textContent === "";
    if (prompts.length >= WORTH_FILTERING) this.#list.before(this.#filter());
    this.#list.querySelector("[aria-current]")?.scrollIntoView({ block: "center", behavior: "instant" });
  }

  #item({ seq, line, time, byTask, verdict }, isCurrent) {
    const button = make("button", { type: "button", class: "outline-prompt", "aria-current": isCurrent ? "true" : null, data: { seq: String(seq) } });
    const facts = make("span", { class: "outline-facts" }, byTask ? "Task · " : null, VERDICTS[verdict] ? make("span", { class: `outline-${verdict}`, text: `${VERDICTS[verdict]} · ` }) : null, relativeTime(time));
    button.append(make("bdi", { class: "outline-line" }, ...exactNodes(line || "(no text)", { oneLine: true })), facts);
    button.addEventListener("click", () => this.#go(button, seq));
    return make("li", {}, button);
  }

  #go(button, seq) {
    this.#list.querySelector("[aria-current]")?.removeAttribute("aria-current");
    button.setAttribute("aria-current", "true");
    this.#view.showEvent(seq);
  }

  #filter() {
    const input = make("input", { type: "search", class: "outline-filter", placeholder: "Filter prompts", "aria-label": "Filter prompts" });
    input.addEventListener("input", () => {
      const words = input.value.toLowerCase();
      for (const item of this.#list.children) item.hidden = !item.textContent.toLowerCase().includes(words);
    });
    return input;
  }
}

/** The last prompt that is not below the view. */
function promptInView(prompts) {
  const part = byId("session-part");
  const { bottom } = part.getBoundingClientRect();
  const shown = [...part.querySelectorAll('.message-block[data-type="User"][data-seq]')].findLast((block) => block.getBoundingClientRect().top < bottom);
  return prompts.findLast(({ seq }) => seq <= Number(shown?.dataset.seq ?? -1)) ?? null;
}
