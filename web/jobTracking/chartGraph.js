// The graph of a flow chart: its nodes as items, its arrows, its layers, and where branches meet. Nothing here uses
// recursion, because a chart may be very deep.

/**
 * Items for nodes, in their order. Each has `out`, its arrows, and `next`, the items that come after it: those that its
 * forward arrows lead to, and those that a way back leaves for (see below). Returns `{ items, arrows }`.
 */
export function graphOf(nodes, sizeOf) {
  const items = nodes.map((node, index) => ({ node, index, ...sizeOf(node), x: 0, layer: 0, out: [], next: [], join: null, sequence: null }));
  const byId = new Map(items.map((item) => [item.node.id, item]));
  const arrows = [];
  for (const from of items) {
    for (const { to: id, loopBack = false, label } of from.node.arrows ?? []) {
      const to = byId.get(id);
      if (!to) continue;
      const arrow = { from, to, label: label ?? "", loopBack: loopBack || to === from, laneX: null };
      arrows.push(arrow);
      from.out.push(arrow);
    }
  }
  for (const arrow of circlesIn(items)) arrow.loopBack = true;
  for (const item of items) item.next = nextOf(item, items);
  return { items, arrows };
}

/** Forward arrows that lead to an item on the way to their own beginning. */
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

/**
 * What comes after an item. One whose only arrow leads back is the end of a branch: what the job names next comes after
 * it, although no arrow leads there.
 */
function nextOf(item, items) {
  const forward = item.out.filter(({ loopBack }) => !loopBack).map(({ to }) => to);
  const follower = items[item.index + 1];
  return forward.length === 0 && item.out.length > 0 && follower ? [follower] : forward;
}

/** Puts each item one layer below the lowest item that it comes after. Returns how many layers there are. */
export function assignLayers(items) {
  const order = inOrder(items);
  for (const item of order) for (const next of item.next) next.layer = Math.max(next.layer, item.layer + 1);
  return items.reduce((most, { layer }) => Math.max(most, layer + 1), 0);
}

/** Each item after all that it comes after; items in a circle (which only a broken chart has) are left out. */
function inOrder(items) {
  const waiting = new Map(items.map((item) => [item, 0]));
  for (const item of items) for (const next of item.next) waiting.set(next, waiting.get(next) + 1);
  const order = items.filter((item) => waiting.get(item) === 0);
  for (let at = 0; at < order.length; at += 1) {
    for (const next of order[at].next) {
      waiting.set(next, waiting.get(next) - 1);
      if (waiting.get(next) === 0) order.push(next);
    }
  }
  return order;
}

/** Notes at each item where all ways from it meet again: its immediate post-dominator; null at the end of the chart. */
export function findJoins(items) {
  const depth = new Map([[null, 0]]);
  for (const item of inOrder(items).reverse()) {
    item.join = item.next.length === 0 ? null : item.next.reduce((one, other) => meeting(one, other, depth));
    depth.set(item, depth.get(item.join) + 1);
  }
}

function meeting(one, other, depth) {
  let [left, right] = [one, other];
  while (left !== right) {
    if ((depth.get(left) ?? 0) >= (depth.get(right) ?? 0)) left = left?.join ?? null;
    else right = right?.join ?? null;
  }
  return left;
}
