//! Calls of declared tools that wait for their result.

use std::path::Path;

use serde_json::{Value, json};

use super::deny::tool_messages;
use super::ordering::batch;
use super::rig::QUIET;
use super::{
    Answers, Assumption, HOLD, HookAnswer, LOOK_AGAIN_AFTER, Probe, Rig, Seen, SessionPlan, Step, call_of, expect,
    within,
};

pub(super) const ASSUMPTIONS: &[Assumption] = &[
    Assumption {
        id: "hold.permission-kind",
        text: "A call of a declared tool asks for permission as `custom-tool` and names the tool.",
        why: "Hold mode approves exactly these requests and rejects all others.",
        capabilities: HOLD,
        check: |rig| Box::pin(permission_kind(rig)),
    },
    Assumption {
        id: "hold.waits",
        text: "An approved call of a declared tool waits for its result: no model call and no end of the tool.",
        why: "The caller runs the tool and may take minutes.",
        capabilities: HOLD,
        check: |rig| Box::pin(waits(rig)),
    },
    Assumption {
        id: "hold.native-result",
        text: "The result reaches the model as a tool message with the id of its call.",
        why: "That is what makes a held turn better than rendered text.",
        capabilities: HOLD,
        check: |rig| Box::pin(native_result(rig)),
    },
    Assumption {
        id: "hold.batch-results",
        text: "Results of a batch, given in the order of the calls, reach the model in that order with their ids.",
        why: "Results that change places answer the wrong calls.",
        capabilities: HOLD,
        check: |rig| Box::pin(batch_results(rig)),
    },
    Assumption {
        id: "hold.agent-initiated",
        text: "The model call after a result is marked as the agent's, the one after a prompt as the user's.",
        why: "Only calls that the user initiates count as requests of the user.",
        capabilities: HOLD,
        check: |rig| Box::pin(agent_initiated(rig)),
    },
    Assumption {
        id: "hold.survives-kill",
        text: "A waiting call survives `kill -9` of the program: after a resume its result continues the turn.",
        why: "A crash between call and result must not cost the caller the turn.",
        capabilities: HOLD,
        check: |rig| Box::pin(survives_kill(rig)),
    },
    Assumption {
        id: "hold.resume-runs-nothing",
        text: "A resumed session with a waiting call does nothing by itself.",
        why: "A resume that calls the model or a tool would run a turn twice.",
        capabilities: HOLD,
        check: |rig| Box::pin(resume_runs_nothing(rig)),
    },
];

const RESULT: &str = "21 degrees, says the caller";

async fn permission_kind(rig: &Rig) -> Seen {
    let mut probe = Probe::open(rig, &SessionPlan::with_tool("get_weather")).await?;
    probe.send(&call_of("get_weather")).await?;
    loop {
        match probe.step().await? {
            Step::Hook { id } => probe.answer(&id, HookAnswer::Nothing).await,
            Step::Permission { .. } => break,
            Step::Tool { .. } => return Err("the handler was called without a permission request".to_owned()),
            Step::Idle => return Err("the turn ended without a permission request".to_owned()),
            Step::Other => {}
        }
    }
    let (_, asked) = probe.trace.first("permission.requested")?;
    let (kind, tool) = (&asked["permissionRequest"]["kind"], &asked["permissionRequest"]["toolName"]);
    let seen = format!("the permission request has kind {kind} and tool {tool}");
    expect(kind == "custom-tool" && tool == "get_weather", || seen.clone())?;
    Ok(seen)
}

async fn waits(rig: &Rig) -> Seen {
    let mut probe = Probe::open(rig, &SessionPlan::with_tool("patient_tool")).await?;
    probe.send(&call_of("patient_tool")).await?;
    let request = probe.held_tool().await?;
    probe.linger().await?;
    let (calls, ends) = (probe.calls().len(), probe.trace.count("tool.execution_complete"));
    let seen = format!(
        "while {request} waited for {} ms: {calls} model call, {ends} ended tools, {} idle",
        QUIET.as_millis(),
        probe.trace.count("session.idle")
    );
    expect(calls == 1 && ends == 0 && probe.trace.count("session.idle") == 0, || seen.clone())?;
    probe.give_result(&request, RESULT).await?;
    probe.until_idle(Answers::ASK).await?;
    Ok(format!("{seen}; then its result continued the turn"))
}

/// The ids of the calls in a model request, and of the results.
fn calls_and_results(body: &Value) -> (Vec<&Value>, Vec<(&Value, &Value)>) {
    let messages = body["messages"].as_array().into_iter().flatten();
    let calls = messages.filter_map(|message| message["tool_calls"].as_array()).flatten().map(|call| &call["id"]);
    let results = tool_messages(body).into_iter().map(|message| (&message["tool_call_id"], &message["content"]));
    (calls.collect(), results.collect())
}

async fn native_result(rig: &Rig) -> Seen {
    let mut probe = Probe::open(rig, &SessionPlan::with_tool("get_weather")).await?;
    probe.send(&call_of("get_weather")).await?;
    let request = probe.held_tool().await?;
    probe.give_result(&request, RESULT).await?;
    probe.until_idle(Answers::ASK).await?;
    let calls = probe.calls();
    let second = calls.get(1).ok_or("the result led to no model call")?;
    let (ids, results) = calls_and_results(&second.body);
    let seen = format!("the second model call has calls {} and results {}", json!(ids), json!(results));
    let is_native = ids.len() == 1 && results == [(ids[0], &json!(RESULT))];
    expect(is_native, || seen.clone())?;
    Ok(seen)
}

