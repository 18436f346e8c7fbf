//! `flightdeck sessions search`: finds text in all sessions.

use std::process::ExitCode;

use serde_json::Value;

use super::super::arguments::CommonFlags;
use super::super::command_context::CommandContext;
use super::super::connection::{sentence, server};
use super::super::output::print;
use super::super::terminal::style::Style;
use super::super::terminal::text::{one_line, value};
use super::arguments::SearchFlags;

pub(super) fn search(flags: &SearchFlags, common: &CommonFlags) -> anyhow::Result<ExitCode> {
    let context = CommandContext::new(common)?;
    let server = server(&context)?;
    let query = flags.query.join(" ");
    let found = context.wait_for(server.search(&query, flags.limit)).map_err(sentence)?;
    if common.json {
        print(&found.to_string())?;
        return Ok(ExitCode::SUCCESS);
    }
    let results = found["results"].as_array().map(Vec::as_slice).unwrap_or_default();
    if results.is_empty() {
        eprintln!("Nothing found.");
        return Ok(ExitCode::FAILURE);
    }
    let style = Style::of_output();
    print(&results.iter().map(|result| shown(result, style)).collect::<Vec<_>>().join("\n"))?;
    Ok(ExitCode::SUCCESS)
}

/// One result: the session, what kind of text it is in, and the text around it.
fn shown(result: &Value, style: Style) -> String {
    let text = |name: &str| one_line(&value(&result[name]));
    let number = text("sessionId").trim_start_matches("session-").to_owned();
    let snippet = text("snippet").replace(['\u{2}', '\u{3}'], "").replace("<mark>", "").replace("</mark>", "");
    format!("{}  {}  {}", style.bold(&number), style.dim(&text("kind")), snippet)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_result_is_one_line() {
        let result = json!({ "sessionId": "session-12", "kind": "message", "snippet": "the <mark>lock</mark>\nfile" });
        assert_eq!(shown(&result, Style::plain()), "12  message  the lock file");
    }
}
