// A model that says what a test tells it to, for the real agent.

import { once } from "node:events";
import { createServer } from "node:http";

/**
 * Starts a model on a free port of this machine. `answer(messages)` gives what it says next: `{ text?, tool? }`, with
 * `tool` as `{ name, arguments }`, or `tools` as a list of them. Gives `{ url, root, close() }`: `url` speaks OpenAI's
 * chat completions; below `root`, `/v1/messages` speaks Anthropic's messages, with texts only.
 */
export async function startModel(answer) {
  const server = createServer(async (request, response) => {
    const pieces = [];
    for await (const piece of request) pieces.push(piece);
    const { messages, model, stream } = JSON.parse(Buffer.concat(pieces).toString() || "{}");
    const said = answer(messages ?? []);
    if (request.url.startsWith("/v1/messages")) {
      answerAsAnthropic(response, { url: request.url, model, stream, text: said.text ?? "" });
      return;
    }
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
    root: `http://127.0.0.1:${server.address().port}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** A text in Anthropic's dialect. */
function answerAsAnthropic(response, { url, model, stream, text }) {
  const usage = { input_tokens: 100, output_tokens: 20, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 };
  const message = { id: "msg_test", type: "message", role: "assistant", model, stop_sequence: null, usage };
  if (url.includes("count_tokens") || !stream) {
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(url.includes("count_tokens") ? { input_tokens: 100 } : { ...message, content: [{ type: "text", text }], stop_reason: "end_turn" }));
    return;
  }
  response.setHeader("content-type", "text/event-stream");
  const events = [
    { type: "message_start", message: { ...message, content: [], stop_reason: null } },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text } },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage: { output_tokens: 20 } },
    { type: "message_stop" },
  ];
  response.end(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(""));
}
