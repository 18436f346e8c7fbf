// Elements for blocks of Markdown that is still arriving. The text of an element is the source of its block.

import { make } from "../lib/dom.js";
import { LIST_ITEM } from "./markdownBlocks.js";
import { inlineNodes, mark } from "./markdownInline.js";

/** An element for a block. With `isOpen`, more of it may come. */
export function markdownElement(block, isOpen) {
  const element = BUILDERS[block.kind](block, isOpen);
  if (block.isContinued) element.classList.add("markdown-continued");
  return element;
}

const BUILDERS = {
  blank: ({ text }) => mark(text),
  paragraph: ({ text }, isOpen) => make("p", {}, ...inlineNodes(text, { isOpen })),
  rule: ({ text }) => make("div", { class: "markdown-rule" }, mark(text)),
  heading({ text, level }, isOpen) {
    const [sign] = /^[ \t]*#+[ \t]*/.exec(text);
    // Not headings of the page: the text is still changing.
    return make("div", { class: `markdown-heading markdown-heading-${level}` }, mark(sign), ...inlineNodes(text.slice(sign.length), { isOpen }));
  },
  quote({ text }, isOpen) {
    const nodes = text.split(/(?<=\n)/).flatMap((line) => {
      const [sign] = /^[ \t]*>?[ ]?/.exec(line);
      return [mark(sign), ...inlineNodes(line.slice(sign.length), { isOpen })];
    });
    return make("blockquote", {}, make("p", {}, ...nodes));
  },
  code({ text, isContinued, isClosed }) {
    const first = isContinued ? 0 : lineEnd(text, 0);
    const last = isClosed ? text.lastIndexOf("\n", text.length - 2) + 1 : text.length;
    const inside = Math.max(first, last);
    return make("pre", {}, mark(text.slice(0, first)), make("code", { text: text.slice(first, inside) }), mark(text.slice(inside)));
  },
  list({ text }, isOpen) {
    const list = make("div", { class: "markdown-list", role: "list" });
    const items = itemsOf(text);
    items.forEach((item, index) => list.append(itemElement(item, isOpen && index === items.length - 1)));
    return list;
  },
  table({ text, isContinued }, isOpen) {
    const rows = text.split(/(?<=\n)/).map((line, index) => {
      if (index === 1 && !isContinued) return make("tr", { class: "markdown-mark", text: line });
      return make("tr", {}, ...cells(line, index === 0 && !isContinued ? "th" : "td", isOpen));
    });
    return make("table", {}, make("tbody", {}, ...rows));
  },
};

function lineEnd(text, from) {
  const end = text.indexOf("\n", from);
  return end < 0 ? text.length : end + 1;
}

/** The items of a list: `{ depth, sign, box, text }`. Lines without a mark belong to the item before them. */
function itemsOf(text) {
  const items = [];
  const depths = [];
  for (const line of text.split(/(?<=\n)/)) {
    const found = LIST_ITEM.exec(line);
    if (found || items.length === 0) {
      const indentation = found?.[1].replaceAll("\t", "    ").length ?? 0;
      while (depths.length > 0 && depths.at(-1) > indentation) depths.pop();
      if (depths.length === 0 || depths.at(-1) < indentation - 1) depths.push(indentation);
      const [all = "", , sign = "", box = ""] = found ?? [];
      items.push({ depth: depths.length - 1, all, sign, box, text: line.slice(all.length) });
    } else items.at(-1).text += line;
  }
  return items;
}

function itemElement({ depth, all, sign, box, text }, isOpen) {
  const shown = box ? (/x/i.test(box) ? "☑" : "☐") : /^\d/.test(sign) ? sign : "•";
  const item = make("div", { class: `markdown-item markdown-depth-${Math.min(depth, 5)}`, role: "listitem", data: { sign: shown } });
  item.append(mark(all), ...inlineNodes(text, { isOpen }));
  return item;
}

/** The cells of a row; what separates them is hidden. */
function cells(line, tag, isOpen) {
  const pieces = line.split(/(?<!\\)(\|)/);
  const found = [];
  let before = "";
  pieces.forEach((piece, index) => {
    const isEdge = piece.trim() === "" && (index === 0 || index === pieces.length - 1);
    if (piece === "|" || isEdge) before += piece;
    else {
      found.push(make(tag, {}, mark(before), ...inlineNodes(piece, { isOpen })));
      before = "";
    }
  });
  if (before !== "") (found.at(-1) ?? found[found.push(make(tag)) - 1]).append(mark(before));
  return found;
}
