// Markdown that is still arriving, cut into blocks. Every character of the source is in exactly one block.

/** A longer block is continued in another one, so that little is read again when more arrives. */
const LONGEST_BLOCK = 4096;

const FENCE = /^ {0,3}(`{3,}|~{3,})([^`]*)$/;
const HEADING = /^ {0,3}(#{1,6})(?:[ \t]+|$)/;
const RULE = /^ {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*$/;
const QUOTE = /^ {0,3}> ?/;
const TABLE_RULE = /^ {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/;

/** The beginning of a list item: indentation, mark, and the box of a task. */
export const LIST_ITEM = /^([ \t]*)([-*+]|\d{1,9}[.)])(?:[ \t]+|$)(\[[ xX]\](?:[ \t]+|$))?/;

/**
 * Cuts a text into blocks: `{ kind, text }`, with `level` of headings, `language` of code. `open` is the last block of the
 * text before, if it was too long and continues here. The last block may still grow.
 */
export function markdownBlocks(text, open = null) {
  const blocks = [];
  let current = open ? { ...open, text: "", isContinued: true } : null;
  const close = () => {
    if (current && current.text !== "") blocks.push(current);
    current = null;
  };
  for (const line of linesOf(text)) {
    const bare = line.replace(/\n$/, "");
    if (!current || !continues(current, bare)) {
      close();
      current = begin(bare);
    }
    current.text += line;
    note(current, bare);
    if (current.isDone) close();
    else if (current.text.length >= LONGEST_BLOCK) {
      const { text: _, ...rest } = current;
      close();
      current = { ...rest, text: "", isContinued: true };
    }
  }
  close();
  return blocks;
}

/** The lines of a text with their ends; very long ones in pieces. */
function* linesOf(text) {
  for (let from = 0; from < text.length; ) {
    const end = text.indexOf("\n", from);
    const next = Math.min(end < 0 ? text.length : end + 1, from + LONGEST_BLOCK);
    yield text.slice(from, next);
    from = next;
  }
}

function begin(line) {
  if (line.trim() === "") return { kind: "blank", text: "" };
  const fence = FENCE.exec(line);
  if (fence) return { kind: "code", text: "", fence: fence[1], language: fence[2].trim().split(/\s/, 1)[0], hasBegun: false };
  const heading = HEADING.exec(line);
  if (heading) return { kind: "heading", level: heading[1].length, text: "", isDone: true };
  if (RULE.test(line)) return { kind: "rule", text: "", isDone: true };
  if (QUOTE.test(line)) return { kind: "quote", text: "" };
  if (LIST_ITEM.test(line)) return { kind: "list", text: "" };
  return { kind: "paragraph", text: "", lines: 0 };
}

function continues(block, line) {
  const isBlank = line.trim() === "";
  if (block.kind === "code") return true;
  if (block.kind === "blank") return isBlank;
  if (isBlank) return false;
  if (block.kind === "quote") return QUOTE.test(line);
  if (block.kind === "list") return LIST_ITEM.test(line) || /^\s/.test(line) || !interrupts(line);
  if (block.kind === "table") return line.includes("|");
  return !interrupts(line);
}

/** Whether a line ends the paragraph before it. */
function interrupts(line) {
  const item = LIST_ITEM.exec(line);
  return FENCE.test(line) || HEADING.test(line) || RULE.test(line) || QUOTE.test(line) || (item !== null && !/^\d/.test(item[2])) || /^[ \t]*1[.)][ \t]/.test(line);
}

/** What a line that was added makes of its block. */
function note(block, line) {
  if (block.kind === "code") {
    const closes = block.hasBegun && new RegExp(`^ {0,3}\\${block.fence[0]}{${block.fence.length},}[ \\t]*$`).test(line);
    block.hasBegun = true;
    block.isDone = closes;
    block.isClosed = closes;
  } else if (block.kind === "paragraph") {
    block.lines += 1;
    const isTable = block.lines === 2 && !block.isContinued && line.includes("-") && TABLE_RULE.test(line) && block.text.split("\n", 1)[0].includes("|");
    if (isTable) block.kind = "table";
  }
}
