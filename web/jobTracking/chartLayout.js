// Where the nodes and arrows of a flow chart go: layers from top to bottom, branches side by side in the order of the
// chart, arrows that skip layers and arrows that lead back in lanes of their own. Nothing here touches the document.
//
// The work is linear in the size of the chart, except that an arrow takes a place in each layer that it passes. Arrows
// for which there are too many such places run beside the whole chart instead.

import { placeItems } from "./chartPlaces.js";

/** Space between two layers; room for the label of an arrow. */
const LAYER_GAP = 38;
const MARGIN = 28;
const LANE_WIDTH = 10;
const LABEL_LETTER = 6.2;
/** More places than this for arrows that skip layers would take too long to arrange. */
const MOST_LANE_PLACES = 60_000;
const OUTER_LANE_GAP = 8;

/**
 * Lays a chart out. `nodes` are `{ id, hint, arrows }`, `sizeOf(node)` gives `{ width, height, isBar }`. Returns
 * `{ width, height, nodes, arrows }` with nodes `{ node, x, y, width, height, layer }`, whose `x` and `y` are the middle,
 * and arrows `{ from, to, label, loopBack, path, labelAt }`.
 */
export function layOutChart(nodes, sizeOf) {
  const items = nodes.map((node, index) => ({ node, key: index, index, ...sizeOf(node), layer: 0, x: 0, weight: 8, chain: null }));
  const arrows = arrowsOf(items);
  const count = assignLayers(items, arrows);
  const layers = Array.from({ length: count }, () => []);
  for (const item of items) layers[item.layer].push(item);
  const outer = addLanes(layers, arrows);
  for (const layer of layers) layer.sort((one, other) => one.key - other.key);
  placeItems(layers, arrows);
  const rows = rowsOf(layers);
  const edges = { left: 0, right: 0 };
  for (const item of layers.flat()) {
    edges.left = Math.min(edges.left, item.x - item.width / 2);
    edges.right = Math.max(edges.right, item.x + item.width / 2);
  }
  const drawn = arrows.map((arrow) => {
    if (!outer.has(arrow)) return draw(arrow, rows);
    edges.right += OUTER_LANE_GAP;
    return drawOutside(arrow, rows, edges.right);
  });
  return shifted(items, drawn, rows, edges);
}

/** Arrows between known nodes; those that close a circle lead back, whatever the chart says. */
function arrowsOf(items) {
  const byId = new Map(items.map((item) => [item.node.id, item]));
  const arrows = [];
  for (const from of items) {
    from.out = [];
    for (const { to: id, loopBack = false, label } of from.node.arrows ?? []) {
      const to = byId.get(id);
      if (!to) continue;
      const arrow = { from, to, label: label ?? "", loopBack: loopBack || to === from, lane: [] };
      arrows.push(arrow);
      from.out.push(arrow);
    }
  }
  for (const arrow of circlesIn(items)) arrow.loopBack = true;
  return arrows;
}

/** Forward arrows that lead to a node on the way to their own beginning. Without recursion: a chart may be very deep. */
function circlesIn(items) {
  const found = [];
  const state = new Map();
  for (const start of items) {
    if (state.has(start)) continue;
    const path = [{ item: start, next: 0 }];
    state.set(start, "open");
    while (path.length > 0) {
      const step = path.at(-1);
      const arrow = step.item.out[step.next];
      step.next += 1;
      if (!arrow) {
        state.set(step.item, "done");
        path.pop();
      } else if (!arrow.loopBack) {
        if (state.get(arrow.to) === "open") found.push(arrow);
        else if (!state.has(arrow.to)) {
          state.set(arrow.to, "open");
          path.push({ item: arrow.to, next: 0 });
        }
      }
    }
  }
  return found;
}

/** Each node is one layer below the lowest node that leads to it. Returns how many layers there are. */
function assignLayers(items, arrows) {
  const waiting = new Map(items.map((item) => [item, 0]));
  const forward = arrows.filter(({ loopBack }) => !loopBack);
  for (const { to } of forward) waiting.set(to, waiting.get(to) + 1);
  const ready = items.filter((item) => waiting.get(item) === 0);
  for (let at = 0; at < ready.length; at += 1) {
    const from = ready[at];
    for (const { to, loopBack } of from.out) {
      if (loopBack) continue;
      to.layer = Math.max(to.layer, from.layer + 1);
      waiting.set(to, waiting.get(to) - 1);
      if (waiting.get(to) === 0) ready.push(to);
    }
  }
  return items.reduce((most, { layer }) => Math.max(most, layer + 1), 0);
}

/** Gives arrows a place in each layer that they pass. Returns the arrows for which there is no room. */
function addLanes(layers, arrows) {
  const spans = arrows
    .map((arrow) => {
      const [first, last] = [arrow.from.layer, arrow.to.layer].sort((one, other) => one - other);
      // An arrow that leads back also passes beside its two ends.
      return arrow.loopBack ? { arrow, first, last } : { arrow, first: first + 1, last: last - 1 };
    })
    .filter(({ first, last }) => first <= last)
    .sort((one, other) => one.last - one.first - (other.last - other.first));
  const outer = new Set();
  let places = 0;
  for (const { arrow, first, last } of spans) {
    places += last - first + 1;
    if (places > MOST_LANE_PLACES) {
      outer.add(arrow);
      continue;
    }
    const key = laneKey(arrow);
    const chain = [];
    for (let layer = first; layer <= last; layer += 1) {
      const beside = arrow.loopBack && layer === arrow.from.layer && arrow.label ? arrow.label.length * LABEL_LETTER + 8 : 0;
      const place = { node: null, key, layer, width: LANE_WIDTH, height: 0, x: 0, weight: 1, chain, room: beside, loopBack: arrow.loopBack };
      chain.push(place);
      layers[layer].push(place);
    }
    arrow.lane = chain;
  }
  return outer;
}

