// Dialogs with a prompt in them: a form whose save may fail, and then stays open and says why.

import { make, setText } from "../lib/dom.js";
import { exactElement } from "../lib/exactText.js";

let made = 0;

/**
 * Edits the text of a queued prompt. `save(text, before)` replaces the text that the person has seen; it rejects with what
 * went wrong, and with `now` if there is another text by now. Resolves when the dialog is closed.
 */
export function editPrompt({ text, canBeEmpty, save }) {
  const area = make("textarea", { rows: "10", spellcheck: "true" });
  area.value = text;
  let before = text;
  const now = make("div", { class: "prompt-now", tabindex: "0", role: "group", "aria-label": "The prompt as it is now", hidden: true });
  return promptDialog({
    title: "Edit the queued prompt",
    content: [make("label", {}, "Prompt", area), now],
    action: "Save",
    save: async () => {
      if (!canBeEmpty && !area.value.trim()) throw new Error("The prompt is empty. To drop it, cancel it in the queue.");
      if (area.value === before) return;
      try {
        await save(area.value, before);
      } catch (problem) {
        if (problem.now === undefined) throw problem;
        // Both texts are in view. Whoever saves now has seen the other one.
        before = problem.now;
        now.replaceChildren(exactElement("pre", {}, problem.now));
        now.hidden = false;
        throw new Error("This prompt was changed elsewhere meanwhile: its text is below yours. Save replaces it with yours; Cancel keeps it.");
      }
    },
    first: area,
  });
}

/** Opens a dialog with a form. `save()` is called until it succeeds; `buttons` stand before the others. Resolves to whether it was saved. */
export function promptDialog({ title, content, action = null, save = null, buttons = [], first = null, close = "Cancel" }) {
  made += 1;
  const titleId = `prompt-dialog-title-${made}`;
  return new Promise((resolve) => {
    let saved = false;
    const problem = make("p", { class: "field-problem", role: "alert", hidden: true });
    const leave = make("button", { type: "button", text: close, on: { click: () => dialog.close() } });
    const submit = action && make("button", { type: "submit", class: "primary", text: action });
    const form = make("form", { method: "dialog" }, make("h2", { id: titleId, text: title }), ...content, problem, make("div", { class: "dialog-buttons" }, ...buttons, leave, submit));
    const dialog = make("dialog", { class: "prompt-dialog", "aria-labelledby": titleId }, form);
    const trySaving = async () => {
      submit.disabled = true;
      setText(problem, "");
      try {
        await save();
        saved = true;
        dialog.close();
      } catch (error) {
        setText(problem, error.message);
        submit.disabled = false;
      }
    };
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (save && !submit.disabled) trySaving();
    });
    form.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && save) {
        event.preventDefault();
        form.requestSubmit();
      }
    });
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(saved);
    });
    document.body.append(dialog);
    dialog.showModal();
    first?.focus();
  });
}
