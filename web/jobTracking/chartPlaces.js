// How far to the left or right each item of a layered chart stands: near the middle of what it is connected with, in the
// order of its layer, and without touching its neighbours.

const NODE_GAP = 26;
const LANE_GAP = 12;
const BAR_MARGIN = 10;

/** Fewer rounds for larger charts, so that even the largest is laid out in a moment. */
function roundsFor(count) {
  if (count < 3000) return 24;
  return count < 30_000 ? 6 : 2;
}

/** Sets the `x` of all items. `layers` are sorted; `arrows` connect their items, with `lane` for the places in between. */
export function placeItems(layers, arrows) {
  const count = layers.reduce((sum, layer) => sum + layer.length, 0);
  connect(layers, arrows);
  for (const layer of layers) packed(layer);
  const chains = new Set(layers.flat().map(({ chain }) => chain).filter(Boolean));
  for (let round = 0; round < roundsFor(count); round += 1) {
    const down = round % 2 === 0;
    for (let step = 0; step < layers.length; step += 1) {
      const layer = layers[down ? step : layers.length - 1 - step];
      settle(layer, layer.map((item) => wanted(item, down ? item.above : item.below)));
    }
    averageChains(chains);
  }
  for (const layer of layers) settle(layer, layer.map((item) => item.mean ?? wanted(item, [...item.above, ...item.below])));
  straighten(layers, chains);
  for (const layer of layers) stretchBars(layer);
}

/** Notes what each item is connected with, in the layer above and below. */
function connect(layers, arrows) {
  for (const item of layers.flat()) {
    item.above = [];
    item.below = [];
    item.mean = null;
  }
  for (const { from, to, lane, loopBack } of arrows) {
    // An arrow that leads back has its place beside the nodes: it must not pull them out of the middle.
    if (loopBack) continue;
    const way = [from, ...lane, to];
    for (let at = 1; at < way.length; at += 1) {
      if (way[at].layer !== way[at - 1].layer + 1) continue;
      way[at].above.push(way[at - 1]);
      way[at - 1].below.push(way[at]);
    }
  }
}

function wanted(item, neighbours) {
  if (item.mean !== null) return item.mean;
  if (neighbours.length === 0) return item.x;
  return neighbours.reduce((sum, { x }) => sum + x, 0) / neighbours.length;
}

/** Lanes are straight where that is possible: all places of one want to be where they are on average. */
function averageChains(chains) {
  for (const chain of chains) {
    const mean = chain.reduce((sum, { x }) => sum + x, 0) / chain.length;
    for (const place of chain) place.mean = mean;
  }
}

/** The least distance between the middles of two neighbours. */
function distance(left, right) {
  const gap = left.node && right.node ? NODE_GAP : LANE_GAP;
  return (left.width + right.width) / 2 + gap + (right.room ?? 0);
}

function packed(layer) {
  let x = 0;
  layer.forEach((item, index) => {
    x += index === 0 ? 0 : distance(layer[index - 1], item);
    item.x = x;
  });
  for (const item of layer) item.x -= x / 2;
}

/**
 * Moves the items of a layer as close as possible to where they want to be: the least squares under the distances
 * between neighbours, by pooling those that would overlap.
 */
function settle(layer, goals) {
  const pools = [];
  let offset = 0;
  layer.forEach((item, index) => {
    offset += index === 0 ? 0 : distance(layer[index - 1], item);
    item.offset = offset;
    let pool = { sum: (goals[index] - offset) * item.weight, weight: item.weight, items: 1 };
    while (pools.length > 0 && pools.at(-1).sum / pools.at(-1).weight > pool.sum / pool.weight) {
      const before = pools.pop();
      pool = { sum: before.sum + pool.sum, weight: before.weight + pool.weight, items: before.items + pool.items };
    }
    pools.push(pool);
  });
  let at = 0;
  for (const { sum, weight, items } of pools) {
    for (const item of layer.slice(at, at + items)) item.x = sum / weight + item.offset;
    at += items;
  }
}

/** Where the neighbours of a lane leave room for a straight line, it becomes one; a way back stays close to its nodes. */
function straighten(layers, chains) {
  const position = new Map();
  for (const layer of layers) layer.forEach((item, index) => position.set(item, index));
  for (const chain of chains) {
    let [least, most] = [-Infinity, Infinity];
    for (const place of chain) {
      const layer = layers[place.layer];
      const [left, right] = [layer[position.get(place) - 1], layer[position.get(place) + 1]];
      if (left) least = Math.max(least, left.x + distance(left, place));
      if (right) most = Math.min(most, right.x - distance(place, right));
    }
    if (least > most) continue;
    const middle = chain.reduce((sum, { x }) => sum + x, 0) / chain.length;
    const x = chain[0].loopBack && least > -Infinity ? least : Math.min(Math.max(middle, least), most);
    for (const place of chain) place.x = x;
  }
}

/** A bar reaches over the branches that it opens or closes, as far as its neighbours let it. */
function stretchBars(layer) {
  layer.forEach((item, index) => {
    if (!item.isBar) return;
    const ends = [...item.above, ...item.below].map(({ x }) => x);
    const [left, right] = [layer[index - 1], layer[index + 1]];
    const least = left ? left.x + left.width / 2 + LANE_GAP : -Infinity;
    const most = right ? right.x - right.width / 2 - LANE_GAP : Infinity;
    const start = Math.min(item.x - item.width / 2, Math.max(least, Math.min(...ends) - BAR_MARGIN));
    const end = Math.max(item.x + item.width / 2, Math.min(most, Math.max(...ends) + BAR_MARGIN));
    item.x = (start + end) / 2;
    item.width = end - start;
  });
}
