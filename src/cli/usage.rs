//! `flightdeck usage`: prints usage, from the running server or else from the data folder.

use std::process::ExitCode;

use anyhow::bail;
use serde_json::{Value, json};

use super::arguments::{CommonFlags, UsageFlags};
use super::command_context::CommandContext;
use super::output::{print, table};
use super::session_settings::budget_settings;
use crate::http::{UsageQuery, usage_report};
use crate::model::Day;
use crate::session::now;
use crate::store::{DataFolder, Store, StoreSettings};

pub(super) fn usage(flags: &UsageFlags, common: &CommonFlags) -> anyhow::Result<ExitCode> {
    let context = CommandContext::new(common)?;
    let query = UsageQuery { from: flags.from.clone(), to: flags.to.clone(), by: flags.by.clone() };
    // First, because a mistyped day is an error with or without a server.
    let question = match query.resolve(Day::of(now())) {
        Ok(question) => question,
        Err(problem) => bail!("{problem}"),
    };
    let answer = match context.get(&format!("/api/usage?{}", written(&query)))? {
        Some(answer) => answer,
        None if DataFolder::has_database(&context.resolved.data_folder) => {
            let folder = DataFolder::lock(&context.resolved.data_folder)?;
            let store = Store::open(&folder, StoreSettings { max_bytes: None })?;
            let budget = budget_settings(&context.resolved.loaded.config.budget);
            context.wait_for(async {
                let answer = usage_report(&store, &budget, question).await;
                store.close().await;
                answer.map(|report| json!(report))
            })?
        }
        None => bail!(
            "no usage yet: there is no database in {}; to use another folder, set --data-dir",
            context.resolved.data_folder.display()
        ),
    };
    if common.json {
        print(&answer.to_string())?;
    } else {
        print(&shown(&answer))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn written(query: &UsageQuery) -> String {
    let fields = [("from", &query.from), ("to", &query.to), ("by", &query.by)];
    let given = fields.into_iter().filter_map(|(name, value)| Some((name, value.as_deref()?)));
    form_urlencoded::Serializer::new(String::new()).extend_pairs(given).finish()
}

/// A table with its total and notes.
fn shown(answer: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let by = text(&answer["by"]);
    let days = format!("{} to {} (UTC)", text(&answer["from"]), text(&answer["to"]));
    let rows: &[Value] = answer["rows"].as_array().map_or(&[], Vec::as_slice);
    if rows.is_empty() {
        return format!("No usage from {days}.");
    }
    let name = |row: &Value| match by.as_str() {
        "session" if row["deleted"] == true => format!("{} (deleted)", text(&row["sessionId"])),
        "session" => format!("{} {}", text(&row["sessionId"]), text(&row["title"])),
        "model" if row["model"] == "" => "(chosen by the agent)".to_owned(),
        by => text(&row[by]),
    };
    let mut lines: Vec<Vec<String>> = rows.iter().map(|row| figures(name(row), row)).collect();
    lines.push(figures("total".to_owned(), &answer["total"]));
    let headings = ["REPORTS", "INPUT", "OUTPUT", "PREMIUM", "CREDITS", "USD"];
    let by = by.to_uppercase();
    let headings: Vec<&str> = std::iter::once(by.as_str()).chain(headings).collect();
    let mut said = vec![format!("From {days}:"), table(&headings, &lines)];
    if lines.iter().flatten().any(|cell| cell.ends_with('+')) {
        said.push("+ a lower bound: some reports lack this figure. - unknown: no report has it.".to_owned());
    } else if lines.iter().flatten().any(|cell| cell == "-") {
        said.push("- unknown: no report has this figure.".to_owned());
    }
    if answer["truncated"] == true {
        said.push("There are more rows; choose a shorter period to see all of them.".to_owned());
    }
    said.join("\n")
}

fn figures(name: String, row: &Value) -> Vec<String> {
    let figure = |key: &str, written: &dyn Fn(f64) -> String| match row["usage"][key].as_f64() {
        None => "-".to_owned(),
        Some(amount) if row["unknown"][key].as_u64().unwrap_or_default() > 0 => format!("{}+", written(amount)),
        Some(amount) => written(amount),
    };
    let whole = |amount: f64| format!("{amount:.0}");
    let part = |amount: f64| format!("{}", (amount * 100.0).round() / 100.0);
    let money = |amount: f64| format!("{amount:.4}");
    vec![
        name,
        row["reports"].to_string(),
        figure("inputTokens", &whole),
        figure("outputTokens", &whole),
        figure("premiumRequests", &part),
        figure("credits", &part),
        figure("costUsd", &money),
    ]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::shown;

    #[test]
    fn unknown_is_a_dash_and_a_sum_that_lacks_something_says_so() {
        let row = json!({
            "day": "2026-03-01", "reports": 2,
            "usage": { "inputTokens": 1500, "outputTokens": 20, "premiumRequests": null, "credits": 1.5, "costUsd": null },
            "unknown": { "inputTokens": 0, "outputTokens": 1, "premiumRequests": 2, "credits": 1, "costUsd": 2 },
        });
        let answer = json!({
            "from": "2026-03-01", "to": "2026-03-02", "by": "day", "rows": [row], "total": row, "truncated": false,
        });
        let text = shown(&answer);
        assert!(text.contains("2026-03-01  2        1500   20+     -        1.5+     -"), "{text}");
        assert!(text.contains("some reports lack this figure"), "{text}");
        assert!(text.contains("(UTC)"), "{text}");
    }
}
