// A model that says what a test tells it to, for the real agent.

import { once } from "node:events";
import { createServer } from "node:http";

/**
 * Starts a model on a free port of this machine. `answer(messages)` gives what it says next: `{ text?, tool? }`, with
 * `tool` as `{ name, arguments }`, or `tools` as a list of them. Gives `{ url, close() }`.
 */
export async function startModel(answer) {
  const server = createServer(async (request, response) => {
    const pieces = [];
    for await (const piece of request) pieces.push(piece);
    const { messages, model, stream } = JSON.parse(Buffer.concat(pieces).toString() || "{}");
    const said = answer(messages ?? []);
    const tools = said.tools ?? (said.tool ? [said.tool] : null);
    const call = tools?.map((tool, index) => ({ index, id: `call_${Date.now()}_${index}`, type: "function", function: { name: tool.name, arguments: JSON.stringify(tool.arguments) } }));
    const finish = call ? "tool_calls" : "stop";
    const usage = { prompt_tokens: 1200, completion_tokens: 34, total_tokens: 1234 };
    const base = { id: "chatcmpl-test", created: 0, model };
    if (!stream) {
      const message = { role: "assistant", content: said.text ?? "", tool_calls: call };
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ ...base, object: "chat.completion", choices: [{ index: 0, message, finish_reason: finish }], usage }));
      return;
    }
    response.setHeader("content-type", "text/event-stream");
    const send = (choices, more) => response.write(`data: ${JSON.stringify({ ...base, object: "chat.completion.chunk", choices, ...more })}\n\n`);
    const delta = (delta, reason = null) => send([{ index: 0, delta, finish_reason: reason }]);
    delta({ role: "assistant", content: "" });
    for (const piece of (said.text ?? "").match(/[\s\S]{1,7}/g) ?? []) delta({ content: piece });
    if (call) delta({ tool_calls: call });
    delta({}, finish);
    send([], { usage });
    response.end("data: [DONE]\n\n");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${server.address().port}/v1`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
