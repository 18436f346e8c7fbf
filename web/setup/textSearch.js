// What was written in all sessions: hits of the search box, by session.

import { ask } from "../lib/api.js";
import { sessionAddress } from "../lib/address.js";
import { make } from "../lib/dom.js";
import { exactNodes, exactString } from "../lib/exactText.js";
import { plural } from "../lib/format.js";
import { relativeTime } from "../lib/relativeTime.js";
import { pathCell } from "./pathCell.js";

/** Typing this fast counts as one change. */
const PAUSE_MS = 200;
/** How often an index that is not complete is asked again. */
const INDEXING_MS = 1500;
const KINDS = { prompt: "Prompt", message: "Message", reasoning: "Reasoning", tool: "Tool" };

export class TextSearch {
  #place;
  #text = "";
  #hits = [];
  #next = null;
  #timer = null;
  #asking = new AbortController();
  #fits = () => true;
  #status = make("p", { class: "search-status", role: "status" });
  #list = make("ul", { class: "search-sessions" });
  #more = make("button", { type: "button", class: "quiet-button", text: "Show more results", hidden: true, on: { click: () => this.#loadMore() } });

  constructor(place) {
    this.#place = place;
    place.append(make("h3", { text: "In session text" }), this.#status, this.#list, this.#more);
    place.hidden = true;
  }

  /** Only hits in sessions for which this returns true are shown; it takes an id. */
  set fits(test) {
    this.#fits = test;
    this.#show();
  }

  /** Searches for this text, once nobody types any more. */
  search(text) {
    if (text === this.#text) return;
    this.#text = text;
    this.#stop();
    this.#place.hidden = text.trim() === "";
    if (this.#place.hidden) {
      this.#hits = [];
      this.#show();
    } else this.#timer = setTimeout(() => this.#load(), PAUSE_MS);
  }

  #stop() {
    clearTimeout(this.#timer);
    this.#asking.abort();
    this.#asking = new AbortController();
  }

  async #load() {
    const { signal } = this.#asking;
    try {
      const { hits, next, indexing } = await this.#ask(new URLSearchParams({ q: this.#text, typing: "true" }), signal);
      this.#hits = hits;
      this.#next = next ?? null;
      this.#show(indexing);
      if (indexing) this.#timer = setTimeout(() => this.#load(), INDEXING_MS);
    } catch (problem) {
      if (!signal.aborted) this.#fail(problem);
    }
  }

  async #loadMore() {
    const { signal } = this.#asking;
    try {
      const { hits, next } = await this.#ask(new URLSearchParams({ q: this.#text, typing: "true", after: this.#next }), signal);
      const first = this.#hits.length;
      this.#hits.push(...hits);
      this.#next = next ?? null;
      this.#show();
      this.#list.querySelector(`[data-hit="${first}"]`)?.focus();
    } catch (problem) {
      if (!signal.aborted) this.#fail(problem);
    }
  }

  #ask(query, signal) {
    return ask(`api/copilot/search?${query}`, { signal });
  }

  /** While somebody types, a search that is not complete yet is no error. */
  #fail(problem) {
    this.#hits = [];
    this.#next = null;
    this.#show();
    const reason = problem.message.replace(/^Invalid search: /, "");
    this.#status.replaceChildren(make("span", { class: problem.code === "InvalidSearch" ? "search-hint" : "field-problem", text: problem.code === "InvalidSearch" ? capital(reason) : `Could not search: ${reason}` }));
  }

  #show(indexing = null) {
    const shown = this.#hits.map((hit, number) => ({ ...hit, number })).filter(({ sessionId }) => this.#fits(sessionId));
    const bySession = Map.groupBy(shown, ({ sessionId }) => sessionId);
    this.#list.replaceChildren(...[...bySession.values()].map((hits) => sessionItem(hits)));
    this.#more.hidden = this.#next === null;
    const found = shown.length === 0 ? "No results" : `${plural(shown.length, "result")} in ${plural(bySession.size, "session")}${this.#next === null ? "" : ", and more"}`;
    this.#status.textContent = indexing ? `${found} so far. ${indexingText(indexing)}` : found;
  }
}

function indexingText({ done, total }) {
  return total === 0 ? "Indexing older sessions …" : `Indexing older sessions: ${Math.floor((100 * done) / total)} % …`;
}

function sessionItem(hits) {
  const [{ sessionId, title, workingDirectory }] = hits;
  return make(
    "li",
    { class: "search-session", data: { session: sessionId } },
    make(
      "div",
      { class: "search-session-head" },
      make("a", { class: "session-link", href: sessionAddress(sessionId), data: { local: "" } }, make("bdi", {}, ...exactNodes(title || sessionId, { oneLine: true }))),
      pathCell(workingDirectory),
    ),
    make("ul", {}, ...hits.map(hitItem)),
  );
}

function hitItem({ sessionId, seq, kind, time, snippet, number }) {
  // A hit is one line of text: where lines end is nothing to decide by.
  const parts = snippet.map(({ text, match }) => make(match ? "mark" : "span", { text: exactString(text.replace(/\s+/g, " ")) }));
  return make(
    "li",
    {},
    make(
      "a",
      { class: "search-hit", href: sessionAddress(sessionId, seq), data: { local: "", hit: number, event: seq } },
      make("span", { class: "search-kind", text: KINDS[kind] ?? kind }),
      make("span", { class: "search-snippet" }, ...parts),
      relativeTime(time, { className: "session-time" }),
    ),
  );
}

function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
