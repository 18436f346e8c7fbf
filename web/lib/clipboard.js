// Copies text and confirms it.

import { announce } from "./announcer.js";

const SHOWN_FOR = 1500;

async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

/** Without HTTPS or without permission, copying uses the old API. */
function copyBySelection(text) {
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "visually-hidden";
  const before = document.activeElement;
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  if (before instanceof HTMLElement) before.focus({ preventScroll: true });
  return done;
}

/** Copies when the button is pressed, and says so on the button for a moment. */
export async function copyFromButton(button, text) {
  const done = await copyText(text);
  button.classList.toggle("copied", done);
  button.classList.toggle("not-copied", !done);
  announce(done ? "Copied" : "The browser blocked copying");
  setTimeout(() => button.classList.remove("copied", "not-copied"), SHOWN_FOR);
}
