// How well a text fits what somebody typed: every letter in order, better at the beginnings of words and in one piece.

const WORD_START = 8;
const IN_A_ROW = 5;
const WHOLE_WORD = 12;
const PREFIX = 20;
/** Beginnings of words that are tried for one letter; longer queries are not tried letter by letter. */
const MOST_PLACES = 4;
const LONGEST_LETTERS = 8;

/**
 * The score of a text, higher is better; null if it does not fit. Each word of the query must fit somewhere; with `byLetters` the
 * beginnings of words are enough.
 */
export function score(query, text, { byLetters = true } = {}) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const lower = text.toLowerCase();
  let sum = 0;
  for (const word of words) {
    const one = scoreWord(word, lower, byLetters);
    if (one === null) return null;
    sum += one;
  }
  // Of two texts that fit equally well, the shorter one is closer to what was typed.
  return sum - Math.min(lower.length, 200) / 100;
}

function scoreWord(word, text, byLetters) {
  const at = text.indexOf(word);
  if (at >= 0) {
    const starts = at === 0 || isBoundary(text, at);
    const ends = at + word.length === text.length || isBoundary(text, at + word.length);
    return word.length * (IN_A_ROW + 1) + (at === 0 ? PREFIX : 0) + (starts ? WORD_START : 0) + (starts && ends ? WHOLE_WORD : 0);
  }
  return byLetters && word.length > 1 && word.length <= LONGEST_LETTERS ? scoreLetters(word, text) : null;
}

/** Letters that are not in one piece: each follows the one before it or begins a word, as in "flt" for "failing login test". */
function scoreLetters(word, text, from = 0, last = -2) {
  if (word === "") return 0;
  const places = last >= 0 && text[last + 1] === word[0] ? [last + 1] : [];
  for (let at = text.indexOf(word[0], from); at >= 0 && places.length < MOST_PLACES; at = text.indexOf(word[0], at + 1)) if (at === 0 || isBoundary(text, at)) places.push(at);
  const scores = places.map((at) => [at, scoreLetters(word.slice(1), text, at + 1, at)]).filter(([, rest]) => rest !== null);
  return scores.length === 0 ? null : Math.max(...scores.map(([at, rest]) => rest + 1 + (at === last + 1 ? IN_A_ROW : WORD_START)));
}

/** Whether a word begins or ends before this place. */
function isBoundary(text, at) {
  return !/[\p{L}\p{N}]/u.test(text[at - 1] ?? " ") || !/[\p{L}\p{N}]/u.test(text[at] ?? " ");
}
