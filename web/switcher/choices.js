// What the switcher offers: sessions and jobs, commands, and what was written in sessions.

import { jobInAddress, sessionAddress, sessionInAddress } from "../lib/address.js";
import { ask } from "../lib/api.js";
import { exactString } from "../lib/exactText.js";
import { ago, baseName } from "../lib/format.js";
import { allPlaces, markOf, sorted } from "../sidebar/places.js";
import { score } from "./fuzzy.js";

const MOST_PLACES = 10;
const MOST_COMMANDS = 8;
const MOST_HITS = 8;
/** What is around the title counts less than the title. */
const ASIDE = 0.4;
const KINDS = { prompt: "Prompt", message: "Message", reasoning: "Reasoning", tool: "Tool" };

/** Before anything is typed: what waits, what works and what is recent, then the commands. */
export function firstChoices(commands) {
  const isHere = ({ id }) => id === sessionInAddress() || id === jobInAddress().jobId;
  const { needs, working, recent } = sorted(allPlaces().filter((place) => !place.isStep && !isHere(place)));
  return [
    ["Sessions and jobs", [...needs, ...working, ...recent].slice(0, MOST_PLACES).map(placeChoice)],
    ["Commands", commands.map(commandChoice)],
  ];
}

/** What fits the query, the best first. With ">" only commands are searched. */
export function rankedChoices(query, commands) {
  const onlyCommands = query.startsWith(">");
  const words = onlyCommands ? query.slice(1) : query;
  const fitting = (choices, most) => best(choices.map((choice) => ({ choice, points: pointsOf(words, choice) })), most);
  const found = fitting(commands.map(commandChoice), onlyCommands ? commands.length : MOST_COMMANDS);
  if (onlyCommands) return [["Commands", found.map(({ choice }) => choice)]];
  const places = fitting(allPlaces().map(placeChoice), MOST_PLACES);
  const groups = [["Sessions and jobs", places], ["Commands", found]];
  // What fits best comes first, as Enter takes it.
  if ((found[0]?.points ?? -1) > (places[0]?.points ?? -1)) groups.reverse();
  return groups.map(([title, some]) => [title, some.map(({ choice }) => choice)]);
}

/** What was written in all sessions. Rejects if the search is not complete yet or the server does not answer. */
export async function textChoices(query, signal) {
  const { hits } = await ask(`api/copilot/search?${new URLSearchParams({ q: query, typing: "true", limit: String(MOST_HITS) })}`, { signal });
  return hits.slice(0, MOST_HITS).map(hitChoice);
}

function placeChoice(place) {
  return {
    id: place.key,
    kind: place.kind,
    mark: markOf(place),
    title: place.title,
    aside: place.folder ? baseName(place.folder) : "",
    hint: place.group === "needs" ? place.word : place.time ? ago(place.time) : "",
    searched: `${place.about} ${place.folder ?? ""} ${place.word}`,
    address: place.address,
    isLocal: place.isLocal,
    label: [place.title, place.word, place.unread && "unread"].filter(Boolean).join(", "),
  };
}

function commandChoice({ id, label, key = "", also = "", run }) {
  return { id: `command-${id}`, kind: "command", title: label, aside: "", hint: key, searched: also, run, label };
}

function hitChoice({ sessionId, seq, kind, title, time, snippet }) {
  // A hit is one line of text: where lines end is nothing to decide by.
  const parts = snippet.map(({ text, match }) => ({ text: exactString(text.replace(/\s+/g, " ")), match }));
  return { id: `hit-${sessionId}-${seq}`, kind: "text", title: parts, aside: title || sessionId, hint: ago(time), address: sessionAddress(sessionId, seq), isLocal: true, label: `${KINDS[kind] ?? kind} in ${title || sessionId}` };
}

function pointsOf(words, { title, searched }) {
  const own = score(words, title);
  const around = score(words, `${title} ${searched}`, { byLetters: false });
  if (own === null && around === null) return null;
  return Math.max(own ?? 0, (around ?? 0) * ASIDE);
}

function best(scored, most) {
  return scored.filter(({ points }) => points !== null).toSorted((one, other) => other.points - one.points).slice(0, most);
}
