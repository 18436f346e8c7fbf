// Imports sessions from other tools, started in a terminal for example.

import { ask } from "../lib/api.js";
import { goTo, sessionAddress } from "../lib/address.js";
import { byId, make, prose } from "../lib/dom.js";
import { exactElement, exactString } from "../lib/exactText.js";
import { relativeTime } from "../lib/relativeTime.js";
import { pathCell } from "./pathCell.js";

const place = byId("agent-session-list");

export class AgentSessions {
  #loading = null;

  /** Looking takes a while; who asks meanwhile gets the same answer. */
  load() {
    this.#loading ??= this.#look().finally(() => {
      this.#loading = null;
    });
    return this.#loading;
  }

  async #look() {
    place.replaceChildren(make("p", { class: "empty", text: "Searching …" }));
    try {
      this.#show(await ask("api/agent-sessions"));
    } catch (problem) {
      place.replaceChildren(make("p", { class: "field-problem", role: "alert", text: `Could not list sessions from other tools: ${problem.message}` }));
    }
  }

  #show({ sessions, problems }) {
    const notes = (problems ?? []).map(({ runtime, message }) => make("p", { class: "field-hint" }, make("b", { text: runtime }), " ", ...prose(message)));
    const rows = sessions.map((session) => this.#row(session));
    place.replaceChildren(
      ...notes,
      rows.length > 0 ? make("ul", { class: "session-rows agent-session-rows" }, ...rows) : make("p", { class: "empty", text: "No sessions from other tools on this machine." }),
    );
  }

  #row({ runtime, agentSessionId, title, workingDirectory, updatedAt, createdAt, adoptedAs }) {
    const name = title || agentSessionId;
    const time = updatedAt ?? createdAt;
    const action = adoptedAs
      ? make("a", { href: sessionAddress(adoptedAs), data: { local: "" }, text: `Open ${adoptedAs}` })
      : make("button", { type: "button", text: "Continue here", "aria-label": exactString(`Continue ${name} here`) });
    const row = make(
      "li",
      { class: "session-row agent-session-row", data: { agentSession: agentSessionId } },
      make("span", { class: "session-model", text: runtime }),
      exactElement("span", { class: "session-link", title: exactString(agentSessionId) }, name, { oneLine: true }),
      pathCell(workingDirectory),
      time ? relativeTime(time, { className: "session-time" }) : make("span"),
      make("span", { class: "agent-session-action" }, action),
    );
    if (!adoptedAs) action.addEventListener("click", () => this.#adopt(runtime, agentSessionId, action, row));
    return row;
  }

  async #adopt(runtime, agentSessionId, action, row) {
    action.disabled = true;
    try {
      const { sessionId } = await ask(`api/agent-sessions/${encodeURIComponent(runtime)}/${encodeURIComponent(agentSessionId)}/adopt`, { method: "POST" });
      goTo(sessionAddress(sessionId));
    } catch (problem) {
      action.disabled = false;
      row.querySelector(".field-problem")?.remove();
      row.append(make("p", { class: "field-problem", role: "alert", text: problem.message }));
    }
  }
}
