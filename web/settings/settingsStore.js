// The settings as the server has them, and changes of them. The file may also be changed by hand: a change names the
// revision of the file that the page has seen.

import { ask } from "../lib/api.js";
import { tellSettingsChanged } from "../lib/settingsNews.js";

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

  /** Whether the user's file gives a setting this value; null if it gives none. */
  isInFile(key, value) {
    return isSame(this.get(key)?.userValue ?? null, value);
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
    // Without a reply, only the settings themselves say whether they were changed.
    this.#last = result.catch((problem) => (problem.isUnreachable ? this.load().catch(() => {}) : undefined));
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
    tellSettingsChanged();
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

/** Whether two JSON values are the same, in whatever order their keys are. */
function isSame(one, other) {
  if (one === null || other === null || typeof one !== "object" || typeof other !== "object") return one === other;
  const keys = Object.keys(one);
  return Array.isArray(one) === Array.isArray(other) && keys.length === Object.keys(other).length && keys.every((key) => key in other && isSame(one[key], other[key]));
}

/** The key of an entry of a table, as the server reads it: a name may contain dots. */
export function entryKey(table, name) {
  return `${table}.${PLAIN_NAME.test(name) ? name : JSON.stringify(name)}`;
}
