//! Tools that the hook denies.

use std::path::Path;

use serde_json::{Value, json};

use super::ordering::batch;
use super::rig::QUIET;
use super::trace::HOOK;
use super::{
    Answers, Assumption, BOTH, DESTROY, HookAnswer, Probe, Rig, Seen, SessionPlan, Step, call_of, expect, tool,
};

pub(super) const ASSUMPTIONS: &[Assumption] = &[
    Assumption {
        id: "deny.declared-tool",
        text: "A denied call of a declared tool never reaches its handler; an allowed one does.",
        why: "The denial is the only thing that keeps a captured call from running here.",
        capabilities: BOTH,
        check: |rig| Box::pin(declared_tool(rig)),
    },
    Assumption {
        id: "deny.built-in",
        text: "The hook also denies the program's own tools: the file is not created; allowed, it is.",
        why: "A model may call a built-in tool that the caller did not declare.",
        capabilities: BOTH,
        check: |rig| Box::pin(built_in(rig)),
    },
    Assumption {
        id: "deny.once-per-tool",
        text: "The hook is called exactly once for each tool of a batch.",
        why: "A tool without its own call of the hook would run unseen.",
        capabilities: BOTH,
        check: |rig| Box::pin(once_per_tool(rig)),
    },
    Assumption {
        id: "deny.reason-observable",
        text: "The reason of a denial is in the result of the tool and reaches the model.",
        why: "Otherwise nobody can tell why a tool did not run.",
        capabilities: DESTROY,
        check: |rig| Box::pin(reason_observable(rig)),
    },
    Assumption {
        id: "deny.no-output-is-no-denial",
        text: "A hook without output denies nothing: the call goes on to the permission request and then to its handler.",
        why: "Hold mode lets declared tools through this way, and destroy mode must therefore always answer.",
        capabilities: BOTH,
        check: |rig| Box::pin(no_output_is_no_denial(rig)),
    },
    Assumption {
        id: "deny.waits-for-the-hook",
        text: "The program waits for the hook's answer: until then no tool runs and no model is called.",
        why: "Destroy mode keeps the answer back until the session is destroyed.",
        capabilities: BOTH,
        check: |rig| Box::pin(waits_for_the_hook(rig)),
    },
    Assumption {
        id: "deny.session-id",
        text: "A call of the hook names its session, in the request and in its input.",
        why: "All captures share one process; without the id a call belongs to nobody.",
        capabilities: BOTH,
        check: |rig| Box::pin(session_id(rig)),
    },
    Assumption {
        id: "deny.arguments-intact",
        text: "Empty and deeply nested arguments are the same in the message and in the hook.",
        why: "The caller runs the tool with these arguments.",
        capabilities: BOTH,
        check: |rig| Box::pin(arguments_intact(rig)),
    },
    Assumption {
        id: "deny.broken-arguments",
        text: "A call whose arguments are not JSON never runs: it fails before the hook, or is denied by it.",
        why: "Models write broken JSON; an unreadable call must not slip past the denial.",
        capabilities: BOTH,
        check: |rig| Box::pin(broken_arguments(rig)),
    },
];

async fn declared_tool(rig: &Rig) -> Seen {
    let mut denied = Probe::open(rig, &SessionPlan::with_tool("get_weather")).await?;
    denied.turn(&call_of("get_weather"), Answers::DENY).await?;
    let mut allowed = Probe::open(rig, &SessionPlan::with_tool("get_weather")).await?;
    allowed.turn(&call_of("get_weather"), Answers::ALLOW).await?;
    let handled = |probe: &Probe<'_>| probe.trace.count("external_tool.requested");
    let (without, with) = (handled(&denied), handled(&allowed));
    let seen = format!("the handler was asked {without} times after a denial and {with} times after an approval");
    expect(without == 0 && with == 1, || seen.clone())?;
    let (_, end) = denied.trace.first("tool.execution_complete")?;
    expect(end["success"] == false, || format!("{seen}, but the denied tool ended with success {}", end["success"]))?;
    Ok(seen)
}

