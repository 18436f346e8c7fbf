// Agents: what sessions get that choose nothing, for all and for each agent; ACP agents; programs.

import { ask } from "../lib/api.js";
import { withHint } from "../lib/format.js";
import { EntryTable } from "./entryTable.js";
import { GROUPS } from "./catalogue.js";
import { RuntimeDefaults } from "./runtimeDefaults.js";
import { group, settingGroup } from "./settingGroup.js";

const ACP_FIELDS = [
  { name: "command", label: "Command", kind: "path", about: "The program: a path, or a name on the PATH." },
  { name: "args", label: "Arguments", kind: "list", about: "One per line, usually a flag that turns on ACP." },
  { name: "env", label: "Variables", kind: "pairs", about: "Additional environment variables for it." },
  { name: "models", label: "Models", kind: "list", about: "Models to offer in addition to those that the agent lists." },
  { name: "auth_method", label: "Login method", kind: "text", about: "The ID of the login method to request before a session." },
  { name: "login_hint", label: "Login hint", kind: "text", about: "What to show when the agent needs a login." },
  { name: "hello_within", label: "Start timeout", kind: "duration", fallback: "1m", about: "How long it may take to respond after starting." },
  { name: "end_when_idle", label: "Stop when idle", kind: "duration", fallback: "15m", keepsEmpty: true, about: "Ends a session's process after this long without a prompt. Leave empty for never." },
];

export function agentsSection({ store, runtimes, models }) {
  const fields = new Map();
  const defaults = settingGroup(store, GROUPS.sessionDefaults, fields);
  const ofRuntimes = new RuntimeDefaults(store, { runtimes, models });
  const acp = new EntryTable(store, {
    table: "acp",
    noun: "agent",
    fields: ACP_FIELDS,
    fresh: {},
    nameAbout: "The agent is called acp:NAME.",
    namePlaceholder: "gemini",
    empty: "No ACP agents. Add one to use Gemini, opencode, goose or any other program that speaks the Agent Client Protocol.",
    summary: ({ command, args }) => [command, ...(args ?? [])].join(" "),
    removal: (name) => `Sessions of acp:${name} are kept, but can't continue until you add the agent again.`,
    test: { label: "Check", run: checkAgent },
  });
  const fill = async () => {
    try {
      const [all, offered] = await Promise.all([runtimes(), models()]);
      const control = fields.get("sessions.runtime")?.control;
      if (control) control.choices = [["", "First ready agent"], ...all.map(({ name, displayName = name, ready }) => [name, ready ? displayName : `${displayName} – not ready`])];
      fields.get("sessions.model")?.control.suggest(offered.map(({ listedId, id, name }) => ({ id: listedId ?? id, name })));
    } catch {
      // The boxes take any text; the list of agents says what is wrong.
    }
  };
  fill();
  store.addEventListener("change", fill);
  return [defaults, group("Defaults for each agent", "Used when a session does not set them. They override the defaults for all sessions.", ofRuntimes.element), group("ACP agents", null, acp.element), settingGroup(store, GROUPS.programs)];
}

/** What the system check finds out about one ACP agent. */
async function checkAgent(name) {
  const { checks } = await ask("api/doctor?canary=false");
  const own = checks.filter(({ group: of }) => of === `acp:${name}`);
  const bad = own.find(({ verdict }) => verdict !== "ok");
  if (own.length === 0) return { isGood: false, text: "The system check does not list this agent." };
  if (bad) return { isGood: false, text: withHint(bad) };
  return { isGood: true, text: own.map(({ message }) => message).join(" · ") };
}