/**
 * Where an arrow runs among the branches. Nodes come in the order in which the job names them, so the nodes of a branch
 * have neighbouring positions: a number between two positions is a place between two branches.
 */
function laneKey({ from, to, loopBack }) {
  if (loopBack) return Math.max(from.index, to.index) + 0.75;
  const forward = from.out.filter((arrow) => !arrow.loopBack);
  // The end of a branch, on its way to where the branches meet.
  if (forward.length < 2) return from.index + 0.1;
  // The way out of a loop; the way back is on the other side.
  if (to.node.hint === "LoopEnd") return from.index - 0.25;
  // A branch without nodes.
  const next = forward[forward.findIndex((arrow) => arrow.to === to) + 1];
  return (next ? next.to.index : to.index) - 0.5;
}

/** Top and bottom of each layer. */
function rowsOf(layers) {
  let top = MARGIN;
  return layers.map((layer) => {
    const height = layer.reduce((most, item) => Math.max(most, item.height), 0);
    const row = { top, bottom: top + height, middle: top + height / 2 };
    top += height + LAYER_GAP;
    return row;
  });
}

function draw(arrow, rows) {
  return arrow.loopBack ? drawBack(arrow, rows) : drawForward(arrow, rows);
}

/** From the bottom of a node through the lane to the top of the next. Bars take arrows along their whole width. */
function drawForward({ from, to, label, loopBack, lane }, rows) {
  const towards = (item, x) => (item.isBar ? Math.min(Math.max(x, item.x - item.width / 2 + 4), item.x + item.width / 2 - 4) : item.x);
  const start = { x: towards(from, (lane[0] ?? to).x), y: rows[from.layer].middle + from.height / 2 };
  const end = { x: towards(to, (lane.at(-1) ?? from).x), y: rows[to.layer].middle - to.height / 2 };
  const pen = new Pen(start);
  for (const { x, layer } of lane) {
    pen.curveTo(x, rows[layer].top);
    pen.lineTo(x, rows[layer].bottom);
  }
  pen.curveTo(end.x, end.y);
  const first = lane[0] ? { x: lane[0].x, y: rows[lane[0].layer].top } : end;
  return { from, to, label, loopBack, path: pen.text, labelAt: { x: (start.x + first.x) / 2, y: (start.y + first.y) / 2 } };
}

/** From the side of a node up its lane, and back into the side of an earlier one. */
function drawBack({ from, to, label, loopBack, lane }, rows) {
  const start = { x: from.x + from.width / 2, y: rows[from.layer].middle };
  const end = { x: to.x + to.width / 2, y: rows[to.layer].middle };
  const upwards = [...lane].reverse();
  const corner = Math.min(8, Math.max(2, upwards[0].x - start.x));
  const pen = new Pen(start);
  if (lane.length === 1) {
    // To the same layer: a small bow.
    pen.path(`H${round(upwards[0].x)}v${-10}H${round(end.x)}`);
    return { from, to, label, loopBack, path: pen.text, labelAt: { x: start.x + 6, y: start.y + 9, beside: true } };
  }
  pen.path(`H${round(upwards[0].x - corner)}q${corner} 0 ${corner} ${-corner}`);
  pen.at = { x: upwards[0].x, y: start.y - corner };
  for (const { x, layer } of upwards.slice(0, -1)) {
    if (x !== pen.at.x) pen.curveTo(x, rows[layer].bottom);
    pen.lineTo(x, rows[layer].top);
  }
  const last = upwards.at(-1).x;
  if (last !== pen.at.x) pen.curveTo(last, rows[to.layer].bottom);
  pen.path(`V${round(end.y + corner)}q0 ${-corner} ${-corner} ${-corner}H${round(end.x)}`);
  return { from, to, label, loopBack, path: pen.text, labelAt: { x: start.x + 6, y: start.y - 8, beside: true } };
}

/** Beside the whole chart, in the gaps between layers. */
function drawOutside({ from, to, label, loopBack }, rows, x) {
  const start = { x: from.x, y: rows[from.layer].middle + from.height / 2 };
  const end = { x: to.x, y: rows[to.layer].middle - to.height / 2 };
  const pen = new Pen(start);
  pen.path(`v8H${round(x)}V${round(end.y - 12)}H${round(end.x)}V${round(end.y)}`);
  return { from, to, label, loopBack, path: pen.text, labelAt: { x: start.x + 6, y: start.y + 14, beside: true } };
}

/** Collects the text of a path, with vertical ends of each curve. */
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

  path(text) {
    this.text += text;
  }
}

function round(number) {
  return Math.round(number * 10) / 10;
}

/** Everything to the right of the left margin. Paths keep their numbers; the drawing moves them as a whole. */
function shifted(items, arrows, rows, { left, right }) {
  const shift = Math.round(MARGIN - left);
  return {
    width: Math.ceil(right - left + 2 * MARGIN),
    height: Math.ceil((rows.at(-1)?.bottom ?? MARGIN) + MARGIN),
    shift,
    nodes: items.map(({ node, x, width, height, layer }) => ({ node, x: round(x + shift), y: rows[layer].middle, width, height, layer })),
    arrows: arrows.map(({ from, to, label, loopBack, path, labelAt }) => ({
      from: from.node.id,
      to: to.node.id,
      top: rows[Math.min(from.layer, to.layer)].top,
      bottom: rows[Math.max(from.layer, to.layer)].bottom,
      label,
      loopBack,
      path,
      labelAt: { ...labelAt, x: round(labelAt.x + shift) },
    })),
  };
}
