// The scale of the chart: Ctrl+wheel, buttons and keys, between a fifth and three times.

const LEAST = 0.2;
const MOST = 3;
const STEP = 0.1;
/** At first a chart that is too wide is made smaller, but never so small that it cannot be read. */
const LEAST_AT_FIRST = 0.6;

/** Dispatches "change" when the scale has changed. */
export class Zoom extends EventTarget {
  #container;
  #svg;
  #size;
  #scale = 1;

  constructor(container, svg, size) {
    super();
    this.#container = container;
    this.#svg = svg;
    this.#size = size;
    container.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
    this.#apply(Math.max(LEAST_AT_FIRST, Math.min(1, this.#fitting())));
  }

  get scale() {
    return this.#scale;
  }

  larger() {
    this.#set(this.#scale + STEP);
  }

  smaller() {
    this.#set(this.#scale - STEP);
  }

  reset() {
    this.#set(1);
  }

  /** The whole chart, as far as the least scale allows. */
  fit() {
    const whole = Math.min(1, this.#fitting(), this.#container.clientHeight / this.#size.height);
    this.#set(Math.floor(whole * 100) / 100);
  }

  /** The part of the chart that can be seen, and so much around it. */
  view(around) {
    const { scrollLeft, scrollTop, clientWidth, clientHeight } = this.#container;
    const [left, top] = [scrollLeft / this.#scale, scrollTop / this.#scale];
    return { left: left - around, top: top - around, right: left + clientWidth / this.#scale + around, bottom: top + clientHeight / this.#scale + around };
  }

  /** Puts a place into the middle of the view, from left to right. */
  center({ x }) {
    this.#container.scrollLeft = x * this.#scale - this.#container.clientWidth / 2;
  }

  /** Scrolls as little as needed to show a place. */
  reveal({ x, y, width, height }) {
    const margin = 24;
    const container = this.#container;
    const move = (start, end, from, length) => {
      if (start * this.#scale - margin < from) return start * this.#scale - margin;
      if (end * this.#scale + margin > from + length) return end * this.#scale + margin - length;
      return from;
    };
    container.scrollLeft = move(x - width / 2, x + width / 2, container.scrollLeft, container.clientWidth);
    container.scrollTop = move(y - height / 2, y + height / 2, container.scrollTop, container.clientHeight);
  }

  #fitting() {
    return this.#container.clientWidth / this.#size.width;
  }

  #wheel(event) {
    if (!event.ctrlKey) return;
    event.preventDefault();
    const { left, top } = this.#container.getBoundingClientRect();
    this.#set(this.#scale + (event.deltaY < 0 ? STEP : -STEP), { x: event.clientX - left, y: event.clientY - top });
  }

  /** What is at `at` stays there; without it, the middle of the view does. */
  #set(scale, at = { x: this.#container.clientWidth / 2, y: this.#container.clientHeight / 2 }) {
    const container = this.#container;
    const before = this.#scale;
    const { scrollLeft, scrollTop } = container;
    this.#apply(Math.min(MOST, Math.max(LEAST, Math.round(scale * 100) / 100)));
    container.scrollLeft = ((scrollLeft + at.x) * this.#scale) / before - at.x;
    container.scrollTop = ((scrollTop + at.y) * this.#scale) / before - at.y;
    this.dispatchEvent(new Event("change"));
  }

  #apply(scale) {
    this.#scale = scale;
    this.#svg.style.width = `${Math.round(this.#size.width * scale)}px`;
    this.#svg.style.height = `${Math.round(this.#size.height * scale)}px`;
    this.#svg.dataset.scale = String(scale);
  }
}
