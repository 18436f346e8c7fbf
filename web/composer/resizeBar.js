// The bar between the session and the request: dragged, or moved with the arrow keys. A request part that is too low for
// all of its parts becomes one toolbar.

import { byId } from "../lib/dom.js";
import { keep, kept } from "../lib/storage.js";

const KEY = "flightdeck.request-height";
const STEP = 24;
/** Below this, it is a toolbar. */
const SMALLEST = 110;
const SESSION_KEEPS = 120;
/** Above a phone's keyboard there is room for a toolbar and something to read. */
const LOWEST_PAGE = 480;

const bar = byId("resize-bar");
const part = byId("request-part");
const container = byId("session-ui");

/** The chosen height in pixels; 0 is the toolbar, null the height of the stylesheet. */
let chosen = null;

/** Makes the bar move the height of the request part. */
export function useResizeBar() {
  bar.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    event.preventDefault();
    bar.setPointerCapture(event.pointerId);
    bar.classList.add("dragging");
    const start = event.clientY;
    const before = height();
    const move = (moved) => choose(before + start - moved.clientY);
    const end = () => {
      bar.classList.remove("dragging");
      bar.removeEventListener("pointermove", move);
      keepHeight();
    };
    bar.addEventListener("pointermove", move);
    bar.addEventListener("lostpointercapture", end, { once: true });
  });

  bar.addEventListener("keydown", (event) => {
    const direction = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    if (!direction) return;
    event.preventDefault();
    choose(direction > 0 && chosen === 0 ? SMALLEST : height() + direction * STEP);
    keepHeight();
  });
  bar.addEventListener("dblclick", () => {
    chosen = null;
    keepHeight();
    show();
  });

  chosen = keptHeight();
  show();
  addEventListener("resize", show);
}

/** Whether the request part is one toolbar. */
export function isToolbar() {
  return part.classList.contains("toolbar");
}

/** Leaves the toolbar, as far as the page has room. */
export function expandRequestPart() {
  chosen = null;
  keepHeight();
  show();
}

function height() {
  return part.getBoundingClientRect().height;
}

function most() {
  return Math.max(SMALLEST, container.clientHeight - byId("banners").offsetHeight - SESSION_KEEPS);
}

function choose(wanted) {
  chosen = wanted < SMALLEST ? 0 : Math.round(Math.min(wanted, most()));
  show();
}

function show() {
  const isLow = innerHeight < LOWEST_PAGE;
  part.classList.toggle("toolbar", chosen === 0 || isLow);
  // While the session is not shown, its height is unknown.
  const limited = chosen && container.clientHeight > 0 ? Math.min(chosen, most()) : chosen;
  part.style.height = limited && !isLow ? `${limited}px` : "";
  bar.setAttribute("aria-valuenow", String(Math.round(limited || height())));
  bar.setAttribute("aria-valuemin", "0");
  bar.setAttribute("aria-valuemax", String(container.clientHeight > 0 ? most() : 1000));
}

function keptHeight() {
  const number = Number.parseInt(kept(KEY) ?? "", 10);
  return Number.isNaN(number) ? null : number < SMALLEST ? 0 : number;
}

/** A chosen height is remembered; without storage it applies to this page only. */
function keepHeight() {
  keep(KEY, chosen === null ? null : String(chosen));
}
