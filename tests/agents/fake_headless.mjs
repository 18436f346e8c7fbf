// A headless agent that does what its prompt says, right or wrong: Copilot's stream, or Claude Code's after `-p`.
// The last line of the prompt is what it does; see the table at the end. With `--old` it chooses the ids of its sessions
// itself and keeps a record of each.
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { appendFileSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";

const words = process.argv.slice(2);
const isOld = words[0] === "--old";
if (words.includes("--help")) {
  const flags = "--output-format --resume --model --stream --allow-all --verbose --permission-prompts";
  console.log(isOld ? flags : `${flags} --session-id`);
  process.exit(0);
}
if (words.includes("--version")) {
  console.log("9.9.9");
  process.exit(0);
}
const isClaude = words.includes("-p");
const given = (flag) => words.find((word) => word.startsWith(`--${flag}=`))?.split("=")[1];
const session = isOld ? (given("resume") ?? randomUUID()) : given("session-id");

const input = readFileSync(0, "utf8");
const [what, argument] = input.trimEnd().split("\n").at(-1).split(" ");

// A version that keeps its records elsewhere has no record here.
const record = words.includes("--elsewhere")
  ? join(process.env.COPILOT_HOME, `elsewhere-${session}`)
  : isClaude
    ? join(process.env.CLAUDE_CONFIG_DIR, "projects", "p", `${session}.jsonl`)
    : join(process.env.COPILOT_HOME, "session-state", session, "events.jsonl");
if (isOld) {
  mkdirSync(dirname(record), { recursive: true });
  appendFileSync(record, `${JSON.stringify({ type: "prompt", text: input })}\n`);
}

const raw = (text) => process.stdout.write(text);
const line = (value) => raw(`${JSON.stringify(value)}\n`);
let events = 0;
const event = (type, data, id = `event-${events++}`) => line({ type, data, id });
const piece = (text, message = "m", id = undefined) =>
  isClaude
    ? line({ type: "stream_event", event: { type: "content_block_delta", index: 0, delta: { type: "text_delta", text } } })
    : event("assistant.message_delta", { messageId: message, deltaContent: text }, id);
const message = (content, id = "m") =>
  isClaude
    ? line({ type: "assistant", message: { id, model: "x", content: [{ type: "text", text: content }] } })
    : event("assistant.message", { messageId: id, content });
const begin = () => isClaude && line({ type: "stream_event", event: { type: "message_start", message: { id: "m" } } });
const result = (code = 0) =>
  isClaude
    ? line({ type: "result", subtype: code ? "error_during_execution" : "success", is_error: code !== 0, session_id: session, result: "" })
    : line({ type: "result", sessionId: session, exitCode: code, usage: {} });
const answer = (text) => {
  begin();
  message(text);
  result();
};

const deeds = {
  plain: () => answer("plain"),
  count: () => answer(`${input.length}`),
  flags: () => answer(words.join(" ")),
  forgets: () => {
    rmSync(record);
    answer("forgotten");
  },
  turns: () => answer(`turns: ${readFileSync(record, "utf8").trimEnd().split("\n").length}`),
  truncated: () => {
    piece("half");
    raw('{"type":"assistant.mess');
  },
  garbage: () => {
    begin();
    raw("Welcome!\n\n[1,2]\nnull\n{\n");
    process.stdout.write(Buffer.from([0xff, 0xfe, 0x0a]));
    piece("a");
    raw('{"type":7}\n{"type":"never.heard.of","data":"x"}\n');
    answer("after garbage");
  },
  disorder: () => {
    if (isClaude) {
      line({ type: "user", message: { content: [{ type: "tool_result", tool_use_id: "t", content: "early" }] } });
      line({ type: "stream_event", event: { type: "content_block_stop", index: 4 } });
    } else {
      event("tool.execution_complete", { toolCallId: "t", success: true, result: { content: "early" } });
      event("assistant.turn_end", {});
      for (let times = 0; times < 3; times++) piece("same", "other", "one-id");
    }
    message("first the end");
    piece("then a piece");
    message("and the end again");
    result();
  },
  flood: () => {
    begin();
    const text = "x".repeat(1000);
    for (let sent = 0; sent < Number(argument); sent++) piece(text);
    answer("after the flood");
  },
  long: () => {
    raw(`{"type":"assistant.message","data":{"content":"${"y".repeat(33 * 1024 * 1024)}"}}\n`);
    answer("after the long line");
  },
  dies: () => {
    console.error("Error: something broke before the first line");
    process.exitCode = 3;
  },
  offline: () => {
    console.error("Offline mode requires a local model provider. Set COPILOT_PROVIDER_BASE_URL to configure one.");
    process.exitCode = 1;
  },
  "bad-model": () => {
    console.error("Error: model nope is invalid");
    process.exitCode = 1;
  },
  panics: () => {
    console.error("panic: index out of range");
    process.exitCode = 2;
  },
  "no-model": () => {
    console.error('Error: Model "nope" from --model flag is not available.');
    process.exitCode = 1;
  },
  killed: () => {
    piece("last words");
    process.kill(process.pid, "SIGKILL");
  },
  leaves: () => {
    answer(`${spawn("sleep", ["1000"], { stdio: "ignore" }).pid}`);
    process.exit(0);
  },
  stays: () => {
    answer("done, and still here");
    setInterval(() => {}, 1000);
  },
  stubborn: () => {
    for (const signal of ["SIGTERM", "SIGINT"]) process.on(signal, () => {});
    begin();
    piece("stubborn");
    setInterval(() => {}, 1000);
  },
  open: () => {
    if (isClaude) line({ type: "assistant", message: { id: "m", content: [{ type: "tool_use", id: "t", name: "Bash", input: {} }] } });
    else event("tool.execution_start", { toolCallId: "t", toolName: "bash" });
    result();
  },
};
(deeds[what] ?? (() => answer(`no such deed: ${what}`)))();
