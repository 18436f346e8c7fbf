// Files that go along with a request: dropped, pasted or chosen.

import { attachedFiles } from "./attachedFiles.js";
import { byId, make } from "../lib/dom.js";
import { bytes, plural } from "../lib/format.js";
import { icon } from "../lib/icons.js";

/** In base64 this still fits into one request. */
const LARGEST_SUM = 20 * 1024 * 1024;
const MOST = 20;

export class Attachments {
  #list = byId("attachment-list");
  #sessionId;
  #say;

  /** `say(text)` shows which files were not attached. */
  constructor(sessionId, say) {
    this.#sessionId = sessionId;
    this.#say = say;
  }

  add(files) {
    const attached = [...attachedFiles.of(this.#sessionId)];
    const refused = [];
    for (const file of files) {
      const sum = attached.reduce((total, { size }) => total + size, file.size);
      if (attached.length >= MOST || sum > LARGEST_SUM) refused.push(file);
      else attached.push(file);
    }
    attachedFiles.set(this.#sessionId, attached);
    if (refused.length > 0) {
      const names = refused.map(({ name, size }) => `${name} (${bytes(size)})`).join(", ");
      this.#say(`Not attached: ${names}. A request can have up to ${plural(MOST, "file")} and ${bytes(LARGEST_SUM)} in total. Put larger files in the working directory and mention them.`);
    }
  }

  show() {
    this.#showChips(attachedFiles.of(this.#sessionId));
  }

  /** Another session is shown; the files stay attached. */
  hide() {
    this.#showChips([]);
  }

  #showChips(files) {
    for (const picture of this.#list.querySelectorAll("img")) URL.revokeObjectURL(picture.src);
    this.#list.hidden = files.length === 0;
    this.#list.replaceChildren(...files.map((file) => this.#chip(file)));
  }

  #chip(file) {
    const remove = () => {
      attachedFiles.remove(this.#sessionId, [file]);
      byId("request-textarea").focus();
    };
    const picture = file.type.startsWith("image/") ? make("img", { src: URL.createObjectURL(file), alt: "" }) : null;
    return make(
      "span",
      { class: "attachment", role: "listitem" },
      picture,
      make("span", { class: "attachment-name", text: file.name || "pasted", title: file.name }),
      make("span", { class: "attachment-size", text: bytes(file.size) }),
      make("button", { type: "button", class: "quiet-button icon-button", "aria-label": `Remove ${file.name}`, title: "Remove", on: { click: remove } }, icon("close")),
    );
  }
}

/** Files in the API's format. */
export async function encoded(files) {
  return Promise.all(files.map(async (file) => ({ name: file.name || "pasted", mime: file.type || "application/octet-stream", data: await base64(file) })));
}

function base64(file) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).slice(String(reader.result).indexOf(",") + 1));
    reader.onerror = () => reject(new Error(`${file.name} could not be read; it may have been moved or changed.`));
    reader.readAsDataURL(file);
  });
}
