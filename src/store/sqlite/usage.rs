//! Usage by day: kept also when its sessions are deleted.

use std::sync::LazyLock;

use rusqlite::types::ToSql;
use rusqlite::{Connection, Row, params};

use super::Sqlite;
use crate::model::{Day, SessionId, UnknownFigures, Usage, UsageTotal};
use crate::store::{Answer, UsageGrouping, UsageKey, UsageRecords, UsageReport, UsageRow};

/// The columns of figures, in the order in which they are written and read. Each has a twin `…_unknown`.
const FIGURES: [&str; 9] = [
    "cost_usd",
    "input_tokens",
    "output_tokens",
    "cache_read",
    "cache_creation",
    "duration_ms",
    "num_turns",
    "premium_requests",
    "credits",
];

/// Adds a report to its row, or makes the row. A figure that nobody has reported yet stays NULL.
static RECORD: LazyLock<String> = LazyLock::new(|| {
    let columns = FIGURES.map(|name| format!("{name}, {name}_unknown")).join(", ");
    let mut position = 4;
    let values = FIGURES.map(|_| {
        position += 1;
        format!("?{position}, ?{position} IS NULL")
    });
    let sums = FIGURES.map(|name| {
        format!(
            "{name} = CASE WHEN excluded.{name} IS NULL THEN {name} ELSE coalesce({name}, 0) + excluded.{name} END,
             {name}_unknown = {name}_unknown + excluded.{name}_unknown"
        )
    });
    let (values, sums) = (values.join(", "), sums.join(", "));
    format!(
        "INSERT INTO usage_by_day (day, session, runtime, model, reports, {columns})
         VALUES (?1, ?2, ?3, ?4, 1, {values})
         ON CONFLICT DO UPDATE SET reports = reports + 1, {sums}"
    )
});

/// The sums over any number of rows: unknown only where all of them are.
static SUMS: LazyLock<String> = LazyLock::new(|| {
    let figures = FIGURES
        .map(|name| format!("sum(usage_by_day.{name}), coalesce(sum(usage_by_day.{name}_unknown), 0)"))
        .join(", ");
    format!("coalesce(sum(usage_by_day.reports), 0), {figures}")
});

/// How many columns [`SUMS`] has.
const SUM_COLUMNS: usize = 1 + 2 * FIGURES.len();

pub(super) fn record(connection: &Connection, session: SessionId, report: &UsageReport) -> rusqlite::Result<()> {
    let UsageReport { day, runtime, model, usage } = report;
    let (day, session) = (day.to_string(), session.number());
    let parameters: [&dyn ToSql; 13] = [
        &day,
        &session,
        runtime,
        model,
        &usage.cost_usd,
        &usage.input_tokens,
        &usage.output_tokens,
        &usage.cache_read,
        &usage.cache_creation,
        &usage.duration_ms,
        &usage.num_turns,
        &usage.premium_requests,
        &usage.credits,
    ];
    connection.prepare_cached(&RECORD)?.execute(&parameters[..]).map(drop)
}

impl UsageRecords for Sqlite {
    fn add_usage(&self, report: UsageReport) -> Answer<'_, ()> {
        // No session has this number.
        self.write(move |connection| record(connection, SessionId::from_number(0), &report))
    }

    fn usage(&self, from: Day, to: Day, grouping: UsageGrouping, limit: usize) -> Answer<'_, Vec<UsageRow>> {
        let (key, join, group, order) = match grouping {
            UsageGrouping::Day => ("day", "", "day", "day DESC".to_owned()),
            UsageGrouping::Model => {
                let key = "usage_by_day.model, json_group_array(DISTINCT usage_by_day.runtime)";
                (key, "", "usage_by_day.model", format!("{TOKENS} DESC, usage_by_day.model"))
            }
            UsageGrouping::Runtime => {
                let runtime = "usage_by_day.runtime";
                (runtime, "", runtime, format!("{TOKENS} DESC, {runtime}"))
            }
            UsageGrouping::Session => {
                let key = "usage_by_day.session, session.title, max(usage_by_day.runtime), session.id IS NULL";
                let join = "LEFT JOIN session ON session.id = usage_by_day.session";
                (key, join, "usage_by_day.session", "usage_by_day.session DESC".to_owned())
            }
        };
        let sums = SUMS.as_str();
        // Usage without a session is no session's.
        let only = if grouping == UsageGrouping::Session { "AND usage_by_day.session > 0" } else { "" };
        let statement = format!(
            "SELECT {sums}, {key} FROM usage_by_day {join} WHERE day BETWEEN ?1 AND ?2 {only}
             GROUP BY {group} ORDER BY {order} LIMIT ?3"
        );
        let (from, to) = (from.to_string(), to.to_string());
        self.read(move |connection| {
            connection
                .prepare_cached(&statement)?
                .query_map(params![from, to, limit], |row| {
                    Ok(UsageRow { total: total(row)?, key: key_of(row, grouping)? })
                })?
                .collect()
        })
    }

    fn usage_total(&self, from: Day, to: Day) -> Answer<'_, UsageTotal> {
        let (from, to) = (from.to_string(), to.to_string());
        self.read(move |connection| {
            connection
                .prepare_cached(&format!("SELECT {} FROM usage_by_day WHERE day BETWEEN ?1 AND ?2", *SUMS))?
                .query_row([from, to], total)
        })
    }

    fn usage_of_all_time(&self) -> Answer<'_, Vec<(String, String, UsageTotal)>> {
        self.read(move |connection| {
            let columns = SUM_COLUMNS;
            connection
                .prepare_cached(&format!("SELECT {}, runtime, model FROM usage_by_day GROUP BY runtime, model", *SUMS))?
                .query_map([], |row| Ok((row.get(columns)?, row.get(columns + 1)?, total(row)?)))?
                .collect()
        })
    }
}

