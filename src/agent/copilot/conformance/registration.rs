//! Tools that a session declares.

use serde_json::{Value, json};

use super::session_plan::SYSTEM_MESSAGE;
use super::{Answers, Assumption, BOTH, Probe, Rig, Seen, SessionPlan, city_tool, expect, tool};

pub(super) const ASSUMPTIONS: &[Assumption] = &[
    Assumption {
        id: "registration.one-tool",
        text: "A declared tool is the only tool that the model sees.",
        why: "The model can only call what it sees, and must not see tools that the caller does not have.",
        capabilities: BOTH,
        check: |rig| Box::pin(one_tool(rig)),
    },
    Assumption {
        id: "registration.many-tools",
        text: "Forty declared tools all reach the model, in their order.",
        why: "Orchestrators declare many tools; a limit or another order would break prompts and caches.",
        capabilities: BOTH,
        check: |rig| Box::pin(many_tools(rig)),
    },
    Assumption {
        id: "registration.no-parameters",
        text: "A tool without parameters can be declared and called.",
        why: "Many real tools take no parameters.",
        capabilities: BOTH,
        check: |rig| Box::pin(no_parameters(rig)),
    },
    Assumption {
        id: "registration.schema-preserved",
        text: "A nested schema reaches the model with its names, types, required lists and choices; limits such as \
               `minLength` may become a part of the description.",
        why: "The model fills in arguments by the schema.",
        capabilities: BOTH,
        check: |rig| Box::pin(schema_preserved(rig)),
    },
    Assumption {
        id: "registration.duplicates",
        text: "Two tools of the same name are accepted, and the model sees only the first.",
        why: "Capture removes duplicates the same way, so both agree on which one counts.",
        capabilities: BOTH,
        check: |rig| Box::pin(duplicates(rig)),
    },
    Assumption {
        id: "registration.empty-name",
        text: "A session with a tool of an empty name is refused.",
        why: "Capture refuses such a request too; a tool that nobody can name can be called and never answered.",
        capabilities: BOTH,
        check: |rig| Box::pin(empty_name(rig)),
    },
    Assumption {
        id: "registration.available-tools",
        text: "`availableTools` is an allow-list: the model sees no built-in tool that it does not name.",
        why: "It is the barrier that keeps the program's own tools from the model.",
        capabilities: BOTH,
        check: |rig| Box::pin(available_tools(rig)),
    },
    Assumption {
        id: "registration.excluded-tools",
        text: "`excludedTools` removes a declared and a built-in tool.",
        why: "It is the other way to keep a tool from the model.",
        capabilities: BOTH,
        check: |rig| Box::pin(excluded_tools(rig)),
    },
    Assumption {
        id: "registration.override",
        text: "A declared tool with a built-in's name replaces it: the call is handed over and nothing runs here.",
        why: "Callers name their tools `bash` or `edit` too.",
        capabilities: BOTH,
        check: |rig| Box::pin(overridden(rig)),
    },
    Assumption {
        id: "registration.system-message",
        text: "`systemMessage` in mode `replace` is exactly what the model gets as its system message.",
        why: "The caller's instructions must not be mixed with the program's own.",
        capabilities: BOTH,
        check: |rig| Box::pin(system_message(rig)),
    },
];

/// The tools that the model sees in a session.
async fn offered<'a>(rig: &'a Rig, plan: &SessionPlan) -> Result<(Probe<'a>, Vec<String>), String> {
    let mut probe = Probe::open(rig, plan).await?;
    probe.turn("@@plain", Answers::DENY).await?;
    let names = probe.offered()?;
    Ok((probe, names))
}

async fn one_tool(rig: &Rig) -> Seen {
    let declared = city_tool("only_tool");
    let (probe, names) = offered(rig, &SessionPlan::of_capture(vec![declared.clone()])).await?;
    let tools = probe.offered_tools()?;
    let description = tools.first().map(|tool| tool["function"]["description"].clone());
    let seen = format!(
        "declared only_tool; the model saw {names:?}, described as {}",
        description.clone().unwrap_or_default()
    );
    expect(names == ["only_tool"] && description == Some(declared["description"].clone()), || seen.clone())?;
    Ok(seen)
}

