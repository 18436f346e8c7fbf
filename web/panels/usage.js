// Usage by day, model, agent or session, and the state of the daily budget.

import { goTo, sessionAddress } from "../lib/address.js";
import { ask } from "../lib/api.js";
import { make } from "../lib/dom.js";
import { count, plural } from "../lib/format.js";
import { SidePanel } from "./sidePanel.js";

const GROUPINGS = [["day", "Day"], ["model", "Model"], ["runtime", "Agent"], ["session", "Session"]];
const SPANS = [[1, "Today"], [7, "7 days"], [30, "30 days"], [90, "90 days"], [365, "1 year"]];
const DAY = 24 * 60 * 60 * 1000;

const FIGURES = [
  { name: "inputTokens", short: "In", long: "Input tokens", write: count },
  { name: "outputTokens", short: "Out", long: "Output tokens", write: count },
  { name: "premiumRequests", short: "Premium", long: "Premium requests", write: (amount) => String(Math.round(amount * 100) / 100) },
  { name: "credits", short: "Credits", long: "AI credits", write: credits },
  { name: "costUsd", short: "Cost", long: "Cost in US dollars", write: money },
];

/** The panel; it needs no session. */
export function useUsage() {
  return new SidePanel({ title: "Usage and cost", build: (body) => new UsagePanel(body).start() });
}

/** How much of a limit was used, as one line: `{ name, used, limit, write, noun }`. */
export function budgetLines(limits, usage) {
  const tokens = usage?.inputTokens == null && usage?.outputTokens == null ? null : (usage.inputTokens ?? 0) + (usage.outputTokens ?? 0);
  return [
    { name: "Premium requests", limit: limits?.premiumRequests, used: usage?.premiumRequests, write: FIGURES[2].write },
    { name: "AI credits", limit: limits?.credits, used: usage?.credits, write: credits },
    { name: "Tokens", limit: limits?.tokens, used: tokens, write: (amount) => amount.toLocaleString("en") },
    { name: "Cost", limit: limits?.costUsd, used: usage?.costUsd, write: money },
  ].filter(({ limit }) => limit != null);
}

function credits(amount) {
  return String(Math.round(amount * 1000) / 1000);
}

function money(amount) {
  return `$${amount.toFixed(amount > 0 && amount < 0.01 ? 4 : 2)}`;
}

class UsagePanel {
  #body;
  #closed = new AbortController();
  #by = "day";
  #days = 30;
  #buttons = new Map();
  #budget = make("div", { class: "usage-budget" });
  #result = make("div", { class: "usage-result" });
  #status = make("p", { class: "visually-hidden", role: "status" });
  /** Only the answer to the last question is shown. */
  #asked = 0;

  constructor(body) {
    this.#body = body;
  }

  start() {
    this.#body.replaceChildren(this.#controls(), this.#status, this.#budget, this.#result);
    this.#load();
    return () => this.#closed.abort();
  }

