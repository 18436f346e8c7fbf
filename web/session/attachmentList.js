// What was sent along with a prompt, in the transcript: files as chips, images as thumbnails.

import { askBlob, downloadAddress, sessionPath } from "../lib/api.js";
import { make } from "../lib/dom.js";
import { exactString } from "../lib/exactText.js";
import { bytes } from "../lib/format.js";
import { icon } from "../lib/icons.js";
import { sayBeside } from "./problemBeside.js";
import { scheduleLoad, whenNear } from "./renderedContent.js";

/** Images that every browser shows; others are chips. */
const SHOWN = /^image\/(png|jpeg|gif|webp|avif|bmp|svg\+xml)$/;

/** An element for the attachments of an event (`[{ name, mime, size, hash }]`); null if there are none. */
export function attachmentList(sessionId, attachments) {
  if (!sessionId || !(attachments?.length > 0)) return null;
  return make("div", { class: "sent-attachments", role: "list", "aria-label": "Attachments" }, ...attachments.map((attachment) => make("span", { role: "listitem" }, chip(sessionId, attachment))));
}

function chip(sessionId, { name, mime, size, hash }) {
  const shown = exactString(name);
  const facts = [make("bdi", { class: "attachment-name", text: shown }), make("span", { class: "attachment-size", text: bytes(size) })];
  if (!hash) return make("span", { class: "sent-attachment", title: "Sent, but too large to keep here" }, icon("file"), ...facts);
  const path = `/${sessionPath(sessionId, `blob/${encodeURIComponent(hash)}`)}`;
  const button = make("button", { type: "button", class: "sent-attachment", title: `${shown} (${bytes(size)})` }, make("span", { class: "visually-hidden", text: "Open " }));
  button.addEventListener("click", (event) => {
    event.stopPropagation();
    open(path, button, shown);
  });
  if (SHOWN.test(mime)) {
    button.classList.add("sent-image");
    button.append(thumbnail(path), ...facts);
  } else {
    button.append(icon("file"), ...facts);
  }
  return button;
}

/** The server requires the secret's header, which a browser does not send for an image. */
function thumbnail(path) {
  const image = make("img", { alt: "", width: "132", height: "88" });
  whenNear(image, async () => {
    try {
      const address = URL.createObjectURL(await scheduleLoad(() => askBlob(path)));
      const done = () => URL.revokeObjectURL(address);
      image.addEventListener("load", done, { once: true });
      // A file that only claims to be an image stays a chip.
      image.addEventListener("error", () => notShown(image, done), { once: true });
      image.src = address;
    } catch {
      notShown(image);
    }
  });
  return image;
}

function notShown(image, done = () => {}) {
  done();
  image.closest(".sent-attachment")?.classList.remove("sent-image");
  image.replaceWith(icon("file"));
}

async function open(path, button, name) {
  try {
    window.open(await downloadAddress(path), "_blank", "noopener");
    sayBeside(button, "");
  } catch (problem) {
    sayBeside(button, `Could not open ${name}: ${problem.message}`);
  }
}
