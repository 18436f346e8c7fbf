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
    let (query, limit) = (flags.query.join(" "), flags.limit.to_string());
    let folder = flags.folder.as_ref().map(|folder| context.resolved.start_folder.join(folder).display().to_string());
    let session =
        flags.session.as_ref().map(|id| if id.starts_with("session-") { id.clone() } else { format!("session-{id}") });
    let filters = [
        ("session", &session),
        ("folder", &folder),
        ("runtime", &flags.runtime),
        ("kind", &flags.kind),
        ("from", &flags.from),
        ("to", &flags.to),
    ];
    let mut parameters = vec![("q", query.as_str()), ("limit", limit.as_str())];
    parameters.extend(filters.iter().filter_map(|(name, value)| Some((*name, value.as_deref()?))));
    let found = context.wait_for(server.search(&parameters)).map_err(sentence)?;
    if common.json {
        print(&found.to_string())?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(indexing) = found.get("indexing").filter(|indexing| !indexing.is_null()) {
        // The total is not known at first.
        let progress = match indexing["total"].as_u64() {
            None | Some(0) => String::new(),
            Some(total) => format!(" ({} of {total} events)", indexing["done"]),
        };
        eprintln!("Some text is still being indexed{progress}; search again later for more.");
    }
    let style = Style::of_output();
    let list = |name: &str| found[name].as_array().map(Vec::as_slice).unwrap_or_default();
    let lines: Vec<String> = list("sessions")
        .iter()
        .map(|session| line(session, "session", &one_line(&value(&session["title"])), style))
        .chain(list("hits").iter().map(|hit| line(hit, &value(&hit["kind"]), &snippet(hit, style), style)))
        .collect();
    if lines.is_empty() {
        eprintln!("No results.");
        return Ok(ExitCode::FAILURE);
    }
    print(&lines.join("\n"))?;
    Ok(ExitCode::SUCCESS)
}

/// A session or a hit: the session's number, what kind of text it is, and the text.
fn line(found: &Value, kind: &str, text: &str, style: Style) -> String {
    let id = one_line(&value(&found["sessionId"]));
    let number = id.trim_start_matches("session-");
    format!("{}  {}  {text}", style.bold(number), style.dim(kind))
}

/// The text around a hit, with what matched in bold.
fn snippet(hit: &Value, style: Style) -> String {
    let pieces = hit["snippet"].as_array().map(Vec::as_slice).unwrap_or_default();
    let shown = pieces.iter().map(|piece| {
        let text = value(&piece["text"]).replace(['\n', '\t'], " ");
        if piece["match"] == true { style.bold(&text) } else { text }
    });
    shown.collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_hit_is_one_line() {
        let pieces = json!([{ "text": "the " }, { "text": "lock", "match": true }, { "text": "\nfile" }]);
        let hit = json!({ "sessionId": "session-12", "kind": "message", "snippet": pieces });
        let plain = Style::plain();
        assert_eq!(line(&hit, "message", &snippet(&hit, plain), plain), "12  message  the lock file");
    }
}
