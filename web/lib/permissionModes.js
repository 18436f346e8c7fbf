// The permission modes of a session, called the same everywhere.

/** The mode that asks nobody. */
export const ALLOW_ALL = "allow-all";

/** `[mode, label]` each; what allows the most is last. */
export const MODES = [
  ["ask", "Ask me"],
  ["folder", "Files in the folder only"],
  ["deny", "Deny everything"],
  [ALLOW_ALL, "Allow everything"],
];

/** The modes of an agent: one that can't ask during a turn has rules only. */
export function modesOf({ permissions = true } = {}) {
  return permissions ? MODES : [["ask", "Rules only"], ...MODES.slice(1)];
}
