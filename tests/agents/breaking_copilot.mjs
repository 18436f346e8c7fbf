// The real copilot-runtime behind a proxy that breaks assumptions of capture.
//
// Arguments: BREAKS PROGRAM ARGUMENT…, where BREAKS are keys of `breaks` below, separated by commas, and the rest is the
// real program. `--list` prints the names of all breaks.
import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The sessions that the client opened: what was asked for, and what the proxy remembers. */
const sessions = new Map();
const sessionOf = (id) => {
  if (!sessions.has(id)) sessions.set(id, { params: {}, kept: [], hooks: 0, last: null });
  return sessions.get(id);
};
/** Requests of the client that have no response yet, by id. */
const asked = new Map();
/** Hooks that the proxy answered itself. */
const answered = new Set();

const isEvent = (message, type) => message.method === "session.event" && message.params.event.type === type;
const isHook = (message) => message.method === "hooks.invoke" && message.params.hookType === "preToolUse";
const isCall = (message, method) => message.method === method && message.id !== undefined;
let invented = 0;
const event = (sessionId, type, data = {}) => ({
  jsonrpc: "2.0",
  method: "session.event",
  params: { sessionId, event: { type, data, id: `invented-${process.pid}-${invented++}`, timestamp: new Date().toISOString() } },
});
const answerNow = (message, result) => writeToClient({ jsonrpc: "2.0", id: message.id, result });
const refuse = (message, text) => writeToClient({ jsonrpc: "2.0", id: message.id, error: { code: -32603, message: text } });
/** A copy of a message with some of its parameters changed. */
const changed = (message, params) => ({ ...message, params: { ...message.params, ...params } });
const withData = (message, data) => changed(message, { event: { ...message.params.event, data: { ...message.params.event.data, ...data } } });
const declares = (session, name) => (session.params.tools ?? []).some((tool) => tool.name === name);

/** Sends what was kept back for a session. */
const release = (session) => session.kept.splice(0).forEach(toClient);
/** Keeps messages of one kind back until one that `ends` them has passed. */
const behind = (isKept, ends) => (message) => {
  const session = message.params?.sessionId && sessionOf(message.params.sessionId);
  if (session && isKept(message)) return void session.kept.push(message);
  toClient(message);
  if (session && ends(message)) release(session);
};
/**
 * Answers a request of the program in the client's place. The client gets it together with the end of the tool, so that no
 * check depends on how fast the machine is.
 */
const beforeTheClient = (isRequest, answer) => {
  const pass = behind(isRequest, () => false);
  return (message) => {
    if (isEvent(message, "tool.execution_complete")) release(sessionOf(message.params.sessionId));
    pass(message);
    if (isRequest(message)) answer(message);
  };
};
/** Calls the model without the program. */
const callModel = (session, headers = {}) => {
  const { provider, prompt } = session;
  const body = { model: "scripted-model", messages: [{ role: "user", content: prompt }] };
  const request = { method: "POST", headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(body) };
  return fetch(`${provider.baseUrl}/chat/completions`, request).then((response) => response.text());
};

/** Does something for a destroyed session, when the client pings for it: then it believes that nothing else follows. */
const afterDestroy = (act) => ({
  client: (message) => {
    if (isCall(message, "session.destroy")) sessionOf(message.params.sessionId).destroyed = true;
    const id = message.method === "ping" && message.params?.message;
    const session = id && sessions.get(id);
    if (!session?.destroyed) return toProgram(message);
    Promise.resolve(act(session, id)).then(() => writeToProgram(message));
  },
});

/**
 * What each break changes: `client` sees every message of the client, `program` every message of the program; each
 * passes on what it wants with `toProgram` and `toClient`, to the next break and in the end to the other side. What it
 * writes itself (`writeToProgram`, `writeToClient`) no other break sees. `open` changes the parameters of a new session,
 * `refuse` says why it is refused.
 */
