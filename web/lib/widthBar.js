// The bar between two parts side by side: dragged, or moved with the arrow keys.

import { byId } from "./dom.js";
import { keepInTab, keptInTab } from "./storage.js";

const STEP = 24;
const SMALLEST = 280;

/** Makes the bar change the width of the right part; the width is kept in this tab under `key`. */
export function useWidthBar(key) {
  const bar = byId("resize-bar");
  const part = byId("right-part");
  const container = bar.parentElement;

  function limit(width) {
    return Math.round(Math.min(Math.max(width, SMALLEST), Math.max(SMALLEST, container.clientWidth - SMALLEST)));
  }

  function show(width) {
    bar.setAttribute("aria-valuenow", String(Math.round(width)));
    bar.setAttribute("aria-valuemin", String(SMALLEST));
    bar.setAttribute("aria-valuemax", String(limit(Infinity)));
  }

  function setWidth(width) {
    const limited = limit(width);
    part.style.width = `${limited}px`;
    show(limited);
  }

  function keep() {
    keepInTab(key, part.style.width);
  }

  bar.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    event.preventDefault();
    bar.setPointerCapture(event.pointerId);
    bar.classList.add("dragging");
    const start = event.clientX;
    const before = part.getBoundingClientRect().width;
    const move = (moved) => setWidth(before + start - moved.clientX);
    bar.addEventListener("pointermove", move);
    const end = () => {
      bar.classList.remove("dragging");
      bar.removeEventListener("pointermove", move);
      keep();
    };
    bar.addEventListener("lostpointercapture", end, { once: true });
  });

  bar.addEventListener("keydown", (event) => {
    const direction = { ArrowLeft: 1, ArrowRight: -1 }[event.key];
    if (!direction) return;
    event.preventDefault();
    setWidth(part.getBoundingClientRect().width + direction * STEP);
    keep();
  });

  const kept = parseInt(keptInTab(key) ?? "", 10);
  if (kept) setWidth(kept);
  else show(part.getBoundingClientRect().width);
  addEventListener("resize", () => part.style.width && setWidth(parseInt(part.style.width, 10)));
}
