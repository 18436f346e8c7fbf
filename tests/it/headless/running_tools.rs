//! Server and agent are killed while a tool of a headless agent runs.

use serde_json::Value;

use super::support::{Deck, notices};
use crate::support::{a_moment, callbacks, children_of, send_signal};

#[tokio::test]
async fn a_tool_that_was_cut_off_is_not_run_again_and_the_notice_says_that_it_may_have_run() {
    for (deck, command) in [(Deck::copilot().await, "bash"), (Deck::claude().await, "Bash")] {
        let session = deck.session("allow-all").await;
        let prompt =
            format!(r#"@@tool {command} {{"command":"echo ran >> made.txt; exec sleep 1000","description":"x"}}"#);
        session.prompt(&prompt).await;
        session.prompt("@@echo queued").await;
        session.events_after(0).await.until(|event| event.callback() == "onStartToolExecution").await;
        let file = deck.server.work().join("made.txt");
        while !file.exists() {
            a_moment().await;
        }
        for child in children_of(deck.server.process_id()) {
            send_signal("KILL", child);
        }
        let deck = deck.killed_and_restarted().await;
        let session = session.seen_by(deck.server.http());
        let interrupted = notices(&session, "interrupted").await;
        assert_eq!(interrupted.len(), 1, "{interrupted:?}");
        assert!(interrupted[0].contains("it may have done its work"), "{interrupted:?}");
        assert_eq!(notices(&session, "queue-held").await.len(), 1, "the queue waits");
        let asked = deck.model.requests().len();
        assert_eq!(session.queued().await.len(), 1);
        // What is sent next comes after the prompt that waits; neither repeats the tool.
        let outcome = session.ask("@@echo after").await;
        assert_eq!((&outcome["verdict"], &outcome["text"]), (&Value::from("succeeded"), &Value::from("ECHO[after]")));
        assert!(deck.model.requests().len() > asked);
        assert_eq!(std::fs::read_to_string(&file).expect("made"), "ran\n", "{command}: once");
        let log = session.log().await;
        let count = |name: &str| callbacks(&log).iter().filter(|callback| *callback == name).count();
        assert_eq!((count("onStartToolExecution"), count("onEndToolExecution")), (1, 1), "{log:#?}");
        assert_eq!(count("onUserPrompt"), 3);
    }
}
