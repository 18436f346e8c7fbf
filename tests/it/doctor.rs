//! The permission canary, with agents that behave and agents that do not.

use std::path::PathBuf;
use std::sync::Arc;

use flightdeck::agent::{AgentCommand, AgentEvent, Quarantine, RequestAnswer, Runtime, Runtimes};
use flightdeck::doctor::{CanaryOutcome, Patient, examine, sing, verdict};
use flightdeck::model::{CheckVerdict, RequestBody};
use flightdeck::store::{DataFolder, Store, StoreSettings};
use tokio::sync::mpsc;

use crate::fake_runtime::{AgentSide, FakeRuntime};

/// What an agent makes of a denial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Character {
    Obeys,
    DoesItAllTheSame,
    NeverAsks,
    Dies,
}

/// An agent that gets prompts such as `@@… PATH`, and whose only action is to create that file.
fn suspect(character: Character) -> FakeRuntime {
    let behaviour = move |AgentSide { commands, events }: AgentSide| play(character, commands, events);
    let mut runtime = FakeRuntime::new("suspect", behaviour);
    runtime.version = Some("1.2.3".to_owned());
    runtime
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
        let outcome = sing(&suspect(character), "http://nowhere", folder.path()).await;
        assert_eq!(outcome, Some(expected), "{character:?}");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let outcome = sing(&suspect(Character::Dies), "http://nowhere", folder.path()).await;
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
            runtimes: &Runtimes::new(vec![Arc::new(suspect(character)) as Arc<dyn Runtime>]),
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
