// MCP servers that every session gets.

import { EntryTable } from "./entryTable.js";
import { group } from "./settingGroup.js";

const isProgram = ({ type }) => type === "stdio";
const isAddress = ({ type }) => type !== "stdio";

const FIELDS = [
  { name: "type", label: "Type", kind: "choice", choices: [["stdio", "Program on this machine"], ["http", "HTTP"], ["sse", "SSE"]], fallback: "stdio" },
  { name: "command", label: "Command", kind: "path", about: "The program to start.", isShown: isProgram },
  { name: "args", label: "Arguments", kind: "list", isShown: isProgram },
  { name: "env", label: "Variables", kind: "pairs", about: "Additional environment variables for it.", isShown: isProgram },
  { name: "url", label: "Address", kind: "text", placeholder: "https://mcp.example.com/mcp", isShown: isAddress },
  { name: "headers", label: "Headers", kind: "pairs", separator: ":", about: "Headers to send, one per line.", isShown: isAddress },
  { name: "tools", label: "Tools", kind: "list", about: "The tools to offer. Leave empty to offer all." },
];

export function mcpServersSection({ store }) {
  const servers = new EntryTable(store, {
    table: "mcp_servers",
    noun: "MCP server",
    fields: FIELDS,
    fresh: {},
    unpack: (value) => ({ ...value, type: typeOf(value) }),
    namePlaceholder: "files",
    empty: "No MCP servers. Add one to give agents more tools in every session.",
    summary: (value) => [typeOf(value), value.command ? [value.command, ...(value.args ?? [])].join(" ") : value.url, value.tools ? `tools: ${value.tools.join(", ")}` : null].filter(Boolean).join(" · "),
    removal: () => "New sessions will not have its tools.",
  });
  return [group("MCP servers", "Every new session gets these servers, if its agent uses MCP.", servers.element)];
}

function typeOf({ type, url }) {
  return type && type !== "local" ? type : url ? "http" : "stdio";
}
