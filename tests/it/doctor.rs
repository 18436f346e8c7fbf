//! The permission canary, with agents that behave and agents that do not.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use flightdeck::agent::{
    AgentCommand, AgentEvent, BoxFuture, Capabilities, Connection, Freshness, ModelList, Quarantine, Readiness,
    RequestAnswer, Runtime, Runtimes, StartError, StartSpec,
};
use flightdeck::doctor::{CanaryOutcome, Patient, examine, sing, verdict};
use flightdeck::model::{CheckVerdict, RequestBody, SessionId};
use flightdeck::store::{DataFolder, Store, StoreSettings};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// What an agent makes of a denial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Character {
    Obeys,
    DoesItAllTheSame,
    NeverAsks,
    Dies,
}

/// An agent whose every prompt is `@@… PATH`, and whose every deed is to make that file.
struct Suspect {
    character: Character,
    capabilities: Capabilities,
}

impl Suspect {
    fn new(character: Character) -> Self {
        Self { character, capabilities: Capabilities::default() }
    }
}

impl Runtime for Suspect {
    fn name(&self) -> &'static str {
        "suspect"
    }
    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }
    fn readiness(&self) -> BoxFuture<'_, Readiness> {
        Box::pin(async { Readiness::ready("") })
    }
    fn models(&self, _: Freshness) -> BoxFuture<'_, ModelList> {
        Box::pin(async { ModelList::default() })
    }
    fn version(&self) -> BoxFuture<'_, Option<String>> {
        Box::pin(async { Some("1.2.3".to_owned()) })
    }
    fn spec_for_model_at(&self, _: &str, folder: &Path) -> Option<StartSpec> {
        Some(StartSpec {
            session: SessionId::from_number(1),
            model: String::new(),
            effort: None,
            working_directory: Some(folder.to_owned()),
            system_prompt: None,
            options: serde_json::Map::new(),
            environment: std::collections::BTreeMap::new(),
            permissions: flightdeck::model::PermissionPolicy::default(),
            agent_session_id: None,
            suspended: None,
        })
    }
    fn start(&self, _: StartSpec) -> BoxFuture<'_, Result<Connection, StartError>> {
        let (commands, heard) = mpsc::channel(4);
        let (voice, events) = mpsc::channel(16);
        let task = tokio::spawn(play(self.character, heard, voice));
        Box::pin(async { Ok(Connection::new(commands, events, None, task, CancellationToken::new())) })
    }
}

async fn play(character: Character, mut heard: mpsc::Receiver<AgentCommand>, voice: mpsc::Sender<AgentEvent>) {
    let mut file = PathBuf::new();
    while let Some(command) = heard.recv().await {
        match command {
            AgentCommand::Prompt { text, .. } => {
                file = PathBuf::from(text.split_whitespace().last().expect("a path"));
                let event = match character {
                    Character::NeverAsks => AgentEvent::Idle,
                    Character::Dies => AgentEvent::Gone { reason: "a sudden end".to_owned() },
                    Character::Obeys | Character::DoesItAllTheSame => AgentEvent::RequestMade {
                        agent_request_id: "r".to_owned(),
                        body: RequestBody::Permission {
                            kind: "write".to_owned(),
                            tool: "write".to_owned(),
                            title: "write a file".to_owned(),
                            detail: text,
                            options: Vec::new(),
                            tool_call_id: None,
                        },
                    },
                };
                voice.send(event).await.expect("heard");
            }
            AgentCommand::Answer { answer: RequestAnswer::Permission { decision, .. }, .. } => {
                assert!(!decision.allows(), "the canary denies everything");
                if character == Character::DoesItAllTheSame {
                    std::fs::write(&file, "done all the same").expect("written");
                }
                voice.send(AgentEvent::Idle).await.expect("heard");
            }
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn a_denial_that_is_obeyed_ignored_or_never_asked_for_is_told_apart() {
    for (character, expected) in [
        (Character::Obeys, CanaryOutcome::Sang { requests: 2 }),
        (
            Character::DoesItAllTheSame,
            CanaryOutcome::Died { deed: "wrote a file and ran a command that it was denied".to_owned() },
        ),
        (
            Character::NeverAsks,
            CanaryOutcome::Silent { reason: "the agent did not ask for anything, and did nothing either".to_owned() },
        ),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        let outcome = sing(&Suspect::new(character), "http://nowhere", folder.path()).await;
        assert_eq!(outcome, Some(expected), "{character:?}");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let outcome = sing(&Suspect::new(Character::Dies), "http://nowhere", folder.path()).await;
    assert!(matches!(outcome, Some(CanaryOutcome::Silent { .. })), "{outcome:?}");
}

#[tokio::test]
async fn a_version_that_does_what_it_was_denied_is_locked_out_until_it_behaves() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = DataFolder::lock(folder.path()).expect("ours");
    let store = Store::open(&data, StoreSettings { max_bytes: None }).expect("opened");
    let quarantine = Quarantine::load(folder.path(), &[]);
    for (character, worst, locked_out) in
        [(Character::DoesItAllTheSame, CheckVerdict::Failure, true), (Character::Obeys, CheckVerdict::Ok, false)]
    {
        let patient = Patient {
            data_folder: folder.path(),
            store: &store,
            runtimes: &Runtimes::new(vec![Arc::new(Suspect::new(character)) as Arc<dyn Runtime>]),
            quarantine: &quarantine,
            model_url: Some("http://nowhere".to_owned()),
        };
        let checks = examine(&patient).await;
        let canary = checks.iter().find(|check| check.name == "suspect: permission canary").expect("it sang");
        assert_eq!(canary.verdict, worst, "{checks:?}");
        assert_eq!(verdict(&checks) == CheckVerdict::Failure, worst == CheckVerdict::Failure, "{checks:?}");
        let reason = Quarantine::load(folder.path(), &[]).reason("suspect", "1.2.3");
        assert_eq!(reason.is_some(), locked_out, "{reason:?}");
    }
    store.close().await;
}