const breaks = {
  // Ordering.
  "hook-first": { program: behind((message) => isEvent(message, "assistant.message") && message.params.event.data.toolRequests?.length, isHook) },
  "late-deltas": {
    program: behind(
      (message) => isEvent(message, "assistant.message_delta") && sessionOf(message.params.sessionId).prompt?.startsWith("@@plain") && !sessionOf(message.params.sessionId).params.tools.length,
      (message) => isEvent(message, "assistant.message"),
    ),
  },
  "late-reasoning-deltas": { program: behind((message) => isEvent(message, "assistant.reasoning_delta"), (message) => isEvent(message, "assistant.reasoning")) },
  "shuffled-batch": {
    program: (message) => {
      const requests = isEvent(message, "assistant.message") && message.params.event.data.toolRequests;
      toClient(requests?.length > 1 ? withData(message, { toolRequests: [...requests].reverse() }) : message);
    },
  },
  "early-idle": {
    program: (message) => {
      const session = isEvent(message, "assistant.turn_end") && sessionOf(message.params.sessionId);
      if (session && declares(session, "last_tool") && !session.early) {
        session.early = true;
        toClient(event(message.params.sessionId, "session.idle"));
      }
      toClient(message);
    },
  },
  "no-usage": { program: (message) => isEvent(message, "assistant.usage") || toClient(message) },
  "varying-order": {
    // In every second session the tool ends after its step.
    program: (() => {
      let turns = 0;
      const swap = behind((message) => isEvent(message, "tool.execution_complete"), (message) => isEvent(message, "assistant.turn_end"));
      return (message) => {
        const session = message.params?.sessionId && sessionOf(message.params.sessionId);
        const isRepeated = session && declares(session, "repeated_tool");
        if (isRepeated && session.turn === undefined) session.turn = turns++;
        if (isRepeated && session.turn % 2 === 1) swap(message);
        else toClient(message);
      };
    })(),
  },

  // Deny.
  "denial-ignored": {
    client: (message) => {
      if (message.result?.output?.permissionDecision === "deny" && asked.get(`hook-${message.id}`) === "declared") return toProgram({ ...message, result: { output: { permissionDecision: "allow" } } });
      toProgram(message);
    },
  },
  "denial-ignored-for-built-ins": {
    client: (message) => {
      if (message.result?.output?.permissionDecision === "deny" && asked.get(`hook-${message.id}`) === "built-in") return toProgram({ ...message, result: { output: { permissionDecision: "allow" } } });
      toProgram(message);
    },
  },
  "one-hook-per-batch": {
    program: (message) => {
      if (isHook(message) && message.params.input.toolName === "third_tool") return writeToProgram({ jsonrpc: "2.0", id: message.id, result: { output: { permissionDecision: "deny", permissionDecisionReason: "not asked" } } });
      toClient(message);
    },
  },
  "reason-swallowed": {
    client: (message) => {
      if (message.result?.output?.permissionDecisionReason) return toProgram({ ...message, result: { output: { permissionDecision: "deny", permissionDecisionReason: "no" } } });
      toProgram(message);
    },
  },
  "silence-denies": {
    client: (message) => {
      if (asked.get(`hook-${message.id}`) && !message.method && !message.result?.output) return toProgram({ ...message, result: { output: { permissionDecision: "deny", permissionDecisionReason: "no answer" } } });
      toProgram(message);
    },
  },
  "impatient-hook": {
    program: beforeTheClient(
      (message) => isHook(message) && message.params.input.toolName === "awaited_tool",
      (message) => {
        answered.add(message.id);
        writeToProgram({ jsonrpc: "2.0", id: message.id, result: { output: { permissionDecision: "deny", permissionDecisionReason: "too late" } } });
      },
    ),
    client: (message) => (!message.method && answered.has(message.id)) || toProgram(message),
  },
  "no-session-id": { program: (message) => toClient(isHook(message) ? changed(message, { input: { ...message.params.input, sessionId: undefined } }) : message) },
  "flattened-arguments": {
    program: (message) => {
      if (isHook(message) && message.params.input.toolName === "nested") return toClient(changed(message, { input: { ...message.params.input, toolArgs: { level: 19 } } }));
      toClient(message);
    },
  },
  "repaired-arguments": {
    // The program completes broken arguments by itself and runs the tool.
    program: (message) => {
      if (isEvent(message, "tool.execution_complete") && !sessionOf(message.params.sessionId).hooks && declares(sessionOf(message.params.sessionId), "get_weather")) return toClient(withData(message, { success: true }));
      toClient(message);
    },
  },

  // Lifecycle.
  // The client hears nothing to its ping until the spared session has gone on, so that no check depends on how fast it does.
  "destroy-does-nothing": {
    client: (message) => {
      if (isCall(message, "session.destroy")) {
        sessionOf(message.params.sessionId).spared ??= [];
        return answerNow(message, { success: true });
      }
      const session = message.method === "ping" && sessions.get(message.params?.message);
      if (session?.spared && !session.goesOn) return void session.spared.push(message);
      toProgram(message);
    },
    program: (message) => {
      toClient(message);
      const session = message.params?.sessionId && sessionOf(message.params.sessionId);
      if (!session?.spared) return;
      // A piece of an answer may be from before the destroy, unless the client waits already.
      const streams = isEvent(message, "assistant.message_delta") && session.prompt?.includes("@@slow") && session.spared.length > 0;
      if (!isHook(message) && !isEvent(message, "session.idle") && !streams) return;
      session.goesOn = true;
      session.spared.splice(0).forEach(writeToProgram);
    },
  },
  "last-words": afterDestroy((session, id) => writeToClient(event(id, "session.info", { infoType: "late", message: "one more thing" }))),
  // The program asks the model once more after a destroy.
  "second-model-call": afterDestroy((session) => callModel(session)),
  "destroy-once-only": {
    client: (message) => {
      if (isCall(message, "session.destroy")) {
        const session = sessionOf(message.params.sessionId);
        if (session.once) return refuse(message, "Session is being destroyed");
        session.once = true;
      }
      toProgram(message);
    },
  },
  // The third tool of a batch is started after the session was destroyed at the second.
  "batch-goes-on": afterDestroy((session, id) => declares(session, "third_tool") && writeToClient(event(id, "tool.execution_start", { toolName: "third_tool" }))),
  "error-kills": {
    program: (message) => {
      if (isEvent(message, "session.error")) sessionOf(message.params.sessionId).failed = true;
      toClient(message);
    },
    client: (message) => {
      if (isCall(message, "session.destroy") && sessionOf(message.params.sessionId).failed) return refuse(message, "Session is in an error state");
      toProgram(message);
    },
  },
  "stream-goes-on": {
    // The session is reported as destroyed, but the model's answer is read to its end.
    client: (message) => {
      if (isCall(message, "session.destroy") && sessionOf(message.params.sessionId).prompt?.includes("@@slow")) {
        sessionOf(message.params.sessionId).silent = true;
        return answerNow(message, { success: true });
      }
      toProgram(message);
    },
    program: (message) => (message.params?.sessionId && sessionOf(message.params.sessionId).silent) || toClient(message),
  },
  "send-is-swallowed": {
    client: (message) => {
      if (isCall(message, "session.destroy")) sessionOf(message.params.sessionId).destroyed = true;
      if (isCall(message, "session.send") && sessionOf(message.params.sessionId).destroyed) return answerNow(message, { messageId: "none" });
      toProgram(message);
    },
  },
  "delete-does-nothing": {
    client: (message) => {
      if (isCall(message, "session.delete")) return answerNow(message, { success: true });
      toProgram(message);
    },
  },

  // Registration.
  "one-tool-more": { open: (params) => ({ ...params, availableTools: [...params.availableTools, "view"] }), only: (params) => params.tools?.[0]?.name === "only_tool" },
  "at-most-32-tools": { open: (params) => ({ ...params, tools: params.tools?.slice(0, 32) }) },
  "parameters-required": { refuse: (params) => params.tools?.some((tool) => tool.parameters === undefined) && "tool parameters are required" },
  "shallow-schema": { open: (params) => ({ ...params, tools: params.tools?.map((tool) => ({ ...tool, parameters: tool.name === "nested" && tool.parameters.required ? { type: "object", properties: { places: { type: "array" } }, required: ["places"] } : tool.parameters })) }) },
  "last-duplicate-wins": { open: (params) => ({ ...params, tools: params.tools?.filter((tool, place, all) => !all.slice(place + 1).some((other) => other.name === tool.name)) }) },
  "empty-names-accepted": { open: (params) => ({ ...params, tools: params.tools?.filter((tool) => tool.name !== "") }) },
  "no-allow-list": { open: ({ availableTools, ...params }) => ({ ...params, availableTools: availableTools?.length === 0 && !params.tools?.length ? undefined : availableTools }) },
  "no-deny-list": { open: ({ excludedTools, ...params }) => params },
  "no-override": { open: (params) => ({ ...params, tools: params.tools?.filter((tool) => tool.name !== "bash") }) },
  "own-system-message": { open: (params) => ({ ...params, systemMessage: params.systemMessage && { mode: "append", content: params.systemMessage.content } }) },

  // Hold.
  "another-permission-kind": {
    program: (message) => {
      if (!isEvent(message, "permission.requested")) return toClient(message);
      const request = message.params.event.data.permissionRequest;
      toClient(withData(message, { permissionRequest: { ...request, kind: request.kind === "custom-tool" ? "mcp" : request.kind } }));
    },
  },
  "impatient-tool": {
    program: beforeTheClient(
      (message) => isEvent(message, "external_tool.requested") && message.params.event.data.toolName === "patient_tool",
      (message) => {
        const { sessionId } = message.params;
        const { requestId } = message.params.event.data;
        writeToProgram({ jsonrpc: "2.0", id: `proxy-${invented++}`, method: "session.tools.handlePendingToolCall", params: { sessionId, requestId, result: "timed out" } });
      },
    ),
  },
  "result-rewritten": {
    client: (message) => {
      if (isCall(message, "session.tools.handlePendingToolCall") && typeof message.params.result === "string" && message.params.result.includes("degrees")) return toProgram(changed(message, { result: `Tool said: ${message.params.result}` }));
      toProgram(message);
    },
  },
  "results-mixed-up": {
    client: (message) => {
      const result = isCall(message, "session.tools.handlePendingToolCall") && message.params.result;
      if (result === "result 0") return toProgram(changed(message, { result: "result 1" }));
      if (result === "result 1") return toProgram(changed(message, { result: "result 0" }));
      toProgram(message);
    },
  },
  "user-initiated": {
    // Every result of a tool leads to a call in the user's name.
    client: (message) => {
      const session = isCall(message, "session.tools.handlePendingToolCall") && sessionOf(message.params.sessionId);
      if (session && declares(session, "marked_tool")) {
        return void callModel(session, { "x-initiator": "user" }).then(() => writeToProgram(message));
      }
      toProgram(message);
    },
  },
  "pending-work-lost": {
    client: (message) => {
      if (isCall(message, "session.resume")) {
        const { continuePendingWork, ...params } = message.params;
        return toProgram({ ...message, params });
      }
      toProgram(message);
    },
  },
  "resume-goes-on": {
    client: (message) => {
      // Read before the program resumes: resuming rewrites the record.
      if (isCall(message, "session.resume")) sessionOf(message.params.sessionId).prompt = conversationOf(message.params.sessionId);
      toProgram(message);
    },
    program: (message) => {
      const request = asked.get(message.id);
      if (message.method || request?.method !== "session.resume") return toClient(message);
      callModel(sessionOf(request.params.sessionId)).then(() => writeToClient(message));
    },
  },

  // Client.
  "output-stays-open": {
    // A grandchild in a group of its own keeps standard output open after the kill, until the check's folder is gone.
    start: () => {
      const { COPILOT_HOME, PATH } = process.env;
      const script = 'for second in $(seq 120); do [ -d "$COPILOT_HOME" ] || exit; sleep 1; done';
      spawn("sh", ["-c", script], { detached: true, stdio: ["ignore", "inherit", "ignore"], env: { COPILOT_HOME, PATH } }).unref();
    },
    only: () => isOwnHome(),
  },
  "lock-left-behind": {
    start: () => {
      if (!isOwnHome()) return;
      const lock = join(process.env.COPILOT_HOME, "lock");
      locked = existsSync(lock);
      writeFileSync(lock, String(process.pid));
    },
    refuse: (_, method) => locked && method === "session.create" && "the home is locked by another process",
  },

  // Vocabulary.
  "new-kind": {
    program: (message) => {
      if (isEvent(message, "session.idle")) toClient(event(message.params.sessionId, "assistant.telepathy"));
      toClient(message);
    },
  },
  // The test gives this one a schema file with a new kind.
  "new-kind-in-schema": {},
};

