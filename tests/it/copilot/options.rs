//! What the options of a session over the SDK protocol change in what Copilot asks its model, also after a restart.

use flightdeck::scripted_model::ScriptedModel;
use serde_json::{Value, json};

use crate::support::{CopilotServer, Program};

const INSTRUCTIONS: &str = "Mention the purple walrus.";

/// What of a request depends on the options: whether it streams, has the folder's instructions, and asks for summaries.
fn traits(request: &Value) -> (bool, bool, bool) {
    let summary = &request["reasoning"]["summary"];
    (request["stream"] == true, request.to_string().contains(INSTRUCTIONS), !summary.is_null() && summary != "none")
}

#[tokio::test]
async fn streaming_instructions_and_reasoning_summaries_can_be_turned_off() {
    for program in Program::BOTH {
        let copilot = CopilotServer::start(program).await;
        let model = ScriptedModel::start().await.expect("started");
        std::fs::write(copilot.server.work().join("AGENTS.md"), INSTRUCTIONS).expect("written");
        let provider = json!({ "baseUrl": model.base_url(), "apiKey": "none", "wireApi": "responses" });
        let asked = || traits(model.requests().last().expect("asked"));
        let body = |options: Value| json!({ "model": "thinker", "effort": "low", "options": options });

        let plain = copilot.session_with(body(json!({ "provider": provider }))).await;
        assert_eq!(plain.ask("@@plain").await["verdict"], "succeeded", "{program:?}");
        assert_eq!(asked(), (true, true, true), "{program:?}: the defaults");

        let options = json!({
            "provider": provider, "stream": false, "noCustomInstructions": true, "reasoningSummaries": false,
        });
        let session = copilot.session_with(body(options)).await;
        assert_eq!(session.ask("@@plain").await["verdict"], "succeeded", "{program:?}");
        assert_eq!(asked(), (false, false, false), "{program:?}: everything off");

        let CopilotServer { mut server, .. } = copilot;
        assert!(server.stop().await);
        let server = server.start_again().await;
        assert_eq!(session.seen_by(server.http()).ask("@@plain").await["verdict"], "succeeded", "{program:?}");
        assert_eq!(asked(), (false, false, false), "{program:?}: everything off after a restart");
    }
}
