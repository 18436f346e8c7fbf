// One sentence about the sessions that work in a folder: how many, and the names of a few.

import { make } from "./dom.js";
import { exactString } from "./exactText.js";

/** More names, or longer ones, would fill the page; the sidebar has all of them. */
const MOST_NAMES = 2;
const LONGEST_NAME = 20;

/** The parts of the sentence about these sessions. `element(session, { title, text })` makes the element with a name. */
export function workingSentence(sessions, element) {
  const count = sessions.length;
  const names = sessions.slice(0, MOST_NAMES).map((session) => element(session, nameOf(session)));
  const who = count === 1 ? "Another session is working in this folder" : `${count} other sessions are working in this folder`;
  return [who, make("span", { class: "folder-why", text: " and may change the same files" }), ": ", ...inWords(names, count - names.length)];
}

function nameOf({ title, sessionId }) {
  const name = exactString(title || sessionId);
  return { title: name, text: name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME - 1).trimEnd()}…` : name };
}

/** "A and B", or "A, B and 3 more". */
function inWords(names, rest) {
  const isLast = (index) => index === names.length - 1 && rest === 0;
  const parts = names.flatMap((name, index) => (index === 0 ? [name] : [isLast(index) ? " and " : ", ", name]));
  return rest > 0 ? [...parts, ` and ${rest} more`] : parts;
}
