// Where the nodes and arrows of a flow chart go: layers from top to bottom, branches side by side in the order of the
// chart, ways back at the side. Nothing here touches the document.
//
// The work grows with the number of nodes and arrows, and with the length of ways back; a chart of 10,000 nodes takes a
// fraction of a second.

import { assignLayers, findJoins, graphOf } from "./chartGraph.js";
import { placeItems } from "./chartPlaces.js";

/** Space between two layers; room for the label of an arrow. */
const LAYER_GAP = 36;
const MARGIN = 28;
const CORNER = 8;
const OUTER_LANE_GAP = 10;

/**
 * Lays a chart out. `nodes` are `{ id, hint, arrows }`, `sizeOf(node)` gives `{ width, height, isBar }`. Returns
 * `{ width, height, shift, nodes, arrows }` with nodes `{ node, x, y, width, height, layer }`, whose `x` and `y` are the
 * middle, and arrows `{ from, to, box, label, loopBack, path, labelAt }`; their paths and labels are to be moved by `shift`.
 */
export function layOutChart(nodes, sizeOf) {
  const { items, arrows } = graphOf(nodes, sizeOf);
  const count = assignLayers(items);
  findJoins(items);
  placeItems(items, arrows);
  const rows = rowsOf(items, count);
  const edges = { left: Infinity, right: -Infinity };
  for (const { x, width } of items) widen(edges, x - width / 2, x + width / 2);
  for (const { laneX } of arrows) if (laneX !== null) widen(edges, laneX - 4, laneX + 4);
  const drawn = arrows.map((arrow) => draw(arrow, rows, edges));
  return shifted(items, drawn, rows, edges);
}

function widen(edges, left, right) {
  edges.left = Math.min(edges.left, left);
  edges.right = Math.max(edges.right, right);
}

/** Top, middle and bottom of each layer. */
function rowsOf(items, count) {
  const heights = Array(count).fill(0);
  for (const { layer, height } of items) heights[layer] = Math.max(heights[layer], height);
  let top = MARGIN;
  return heights.map((height) => {
    const row = { top, bottom: top + height, middle: top + height / 2 };
    top += height + LAYER_GAP;
    return row;
  });
}

function draw(arrow, rows, edges) {
  const { from, to, label, loopBack, laneX } = arrow;
  const parts = { from, to, label, loopBack, laneX };
  if (!loopBack) return { ...parts, ...forward(arrow, rows) };
  if (laneX !== null) return { ...parts, ...back(arrow, rows) };
  edges.right += OUTER_LANE_GAP;
  return { ...parts, ...outside(arrow, rows, edges.right) };
}

/** From the bottom of a node down its line to the top of the next. Bars take arrows along their whole width. */
function forward({ from, to, laneX }, rows) {
  const opensBranches = from.isBar && from.next.length > 1;
  const start = { x: opensBranches ? atBar(from, laneX ?? to.line) : from.line, y: rows[from.layer].middle + from.height / 2 };
  const lane = laneX ?? start.x;
  const end = { x: atBar(to, lane), y: rows[to.layer].middle - to.height / 2 };
  const pen = new Pen(start);
  let first = end;
  if (to.layer > from.layer + 1) {
    first = { x: lane, y: rows[from.layer + 1].top };
    pen.curveTo(lane, first.y);
    pen.lineTo(lane, rows[to.layer - 1].bottom);
  }
  pen.curveTo(end.x, end.y);
  return { path: pen.text, labelAt: { x: (start.x + first.x) / 2, y: (start.y + first.y) / 2 } };
}

function atBar(item, x) {
  const half = item.width / 2 - 4;
  return item.isBar ? Math.min(Math.max(x, item.x - half), item.x + half) : item.line;
}

/** From the side of a node up its lane, and back into the side of an earlier one. */
function back({ from, to, laneX }, rows) {
  const start = { x: from.x + from.width / 2, y: rows[from.layer].middle };
  const end = { x: to.x + to.width / 2, y: rows[to.layer].middle };
  const labelAt = { x: start.x + 6, y: start.y - 8, beside: true };
  // To itself or its own layer: a small bow.
  if (from.layer === to.layer) return { path: `M${round(start.x)} ${round(start.y + 5)}H${round(laneX)}v-10H${round(end.x)}`, labelAt };
  const down = Math.sign(start.y - end.y) * CORNER;
  const turnOut = `H${round(laneX - CORNER)}q${CORNER} 0 ${CORNER} ${-down}`;
  const turnIn = `V${round(end.y + down)}q0 ${-down} ${-CORNER} ${-down}`;
  return { path: `M${round(start.x)} ${round(start.y)}${turnOut}${turnIn}H${round(end.x)}`, labelAt };
}

/** Beside the whole chart, in the gaps between layers. */
function outside({ from, to }, rows, x) {
  const start = { x: from.x, y: rows[from.layer].middle + from.height / 2 };
  const end = { x: to.x, y: rows[to.layer].middle - to.height / 2 };
  return { path: `M${round(start.x)} ${round(start.y)}v10H${round(x)}V${round(end.y - 12)}H${round(end.x)}V${round(end.y)}`, labelAt: { x: start.x + 6, y: start.y + 18, beside: true } };
}

/** Collects the text of a path whose curves begin and end upright. */
class Pen {
  at;
  text;

  constructor(at) {
    this.at = at;
    this.text = `M${round(at.x)} ${round(at.y)}`;
  }

  lineTo(x, y) {
    if (y !== this.at.y) this.text += `L${round(x)} ${round(y)}`;
    this.at = { x, y };
  }

  curveTo(x, y) {
    const middle = (this.at.y + y) / 2;
    this.text += x === this.at.x ? `V${round(y)}` : `C${round(this.at.x)} ${round(middle)} ${round(x)} ${round(middle)} ${round(x)} ${round(y)}`;
    this.at = { x, y };
  }
}

function round(number) {
  return Math.round(number * 10) / 10;
}

/** Everything to the right of the left margin. Paths keep their numbers; the drawing moves them as a whole. */
function shifted(items, arrows, rows, { left, right }) {
  const start = items.length > 0 ? left : 0;
  const shift = Math.round(MARGIN - start);
  return {
    width: Math.ceil((items.length > 0 ? right : 0) - start + 2 * MARGIN),
    height: Math.ceil((rows.at(-1)?.bottom ?? MARGIN) + MARGIN),
    shift,
    nodes: items.map(({ node, x, width, height, layer }) => ({ node, x: round(x + shift), y: rows[layer].middle, width: round(width), height, layer })),
    arrows: arrows.map(({ from, to, label, loopBack, laneX, path, labelAt }) => ({
      from: from.node.id,
      to: to.node.id,
      box: {
        top: rows[Math.min(from.layer, to.layer)].top,
        bottom: rows[Math.max(from.layer, to.layer)].bottom,
        left: Math.min(from.line, to.line, laneX ?? to.line) + shift,
        right: Math.max(from.line, to.line, laneX ?? to.line) + shift,
      },
      label,
      loopBack,
      path,
      labelAt,
    })),
  };
}
