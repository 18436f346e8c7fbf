// A small MCP server over standard input and output: one tool that asks the person for a name and greets them.
import { createInterface } from "node:readline";

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const waiting = new Map();

function greet(id) {
  const question = {
    message: "Whom shall I greet?",
    requestedSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
  };
  waiting.set("ask-1", (answer) => {
    const text = answer.action === "accept" ? `Hello, ${answer.content.name}!` : `Nobody to greet: ${answer.action}`;
    send({ id, result: { content: [{ type: "text", text }] } });
  });
  send({ id: "ask-1", method: "elicitation/create", params: question });
}

function answer({ id, method, params, result }) {
  if (method === undefined) {
    waiting.get(id)?.(result ?? { action: "cancel" });
  } else if (method === "initialize") {
    const serverInfo = { name: "greeter", version: "1.0.0" };
    send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo } });
  } else if (method === "tools/list") {
    const inputSchema = { type: "object", properties: {} };
    send({ id, result: { tools: [{ name: "greet", description: "Greets somebody", inputSchema }] } });
  } else if (method === "tools/call") {
    greet(id);
  } else if (id !== undefined) {
    send({ id, result: {} });
  }
}

createInterface({ input: process.stdin }).on("line", (line) => answer(JSON.parse(line)));