async fn batch_results(rig: &Rig) -> Seen {
    let (plan, prompt, _) = batch();
    let mut probe = Probe::open(rig, &plan).await?;
    probe.send(&prompt).await?;
    for _ in 0..3 {
        probe.held_tool().await?;
    }
    let ids: Vec<Value> = probe.trace.tool_message()?.1.iter().map(|request| request["toolCallId"].clone()).collect();
    for (number, id) in ids.iter().enumerate() {
        let request = probe.trace.all("external_tool.requested").find(|(_, call)| call["toolCallId"] == *id);
        let request = request.and_then(|(_, call)| call["requestId"].as_str()).ok_or("a call without a request")?;
        probe.give_result(request, &format!("result {number}")).await?;
    }
    probe.until_idle(Answers::ASK).await?;
    let calls = probe.calls();
    let second = calls.get(1).ok_or("the results led to no model call")?;
    let (_, results) = calls_and_results(&second.body);
    let expected: Vec<Value> = (0..3).map(|number| json!(format!("result {number}"))).collect();
    let seen = format!("{} model calls; the second has the results {}", calls.len(), json!(results));
    let in_order = results.iter().copied().eq(ids.iter().zip(&expected));
    expect(in_order && calls.len() == 2, || seen.clone())?;
    Ok(seen)
}

async fn agent_initiated(rig: &Rig) -> Seen {
    let mut probe = Probe::open(rig, &SessionPlan::with_tool("marked_tool")).await?;
    probe.turn(&call_of("marked_tool"), Answers::ASK).await?;
    probe.turn("@@plain", Answers::ASK).await?;
    let calls = probe.calls();
    let marks: Vec<&str> = calls.iter().map(|call| call.initiator.as_deref().unwrap_or("none")).collect();
    let seen = format!("prompt, result, prompt gave x-initiator {marks:?}");
    expect(marks == ["user", "agent", "user"], || seen.clone())?;
    Ok(seen)
}

/// A waiting call in a program that was killed, and the session resumed in a new one.
async fn resumed(rig: &Rig) -> Result<(Probe<'_>, String), String> {
    let home = rig.folder("home")?;
    let plan = SessionPlan::with_tool("get_weather");
    let mut probe = Probe::open_at(rig, rig.another_server(&home).await?, &plan).await?;
    probe.send(&call_of("get_weather")).await?;
    let request = probe.held_tool().await?;
    on_disk(rig, &home, &request).await?;
    probe.server().kill().await;
    let server = rig.another_server(&home).await?;
    Ok((probe.resume_at(server, &plan).await?, request))
}

/// Waits until the program has written a request to its disk: it collects what it writes for some 100 ms.
async fn on_disk(rig: &Rig, home: &Path, request: &str) -> Result<(), String> {
    let written = async {
        while !contains(home, request) {
            tokio::time::sleep(LOOK_AGAIN_AFTER).await;
        }
    };
    within(rig.patience, written).await.ok_or_else(|| format!("the waiting call {request} was not written to the disk"))
}

fn contains(folder: &Path, text: &str) -> bool {
    std::fs::read_dir(folder).into_iter().flatten().flatten().any(|entry| {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => contains(&path, text),
            _ => {
                path.extension().is_some_and(|extension| extension == "jsonl")
                    && std::fs::read_to_string(&path).is_ok_and(|content| content.contains(text))
            }
        }
    })
}

async fn survives_kill(rig: &Rig) -> Seen {
    let (mut probe, request) = resumed(rig).await?;
    let outcome = async {
        probe.give_result(&request, RESULT).await?;
        probe.until_idle(Answers::ASK).await?;
        let calls = probe.calls();
        let last = calls.last().ok_or("the result led to no model call")?;
        let (_, results) = calls_and_results(&last.body);
        let seen = format!(
            "after kill -9 and resume, {request} took its result; {} model calls, the last with {}",
            calls.len(),
            json!(results)
        );
        let arrived = results.iter().any(|(_, content)| *content == &json!(RESULT));
        expect(arrived && calls.len() == 2, || seen.clone())?;
        Ok(seen)
    };
    let outcome = outcome.await;
    probe.server().end().await;
    outcome
}

async fn resume_runs_nothing(rig: &Rig) -> Seen {
    let (mut probe, _) = resumed(rig).await?;
    let lingered = probe.linger().await;
    let calls = probe.calls().len();
    let active: Vec<&str> = probe
        .trace
        .entries
        .iter()
        .map(|entry| entry.kind.as_str())
        .filter(|kind| {
            kind.starts_with("tool.") || kind.starts_with("assistant.message") || *kind == super::trace::HOOK
        })
        .collect();
    let seen = format!(
        "{} ms after the resume: {calls} model call in all, {} messages, of which tools, hooks or answers: {active:?}",
        QUIET.as_millis(),
        probe.trace.entries.len()
    );
    probe.server().end().await;
    lingered?;
    expect(calls == 1 && active.is_empty(), || seen.clone())?;
    Ok(seen)
}
