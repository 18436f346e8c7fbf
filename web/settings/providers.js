// Models and providers: where models come from.

import { ask } from "../lib/api.js";
import { plural, withHint } from "../lib/format.js";
import { GROUPS } from "./catalogue.js";
import { EntryTable } from "./entryTable.js";
import { group, settingGroup } from "./settingGroup.js";

const TYPES = [["openai", "OpenAI (also Ollama, vLLM …)"], ["azure", "Azure OpenAI"], ["anthropic", "Anthropic"]];

const FIELDS = [
  { name: "type", label: "Type", kind: "choice", choices: TYPES, fallback: "openai" },
  { name: "base_url", label: "Address", kind: "text", placeholder: "http://localhost:11434/v1" },
  { name: "models", label: "Models", kind: "list", about: "They are offered as NAME/model." },
  { name: "api_key_variable", label: "Key variable", kind: "text", placeholder: "MY_API_KEY", about: "The server's environment variable that holds the key." },
  { name: "api_key", label: "Key", kind: "secret", about: "The key itself, if there is no variable. It is stored in your settings file and never shown." },
  { name: "wire_api", label: "API", kind: "choice", choices: [["completions", "Chat completions"], ["responses", "Responses"]], fallback: "completions", isShown: ({ type }) => type !== "anthropic" },
  { name: "api_version", label: "API version", kind: "text", placeholder: "2024-10-21", isShown: ({ type }) => type === "azure" },
  { name: "headers", label: "Headers", kind: "pairs", separator: ":", about: "Additional headers, one per line." },
];

export function providersSection({ store }) {
  const providers = new EntryTable(store, {
    table: "providers",
    noun: "provider",
    fields: FIELDS,
    fresh: {},
    nameAbout: "Its models are offered as NAME/model.",
    namePlaceholder: "ollama",
    empty: "No providers. Add one to use your own models, for example with Ollama. No account is needed for them.",
    summary: ({ type = "openai", base_url: address, models = [] }) => [type, address, plural(models.length, "model")].join(" · "),
    removal: () => "Its models are no longer offered. Its key is removed from your settings file.",
    test: { label: "Test", run: test },
  });
  return [group("Providers", "Your own model endpoints, for GitHub Copilot.", providers.element), settingGroup(store, GROUPS.models)];
}

async function test(name) {
  const check = await ask(`api/providers/${encodeURIComponent(name)}/test`, { method: "POST" });
  return { isGood: check.verdict === "ok", text: withHint(check) };
}
