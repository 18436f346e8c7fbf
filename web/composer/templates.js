// The user's prompt templates, and what becomes of one when it is used.

import { ask } from "../lib/api.js";

const PLACEHOLDER = /\$ARGUMENTS|\{\{input\}\}/g;

export class Templates {
  #list = { folder: "", prompts: [], problems: [] };

  /** Reads them again. Returns `{ folder, prompts, problems }`. */
  async load(options = {}) {
    this.#list = await ask("api/prompts", options);
    return this.#list;
  }

  get all() {
    return this.#list.prompts;
  }

  /** A request that begins with the name of a template becomes the template's text, with the rest as its input. */
  expand(text, isCommand) {
    const [, name, input] = /^\s*\/([A-Za-z0-9][\w-]*)(?:\s+([\s\S]*))?$/.exec(text) ?? [];
    const template = name && !isCommand(name) ? this.all.find((one) => one.name === name) : null;
    return template ? filled(template.text, (input ?? "").trimEnd()) : text;
  }
}

/** A template with its input; one without a placeholder has it at the end. */
function filled(text, input) {
  if (text.search(PLACEHOLDER) >= 0) return text.replace(PLACEHOLDER, () => input);
  return input ? `${text}\n\n${input}` : text;
}

/** Where the first placeholder is, so that typing replaces it; else the end. */
export function placeToWrite(text) {
  const found = new RegExp(PLACEHOLDER.source).exec(text);
  return found ? [found.index, found.index + found[0].length] : [text.length, text.length];
}
