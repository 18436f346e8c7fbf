// The nodes of a flow chart as SVG: a shape for each kind, a label, and a mark for the state of the work.

const SVG = "http://www.w3.org/2000/svg";
const LONGEST_LABEL = 30;
const LABEL_FONT = "13px system-ui, -apple-system, \"Segoe UI\", Roboto, \"Helvetica Neue\", \"Liberation Sans\", Arial, sans-serif";
const NODE_HEIGHT = 32;
const MARK_SIZE = 18;

/** Kinds without a label: their size, and what they mean. */
const STRUCTURE = {
  ParBegin: { width: 72, height: 6, isBar: true, meaning: "The branches below run at the same time" },
  ParEnd: { width: 72, height: 6, isBar: true, meaning: "All branches above have ended" },
  CondBegin: { width: 44, height: 6, isBar: true, meaning: "Start of a condition with several steps" },
  CondEnd: { width: 22, height: 22, isBar: false, meaning: "Result of the condition" },
  AltEnd: { width: 44, height: 6, isBar: true, meaning: "The branches merge" },
  LoopEnd: { width: 14, height: 14, isBar: false, meaning: "The loop has ended" },
};

const KINDS = { TaskNode: "task", CondNode: "condition", GateNode: "gate" };

/** States of a work: a word, and a mark whose shape says the same. */
export const WORK_STATES = {
  Running: { word: "Running", mark: "M12.5 9a3.5 3.5 0 1 1-1-2.5" },
  Succeeded: { word: "Succeeded", mark: "M5.5 9.3 8 11.8l4.6-5.3" },
  Failed: { word: "Failed", mark: "M6.2 6.2l5.6 5.6M11.8 6.2l-5.6 5.6" },
  Waiting: { word: "Needs your input", mark: "M9 5.2v4.6M9 12.4v.4" },
};

export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== null && value !== undefined) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** The kind of a node, and its work if it has one. */
export function describeNode({ hint, label }) {
  const [kind, workId] = Array.isArray(hint) ? hint : [hint, null];
  return { kind, workId: workId ?? null, label: label ?? "", isWork: workId !== null && workId !== undefined };
}

const pen = document.createElement("canvas").getContext("2d");
pen.font = LABEL_FONT;
const widths = new Map();

/** What the layout needs to know about a node. */
export function sizeOfNode(node) {
  const { kind, label } = describeNode(node);
  if (STRUCTURE[kind]) return STRUCTURE[kind];
  const text = shortLabel(label);
  if (!widths.has(text)) widths.set(text, Math.ceil(pen.measureText(text).width));
  const slant = kind === "TaskNode" ? 0 : 18;
  return { width: Math.max(84, widths.get(text) + 32 + slant), height: NODE_HEIGHT, isBar: false };
}

/** A long label loses its middle: what tells tasks apart is at either end. */
function shortLabel(label) {
  if (label.length <= LONGEST_LABEL) return label;
  const head = Math.ceil((LONGEST_LABEL - 1) * 0.6);
  return `${label.slice(0, head)}…${label.slice(head + 1 - LONGEST_LABEL)}`;
}

/** The element of a node that was laid out. */
export function drawNode({ node, x, y, width, height }) {
  const { kind, workId, label, isWork } = describeNode(node);
  const group = svg("g", { class: `node node-${KINDS[kind] ?? kind}`, transform: `translate(${x} ${y})`, "data-node-id": node.id, "data-work-id": workId });
  group.append(shapeOf(kind, width, height));
  if (!isWork) {
    group.append(svg("title", {}, STRUCTURE[kind]?.meaning ?? kind));
    return group;
  }
  const text = svg("text", { class: "node-label", "text-anchor": "middle", dy: "0.35em" });
  text.textContent = shortLabel(label);
  const mark = svg("g", { class: "task-status-indicator", "data-work-id": workId, transform: `translate(${-width / 2 - MARK_SIZE / 2} ${-height / 2 - MARK_SIZE / 2})` });
  const title = svg("title");
  title.textContent = label;
  group.append(text, mark, title);
  group.setAttribute("role", "button");
  group.setAttribute("tabindex", "-1");
  group.setAttribute("aria-pressed", "false");
  return group;
}

function shapeOf(kind, width, height) {
  const [right, bottom] = [width / 2, height / 2];
  const polygon = (...points) => svg("polygon", { class: "node-shape", points: points.map((point) => point.join(",")).join(" ") });
  if (kind === "CondNode") return polygon([-right, 0], [-right + 12, -bottom], [right - 12, -bottom], [right, 0], [right - 12, bottom], [-right + 12, bottom]);
  if (kind === "GateNode") {
    return polygon([-right, -bottom + 9], [-right + 9, -bottom], [right - 9, -bottom], [right, -bottom + 9], [right, bottom - 9], [right - 9, bottom], [-right + 9, bottom], [-right, bottom - 9]);
  }
  if (kind === "CondEnd") return polygon([-right, 0], [0, -bottom], [right, 0], [0, bottom]);
  if (kind === "LoopEnd") return svg("circle", { class: "node-shape", r: right });
  return svg("rect", { class: "node-shape", x: -right, y: -bottom, width, height, rx: kind === "TaskNode" ? 4 : 2 });
}

/** Shows the state of a node's work; `state` is undefined before it began. `runs` counts how often it ran. */
export function showWorkState(group, node, state, runs) {
  const { kind, label } = describeNode(node);
  const mark = group.querySelector(".task-status-indicator");
  const known = WORK_STATES[state];
  group.dataset.state = state ?? "";
  mark.dataset.state = state ?? "";
  mark.replaceChildren();
  if (known) {
    mark.append(svg("circle", { class: "mark-back", cx: 9, cy: 9, r: 8 }), svg("path", { class: "mark-line", d: known.mark }), title(runs > 1 ? `${known.word}, run ${runs}` : known.word));
  }
  const words = [label, KINDS[kind] === "task" ? null : KINDS[kind], known ? known.word.toLowerCase() : "not started", runs > 1 ? `run ${runs}` : null];
  group.setAttribute("aria-label", words.filter(Boolean).join(", "));
}

function title(text) {
  const element = svg("title");
  element.textContent = text;
  return element;
}
