// Files that go along with a request: dropped, pasted or chosen.

import { byId, make } from "../lib/dom.js";
import { bytes, plural } from "../lib/format.js";
import { icon } from "../lib/icons.js";

/** In base64 this still fits into one request. */
const LARGEST_SUM = 20 * 1024 * 1024;
const MOST = 20;

export class Attachments {
  #list = byId("attachment-list");
  #files = [];
  #say;

  /** `say(text)` shows which files were not attached. */
  constructor(say) {
    this.#say = say;
  }

  get isEmpty() {
    return this.#files.length === 0;
  }

  add(files) {
    const refused = [];
    for (const file of files) {
      const sum = this.#files.reduce((total, { size }) => total + size, file.size);
      if (this.#files.length >= MOST || sum > LARGEST_SUM) refused.push(file);
      else this.#files.push(file);
    }
    if (refused.length > 0) {
      const names = refused.map(({ name, size }) => `${name} (${bytes(size)})`).join(", ");
      this.#say(`Not attached: ${names}. A request can have up to ${plural(MOST, "file")} and ${bytes(LARGEST_SUM)} in total. Put larger files in the working directory and mention them.`);
    }
    this.#show();
  }

  clear() {
    this.#files = [];
    this.#show();
  }

  /** In the API's format. */
  async encoded() {
    return Promise.all(this.#files.map(async (file) => ({ name: file.name || "pasted", mime: file.type || "application/octet-stream", data: await base64(file) })));
  }

  #show() {
    for (const picture of this.#list.querySelectorAll("img")) URL.revokeObjectURL(picture.src);
    this.#list.hidden = this.isEmpty;
    this.#list.replaceChildren(...this.#files.map((file) => this.#chip(file)));
  }

  #chip(file) {
    const remove = () => {
      this.#files = this.#files.filter((other) => other !== file);
      this.#show();
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

function base64(file) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).slice(String(reader.result).indexOf(",") + 1));
    reader.onerror = () => reject(new Error(`${file.name} could not be read; it may have been moved or changed.`));
    reader.readAsDataURL(file);
  });
}
