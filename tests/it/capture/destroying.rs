//! Sessions that are destroyed after their answer.

use super::{Caller, names, server, until_nothing_is_left};
use crate::support::Program;

#[tokio::test]
async fn each_capture_is_exactly_one_model_call_and_leaves_nothing() {
    for program in Program::BOTH {
        let copilot = server(program, "[capture]\nmode = \"destroy\"\n").await;
        for number in 1..=5 {
            let mut caller = Caller::of(&copilot);
            let calls =
                r#"[{"name":"look","arguments":{"at":"x"}},{"name":"bash","arguments":{"command":"touch ran"}}]"#;
            let (answer, origin) = caller.ask(&format!("@@again {calls}")).await;
            assert_eq!((names(&answer), origin.as_str()), (vec!["look", "bash"], "destroyed"), "{program:?}");
            until_nothing_is_left(&copilot).await;
            assert_eq!(copilot.model.requests().len(), number, "{program:?}");
        }
    }
}

#[tokio::test]
async fn a_request_can_choose_and_a_loop_works_with_the_whole_history_each_time() {
    let copilot = server(Program::Runtime, "").await;
    let mut caller = Caller::of(&copilot);
    caller.http = caller.http.header("x-flightdeck-capture", "destroy");
    let (mut answer, mut origin) = caller.ask("@@loop 3 look {\"at\":\"x\"}").await;
    for round in 0..3 {
        assert_eq!((names(&answer), origin.as_str()), (vec!["look"], "destroyed"), "{round}");
        caller.give_results(&format!("result {round}"));
        (answer, origin) = caller.send().await;
    }
    assert_eq!(origin, "destroyed");
    assert!(answer["content"].as_str().expect("text").starts_with("Final answer"), "{answer}");
    let users = copilot.model.calls_with("").iter().filter(|call| call.initiator.as_deref() == Some("user")).count();
    assert_eq!(users, 4, "every call is a request of the user here");
}