async fn built_in(rig: &Rig) -> Seen {
    let create = async |answers| {
        let mut probe = Probe::open(rig, &SessionPlan::with_built_ins()).await?;
        let file = probe.folder.join("made-by-a-built-in");
        probe.turn(&format!("@@create {}", file.display()), answers).await?;
        Ok::<_, String>((probe.trace.count(HOOK), file))
    };
    let (hooks, denied) = create(Answers::DENY).await?;
    let (_, allowed) = create(Answers::ALLOW).await?;
    let there = |file: &Path| if file.exists() { "was" } else { "was not" };
    let seen = format!(
        "`create` called the hook {hooks} times; its file {} made after a denial and {} made after an approval",
        there(&denied),
        there(&allowed)
    );
    expect(hooks == 1 && !denied.exists() && allowed.exists(), || seen.clone())?;
    Ok(seen)
}

async fn once_per_tool(rig: &Rig) -> Seen {
    let (plan, prompt, _) = batch();
    let mut probe = Probe::open(rig, &plan).await?;
    probe.turn(&prompt, Answers::DENY).await?;
    let names: Vec<&str> = probe.trace.all(HOOK).filter_map(|(_, call)| call["input"]["toolName"].as_str()).collect();
    let seen = format!("a batch of 3 tools called the hook {} times: {}", names.len(), names.join(", "));
    let mut sorted = names.clone();
    sorted.sort_unstable();
    expect(sorted == ["first_tool", "second_tool", "third_tool"], || seen.clone())?;
    Ok(seen)
}

async fn reason_observable(rig: &Rig) -> Seen {
    const REASON: &str = "reason 7f3a of the conformance check";
    let mut probe = Probe::open(rig, &SessionPlan::with_tool("get_weather")).await?;
    probe.turn(&call_of("get_weather"), Answers { hook: HookAnswer::Deny(REASON), tool: "" }).await?;
    let (_, end) = probe.trace.first("tool.execution_complete")?;
    let (message, code) = (&end["error"]["message"], &end["error"]["code"]);
    let in_event = message.as_str().is_some_and(|message| message.contains(REASON));
    let calls = probe.calls();
    let results: Vec<&Value> = calls.get(1).map_or_else(Vec::new, |call| tool_messages(&call.body));
    let in_model = results.iter().any(|message| message["content"].to_string().contains(REASON));
    let seen = format!(
        "the tool ended with code {code} and message {message}; the model's next call had the reason: {in_model}"
    );
    expect(in_event && in_model, || seen.clone())?;
    Ok(seen)
}

/// The tool messages of a model call.
pub(super) fn tool_messages(body: &Value) -> Vec<&Value> {
    body["messages"].as_array().into_iter().flatten().filter(|message| message["role"] == "tool").collect()
}

async fn no_output_is_no_denial(rig: &Rig) -> Seen {
    let mut probe = Probe::open(rig, &SessionPlan::with_tool("get_weather")).await?;
    probe.turn(&call_of("get_weather"), Answers::ASK).await?;
    let (asked, handled) = (probe.trace.count("permission.requested"), probe.trace.count("external_tool.requested"));
    let seen = format!("a hook without output led to {asked} permission requests and {handled} calls of the handler");
    expect(asked == 1 && handled == 1, || seen.clone())?;
    Ok(seen)
}

async fn waits_for_the_hook(rig: &Rig) -> Seen {
    let mut probe = Probe::open(rig, &SessionPlan::with_tool("awaited_tool")).await?;
    probe.send(&call_of("awaited_tool")).await?;
    let id = probe.hook().await?;
    probe.linger().await?;
    let (calls, ends) = (probe.calls().len(), probe.trace.count("tool.execution_complete"));
    let handled = probe.trace.count("external_tool.requested");
    let seen = format!(
        "while the hook was open for {} ms: {calls} model call, {ends} ended tools, {handled} calls of the handler",
        QUIET.as_millis()
    );
    expect(calls == 1 && ends == 0 && handled == 0, || seen.clone())?;
    probe.answer(&id, Answers::DENY.hook).await;
    probe.until_idle(Answers::DENY).await?;
    let (_, end) = probe.trace.first("tool.execution_complete")?;
    let code = &end["error"]["code"];
    expect(code == "denied", || format!("{seen}; the late denial ended the tool with code {code}"))?;
    Ok(format!("{seen}; the late denial was obeyed"))
}