  #controls() {
    const groupings = GROUPINGS.map(([by, label]) => {
      const button = make("button", { type: "button", class: "filter-button", text: label, "aria-pressed": String(by === this.#by), on: { click: () => this.#choose(by) } });
      this.#buttons.set(by, button);
      return button;
    });
    const span = make("select", { id: "usage-span", "aria-label": "Period" }, ...SPANS.map(([days, text]) => make("option", { value: String(days), text, selected: days === this.#days })));
    span.addEventListener("change", () => {
      this.#days = Number(span.value);
      this.#load();
    });
    return make("div", { class: "usage-controls" }, make("div", { class: "usage-groupings", role: "group", "aria-label": "Group by" }, ...groupings), span);
  }

  #choose(by) {
    this.#by = by;
    for (const [name, button] of this.#buttons) button.setAttribute("aria-pressed", String(name === by));
    this.#load();
  }

  async #load() {
    this.#asked += 1;
    const question = this.#asked;
    if (!this.#result.firstChild) this.#result.replaceChildren(make("p", { class: "empty", text: "Loading …" }));
    const from = new Date(Date.now() - (this.#days - 1) * DAY).toISOString().slice(0, 10);
    try {
      const answer = await ask(`api/usage?by=${this.#by}&from=${from}`, { signal: this.#closed.signal });
      if (question === this.#asked) this.#show(answer);
    } catch (problem) {
      if (this.#closed.signal.aborted || question !== this.#asked) return;
      this.#result.replaceChildren(
        make("p", { class: "field-problem", role: "alert", text: `Could not load usage: ${problem.message}` }),
        make("button", { type: "button", text: "Retry", on: { click: () => this.#load() } }),
      );
    }
  }

  #show(answer) {
    const lines = budgetLines(answer.budget?.day, answer.today?.usage);
    this.#budget.replaceChildren(...lines.map((line) => budgetMeter(line, answer.budget)));
    this.#status.textContent = answer.rows.length > 0 ? plural(answer.rows.length, "row") : "No usage";
    if (answer.rows.length === 0) {
      this.#result.replaceChildren(make("p", { class: "empty", text: "No usage in this period. Usage appears here when an agent reports it." }));
      return;
    }
    this.#result.replaceChildren(table(answer), ...notes(answer));
  }
}

function budgetMeter({ name, limit, used, write }, { warnAt, refuse, stopTurns }) {
  const share = Math.min(1, (used ?? 0) / limit);
  const state = share >= 1 ? "reached" : share >= warnAt ? "near" : "fine";
  const words = used == null ? `${name} today: not reported, limit ${write(limit)}` : `${name} today: ${write(used)} of ${write(limit)}`;
  const verdict = state === "reached" ? (refuse || stopTurns ? "Used up. Prompts are refused until midnight UTC." : "Used up. Prompts are still accepted.") : state === "near" ? "Nearly used up." : null;
  return make(
    "div",
    { class: `usage-limit usage-${state}`, data: { state } },
    make("p", { text: words }),
    make("meter", { min: "0", max: "1", high: String(warnAt), value: String(share), "aria-label": words }),
    verdict ? make("p", { class: "usage-verdict", text: verdict }) : null,
  );
}

function table({ by, rows, total, from, to }) {
  const [, heading] = GROUPINGS.find(([name]) => name === by);
  const head = make("tr", {}, make("th", { scope: "col", text: heading }), ...FIGURES.map(({ short, long }) => make("th", { scope: "col", class: "usage-number", title: long, text: short })));
  const row = (label, entry, attributes = {}) => make("tr", attributes, make("th", { scope: "row" }, ...[label].flat()), ...FIGURES.map((figure) => cell(figure, entry)));
  return make(
    "table",
    { class: "usage-table" },
    make("caption", { class: "visually-hidden", text: `Usage from ${from} to ${to} by ${heading.toLowerCase()}` }),
    make("thead", {}, head),
    make("tbody", {}, ...rows.map((entry) => row(nameOf(by, entry), entry))),
    make("tfoot", {}, row("Total", total)),
  );
}

function nameOf(by, entry) {
  if (by === "day") return make("time", { datetime: entry.day, text: entry.day });
  if (by === "runtime") return entry.runtime;
  if (by === "model") return [make("span", { text: entry.model || "Chosen by the agent" }), make("small", { text: entry.runtimes.join(", ") })];
  if (entry.deleted) return [make("span", { text: entry.sessionId }), make("small", { text: "deleted" })];
  const address = sessionAddress(entry.sessionId);
  const link = make("a", { href: address, text: entry.title || entry.sessionId });
  link.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    goTo(address);
  });
  return [link, make("small", { text: entry.runtime })];
}

/** Unknown figures are a dash; a sum with missing reports is marked as a lower bound. */
function cell({ name, long, write }, { usage, unknown, reports }) {
  const amount = usage[name];
  if (amount == null) return make("td", { class: "usage-number usage-unknown", title: `${long}: not reported` }, make("span", { "aria-hidden": "true", text: "–" }), make("span", { class: "visually-hidden", text: "not reported" }));
  const lacks = unknown[name];
  const figure = amount.toLocaleString("en", { maximumFractionDigits: 4 });
  const title = lacks > 0 ? `${long}: at least ${figure}; ${lacks} of ${plural(reports, "report")} lack this figure` : `${long}: ${figure}`;
  return make("td", { class: "usage-number", title, text: `${lacks > 0 ? "≥ " : ""}${write(amount)}` });
}

function notes({ rows, total, truncated }) {
  const lacks = [...rows, total].some(({ usage, unknown }) => FIGURES.some(({ name }) => usage[name] != null && unknown[name] > 0));
  const misses = [...rows, total].some(({ usage }) => FIGURES.some(({ name }) => usage[name] == null));
  const texts = ["Days are in UTC."];
  if (misses) texts.push("– means not reported.");
  if (lacks) texts.push("≥ marks a lower bound: some reports lack the figure.");
  if (truncated) texts.push("Not all rows are shown; choose a shorter period.");
  return [make("p", { class: "field-hint usage-note", text: texts.join(" ") })];
}
