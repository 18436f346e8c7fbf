// The official `openai` package as a caller: five rounds with a tool of its own, in both of its APIs.
import { appendFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const { TEST_AGENTS, BASE, KEY, MADE } = process.env;
const { default: OpenAI } = await import(pathToFileURL(`${TEST_AGENTS}/node_modules/openai/index.mjs`));
const client = new OpenAI({ baseURL: `${BASE}/v1`, apiKey: KEY, maxRetries: 0 });
const schema = { type: "object", properties: { command: { type: "string" } } };
const look = () => { appendFileSync(MADE, "x"); return "seen"; };

async function chat() {
    const tools = [{ type: "function", function: { name: "bash", parameters: schema, parse: JSON.parse, function: look } }];
    const messages = [{ role: "user", content: "@@loop 5 bash {\"command\":\"touch ran-here\"}" }];
    const runner = client.chat.completions.runTools({ model: "scripted-model", messages, tools, stream: true });
    return runner.finalContent();
}

async function responses() {
    const tools = [{ type: "function", name: "bash", parameters: schema, strict: false }];
    const input = [{ role: "user", content: "@@loop 5 bash {\"command\":\"touch ran-here\"}" }];
    for (;;) {
        const stream = client.responses.stream({ model: "scripted-model", input, tools });
        const answer = await stream.finalResponse();
        const calls = answer.output.filter((item) => item.type === "function_call");
        if (calls.length === 0) return answer.output_text;
        input.push(...answer.output);
        for (const call of calls) input.push({ type: "function_call_output", call_id: call.call_id, output: look() });
    }
}

console.log(JSON.stringify([await chat(), await responses()]));
