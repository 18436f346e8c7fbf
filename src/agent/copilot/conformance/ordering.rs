//! The order of events within a turn.

use serde_json::{Value, json};

use super::trace::HOOK;
use super::{Answers, Assumption, BOTH, Probe, Rig, Seen, SessionPlan, Trace, call_of, city_tool, expect};

pub(super) const ASSUMPTIONS: &[Assumption] = &[
    Assumption {
        id: "ordering.message-before-hook",
        text: "The message with the tool requests comes before the hook of the first tool.",
        why: "Capture reads the tool calls from the message; a hook that fires first would find nothing captured.",
        capabilities: BOTH,
        check: |rig| Box::pin(message_before_hook(rig)),
    },
    Assumption {
        id: "ordering.deltas-before-message",
        text: "The deltas of a message come before the message and add up to its text.",
        why: "Text is streamed to the caller from the deltas; what comes after the message would be lost.",
        capabilities: BOTH,
        check: |rig| Box::pin(deltas_before_message(rig)),
    },
    Assumption {
        id: "ordering.reasoning-deltas-first",
        text: "The deltas of a reasoning come before the reasoning and add up to its text.",
        why: "Reasoning is streamed to the caller from the deltas.",
        capabilities: BOTH,
        check: |rig| Box::pin(reasoning_deltas_first(rig)),
    },
    Assumption {
        id: "ordering.batch-in-order",
        text: "Several tool calls of one answer are in one message, in the model's order, each with id, name and arguments.",
        why: "The caller gets the calls of an answer together; a reordered or split batch would be answered wrongly.",
        capabilities: BOTH,
        check: |rig| Box::pin(batch_in_order(rig)),
    },
    Assumption {
        id: "ordering.idle-last",
        text: "`session.idle` comes once per turn, after every message, tool and step of the turn.",
        why: "An answer without tool calls is complete when the session is idle.",
        capabilities: BOTH,
        check: |rig| Box::pin(idle_last(rig)),
    },
    Assumption {
        id: "ordering.usage-per-call",
        text: "Each model call has one `assistant.usage` with its tokens, before or shortly after `session.idle`.",
        why: "Usage and budgets count what the agent reports.",
        capabilities: BOTH,
        check: |rig| Box::pin(usage_per_call(rig)),
    },
    Assumption {
        id: "ordering.same-in-five-runs",
        text: "The same turn gives the same order of the main kinds in five runs.",
        why: "An order that varies would make capture fail now and then.",
        capabilities: BOTH,
        check: |rig| Box::pin(same_in_five_runs(rig)),
    },
];

/// A turn in which the model calls one declared tool, which is denied.
async fn denied_turn<'a>(rig: &'a Rig, tool: &str) -> Result<Probe<'a>, String> {
    let mut probe = Probe::open(rig, &SessionPlan::with_tool(tool)).await?;
    probe.turn(&call_of(tool), Answers::DENY).await?;
    Ok(probe)
}

async fn message_before_hook(rig: &Rig) -> Seen {
    let probe = denied_turn(rig, "get_weather").await?;
    let (hook, _) = probe.trace.first(HOOK)?;
    let (message, requests) = probe.trace.tool_message()?;
    let id = &requests[0]["toolCallId"];
    let seen = format!("the message with call {id} was number {message} and the hook number {hook} of the session");
    expect(message < hook, || seen.clone())?;
    Ok(seen)
}

/// Whether the deltas of a kind add up to the text of its final event, and come first.
fn deltas_first(trace: &Trace, delta: &str, whole: &str, id: &str) -> Seen {
    let (end, data) = trace.last(whole)?;
    let deltas: Vec<(usize, &Value)> = trace.all(delta).filter(|(_, part)| part[id] == data[id]).collect();
    let text: String = deltas.iter().filter_map(|(_, part)| part["deltaContent"].as_str()).collect();
    let late = deltas.iter().filter(|(place, _)| *place > end).count();
    let content = data["content"].as_str().unwrap_or_default();
    let (number, length) = (deltas.len(), content.len());
    expect(number >= 2, || format!("{number} {delta} for a text of {length} bytes"))?;
    expect(late == 0, || format!("{late} of {number} {delta} came after {whole}"))?;
    expect(text == content, || format!("{number} {delta} have {} bytes, {whole} has {length}", text.len()))?;
    Ok(format!("{number} {delta} with {length} bytes together, then {whole} with the same text"))
}

async fn deltas_before_message(rig: &Rig) -> Seen {
    let mut probe = Probe::open(rig, &SessionPlan::of_capture(Vec::new())).await?;
    probe.turn("@@plain", Answers::DENY).await?;
    probe.linger().await?;
    deltas_first(&probe.trace, "assistant.message_delta", "assistant.message", "messageId")
}

