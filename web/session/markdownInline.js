// The words of Markdown that is still arriving: code, emphasis, links. What marks them stays in the text, hidden, so that
// the text of the nodes is the source.

import { make } from "../lib/dom.js";

/** Code, strong, emphasis, strike-through, a link or picture, an escaped character. */
const PARTS =
  /(?<ticks>`+)(?<code>[^`](?:[\s\S]*?[^`])?)\k<ticks>(?!`)|(?<strongMark>\*\*|(?<!\w)__)(?=\S)(?<strong>[\s\S]*?\S)\k<strongMark>|(?<emphasisMark>\*|(?<!\w)_)(?=[^\s*_])(?<emphasis>[\s\S]*?[^\s*_])\k<emphasisMark>(?!\w)|~~(?=\S)(?<strike>[\s\S]*?\S)~~|(?<link>!?\[)(?<label>[^\]\n]*)(?<target>\]\([^)\n]*\))|\\(?<escaped>[!-/:-@[-`{-~])/g;
/** What has begun and not ended yet looks as it will when it has. */
const UNFINISHED = /(?<ticks>`+)(?<code>[^`]+)$|(?<strongMark>\*\*|(?<!\w)__)(?=\S)(?<strong>[^*_]*)$/;
const DEEPEST = 4;

/** Characters that change nothing but the look. */
export function mark(text) {
  return make("span", { class: "markdown-mark", text });
}

/** Nodes for a text. With `isOpen`, more of it may come. */
export function inlineNodes(text, { isOpen = false, depth = 0 } = {}) {
  const nodes = [];
  let done = 0;
  const plain = (end) => {
    if (end > done) nodes.push(text.slice(done, end));
  };
  if (depth < DEEPEST) {
    for (const found of text.matchAll(PARTS)) {
      plain(found.index);
      nodes.push(...nodesOf(found, depth));
      done = found.index + found[0].length;
    }
    const unfinished = isOpen ? UNFINISHED.exec(text.slice(done)) : null;
    if (unfinished) {
      const { ticks, code, strongMark, strong } = unfinished.groups;
      plain(done + unfinished.index);
      nodes.push(mark(ticks ?? strongMark), ticks ? make("code", { text: code }) : make("strong", { text: strong }));
      done = text.length;
    }
  }
  plain(text.length);
  return nodes;
}

function nodesOf({ groups }, depth) {
  const { ticks, code, strongMark, strong, emphasisMark, emphasis, strike, link, label, target, escaped } = groups;
  const inner = (inside) => inlineNodes(inside, { depth: depth + 1 });
  if (code !== undefined) return [mark(ticks), make("code", { text: code }), mark(ticks)];
  if (strong !== undefined) return [mark(strongMark), make("strong", {}, ...inner(strong)), mark(strongMark)];
  if (emphasis !== undefined) return [mark(emphasisMark), make("em", {}, ...inner(emphasis)), mark(emphasisMark)];
  if (strike !== undefined) return [mark("~~"), make("s", {}, ...inner(strike)), mark("~~")];
  if (escaped !== undefined) return [mark("\\"), escaped];
  // A link leads somewhere only when the server has checked it.
  return [mark(link), make("span", { class: "markdown-link" }, ...inner(label)), mark(target)];
}