const TOKENS: &str = "coalesce(sum(usage_by_day.input_tokens), 0) + coalesce(sum(usage_by_day.output_tokens), 0)";

fn key_of(row: &Row<'_>, grouping: UsageGrouping) -> rusqlite::Result<UsageKey> {
    let first = SUM_COLUMNS;
    Ok(match grouping {
        UsageGrouping::Day => {
            let unreadable =
                |error| rusqlite::Error::FromSqlConversionFailure(first, rusqlite::types::Type::Text, Box::new(error));
            UsageKey::Day(row.get::<_, String>(first)?.parse().map_err(unreadable)?)
        }
        UsageGrouping::Model => {
            let mut runtimes: Vec<String> = serde_json::from_str(&row.get::<_, String>(first + 1)?).unwrap_or_default();
            runtimes.sort();
            UsageKey::Model { model: row.get(first)?, runtimes }
        }
        UsageGrouping::Runtime => UsageKey::Runtime(row.get(first)?),
        UsageGrouping::Session => UsageKey::Session {
            id: SessionId::from_number(row.get(first)?),
            title: row.get(first + 1)?,
            runtime: row.get(first + 2)?,
            deleted: row.get(first + 3)?,
        },
    })
}

/// Reads the columns of [`SUMS`].
fn total(row: &Row<'_>) -> rusqlite::Result<UsageTotal> {
    let figure = |position: usize| 1 + 2 * position;
    let unknown = |position: usize| row.get(2 + 2 * position);
    Ok(UsageTotal {
        reports: row.get(0)?,
        usage: Usage {
            cost_usd: row.get(figure(0))?,
            input_tokens: row.get(figure(1))?,
            output_tokens: row.get(figure(2))?,
            cache_read: row.get(figure(3))?,
            cache_creation: row.get(figure(4))?,
            duration_ms: row.get(figure(5))?,
            num_turns: row.get(figure(6))?,
            premium_requests: row.get(figure(7))?,
            credits: row.get(figure(8))?,
            model: None,
            code_changes: None,
        },
        unknown: UnknownFigures {
            cost_usd: unknown(0)?,
            input_tokens: unknown(1)?,
            output_tokens: unknown(2)?,
            cache_read: unknown(3)?,
            cache_creation: unknown(4)?,
            duration_ms: unknown(5)?,
            num_turns: unknown(6)?,
            premium_requests: unknown(7)?,
            credits: unknown(8)?,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::sqlite::schema;

    fn database() -> Connection {
        let mut database = Connection::open_in_memory().expect("opened");
        schema::MIGRATIONS.to_latest(&mut database).expect("the last version");
        database
    }

    fn report(day: &str, usage: Usage) -> UsageReport {
        let day = day.parse().expect("a day");
        UsageReport { day, runtime: "demo".to_owned(), model: "m".to_owned(), usage }
    }

    #[test]
    fn a_sum_of_unknowns_is_unknown_and_a_mixed_one_says_how_many_it_lacks() {
        let database = database();
        let session = SessionId::from_number(1);
        let with = |input_tokens, cost_usd| Usage { cost_usd, input_tokens, ..Usage::default() };
        for usage in [with(Some(0), None), with(None, None), with(Some(5), None)] {
            record(&database, session, &report("2026-01-02", usage)).expect("recorded");
        }
        record(&database, session, &report("2026-01-03", with(Some(7), Some(0.5)))).expect("recorded");
        let sum = |days: &str| {
            let select = format!("SELECT {} FROM usage_by_day WHERE day IN ({days})", *SUMS);
            database.query_row(&select, [], total).expect("read")
        };
        let one_day = sum("'2026-01-02'");
        assert_eq!((one_day.reports, one_day.usage.input_tokens, one_day.unknown.input_tokens), (3, Some(5), 1));
        assert_eq!((one_day.usage.cost_usd, one_day.unknown.cost_usd), (None, 3));
        let both = sum("'2026-01-02', '2026-01-03'");
        assert_eq!((both.usage.input_tokens, both.usage.cost_usd, both.unknown.cost_usd), (Some(12), Some(0.5), 3));
        assert_eq!(sum("'2026-01-04'"), UsageTotal::default(), "nothing is unknown, not 0");
    }

    #[test]
    fn a_report_takes_one_row_and_no_scan() {
        let database = database();
        let plan: String = database
            .query_row(
                "EXPLAIN QUERY PLAN SELECT 1 FROM usage_by_day
                 WHERE day = '2026-01-02' AND session = 1 AND runtime = 'demo' AND model = 'm'",
                [],
                |row| row.get(3),
            )
            .expect("a plan");
        assert!(plan.starts_with("SEARCH") && plan.contains("PRIMARY KEY"), "{plan}");
        let day: String = database
            .query_row("EXPLAIN QUERY PLAN SELECT 1 FROM usage_by_day WHERE day BETWEEN 'a' AND 'b'", [], |row| {
                row.get(3)
            })
            .expect("a plan");
        assert!(day.starts_with("SEARCH"), "{day}");
    }
}
