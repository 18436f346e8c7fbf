// Calls of other programs that use an agent as a model, newest first.

import { ask } from "../lib/api.js";
import { make } from "../lib/dom.js";
import { count, plural } from "../lib/format.js";
import { SidePanel } from "./sidePanel.js";

const HOW = {
  fresh: "New agent session, kept for the next request",
  held: "Agent session that was kept for this request",
  destroyed: "New agent session, destroyed after the answer",
};

/** The panel; it needs no session. */
export function useCaptures() {
  return new SidePanel({ title: "Model API", build: (body) => new CapturesPanel(body).start() });
}

class CapturesPanel {
  #body;
  #closed = new AbortController();
  #calls = [];
  #list = make("div", { class: "captures-list" });
  #now = make("p", { class: "field-hint", role: "status" });
  #more = make("button", { type: "button", text: "Show more", hidden: true });
  #next = null;

  constructor(body) {
    this.#body = body;
  }

  start() {
    const refresh = make("button", { type: "button", text: "Refresh", on: { click: () => this.#load() } });
    this.#more.addEventListener("click", () => this.#load(this.#next));
    this.#body.replaceChildren(make("div", { class: "usage-controls" }, this.#now, refresh), this.#list, this.#more);
    this.#load();
    return () => this.#closed.abort();
  }

  async #load(before = null) {
    try {
      const answer = await ask(before ? `api/captures?before=${before}` : "api/captures", { signal: this.#closed.signal });
      this.#calls = before ? [...this.#calls, ...answer.calls] : answer.calls;
      this.#next = answer.next;
      this.#show(answer.now);
    } catch (problem) {
      if (this.#closed.signal.aborted) return;
      this.#list.replaceChildren(make("p", { class: "field-problem", role: "alert", text: `Could not load the calls: ${problem.message}` }));
    }
  }

  #show({ answering, queued, waiting, onDisk }) {
    this.#now.textContent = `${plural(answering, "answer")} in progress, ${queued} queued, ${plural(waiting + onDisk, "session")} waiting for callers.`;
    this.#more.hidden = this.#next == null;
    if (this.#calls.length === 0) {
      const text = "No program has used an agent as its model yet. docs/capture.md shows how: create a token with `flightdeck tokens create --scope models`.";
      this.#list.replaceChildren(make("p", { class: "empty", text }));
      return;
    }
    const titles = [["Call", false], ["Answer", false], ["In", true], ["Out", true]];
    const head = make("tr", {}, ...titles.map(([text, isNumber]) => make("th", { scope: "col", class: isNumber ? "usage-number" : null, text })));
    const table = make(
      "table",
      { class: "usage-table" },
      make("caption", { class: "visually-hidden", text: "Model API calls, newest first" }),
      make("thead", {}, head),
      make("tbody", {}, ...this.#calls.map(row)),
    );
    this.#list.replaceChildren(table);
  }
}

function row({ at, token, dialect, model, capture, tools, outcome, error, usage, durationMs }) {
  const time = new Date(at).toLocaleString();
  const about = `${time}, ${token}, ${dialect}, ${plural(tools, "tool")}`;
  const took = durationMs < 1000 ? `${durationMs}\u00a0ms` : `${(durationMs / 1000).toFixed(1)}\u00a0s`;
  const words = `${outcome.replaceAll("_", " ")}, ${capture}, ${took}`;
  return make(
    "tr",
    {},
    make("th", { scope: "row" }, make("span", { text: model }), make("small", { text: about })),
    make("td", { title: HOW[capture] }, make("span", { text: words }), error ? make("small", { text: error }) : null),
    figure(usage.inputTokens),
    figure(usage.outputTokens),
  );
}

function figure(amount) {
  if (amount == null) return make("td", { class: "usage-number usage-unknown", title: "not reported", text: "–" });
  return make("td", { class: "usage-number", text: count(amount) });
}
