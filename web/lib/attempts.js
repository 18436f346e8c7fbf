// Keys that make a request safe to repeat: the same content gets the same key until it is known to have arrived.

export class Attempts {
  #keys = new Map();

  keyFor(content) {
    if (!this.#keys.has(content)) this.#keys.set(content, newKey());
    return this.#keys.get(content);
  }

  arrived(content) {
    this.#keys.delete(content);
  }
}

/** `crypto.randomUUID` exists only where the page is on https or on localhost. */
export function newKey() {
  return [...crypto.getRandomValues(new Uint32Array(4))].map((part) => part.toString(36)).join("-");
}
