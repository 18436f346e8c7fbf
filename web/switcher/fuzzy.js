// How well a text fits what somebody typed: every letter in order, better at the beginnings of words and in one piece.

const WORD_START = 8;
const IN_A_ROW = 5;
const WHOLE_WORD = 12;
const PREFIX = 20;

/** The score of a text, higher is better; null if it does not fit. Each word of the query must fit somewhere. */
export function score(query, text) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const lower = text.toLowerCase();
  let sum = 0;
  for (const word of words) {
    const one = scoreWord(word, lower);
    if (one === null) return null;
    sum += one;
  }
  // Of two texts that fit equally well, the shorter one is closer to what was typed.
  return sum - Math.min(lower.length, 200) / 100;
}

function scoreWord(word, text) {
  const at = text.indexOf(word);
  if (at >= 0) {
    const starts = at === 0 || isBoundary(text, at);
    const ends = at + word.length === text.length || isBoundary(text, at + word.length);
    return word.length * (IN_A_ROW + 1) + (at === 0 ? PREFIX : 0) + (starts ? WORD_START : 0) + (starts && ends ? WHOLE_WORD : 0);
  }
  return scoreLetters(word, text);
}

/** Letters that are not in one piece: each at the next beginning of a word if there is one, else at its next place. */
function scoreLetters(word, text) {
  let sum = 0;
  let last = -1;
  for (let index = 0; index < word.length; index += 1) {
    const next = text.indexOf(word[index], last + 1);
    if (next < 0) return null;
    const start = nextStart(text, word[index], last + 1);
    const place = start >= 0 && fitsAfter(word.slice(index + 1), text, start) ? start : next;
    sum += 1 + (place === last + 1 ? IN_A_ROW : 0) + (place === 0 || isBoundary(text, place) ? WORD_START : 0);
    last = place;
  }
  // Letters far apart are a coincidence.
  return sum >= word.length * 3 ? sum : null;
}

function nextStart(text, letter, from) {
  for (let at = text.indexOf(letter, from); at >= 0; at = text.indexOf(letter, at + 1)) if (at === 0 || isBoundary(text, at)) return at;
  return -1;
}

/** Whether the letters that are left can be found after this place. */
function fitsAfter(rest, text, at) {
  let place = at;
  for (let index = 0; index < rest.length; index += 1) {
    place = text.indexOf(rest[index], place + 1);
    if (place < 0) return false;
  }
  return true;
}

/** Whether a word begins or ends before this place. */
function isBoundary(text, at) {
  return !/[\p{L}\p{N}]/u.test(text[at - 1] ?? " ") || !/[\p{L}\p{N}]/u.test(text[at] ?? " ");
}