async fn many_tools(rig: &Rig) -> Seen {
    let declared: Vec<String> = (0..40).map(|number| format!("tool_{:02}", (number * 7) % 40)).collect();
    let tools = declared.iter().map(|name| city_tool(name)).collect();
    let (_, names) = offered(rig, &SessionPlan::of_capture(tools)).await?;
    let same = names.iter().filter(|name| declared.contains(name)).count();
    let seen = format!(
        "declared 40 tools; the model saw {}, {same} of them declared, in the same order: {}",
        names.len(),
        names == declared
    );
    expect(names == declared, || seen.clone())?;
    Ok(seen)
}

async fn no_parameters(rig: &Rig) -> Seen {
    let mut declared = tool("now", &Value::Null);
    declared.as_object_mut().expect("an object").remove("parameters");
    let mut probe = Probe::open(rig, &SessionPlan::of_capture(vec![declared])).await?;
    probe.turn("@@tool now {}", Answers::ALLOW).await?;
    let (_, call) = probe.trace.first("external_tool.requested")?;
    let parameters = probe.offered_tools()?.first().map(|tool| tool["function"]["parameters"].clone());
    let arguments = &call["arguments"];
    let seen =
        format!("the model saw parameters {}; the call had arguments {arguments}", parameters.unwrap_or_default());
    expect(*arguments == json!({}), || seen.clone())?;
    Ok(seen)
}

async fn schema_preserved(rig: &Rig) -> Seen {
    let place = json!({
        "type": "object",
        "properties": {
            "name": { "type": "string", "minLength": 1, "description": "Its name" },
            "position": { "type": "array", "items": { "type": "number" }, "minItems": 2, "maxItems": 2 },
            "kind": { "enum": ["city", "village"] },
        },
        "required": ["name"],
        "additionalProperties": false,
    });
    let parameters = json!({
        "type": "object",
        "properties": {
            "places": { "type": "array", "items": place },
            "options": { "type": "object", "properties": { "unit": { "anyOf": [{ "const": "C" }, { "const": "F" }] } } },
        },
        "required": ["places"],
    });
    let (probe, _) = offered(rig, &SessionPlan::of_capture(vec![tool("nested", &parameters)])).await?;
    let seen = probe.offered_tools()?.first().map(|tool| tool["function"]["parameters"].clone()).unwrap_or_default();
    let bytes = parameters.to_string().len();
    expect(structure(&seen) == structure(&parameters), || {
        format!("declared {bytes} bytes of schema; the model saw {seen}")
    })?;
    let limits = if seen == parameters { "limits included" } else { "limits as text in descriptions" };
    Ok(format!("the model saw the same structure of {bytes} bytes in 5 levels, {limits}"))
}

/// A schema without what programs rewrite: limits, and the descriptions that they are moved to.
fn structure(schema: &Value) -> Value {
    const REWRITTEN: [&str; 4] = ["description", "minLength", "minItems", "maxItems"];
    match schema {
        Value::Object(fields) => {
            let kept = fields.iter().filter(|(name, _)| !REWRITTEN.contains(&name.as_str()));
            Value::Object(kept.map(|(name, value)| (name.clone(), structure(value))).collect())
        }
        Value::Array(items) => items.iter().map(structure).collect(),
        other => other.clone(),
    }
}

async fn duplicates(rig: &Rig) -> Seen {
    let described = |description: &str| {
        let mut declared = city_tool("twice");
        declared["description"] = json!(description);
        declared
    };
    let (probe, names) =
        offered(rig, &SessionPlan::of_capture(vec![described("the first"), described("the second")])).await?;
    let tools = probe.offered_tools()?;
    let descriptions: Vec<&Value> = tools.iter().map(|tool| &tool["function"]["description"]).collect();
    let seen =
        format!("2 tools of one name were accepted; the model saw {names:?}, described as {}", json!(descriptions));
    expect(descriptions == [&json!("the first")], || seen.clone())?;
    Ok(seen)
}

async fn empty_name(rig: &Rig) -> Seen {
    match Probe::open(rig, &SessionPlan::of_capture(vec![city_tool(""), city_tool("get_weather")])).await {
        Ok(_) => Err("session.create succeeded with a tool of an empty name".to_owned()),
        Err(error) if error.contains("name") => Ok(error),
        Err(error) => Err(format!("an error of another kind: {error}")),
    }
}

