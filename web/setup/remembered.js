// Small things that this browser remembers from one visit to the next. Without storage they last as long as the page.

const PREFIX = "flightdeck.home.";
const inMemory = new Map();

/** What was kept under a name; `otherwise` if there is nothing, or nothing that can be read. */
export function remembered(name, otherwise) {
  if (inMemory.has(name)) return inMemory.get(name);
  try {
    const text = localStorage.getItem(PREFIX + name);
    return text === null ? otherwise : JSON.parse(text) ?? otherwise;
  } catch {
    return otherwise;
  }
}

export function remember(name, value) {
  try {
    localStorage.setItem(PREFIX + name, JSON.stringify(value));
    inMemory.delete(name);
  } catch {
    // The storage is full or blocked.
    inMemory.set(name, value);
  }
}