let locked = false;
/** The homes of checks that kill the program are below a folder of their own. */
const isOwnHome = () => /home-[0-9a-f]+$/.test(process.env.COPILOT_HOME ?? "");
/** The text that identifies a conversation, which is in the record of the session. */
function conversationOf(id) {
  const folder = join(process.env.COPILOT_HOME, "session-state", id);
  const texts = readdirSync(folder).filter((name) => name.endsWith(".jsonl")).map((name) => readFileSync(join(folder, name), "utf8"));
  return /conversation-[0-9a-f]+/.exec(texts.join("\n"))?.[0] ?? fail(`the record of ${id} names no conversation`);
}

const [chosen, program, ...programArguments] = process.argv.slice(2);
if (chosen === "--list") {
  console.log(Object.keys(breaks).join("\n"));
  process.exit(0);
}
const active = chosen.split(",").map((name) => breaks[name] ?? fail(`there is no break ${name}`));
for (const broken of active) {
  if (broken.start && (broken.only?.() ?? true)) broken.start();
}

function fail(text) {
  throw new Error(text);
}

const child = spawn(program, programArguments, { stdio: ["pipe", "pipe", "inherit"] });
const write = (stream, message) => {
  const text = JSON.stringify(message);
  stream.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
};
function writeToProgram(message) {
  write(child.stdin, message);
}
function writeToClient(message) {
  // The proxy's own calls are nobody else's business.
  if (typeof message.id === "string" && message.id.startsWith("proxy-")) return;
  write(process.stdout, message);
}

