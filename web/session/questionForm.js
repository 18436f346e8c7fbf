// A form for a question whose answer has a flat JSON Schema.

import { make } from "../lib/dom.js";
import { exactNodes, exactString } from "../lib/exactText.js";

export class QuestionForm {
  elements = [];
  #fields = [];

  constructor(schema, prefix) {
    const required = new Set(Array.isArray(schema.required) ? schema.required : []);
    for (const [name, property] of Object.entries(schema.properties ?? {})) {
      this.#add(name, property ?? {}, required.has(name), `${prefix}-${this.#fields.length}`);
    }
  }

  /** The answers, or null after saying what is wrong with them. */
  read() {
    const content = {};
    let firstWrong = null;
    for (const field of this.#fields) {
      const problem = problemWith(field);
      field.problem.textContent = problem ?? "";
      field.problem.hidden = !problem;
      field.control.setAttribute("aria-invalid", String(Boolean(problem)));
      if (problem) firstWrong ??= field.control;
      const value = valueOf(field);
      if (value !== undefined) content[field.name] = value;
    }
    firstWrong?.focus();
    return firstWrong ? null : content;
  }

  #add(name, property, required, id) {
    const control = controlFor(property, id, required);
    const problem = make("span", { class: "request-problem", id: `${id}-problem`, hidden: true });
    control.setAttribute("aria-describedby", problem.id);
    const label = make("label", { for: id }, make("bdi", {}, ...exactNodes(property.title ?? name, { oneLine: true })), required ? "" : " (optional)");
    const hint = property.description && make("bdi", { class: "field-hint" }, ...exactNodes(property.description));
    const isCheckbox = property.type === "boolean";
    const row = make("div", { class: `form-field${isCheckbox ? " form-check" : ""}` }, ...(isCheckbox ? [control, label] : [label, control]), hint || null, problem);
    this.#fields.push({ name, property, required, control, problem });
    this.elements.push(row);
  }
}

function controlFor(property, id, required) {
  if (property.type === "boolean") return make("input", { type: "checkbox", id, checked: property.default === true });
  if (Array.isArray(property.enum)) {
    const names = property.enumNames ?? property.enum;
    const options = property.enum.map((value, index) => make("option", { value: String(value), text: exactString(names[index] ?? value), selected: value === property.default }));
    return make("select", { id, required }, ...(required ? [] : [make("option", { value: "", text: "(none)" })]), ...options);
  }
  const numeric = property.type === "number" || property.type === "integer";
  return make("input", {
    id,
    type: numeric ? "number" : property.format === "email" ? "email" : property.format === "date" ? "date" : "text",
    step: property.type === "number" ? "any" : null,
    min: property.minimum,
    max: property.maximum,
    maxlength: property.maxLength,
    value: property.default,
    required,
    autocomplete: "off",
  });
}

function problemWith({ property, required, control }) {
  if (property.type === "boolean") return null;
  if (required && control.value.trim() === "") return "Required.";
  if (control.value === "" && !control.validity.badInput) return null;
  if (!control.validity.valid) return control.validationMessage;
  return null;
}

function valueOf({ property, control }) {
  if (property.type === "boolean") return control.checked;
  if (control.value === "") return undefined;
  if (property.type === "number" || property.type === "integer") return Number(control.value);
  if (Array.isArray(property.enum)) return property.enum.find((value) => String(value) === control.value);
  return control.value;
}