async fn session_id(rig: &Rig) -> Seen {
    let mut probe = Probe::open(rig, &SessionPlan::with_tool("get_weather")).await?;
    probe.turn(&call_of("get_weather"), Answers::DENY).await?;
    let (_, call) = probe.trace.first(HOOK)?;
    let (request, input) = (&call["sessionId"], &call["input"]["sessionId"]);
    let seen = format!("session {}: the hook's request named {request}, its input {input}", probe.session);
    expect(*request == probe.session && *input == probe.session, || seen.clone())?;
    Ok(seen)
}

/// An object in an object, that many levels deep, with lists and all kinds of values.
fn nested(levels: usize) -> Value {
    (0..levels).fold(
        json!({ "text": "grüße \"quoted\" \\ 漢字", "empty": {}, "none": null }),
        |inner, level| json!({ "level": level, "number": 1.5, "list": [[], {}, true, "x"], "inner": inner }),
    )
}

async fn arguments_intact(rig: &Rig) -> Seen {
    let anything = json!({ "type": "object", "properties": {}, "additionalProperties": true });
    let plan = SessionPlan::of_capture(vec![tool("empty", &anything), tool("nested", &anything)]);
    let deep = nested(20);
    let calls = json!([{ "name": "empty", "arguments": {} }, { "name": "nested", "arguments": deep }]);
    let mut probe = Probe::open(rig, &plan).await?;
    probe.turn(&format!("@@tools {calls}"), Answers::DENY).await?;
    let (_, requests) = probe.trace.tool_message()?;
    let bytes = deep.to_string().len();
    for (name, sent) in [("empty", json!({})), ("nested", deep)] {
        let in_message = requests.iter().find(|request| request["name"] == name).map(|request| &request["arguments"]);
        let in_hook = probe.trace.all(HOOK).find(|(_, call)| call["input"]["toolName"] == name);
        let in_hook = in_hook.map(|(_, call)| &call["input"]["toolArgs"]);
        expect(in_message == Some(&sent), || format!("the message has other arguments of `{name}`: {in_message:?}"))?;
        expect(in_hook == Some(&sent), || format!("the hook has other arguments of `{name}`: {in_hook:?}"))?;
    }
    Ok(format!("{{}} and {bytes} bytes in 20 levels were the same in the message and in the hook"))
}

async fn broken_arguments(rig: &Rig) -> Seen {
    let mut probe = Probe::open(rig, &SessionPlan::with_tool("get_weather")).await?;
    let call = json!([{ "name": "get_weather", "broken": "{\"city\": \"Par" }]);
    probe.send(&format!("@@tools {call}")).await?;
    loop {
        match probe.step().await? {
            Step::Hook { id } => probe.answer(&id, Answers::DENY.hook).await,
            Step::Permission { request } => probe.approve(&request).await?,
            Step::Tool { .. } => return Err("the broken call reached the handler after its denial".to_owned()),
            Step::Idle => break,
            Step::Other => {}
        }
    }
    let hooks: Vec<String> = probe.trace.all(HOOK).map(|(_, call)| call["input"]["toolArgs"].to_string()).collect();
    let ends: Vec<String> =
        probe.trace.all("tool.execution_complete").map(|(_, end)| end["success"].to_string()).collect();
    let asked: Vec<String> = probe
        .trace
        .all("assistant.message")
        .flat_map(|(_, message)| message["toolRequests"].as_array().into_iter().flatten())
        .map(|request| request["arguments"].to_string())
        .collect();
    let seen = format!(
        "a call with broken arguments: the message had {asked:?}, the hook was called {} times with {hooks:?}, the tool ended \
         with success {ends:?}",
        hooks.len()
    );
    expect(!ends.iter().any(|success| success == "true"), || seen.clone())?;
    Ok(seen)
}
