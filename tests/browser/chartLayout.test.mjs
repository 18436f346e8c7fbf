// Where the nodes and arrows of a chart are put.

import assert from "node:assert/strict";
import { test } from "node:test";
import { REVIEW_CHART, useDeck } from "./support/index.mjs";
import { chartOf, largeWork, task } from "./support/charts.mjs";

const deck = useDeck();

/** Lays a chart out in the browser; with points along each arrow. */
async function layOut(chart, { points = true } = {}) {
  const page = await deck.openPage("/test.html");
  return page.evaluate(
    async ([nodes, withPoints]) => {
      const { layOutChart } = await import("/jobTracking/chartLayout.js");
      const { sizeOfNode } = await import("/jobTracking/chartNode.js");
      const { arrows, shift, ...rest } = layOutChart(nodes, sizeOfNode);
      const along = (path) => {
        const element = document.createElementNS("http://www.w3.org/2000/svg", "path");
        element.setAttribute("d", path);
        const length = element.getTotalLength();
        return Array.from({ length: Math.ceil(length / 4) }, (_, step) => element.getPointAtLength(step * 4)).map(({ x, y }) => [x + shift, y]);
      };
      return { ...rest, arrows: arrows.map((arrow) => ({ ...arrow, points: withPoints ? along(arrow.path) : [] })) };
    },
    [chart, points],
  );
}

const boxOf = ({ x, y, width, height }) => ({ left: x - width / 2, right: x + width / 2, top: y - height / 2, bottom: y + height / 2 });

/** Nodes that touch, and arrows that run over a node that is not one of their ends. */
function clashes({ nodes, arrows }) {
  const found = [];
  const boxes = nodes.map((node) => ({ id: node.node.id, ...boxOf(node) }));
  for (const one of boxes) for (const other of boxes) if (one.id < other.id && one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom) found.push(`${one.id} touches ${other.id}`);
  for (const { from, to, points } of arrows) {
    for (const { id, left, right, top, bottom } of boxes) {
      if (id !== from && id !== to && points.some(([x, y]) => x > left && x < right && y > top && y < bottom)) found.push(`${from}→${to} crosses ${id}`);
    }
  }
  return found;
}

const CHARTS = {
  review: REVIEW_CHART,
  "every kind": chartOf(largeWork(30)),
  "loops in loops": chartOf({ loop: [task("a"), { loop: [null, { seq: [task("b"), { loop: [task("c"), task("d"), task("e")] }] }, task("f")] }, task("g")] }),
  "choices without branches": chartOf({ seq: [{ alt: [task("a"), null, task("b")] }, { alt: [task("c"), { seq: [task("d"), task("e")] }, null] }, { alt: [task("f"), null, null] }] }),
  "branches of unequal length": chartOf({ par: [task("a"), { seq: [task("a long name of a task"), { par: [task("c"), task("d")] }, task("e")] }, { loop: [null, task("f"), task("g")] }] }),
  "200 nodes": chartOf(largeWork(150)),
};

for (const [name, chart] of Object.entries(CHARTS)) {
  test(`nothing touches or crosses a node: ${name}`, async () => {
    const layout = await layOut(chart);
    assert.deepEqual(clashes(layout), []);
    assert.equal(layout.nodes.length, chart.length);
    for (const node of layout.nodes) {
      const { left, right, top, bottom } = boxOf(node);
      assert.ok(left >= 0 && top >= 0 && right <= layout.width && bottom <= layout.height, `${node.node.id} is in the picture`);
    }
    const place = new Map(layout.nodes.map((node) => [node.node.id, node]));
    for (const { from, to, loopBack } of layout.arrows) assert.ok(loopBack || place.get(to).y > place.get(from).y, `${from}→${to} leads down`);
  });
}

test("what runs one after the other is on one line, branches are side by side in order", async () => {
  const { nodes } = await layOut(REVIEW_CHART);
  const x = (id) => nodes.find(({ node }) => node.id === id).x;
  const y = (id) => nodes.find(({ node }) => node.id === id).y;
  for (const id of [3, 6, 7, 8, 9, 10]) assert.equal(x(id), x(0), `${id}`);
  assert.ok(x(2) < x(3) && x(3) < x(4));
  assert.ok(y(2) === y(3) && y(3) === y(4));
});

for (const [what, back] of [["an earlier step", 0], ["the gate itself", 1]]) test(`a gate that may lead back to ${what} keeps its way on in line`, async () => {
  const chart = [
    { id: 0, hint: ["TaskNode", 0], label: "plan", arrows: [{ to: 1, loopBack: false }] },
    { id: 1, hint: ["GateNode", 1], label: "Good?", arrows: [{ to: 3, loopBack: false, label: "approved" }, { to: 2, loopBack: false, label: "rejected" }] },
    { id: 2, hint: ["TaskNode", 2], label: "rework", arrows: [{ to: back, loopBack: true }] },
    { id: 3, hint: ["TaskNode", 3], label: "commit" },
  ];
  const layout = await layOut(chart);
  assert.deepEqual(clashes(layout), []);
  const x = (id) => layout.nodes.find(({ node }) => node.id === id).x;
  assert.equal(x(3), x(1));
  assert.ok(x(2) > x(1));
});

test("charts that make no sense are drawn all the same", async () => {
  const broken = [
    [],
    [{ id: 0, hint: "Nonsense", arrows: [{ to: 7, loopBack: false }, { to: 0, loopBack: false }] }],
    [{ id: 0, hint: ["TaskNode", 0], arrows: [{ to: 1, loopBack: false }] }, { id: 1, hint: ["TaskNode", 1], arrows: [{ to: 0, loopBack: false }] }],
    [{ id: 0, hint: ["TaskNode", 0], label: "a", arrows: [{ to: 1 }, { to: 2 }] }, { id: 1, hint: ["TaskNode", 1], label: "b", arrows: [{ to: 3 }, { to: 4 }] }, { id: 2, hint: ["TaskNode", 2], label: "c", arrows: [{ to: 3 }, { to: 4 }] }, { id: 3, hint: ["TaskNode", 3], label: "d" }, { id: 4, hint: ["TaskNode", 4], label: "e", arrows: [{ to: 9, loopBack: true }] }],
  ];
  for (const chart of broken) {
    const { nodes, width, height } = await layOut(chart);
    assert.equal(nodes.length, chart.length);
    assert.ok(width > 0 && height > 0 && nodes.every(({ x, y }) => Number.isFinite(x) && Number.isFinite(y)));
  }
});

test("10,000 nodes in a row, side by side, or one inside the other", async () => {
  let nested = task("innermost");
  for (let depth = 0; depth < 1500; depth += 1) nested = depth % 2 === 0 ? { alt: [task(`c${depth}`), nested, null] } : { loop: [null, nested, task(`l${depth}`)] };
  const many = Array.from({ length: 10_000 }, (_, index) => task(`t${index}`));
  for (const work of [{ seq: many }, { par: many }, nested]) {
    const chart = chartOf(work);
    const { nodes } = await layOut(chart, { points: false });
    assert.equal(nodes.length, chart.length);
  }
});
