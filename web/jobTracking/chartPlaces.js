// How far to the left or right each item of a chart stands. What runs one after the other stands on one line, branches
// stand side by side around the line of the item where they part, and ways back run beside what they repeat.

const BRANCH_GAP = 26;
const LANE_GAP = 16;
const LANE = 6;
const BAR_MARGIN = 12;
const LABEL_LETTER = 6.2;
/** Branches inside of branches deeper than this are not arranged: they stand beside the chart. */
const DEEPEST = 500;

/**
 * Sets the `x` of all items and the `line` on which arrows reach them, and the `laneX` of arrows that need a line of their
 * own.
 */
export function placeItems(items, arrows) {
  const entered = new Set(items.flatMap(({ next }) => next));
  const roots = items.filter((item) => !entered.has(item));
  const lanes = new Map();
  const sequences = roots.map((root) => sequenceFrom(root, null, null, 0)).filter(({ elements }) => elements.length > 0);
  for (const arrow of arrows) if (arrow.loopBack && arrow.to.sequence) lanes.set(arrow.to.sequence, [...(lanes.get(arrow.to.sequence) ?? []), arrow]);
  let edge = 0;
  for (const sequence of sequences) {
    measure(sequence, lanes);
    place(sequence, edge + sequence.left);
    edge += sequence.left + sequence.right + BRANCH_GAP;
  }
  placeLeftOvers(items, edge);
  for (const item of items) item.line = item.x;
  const into = new Map(items.filter(({ isBar }) => isBar).map((item) => [item, []]));
  for (const arrow of arrows) if (!arrow.loopBack) into.get(arrow.to)?.push(arrow);
  for (const [item, entering] of into) stretch(item, entering);
}

/** The items from `start` up to `stop`, one after the other; `owner` is the item that the sequence is a branch of. */
function sequenceFrom(start, stop, owner, depth) {
  const sequence = { elements: [], owner, left: 0, right: 0 };
  let item = start;
  while (item && item !== stop && !item.sequence) {
    const element = { item, branches: [], left: item.width / 2, right: item.width / 2 };
    item.sequence = sequence;
    item.position = sequence.elements.length;
    sequence.elements.push(element);
    if (item.next.length < 2 || depth >= DEEPEST) {
      item = item.next[0] ?? null;
      continue;
    }
    const parting = item;
    element.branches = item.next.map((next) => ({
      arrow: parting.out.find(({ to, loopBack }) => to === next && !loopBack) ?? null,
      sequence: next === parting.join ? null : sequenceFrom(next, parting.join, parting, depth + 1),
      offset: 0,
    }));
    item = parting.join;
  }
  return sequence;
}

/** How much room a sequence needs to the left and right of its line. */
function measure(sequence, lanes) {
  for (const element of sequence.elements) if (element.branches.length > 0) arrangeBranches(element, lanes);
  addLanes(sequence, lanes.get(sequence) ?? []);
  for (const { left, right } of sequence.elements) {
    sequence.left = Math.max(sequence.left, left);
    sequence.right = Math.max(sequence.right, right);
  }
}

function arrangeBranches(element, lanes) {
  const { branches } = element;
  for (const branch of branches) {
    branch.isEmpty = !branch.sequence || branch.sequence.elements.length === 0;
    if (!branch.isEmpty) measure(branch.sequence, lanes);
  }
  const main = mainBranch(branches);
  const ordered = main ? aroundMain(branches, main) : branches;
  let at = 0;
  ordered.forEach((branch, index) => {
    const { left, right } = roomOf(branch);
    at += index === 0 ? 0 : BRANCH_GAP + left;
    branch.offset = at;
    at += right;
  });
  const middle = main ? main.offset : (ordered[0].offset + ordered.at(-1).offset) / 2;
  for (const branch of branches) branch.offset -= middle;
  const [first, last] = [ordered[0], ordered.at(-1)];
  element.left = Math.max(element.left, roomOf(first).left - first.offset);
  element.right = Math.max(element.right, last.offset + roomOf(last).right);
}

