// Keyboard shortcuts. With Alt they work everywhere, unless Alt writes a character there; single letters work outside text fields.

import { goToRequest } from "./around.js";
import { SETTINGS_PAGE } from "../lib/address.js";
import { byId, isWriting, writesWithAlt } from "../lib/dom.js";
import { getMessageBlock } from "../messageBlock.js";

/** `session()` returns the shown session or null; `around` and `panels` open by key; `help` lists the shortcuts. */
export function useKeys({ session, around, panels, help, rename }) {
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || document.querySelector("dialog[open]")) return;
    if (event.altKey && writesWithAlt(event)) return;
    const handled = event.altKey && !event.ctrlKey && !event.metaKey ? withAlt(event) : plain(event);
    if (handled) event.preventDefault();
  });

  /** By the place of the key: with Alt some keyboards write other letters. */
  function withAlt({ code }) {
    const view = session();
    const requests = around.requests(view?.renderer.openRequests ?? []);
    const actions = {
      ...around.keys,
      KeyA: requests.length > 0 && (() => goToRequest(requests)),
      KeyH: () => byId("home-link").click(),
      KeyM: () => panels.usage.toggle(),
      Comma: () => location.assign(SETTINGS_PAGE),
      KeyC: view && (() => panels.changes.toggle()),
      KeyS: view && (() => panels.details.toggle()),
      KeyR: view && rename,
      KeyT: view && switchPart,
      KeyB: !view && (() => byId("browse-button").click()),
      KeyJ: !view && (() => byId("jobs-button").click()),
      KeyU: !view && (() => byId("refresh-button").click()),
      KeyO: view && (() => panels.outline.toggle()),
      Home: view && (() => view.showBeginning()),
      End: view && (() => view.renderer.follow.follow()),
    };
    return run(actions[code]);
  }

  function plain(event) {
    const view = session();
    if (event.key === "." && (event.ctrlKey || event.metaKey)) return run(view && !byId("interrupt-button").hidden && (() => view.composer.interrupt()));
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !view) return run(!byId("start-button").disabled && (() => byId("start-button").click()));
    if (event.ctrlKey || event.metaKey || isWriting(event.target)) return false;
    if (event.key === "?") return run(() => help.toggle());
    if (!view) return event.key === "/" ? run(() => byId("session-search").focus()) : isFreshPage(event) && writeInBox(event, byId("prompt-box"));
    const block = getMessageBlock(document.activeElement?.closest?.(".message-block"));
    const actions = { j: () => step(1), k: () => step(-1), o: block && (() => block.toggle()), r: block && (() => block.toggleRaw()), c: block && (() => block.copy()), e: block?.blockType === "User" && (() => block.divElement.querySelector(".message-block-edit")?.click()) };
    if (run(actions[event.key])) return true;
    if (event.key === "Home" && !event.shiftKey && isInTranscript(event)) return run(() => view.showBeginning());
    const isShortcut = block ? event.key in actions : event.key === "/";
    return !isShortcut && isInTranscript(event) && !isChoice(event) && writeInBox(event, byId("request-textarea"));
  }
}

function run(action) {
  if (!action) return false;
  action();
  return true;
}

/** Whether a key writes a character. Space scrolls, and presses the button that has the focus. */
function isText({ key, altKey, isComposing }) {
  return key.length === 1 && key !== " " && !altKey && !isComposing;
}

/**
 * Somebody who types after a click into the transcript, or at the page for a new session, means the box: what has the focus
 * when the key's default action happens gets the character.
 */
function writeInBox(event, box) {
  if (isText(event) && !box.disabled && box.checkVisibility()) box.focus({ preventScroll: true });
  return false;
}

function isInTranscript({ target }) {
  return target === document.body || byId("session-part").contains(target);
}

/** Nothing has the focus but what leads to the page for a new session. */
function isFreshPage({ target }) {
  return target === document.body || target.matches(".sidebar-new, #home-link");
}

/** In a card, digits are choices, so that none of them may come to mean something else. */
function isChoice({ key, target }) {
  return /^\d$/.test(key) && target.closest(".request-block.waiting") !== null;
}

function switchPart() {
  const textarea = byId("request-textarea");
  (document.activeElement === textarea ? byId("session-part") : textarea).focus();
}

/** Moves the focus among blocks and open requests; from outside, to the first that can be seen. */
function step(direction) {
  const part = byId("session-part");
  const blocks = [...part.querySelectorAll(".message-block:not([hidden]), .request-block.waiting")];
  const { top, bottom } = part.getBoundingClientRect();
  const at = blocks.indexOf(document.activeElement?.closest?.(".message-block, .request-block"));
  const seen = direction > 0 ? blocks.findIndex((block) => block.getBoundingClientRect().bottom > top + 4) : blocks.findLastIndex((block) => block.getBoundingClientRect().top < bottom - 4);
  const next = at >= 0 ? at + direction : seen;
  blocks[Math.min(Math.max(next, 0), blocks.length - 1)]?.focus();
}
