//! Usage, grouped by day, model, runtime or session.

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::http::app::App;
use crate::http::body::QueryPart;
use crate::http::error::{ApiError, ApiResult};
use crate::model::Day;
use crate::session::{BudgetSettings, now};
use crate::store::{Store, StoreError, UsageGrouping, UsageKey, UsageRow};

/// How many days are shown by default.
const USUAL_DAYS: u32 = 30;
/// The maximum number of rows in a response.
const MOST_ROWS: usize = 1_000;

/// The query parameters; an empty one counts as missing.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UsageQuery {
    /// The first day.
    pub from: Option<String>,
    /// The last day.
    pub to: Option<String>,
    /// What results are grouped by.
    pub by: Option<String>,
}

/// The query with defaults filled in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UsageQuestion {
    from: Day,
    to: Day,
    by: UsageGrouping,
}

impl UsageQuery {
    /// Fills in the defaults, or returns what is wrong. `today` is the current UTC day.
    pub fn resolve(&self, today: Day) -> Result<UsageQuestion, String> {
        let given = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
        let day = |name: &str, text: Option<String>| {
            text.map(|text| text.parse::<Day>()).transpose().map_err(|error| format!("invalid {name}: {error}"))
        };
        let to = day("to", given(&self.to))?.unwrap_or(today);
        let from = day("from", given(&self.from))?.unwrap_or_else(|| to.earlier(USUAL_DAYS - 1));
        if from > to {
            return Err(format!("from ({from}) is after to ({to})"));
        }
        let by = match given(&self.by).as_deref() {
            None | Some("day") => UsageGrouping::Day,
            Some("model") => UsageGrouping::Model,
            Some("runtime") => UsageGrouping::Runtime,
            Some("session") => UsageGrouping::Session,
            Some(other) => return Err(format!("unknown value {other:?} for by; use day, model, runtime or session")),
        };
        Ok(UsageQuestion { from, to, by })
    }
}

pub(in crate::http) async fn usage(
    State(app): State<App>,
    QueryPart(query): QueryPart<UsageQuery>,
) -> ApiResult<Json<Value>> {
    let question = query
        .resolve(Day::of(now()))
        .map_err(|problem| ApiError::bad_request("InvalidQuery", format!("Invalid query: {problem}.")))?;
    let sessions = app.sessions();
    Ok(Json(usage_json(sessions.store(), &sessions.settings().budget, question).await?))
}

/// The response in the API's format; the command line uses this too, without a server.
pub async fn usage_json(store: &Store, budget: &BudgetSettings, question: UsageQuestion) -> Result<Value, StoreError> {
    let UsageQuestion { from, to, by } = question;
    let mut rows = store.usage(from, to, by, MOST_ROWS + 1).await?;
    let truncated = rows.len() > MOST_ROWS;
    rows.truncate(MOST_ROWS);
    let today = Day::of(now());
    let of_today = store.usage_total(today, today).await?;
    Ok(json!({
        "from": from,
        "to": to,
        "by": name(by),
        "rows": rows.iter().map(row).collect::<Vec<_>>(),
        "truncated": truncated,
        "total": store.usage_total(from, to).await?,
        "today": { "day": today, "usage": of_today.usage },
        "budget": {
            "session": budget.session, "day": budget.day, "warnAt": budget.warn_at, "refuse": budget.refuse,
            "stopTurns": budget.stop_turns,
        },
    }))
}

fn name(by: UsageGrouping) -> &'static str {
    match by {
        UsageGrouping::Day => "day",
        UsageGrouping::Model => "model",
        UsageGrouping::Runtime => "runtime",
        UsageGrouping::Session => "session",
    }
}

fn row(row: &UsageRow) -> Value {
    let mut entry = json!(row.total);
    let facts = match &row.key {
        UsageKey::Day(day) => vec![("day", json!(day))],
        UsageKey::Model { model, runtimes } => vec![("model", json!(model)), ("runtimes", json!(runtimes))],
        UsageKey::Runtime(runtime) => vec![("runtime", json!(runtime))],
        UsageKey::Session { id, title, runtime, deleted } => vec![
            ("sessionId", json!(id)),
            ("title", json!(title)),
            ("runtime", json!(runtime)),
            ("deleted", json!(deleted)),
        ],
    };
    for (name, value) in facts {
        entry[name] = value;
    }
    entry
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(from: &str, to: &str, by: &str) -> Result<(String, String, UsageGrouping), String> {
        let given = |text: &str| Some(text.to_owned());
        let query = UsageQuery { from: given(from), to: given(to), by: given(by) };
        let question = query.resolve("2026-03-31".parse().expect("a day"))?;
        Ok((question.from.to_string(), question.to.to_string(), question.by))
    }

    #[test]
    fn what_is_left_out_is_the_last_thirty_days_by_day() {
        let check = |asked: Result<(String, String, UsageGrouping), String>, from: &str, to: &str| {
            assert_eq!(asked.expect("valid"), (from.to_owned(), to.to_owned(), UsageGrouping::Day));
        };
        check(asked("", "", ""), "2026-03-02", "2026-03-31");
        check(asked("2026-03-30", "", ""), "2026-03-30", "2026-03-31");
        check(asked("", "2026-01-30", "day"), "2026-01-01", "2026-01-30");
    }

    #[test]
    fn invalid_values_are_named() {
        for (from, to, by, words) in [
            ("yesterday", "", "", ["from", "YYYY-MM-DD"]),
            ("", "2026-02-30", "", ["to", "YYYY-MM-DD"]),
            ("2026-03-02", "2026-03-01", "", ["2026-03-02", "after"]),
            ("", "", "week", ["week", "day, model, runtime or session"]),
        ] {
            let problem = asked(from, to, by).expect_err("wrong");
            assert!(words.iter().all(|word| problem.contains(word)), "{problem}");
        }
    }
}