async fn reasoning_deltas_first(rig: &Rig) -> Seen {
    let mut probe = Probe::open(rig, &SessionPlan::of_capture(Vec::new())).await?;
    probe.turn("@@reason", Answers::DENY).await?;
    probe.linger().await?;
    deltas_first(&probe.trace, "assistant.reasoning_delta", "assistant.reasoning", "reasoningId")
}

/// Three tools and a prompt that calls them in one answer.
pub(super) fn batch() -> (SessionPlan, String, Vec<Value>) {
    let names = ["first_tool", "second_tool", "third_tool"];
    let calls: Vec<Value> =
        names.iter().map(|name| json!({ "name": name, "arguments": { "city": format!("city of {name}") } })).collect();
    let plan = SessionPlan::of_capture(names.map(city_tool).to_vec());
    (plan, format!("@@tools {}", json!(calls)), calls)
}

async fn batch_in_order(rig: &Rig) -> Seen {
    let (plan, prompt, calls) = batch();
    let mut probe = Probe::open(rig, &plan).await?;
    probe.turn(&prompt, Answers::DENY).await?;
    let (_, requests) = probe.trace.tool_message()?;
    let found: Vec<Value> =
        requests.iter().map(|request| json!({ "name": request["name"], "arguments": request["arguments"] })).collect();
    let ids: std::collections::BTreeSet<&str> =
        requests.iter().filter_map(|request| request["toolCallId"].as_str()).filter(|id| !id.is_empty()).collect();
    expect(found == calls, || format!("the message has {}, the model sent {}", json!(found), json!(calls)))?;
    expect(ids.len() == 3, || format!("3 calls have {} different ids: {ids:?}", ids.len()))?;
    Ok(format!("one message with 3 calls in the model's order and 3 different ids: {ids:?}"))
}

/// The kinds that a turn consists of.
const MAIN_KINDS: [&str; 10] = [
    "user.message",
    "assistant.turn_start",
    "assistant.message_delta",
    "assistant.message",
    "tool.execution_start",
    HOOK,
    "external_tool.requested",
    "tool.execution_complete",
    "assistant.turn_end",
    "session.idle",
];

async fn idle_last(rig: &Rig) -> Seen {
    let mut probe = denied_turn(rig, "last_tool").await?;
    probe.linger().await?;
    let idles = probe.trace.count("session.idle");
    let (first, _) = probe.trace.first("session.idle")?;
    let late: Vec<&str> = probe.trace.entries[first..]
        .iter()
        .map(|entry| entry.kind.as_str())
        .filter(|kind| MAIN_KINDS.contains(kind))
        .collect();
    let total = probe.trace.entries.len();
    expect(late.is_empty() && idles == 1, || {
        format!("session.idle came {idles} times, first as number {first} of {total}, followed by {late:?}")
    })?;
    let steps = probe.trace.count("assistant.turn_end");
    Ok(format!("session.idle came once, as number {first} of {total}, after the end of {steps} steps"))
}

async fn usage_per_call(rig: &Rig) -> Seen {
    let mut probe = denied_turn(rig, "counted_tool").await?;
    probe.linger().await?;
    let calls = probe.calls().len();
    let reports: Vec<(usize, &Value)> = probe.trace.all("assistant.usage").collect();
    let number = reports.len();
    let (idle, _) = probe.trace.first("session.idle")?;
    let after = reports.iter().filter(|(place, _)| *place > idle).count();
    let tokens: Vec<String> = reports
        .iter()
        .map(|(_, usage)| format!("{} in and {} out", usage["inputTokens"], usage["outputTokens"]))
        .collect();
    let are_right = reports.iter().all(|(_, usage)| usage["inputTokens"] == 100 && usage["outputTokens"] == 20);
    let seen = format!("{calls} model calls and {number} reports ({}), {after} of them after idle", tokens.join("; "));
    expect(number == calls && calls == 2 && are_right, || seen.clone())?;
    Ok(seen)
}

async fn same_in_five_runs(rig: &Rig) -> Seen {
    let mut orders: Vec<Vec<String>> = Vec::new();
    for _ in 0..5 {
        let probe = denied_turn(rig, "repeated_tool").await?;
        let kinds = probe.trace.entries.iter().map(|entry| entry.kind.clone());
        let mut order: Vec<String> = kinds.filter(|kind| MAIN_KINDS.contains(&kind.as_str())).collect();
        order.dedup();
        orders.push(order);
    }
    if let Some(other) = orders.iter().find(|order| **order != orders[0]) {
        return Err(format!("one run had {}, another {}", orders[0].join(" → "), other.join(" → ")));
    }
    Ok(format!("5 runs had {}", orders[0].join(" → ")))
}
