// What each setting is called, what it is for, and how it is edited. A setting that is missing here is shown with its
// key among the others of the server.

import { ALLOW_ALL, MODES } from "../lib/permissionModes.js";

export const EFFORTS = ["low", "medium", "high", "xhigh", "max"];

/** Of the counts that the server keeps in 32 bits. */
const LARGEST_COUNT = 2 ** 32 - 1;

export function warnOfAllowAll(mode) {
  return mode === ALLOW_ALL ? "Agents run every command without asking you." : null;
}

function of(kind, key, label, about, more = {}) {
  return { key, label, about, kind, ...more };
}

const size = (key, label, about, more) => of("bytes", key, label, about, more);
const number = (key, label, about, more) => of("number", key, label, about, more);
const duration = (key, label, about, more) => of("duration", key, label, about, more);
const toggle = (key, label, about, more) => of("switch", key, label, about, more);
const list = (key, label, about, more) => of("list", key, label, about, { empty: "none", ...more });

/** A group of settings: a heading and what is below it. */
export const GROUPS = {
  sessionDefaults: {
    title: "Defaults for all sessions",
    about: "Used when a session does not set them. The defaults of its agent, below, override them.",
    settings: [
      of("choice", "sessions.runtime", "Agent", "The agent to use.", { choices: [["", "First ready agent"]], empty: "the first ready agent" }),
      of("text", "sessions.model", "Model", "The model to use.", { suggestions: [], empty: "gpt-5.2 if available, otherwise the agent's first" }),
      of("text", "sessions.effort", "Effort", "How much the model thinks.", { suggestions: EFFORTS, empty: "the agent's default" }),
    ],
  },
  programs: {
    title: "Programs",
    settings: [
      of("path", "agents.copilot.program", "Copilot program", "The path of the program. Leave empty to detect it automatically.", { empty: "detected automatically" }),
      of("path", "agents.copilot.home", "Copilot folder", "Copilot's folder for logins and sessions.", { empty: "COPILOT_HOME or ~/.copilot" }),
      duration("agents.copilot.hello_within", "Copilot start timeout", "How long the program may take to respond after starting."),
      duration("agents.copilot.end_when_idle", "Stop idle Copilot after", "Ends the program when no session has used it for this long. Leave empty for never.", { empty: "never" }),
      of("path", "agents.claude.program", "Claude Code program", "The path of the program. Leave empty to detect it automatically.", { empty: "detected automatically" }),
      list("agents.environment", "Agent environment", "The environment variables that agents get.", { empty: "all except FLIGHTDECK_*" }),
      list("agents.trusted_versions", "Trusted versions", "Versions that failed the permission canary and are used anyway, such as copilot 1.0.102.", { warning: (value) => (value?.length > 0 ? "These versions may act without asking." : null) }),
    ],
  },
  models: {
    title: "Model lists",
    settings: [
      list("agents.copilot.models", "Copilot models", "Models to offer when no list can be fetched."),
      of("text", "agents.copilot.catalogue", "Copilot catalogue", "Where to get the model list when the program cannot list models."),
      list("agents.claude.models", "Claude Code models", "Models to offer in addition to its own short names."),
    ],
  },
  permissions: {
    title: "Session permissions",
    settings: [
      of("choice", "permissions.default", "Permission mode", "What happens when an agent wants to act and no rule decides.", { choices: MODES, warning: warnOfAllowAll }),
      toggle("permissions.allow_reads", "Reads without asking", "With “Ask me”, agents read files in the working directory without asking."),
      duration("permissions.unattended_timeout", "Deny unattended requests after", "Requests in sessions that a program started are denied after this time if nobody is watching. Leave empty for never.", { empty: "never" }),
      of("choice", "portal.permissions", "Portal permission mode", "The mode of sessions that are started through the portal's routes.", { choices: [["", "Same as other sessions"], ...MODES], empty: "same as other sessions", warning: warnOfAllowAll }),
      list("sessions.roots", "Allowed folders", "Sessions may work only in these folders and their subfolders.", { empty: "anywhere" }),
    ],
  },
  sessionBudget: {
    title: "Per session",
    settings: [
      of("amount", "budget.session_premium_requests", "Premium requests", "Premium requests in one session. 0 for no limit.", { unit: "requests", zero: "no limit" }),
      of("amount", "budget.session_credits", "AI credits", "AI credits in one session. 0 for no limit.", { unit: "credits", zero: "no limit" }),
      number("budget.session_tokens", "Tokens", "Input and output tokens in one session. 0 for no limit.", { unit: "tokens", zero: "no limit" }),
      of("amount", "budget.session_cost_usd", "Cost", "US dollars in one session. 0 for no limit.", { unit: "US$", zero: "no limit" }),
    ],
  },
  dayBudget: {
    title: "All sessions, per day",
    about: "Days are in UTC.",
    settings: [
      of("amount", "budget.day_premium_requests", "Premium requests", "Premium requests of all sessions in a day. 0 for no limit.", { unit: "requests", zero: "no limit" }),
      of("amount", "budget.day_credits", "AI credits", "AI credits of all sessions in a day. 0 for no limit.", { unit: "credits", zero: "no limit" }),
      number("budget.day_tokens", "Tokens", "Input and output tokens of all sessions in a day. 0 for no limit.", { unit: "tokens", zero: "no limit" }),
      of("amount", "budget.day_cost_usd", "Cost", "US dollars of all sessions in a day. 0 for no limit.", { unit: "US$", zero: "no limit" }),
    ],
  },
  budgetReaction: {
    title: "When a limit is near or reached",
    settings: [
      of("amount", "budget.warn_at", "Warn at", "Warn at this fraction of a limit, such as 0.8.", { isFraction: true }),
      toggle("budget.refuse", "Refuse prompts", "Refuse prompts once a limit is reached."),
      toggle("budget.stop_turns", "Interrupt turns", "Interrupt a running turn when a limit is reached, and refuse prompts from then on."),
    ],
  },
  notifications: {
    title: "Quiet hours and links",
    settings: [
      of("time", "notifications.quiet_from", "Quiet from", "When quiet hours begin, in the server's local time.", { empty: "no quiet hours" }),
      of("time", "notifications.quiet_to", "Quiet until", "When quiet hours end.", { empty: "no quiet hours" }),
      of("choice", "notifications.in_quiet_hours", "During quiet hours", "What happens to notifications during quiet hours.", { choices: [["hold", "Hold: one summary at the end"], ["drop", "Drop"]] }),
      toggle("notifications.quiet_needs_you", "Always send requests for input", "Notify you when something needs your input, even during quiet hours."),
      of("text", "notifications.base_url", "Address in links", "The address of this server in notifications, such as https://deck.example.com.", { empty: "the server's address on this machine" }),
    ],
  },
  turns: {
    title: "Turns and restarts",
    settings: [
      of("choice", "sessions.resume", "Queued prompts after a restart", "When to send prompts that were queued when the server stopped.", { choices: [["next-prompt", "With the next prompt"], ["at-start", "When the server starts"]] }),
      duration("sessions.interrupt_grace", "Interrupt timeout", "How long an agent may take to end an interrupted turn."),
      duration("sessions.turn_timeout", "Turn timeout", "A turn that takes longer is ended. Leave empty for never.", { empty: "never" }),
    ],
  },
  recovery: {
    title: "Recovery",
    settings: [
      number("recovery.attempts", "Attempts to restore an agent", "How many times to restart an agent that stopped.", { most: LARGEST_COUNT }),
      number("recovery.turn_attempts", "Attempts per turn", "For a turn that fails for a transient reason before the agent has said or done anything.", { most: LARGEST_COUNT }),
      duration("recovery.first_delay", "First delay", "The delay before the second attempt. It doubles after each attempt."),
      duration("recovery.longest_delay", "Longest delay", "The longest delay between attempts."),
      duration("recovery.silence_notice", "Report an unresponsive agent after", "No output, no CPU use and no reply during a turn. Leave empty for never.", { empty: "never" }),
      toggle("recovery.end_hung", "Restart unresponsive agents", "Stop and restart an unresponsive agent, with every session that shares it."),
    ],
  },
  retention: {
    title: "Cleaning up",
    settings: [
      duration("retention.max_age", "Delete closed sessions after", "Sessions closed longer ago than this are deleted. Leave empty for never.", { empty: "never", warning: (value) => (value ? "Sessions are deleted permanently." : null) }),
      size("retention.max_bytes", "Database size", "While the database is larger than this, the sessions closed longest ago are deleted. 0 for never.", { zero: "never" }),
    ],
  },
  jobs: {
    title: "Tasks and jobs",
    settings: [
      of("path", "jobs.entry", "Your own jobs", "A file with your own tasks and jobs.", { empty: "the built-in ones" }),
      toggle("jobs.tools_in_all_sessions", "Job tools in all sessions", "Offer the job tools in every session, not only in those of jobs."),
    ],
  },
  capture: {
    title: "Model API",
    about: "Other programs can use an agent as a model.",
    settings: [
      of("choice", "capture.mode", "After an answer", "What happens to the agent's session after it has answered a program.", { choices: [["hold", "Hold: keep it for the next request"], ["destroy", "Destroy"]] }),
      number("capture.concurrent", "Concurrent answers", "How many requests are answered at the same time."),
      number("capture.queue", "Queue", "Requests that may wait for an answer. Any others get 429."),
      duration("capture.deadline", "Answer timeout", "How long an answer may take."),
      duration("capture.hold", "Hold for", "The longest time that an agent session waits for its caller."),
      number("capture.waiting", "Sessions in memory", "Sessions that wait in memory. Any others wait on the agent's disk."),
      duration("capture.keep_log", "Keep calls for", "How long calls stay in the log."),
    ],
  },
  server: {
    title: "Address and access",
    settings: [
      number("server.port", "Port", "The port that the server listens on. 0 picks any free port.", { isName: true, most: 65_535 }),
      of("text", "server.bind", "Listen on", "loopback (127.0.0.1 and ::1), or an address.", { warning: (value) => (value && value !== "loopback" ? "Other machines can reach this address." : null) }),
      of("choice", "server.auth", "Authentication", "Who may use this server.", { choices: [["token", "Token"], ["none", "None"]], warning: (value) => (value === "none" ? "Every program and every user on this machine can run commands as you." : null) }),
      toggle("server.behind_proxy", "Behind a TLS proxy", "Trust a TLS-terminating proxy in front of the server."),
      list("server.allowed_hosts", "Host names", "Additional host names of this server."),
      list("server.allowed_origins", "Web origins", "Other web origins that may call the API, with a token."),
      duration("server.idle_stop", "Stop when idle", "A server started in the background stops after this long without work or viewers. Leave empty for never.", { empty: "never" }),
      of("path", "data_dir", "Data folder", "Where everything is stored.", { empty: "the platform's data folder" }),
    ],
  },
  limits: {
    title: "Limits",
    settings: [
      number("limits.sessions", "Open sessions", "Sessions that may be open at the same time.", { least: 1 }),
      number("limits.agent_processes", "Agent processes", "Concurrent processes, for agents with one process per session or turn. 0 for no limit.", { zero: "no limit" }),
      number("limits.queued_prompts", "Queued prompts", "Prompts that may wait in one session.", { least: 1 }),
      number("limits.readers_per_session", "Readers per session", "Streams and tokens of one session.", { least: 1 }),
      number("limits.connections", "Connections", "Concurrent connections.", { least: 1 }),
      number("limits.login_failures_per_minute", "Wrong tokens per minute", "Once reached, tokens are rejected without being checked.", { least: 1, most: LARGEST_COUNT }),
      size("limits.prompt_bytes", "Prompt", "The text of a prompt."),
      size("limits.body_bytes", "Request body", "The body of a request, attachments included."),
      size("limits.header_bytes", "Request headers", "The headers of a request."),
      size("limits.inline_output_bytes", "Tool output in the log", "Longer output becomes a blob."),
      size("limits.blob_bytes", "Largest tool output", "Longer output is cut."),
      size("limits.snapshot_bytes", "Folder snapshots", "For changes by session and turn. If they take more than this, those of the least recently active session are deleted. 0 for none.", { zero: "none" }),
      size("limits.database_bytes", "Database", "The database without the search index. 0 for no limit.", { zero: "no limit" }),
    ],
  },
  log: {
    title: "Log",
    settings: [
      of("text", "log.filter", "Filter", "error, warn, info, debug, trace, or module=level.", { suggestions: ["error", "warn", "info", "debug", "trace"] }),
      of("choice", "log.format", "Format", "How log lines are written.", { choices: [["text", "Text"], ["json", "JSON, one object per line"]] }),
    ],
  },
};

/** Tables whose entries have forms of their own. */
export const TABLES = ["providers", "mcp_servers", "acp", "runtimes", "capture.aliases", "notifications.targets"];
/** Settings with editors of their own. */
export const SPECIAL = ["permissions.rules"];

/** Settings that the server has and this catalogue does not know. */
export function unknownSettings(store) {
  const known = new Set([...Object.values(GROUPS).flatMap(({ settings }) => settings.map(({ key }) => key)), ...SPECIAL]);
  const isEntry = (key) => TABLES.some((table) => key.startsWith(`${table}.`));
  return store.keys.filter((key) => !known.has(key) && !isEntry(key)).map((key) => guessed(store.get(key)));
}

function guessed({ key, default: value }) {
  const kind = typeof value === "boolean" ? "switch" : Array.isArray(value) ? "list" : Number.isInteger(value) ? "number" : typeof value === "number" ? "amount" : "text";
  return { key, label: key, about: "See docs/configuration.md.", kind };
}
