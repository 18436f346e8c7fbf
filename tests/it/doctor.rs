//! The permission canary, with agents that behave and agents that do not.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use flightdeck::agent::{AgentCommand, AgentEvent, Quarantine, RequestAnswer, Runtime, Runtimes};
use flightdeck::doctor::{Canary, CanaryOutcome, DoctorInput, examine, run_canary};
use flightdeck::model::{CheckVerdict, RequestBody};
use flightdeck::store::{DataFolder, Store, StoreSettings};
use tokio::sync::mpsc;

use crate::fake_runtime::{AgentSide, FakeRuntime};

use crate::support::{Server, ServerBuilder};

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
                            call: String::new(),
                            reads: None,
                            writes: None,
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

fn runtimes(character: Character) -> Runtimes {
    Runtimes::new(vec![Arc::new(suspect(character)) as Arc<dyn Runtime>])
}

async fn outcome_of(character: Character, folder: &Path) -> Option<CanaryOutcome> {
    let runtimes = runtimes(character);
    let runtime = runtimes.named("suspect").expect("there");
    run_canary(&runtimes, runtime.as_ref(), "http://nowhere", folder).await
}

#[tokio::test]
async fn a_denial_that_is_obeyed_ignored_or_never_asked_for_is_told_apart() {
    for (character, expected) in [
        (Character::Obeys, CanaryOutcome::Obeyed { requests: 2 }),
        (
            Character::DoesItAllTheSame,
            CanaryOutcome::Disobeyed { deed: "wrote a file and ran a command that it was denied".to_owned() },
        ),
        (
            Character::NeverAsks,
            CanaryOutcome::Inconclusive { reason: "the agent requested nothing and did nothing".to_owned() },
        ),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        let outcome = outcome_of(character, folder.path()).await;
        assert_eq!(outcome, Some(expected), "{character:?}");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let outcome = outcome_of(Character::Dies, folder.path()).await;
    assert!(matches!(outcome, Some(CanaryOutcome::Inconclusive { .. })), "{outcome:?}");
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
        let input = DoctorInput {
            data_folder: folder.path(),
            store: &store,
            runtimes: &runtimes(character),
            quarantine: &quarantine,
            canary: Canary::Run,
        };
        let report = examine(&input).await;
        let canary = report.checks.iter().find(|check| check.name == "suspect: permission canary").expect("it ran");
        assert_eq!((canary.verdict, canary.group.as_str()), (worst, "suspect"), "{report:?}");
        assert_eq!(report.verdict() == CheckVerdict::Failure, worst == CheckVerdict::Failure, "{report:?}");
        assert_eq!(report.ready[0].runtime, "suspect");
        let reason = Quarantine::load(folder.path(), &[]).reason("suspect", Some("1.2.3"));
        assert_eq!(reason.is_some(), locked_out, "{reason:?}");
    }
    store.close().await;
}

#[tokio::test]
async fn a_quarantine_that_cannot_be_read_is_a_failure() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = DataFolder::lock(folder.path()).expect("ours");
    let store = Store::open(&data, StoreSettings { max_bytes: None }).expect("opened");
    std::fs::write(folder.path().join("quarantine.json"), "not JSON").expect("written");
    let input = DoctorInput {
        data_folder: folder.path(),
        store: &store,
        runtimes: &runtimes(Character::Obeys),
        quarantine: &Quarantine::load(folder.path(), &[]),
        canary: Canary::Skip,
    };
    let report = examine(&input).await;
    assert_eq!(report.verdict(), CheckVerdict::Failure);
    let check = report.checks.iter().find(|check| check.name == "quarantine").expect("a line");
    assert!(check.message.contains("no agent is started"), "{check:?}");
    store.close().await;
}

/// A machine with git and without any agent.
fn without_agents(folder: &Path) -> ServerBuilder {
    let programs = folder.join("programs");
    if !programs.exists() {
        let path = std::env::var_os("PATH").expect("a PATH");
        let git = std::env::split_paths(&path).map(|folder| folder.join("git")).find(|file| file.exists());
        std::fs::create_dir(&programs).expect("a folder");
        std::os::unix::fs::symlink(git.expect("git is installed"), programs.join("git")).expect("linked");
    }
    Server::builder().variable("COPILOT_CLI_PATH", "").variable("PATH", programs.to_str().expect("UTF-8"))
}

#[tokio::test]
async fn on_a_machine_without_agents_the_demo_is_ready_and_nothing_fails() {
    let folder = tempfile::tempdir().expect("a folder");
    let ended = without_agents(folder.path()).run(folder.path(), &["doctor"]).await;
    assert!(ended.success, "{}", ended.stdout);
    assert_eq!(ended.stdout.lines().next(), Some("Ready: demo"), "{}", ended.stdout);
    for line in ["This machine", "copilot", "  info     copilot: program: not installed", "claude", "demo"] {
        assert!(ended.stdout.lines().any(|found| found == line), "{line}: {}", ended.stdout);
    }
    for word in ["warning", "FAILURE", "copilot-acp", "copilot-headless"] {
        assert!(!ended.stdout.contains(word), "{word}: {}", ended.stdout);
    }
}

#[tokio::test]
async fn a_port_that_is_taken_is_a_failure_and_any_other_is_not_looked_at() {
    let taken = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let port = taken.local_addr().expect("bound").port().to_string();
    let folder = tempfile::tempdir().expect("a folder");
    let builder = || without_agents(folder.path());
    let ended = builder().variable("FLIGHTDECK_SERVER_PORT", &port).run(folder.path(), &["doctor"]).await;
    assert!(!ended.success && ended.stdout.contains("FAILURE  port"), "{}", ended.stdout);
    let ended = builder().run(folder.path(), &["doctor"]).await;
    assert!(ended.success && ended.stdout.contains("ok       port"), "{}", ended.stdout);
}
