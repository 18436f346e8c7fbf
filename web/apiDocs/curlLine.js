// A command line that calls an operation, with examples for what it needs.

/** A text as one word of a shell. */
function quoted(text) {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** The id that a pattern such as `^session-[1-9][0-9]*$` allows, or null. */
function idExample({ pattern = "" }) {
  const word = /^\^([a-z]+)-\[1-9\]\[0-9\]\*\$$/.exec(pattern)?.[1];
  return word ? `${word}-1` : null;
}

function pathExample({ name, schema }) {
  if (schema.pattern?.endsWith("\\.html$")) return "1.html";
  return idExample(schema) ?? name.toUpperCase();
}

/** An example of a schema: only what is required. */
export function example(api, given, depth = 0) {
  const { schema } = api.resolve(given);
  if (schema.default !== undefined && schema.default !== null) return schema.default;
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum.find((word) => word !== "") ?? schema.enum[0];
  const [choice] = schema.oneOf ?? schema.anyOf ?? [];
  if (choice) return example(api, choice, depth);
  const [type] = [schema.type].flat();
  if (type === "array" && schema.items && depth < 3) return [example(api, schema.items, depth + 1)];
  if (type === "object" || schema.properties) {
    const required = schema.required ?? [];
    return depth > 3 ? {} : Object.fromEntries(required.map((name) => [name, example(api, schema.properties[name], depth + 1)]));
  }
  if (type === "integer" || type === "number") return schema.minimum ?? 1;
  if (type === "boolean") return false;
  return idExample(schema) ?? "…";
}

export function curlLine(api, operation, origin) {
  const values = new Map(operation.parameters.filter((parameter) => parameter.in === "path").map((parameter) => [parameter.name, pathExample(parameter)]));
  const path = operation.path.replace(/\{([^}]+)\}/g, (_, name) => values.get(name));
  const query = operation.parameters.filter((parameter) => parameter.in === "query" && parameter.required).map((parameter) => `${parameter.name}=${parameter.name.toUpperCase()}`);
  const parts = ["curl"];
  const streams = operation.replies.some((reply) => reply.contents.length > 0 && reply.contents.every((content) => content.events));
  if (streams) parts.push("-N");
  if (operation.method !== "GET") parts.push(`-X ${operation.method}`);
  if (operation.scope) parts.push('-H "Authorization: Bearer $TOKEN"');
  const { body } = operation;
  if (body?.type === "application/json") parts.push("-H 'Content-Type: application/json'", `-d ${quoted(JSON.stringify(example(api, body.schema)))}`);
  else if (body?.type === "application/x-www-form-urlencoded") parts.push("-d 'token=TOKEN'");
  else if (body) parts.push("--data-binary 'TEXT'");
  parts.push(quoted(`${origin}${path}${query.length > 0 ? `?${query.join("&")}` : ""}`));
  return parts.join(" ");
}
