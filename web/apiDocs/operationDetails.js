// Everything about one operation: scope, parameters, body, replies, errors and a command line.

import { copyFromButton } from "../lib/clipboard.js";
import { make, prose } from "../lib/dom.js";
import { icon } from "../lib/icons.js";
import { curlLine } from "./curlLine.js";
import { schemaView, typeText } from "./schemaView.js";

const PLACES = { path: "Path", query: "Query", header: "Header" };

function part(title, ...children) {
  return make("section", { class: "api-part" }, make("h3", { text: title }), ...children);
}

function scopeLine(operation) {
  if (!operation.scope) return make("p", { class: "api-scope" }, "Needs no token.");
  return make("p", { class: "api-scope" }, "Needs the scope ", make("code", { text: operation.scope }), ".");
}

function parameterRow(api, parameter) {
  const required = parameter.required ? make("span", { class: "api-required", text: "required" }) : null;
  const about = [PLACES[parameter.in], typeText(api, parameter.schema)].join(", ");
  return make(
    "li",
    { class: "api-field" },
    make("p", { class: "api-field-line" }, make("code", { class: "api-name", text: parameter.name }), make("span", { class: "api-type", text: about }), required),
    parameter.description ? make("p", { class: "api-field-about" }, ...prose(parameter.description)) : null,
  );
}

function parametersPart(api, operation) {
  if (operation.parameters.length === 0) return null;
  return part("Parameters", make("ul", { class: "api-fields" }, ...operation.parameters.map((parameter) => parameterRow(api, parameter))));
}

function bodyPart(api, operation) {
  const { body } = operation;
  if (!body) return null;
  return part("Body", make("p", { class: "api-media" }, make("code", { text: body.type }), ...(body.description ? [" ", ...prose(body.description)] : [])), schemaView(api, body.schema));
}

function contentOf(api, { type, schema, events }) {
  if (events) return [make("p", { class: "api-media" }, make("code", { text: type }), " of"), schemaView(api, events)];
  return [make("p", { class: "api-media" }, make("code", { text: type })), schemaView(api, schema)];
}

function errorNames(names) {
  return names.flatMap((name, index) => [index > 0 ? " " : "", make("code", { text: name })]);
}

function repliesPart(api, operation) {
  const replies = operation.replies.map((reply) =>
    make(
      "div",
      { class: "api-reply" },
      make("p", { class: "api-status" }, make("strong", { text: reply.status }), ` ${reply.reason}`),
      ...reply.contents.flatMap((content) => contentOf(api, content)),
      reply.errors.length > 0 ? make("p", { class: "api-errors" }, "Or the error ", ...errorNames(reply.errors)) : null,
    ),
  );
  return part("Replies", ...replies);
}

function failuresPart(operation) {
  const rows = operation.failures.map(({ status, reason, errors }) =>
    make("li", {}, make("p", { class: "api-status" }, make("strong", { text: status }), ` ${reason}`), make("p", { class: "api-errors" }, ...errorNames(errors))),
  );
  return part("Errors", make("ul", { class: "api-failures" }, ...rows));
}

function curlPart(api, operation) {
  const line = curlLine(api, operation, location.origin);
  const button = make("button", { type: "button", class: "quiet-button icon-button api-copy", "aria-label": "Copy the command", title: "Copy" }, icon("copy"));
  button.addEventListener("click", () => copyFromButton(button, line));
  return part("Command line", make("div", { class: "api-curl" }, make("pre", { text: line }), button));
}

export function operationDetails(api, operation) {
  return make(
    "div",
    { class: "api-details" },
    operation.description ? make("p", {}, ...prose(operation.description)) : null,
    scopeLine(operation),
    parametersPart(api, operation),
    bodyPart(api, operation),
    repliesPart(api, operation),
    failuresPart(operation),
    curlPart(api, operation),
  );
}
