//! A store that takes its time: what the agent says meanwhile is kept, in order.

use flightdeck::agent::{AgentCommand, AgentEvent, Capabilities};
use flightdeck::model::{BlockKey, BlockKind, PromptId};
use flightdeck::session::SessionSettings;

use crate::support::{Puppet, PuppetSession};

/// More events than a session takes before it waits for the store, queues included. The last of them are accepted only
/// once the session has noticed that the store is slow.
const DELTAS: usize = 4_000;

#[derive(Clone, Copy, Debug)]
enum Ending {
    Close,
    Interrupt,
}

async fn check(ending: Ending) {
    let it = PuppetSession::new(Puppet::new(Capabilities::default(), None), SessionSettings::default()).await;
    it.prompt("go").await;
    it.puppet.prompted().await;
    let database = rusqlite::Connection::open(it.data().join("flightdeck.db")).expect("opened");
    database.busy_timeout(std::time::Duration::from_secs(5)).expect("set");
    database.execute_batch("BEGIN IMMEDIATE").expect("locked");
    for number in 0..DELTAS {
        let delta = format!("{number} ");
        it.say(AgentEvent::BlockDelta { key: BlockKey::new(BlockKind::Message, "m"), delta }).await;
    }
    let end = async {
        match ending {
            Ending::Close => it.session.close().await.expect("closed"),
            Ending::Interrupt => assert!(it.session.interrupt().await.expect("a session"), "a turn was running"),
        }
    };
    // The store is slow until the session has acted on the end.
    let unlock = async {
        match ending {
            Ending::Close => it.puppet.voice().expect("connected").closed().await,
            Ending::Interrupt => {
                assert!(matches!(it.puppet.told().await, AgentCommand::Interrupt));
                it.say(AgentEvent::Idle).await;
            }
        }
        database.execute_batch("ROLLBACK").expect("unlocked");
    };
    tokio::join!(end, unlock);
    it.session.outcome(PromptId::from_number(1)).await.expect("over");
    let log = it.log().await;
    let names: Vec<&str> = log.iter().filter_map(|response| response["callback"].as_str()).collect();
    assert_eq!(names[names.len() - 2..], ["onAgentEnd", "onIdle"], "{ending:?}");
    let ends: Vec<_> = log.iter().filter(|response| response["callback"] == "onEndMessage").collect();
    assert_eq!(ends.len(), 1, "{ending:?}");
    let content = ends[0]["completeContent"].as_str().expect("text");
    // Whoever closes a session does not wait for what is still in the agent's queue.
    let left_in_queue = if matches!(ending, Ending::Close) { crate::fake_runtime::QUEUE } else { 0 };
    let numbers: Vec<usize> = content.split_whitespace().map(|number| number.parse().expect("a number")).collect();
    assert!(numbers.len() >= DELTAS - left_in_queue, "{ending:?}: {} of {DELTAS}", numbers.len());
    assert!(numbers.iter().enumerate().all(|(at, number)| at == *number), "{ending:?}: in order, without gaps");
    it.end().await;
}

#[tokio::test]
async fn what_an_agent_said_while_the_store_was_slow_comes_before_the_end_of_its_turn() {
    for ending in [Ending::Close, Ending::Interrupt] {
        check(ending).await;
    }
}
