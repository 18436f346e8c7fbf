// Where the jobs of a folder come from. The folder's own entry counts only after somebody has seen what it may do.

import { ask } from "../lib/api.js";
import { byId, make } from "../lib/dom.js";
import { exactElement, exactString } from "../lib/exactText.js";
import { plural } from "../lib/format.js";
import { usableEntry } from "../lib/jobs.js";
import { allowancesOf } from "./allowances.js";

const SOURCES = {
  default: "the built-in entry",
  configuration: "the configured entry",
  folder: "this folder's entry",
  installed: "the installed entry",
};
const SHORT_HASH = 12;

const place = byId("entry-part");

export class Entry {
  /** Called with the entry that jobs come from after each load: null if there is none, undefined if that is not known. */
  onChange = () => {};
  #folder;
  #entry = null;
  #problem = make("p", { class: "field-problem", role: "alert", hidden: true });

  constructor(folder) {
    this.#folder = folder;
  }

  async load({ note = null } = {}) {
    try {
      this.#entry = await ask(`api/jobs/entry?${new URLSearchParams({ workingDirectory: this.#folder })}`);
      this.#show(note);
    } catch (problem) {
      this.#entry = undefined;
      place.replaceChildren(make("p", { class: "field-problem", role: "alert", text: `Could not read this folder's entry: ${problem.message}` }));
    }
    this.onChange(this.#entry && usableEntry(this.#entry));
  }

  #show(note) {
    const entry = this.#entry;
    const inForce = entry.inForce ? entry : entry.fallback;
    const own = entry.source === "folder" && !entry.inForce ? this.#ownEntry(entry, inForce, note) : null;
    place.replaceChildren(own ?? "", inForceLine(inForce), problemList(inForce?.problems) ?? "");
  }

  /** The folder's entry that is not in force: it is invalid, or nobody has trusted it yet. */
  #ownEntry(entry, inForce, note) {
    const errors = (entry.problems ?? []).filter(({ severity }) => severity === "error");
    const isInvalid = errors.length > 0 || !entry.entry;
    const meanwhile = inForce ? `${SOURCES[inForce.source] ?? inForce.source} is in effect` : "no entry is in effect";
    const title = isInvalid ? "This folder has its own entry, but it is invalid." : "This folder has its own entry, but it is not trusted yet.";
    const text = isInvalid ? `Fix ${plural(errors.length, "error")} to use it. Until then, ${meanwhile}.` : `Trust it only if you know where it comes from: its jobs run with the permissions below. Until then, ${meanwhile}.`;
    const box = make(
      "section",
      { class: `entry-own ${isInvalid ? "entry-invalid" : "entry-untrusted"}`, "aria-labelledby": "entry-own-title" },
      make("h2", { id: "entry-own-title", text: title }),
      note ? make("p", { class: "field-warning", role: "status", text: note }) : null,
      make("p", { text }),
      make("dl", { class: "entry-facts" }, make("dt", { text: "File" }), make("dd", {}, exactElement("code", {}, entry.path ?? "", { oneLine: true })), make("dt", { text: "SHA-256" }), make("dd", {}, make("code", { text: shortHash(entry.hash), title: entry.hash }))),
      problemList(entry.problems),
      isInvalid ? null : allowancesOf(entry.entry),
      this.#problem,
    );
    if (!isInvalid) box.append(make("div", { class: "entry-buttons" }, make("button", { type: "button", id: "trust-button", text: "Trust and use", on: { click: (event) => this.#trust(event.currentTarget) } })));
    return box;
  }

  async #trust(button) {
    const { path, hash } = this.#entry;
    button.disabled = true;
    this.#problem.hidden = true;
    try {
      await ask("api/jobs/trust", { json: { path, hash } });
      await this.load();
    } catch (problem) {
      if (problem.code === "EntryChanged") {
        await this.load({ note: "The file has changed since you looked. Here is the current version." });
        return;
      }
      this.#problem.textContent = `Could not trust the entry: ${problem.message}`;
      this.#problem.hidden = false;
      button.disabled = false;
    }
  }
}

/** One quiet line about the entry whose jobs are listed. */
function inForceLine(entry) {
  if (!entry) return make("p", { class: "entry-line", text: "No entry is in effect, so there are no jobs." });
  const words = SOURCES[entry.source] ?? exactString(entry.source);
  const line = make("p", { class: "entry-line" }, usableEntry(entry) ? `Jobs from ${words}` : `No jobs: ${words} is invalid`);
  if (entry.path) line.append(" · ", exactElement("code", {}, entry.path, { oneLine: true }));
  if (entry.path && entry.hash) line.append(" · ", make("code", { text: shortHash(entry.hash), title: `SHA-256 ${entry.hash}` }));
  return line;
}

function shortHash(hash) {
  return (hash ?? "").slice(0, SHORT_HASH);
}

function problemList(problems) {
  if (!problems?.length) return null;
  const item = ({ path, message, severity }) =>
    make("li", { class: `entry-problem entry-${severity === "warning" ? "warning" : "error"}` }, make("b", { text: severity === "warning" ? "Warning" : "Error" }), " ", exactElement("code", {}, path, { oneLine: true }), " ", exactElement("span", {}, message));
  return make("ul", { class: "entry-problems" }, ...problems.map(item));
}
