// The page of settings: one section at a time, named by the address's hash, or all that match a search.

import { ask } from "./lib/api.js";
import { byId, isWriting } from "./lib/dom.js";
import { inbox } from "./lib/inboxStream.js";
import { setSubject } from "./lib/pageTitle.js";
import { SETTINGS_KEYS } from "./panels/keyHelp.js";
import { pageFrame } from "./panels/pageFrame.js";
import { agentsSection } from "./settings/agents.js";
import { appearanceSection } from "./settings/appearance.js";
import { budgetsSection } from "./settings/budgets.js";
import { jobsSection, serverSection, sessionsSection } from "./settings/general.js";
import { mcpServersSection } from "./settings/mcpServers.js";
import { notificationsSection } from "./settings/notificationTargets.js";
import { permissionsSection } from "./settings/permissions.js";
import { providersSection } from "./settings/providers.js";
import { SectionList } from "./settings/sectionList.js";
import { SettingNotes } from "./settings/settingNotes.js";
import { SettingsStore } from "./settings/settingsStore.js";
import { tokensSection } from "./settings/tokens.js";

const SECTIONS = [
  { id: "agents", title: "Agents", build: agentsSection },
  { id: "models", title: "Models & providers", build: providersSection },
  { id: "mcp", title: "MCP servers", build: mcpServersSection },
  { id: "permissions", title: "Permissions", build: permissionsSection },
  { id: "budgets", title: "Budgets", build: budgetsSection },
  { id: "notifications", title: "Notifications", build: notificationsSection },
  { id: "tokens", title: "Tokens", build: tokensSection },
  { id: "sessions", title: "Sessions", build: sessionsSection },
  { id: "jobs", title: "Jobs & model API", build: jobsSection },
  { id: "server", title: "Server", build: serverSection },
  { id: "appearance", title: "Appearance", build: appearanceSection, isLocal: true },
];

const store = new SettingsStore();
let agents = null;
let offered = null;

/** Agents and models are asked for once, and again when the settings have changed. */
const context = {
  store,
  runtimes: () => (agents ??= ask("api/runtimes").then(({ runtimes }) => runtimes)),
  models: () => (offered ??= ask("api/models").then(({ models }) => models)),
};
store.addEventListener("change", () => {
  agents = null;
  offered = null;
});

const notes = new SettingNotes(byId("settings-notes"), store);
const sections = new SectionList(SECTIONS, context);

async function load() {
  sections.loading();
  try {
    await store.load();
  } catch (problem) {
    sections.failed(problem, load);
    return;
  }
  notes.show();
  sections.loaded();
}

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (event.key === "/" && !isWriting(event.target)) byId("settings-search").focus();
  else return;
  event.preventDefault();
});

/** Parts with something that is typed and not saved have this class. */
addEventListener("beforeunload", (event) => {
  if (document.querySelector("#settings-sections .dirty")) event.preventDefault();
});

/** After a restart the server may have other settings. What somebody is writing stays. */
let wasLost = false;
inbox.addEventListener("connection", () => {
  if (inbox.isConnected === false) wasLost = true;
  else if (wasLost) {
    wasLost = false;
    if (sections.isLoaded) store.load().catch(() => {});
    else load();
  }
});

setSubject("Settings");
pageFrame({}, null, SETTINGS_KEYS);
sections.show();
await load();
