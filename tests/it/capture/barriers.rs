//! Nothing runs here, whatever the model asks for.

use super::{Caller, names, server, until_nothing_is_left};
use crate::support::Program;

#[tokio::test]
async fn a_built_in_that_nobody_declared_does_not_run_in_either_mode() {
    for program in Program::BOTH {
        for mode in ["hold", "destroy"] {
            let copilot = server(program, &format!("[capture]\nmode = \"{mode}\"\n")).await;
            let mut caller = Caller::of(&copilot);
            caller.tools.truncate(1);
            let canary = copilot.server.work().join("ran");
            caller.ask(&format!("@@bash touch {}", canary.display())).await;
            let mut creating = Caller::of(&copilot);
            creating.ask(&format!("@@create {}", canary.display())).await;
            assert!(!canary.exists(), "{program:?} {mode}");
        }
    }
}

#[tokio::test]
async fn a_declared_tool_with_the_name_of_a_built_in_is_the_callers() {
    for program in Program::BOTH {
        for mode in ["hold", "destroy"] {
            let copilot = server(program, &format!("[capture]\nmode = \"{mode}\"\n")).await;
            let mut caller = Caller::of(&copilot);
            let canary = copilot.server.work().join("ran");
            let (answer, _) = caller.ask(&format!("@@bash touch {}", canary.display())).await;
            assert_eq!(names(&answer), ["bash"], "{program:?} {mode}");
            caller.give_results("done by the caller");
            caller.send().await;
            assert!(!canary.exists(), "{program:?} {mode}");
            if mode == "destroy" {
                until_nothing_is_left(&copilot).await;
            }
        }
    }
}
