// How full the context is and what the session has used, beside the request.

import { byId, make } from "../lib/dom.js";
import { exactString } from "../lib/exactText.js";
import { count } from "../lib/format.js";
import { usageFacts } from "../session/notices.js";
import { budgetLines } from "../panels/usage.js";

/** A budget is nearly used up from here on. */
const NEAR = 0.8;
const box = byId("composer-meters");

export class Meters {
  #view;
  #shown = "";

  constructor(view) {
    this.#view = view;
    view.addEventListener("change", () => this.#show(), { signal: view.signal });
    this.#show();
  }

  #show() {
    const { context, usage, budget, agentName, runtime } = this.#view.details ?? {};
    const now = JSON.stringify([context, usage, budget, agentName, runtime]);
    if (now === this.#shown) return;
    this.#shown = now;
    const facts = usageFacts(usage);
    const parts = [
      context?.tokenLimit ? contextLine(context) : null,
      facts.length > 0 ? make("span", { class: "meter-usage", text: facts.join(" · "), title: "Used by this session so far" }) : null,
      ...budgetLines(budget, usage).map(limitLine),
    ].filter(Boolean);
    // On a phone the agent has no room beside the switches.
    const agent = agentName ?? runtime ? make("span", { class: "meter-agent", text: exactString(agentName ?? runtime) }) : null;
    box.replaceChildren(...[agent, ...parts].filter(Boolean));
    box.hidden = !agent && parts.length === 0;
  }
}

function contextLine({ currentTokens, tokenLimit }) {
  const share = Math.min(1, currentTokens / tokenLimit);
  const meter = make("meter", { min: "0", max: "1", high: "0.8", value: String(share), "aria-label": `Context ${Math.round(share * 100)} % full` });
  const title = `Context: ${currentTokens.toLocaleString()} of ${tokenLimit.toLocaleString()} tokens`;
  return make("span", { class: "meter", title }, "Context", meter, `${count(currentTokens)} / ${count(tokenLimit)}`);
}

function limitLine({ name, used, limit, write }) {
  const share = used == null || !limit ? 0 : used / limit;
  const tone = share >= 1 ? "usage-reached" : share >= NEAR ? "usage-near" : "";
  return make("span", { class: `meter-limit ${tone}`.trim(), text: `${name}: ${used == null ? "not reported" : write(used)} of ${write(limit)}` });
}
