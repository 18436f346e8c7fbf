//! Turns that fail before the agent has said or done anything, connections that are out of date, and prompts that an
//! agent does not take. Time is the test's own here.

use std::time::Duration;

use flightdeck::agent::failure::{Failure, classify};
use flightdeck::agent::{AgentCommand, AgentEvent, BlockStart, Capabilities};
use flightdeck::model::{ErrorClass, NoticeKind, PromptId, PromptVerdict};
use flightdeck::session::{NewPrompt, PromptMode, SessionSettings};
use tokio::time::Instant;

use crate::support::{Puppet, PuppetSession};

async fn session() -> PuppetSession {
    session_with(SessionSettings::default()).await
}

async fn session_with(settings: SessionSettings) -> PuppetSession {
    let capabilities = Capabilities { steering: true, model_switch: true, ..Capabilities::default() };
    PuppetSession::new(Puppet::new(capabilities, None), settings).await
}

fn network() -> Failure {
    classify("Puppet", "connect ECONNREFUSED", None)
}

async fn fails(it: &PuppetSession, failure: Failure) {
    it.say(AgentEvent::TurnFailed { failure }).await;
    it.say(AgentEvent::Idle).await;
}

async fn verdict(it: &PuppetSession, number: u32) -> PromptVerdict {
    it.session.outcome(PromptId::from_number(number)).await.expect("over").verdict
}

fn count(log: &[serde_json::Value], callback: &str) -> usize {
    log.iter().filter(|response| response["callback"] == callback).count()
}

#[tokio::test(start_paused = true)]
async fn what_passes_is_tried_again_after_doubling_waits_and_shows_no_error() {
    let it = session().await;
    it.prompt("go").await;
    for (number, shortest) in [(1, 900), (2, 1_800)] {
        assert_eq!(it.puppet.prompted().await, "go");
        let failed_at = Instant::now();
        fails(&it, network()).await;
        it.until_notices("retrying", number).await;
        it.until(|_| it.puppet.has_been_told()).await;
        // Time may pass while the store works, so only the shortest wait is certain.
        assert!(failed_at.elapsed() >= Duration::from_millis(shortest), "{:?}", failed_at.elapsed());
    }
    assert_eq!(it.puppet.prompted().await, "go");
    it.say(AgentEvent::Idle).await;
    assert_eq!(verdict(&it, 1).await, PromptVerdict::Succeeded);
    let (log, told) = (it.log().await, it.notices("retrying").await);
    assert!(log.iter().all(|response| response.get("sessionError").is_none()), "{log:?}");
    assert_eq!((count(&log, "onIdle"), count(&log, "onUserPrompt")), (1, 1));
    assert!(told[0].starts_with("Puppet cannot reach") && told[0].ends_with("(attempt 2 of 3)."), "{told:?}");
    it.end().await;
}

#[tokio::test(start_paused = true)]
async fn after_three_attempts_the_failure_is_told_with_its_class() {
    let it = session().await;
    it.prompt("go").await;
    for _ in 0..3 {
        it.puppet.prompted().await;
        fails(&it, network()).await;
    }
    assert_eq!(verdict(&it, 1).await, PromptVerdict::Failed);
    let log = it.log().await;
    let errors: Vec<_> = log.iter().filter(|response| response.get("sessionError").is_some()).collect();
    assert_eq!((errors.len(), &errors[0]["errorClass"]), (1, &serde_json::json!("network")), "{errors:?}");
    assert_eq!(it.notices("retrying").await.len(), 2);
    it.end().await;
}