/** Which break handles a message now. What is passed on later, by a timer, goes straight to the other side. */
let stage = Infinity;
function pass(message, side, end) {
  const from = stage;
  const next = active.findIndex((broken, place) => place > from && broken[side]);
  if (next < 0) return end(message);
  stage = next;
  try {
    active[next][side](message);
  } finally {
    stage = from;
  }
}
function begin(message, passOn) {
  stage = -1;
  try {
    passOn(message);
  } finally {
    stage = Infinity;
  }
}
function toProgram(message) {
  pass(message, "client", writeToProgram);
}
function toClient(message) {
  pass(message, "program", writeToClient);
}

/** Calls `take` for every message of a stream. */
function read(stream, take) {
  let rest = Buffer.alloc(0);
  stream.on("data", (data) => {
    rest = Buffer.concat([rest, data]);
    for (;;) {
      const head = rest.indexOf("\r\n\r\n");
      if (head < 0) return;
      const length = Number(/Content-Length: *(\d+)/i.exec(rest.subarray(0, head).toString())[1]);
      if (rest.length < head + 4 + length) return;
      const message = JSON.parse(rest.subarray(head + 4, head + 4 + length).toString());
      rest = rest.subarray(head + 4 + length);
      take(message);
    }
  });
}

read(process.stdin, (message) => {
  if (message.method && message.id !== undefined) asked.set(message.id, message);
  if (message.method === "session.create" || message.method === "session.resume") {
    const session = sessionOf(message.params.sessionId);
    session.params = message.params;
    session.provider = message.params.provider;
    for (const broken of active) {
      const refusal = broken.refuse?.(message.params, message.method);
      if (refusal) return refuse(message, refusal);
      if (broken.open && (broken.only?.(message.params) ?? true)) message = { ...message, params: broken.open(message.params) };
    }
  }
  if (message.method === "session.send") sessionOf(message.params.sessionId).prompt = message.params.prompt;
  begin(message, toProgram);
});
process.stdin.on("end", () => child.stdin.end());

read(child.stdout, (message) => {
  if (isHook(message)) {
    const session = sessionOf(message.params.sessionId);
    session.hooks++;
    asked.set(`hook-${message.id}`, declares(session, message.params.input.toolName) ? "declared" : "built-in");
  }
  begin(message, toClient);
});
child.on("exit", (code) => {
  if (chosen.includes("lock-left-behind") && isOwnHome()) rmSync(join(process.env.COPILOT_HOME, "lock"), { force: true });
  process.exit(code ?? 1);
});
