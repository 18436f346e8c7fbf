// The panel that lists the keyboard shortcuts of a page.

import { make } from "../lib/dom.js";
import { SidePanel } from "./sidePanel.js";

const NAVIGATION = ["Navigation", [["Ctrl+K", "Go to a session, job or command, or search text"], ["Alt+N", "Next that needs your input"], ["Alt+L", "Show or hide the sidebar"], ["↑ ↓", "Previous or next row, in the sidebar"], ["Alt+I", "Inbox"], ["Alt+H", "All sessions"]]];

/** The keys of the home page and of sessions. */
export const SESSION_KEYS = [
  ["Request", [["Ctrl+Enter", "Send"], ["Alt+Enter", "Queue while the agent works"], ["Ctrl+Shift+Enter", "Steer the running turn"], ["Ctrl+.", "Interrupt the turn"], ["↑ ↓", "Previous requests, from the first or last line"], ["@", "Mention a file in the folder"], ["/", "Commands and templates, at the start of the prompt"]]],
  ["Permission or question", [["Alt+A", "Go to the oldest request, then the next"], ["1 … 9", "Choose an option, after Alt+A"]]],
  ["Transcript", [["j k", "Next or previous block"], ["o", "Expand or collapse the block"], ["r", "Switch between raw and formatted text"], ["c", "Copy the block"], ["e", "Edit and resend the prompt"], ["Alt+O", "Outline: all prompts"], ["Alt+Home", "Jump to the beginning"], ["Alt+End", "Jump to the end and follow"], ["Alt+T", "Switch between transcript and request"], ["Any other key", "Type in the request box"]]],
  ["Changes", [["n p", "Next or previous change"], ["N P", "Next or previous file"], ["e", "Expand or collapse all files"]]],
  NAVIGATION,
  ["Page", [ ["Alt+C", "Changes"], ["Alt+S", "Session details"], ["Alt+R", "Rename the session"], ["Alt+M", "Usage and cost"], ["Alt+,", "Settings"], ["Alt+B", "Choose a folder"], ["Alt+J", "New job"], ["Alt+U", "Refresh"], ["/", "Search sessions"], ["Escape", "Close the panel or dialog"], ["?", "Keyboard shortcuts"]]],
];

/** The keys of the settings page. */
export const SETTINGS_KEYS = [
  ["Settings", [["/", "Find a setting"], ["Enter", "Save the value"], ["Ctrl+Enter", "Save a list"], ["Escape", "Undo the edit, close the form or clear the search"]]],
  NAVIGATION,
  ["Page", [["Alt+A", "Go to the oldest request in the inbox, then the next"], ["1 … 9", "Choose an option, after Alt+A"], ["Escape", "Close the panel or dialog"], ["?", "Keyboard shortcuts"]]],
];

/** `groups` are `[title, [[key, what it does], …]]`. */
export function useKeyHelp(groups) {
  return new SidePanel({
    title: "Keyboard shortcuts",
    build: (body) => {
      body.append(...groups.flatMap(([title, keys]) => [make("h3", { text: title }), make("dl", { class: "key-list" }, ...keys.flatMap(([key, does]) => [make("dt", {}, make("kbd", { text: key })), make("dd", { text: does })]))]));
    },
  });
}
