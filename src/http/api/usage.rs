//! Usage, grouped by day, model, runtime or session.

use axum::Json;
use axum::extract::State;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::http::app::App;
use crate::http::body::QueryPart;
use crate::http::error::{ApiError, ApiResult};
use crate::http::openapi::{Operation, Tag, get};
use crate::model::{BudgetLimits, Day, SessionId, Usage, UsageTotal};
use crate::session::{BudgetSettings, now};
use crate::store::{Store, StoreError, UsageGrouping, UsageKey, UsageRow};

/// How many days are shown by default.
const USUAL_DAYS: u32 = 30;
/// The maximum number of rows in a response.
const MOST_ROWS: usize = 1_000;

/// The query parameters; an empty one counts as missing.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UsageQuery {
    /// The first day; 30 days before the last one by default.
    #[schemars(with = "Option<Day>")]
    pub from: Option<String>,
    /// The last day; today by default.
    #[schemars(with = "Option<Day>")]
    pub to: Option<String>,
    /// What results are grouped by.
    #[schemars(extend("enum" = ["", "day", "model", "runtime", "session"]))]
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
) -> ApiResult<Json<UsageReport>> {
    let question = query
        .resolve(Day::of(now()))
        .map_err(|problem| ApiError::bad_request("InvalidQuery", format!("Invalid query: {problem}.")))?;
    let sessions = app.sessions();
    Ok(Json(usage_report(sessions.store(), &sessions.settings().budget, question).await?))
}

/// Usage from one day to another.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UsageReport {
    from: Day,
    to: Day,
    /// `day`, `model`, `runtime` or `session`.
    by: &'static str,
    rows: Vec<UsageLine>,
    /// There are more rows.
    truncated: bool,
    total: UsageTotal,
    today: UsageToday,
    /// The configured limits.
    budget: ConfiguredBudget,
}

/// The usage of a day, a model, a runtime or a session.
#[derive(Serialize, JsonSchema)]
struct UsageLine {
    #[serde(flatten)]
    key: UsageLineKey,
    #[serde(flatten)]
    total: UsageTotal,
}

/// What a row is about.
#[derive(Serialize, JsonSchema)]
#[serde(untagged, rename_all_fields = "camelCase")]
enum UsageLineKey {
    Day {
        day: Day,
    },
    Session {
        session_id: SessionId,
        /// Null also when the session was deleted.
        title: Option<String>,
        runtime: String,
        /// Only its figures are left.
        deleted: bool,
    },
    Model {
        /// Empty for the agent's own choice.
        model: String,
        runtimes: Vec<String>,
    },
    Runtime {
        runtime: String,
    },
}

/// The usage of today, in UTC.
#[derive(Serialize, JsonSchema)]
struct UsageToday {
    day: Day,
    usage: Usage,
}

/// The configured limits; null is no limit.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ConfiguredBudget {
    /// For each session.
    session: BudgetLimits,
    /// For all sessions of a day.
    day: BudgetLimits,
    /// The fraction of a limit from which usage counts as near it.
    warn_at: f64,
    /// Prompts are refused once a limit is reached.
    refuse: bool,
    /// The running turn is interrupted when a limit is reached.
    stop_turns: bool,
}

/// The response in the API's format; the command line uses this too, without a server.
pub async fn usage_report(
    store: &Store,
    budget: &BudgetSettings,
    question: UsageQuestion,
) -> Result<UsageReport, StoreError> {
    let UsageQuestion { from, to, by } = question;
    let mut rows = store.usage(from, to, by, MOST_ROWS + 1).await?;
    let truncated = rows.len() > MOST_ROWS;
    rows.truncate(MOST_ROWS);
    let today = Day::of(now());
    let of_today = store.usage_total(today, today).await?;
    Ok(UsageReport {
        from,
        to,
        by: name(by),
        rows: rows.into_iter().map(UsageLine::from).collect(),
        truncated,
        total: store.usage_total(from, to).await?,
        today: UsageToday { day: today, usage: of_today.usage },
        budget: ConfiguredBudget {
            session: budget.session,
            day: budget.day,
            warn_at: budget.warn_at,
            refuse: budget.refuse,
            stop_turns: budget.stop_turns,
        },
    })
}

fn name(by: UsageGrouping) -> &'static str {
    match by {
        UsageGrouping::Day => "day",
        UsageGrouping::Model => "model",
        UsageGrouping::Runtime => "runtime",
        UsageGrouping::Session => "session",
    }
}

impl From<UsageRow> for UsageLine {
    fn from(row: UsageRow) -> Self {
        let key = match row.key {
            UsageKey::Day(day) => UsageLineKey::Day { day },
            UsageKey::Model { model, runtimes } => UsageLineKey::Model { model, runtimes },
            UsageKey::Runtime(runtime) => UsageLineKey::Runtime { runtime },
            UsageKey::Session { id, title, runtime, deleted } => {
                UsageLineKey::Session { session_id: id, title, runtime, deleted }
            }
        };
        Self { key, total: row.total }
    }
}

pub(super) fn operations() -> Vec<Operation> {
    vec![get("/api/usage", usage).named("usage", Tag::Usage, "Usage by day, model, runtime or session").details(
        "A figure that no report contained is null, never 0. Otherwise it is the sum of the reports that contained it, and \
         `unknown` counts, figure by figure, the reports that did not.",
    )]
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
