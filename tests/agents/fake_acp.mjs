// An ACP agent that does what its prompts and its first argument say, right or wrong. It keeps its sessions in the
// folder of its second argument.
//
// Arguments: FOLDER [CHARACTER…], where a character is one of
//   dies:METHOD  dies-once:METHOD  late:METHOD  silent:METHOD  refuses:METHOD:CODE:MESSAGE
//   twice  wrong  rubbish  string-ids  version:N  login  login-by-call  no-load  no-list  forgets  bad-id  stderr
// It notes the methods that it is called with in the file `calls`.
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

const [folder, ...characters] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const is = (name) => characters.includes(name);
const of = (name) => characters.filter((word) => word.startsWith(`${name}:`)).map((word) => word.slice(name.length + 1));

const write = (text) => process.stdout.write(text);
const send = (message) => write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const file = (id) => join(folder, `${id}.json`);
const load = (id) => JSON.parse(readFileSync(file(id), "utf8"));
const save = (id, turns) => writeFileSync(file(id), JSON.stringify(turns));
const update = (sessionId, body) => send({ method: "session/update", params: { sessionId, update: body } });
const chunk = (sessionId, text) => update(sessionId, { sessionUpdate: "agent_message_chunk", content: { type: "text", text } });
const user = (sessionId, text) => update(sessionId, { sessionUpdate: "user_message_chunk", content: { type: "text", text } });

let asked = 0;
const answers = new Map();
function ask(method, params) {
  const id = is("string-ids") ? `ask-${asked++}` : asked++;
  send({ id, method, params });
  return new Promise((resolve) => answers.set(id, resolve));
}

let running;
let isLoggedIn = false;
const wantsLogin = () => (is("login") && !existsSync(join(folder, "logged-in"))) || (is("login-by-call") && !isLoggedIn);

function answer(id, result) {
  if (is("wrong")) {
    send({ id: 987654, result: { stopReason: "refusal" } });
    send({ result: "nothing", error: null });
  }
  if (is("rubbish")) {
    write("Welcome to the agent!\n\u0007\n[]\n{\"jsonrpc\":\n");
    process.stdout.write(Buffer.from([0xff, 0xfe, 0x0a]));
  }
  send({ id, result });
  if (is("twice")) {
    send({ id, result });
  }
}

const refuse = (id, code, message) => send({ id, error: { code, message } });

const permission = (sessionId, title, rawInput) => ask("session/request_permission", {
  sessionId,
  toolCall: { toolCallId: "call-1", title, kind: "execute", status: "pending", rawInput },
  options: [
    { optionId: "yes", kind: "allow_once", name: "Yes" },
    { optionId: "ever", kind: "allow_always", name: "Ever" },
    { optionId: "no", kind: "reject_once", name: "No" },
  ],
});

