//! The program, shared by all sessions: started when first needed, gone with the last of them.

use std::collections::BTreeMap;
use std::time::Duration;

use github_copilot_sdk::Client;
use parking_lot::Mutex;

use super::program::Program;
use super::tap::Tap;
use crate::agent::StartError;
use crate::process::{ChildProcess, ProcessSpec, StderrTail};

/// How long the program may take to say hello. The first run of the CLI unpacks itself.
const HELLO_WITHIN: Duration = Duration::from_mins(1);
/// How long it may take to say goodbye, and then to end.
const GOODBYE_WITHIN: Duration = Duration::from_secs(1);
const END_WITHIN: Duration = Duration::from_secs(2);

/// A running program that speaks a protocol version we know.
pub(super) struct Server {
    pub client: Client,
    pub tap: Tap,
    stderr: StderrTail,
    child: Mutex<Option<ChildProcess>>,
}

impl Server {
    pub async fn start(program: &Program, environment: BTreeMap<String, String>) -> Result<Self, StartError> {
        let spec = ProcessSpec {
            program: program.path.clone(),
            arguments: program.arguments.clone(),
            environment,
            working_directory: None,
        };
        let (child, stdin, stdout) =
            ChildProcess::spawn(&spec).map_err(|error| StartError::Permanent(format!("{error}: {}", error.source)))?;
        let stderr = child.stderr().clone();
        let (tap, client) = Tap::open(stdout, stdin).map_err(|error| StartError::Permanent(error.to_string()))?;
        let server = Self { client, tap, stderr, child: Mutex::new(Some(child)) };
        let hello = tokio::time::timeout(HELLO_WITHIN, server.client.verify_protocol_version());
        let path = program.path.display();
        let outcome = tokio::select! {
            hello = hello => hello,
            () = server.tap.ended.cancelled() => {
                return Err(StartError::Temporary(format!("Copilot ({path}) ended at its start: {}", server.last_words())));
            }
        };
        match outcome {
            Ok(Ok(())) => Ok(server),
            Ok(Err(_)) if !server.is_alive() => {
                Err(StartError::Temporary(format!("Copilot ({path}) ended at its start: {}", server.last_words())))
            }
            Ok(Err(error)) => Err(StartError::Permanent(format!(
                "Copilot ({path}) does not fit: {error}; update it with `npm install -g @github/copilot`"
            ))),
            Err(_) => Err(StartError::Temporary(format!(
                "Copilot ({path}) did not answer within {} seconds: {}",
                HELLO_WITHIN.as_secs(),
                server.last_words()
            ))),
        }
    }

    /// Ends the program politely: it then ends the tools it has started, which a kill would leave behind.
    pub async fn end(&self) {
        let Some(child) = self.child.lock().take() else { return };
        let goodbye = self.client.call("runtime.shutdown", Some(serde_json::json!({})));
        if tokio::time::timeout(GOODBYE_WITHIN, goodbye).await.is_err() {
            tracing::debug!("copilot did not say goodbye in time");
        }
        self.tap.close();
        child.end(END_WITHIN).await;
    }

    pub fn is_alive(&self) -> bool {
        !self.tap.ended.is_cancelled()
    }

    /// Why it is gone, with what it wrote to standard error.
    pub fn last_words(&self) -> String {
        let (reason, stderr) = (self.tap.reason(), self.stderr.text());
        if stderr.is_empty() { reason } else { format!("{reason}; its last words: {stderr}") }
    }
}
