// Everything else of the configuration: sessions, jobs and the model API, the server.

import { GROUPS, unknownSettings } from "./catalogue.js";
import { EntryTable } from "./entryTable.js";
import { group, settingGroup } from "./settingGroup.js";

export function sessionsSection({ store }) {
  return [GROUPS.turns, GROUPS.recovery, GROUPS.retention].map((one) => settingGroup(store, one));
}

export function jobsSection({ store }) {
  const aliases = new EntryTable(store, {
    table: "capture.aliases",
    noun: "alias",
    fields: [{ name: "model", label: "Model", kind: "text", about: "The model to use instead." }],
    fresh: {},
    pack: ({ model }) => model ?? "",
    unpack: (value) => (typeof value === "string" ? { model: value } : value),
    nameAbout: "The name that programs ask for. It may end in *; the longest match wins.",
    namePlaceholder: "claude-*",
    empty: "No aliases.",
    summary: (model) => `→ ${model}`,
    removal: () => "Programs that ask for this name get a model of that name, if there is one.",
  });
  return [settingGroup(store, GROUPS.jobs), settingGroup(store, GROUPS.capture), group("Model aliases", "Programs may ask for models by other names.", aliases.element)];
}

export function serverSection({ store }) {
  const unknown = unknownSettings(store);
  const others = unknown.length > 0 ? [settingGroup(store, { title: "Other", settings: unknown })] : [];
  return [...[GROUPS.server, GROUPS.limits, GROUPS.log].map((one) => settingGroup(store, one)), ...others];
}
