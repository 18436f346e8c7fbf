// Notifications: where they are sent, quiet hours, and what became of the last ones.

import { ask } from "../lib/api.js";
import { make } from "../lib/dom.js";
import { exactElement } from "../lib/exactText.js";
import { ago, exactTime } from "../lib/format.js";
import { GROUPS } from "./catalogue.js";
import { EntryTable } from "./entryTable.js";
import { notLoaded } from "./notLoaded.js";
import { group, settingGroup } from "./settingGroup.js";

const SHOWN = 10;
const EVENTS = [["needs-you", "Something needs your input"], ["finished", "Finished"], ["failed", "Failed"]];
const SUBJECTS = [["sessions", "Sessions"], ["jobs", "Jobs"]];
const STATES = { pending: "Pending", held: "Held (quiet hours)", delivered: "Delivered", "given-up": "Given up", dropped: "Dropped (quiet hours)", seen: "Seen on the page", superseded: "Already answered" };

const isWebhook = ({ type }) => type === "webhook";
const isNoWebhook = ({ type }) => type !== "webhook";

const FIELDS = [
  { name: "type", label: "Type", kind: "choice", choices: [["ntfy", "ntfy"], ["gotify", "Gotify"], ["webhook", "Webhook"]], fallback: "webhook" },
  { name: "url", label: "Address", kind: "secret", isReadable: true, placeholder: "https://ntfy.sh/my-topic", about: "The address of the ntfy topic, Gotify server or webhook. Anyone who knows it can send to it, so it is not shown again." },
  { name: "token_variable", label: "Token variable", kind: "text", isShown: isNoWebhook, about: "The server's environment variable that holds the token." },
  { name: "token", label: "Token", kind: "secret", isShown: isNoWebhook, about: "The token itself, if there is no variable." },
  { name: "secret_variable", label: "Secret variable", kind: "text", isShown: isWebhook, about: "The environment variable that holds the secret for signatures." },
  { name: "secret", label: "Secret", kind: "secret", isShown: isWebhook, about: "The secret that signs requests, if there is no variable." },
  { name: "events", label: "When", kind: "checks", choices: EVENTS, fallback: EVENTS.map(([value]) => value), keepsEmpty: true },
  { name: "subjects", label: "About", kind: "checks", choices: SUBJECTS, fallback: SUBJECTS.map(([value]) => value), keepsEmpty: true },
  { name: "min_duration", label: "Minimum duration", kind: "duration", fallback: "0s", about: "Shorter turns and jobs are not reported, unless they need your input." },
  { name: "include_text", label: "Include message text", kind: "choice", choices: [["", "No"], ["true", "Yes, what the agent asked or said"]], about: "The text passes through someone else's server." },
  { name: "title", label: "Title", kind: "text", fallback: "{{headline}}: {{title}}" },
  { name: "body", label: "Body", kind: "text", about: "Leave empty for the default. docs/notifications.md lists the variables." },
];

export function notificationsSection({ store }) {
  const deliveries = new Deliveries();
  const targets = new EntryTable(store, {
    table: "notifications.targets",
    noun: "target",
    fields: FIELDS,
    fresh: { type: "ntfy" },
    unpack: (value) => ({ ...value, ...(value.include_text === undefined ? {} : { include_text: value.include_text ? "true" : "" }) }),
    pack: ({ include_text: text, ...rest }) => (text === "true" ? { ...rest, include_text: true } : rest),
    namePlaceholder: "phone",
    empty: "No targets. Add one to be notified on your phone when a session needs your input, for example with ntfy.",
    summary: ({ type = "webhook", events }) => [type, (events ?? EVENTS.map(([value]) => value)).join(", ") || "nothing"].join(" · "),
    removal: () => "Its notifications that are not sent yet are dropped.",
    test: { label: "Send test", run: sendTest },
  });
  return [group("Targets", "Where notifications go, besides this page.", targets.element), settingGroup(store, GROUPS.notifications), group("Recent notifications", null, deliveries.element)];
}

async function sendTest(target) {
  const { delivered, error } = await ask("api/notifications/test", { json: { target } });
  return { isGood: delivered, text: delivered ? "Delivered" : `Not delivered: ${error}` };
}

class Deliveries {
  element = make("div", { class: "deliveries" }, make("p", { class: "empty", text: "Loading …" }));

  constructor() {
    this.load();
  }

  async load() {
    try {
      const { deliveries } = await ask(`api/notifications?limit=${SHOWN}`);
      this.element.replaceChildren(deliveries.length === 0 ? make("p", { class: "empty", text: "Nothing was sent in the last 30 days." }) : this.#table(deliveries));
    } catch (problem) {
      this.element.replaceChildren(notLoaded("notifications", problem, () => this.load()));
    }
  }

  #table(deliveries) {
    const head = ["When", "Target", "About", "State"].map((text) => make("th", { scope: "col", text }));
    const row = ({ target, event, title, subject, state, happenedAt, error }) =>
      make(
        "tr",
        {},
        make("td", { title: exactTime(happenedAt), text: ago(happenedAt) }),
        exactElement("td", {}, target, { oneLine: true }),
        make("td", {}, exactElement("span", {}, title || subject, { oneLine: true }), make("small", { text: event })),
        make("td", {}, make("span", { text: STATES[state] ?? state }), error ? exactElement("small", {}, error, { oneLine: true }) : null),
      );
    return make("div", { class: "table-scroll", tabindex: "0", role: "region", "aria-label": "Recent notifications" }, make("table", { class: "plain-table" }, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...deliveries.map(row))));
  }
}
