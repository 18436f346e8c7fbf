// What the tasks of an entry may do on this machine: the commands that they run, and what their agents may do unasked.

import { make } from "../lib/dom.js";
import { exactElement } from "../lib/exactText.js";
import { ruleText } from "../panels/folderRules.js";

const MODES = {
  folder: "files in the working directory",
  ask: "asks you",
  "allow-all": "everything, without asking",
  deny: "nothing",
};

/** A table of the tasks of an entry. */
export function allowancesOf({ tasks = {} }) {
  const rows = Object.entries(tasks).map(([name, task]) =>
    make("tr", {}, make("th", { scope: "row" }, exactElement("bdi", {}, name, { oneLine: true })), make("td", {}, ...commandsOf(task)), make("td", {}, permissionsElement(task.permissions, task.mcpServers))),
  );
  if (rows.length === 0) return null;
  const head = make("thead", {}, make("tr", {}, ...["Task", "Runs", "Permissions"].map((text) => make("th", { scope: "col", text }))));
  return make("div", { class: "entry-allowances", tabindex: "0", role: "region", "aria-label": "What the entry allows" }, make("table", {}, head, make("tbody", {}, ...rows)));
}

function commandsOf({ criteria, mcpServers = {} }) {
  const commands = [criteria?.command?.run, ...Object.values(mcpServers).map((server) => server?.command && [server.command, ...(server.args ?? [])])].filter(Boolean);
  return commands.length > 0 ? commands.map((words) => commandElement(words)) : [make("span", { class: "entry-nothing", text: "no commands" })];
}

/** A command, word by word: a word with white space or quotes is in quotes. */
export function commandElement(words) {
  const shown = words.flatMap((word, index) => [index > 0 ? " " : "", exactElement("span", { class: "command-word" }, /^[\w./:=@%+,-]+$/.test(word) ? word : JSON.stringify(word), { oneLine: true })]);
  return make("code", { class: "command" }, ...shown);
}

/** What an agent may do without asking: its rules first, then what holds for everything else. */
export function permissionsElement(permissions, mcpServers = {}) {
  const { mode = "folder", rules = [] } = permissions ?? {};
  const items = rules.map((rule) => make("li", {}, exactElement("span", {}, ruleText(rule), { oneLine: true })));
  const servers = Object.keys(mcpServers).map((name) => make("li", {}, "MCP server ", exactElement("bdi", {}, name, { oneLine: true })));
  const isOpen = mode === "allow-all";
  return make("ul", { class: "permission-list" }, ...items, ...servers, make("li", { class: isOpen ? "permission-open" : "" }, `${items.length > 0 ? "otherwise: " : ""}${MODES[mode] ?? mode}`));
}
