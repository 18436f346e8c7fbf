//! The end of a session.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::ordering::batch;
use super::trace::HOOK;
use super::{
    Answers, Assumption, BOTH, DESTROY, LOOK_AGAIN_AFTER, Probe, Rig, Seen, SessionPlan, call_of, expect, within,
};
use crate::scripted_model::ModelCall;

/// How much of a message a result quotes.
const LONGEST_BEGINNING: usize = 60;

pub(super) const ASSUMPTIONS: &[Assumption] = &[
    Assumption {
        id: "lifecycle.destroy-ends-the-loop",
        text: "`session.destroy` ends the program's loop; without it a denied tool makes it ask the model again.",
        why: "Otherwise the program goes on by itself, with its own tools and at the user's cost.",
        capabilities: DESTROY,
        check: |rig| Box::pin(destroy_ends_the_loop(rig)),
    },
    Assumption {
        id: "lifecycle.silent-after-destroy",
        text: "After the response to `session.destroy` the session sends nothing and calls no model.",
        why: "A late event would end up in the next answer.",
        capabilities: BOTH,
        check: |rig| Box::pin(silent_after_destroy(rig)),
    },
    Assumption {
        id: "lifecycle.one-model-call",
        text: "A capture whose hook is answered only after `session.destroy` makes exactly one model call.",
        why: "Each further call would be billed and thrown away.",
        capabilities: DESTROY,
        check: |rig| Box::pin(one_model_call(rig)),
    },
    Assumption {
        id: "lifecycle.destroy-twice",
        text: "A second `session.destroy` is harmless.",
        why: "Cleaning up after a failure may destroy a session that is gone already.",
        capabilities: BOTH,
        check: |rig| Box::pin(destroy_twice(rig)),
    },
    Assumption {
        id: "lifecycle.destroy-within-a-batch",
        text: "`session.destroy` between the tools of a batch ends it: no further tool, no model call.",
        why: "A capture ends at the first message, while tools of its batch still wait.",
        capabilities: DESTROY,
        check: |rig| Box::pin(destroy_within_a_batch(rig)),
    },
    Assumption {
        id: "lifecycle.destroy-after-an-error",
        text: "A session whose model call failed can be destroyed, and its process goes on.",
        why: "One failed call must not leak a session or take the others down.",
        capabilities: BOTH,
        check: |rig| Box::pin(destroy_after_an_error(rig)),
    },
    Assumption {
        id: "lifecycle.destroy-in-mid-stream",
        text: "`session.destroy` in the middle of an answer also ends the model's stream.",
        why: "A caller that hangs up must not be billed for the rest of the answer.",
        capabilities: BOTH,
        check: |rig| Box::pin(destroy_in_mid_stream(rig)),
    },
    Assumption {
        id: "lifecycle.send-after-destroy",
        text: "A prompt for a destroyed session is an error.",
        why: "A prompt that is silently accepted would never be answered.",
        capabilities: BOTH,
        check: |rig| Box::pin(send_after_destroy(rig)),
    },
    Assumption {
        id: "lifecycle.nothing-on-disk",
        text: "After `session.destroy` and `session.delete` nothing of a session without session store is on the disk.",
        why: "Captured conversations belong to the caller and must not pile up here.",
        capabilities: BOTH,
        check: |rig| Box::pin(nothing_on_disk(rig)),
    },
];

async fn destroy_ends_the_loop(rig: &Rig) -> Seen {
    let again = format!("@@again {}", json!([{ "name": "get_weather", "arguments": { "city": "Paris" } }]));
    let mut control = Probe::open(rig, &SessionPlan::with_tool("get_weather")).await?;
    control.send(&again).await?;
    for _ in 0..2 {
        let id = control.hook().await?;
        control.answer(&id, Answers::DENY.hook).await;
    }
    control.hook().await?;
    let without = control.calls().len();
    control.destroy().await?;
    let mut probe = Probe::open(rig, &SessionPlan::with_tool("get_weather")).await?;
    probe.send(&again).await?;
    let id = probe.hook().await?;
    probe.destroy().await?;
    probe.answer(&id, Answers::DENY.hook).await;
    probe.linger().await?;
    let with = probe.calls().len();
    let seen = format!("{without} model calls for 3 hooks without destroy, {with} with destroy at the first hook");
    expect(without == 3 && with == 1, || seen.clone())?;
    Ok(seen)
}

