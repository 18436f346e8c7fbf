// Dialogs of the page. The safe choice has the focus, and Escape cancels.

import { make } from "./dom.js";

let dialogsMade = 0;

/**
 * Asks before something that can't be undone. `details` are shown below the text. Resolves to true only if the person
 * confirmed.
 */
export function confirmAction({ title, text, details = [], action, keep = "Cancel", className = "" }) {
  return openDialog({
    title,
    className,
    content: [make("p", { text }), ...details],
    buttons: [
      { label: keep, value: null, focused: true },
      { label: action, value: true, className: "danger" },
    ],
  }).then((answer) => answer === true);
}

/** Asks for one line of text. Resolves to null if the person cancelled. */
export function askForText({ title, label, value, action }) {
  const id = `dialog-input-${dialogsMade}`;
  const input = make("input", { type: "text", id, value, autocomplete: "off" });
  const answer = openDialog({
    title,
    content: [make("label", { for: id, text: label }), input],
    buttons: [
      { label: "Cancel", value: null },
      { label: action, value: () => input.value, className: "primary", submits: true },
    ],
  });
  input.focus();
  input.select();
  return answer;
}

function openDialog({ title, content, buttons, className: name = "" }) {
  dialogsMade += 1;
  const titleId = `dialog-title-${dialogsMade}`;
  return new Promise((resolve) => {
    let answer = null;
    const controls = buttons.map(({ label, value, className = "", focused = false, submits = false }) =>
      make("button", {
        type: submits ? "submit" : "button",
        class: className,
        text: label,
        autofocus: focused,
        on: {
          click: (event) => {
            event.preventDefault();
            answer = typeof value === "function" ? value() : value;
            dialog.close();
          },
        },
      }),
    );
    const form = make("form", { method: "dialog" }, make("h2", { id: titleId, text: title }), ...content.filter(Boolean), make("div", { class: "dialog-buttons" }, ...controls));
    const dialog = make("dialog", { class: `small-dialog ${name}`.trim(), "aria-labelledby": titleId }, form);
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(answer);
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}
