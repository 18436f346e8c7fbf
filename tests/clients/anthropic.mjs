// The official `@anthropic-ai/sdk` as a caller: five rounds with a tool of its own.
import { appendFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const { TEST_AGENTS, BASE, KEY, MADE } = process.env;
const { default: Anthropic } = await import(pathToFileURL(`${TEST_AGENTS}/node_modules/@anthropic-ai/sdk/index.mjs`));
const client = new Anthropic({ baseURL: BASE, apiKey: KEY, maxRetries: 0 });
const tools = [{ name: "bash", input_schema: { type: "object", properties: { command: { type: "string" } } } }];
const messages = [{ role: "user", content: "@@loop 5 bash {\"command\":\"touch ran-here\"}" }];
for (;;) {
    const stream = client.messages.stream({ model: "scripted-model", max_tokens: 1000, messages, tools });
    const answer = await stream.finalMessage();
    messages.push({ role: "assistant", content: answer.content });
    const calls = answer.content.filter((block) => block.type === "tool_use");
    if (calls.length === 0) {
        console.log(JSON.stringify([answer.content.map((block) => block.text).join("")]));
        break;
    }
    appendFileSync(MADE, "x".repeat(calls.length));
    const content = calls.map((call) => ({ type: "tool_result", tool_use_id: call.id, content: "seen" }));
    messages.push({ role: "user", content });
}