async fn silent_after_destroy(rig: &Rig) -> Seen {
    let mut probe = Probe::open(rig, &SessionPlan::with_tool("get_weather")).await?;
    probe.send(&call_of("get_weather")).await?;
    let id = probe.hook().await?;
    probe.destroy().await?;
    // What came before the response to `destroy` is in the queue by now.
    probe.catch_up().await?;
    let before = probe.trace.entries.len();
    let calls_before = probe.calls().len();
    probe.answer(&id, Answers::DENY.hook).await;
    probe.linger().await?;
    let late: Vec<&str> = probe.trace.entries[before..].iter().map(|entry| entry.kind.as_str()).collect();
    let calls: Vec<String> = probe.calls()[calls_before..].iter().map(last_message).collect();
    let seen = format!(
        "{before} messages until destroy, then {} messages {late:?} and {} model calls {calls:?}",
        late.len(),
        calls.len()
    );
    expect(late.is_empty() && calls.is_empty(), || seen.clone())?;
    Ok(seen)
}

/// Who spoke last in a model call, and how it begins: that tells why it was made.
fn last_message(call: &ModelCall) -> String {
    let last = call.body["messages"].as_array().and_then(|messages| messages.last()).unwrap_or(&Value::Null);
    let content = last["content"].as_str().unwrap_or_default();
    let beginning: String = content.chars().take(LONGEST_BEGINNING).collect();
    format!("{}: {beginning}", last["role"].as_str().unwrap_or("nobody"))
}

async fn one_model_call(rig: &Rig) -> Seen {
    let mut probes = Vec::new();
    for _ in 0..5 {
        let mut probe = Probe::open(rig, &SessionPlan::with_tool("get_weather")).await?;
        probe.send(&call_of("get_weather")).await?;
        let id = probe.hook().await?;
        probe.trace.tool_message()?;
        probe.destroy().await?;
        probe.answer(&id, Answers::DENY.hook).await;
        probes.push(probe);
    }
    if let Some(last) = probes.last_mut() {
        last.linger().await?;
    }
    let calls: Vec<usize> = probes.iter().map(|probe| probe.calls().len()).collect();
    let seen = format!("5 captures made {calls:?} model calls");
    expect(calls == [1; 5], || seen.clone())?;
    Ok(seen)
}

async fn destroy_twice(rig: &Rig) -> Seen {
    let mut probe = Probe::open(rig, &SessionPlan::with_tool("get_weather")).await?;
    probe.send(&call_of("get_weather")).await?;
    probe.hook().await?;
    probe.destroy().await?;
    let again = probe.destroy().await;
    probe.call("ping", json!({})).await?;
    match again {
        Ok(()) => Ok("session.destroy succeeded 2 times in a row, and the process responded to a ping".to_owned()),
        Err(error) => Err(format!("the second session.destroy was an error: {error}")),
    }
}

async fn destroy_within_a_batch(rig: &Rig) -> Seen {
    let (plan, prompt, _) = batch();
    let mut probe = Probe::open(rig, &plan).await?;
    probe.send(&prompt).await?;
    let first = probe.hook().await?;
    probe.answer(&first, Answers::DENY.hook).await;
    let second = probe.hook().await?;
    probe.destroy().await?;
    probe.catch_up().await?;
    let (hooks_before, before) = (probe.trace.count(HOOK), probe.trace.entries.len());
    probe.answer(&second, Answers::DENY.hook).await;
    probe.linger().await?;
    let (calls, hooks) = (probe.calls().len(), probe.trace.count(HOOK) - hooks_before);
    let late = probe.trace.entries.len() - before;
    let seen = format!(
        "destroyed at hook {hooks_before} of 3: then {hooks} further hooks, {late} further messages, {calls} model call in all"
    );
    expect(calls == 1 && hooks == 0 && late == 0, || seen.clone())?;
    Ok(seen)
}

