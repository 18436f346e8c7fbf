// Budgets: limits, with what was used today beside those of a day.

import { ask } from "../lib/api.js";
import { make } from "../lib/dom.js";
import { GROUPS } from "./catalogue.js";
import { settingGroup } from "./settingGroup.js";

/** What `api/usage` calls the figure of a limit. */
const FIGURES = {
  "budget.day_premium_requests": ({ premiumRequests }) => premiumRequests,
  "budget.day_credits": ({ credits }) => credits,
  "budget.day_tokens": ({ inputTokens, outputTokens }) => (inputTokens == null && outputTokens == null ? null : (inputTokens ?? 0) + (outputTokens ?? 0)),
  "budget.day_cost_usd": ({ costUsd }) => costUsd,
};

export function budgetsSection({ store }) {
  const fields = new Map();
  const groups = [settingGroup(store, GROUPS.dayBudget, fields), settingGroup(store, GROUPS.sessionBudget), settingGroup(store, GROUPS.budgetReaction)];
  let usage = null;
  const show = () => {
    for (const [key, figure] of Object.entries(FIGURES)) showUse(fields.get(key), usage && figure(usage), store.get(key), store.get("budget.warn_at"));
  };
  const load = async () => {
    try {
      usage = (await ask("api/usage")).today?.usage ?? null;
    } catch {
      // The limits can be set without it; the usage panel says what is wrong.
      usage = null;
    }
    show();
  };
  // It has the room that the figures need, so that nothing moves when they come.
  for (const key of Object.keys(FIGURES)) fields.get(key)?.extra.replaceChildren(make("p", { class: "field-hint", text: "Today: …" }));
  load();
  store.addEventListener("change", show);
  return groups;
}

function showUse(field, used, setting, warnAt) {
  if (!field || !setting) return;
  const limit = setting.value;
  if (used == null) {
    field.extra.replaceChildren(make("p", { class: "field-hint", text: "Today: not reported" }));
    return;
  }
  const figure = used.toLocaleString("en", { maximumFractionDigits: 4 });
  const share = limit > 0 ? used / limit : 0;
  const state = share >= 1 ? "reached" : share >= (warnAt?.value ?? 1) ? "near" : "fine";
  const words = limit > 0 ? `Today: ${figure} of ${limit.toLocaleString("en", { maximumFractionDigits: 4 })} (${Math.round(share * 100)} %)` : `Today: ${figure}`;
  const verdict = state === "reached" ? " – used up" : state === "near" ? " – nearly used up" : "";
  const meter = limit > 0 ? make("meter", { min: "0", max: "1", high: String(warnAt?.value ?? 1), value: String(Math.min(1, share)), "aria-label": words }) : null;
  field.extra.replaceChildren(make("p", { class: `field-hint use-${state}`, text: words + verdict }), ...(meter ? [meter] : []));
}
