// The MCP servers of a session: the configured ones, which can be left out, and others for this session only.

import { make, setText } from "../lib/dom.js";
import { exactElement, exactString } from "../lib/exactText.js";
import { readServers } from "./mcpServerText.js";

let fieldsMade = 0;

export class McpServersField {
  #boxes = new Map();
  #added = new Map();
  #onChange;
  #list = make("ul", { class: "server-list" });
  #name;
  #address;
  #problem = make("p", { class: "field-problem", role: "alert", hidden: true });

  /** `value` is as in the API; what was added for one session is not kept, because it may contain secrets. */
  constructor(option, value, onChange) {
    this.#onChange = onChange;
    fieldsMade += 1;
    const id = `mcp-field-${fieldsMade}`;
    for (const { value: name } of option.choices ?? []) this.#boxes.set(name, this.#box(name, value?.[name] !== null));
    this.#name = make("input", { type: "text", id: `${id}-name`, class: "server-name", placeholder: "Name", "aria-label": "Name of the MCP server", spellcheck: "false", autocomplete: "off" });
    this.#address = make("input", { type: "text", id: `${id}-address`, class: "server-address", placeholder: "Command, URL or JSON", "aria-label": "Command, URL or JSON of the MCP server", spellcheck: "false", autocomplete: "off" });
    const add = make("button", { type: "button", text: "Add", "aria-label": "Add the MCP server", on: { click: () => this.#add() } });
    for (const input of [this.#name, this.#address]) input.addEventListener("keydown", (event) => this.#key(event));
    this.element = make(
      "fieldset",
      { class: "option option-wide option-servers", data: { option: option.name } },
      make("legend", { text: option.label }),
      make("p", { class: "field-hint", text: option.hint }),
      this.#list,
      make("div", { class: "server-new" }, this.#name, this.#address, add),
      this.#problem,
    );
    this.#show();
  }

  get value() {
    const left = [...this.#boxes].filter(([, box]) => !box.checked).map(([name]) => [name, null]);
    const entries = [...left, ...this.#added];
    return entries.length > 0 ? Object.fromEntries(entries) : undefined;
  }

  /** What may be kept for the next session. */
  get keptValue() {
    const left = [...this.#boxes].filter(([, box]) => !box.checked).map(([name]) => [name, null]);
    return left.length > 0 ? Object.fromEntries(left) : undefined;
  }

  /** A server that was written but not added would be missing without a word. */
  get problem() {
    return this.#address.value.trim() === "" ? null : "MCP servers: press Add to add the server you entered, or clear the fields.";
  }

  focus() {
    this.#address.focus();
  }

  #box(name, isChecked) {
    const box = make("input", { type: "checkbox", "aria-label": exactString(name), on: { change: this.#onChange } });
    box.checked = isChecked;
    return box;
  }

  #show() {
    const configured = [...this.#boxes].map(([name, box]) => make("li", {}, make("label", {}, box, exactElement("span", {}, name, { oneLine: true }))));
    const added = [...this.#added].map(([name, server]) => {
      const remove = make("button", { type: "button", class: "quiet-button", text: "Remove", "aria-label": exactString(`Remove ${name}`), on: { click: () => this.#remove(name) } });
      const place = server.url ?? [server.command, ...(server.args ?? [])].join(" ");
      return make("li", { class: "server-added" }, exactElement("b", {}, name, { oneLine: true }), exactElement("code", {}, place, { oneLine: true }), remove);
    });
    this.#list.replaceChildren(...configured, ...added);
    this.#list.hidden = configured.length + added.length === 0;
  }

  #key(event) {
    if (event.key !== "Enter" || event.ctrlKey || event.metaKey || event.isComposing) return;
    event.preventDefault();
    this.#add();
  }

  #add() {
    const { servers, problem } = readServers(this.#name.value.trim(), this.#address.value.trim());
    setText(this.#problem, problem);
    if (problem) return;
    for (const [name, server] of Object.entries(servers)) this.#added.set(name, server);
    this.#name.value = "";
    this.#address.value = "";
    this.#show();
    this.#name.focus();
    this.#onChange();
  }

  #remove(name) {
    this.#added.delete(name);
    this.#show();
    this.#name.focus();
    this.#onChange();
  }
}
