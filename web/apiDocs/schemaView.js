// A JSON Schema for people: the fields of an object, and what each may be.

import { make, prose } from "../lib/dom.js";

/** Alternatives of a schema, without null. */
function alternatives(schema) {
  return (schema.oneOf ?? schema.anyOf ?? []).filter((choice) => choice.type !== "null");
}

function isNullable(schema) {
  return (Array.isArray(schema.type) && schema.type.includes("null")) || (schema.oneOf ?? schema.anyOf ?? []).some((choice) => choice.type === "null");
}

/** The words that a value may be, or null. */
function wordsOf(schema) {
  if (schema.const !== undefined) return [schema.const];
  if (schema.enum) return schema.enum;
  const choices = alternatives(schema);
  if (choices.length === 0 || choices.some((choice) => choice.const === undefined && !choice.enum)) return null;
  return choices.flatMap((choice) => choice.enum ?? [choice.const]);
}

/** The type in a few words: `string`, `array of Session`, `"ask" or "deny"`. */
export function typeText(api, schema) {
  const text = plainType(api, schema);
  return isNullable(api.resolve(schema).schema) ? `${text} or null` : text;
}

function plainType(api, given) {
  const { name, schema } = api.resolve(given);
  const words = wordsOf(schema);
  if (words) return words.map((word) => JSON.stringify(word)).join(" or ");
  if (name) return name;
  const choices = alternatives(schema);
  if (choices.length > 0) return [...new Set(choices.map((choice) => plainType(api, choice)))].join(" or ");
  const types = [schema.type ?? "any"].flat().filter((type) => type !== "null");
  if (types.includes("array")) return `array of ${schema.items ? plainType(api, schema.items) : "anything"}`;
  if (types.includes("object") && schema.additionalProperties && typeof schema.additionalProperties === "object") return `object of ${plainType(api, schema.additionalProperties)}`;
  return types.join(" or ");
}

/** The schema whose fields are worth showing: that of an array's elements, of a map's values, of what may be null, or the schema itself. */
function inner(api, given) {
  const { schema } = api.resolve(given);
  const choices = alternatives(schema);
  const only = choices.length === 1 ? choices[0] : null;
  const below = schema.items ?? (typeof schema.additionalProperties === "object" ? schema.additionalProperties : only);
  return below && !schema.properties ? inner(api, below) : given;
}

/** Fields of an object, also those of the schemas that it is made of. */
function fieldsOf(api, given) {
  const { schema } = api.resolve(given);
  const required = new Set(schema.required ?? []);
  const own = Object.entries(schema.properties ?? {}).map(([name, field]) => ({ name, field, required: required.has(name) }));
  return [...(schema.allOf ?? []).flatMap((piece) => fieldsOf(api, piece)), ...own];
}

function hasFields(api, given) {
  const schema = inner(api, given);
  if (wordsOf(api.resolve(schema).schema)) return false;
  return fieldsOf(api, schema).length > 0 || alternatives(api.resolve(schema).schema).some((choice) => hasFields(api, choice));
}

/** Fields inside fields are shown on demand: types may contain themselves. */
function nested(api, schema) {
  const details = make("details", { class: "api-nested" }, make("summary", { text: "Fields" }));
  details.addEventListener("toggle", () => {
    if (details.open && details.children.length === 1) details.append(schemaView(api, schema, { withName: false }));
  });
  return details;
}

function fieldRow(api, { name, field, required }) {
  const { schema } = api.resolve(field);
  const about = field.description ?? schema.description;
  return make(
    "li",
    { class: "api-field" },
    make("p", { class: "api-field-line" }, make("code", { class: "api-name", text: name }), make("span", { class: "api-type", text: typeText(api, field) }), required ? make("span", { class: "api-required", text: "required" }) : null),
    about ? make("p", { class: "api-field-about" }, ...prose(about)) : null,
    hasFields(api, field) ? nested(api, field) : null,
  );
}

/** What tells one alternative from the others. */
function labelOf(api, choice) {
  const { name, schema } = api.resolve(choice);
  const marks = Object.values(schema.properties ?? {}).filter((field) => field.const !== undefined).map((field) => field.const);
  return marks.join(" ") || name || schema.title || typeText(api, choice);
}

function choiceView(api, choice) {
  const { schema } = api.resolve(choice);
  const details = make("details", { class: "api-nested" }, make("summary", {}, make("code", { text: labelOf(api, choice) })));
  details.addEventListener("toggle", () => {
    if (details.open && details.children.length === 1) details.append(schemaView(api, choice, { withName: false }));
  });
  return make("li", {}, details, schema.description ? make("p", { class: "api-field-about" }, ...prose(schema.description)) : null);
}

export function schemaView(api, given, { withName = true } = {}) {
  const schema = inner(api, given);
  const resolved = api.resolve(schema).schema;
  const view = make("div", { class: "api-schema" });
  if (withName) view.append(make("p", { class: "api-type", text: typeText(api, given) }));
  if (resolved.description && withName) view.append(make("p", { class: "api-field-about" }, ...prose(resolved.description)));
  const fields = fieldsOf(api, schema);
  if (fields.length > 0) view.append(make("ul", { class: "api-fields" }, ...fields.map((field) => fieldRow(api, field))));
  const choices = wordsOf(resolved) ? [] : alternatives(resolved).filter((choice) => hasFields(api, choice));
  if (choices.length > 0) view.append(make("p", { class: "api-choice", text: fields.length > 0 ? "And one of:" : "One of:" }), make("ul", { class: "api-choices" }, ...choices.map((choice) => choiceView(api, choice))));
  return view;
}
