// A small MCP server over HTTP, by both ways that there are: streamable HTTP at /mcp, and server-sent events at /sse. It
// has one tool, which says by which way it was called and with which key. Its address is the first line of its output.
import { createServer } from "node:http";

const streams = new Map();

function answer({ id, method, params }, way, key) {
  if (method === "initialize") {
    const serverInfo = { name: "web", version: "1.0.0" };
    return { id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo } };
  }
  if (method === "tools/list") {
    const inputSchema = { type: "object", properties: {} };
    return { id, result: { tools: [{ name: "say", description: "Says how it was called", inputSchema }] } };
  }
  if (method === "tools/call") {
    return { id, result: { content: [{ type: "text", text: `called over ${way} with ${key}` }] } };
  }
  return id === undefined ? null : { id, result: {} };
}

async function body(request) {
  let text = "";
  for await (const part of request) {
    text += part;
  }
  return JSON.parse(text);
}

const server = createServer(async (request, response) => {
  const { pathname, searchParams } = new URL(request.url, "http://localhost");
  const key = request.headers["x-key"];
  if (pathname === "/mcp" && request.method === "POST") {
    const said = answer(await body(request), "http", key);
    if (said === null) {
      return response.writeHead(202).end();
    }
    response.writeHead(200, { "content-type": "application/json" });
    return response.end(JSON.stringify({ jsonrpc: "2.0", ...said }));
  }
  if (pathname === "/sse" && request.method === "GET") {
    const id = String(streams.size);
    streams.set(id, response);
    response.writeHead(200, { "content-type": "text/event-stream" });
    return response.write(`event: endpoint\ndata: /messages?stream=${id}\n\n`);
  }
  if (pathname === "/messages" && request.method === "POST") {
    const said = answer(await body(request), "sse", key);
    if (said !== null) {
      streams.get(searchParams.get("stream")).write(`event: message\ndata: ${JSON.stringify({ jsonrpc: "2.0", ...said })}\n\n`);
    }
    return response.writeHead(202).end();
  }
  response.writeHead(405).end();
});

server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