#[tokio::test(start_paused = true)]
async fn what_does_not_pass_and_what_was_begun_is_not_tried_again() {
    let it = session().await;
    it.prompt("one").await;
    it.puppet.prompted().await;
    fails(&it, classify("Puppet", "400 The requested model is not supported.", Some(400))).await;
    assert_eq!(verdict(&it, 1).await, PromptVerdict::Failed);
    let message = || AgentEvent::BlockStarted(BlockStart::Message { id: "m".to_owned(), parent: None });
    let tool = || {
        let (id, name) = ("t".to_owned(), "bash".to_owned());
        AgentEvent::BlockStarted(BlockStart::Tool { id, parent: None, name, arguments: String::new() })
    };
    for (number, begun) in [(2, message()), (3, tool())] {
        it.prompt("go").await;
        it.puppet.prompted().await;
        it.say(begun).await;
        fails(&it, network()).await;
        assert_eq!(verdict(&it, number).await, PromptVerdict::Failed);
    }
    assert_eq!(it.notices("retrying").await, Vec::<String>::new());
    it.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_waits_for_its_next_attempt_can_be_interrupted() {
    let it = session().await;
    it.prompt("go").await;
    it.puppet.prompted().await;
    fails(&it, Failure { retry_after: Some(Duration::from_hours(1)), ..network() }).await;
    it.until_notices("retrying", 1).await;
    it.prompt_with(NewPrompt { text: "steered".to_owned(), mode: PromptMode::Steer, ..NewPrompt::default() }).await;
    it.session.interrupt().await.expect("interrupted");
    assert_eq!(verdict(&it, 1).await, PromptVerdict::Interrupted);
    assert_eq!(it.puppet.prompted().await, "steered", "nobody sends the old one any more");
    it.say(AgentEvent::TurnFailed { failure: network() }).await;
    it.session.interrupt().await.expect("interrupted");
    it.say(AgentEvent::Idle).await;
    assert_eq!(verdict(&it, 2).await, PromptVerdict::Interrupted);
    assert_eq!(it.notices("retrying").await.len(), 1);
    it.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_login_that_is_wanted_in_a_turn_is_tried_once_anew_and_then_waited_for_with_the_prompt() {
    let it = session().await;
    it.prompt("go").await;
    for start in 1..=2 {
        assert_eq!(it.puppet.prompted().await, "go");
        assert_eq!(it.puppet.starts(), start);
        let failure = Failure::with_message(ErrorClass::Auth, "Log in with `puppet login`.");
        fails(&it, failure.that_wants_login()).await;
    }
    it.until_notices("login-needed", 1).await;
    it.until(|log| log.iter().any(|response| response["state"] == "needs-login")).await;
    it.puppet.log_in();
    assert_eq!(it.puppet.prompted().await, "go");
    it.say(AgentEvent::Idle).await;
    assert_eq!(verdict(&it, 1).await, PromptVerdict::Succeeded);
    let log = it.log().await;
    assert!(log.iter().all(|response| response.get("sessionError").is_none()), "{log:?}");
    assert_eq!(count(&log, "onUserPrompt"), 1);
    it.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_takes_too_long_is_ended_and_says_so() {
    let timeout = Some(Duration::from_mins(10));
    let it = session_with(SessionSettings { turn_timeout: timeout, ..SessionSettings::default() }).await;
    it.prompt("go").await;
    it.puppet.prompted().await;
    let begun = Instant::now();
    assert!(matches!(it.puppet.told().await, AgentCommand::Interrupt));
    assert!(begun.elapsed() >= Duration::from_mins(10), "{:?}", begun.elapsed());
    it.say(AgentEvent::Idle).await;
    assert_eq!(verdict(&it, 1).await, PromptVerdict::Interrupted);
    let log = it.log().await;
    assert!(log.iter().any(|response| response["errorClass"] == "timeout"), "{log:?}");
    it.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_prompt_that_is_not_taken_into_the_turn_is_sent_after_it() {
    let it = session().await;
    it.prompt("one").await;
    it.puppet.prompted().await;
    it.prompt_with(NewPrompt { text: "two".to_owned(), mode: PromptMode::Steer, ..NewPrompt::default() }).await;
    let AgentCommand::Steer { prompt, text, .. } = it.puppet.told().await else { panic!("not steered") };
    assert_eq!(text, "two");
    it.say(AgentEvent::SteerRefused { prompt, reason: "not now".to_owned() }).await;
    it.until_notices("warning", 1).await;
    it.say(AgentEvent::Idle).await;
    assert_eq!(verdict(&it, 1).await, PromptVerdict::Succeeded);
    assert_eq!(it.puppet.prompted().await, "two");
    it.say(AgentEvent::TurnFailed { failure: Failure::with_message(ErrorClass::Unknown, "no") }).await;
    it.say(AgentEvent::Idle).await;
    assert_eq!(verdict(&it, 2).await, PromptVerdict::Failed, "its outcome is its own");
    it.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_is_out_of_date_is_opened_anew_before_the_next_turn_and_not_during_one() {
    let it = session().await;
    it.prompt("one").await;
    it.puppet.prompted().await;
    it.say(AgentEvent::Outdated).await;
    it.say(AgentEvent::TitleChanged("heard".to_owned())).await;
    it.until(|log| log.iter().any(|response| response["title"] == "heard")).await;
    assert!(!it.puppet.is_let_go(), "the turn goes on");
    it.say(AgentEvent::Idle).await;
    assert_eq!(verdict(&it, 1).await, PromptVerdict::Succeeded);
    it.prompt("two").await;
    assert_eq!((it.puppet.prompted().await.as_str(), it.puppet.starts()), ("two", 2));
    it.say(AgentEvent::Idle).await;
    assert_eq!(verdict(&it, 2).await, PromptVerdict::Succeeded);
    it.say(AgentEvent::Outdated).await;
    it.until(|_| it.puppet.is_let_go()).await;
    it.prompt("three").await;
    assert_eq!((it.puppet.prompted().await.as_str(), it.puppet.starts()), ("three", 3));
    it.end().await;
}

#[tokio::test(start_paused = true)]
async fn what_is_said_before_the_first_prompt_stands_after_it_and_what_is_repeated_stands_once() {
    let it = session().await;
    let notice = |kind, message: &str| AgentEvent::Notice { kind, message: message.to_owned() };
    it.say(notice(NoticeKind::Warning, "early")).await;
    it.say(notice(NoticeKind::Mcp, "files: connected")).await;
    it.settled().await;
    assert_eq!(it.log().await, Vec::<serde_json::Value>::new());
    it.prompt("go").await;
    it.puppet.prompted().await;
    it.say(notice(NoticeKind::Mcp, "files: connected")).await;
    it.say(notice(NoticeKind::Mcp, "files: failed")).await;
    it.say(notice(NoticeKind::Warning, "early")).await;
    it.until_notices("warning", 2).await;
    assert_eq!(it.notices("mcp").await, ["files: connected", "files: failed"]);
    assert_eq!(it.log().await[0]["callback"], "onUserPrompt");
    it.end().await;
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_asks_its_model_again_itself_is_believed_and_its_own_end_is_not() {
    let capabilities = Capabilities { model_retries: true, ..Capabilities::default() };
    let it = PuppetSession::new(Puppet::new(capabilities, None), SessionSettings::default()).await;
    it.prompt("one").await;
    it.puppet.prompted().await;
    fails(&it, network()).await;
    assert_eq!(verdict(&it, 1).await, PromptVerdict::Failed);
    it.prompt("two").await;
    it.puppet.prompted().await;
    fails(&it, Failure::with_message(ErrorClass::ProcessGone, "It ended.")).await;
    assert_eq!(it.puppet.prompted().await, "two");
    it.end().await;
}
