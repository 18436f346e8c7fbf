//! Tools that the owner of a connection declares beside the agent's own, and answers itself.

use std::collections::BTreeMap;
use std::sync::Arc;

use flightdeck::agent::copilot::{Copilot, CopilotSettings};
use flightdeck::agent::{
    AgentCommand, AgentEvent, DeclaredTool, DeclaredTools, Owner, Runtime, Runtimes, StartSpec, ToolAccess, ToolAnswer,
};
use flightdeck::scripted_model::ScriptedModel;
use serde_json::{Value, json};

use crate::support::{Program, agents};

#[tokio::test]
async fn a_declared_tool_is_offered_beside_the_agents_own_and_its_owner_answers() {
    for program in Program::BOTH {
        let model = ScriptedModel::start().await.expect("started");
        let folder = tempfile::tempdir().expect("a folder");
        let text = |path: std::path::PathBuf| path.to_string_lossy().into_owned();
        let environment: BTreeMap<String, String> = [
            ("PATH", std::env::var("PATH").unwrap_or_default()),
            ("HOME", text(folder.path().to_owned())),
            ("COPILOT_HOME", text(folder.path().join("copilot"))),
            ("COPILOT_CACHE_HOME", text(agents().join("cache"))),
            ("COPILOT_PROVIDER_BASE_URL", model.base_url()),
            ("COPILOT_PROVIDER_API_KEY", "sk-scripted".to_owned()),
            ("COPILOT_MODEL", "scripted-model".to_owned()),
            ("COPILOT_OFFLINE", "true".to_owned()),
            ("COPILOT_AUTO_UPDATE", "false".to_owned()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into();
        let settings = CopilotSettings { program: Some(program.path()), environment, ..CopilotSettings::default() };
        let runtimes = Runtimes::new(vec![Arc::new(Copilot::new(settings)) as Arc<dyn Runtime>]);
        let tool = DeclaredTool {
            name: "report".to_owned(),
            description: "Reports to the owner".to_owned(),
            parameters: json!({ "type": "object", "properties": { "state": { "type": "string" } } }),
        };
        let tools = DeclaredTools { tools: vec![tool], access: ToolAccess::Beside };
        let spec = StartSpec { tools: Some(tools), ..StartSpec::in_folder(Owner::Job, folder.path()) };
        let mut connection = runtimes.open("copilot", spec).finish().await.expect("opened");
        let prompt = "@@tool report {\"state\":\"done\"}".to_owned();
        let command = AgentCommand::Prompt { turn_id: "turn-1".into(), text: prompt, attachments: Vec::new() };
        connection.commands.send(command).await.expect("taken");
        let mut asked = Vec::new();
        loop {
            match connection.events.recv().await.expect("the agent is there") {
                AgentEvent::ToolsRequested(requests) => asked = requests,
                AgentEvent::ToolWaits { agent_request_id, call } => {
                    assert_eq!((asked[0].call_id.as_str(), call.name.as_str()), (call.call_id.as_str(), "report"));
                    let parsed = |text: &str| serde_json::from_str::<Value>(text).expect("JSON");
                    assert_eq!(parsed(&asked[0].arguments), parsed(&call.arguments));
                    let answer = ToolAnswer { text: "noted by the owner".to_owned(), ..ToolAnswer::default() };
                    let command = AgentCommand::AnswerTools(vec![(agent_request_id, answer)]);
                    connection.commands.send(command).await.expect("taken");
                }
                AgentEvent::RequestMade { body, .. } => panic!("nobody is asked: {body:?}"),
                AgentEvent::Gone { reason } => panic!("{reason}"),
                AgentEvent::Idle => break,
                _ => {}
            }
        }
        let requests = model.requests();
        let offered = requests[0]["tools"].to_string();
        assert!(offered.contains("\"report\"") && offered.contains("\"bash\""), "{program:?}: {offered}");
        let last = requests.last().expect("a request")["messages"].to_string();
        assert!(last.contains("noted by the owner"), "{program:?}: {last}");
        connection.close().await;
        runtimes.shut_down().await;
    }
}
