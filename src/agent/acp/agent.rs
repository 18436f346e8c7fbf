//! A running agent after the handshake: what it supports, and calls that wait for a response.

use std::sync::Arc;
use std::time::Duration;

use agent_client_protocol_schema::ProtocolVersion;
use agent_client_protocol_schema::v1::{AuthenticateRequest, ClientCapabilities, Implementation, InitializeRequest};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::life::{Life, reason};
use super::not_opened::NotOpened;
use super::settings::{AcpSettings, Launch};
use super::wire::{Incoming, METHOD_NOT_FOUND, RpcError, Sender, Wire};
use crate::agent::StartError;
use crate::agent::failure::EarlyExit;
use crate::process::ProcessSpec;

/// How long an agent may send nothing while a call waits for its response.
const SILENCE: Duration = Duration::from_mins(2);
/// How long `authenticate` may take. Credentials that exist are read much faster, and nobody may be there to enter new
/// ones.
const AUTHENTICATE_WITHIN: Duration = Duration::from_secs(30);
/// How long it may take to exit.
const END_WITHIN: Duration = Duration::from_secs(2);

/// What an agent reports about itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "the protocol's independent yes/no facts")]
pub(super) struct About {
    pub name: String,
    pub version: Option<String>,
    pub loads: bool,
    pub lists: bool,
    pub closes: bool,
    pub takes_images: bool,
    pub takes_resources: bool,
    pub mcp_http: bool,
    pub mcp_sse: bool,
    /// The agent's own login instructions.
    pub logins: Vec<String>,
    /// The method of `authenticate`, if the agent lists exactly one. Among several, only the user can choose.
    pub login_method: Option<String>,
}

impl About {
    fn read(said: &Value) -> Self {
        let text = |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
        let can = &said["agentCapabilities"];
        let is_there = |value: &Value| !value.is_null() && *value != json!(false);
        let methods = said["authMethods"].as_array().map(Vec::as_slice).unwrap_or_default();
        let login_method = if let [only] = methods { text(&only["id"]) } else { None };
        Self {
            login_method,
            name: text(&said["agentInfo"]["name"]).unwrap_or_default(),
            version: text(&said["agentInfo"]["version"]),
            loads: can["loadSession"] == true,
            lists: is_there(&can["sessionCapabilities"]["list"]),
            closes: is_there(&can["sessionCapabilities"]["close"]),
            takes_images: can["promptCapabilities"]["image"] == true,
            takes_resources: can["promptCapabilities"]["embeddedContext"] == true,
            mcp_http: can["mcpCapabilities"]["http"] == true,
            mcp_sse: can["mcpCapabilities"]["sse"] == true,
            logins: methods
                .iter()
                .filter_map(|method| text(&method["description"]).or_else(|| text(&method["name"])))
                .collect(),
        }
    }

    /// The agent is GitHub Copilot, which needs special handling.
    pub fn is_copilot(&self) -> bool {
        self.name == "Copilot"
    }
}

/// Why a call failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum CallError {
    #[error("{0}")]
    Refused(RpcError),
    #[error("{0}")]
    Gone(String),
    #[error("{0}")]
    Silent(String),
}

impl CallError {
    /// The code for the log.
    pub fn code(&self) -> String {
        match self {
            Self::Refused(error) => error.code.to_string(),
            Self::Gone(_) => "gone".to_owned(),
            Self::Silent(_) => "unresponsive".to_owned(),
        }
    }
}

pub(super) struct Agent {
    pub wire: Wire,
    pub about: About,
    pub life: Arc<Life>,
}

impl Agent {
    /// Starts the program and performs the handshake.
    pub async fn start(settings: &AcpSettings, launch: &Launch) -> Result<Self, NotOpened> {
        let spec = ProcessSpec {
            program: launch.program.clone(),
            arguments: launch.arguments.clone(),
            environment: launch.environment.clone(),
            working_directory: Some(launch.folder.clone()),
        };
        let (child, stdin, stdout) =
            settings.supervisor.spawn(&spec).map_err(|error| StartError::Permanent(reason(&error)))?;
        let wire = Wire::new(stdout, stdin);
        let life = Life::new(settings.name.clone(), child, wire.sender.clone(), Arc::clone(&wire.stream));
        let mut agent = Self { wire, about: About::default(), life: Arc::new(life) };
        match agent.handshake(settings, launch).await {
            Ok(()) => Ok(agent),
            Err(error) => {
                agent.end().await;
                Err(error)
            }
        }
    }

