// Text that an agent chose and a person decides on, shown as exactly the characters that it consists of: nothing in it
// can hide, reorder what is around it, or push the rest out of sight.

import { make } from "./dom.js";
import { plural } from "./format.js";

/**
 * A run of white space and of characters that cannot be seen, that change the order or the look of others, or that look
 * like a space. Combining characters are among these unless they sit on a letter, a few at most. Or an emoji, whose
 * joiners and selectors are part of it.
 */
const PARTS =
  /(?<run>(?:[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800\uFFFC]|(?<!\p{L}\p{M}{0,3})\p{M})+)|\p{RGI_Emoji}|\p{Extended_Pictographic}[\uFE0E\uFE0F]?/gv;
/** A text without any of these is shown as it is; most are. */
const NOTEWORTHY = /[^\n\t -~]|[\t ]{5}|\n\s*\n/;

const MOST_LINE_BREAKS = 4;
const MOST_SPACES = 16;
const MOST_INDENTATION = 48;
const MOST_MARKS_IN_A_RUN = 8;
/** Further marks become text: so many elements would only slow the page down. */
const MOST_MARKS = 2000;
const TAB_WIDTH = 4;

const NAMES = [
  [/[\u202A-\u202E\u2066-\u2069\u200E\u200F\u061C]/, "changes the direction of text"],
  [/[\u{E0000}-\u{E007F}]/u, "invisible tag character"],
  [/\p{Cc}/u, "control character"],
  [/\p{Zs}/u, "looks like a space but is another character"],
  [/[\p{Zl}\p{Zp}]/u, "line or paragraph separator"],
  [/\p{Cs}/u, "half of a character"],
  [/\p{Co}|\p{Cn}/u, "character without a defined appearance"],
  [/(?!\p{Default_Ignorable_Code_Point})\p{M}/v, "changes the appearance of the character before it"],
];

/**
 * Nodes for a text, with a mark in place of each character that would deceive. With `oneLine`, line breaks are marked too.
 */
export function exactNodes(text, { oneLine = false } = {}) {
  const nodes = [];
  let marks = 0;
  for (const { plain, label, meaning } of piecesOf(String(text ?? ""), oneLine)) {
    marks += label === undefined ? 0 : 1;
    if (label !== undefined && marks <= MOST_MARKS) nodes.push(make("mark", { class: "exact-mark", title: meaning, text: label }));
    else if (typeof nodes.at(-1) === "string") nodes[nodes.length - 1] += plain ?? `[${label}]`;
    else nodes.push(plain ?? `[${label}]`);
  }
  return nodes;
}

/** An element with a text in it that neither reorders what is around it nor is reordered. */
export function exactElement(tag, properties, text, options) {
  const { class: name = "", ...others } = properties;
  return make(tag, { class: `exact-text ${name}`.trim(), ...others }, ...exactNodes(text, options));
}

/** The same as one line of plain text, for titles, attributes and notifications. */
export function exactString(text) {
  const pieces = piecesOf(String(text ?? ""), true);
  return Array.from(pieces, ({ plain, label }) => plain ?? `[${label}]`).join("");
}

/** Marks the texts below a node that was rendered elsewhere. */
export function markTextsBelow(root) {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const texts = [];
  while (walker.nextNode()) texts.push(walker.currentNode);
  for (const node of texts) {
    const nodes = exactNodes(node.data);
    if (nodes.some((one) => typeof one !== "string")) node.replaceWith(...nodes);
  }
}

/** How long a text is, if that cannot be seen at a glance; else null. */
export function sizeOf(text, { lines: mostLines = 12, characters: mostCharacters = 1200 } = {}) {
  const lines = text.replace(/\n$/, "").split("\n").length;
  if (lines <= mostLines && text.length <= mostCharacters) return null;
  return [lines > 1 && plural(lines, "line"), plural([...text].length, "character")].filter(Boolean).join(", ");
}

/** `{ plain }` or `{ label, meaning }`, in order. */
function* piecesOf(text, oneLine) {
  let done = 0;
  if (!NOTEWORTHY.test(text) && !(oneLine && text.includes("\n"))) {
    yield { plain: text };
    return;
  }
  for (const found of text.matchAll(PARTS)) {
    const { run } = found.groups;
    // Emoji and single spaces are part of the text around them.
    if (run === undefined || run === " ") continue;
    if (found.index > done) yield { plain: text.slice(done, found.index) };
    const startsLine = found.index === 0;
    yield* piecesOfRun(run, startsLine, oneLine);
    done = found.index + run.length;
  }
  if (done < text.length) yield { plain: text.slice(done) };
}

function* piecesOfRun(run, startsLine, oneLine) {
  const characters = [...run];
  const isMarked = (character) => (character === "\n" ? oneLine : character !== " " && character !== "\t");
  const marked = characters.filter(isMarked).length;
  const breaks = characters.filter((character) => character === "\n").length;
  const spaces = characters.reduce((sum, character) => sum + (character === " " ? 1 : character === "\t" ? TAB_WIDTH : 0), 0);
  const isIndentation = startsLine || breaks > 0;
  const isTooLong = breaks > MOST_LINE_BREAKS || spaces > (isIndentation ? MOST_INDENTATION : MOST_SPACES) || marked > MOST_MARKS_IN_A_RUN;
  if (isTooLong) {
    yield { label: summaryOf(characters), meaning: "shortened: there is nothing else here" };
    // What follows is a line of its own.
    if (breaks > 0 && !oneLine) yield { plain: "\n" };
    return;
  }
  for (const character of characters) {
    if (!isMarked(character)) yield { plain: character };
    else yield { label: labelOf(character), meaning: meaningOf(character) };
  }
}

/** "200 line breaks, 12 × U+200B": each kind with its count, in the order of their first appearance. */
function summaryOf(characters) {
  const counts = new Map();
  for (const character of characters) counts.set(character, (counts.get(character) ?? 0) + 1);
  const words = { " ": "space", "\n": "line break", "\t": "tab" };
  return [...counts].map(([character, count]) => (words[character] ? plural(count, words[character]) : `${count > 1 ? `${count.toLocaleString("en")} × ` : ""}${labelOf(character)}`)).join(", ");
}

function labelOf(character) {
  if (character === "\n") return "↵";
  return `U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`;
}

function meaningOf(character) {
  if (character === "\n") return "line break";
  return NAMES.find(([pattern]) => pattern.test(character))?.[1] ?? "invisible character";
}
