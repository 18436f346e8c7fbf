//! A session that does not keep up with an agent whose process it shares.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use flightdeck::agent::{AgentEvent, BoxFuture, Capabilities, Liveness};
use flightdeck::model::{BlockKey, BlockKind, PromptId, PromptVerdict};
use flightdeck::session::SessionSettings;

use crate::support::{Puppet, PuppetSession};

#[tokio::test(start_paused = true)]
async fn what_is_open_is_closed_with_a_notice_and_the_turn_continues() {
    let it = PuppetSession::new(Puppet::new(Capabilities::default(), None), SessionSettings::default()).await;
    it.prompt("go").await;
    it.puppet.prompted().await;
    let delta = |id: &str, text: &str| AgentEvent::BlockDelta {
        key: BlockKey::new(BlockKind::Message, id),
        delta: text.to_owned(),
    };
    it.say(delta("cut", "half")).await;
    it.say(AgentEvent::FellBehind { waiting: 17_000_000 }).await;
    it.until_notices("fell-behind", 1).await;
    let message = it.notices("fell-behind").await.remove(0);
    assert!(message.contains("17000000 bytes") && message.contains("continues"), "{message}");
    let log = it.log().await;
    let callback = |name: &str| log.iter().filter(|response| response["callback"] == name).count();
    assert_eq!((callback("onEndMessage"), callback("onIdle")), (1, 0), "{log:?}");
    it.say(delta("more", "whole")).await;
    it.say(AgentEvent::Idle).await;
    let outcome = it.session.outcome(PromptId::from_number(1)).await.expect("over");
    assert_eq!(outcome.verdict, PromptVerdict::Succeeded);
    it.end().await;
}

/// An agent that shows no sign of life, and what was done about it.
#[derive(Default)]
struct Hung {
    cut_off: AtomicUsize,
    abandoned: AtomicUsize,
}

impl Liveness for Hung {
    fn probe(&self, within: Duration) -> BoxFuture<'_, bool> {
        Box::pin(async move {
            tokio::time::sleep(within).await;
            false
        })
    }

    fn cut_off(&self) -> BoxFuture<'_, ()> {
        self.cut_off.fetch_add(1, Ordering::SeqCst);
        Box::pin(async {})
    }

    fn abandon(&self) -> BoxFuture<'_, ()> {
        self.abandoned.fetch_add(1, Ordering::SeqCst);
        Box::pin(async {})
    }
}

#[tokio::test(start_paused = true)]
async fn an_interrupt_that_a_hung_agent_does_not_hear_ends_no_process_that_others_may_use() {
    let hung = Arc::new(Hung::default());
    let capabilities = Capabilities { many_sessions_per_process: true, ..Capabilities::default() };
    let puppet = Puppet::new(capabilities, Some(Arc::clone(&hung) as Arc<dyn Liveness>));
    let it = PuppetSession::new(puppet, SessionSettings::default()).await;
    it.prompt("go").await;
    it.puppet.prompted().await;
    it.session.interrupt().await.expect("done");
    let outcome = it.session.outcome(PromptId::from_number(1)).await.expect("over");
    assert_eq!(outcome.verdict, PromptVerdict::Interrupted);
    assert_eq!((hung.cut_off.load(Ordering::SeqCst), hung.abandoned.load(Ordering::SeqCst)), (0, 1));
    it.end().await;
}