async function turn(sessionId, text, turnState) {
  const [, name = "echo", argument = text] = /@@(\w+) ?(.*)/.exec(text) ?? [];
  switch (name) {
    case "many":
      for (let number = 0; number < Number(argument); number += 1) {
        const room = chunkRoom(sessionId, `t${number} `);
        if (!room) {
          await new Promise((resolve) => process.stdout.once("drain", resolve));
        }
      }
      return;
    case "line":
      chunk(sessionId, "x".repeat(Number(argument) * 1024 * 1024));
      chunk(sessionId, "after");
      return;
    case "half":
      write('{"jsonrpc":"2.0","method":"session/upd');
      return new Promise(() => {});
    case "hang":
      chunk(sessionId, "hanging");
      return new Promise((resolve) => { turnState.cancel = resolve; });
    case "stubborn":
      chunk(sessionId, "stubborn");
      return new Promise(() => {});
    case "die":
      chunk(sessionId, "last words");
      process.stderr.write("it hurts\n", () => process.exit(3));
      return new Promise(() => {});
    case "strange": {
      update(sessionId, { sessionUpdate: "something_new", deep: { er: 1 } });
      update(sessionId, { sessionUpdate: "tool_call_update" });
      update("another-session", { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "not for you" } });
      send({ method: "$/whatever" });
      const files = await ask("fs/read_text_file", { sessionId, path: "/etc/passwd" });
      const terminal = await ask("terminal/create", { sessionId, command: "true" });
      const foreign = await ask("session/request_permission", { sessionId: "another-session", toolCall: {}, options: [] });
      chunk(sessionId, `${files.error.code} ${terminal.error.code} ${foreign.result.outcome.outcome}`);
      return;
    }
    case "permission": {
      update(sessionId, { sessionUpdate: "tool_call", toolCallId: "call-1", title: "Run", kind: "execute", status: "pending", rawInput: { command: "ls" } });
      const given = await permission(sessionId, "Run", { command: "ls" });
      const outcome = given.result.outcome;
      update(sessionId, { sessionUpdate: "tool_call_update", toolCallId: "call-1", status: "completed" });
      chunk(sessionId, `outcome: ${outcome.optionId ?? outcome.outcome}`);
      return;
    }
    case "tool":
      update(sessionId, { sessionUpdate: "plan", entries: [{ content: "think", status: "completed" }, { content: "do", status: "pending" }] });
      update(sessionId, { sessionUpdate: "agent_thought_chunk", content: { type: "text", text: "hm" } });
      chunk(sessionId, "before");
      update(sessionId, { sessionUpdate: "tool_call", toolCallId: "t", title: "Edit a file", kind: "edit", status: "pending", locations: [{ path: "/p/f" }] });
      update(sessionId, { sessionUpdate: "tool_call_update", toolCallId: "t", status: "in_progress", content: [{ type: "content", content: { type: "text", text: "half" } }] });
      update(sessionId, { sessionUpdate: "tool_call_update", toolCallId: "t", status: "completed", content: [
        { type: "content", content: { type: "text", text: "half and half" } },
        { type: "content", content: { type: "image", mimeType: "image/png", data: "iVBORw0KGgo=" } },
        { type: "diff", path: "/p/f", oldText: "a\n", newText: "b\n" },
      ] });
      chunk(sessionId, "after");
      update(sessionId, { sessionUpdate: "usage_update", used: 10, size: 100, cost: { amount: 0.5, currency: "USD" } });
      return;
    case "login":
      if (!existsSync(join(folder, "fresh"))) {
        writeFileSync(join(folder, "fresh"), "");
        throw { code: -32000, message: "Authentication required" };
      }
      chunk(sessionId, "logged in again");
      return;
    case "refuse":
      throw { code: -32603, message: argument };
    case "stop":
      chunk(sessionId, "cut");
      return argument;
    case "history":
      chunk(sessionId, `turns: ${load(sessionId).filter((entry) => entry.role === "user").length}`);
      return;
    default:
      chunk(sessionId, `ECHO[${argument}]`);
  }
}

// As `chunk`, and says whether there is room for more.
const chunkRoom = (sessionId, text) => send({ method: "session/update", params: { sessionId, update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text } } } });

