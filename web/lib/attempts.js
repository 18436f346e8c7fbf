// Keys that make a request safe to repeat: the same content gets the same key until it is known to have arrived.

export class Attempts {
  #keys = new Map();

  keyFor(content) {
    if (!this.#keys.has(content)) {
      const random = crypto.getRandomValues(new Uint32Array(4));
      this.#keys.set(content, [...random].map((part) => part.toString(36)).join("-"));
    }
    return this.#keys.get(content);
  }

  arrived(content) {
    this.#keys.delete(content);
  }
}
