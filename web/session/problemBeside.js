// Says beside a link or button what went wrong when it was used.

import { make } from "../lib/dom.js";

/** Without a text, what was said goes. */
export function sayBeside(control, text) {
  const said = control.nextElementSibling;
  if (said?.matches(".problem-beside")) said.remove();
  if (text) control.after(make("span", { class: "field-problem problem-beside", role: "alert", text }));
}