async function handle({ id, method, params }) {
  appendFileSync(join(folder, "calls"), `${method}\n`);
  for (const dying of of("dies")) {
    if (dying === method) {
      process.stderr.write(`died at ${method}\n`, () => process.exit(4));
      return;
    }
  }
  for (const dying of of("dies-once")) {
    const mark = join(folder, `died-${dying.replace("/", "-")}`);
    if (dying === method && !existsSync(mark)) {
      writeFileSync(mark, "");
      process.exit(4);
    }
  }
  if (of("silent").includes(method)) {
    return;
  }
  for (const refusal of of("refuses")) {
    const [refused, code, ...message] = refusal.split(":");
    if (refused === method) {
      return refuse(id, Number(code), message.join(":"));
    }
  }
  if (of("late").includes(method)) {
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
  switch (method) {
    case "initialize":
      if (params.protocolVersion !== 1 || params.clientCapabilities?.terminal === true) {
        return refuse(id, -32602, "what is this");
      }
      return answer(id, {
        protocolVersion: Number(of("version")[0] ?? 1),
        agentInfo: { name: "fake", version: "7.8.9" },
        agentCapabilities: {
          loadSession: !is("no-load"),
          promptCapabilities: { image: true, embeddedContext: true },
          mcpCapabilities: { http: true },
          sessionCapabilities: is("no-list") ? {} : { list: {} },
        },
        authMethods: [{ id: "by-hand", name: "By hand", description: "Run `fake login` in the terminal" }],
      });
    case "authenticate":
      writeFileSync(join(folder, "authenticated"), params.methodId);
      isLoggedIn = true;
      return answer(id, {});
    case "session/new": {
      if (wantsLogin()) {
        return refuse(id, -32000, "Authentication required");
      }
      if (is("bad-id")) {
        return answer(id, { sessionId: 7 });
      }
      const sessionId = `session-${readdirSync(folder).length}-${process.pid}`;
      save(sessionId, []);
      writeFileSync(join(folder, "mcp"), JSON.stringify(params.mcpServers));
      return answer(id, {
        sessionId,
        models: { availableModels: [{ modelId: "small", name: "Small" }, { modelId: "large", name: "Large" }], currentModelId: "small" },
        modes: { availableModes: [{ id: "ask", name: "Ask" }, { id: "do", name: "Do" }], currentModeId: "ask" },
      });
    }
    case "session/list": {
      const names = readdirSync(folder).filter((name) => name.startsWith("session-")).sort();
      const from = Number(params.cursor ?? 0);
      const sessions = is("forgets") ? [] : names.slice(from, from + 1).map((name) => ({
        sessionId: name.replace(".json", ""), cwd: process.cwd(), title: "a session", updatedAt: "2026-01-01T00:00:00Z",
      }));
      return answer(id, from + 1 < names.length ? { sessions, nextCursor: String(from + 1) } : { sessions });
    }
    case "session/load": {
      if (wantsLogin()) {
        return refuse(id, -32000, "Authentication required");
      }
      if (!existsSync(file(params.sessionId))) {
        return refuse(id, -32002, "Resource not found");
      }
      let turns;
      try {
        turns = load(params.sessionId);
      } catch {
        return refuse(id, -32603, "the record is damaged");
      }
      for (const { role, text } of turns) {
        (role === "user" ? user : chunk)(params.sessionId, text);
      }
      return answer(id, {});
    }
    case "session/set_model":
      if (!["small", "large"].includes(params.modelId)) {
        return refuse(id, -32602, "no such model");
      }
      writeFileSync(join(folder, "model"), params.modelId);
      return answer(id, {});
    case "session/set_mode":
      writeFileSync(join(folder, "mode"), params.modeId);
      return answer(id, {});
    case "session/prompt": {
      const text = params.prompt.map((part) => part.text ?? part.type).join(" ");
      const turns = load(params.sessionId);
      turns.push({ role: "user", text });
      save(params.sessionId, turns);
      if (is("stderr")) {
        process.stderr.write("complaint ".repeat(2_000_000));
      }
      const state = (running = { cancelled: false, cancel: () => {} });
      try {
        const stopReason = (await turn(params.sessionId, text, state)) ?? "end_turn";
        turns.push({ role: "agent", text: "an answer" });
        save(params.sessionId, turns);
        return answer(id, { stopReason: state.cancelled ? "cancelled" : stopReason, usage: { inputTokens: 3, outputTokens: 2 } });
      } catch ({ code, message }) {
        return refuse(id, code ?? -32603, message);
      }
    }
    case "session/cancel":
      if (running) {
        running.cancelled = true;
        running.cancel();
      }
      return;
    default:
      if (id !== undefined) {
        refuse(id, -32601, `Method not found: ${method}`);
      }
  }
}

createInterface({ input: process.stdin }).on("line", (line) => {
  const message = JSON.parse(line);
  if (message.method === undefined) {
    answers.get(message.id)?.(message);
  } else {
    handle(message);
  }
});
process.stdin.on("end", () => process.exit(0));
