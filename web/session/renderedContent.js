// Blocks that the server rendered: fetched a few at a time, with working buttons.
//
// This is the only place where HTML enters the page. It comes from Flightdeck's server, which builds it from an
// allow-list; the Content-Security-Policy stops whatever gets through.

import { askBlob, downloadAddress } from "../lib/api.js";
import { make } from "../lib/dom.js";
import { markTextsBelow } from "../lib/exactText.js";
import { sayBeside } from "./problemBeside.js";

const AT_ONCE = 4;
let running = 0;
const queue = [];

/** Runs a load when its turn comes; the newest first, because that is where people look. */
export function scheduleLoad(load) {
  return new Promise((resolve, reject) => {
    queue.push({ load, resolve, reject });
    next();
  });
}

function next() {
  if (running >= AT_ONCE || queue.length === 0) return;
  const { load, resolve, reject } = queue.pop();
  running += 1;
  load()
    .then(resolve, reject)
    .finally(() => {
      running -= 1;
      next();
    });
}

/** How long one frame may take to show what has arrived, so that scrolling stays smooth. */
const FRAME_BUDGET_MS = 6;
const shows = [];
let showing = false;

/** Resolves in a frame that still has time. */
export function whenThereIsTime() {
  return new Promise((resolve) => {
    shows.push(resolve);
    if (showing) return;
    showing = true;
    requestAnimationFrame(showNext);
  });
}

/** Each waits for the one before it, because it takes its time only after it was told to go on. */
async function showNext() {
  const begun = performance.now();
  while (shows.length > 0 && performance.now() - begun < FRAME_BUDGET_MS) {
    shows.shift()();
    await Promise.resolve();
  }
  if (shows.length > 0) requestAnimationFrame(showNext);
  else showing = false;
}

const waiting = new WeakMap();

const observer = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries) {
      if (!isIntersecting) continue;
      const callback = waiting.get(target);
      forget(target);
      callback?.();
    }
  },
  { scrollMargin: "1200px 0px", rootMargin: "1200px 0px" },
);

/** Calls `callback` once, when the element comes near the part of the page that can be seen. */
export function whenNear(element, callback) {
  waiting.set(element, callback);
  observer.observe(element);
}

/** Cancels that. */
export function forget(element) {
  waiting.delete(element);
  observer.unobserve(element);
}

/** Turns the server's HTML into nodes. */
export function parseRendered(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  for (const wide of template.content.querySelectorAll("pre, .diff, table")) {
    // What can be scrolled sideways can be reached with the keyboard.
    if (!wide.closest("table .diff")) wide.tabIndex = 0;
  }
  for (const box of template.content.querySelectorAll("input[type=checkbox]")) {
    box.setAttribute("aria-label", box.closest("li")?.textContent.trim() || "task");
  }
  for (const image of template.content.querySelectorAll("img")) {
    image.dataset.address = image.getAttribute("src");
    image.removeAttribute("src");
  }
  const content = document.importNode(template.content, true);
  for (const link of content.querySelectorAll(".whole-output")) link.addEventListener("auxclick", openWhole);
  content.querySelectorAll("img").forEach(loadWhenNear);
  return content;
}

/** An element with the server's HTML, for something that a person has to read exactly. */
export function renderedElement(html, className) {
  const content = parseRendered(html);
  markTextsBelow(content);
  const element = make("div", { class: `${className} rendered-content`, tabindex: "0" }, content);
  element.addEventListener("click", (event) => onRenderedClick(event, () => {}));
  return element;
}

/** The server requires the secret's header, which a browser does not send for an image. */
function loadWhenNear(image) {
  whenNear(image, async () => {
    try {
      image.src = URL.createObjectURL(await scheduleLoad(() => askBlob(image.dataset.address)));
      image.addEventListener("load", () => URL.revokeObjectURL(image.src), { once: true });
    } catch {
      image.alt += " (could not be loaded)";
    }
  });
}

/** Opens a whole output in a new tab, whose request cannot carry the header either. */
async function openWhole(event) {
  const link = event.target.closest(".whole-output");
  if (!link || event.button > 1) return;
  event.preventDefault();
  try {
    window.open(await downloadAddress(link.getAttribute("href")), "_blank", "noopener");
    sayBeside(link, "");
  } catch (problem) {
    sayBeside(link, `Could not open the whole output: ${problem.message}`);
  }
}

/** Handles a click inside rendered content. `showAll` fetches the whole of a folded output. */
export async function onRenderedClick(event, showAll) {
  const copy = event.target.closest(".copy-button");
  const code = copy?.closest(".code-block")?.querySelector("pre");
  if (code) {
    const { copyFromButton } = await import("../lib/clipboard.js");
    await copyFromButton(copy, code.textContent);
    return;
  }
  await openWhole(event);
  const all = event.target.closest(".show-all");
  if (all) {
    all.disabled = true;
    showAll();
  }
}
