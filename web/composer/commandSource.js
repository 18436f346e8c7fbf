// "/" at the beginning completes the agent's commands and the user's prompt templates.

import { make } from "../lib/dom.js";
import { exactString } from "../lib/exactText.js";
import { placeToWrite } from "./templates.js";

/** `load(signal)` returns `{ commands, templates }`. */
export function commandSource(load) {
  return {
    label: "Commands and templates",
    find(before) {
      const found = /^(\s*)\/(\S*)$/.exec(before);
      return found ? { start: found[1].length, query: found[2] } : null;
    },
    async items(query, signal) {
      const { commands, templates } = await load(signal);
      const all = [...templates.map((template) => ({ ...template, isTemplate: true })), ...commands];
      const found = matching(all, query.toLowerCase());
      const note = all.length === 0 ? "The agent has no commands, and there are no templates yet. Save one from the “…” menu." : null;
      return { items: found.map(item), note };
    },
  };
}

/** Names that begin with the letters first, then names and descriptions that contain them. */
function matching(all, letters) {
  const rank = ({ name, description = "" }) => {
    const lower = name.toLowerCase();
    if (lower.startsWith(letters)) return 0;
    if (lower.includes(letters)) return 1;
    return description.toLowerCase().includes(letters) ? 2 : null;
  };
  const ranked = all.map((one) => ({ one, rank: rank(one) })).filter((found) => found.rank !== null);
  return ranked.toSorted((first, second) => first.rank - second.rank || first.one.name.localeCompare(second.one.name)).map(({ one }) => one);
}

function item(command) {
  const { name, description, hint, isTemplate } = command;
  const nodes = [
    make("bdi", { class: "completion-name", text: exactString(`/${name}${hint ? ` ${hint}` : ""}`) }),
    make("bdi", { class: "completion-about", text: exactString(description ?? "") }),
    make("span", { class: "completion-kind", text: isTemplate ? "template" : "command" }),
  ];
  return { nodes, insert: isTemplate ? (before, after) => withTemplate(command, before, after) : (before, after) => withCommand(name, before, after) };
}

function withCommand(name, before, after) {
  const text = `${before}/${name}`;
  const gap = /^\s/.test(after) ? "" : " ";
  return { text: `${text}${gap}${after}`, selection: [text.length + 1, text.length + 1] };
}

/** The template's text, with the first placeholder selected: typing replaces it. */
function withTemplate({ text }, before, after) {
  const rest = after.trim();
  const [start, end] = placeToWrite(text).map((at) => at + before.length);
  return { text: `${before}${text}${rest ? `\n\n${rest}` : ""}`, selection: [start, end] };
}
