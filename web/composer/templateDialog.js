// The user's prompt templates: saved from the request, listed, edited and deleted.

import { ask } from "../lib/api.js";
import { confirmAction } from "../lib/dialog.js";
import { make } from "../lib/dom.js";
import { exactString } from "../lib/exactText.js";
import { icon } from "../lib/icons.js";
import { promptDialog } from "./promptDialog.js";

const NAME = "[A-Za-z0-9][A-Za-z0-9_\\-]{0,63}";

const path = (name) => `api/prompts/${encodeURIComponent(name)}`;

/** Saves a text as a template, or edits one. `known` are the templates that are there. Resolves to whether one was saved. */
export function editTemplate({ name = "", description = "", text = "", known = [] }) {
  const nameInput = make("input", { type: "text", value: name, required: true, pattern: NAME, autocomplete: "off", spellcheck: "false", title: "Letters, digits, hyphens and underscores" });
  const about = make("input", { type: "text", value: description, maxlength: "200", autocomplete: "off" });
  const area = make("textarea", { rows: "10", required: true });
  area.value = text;
  const isNew = name === "";
  return promptDialog({
    title: isNew ? "Save as template" : `Edit the template ${name}`,
    content: [
      make("label", {}, "Name, typed as /name", nameInput),
      make("label", {}, "Description (optional)", about),
      make("label", {}, "Prompt. $ARGUMENTS or {{input}} stands for the text after the name.", area),
    ],
    action: "Save",
    first: isNew ? nameInput : area,
    save: async () => {
      const chosen = nameInput.value.trim();
      const replaces = chosen !== name && known.some((template) => template.name === chosen);
      if (replaces && !(await confirmAction({ title: `Replace the template ${chosen}?`, text: "A template with this name already exists. Its text will be overwritten.", action: "Replace" }))) throw new Error("Choose another name.");
      await ask(path(chosen), { method: "PUT", json: { text: area.value, description: about.value } });
      if (!isNew && chosen !== name) await ask(path(name), { method: "DELETE" });
    },
  });
}

/** Lists all templates. `load()` reads them again and returns `{ folder, prompts, problems }`; `use(template)` puts one into the request. */
export async function manageTemplates({ load, use }) {
  const list = make("div", { class: "template-list" });
  const folder = make("p", { class: "template-folder" });
  const said = make("p", { class: "field-problem", role: "alert", hidden: true });
  const say = (text) => {
    said.textContent = text;
    said.hidden = !text;
  };

  async function show() {
    try {
      const { folder: place, prompts, problems } = await load();
      folder.replaceChildren("Markdown files in ", make("code", { text: exactString(place) }));
      list.replaceChildren(...prompts.map((template) => row(template, prompts)));
      if (prompts.length === 0) list.append(make("p", { class: "empty", text: "No templates yet. A template is a reusable prompt: write one, or save a request as a template." }));
      say(problems.join(" "));
    } catch (problem) {
      say(`Could not read the templates: ${problem.message}`);
    }
  }

  function row(template, prompts) {
    const { name, description } = template;
    const button = (picture, label, run) => make("button", { type: "button", class: "quiet-button icon-button", "aria-label": `${label} ${name}`, title: label, on: { click: run } }, icon(picture));
    return make(
      "div",
      { class: "template-row", data: { template: name } },
      make("span", { class: "template-name", text: `/${name}` }),
      make("bdi", { class: "template-about", text: exactString(description), title: exactString(description) }),
      make("button", { type: "button", class: "quiet-button", text: "Use", "aria-label": `Use ${name}`, on: { click: () => choose(template) } }),
      button("edit", "Edit", async () => (await editTemplate({ ...template, known: prompts })) && show()),
      button("trash", "Delete", () => remove(name)),
    );
  }

  function choose(template) {
    list.closest("dialog").close();
    use(template);
  }

  async function remove(name) {
    if (!(await confirmAction({ title: `Delete the template ${name}?`, text: "Its file is deleted. This can't be undone.", action: "Delete", keep: "Keep" }))) return;
    try {
      await ask(path(name), { method: "DELETE" });
    } catch (problem) {
      // Deleted elsewhere is deleted too.
      if (problem.status !== 404) say(`Could not delete the template: ${problem.message}`);
    }
    await show();
  }

  const add = make("button", { type: "button", text: "New template", on: { click: async () => (await editTemplate({})) && show() } });
  const closed = promptDialog({ title: "Prompt templates", content: [list, folder, said], buttons: [add], close: "Close" });
  await show();
  await closed;
}
