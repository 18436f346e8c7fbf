// What the browser keeps for these pages: all tabs share one storage, and each tab has one of its own. A browser may refuse both,
// and they may be full. early.js and login.js cannot use this module: one runs before modules do, the other before the login.

/** Whether the browser keeps anything at all. */
export function hasStorage() {
  try {
    return Boolean(localStorage);
  } catch {
    return false;
  }
}

/** The text that was kept under a key; null if there is none, or no storage. */
export function kept(key) {
  return read(() => localStorage, key);
}

/** Keeps a text, or forgets it if it is null. Returns whether that worked. */
export function keep(key, text) {
  return write(() => localStorage, key, text);
}

/** The same for this tab only. */
export function keptInTab(key) {
  return read(() => sessionStorage, key);
}

export function keepInTab(key, text) {
  return write(() => sessionStorage, key, text);
}

/** The value of a kept JSON text; null if there is none that can be read. */
export function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Even naming a storage throws where it is blocked. */
function read(storage, key) {
  try {
    return storage().getItem(key);
  } catch {
    return null;
  }
}

function write(storage, key, text) {
  try {
    if (text === null) storage().removeItem(key);
    else storage().setItem(key, text);
    return true;
  } catch {
    return false;
  }
}
