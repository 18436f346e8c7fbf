// The OpenAPI document as this page reads it.

const METHODS = ["get", "post", "put", "patch", "delete"];

/** One operation: a method on a path. */
class Operation {
  method;
  path;
  #described;

  constructor(method, path, described) {
    this.method = method.toUpperCase();
    this.path = path;
    this.#described = described;
  }

  get id() {
    return this.#described.operationId;
  }

  get summary() {
    return this.#described.summary;
  }

  get description() {
    return this.#described.description ?? "";
  }

  get tag() {
    return this.#described.tags[0];
  }

  /** The scope that a token needs, or null if anybody may call it. */
  get scope() {
    return this.#described["x-scope"];
  }

  get parameters() {
    return this.#described.parameters ?? [];
  }

  /** `{ type, schema, description }`, or null. */
  get body() {
    const body = this.#described.requestBody;
    if (!body) return null;
    const [[type, { schema }]] = Object.entries(body.content);
    return { type, schema, description: body.description ?? "" };
  }

  /** What it returns when it succeeds: `{ status, reason, contents: [{ type, schema, events }], errors }`. */
  get replies() {
    return this.#responses((status) => status < 400);
  }

  /** The statuses of failures with the names of their errors. */
  get failures() {
    return this.#responses((status) => status >= 400);
  }

  /** Whether everything that was typed occurs in it. */
  matches(words) {
    const text = `${this.method} ${this.path} ${this.id} ${this.summary} ${this.tag} ${this.scope ?? ""}`.toLowerCase();
    return words.every((word) => text.includes(word));
  }

  #responses(isWanted) {
    return Object.entries(this.#described.responses)
      .filter(([status]) => isWanted(Number(status)))
      .map(([status, { description, content = {}, "x-errors": errors = [] }]) => ({
        status,
        reason: description,
        contents: Object.entries(content).map(([type, media]) => ({ type, schema: media.schema, events: media["x-event-data"] })),
        errors,
      }));
  }
}

export class ApiDocument {
  /** The groups in reading order: `{ name, description, operations }`. */
  groups;
  #description;

  constructor(description) {
    this.#description = description;
    const operations = Object.entries(description.paths).flatMap(([path, methods]) => METHODS.filter((method) => methods[method]).map((method) => new Operation(method, path, methods[method])));
    this.groups = description.tags
      .map(({ name, description: about }) => ({ name, description: about, operations: operations.filter((operation) => operation.tag === name) }))
      .filter((group) => group.operations.length > 0);
  }

  get version() {
    return this.#description.info.version;
  }

  get description() {
    return this.#description.info.description;
  }

  /** The schema that a reference names, and its name; other schemas are returned as they are. */
  resolve(schema) {
    const name = /^#\/components\/schemas\/(.+)$/.exec(schema?.$ref ?? "")?.[1];
    if (!name) return { name: null, schema: schema ?? {} };
    const { $ref, ...beside } = schema;
    return { name, schema: { ...this.#description.components.schemas[name], ...beside } };
  }
}
