// The settings as the server has them, and changes of them. The file may also be changed by hand: a change names the
// revision of the file that the page has seen.

import { ask } from "../lib/api.js";

const PLAIN_NAME = /^[A-Za-z0-9_-]+$/;

export class SettingsStore extends EventTarget {
  /** The file that changes are written to. */
  userFile = "";
  /** Keys whose value takes effect when the server is started again. */
  waitingForRestart = [];
  #settings = new Map();
  #revision = null;
  /** One change at a time, so that each knows the revision that the one before made. */
  #last = Promise.resolve();

  /** Reads all settings; listeners of "change" show them. */
  async load() {
    const { userFile, revision, waitingForRestart, settings } = await ask("api/settings");
    this.userFile = userFile;
    this.#revision = revision;
    this.waitingForRestart = waitingForRestart;
    this.#settings = new Map(settings.map((setting) => [setting.key, setting]));
    this.dispatchEvent(new Event("change"));
  }

  /** Has the server read its files again. */
  async reread() {
    await ask("api/settings", { method: "PATCH", json: { changes: {} } });
    await this.load();
  }

  get(key) {
    return this.#settings.get(key);
  }

  get keys() {
    return [...this.#settings.keys()];
  }

  /** The entries of a table such as `providers`: `[name, setting]`, by name. */
  entries(table) {
    const inTable = this.keys.filter((key) => key.startsWith(`${table}.`));
    return inTable.map((key) => [key.slice(table.length + 1), this.get(key)]).toSorted(([one], [other]) => one.localeCompare(other));
  }

  /** Rejects if the server would refuse these changes. */
  check(changes, signal) {
    return ask("api/settings", { method: "PATCH", json: { changes, dryRun: true }, signal });
  }

  /** Changes settings; null removes one from the user's file. Resolves to the server's answer. */
  change(changes) {
    const result = this.#last.then(() => this.#send(changes));
    this.#last = result.catch(() => {});
    return result;
  }

  async #send(changes) {
    const revision = this.#revision ?? undefined;
    let answer;
    try {
      answer = await ask("api/settings", { method: "PATCH", json: { changes, revision } });
    } catch (problem) {
      if (problem.code === "SettingsChanged") await this.reread().catch(() => {});
      throw problem;
    }
    this.#revision = answer.revision;
    for (const setting of answer.settings) {
      if (setting.value === null && setting.default === null) this.#settings.delete(setting.key);
      else this.#settings.set(setting.key, setting);
    }
    // The list of what waits for a restart; what was saved is known without it.
    await this.load().catch(() => this.dispatchEvent(new Event("change")));
    return answer;
  }
}

/** The key of an entry of a table, as the server reads it: a name may contain dots. */
export function entryKey(table, name) {
  return `${table}.${PLAIN_NAME.test(name) ? name : JSON.stringify(name)}`;
}

/** What went wrong, in words for the person who has just saved something. */
export function savingProblem(problem) {
  if (problem.code === "SettingsChanged") return "Not saved: the settings have changed since this page loaded them. The current values are shown now; save again to keep yours.";
  if (problem.isUnreachable) return "Not saved: the server did not respond. Your input is still here; save again when the server is back.";
  if (problem.isLoggedOut) return "Not saved: you are no longer logged in. Log in again in another tab, then save again.";
  if (problem.status === 403) return `Not saved: this login can't change settings. ${problem.message}`;
  return shortened(problem.message);
}

/** The server names the file and the key, which the person sees anyway. */
export function shortened(message) {
  const [, reason] = String(message).match(/ sets `[^`]*` to an invalid value: (.*)$/s) ?? [];
  const text = (reason ?? String(message).replace(/^The server could not start with these settings: /, "")).trim();
  return text.charAt(0).toUpperCase() + text.slice(1);
}
