//! The program ends when nobody uses it, and is there again when somebody does.

use crate::support::{CopilotServer, Program, until_childless};

#[tokio::test]
async fn a_program_that_no_session_uses_ends_and_comes_back() {
    let copilot = CopilotServer::start_with(Program::Runtime, "[agents.copilot]\nend_when_idle = \"1ms\"").await;
    let session = copilot.session("ask").await;
    session.ask("@@plain").await;
    // A session that is open keeps it.
    copilot.program();
    session.http.post(&session.path("/stop"), "").await;
    until_childless(copilot.server.process_id()).await;
    session.post("/reopen", serde_json::json!({})).await;
    let answer = session.ask("@@history").await;
    assert_eq!(answer["text"], "user turns: 2", "it still knows the conversation: {answer}");
}