async fn available_tools(rig: &Rig) -> Seen {
    let tools = vec![city_tool("one"), city_tool("two")];
    let only = |names: &[&str]| SessionPlan {
        available: Some(names.iter().map(|name| (*name).to_owned()).collect()),
        ..SessionPlan::of_capture(tools.clone())
    };
    let (_, some) = offered(rig, &only(&["two", "view"])).await?;
    let (_, declared) = offered(rig, &only(&[])).await?;
    let (_, none) = offered(rig, &SessionPlan::of_capture(Vec::new())).await?;
    let (_, all) = offered(rig, &SessionPlan { tools: tools.clone(), ..SessionPlan::with_built_ins() }).await?;
    let seen = format!(
        "one and two are declared: with [\"two\",\"view\"] the model saw {some:?}, with [] {declared:?}, without a list {} \
         tools; nothing is declared: with [] {none:?}",
        all.len()
    );
    // Whether the list also covers declared tools differs between programs, and capture always names all of them.
    let built_ins = |names: &[String]| names.iter().filter(|name| !["one", "two"].contains(&name.as_str())).count();
    let is_obeyed = built_ins(&some) == 1 && built_ins(&declared) == 0 && none.is_empty() && built_ins(&all) > 1;
    expect(is_obeyed && some.iter().any(|name| name == "two"), || seen.clone())?;
    Ok(seen)
}

async fn excluded_tools(rig: &Rig) -> Seen {
    let tools = vec![city_tool("one"), city_tool("two")];
    let excluded = Some(vec!["two".to_owned(), "bash".to_owned()]);
    let (_, with) = offered(rig, &SessionPlan { tools: tools.clone(), ..SessionPlan::with_built_ins() }).await?;
    let (_, without) = offered(rig, &SessionPlan { tools, excluded, ..SessionPlan::with_built_ins() }).await?;
    let gone: Vec<&String> = with.iter().filter(|name| !without.contains(name)).collect();
    let seen =
        format!("{} tools without a list and {} with [\"two\",\"bash\"]; removed: {gone:?}", with.len(), without.len());
    let has = |list: &[String], name: &str| list.iter().any(|listed| listed == name);
    let removed = ["two", "bash"].iter().all(|name| has(&with, name) && !has(&without, name));
    expect(removed && has(&without, "one"), || seen.clone())?;
    Ok(seen)
}

async fn overridden(rig: &Rig) -> Seen {
    let command = json!({ "command": { "type": "string" }, "description": { "type": "string" } });
    let parameters = json!({ "type": "object", "properties": command });
    let mut probe = Probe::open(rig, &SessionPlan::of_capture(vec![tool("bash", &parameters)])).await?;
    let file = probe.folder.join("made-by-bash");
    probe.turn(&format!("@@bash touch {}", file.display()), Answers::ALLOW).await?;
    let handed_over: Vec<&str> =
        probe.trace.all("external_tool.requested").filter_map(|(_, call)| call["toolName"].as_str()).collect();
    let calls = probe.calls();
    let result = calls
        .get(1)
        .and_then(|call| super::deny::tool_messages(&call.body).first().map(|message| message["content"].clone()));
    let seen = format!(
        "`touch` through an overridden bash: handed over {handed_over:?}, the file exists: {}, the model got {}",
        file.exists(),
        result.unwrap_or_default()
    );
    expect(handed_over == ["bash"] && !file.exists(), || seen.clone())?;
    Ok(seen)
}

async fn system_message(rig: &Rig) -> Seen {
    let (probe, _) = offered(rig, &SessionPlan::of_capture(vec![city_tool("get_weather")])).await?;
    let calls = probe.calls();
    let messages = calls.first().map(|call| call.body["messages"].clone()).unwrap_or_default();
    let systems: Vec<&Value> =
        messages.as_array().into_iter().flatten().filter(|message| message["role"] == "system").collect();
    let text = systems.first().map(|message| message["content"].clone()).unwrap_or_default();
    let bytes = text.to_string().len();
    expect(systems.len() == 1 && text == SYSTEM_MESSAGE, || {
        format!("{} system messages, the first with {bytes} bytes: {text}", systems.len())
    })?;
    Ok(format!("1 system message with exactly the {} bytes that were given", SYSTEM_MESSAGE.len()))
}