    async fn handshake(&mut self, settings: &AcpSettings, launch: &Launch) -> Result<(), NotOpened> {
        let (name, program) = (&settings.title, launch.program.display());
        let params = InitializeRequest::new(ProtocolVersion::V1)
            .client_capabilities(ClientCapabilities::new())
            .client_info(Implementation::new("flightdeck", env!("CARGO_PKG_VERSION")));
        let timeout = settings.hello_within;
        let answer = tokio::time::timeout(timeout, self.call("initialize", &params, &mut |_| {})).await;
        let said = match answer {
            Ok(Ok(said)) => said,
            Ok(Err(CallError::Refused(error))) => {
                return Err(NotOpened::Failed(StartError::Permanent(format!(
                    "{name} ({program}) does not speak ACP: it refused the first call: {error}; check the command and its \
                     arguments"
                ))));
            }
            Ok(Err(CallError::Gone(words))) => {
                let message = format!("{name} ({program}) exited at startup: {words}");
                return Err(NotOpened::Exited { exit: EarlyExit { message, words }, loading: false });
            }
            Ok(Err(CallError::Silent(words))) => return Err(NotOpened::Failed(StartError::Temporary(words))),
            Err(_) => {
                return Err(NotOpened::Failed(StartError::Temporary(format!(
                    "{name} ({program}) did not respond within {}{}; is it an ACP agent? If it only needs more time, raise \
                     hello_within",
                    humantime::format_duration(timeout),
                    self.life.stderr_summary()
                ))));
            }
        };
        let version = &said["protocolVersion"];
        if *version != json!(1) && *version != json!("1") {
            return Err(NotOpened::Failed(StartError::Permanent(format!(
                "{name} ({program}) speaks version {version} of ACP, and Flightdeck speaks version 1; update whichever is \
                 older"
            ))));
        }
        self.about = About::read(&said);
        self.life.is_called(self.about.version.clone());
        match settings.quarantine.reason(&settings.name, self.about.version.as_deref()) {
            Some(reason) => Err(NotOpened::Failed(StartError::Permanent(reason))),
            None => Ok(()),
        }
    }

    /// Lets the agent read its credentials again, with one of its methods.
    pub async fn authenticate(
        &mut self,
        method: &str,
        on_other: &mut (dyn FnMut(Incoming) + Send),
    ) -> Result<(), CallError> {
        let params = AuthenticateRequest::new(method.to_owned());
        let call = self.call("authenticate", &params, on_other);
        let Ok(answer) = tokio::time::timeout(AUTHENTICATE_WITHIN, call).await else {
            let timeout = humantime::format_duration(AUTHENTICATE_WITHIN);
            return Err(CallError::Silent(format!("no answer to authenticate within {timeout}")));
        };
        answer.map(drop)
    }

    /// Sends a call and waits for its response. Other messages go to `on_other`; requests of the agent are declined,
    /// because no session can answer them yet.
    pub async fn call(
        &mut self,
        method: &str,
        params: &impl Serialize,
        on_other: &mut (dyn FnMut(Incoming) + Send),
    ) -> Result<Value, CallError> {
        let Ok(id) = self.wire.call(method, params) else {
            return Err(CallError::Silent(format!(
                "the agent no longer accepts messages{}",
                self.life.stderr_summary()
            )));
        };
        loop {
            let Ok(incoming) = tokio::time::timeout(SILENCE, self.wire.incoming.recv()).await else {
                let timeout = humantime::format_duration(SILENCE);
                let words = format!("no answer to {method} within {timeout}{}", self.life.stderr_summary());
                return Err(CallError::Silent(words));
            };
            match incoming {
                None => return Err(CallError::Gone(self.life.exit_summary().await)),
                Some(Incoming::Response { id: answered, outcome }) if answered == id => {
                    let result = outcome.map_err(CallError::Refused)?;
                    return Ok(serde_json::from_str(result.get()).unwrap_or_default());
                }
                Some(Incoming::Request { id, method, .. }) => decline(&self.wire.sender, &id, &method),
                Some(other) => on_other(other),
            }
        }
    }

    /// Closes its input and waits until it has exited.
    pub async fn end(self) {
        let Self { wire, life, .. } = self;
        wire.close_and_wait().await;
        life.end(END_WITHIN).await;
    }
}

/// Declines a request that no session can answer, so that the agent does not wait for it.
pub(super) fn decline(sender: &Sender, id: &RawValue, method: &str) {
    let answered = if method == "session/request_permission" {
        sender.answer(id, &json!({ "outcome": { "outcome": "cancelled" } }))
    } else {
        sender.refuse(id, METHOD_NOT_FOUND, &format!("Method not found: {method}"))
    };
    if answered.is_err() {
        tracing::debug!(method, "could not answer a request: the agent no longer reads its input");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_recorded_agents_say_of_themselves_is_understood() {
        let about = |transcript: &str| {
            let line = transcript.lines().find(|line| line.contains("agentCapabilities")).expect("it says hello");
            About::read(&serde_json::from_str::<Value>(line).expect("JSON")["msg"]["result"])
        };
        let copilot = about(include_str!("../../../tests/transcripts/acp/copilot-basic.ndjson"));
        assert!(copilot.is_copilot() && copilot.loads && copilot.lists && copilot.closes && copilot.takes_images);
        assert_eq!(
            (copilot.version.as_deref(), &copilot.logins[0][..]),
            (Some("1.0.102"), "Run `copilot login` in the terminal")
        );
        let gemini = about(include_str!("../../../tests/transcripts/acp/gemini.ndjson"));
        assert_eq!(copilot.login_method.as_deref(), Some("copilot-login"));
        assert!(gemini.loads && !gemini.lists && !gemini.closes && gemini.mcp_http);
        assert_eq!(gemini.login_method, None, "it lists several");
        let opencode = about(include_str!("../../../tests/transcripts/acp/opencode.ndjson"));
        assert!(opencode.loads && opencode.lists && !opencode.is_copilot());
    }

    #[test]
    fn we_offer_neither_files_nor_terminals_and_the_version_is_a_number() {
        let params = InitializeRequest::new(ProtocolVersion::V1).client_capabilities(ClientCapabilities::new());
        let said = json!(params);
        assert_eq!(said["protocolVersion"], json!(1));
        assert_ne!(said["clientCapabilities"]["terminal"], json!(true));
        assert_ne!(said["clientCapabilities"]["fs"]["writeTextFile"], json!(true));
    }
}
