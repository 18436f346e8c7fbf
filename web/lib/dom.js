// Helpers for the document. Text is always set as text; only blocks that the server rendered are HTML.

/**
 * Makes an element. `text` is its text, `class` its classes, `on` its listeners, `data` its data attributes; everything
 * else is an attribute, left out when it is null, undefined or false.
 */
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "text") element.textContent = value;
    else if (name === "class") element.className = value;
    else if (name === "on") Object.entries(value).forEach(([kind, listener]) => element.addEventListener(kind, listener));
    else if (name === "data") Object.assign(element.dataset, value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/** The element with that id; a missing one is a mistake in index.html. */
export function byId(id) {
  const element = document.getElementById(id);
  if (!element) throw new Error(`the page has no #${id}`);
  return element;
}

/** Shows a text and hides the element while there is none. */
export function setText(element, text) {
  element.textContent = text ?? "";
  element.hidden = !text;
}

/** A sentence in which `code` between backticks looks like code. */
export function prose(text) {
  const parts = String(text ?? "").split("`");
  // An odd number of parts means that all backticks are paired.
  if (parts.length % 2 === 0) return [text];
  return parts.map((part, index) => (index % 2 === 1 ? make("code", { text: part }) : part)).filter((part) => part !== "");
}

/** Whether the person is typing: single-letter keys must not act then. */
export function isWriting(target = document.activeElement) {
  return target instanceof HTMLElement && (target.isContentEditable || target.matches("input:not([type=checkbox]), textarea, select"));
}

/** Option on Apple's keyboards writes characters; elsewhere AltGr does, and Alt writes none. */
const ALT_WRITES = /^(Mac|iP)/.test(navigator.platform);

/** Whether a key with Alt writes a character into a text field, such as Option+L for "@" in German, and is no shortcut there. */
export function writesWithAlt(event) {
  const { code, key, target } = event;
  if (!isWriting(target)) return false;
  if (key === "Dead" || event.getModifierState("AltGraph")) return true;
  return ALT_WRITES && key.length === 1 && code !== `Key${key.toUpperCase()}`;
}
