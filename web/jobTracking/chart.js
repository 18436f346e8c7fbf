// The flow chart of a job: drawn once, marked as its works go on, zoomed, and used with mouse or keys.

import { plural } from "../lib/format.js";
import { layOutChart } from "./chartLayout.js";
import { describeNode, drawNode, showWorkState, sizeOfNode, svg } from "./chartNode.js";
import { Zoom } from "./zoom.js";

/** A larger chart has only those nodes in the document that are near the view. */
const MOST_AT_ONCE = 1000;
const NEAR = 600;

export class Chart {
  /** Called with a node's work when it is chosen, with null when it is no longer. */
  onSelect = () => {};
  zoom;
  #container;
  #svg;
  #layer = { arrows: svg("g", { class: "arrows" }), nodes: svg("g", { class: "nodes" }) };
  #layout;
  /** What can be in the document: `{ place, element, … }`, nodes in the order of the chart. */
  #nodes;
  #arrows;
  #byWork = new Map();
  #works = new Map();
  #selected = null;
  #current = null;
  #isPartial;

  constructor(container, nodes, name) {
    this.#container = container;
    this.#layout = layOutChart(nodes, sizeOfNode);
    const { width, height, shift } = this.#layout;
    this.#nodes = this.#layout.nodes.map((place, index) => ({ place, index, element: null, ...describeNode(place.node) }));
    this.#arrows = this.#layout.arrows.map((place) => ({ place, element: null }));
    for (const node of this.#nodes) if (node.isWork && !this.#byWork.has(node.workId)) this.#byWork.set(node.workId, node);
    this.#isPartial = this.#nodes.length > MOST_AT_ONCE;
    this.#layer.arrows.setAttribute("transform", `translate(${shift} 0)`);
    this.#svg = svg("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": `Flow chart of ${name}` }, arrowHead(), this.#layer.arrows, this.#layer.nodes);
    container.replaceChildren(this.#svg);
    if (this.#isPartial) container.dataset.partial = "";
    this.zoom = new Zoom(container, this.#svg, { width, height });
    this.#listen();
    this.#setCurrent(this.#nodes.find(({ isWork }) => isWork) ?? null);
    if (this.#nodes.length > 0) this.zoom.center(this.#nodes[0].place);
    this.#drawNear();
  }

  /** A sentence about a chart that is too large to be drawn as a whole; else null. */
  get note() {
    return this.#isPartial ? `${plural(this.#nodes.length, "node")}. Only those near the visible area are drawn.` : null;
  }

  get selectedWork() {
    return this.#selected?.workId ?? null;
  }

  /** Shows the states of works: id → `{ status, attempts }`. */
  setWorks(works) {
    this.#works = works;
    for (const node of this.#nodes) if (node.element && node.isWork) this.#mark(node);
  }

  /** Selects the node of a work, or nothing with null. */
  select(workId) {
    const node = workId === null ? null : (this.#byWork.get(workId) ?? null);
    if (node === this.#selected) return;
    const before = this.#selected;
    this.#selected = node;
    for (const one of [before, node]) if (one?.element) this.#showSelection(one);
    if (node) this.#setCurrent(node);
    this.onSelect(node);
  }

  /** Brings the node of a work into view. */
  reveal(workId) {
    const node = this.#byWork.get(workId);
    if (node) this.zoom.reveal(node.place);
    this.#drawNear();
  }

  focus() {
    if (!this.#current) return;
    this.zoom.reveal(this.#current.place);
    this.#drawNear();
    this.#current.element.focus({ preventScroll: true });
  }

  #listen() {
    this.#svg.addEventListener("click", (event) => {
      const group = event.target.closest("g.node");
      const node = group && this.#nodes.find(({ element }) => element === group);
      if (!node?.isWork) return;
      this.#setCurrent(node);
      this.select(node === this.#selected ? null : node.workId);
    });
    this.#svg.addEventListener("keydown", (event) => this.#key(event));
    if (!this.#isPartial) return;
    let scheduled = false;
    const later = () => {
      if (scheduled) return;
      scheduled = true;
      requestAnimationFrame(() => {
        scheduled = false;
        this.#drawNear();
      });
    };
    this.#container.addEventListener("scroll", later, { passive: true });
    new ResizeObserver(later).observe(this.#container);
    this.zoom.addEventListener("change", later);
  }

  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const actions = {
      Enter: () => this.select(this.#current === this.#selected ? null : this.#current.workId),
      " ": () => this.select(this.#current === this.#selected ? null : this.#current.workId),
      Escape: this.#selected && (() => this.select(null)),
      ArrowDown: () => this.#go(this.#along(1)),
      ArrowUp: () => this.#go(this.#along(-1)),
      ArrowLeft: () => this.#go(this.#beside(-1)),
      ArrowRight: () => this.#go(this.#beside(1)),
      Home: () => this.#go(this.#nodes.find(({ isWork }) => isWork)),
      End: () => this.#go(this.#nodes.findLast(({ isWork }) => isWork)),
    };
    if (!this.#current || !actions[event.key]) return;
    event.preventDefault();
    actions[event.key]();
  }

  #go(node) {
    if (!node) return;
    this.#setCurrent(node);
    this.focus();
  }

  /** The nearest work in a layer below or above. */
  #along(direction) {
    const { place } = this.#current;
    const others = this.#nodes.filter((node) => node.isWork && Math.sign(node.place.layer - place.layer) === direction);
    const far = ({ place: other }) => Math.abs(other.layer - place.layer) * 1e6 + Math.abs(other.x - place.x);
    return least(others, far);
  }

  /** The next work in the same layer. */
  #beside(direction) {
    const { place } = this.#current;
    const others = this.#nodes.filter((node) => node.isWork && node.place.layer === place.layer && Math.sign(node.place.x - place.x) === direction);
    return least(others, ({ place: other }) => Math.abs(other.x - place.x));
  }

  /** One node can be reached with Tab; arrow keys lead on from there. */
  #setCurrent(node) {
    this.#current?.element?.setAttribute("tabindex", "-1");
    this.#current = node;
    node?.element?.setAttribute("tabindex", "0");
  }

  /** Puts into the document what is near the view, and takes out what is not. */
  #drawNear() {
    const view = this.#isPartial ? this.zoom.view(NEAR) : null;
    const isNear = ({ x, y }) => !view || (x > view.left && x < view.right && y > view.top && y < view.bottom);
    for (const node of this.#nodes) {
      // The focus must not be lost.
      const wanted = isNear(node.place) || (node.element && node.element === document.activeElement);
      if (wanted && !node.element) this.#addNode(node);
      else if (!wanted && node.element) removeFrom(node);
    }
    for (const arrow of this.#arrows) {
      const { box } = arrow.place;
      const wanted = !view || (box.bottom > view.top && box.top < view.bottom && box.right > view.left && box.left < view.right);
      if (wanted && !arrow.element) {
        arrow.element = drawArrow(arrow.place);
        this.#layer.arrows.append(arrow.element);
      } else if (!wanted && arrow.element) removeFrom(arrow);
    }
  }

  #addNode(node) {
    node.element = drawNode(node.place);
    this.#layer.nodes.append(node.element);
    if (!node.isWork) return;
    this.#mark(node);
    this.#showSelection(node);
    if (node === this.#current) node.element.setAttribute("tabindex", "0");
  }

  #mark(node) {
    const work = this.#works.get(node.workId);
    const runs = work?.attempts?.length ?? 0;
    const state = `${work?.status} ${runs}`;
    if (node.element.shownState === state) return;
    node.element.shownState = state;
    showWorkState(node.element, node.place.node, work?.status, runs);
  }

  #showSelection(node) {
    const isSelected = node === this.#selected;
    node.element.classList.toggle("selected", isSelected);
    node.element.setAttribute("aria-pressed", String(isSelected));
    node.element.querySelector(".node-shape").style.strokeWidth = isSelected ? "5px" : "";
  }
}

function removeFrom(part) {
  part.element.remove();
  part.element = null;
}

function least(items, measure) {
  return items.reduce((best, item) => (best === null || measure(item) < measure(best) ? item : best), null);
}

function arrowHead() {
  const head = svg("marker", { id: "arrow-head", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" }, svg("path", { class: "arrow-head", d: "M0 0.5 8 4 0 7.5z" }));
  return svg("defs", {}, head);
}

function drawArrow({ path, label, labelAt, loopBack }) {
  const group = svg("g", { class: `arrow${loopBack ? " arrow-back" : ""}` }, svg("path", { class: "arrow-line", d: path, "marker-end": "url(#arrow-head)" }));
  if (!label) return group;
  const text = svg("text", { class: "arrow-label", x: labelAt.x, y: labelAt.y, dy: "0.35em", "text-anchor": labelAt.beside ? "start" : "middle" });
  text.textContent = label;
  group.append(text);
  return group;
}
