//! Tool calls of the real Copilot.

use super::{check, html_of_last};
use crate::support::{CopilotServer, Program};

#[tokio::test]
async fn a_file_that_copilot_writes_is_a_diff_and_a_command_shows_its_output() {
    let copilot = CopilotServer::start(Program::Runtime).await;
    let session = copilot.session("allow-all").await;
    let path = copilot.server.work().join("written.txt");
    session.ask(&format!("@@create {}", path.display())).await;
    check(
        &html_of_last(&session, "onEndToolExecution").await,
        &[
            "<div class=\"diff-file\">written.txt</div>",
            "<tr class=\"diff-line diff-added\"><td class=\"diff-number\"></td><td class=\"diff-number\">1</td>\
             <td class=\"diff-text\">created by the scripted model</td></tr>",
        ],
        &["tool-error", "tool-arguments"],
    );
    session.ask("@@bash printf 'one<two>\\n'; exit 3").await;
    check(
        &html_of_last(&session, "onEndToolExecution").await,
        &[
            "data-language=\"bash\"",
            "<pre class=\"terminal\">one&lt;two&gt;\n</pre>",
            "<p class=\"tool-exit-code failed\">Exit code 3</p>",
        ],
        &["shellId"],
    );
}
