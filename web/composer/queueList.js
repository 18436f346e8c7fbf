// The prompts that wait, beside the request: each can be edited, moved and cancelled until its turn begins.

import { announce } from "../lib/announcer.js";
import { ask, sessionPath } from "../lib/api.js";
import { byId, make } from "../lib/dom.js";
import { exactString } from "../lib/exactText.js";
import { plural } from "../lib/format.js";
import { icon } from "../lib/icons.js";

const section = byId("composer-queue");
const list = byId("composer-queue-list");
const more = byId("composer-more-button");

export class QueueList {
  #view;
  #shown = "";

  constructor(view) {
    this.#view = view;
    view.addEventListener("change", () => this.#show(), { signal: view.signal });
    view.signal.addEventListener("abort", () => this.#clear());
    this.#show();
  }

  #clear() {
    section.hidden = true;
    delete more.dataset.queued;
  }

  #show() {
    const queue = this.#view.details?.queuedPrompts ?? [];
    const state = JSON.stringify(queue);
    if (state === this.#shown) return;
    this.#shown = state;
    section.hidden = queue.length === 0;
    byId("composer-queue-title").textContent = `Queued (${queue.length})`;
    if (queue.length > 0) more.dataset.queued = String(queue.length);
    else delete more.dataset.queued;
    const focused = focusedAction();
    list.replaceChildren(...queue.map((prompt, index) => this.#item(prompt, index, queue)));
    restoreFocus(focused);
  }

  #item(prompt, index, queue) {
    const { promptId, text, attachments, changeable } = prompt;
    const shown = exactString(text.trim().replace(/\s+/g, " ").slice(0, 300)) || "(attachments)";
    const named = `“${shown.slice(0, 40)}${shown.length > 40 ? "…" : ""}”`;
    const button = (action, picture, label, run, disabled = false) =>
      make("button", { type: "button", class: "quiet-button icon-button", data: { action }, "aria-label": `${label} ${named}`, title: label, disabled, on: { click: run } }, icon(picture));
    const item = make("li", { class: "queued-prompt", data: { prompt: promptId } }, make("bdi", { class: "queued-text", text: shown, title: exactString(text.slice(0, 2000)) }));
    if (attachments?.length > 0) item.append(make("span", { class: "queued-files", text: `+${attachments.length}`, title: attachments.map(({ name }) => exactString(name)).join(", "), "aria-label": plural(attachments.length, "attachment") }));
    if (!changeable) return item;
    const isMovable = (other) => queue[other]?.changeable === true;
    if (queue.length > 1) {
      item.append(
        button("up", "up", "Move up", () => this.#move(index, -1), !isMovable(index - 1)),
        button("down", "down", "Move down", () => this.#move(index, 1), !isMovable(index + 1)),
      );
    }
    item.append(
      button("edit", "edit", "Edit", () => this.#edit(prompt)),
      button("cancel", "close", "Cancel", () => this.#cancel(promptId)),
    );
    return item;
  }

  #path(promptId) {
    return sessionPath(this.#view.sessionId, `prompt/${encodeURIComponent(promptId)}`);
  }

  async #edit({ promptId, text, attachments }) {
    const { editPrompt } = await import("./promptDialog.js");
    await editPrompt({
      text,
      canBeEmpty: attachments?.length > 0,
      save: async (changed, before) => {
        try {
          this.#view.update(await ask(this.#path(promptId), { method: "PATCH", json: { text: changed, before } }));
        } catch (problem) {
          if (problem.status === 409 || problem.status === 404) await this.#reload();
          const now = this.#queue.find((prompt) => prompt.promptId === promptId)?.text;
          // Without the new text there is nothing to decide yet.
          if (problem.code === "PromptChanged" && now !== undefined && now !== before) problem.now = now;
          throw problem;
        }
      },
    });
    list.querySelector(`[data-prompt="${CSS.escape(promptId)}"] [data-action="edit"]`)?.focus();
  }

  async #cancel(promptId) {
    const position = this.#order().indexOf(promptId);
    await this.#change(promptId, "cancel", async () => {
      await ask(this.#path(promptId), { method: "DELETE" });
      this.#view.update({ queuedPrompts: this.#queue.filter((prompt) => prompt.promptId !== promptId) });
      announce("Cancelled");
      // The next one takes its place.
      const next = list.children[Math.min(position, list.children.length - 1)]?.querySelector('[data-action="cancel"]');
      (next ?? byId("request-textarea")).focus();
    });
  }

  async #move(index, step) {
    const order = this.#queue.filter(({ changeable }) => changeable).map(({ promptId }) => promptId);
    const { promptId } = this.#queue[index];
    const at = order.indexOf(promptId);
    order.splice(at, 1);
    order.splice(at + step, 0, promptId);
    await this.#change(promptId, "move", async () => {
      this.#view.update(await ask(sessionPath(this.#view.sessionId, "queue"), { method: "PUT", json: { promptIds: order } }));
      announce(`Moved to position ${this.#order().indexOf(promptId) + 1} of ${this.#queue.length}`);
    });
  }

  get #queue() {
    return this.#view.details?.queuedPrompts ?? [];
  }

  #order() {
    return this.#queue.map(({ promptId }) => promptId);
  }

  async #change(promptId, what, work) {
    const item = list.querySelector(`[data-prompt="${CSS.escape(promptId)}"]`);
    item?.classList.add("is-busy");
    this.#view.composer.say("");
    try {
      await work();
    } catch (problem) {
      // Its turn has begun, or another tab was faster.
      if (problem.status === 409 || problem.status === 404) await this.#reload();
      this.#view.composer.say(`Could not ${what} the queued prompt: ${problem.message}`);
    } finally {
      item?.classList.remove("is-busy");
    }
  }

  async #reload() {
    try {
      await this.#view.refresh();
    } catch {
      // The session says what is wrong.
    }
  }
}

/** Which button of which prompt has the focus. */
function focusedAction() {
  const button = document.activeElement?.closest?.("#composer-queue-list button");
  return button ? { promptId: button.closest("li").dataset.prompt, action: button.dataset.action } : null;
}

function restoreFocus(focused) {
  if (!focused) return;
  const item = list.querySelector(`[data-prompt="${CSS.escape(focused.promptId)}"]`);
  const same = item?.querySelector(`[data-action="${focused.action}"]:not(:disabled)`);
  (same ?? item?.querySelector("button:not(:disabled)") ?? byId("request-textarea")).focus();
}