async fn destroy_after_an_error(rig: &Rig) -> Seen {
    let mut probe = Probe::open(rig, &SessionPlan::with_tool("get_weather")).await?;
    probe.turn("@@error 400", Answers::DENY).await?;
    let (_, error) = probe.trace.first("session.error")?;
    let error = error["message"].to_string();
    probe.destroy().await?;
    probe.call("ping", json!({})).await?;
    let calls = probe.calls().len();
    let mut next = Probe::open(rig, &SessionPlan::with_tool("get_weather")).await?;
    next.turn("@@plain", Answers::DENY).await?;
    let seen = format!("{calls} model call failed with {error}; destroy succeeded and the next session answered");
    expect(calls == 1, || seen.clone())?;
    Ok(seen)
}

async fn destroy_in_mid_stream(rig: &Rig) -> Seen {
    let mut probe = Probe::open(rig, &SessionPlan::with_tool("get_weather")).await?;
    // Longer than any patience, so only destroy can end it.
    probe.send("@@slow 100000 10").await?;
    while probe.trace.count("assistant.message_delta") < 3 {
        probe.step().await?;
    }
    probe.destroy().await?;
    probe.catch_up().await?;
    let before = probe.trace.entries.len();
    let deltas = probe.trace.count("assistant.message_delta");
    probe.linger().await?;
    let late = probe.trace.entries.len() - before;
    // The model notices it when it writes the next piece of its answer.
    let cut_off = async {
        while !probe.calls().iter().all(ModelCall::was_cut_off) {
            tokio::time::sleep(LOOK_AGAIN_AFTER).await;
        }
    };
    // How many were cut off is counted below.
    let _ = within(rig.patience, cut_off).await;
    let calls = probe.calls();
    let cut = calls.iter().filter(|call| call.was_cut_off()).count();
    let seen = format!(
        "destroyed after {deltas} deltas: then {late} messages; {} model call, of which the program closed {cut}",
        calls.len()
    );
    expect(late == 0 && calls.len() == 1 && cut == 1, || seen.clone())?;
    Ok(seen)
}

async fn send_after_destroy(rig: &Rig) -> Seen {
    let probe = Probe::open(rig, &SessionPlan::with_tool("get_weather")).await?;
    probe.destroy().await?;
    match probe.send("@@plain").await {
        Ok(()) => Err("session.send succeeded after destroy".to_owned()),
        Err(error) if error.to_lowercase().contains("not found") => Ok(error),
        Err(error) => Err(format!("an error of another kind: {error}")),
    }
}

/// What a folder has of a session: files and folders named after it, and files that hold its text. An empty lock file is
/// nothing: the CLI leaves one behind.
fn traces_of(folder: &Path, session: &str, text: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let is_named = entry.file_name().to_string_lossy().contains(session);
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            found.extend(is_named.then(|| path.clone()));
            found.extend(traces_of(&path, session, text));
            continue;
        }
        let content = std::fs::read(&path).unwrap_or_default();
        if String::from_utf8_lossy(&content).contains(text) || (is_named && !content.is_empty()) {
            found.push(path);
        }
    }
    found
}

async fn nothing_on_disk(rig: &Rig) -> Seen {
    let mut probe = Probe::open(rig, &SessionPlan::with_tool("get_weather")).await?;
    probe.turn(&call_of("get_weather"), Answers::DENY).await?;
    let traces = || traces_of(&rig.home(), &probe.session, &probe.tag);
    // The program collects what it writes for some 100 ms.
    let written = async {
        while traces().is_empty() {
            tokio::time::sleep(LOOK_AGAIN_AFTER).await;
        }
    };
    // What is there is counted below.
    let _ = within(rig.patience, written).await;
    let before = traces().len();
    probe.destroy().await?;
    probe.call("session.delete", json!({ "sessionId": probe.session })).await?;
    let after = traces();
    let seen = format!("{before} files and folders of the session before and {} after: {after:?}", after.len());
    expect(before > 0 && after.is_empty(), || seen.clone())?;
    Ok(seen)
}