/** The branch that goes straight on: the only one with items, or at a gate the one that does not lead back. */
function mainBranch(branches) {
  const full = branches.filter(({ isEmpty }) => !isEmpty);
  if (full.length !== 1) return null;
  const endsInWayBack = full[0].sequence.elements.at(-1).item.out.every(({ loopBack }) => loopBack);
  const { owner } = full[0].sequence;
  const isGate = Array.isArray(owner.node.hint) && owner.node.hint[0] === "GateNode";
  const isLoop = !isGate && full[0].sequence.elements.at(-1).item.out.some(({ to }) => to === owner);
  return endsInWayBack && !isLoop ? (branches.find(({ isEmpty }) => isEmpty) ?? full[0]) : full[0];
}

/** The way out of a loop is on the left, because the way back is on the right. */
function aroundMain(branches, main) {
  const at = branches.indexOf(main);
  const isLeft = (branch, index) => index < at || branch.arrow?.to.node.hint === "LoopEnd";
  const others = branches.filter((branch) => branch !== main);
  const left = others.filter((branch) => branch.isEmpty && isLeft(branch, branches.indexOf(branch)));
  return [...left, main, ...others.filter((branch) => !left.includes(branch))];
}

function roomOf({ isEmpty, sequence }) {
  return isEmpty ? { left: LANE / 2, right: LANE / 2 } : sequence;
}

/** Ways back run to the right of what they repeat, the shorter ones closer. */
function addLanes(sequence, arrows) {
  const spans = arrows
    .map((arrow) => ({ arrow, first: arrow.to.position, last: positionIn(sequence, arrow.from) }))
    .filter(({ last }) => last !== null)
    .map(({ arrow, first, last }) => ({ arrow, first: Math.min(first, last), last: Math.max(first, last) }))
    .sort((one, other) => one.last - one.first - (other.last - other.first));
  for (const { arrow, first, last } of spans) {
    const room = arrow.label ? arrow.label.length * LABEL_LETTER + 4 : 0;
    let right = arrow.from.width / 2 + room;
    for (let at = first; at <= last; at += 1) right = Math.max(right, sequence.elements[at].right);
    arrow.laneOffset = right + LANE_GAP;
    for (let at = first; at <= last; at += 1) sequence.elements[at].right = arrow.laneOffset + LANE / 2;
    sequence.lanes = [...(sequence.lanes ?? []), arrow];
  }
}

/** The position in a sequence of the element that an item is in; null if it is elsewhere. */
function positionIn(sequence, item) {
  let at = item;
  while (at && at.sequence !== sequence) at = at.sequence?.owner ?? null;
  return at ? at.position : null;
}

function place(sequence, x) {
  for (const arrow of sequence.lanes ?? []) arrow.laneX = x + arrow.laneOffset;
  for (const { item, branches } of sequence.elements) {
    item.x = x;
    for (const { isEmpty, arrow, sequence: branch, offset } of branches) {
      if (!isEmpty) place(branch, x + offset);
      else if (arrow) arrow.laneX = x + offset;
    }
  }
}

/** What could not be arranged stands to the right of everything else, in its layer. */
function placeLeftOvers(items, edge) {
  const ends = new Map();
  for (const item of items) {
    if (item.sequence) continue;
    const start = ends.get(item.layer) ?? edge;
    item.x = start + item.width / 2;
    ends.set(item.layer, start + item.width + BRANCH_GAP);
  }
}

/** A bar reaches over all branches that it opens or closes; its line stays where it is. */
function stretch(item, entering) {
  const leaving = item.out.filter(({ loopBack }) => !loopBack);
  const ends = [
    ...(entering.length > 1 ? entering.map(({ laneX, from }) => laneX ?? from.line) : []),
    ...(leaving.length > 1 ? leaving.map(({ laneX, to }) => laneX ?? to.line) : []),
  ];
  let [start, end] = [item.x - item.width / 2, item.x + item.width / 2];
  for (const x of ends) {
    start = Math.min(start, x - BAR_MARGIN);
    end = Math.max(end, x + BAR_MARGIN);
  }
  item.x = (start + end) / 2;
  item.width = end - start;
}
