// The bar between the session and the request: dragged, or moved with the arrow keys.

import { byId } from "../lib/dom.js";

const KEY = "flightdeck.request-height";
const STEP = 24;
const SMALLEST = 110;
const SESSION_KEEPS = 120;

/** Makes the bar move the height of the request part. */
export function useResizeBar() {
  const bar = byId("resize-bar");
  const part = byId("request-part");
  const container = byId("session-ui");

  function limit(height) {
    const most = Math.max(SMALLEST, container.clientHeight - byId("banners").offsetHeight - SESSION_KEEPS);
    return Math.round(Math.min(Math.max(height, SMALLEST), most));
  }

  function setHeight(height) {
    const limited = limit(height);
    part.style.height = `${limited}px`;
    bar.setAttribute("aria-valuenow", String(limited));
    bar.setAttribute("aria-valuemin", String(SMALLEST));
    bar.setAttribute("aria-valuemax", String(limit(Infinity)));
  }

  bar.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    event.preventDefault();
    bar.setPointerCapture(event.pointerId);
    bar.classList.add("dragging");
    const start = event.clientY;
    const before = part.getBoundingClientRect().height;
    const move = (moved) => setHeight(before + start - moved.clientY);
    const end = () => {
      bar.classList.remove("dragging");
      bar.removeEventListener("pointermove", move);
      sessionStorage.setItem(KEY, part.style.height);
    };
    bar.addEventListener("pointermove", move);
    bar.addEventListener("lostpointercapture", end, { once: true });
  });

  bar.addEventListener("keydown", (event) => {
    const direction = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    if (!direction) return;
    event.preventDefault();
    setHeight(part.getBoundingClientRect().height + direction * STEP);
    sessionStorage.setItem(KEY, part.style.height);
  });

  // A chosen height applies to this tab; the default is in the stylesheet.
  const kept = parseInt(sessionStorage.getItem(KEY) ?? "", 10);
  const showHeight = () => setHeight(part.style.height ? parseInt(part.style.height, 10) : part.getBoundingClientRect().height);
  if (kept) part.style.height = `${kept}px`;
  bar.setAttribute("aria-valuenow", "300");
  bar.setAttribute("aria-valuemin", String(SMALLEST));
  bar.setAttribute("aria-valuemax", "1000");
  addEventListener("resize", () => part.style.height && container.clientHeight > 0 && showHeight());
}
