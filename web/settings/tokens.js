// Tokens for programs: what each may do, until when, and when it was used.

import { announce } from "../lib/announcer.js";
import { ask } from "../lib/api.js";
import { copyFromButton } from "../lib/clipboard.js";
import { confirmAction } from "../lib/dialog.js";
import { make, setText } from "../lib/dom.js";
import { exactElement, exactString } from "../lib/exactText.js";
import { ago, exactTime } from "../lib/format.js";
import { makeControl } from "./controls.js";
import { notLoaded } from "./notLoaded.js";
import { Checks } from "./secretControls.js";
import { group } from "./settingGroup.js";

const SCOPES = [
  ["view", "view – read sessions, jobs, usage and pending requests"],
  ["prompt", "prompt – start sessions, send prompts, interrupt"],
  ["approve", "approve – answer requests and gates, change permissions and budgets"],
  ["jobs", "jobs – start, stop and retry jobs"],
  ["models", "models – use agents as models, under /v1/"],
  ["admin", "admin – everything, including settings and tokens"],
];
const LIVES = [["1h", "1 hour"], ["1d", "1 day"], ["7d", "7 days"], ["30d", "30 days"], ["90d", "90 days"], ["365d", "1 year"], ["never", "Never"]];
const STATES = { active: "Active", expired: "Expired", revoked: "Revoked" };

export function tokensSection() {
  const list = new TokenList();
  const form = new TokenForm(() => list.load());
  return [group("New token", "For a program that uses this server. It can do only what its scopes allow.", form.element), group("Tokens", "The server's own token is not in this list; it is in the file token in the data folder.", list.element)];
}

class TokenForm {
  element;
  #created;
  #name = makeControl({ kind: "text", placeholder: "backup script" }, { maxlength: "100" });
  #scopes = new Checks({ choices: SCOPES, label: "Scopes" });
  #life = makeControl({ kind: "choice", choices: LIVES });
  #problem = make("p", { class: "field-problem", role: "alert", hidden: true });
  #warning = make("p", { class: "field-warning", role: "status", hidden: true });
  #result = make("div", { class: "token-result", hidden: true });
  #button = make("button", { type: "submit", class: "primary", text: "Create token" });

  constructor(created) {
    this.#created = created;
    this.#life.write("30d");
    const row = (label, control) => make("div", { class: "entry-field" }, control.id ? make("label", { for: control.id, text: label }) : make("span", { class: "entry-label", text: label }), make("div", { class: "entry-field-body" }, control.element));
    const fields = make("div", { class: "entry-fields" }, row("Name", this.#name), row("Scopes", this.#scopes), row("Expires after", this.#life));
    const form = make("form", { class: "entry-form token-form", novalidate: true, "aria-label": "New token" }, fields, this.#warning, make("div", { class: "entry-buttons" }, this.#button), this.#problem);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#create();
    });
    form.addEventListener("input", () => this.#warn());
    this.element = make("div", {}, form, this.#result);
  }

  #warn() {
    const scopes = this.#scopes.read();
    const words = scopes.includes("admin") ? "Anyone with this token can do everything that you can." : scopes.includes("approve") ? "Anyone with this token can let agents run commands." : null;
    setText(this.#warning, words);
    this.element.classList.toggle("dirty", scopes.length > 0 || this.#name.read() !== "");
    if (scopes.length > 0) setText(this.#problem, null);
  }

  async #create() {
    const scopes = this.#scopes.read();
    if (scopes.length === 0) {
      setText(this.#problem, "Choose at least one scope.");
      return;
    }
    this.#button.disabled = true;
    try {
      const token = await ask("api/tokens", { json: { scopes, name: this.#name.read() || undefined, expires: this.#life.read() } });
      setText(this.#problem, null);
      this.#show(token);
      this.#name.write("");
      this.#scopes.write([]);
      this.#life.write("30d");
      this.#warn();
      this.#created();
    } catch (problem) {
      setText(this.#problem, `Could not create the token: ${problem.message}`);
    } finally {
      this.#button.disabled = false;
    }
  }

  /** The secret is in this answer and nowhere else. */
  #show({ name, id, secret }) {
    const copy = make("button", { type: "button", class: "primary", text: "Copy", on: { click: () => copyFromButton(copy, secret) } });
    const done = make("button", { type: "button", text: "Done", on: { click: () => this.#hide() } });
    const heading = make("h4", { tabindex: "-1", text: `Token ${exactString(name || id)} created` });
    this.#result.replaceChildren(heading, make("p", { text: "Copy it now. It won't be shown again." }), make("div", { class: "token-line" }, make("code", { class: "token-secret", text: secret }), copy, done));
    this.#result.hidden = false;
    heading.focus();
  }

  #hide() {
    this.#result.replaceChildren();
    this.#result.hidden = true;
    this.#name.input.focus();
  }
}

class TokenList {
  element = make("div", { class: "token-list" }, make("p", { class: "empty", text: "Loading …" }));
  #problem = make("p", { class: "field-problem", role: "alert", hidden: true });

  constructor() {
    this.load();
  }

  async load() {
    try {
      const { tokens } = await ask("api/tokens");
      const rank = ({ state }) => (state === "active" ? 0 : 1);
      const rows = tokens.toSorted((one, other) => rank(one) - rank(other)).map((token) => this.#row(token));
      this.element.replaceChildren(this.#problem, make("ul", { class: "entry-list" }, ...(rows.length > 0 ? rows : [make("li", { class: "empty", text: "No tokens." })])));
    } catch (problem) {
      this.element.replaceChildren(notLoaded("tokens", problem, () => this.load()));
    }
  }

  #row(token) {
    const { id, name, scopes, state, createdAt, expiresAt, lastUsedAt } = token;
    const fact = (text, time) => make("span", { title: time ? exactTime(time) : null, text });
    const facts = [
      fact(scopes.join(", ")),
      fact(lastUsedAt ? `last used ${ago(lastUsedAt)}` : "never used", lastUsedAt),
      state === "active" ? fact(expiresAt ? `expires ${new Date(expiresAt).toLocaleDateString()}` : "never expires", expiresAt) : null,
      fact(`created ${ago(createdAt)}`, createdAt),
    ].filter(Boolean);
    const words = make("div", { class: "entry-words" }, make("span", {}, exactElement("b", { class: "entry-name" }, name || id, { oneLine: true }), name ? make("code", { class: "token-id", text: id }) : null, state === "active" ? null : make("span", { class: `token-state token-${state}`, text: STATES[state] ?? state })), make("span", { class: "entry-summary token-facts" }, ...facts));
    const revoke = state === "active" ? make("button", { type: "button", class: "danger", text: "Revoke", "aria-label": `Revoke ${exactString(name || id)}`, on: { click: () => this.#revoke(token) } }) : null;
    return make("li", { class: "entry", data: { token: id, state } }, make("div", { class: "entry-row" }, words, make("div", { class: "entry-actions" }, revoke)));
  }

  async #revoke({ id, name }) {
    const isSure = await confirmAction({ title: `Revoke ${exactString(name || id)}?`, text: "Programs that use this token lose access immediately. This can't be undone.", action: "Revoke" });
    if (!isSure) return;
    try {
      await ask(`api/tokens/${id}`, { method: "DELETE" });
      setText(this.#problem, null);
      announce("Revoked");
    } catch (problem) {
      if (problem.code !== "TokenAlreadyRevoked") {
        setText(this.#problem, `Could not revoke the token: ${problem.message}`);
        return;
      }
    }
    await this.load();
  }
}
