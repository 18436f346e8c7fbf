//! Databases of earlier versions.

#[test]
fn the_migrations_fit_together() {
    super::MIGRATIONS.validate().expect("valid");
}

#[test]
fn what_the_first_version_kept_is_there_in_the_last() {
    let mut database = rusqlite::Connection::open_in_memory().expect("opened");
    super::MIGRATIONS.to_version(&mut database, 1).expect("the first version");
    let session = "INSERT INTO session (title, runtime, model, permissions, options, state, created_at, updated_at)
                   VALUES ('old', 'demo', 'demo', '{}', '{}', 'ready', 1, 1)";
    database.execute(session, []).expect("written");
    super::MIGRATIONS.to_latest(&mut database).expect("the last version");
    let (title, usage): (String, Option<String>) =
        database.query_row("SELECT title, usage FROM session", [], |row| Ok((row.get(0)?, row.get(1)?))).expect("read");
    assert_eq!((title.as_str(), usage), ("old", None));
}

#[test]
fn a_database_of_the_third_version_keeps_its_numbers_and_gains_starts_and_outcomes() {
    let mut database = rusqlite::Connection::open_in_memory().expect("opened");
    super::MIGRATIONS.to_version(&mut database, 3).expect("the third version");
    database
        .execute_batch(
            "INSERT INTO session (id, runtime, model, permissions, options, state, created_at, updated_at,
                   seq_floor, seq_reserved)
               VALUES (3, 'demo', 'demo', '{}', '{}', 'ready', 1, 1, 7, 70000);
               INSERT INTO prompt (session, number, fingerprint, text, attachments, state, outcome)
               VALUES (3, 5, '', 'a', '[]', 'ended', '{}'), (3, 6, '', 'b', '[]', 'queued', NULL);
               INSERT INTO dropped_range (first, last, block) VALUES (1, 9, 1), (20, 29, NULL);",
        )
        .expect("written");
    for (number, body) in [
        (1, r#"{"callback":"onStartToolExecution","toolCallId":"a","toolName":"x"}"#),
        (2, r#"{"callback":"onEndToolExecution","toolCallId":"a"}"#),
        (3, r#"{"callback":"onStartToolExecution","toolCallId":"a","toolName":"y"}"#),
        (4, r#"{"callback":"onEndToolExecution","toolCallId":"a"}"#),
        (5, r#"{"callback":"onEndToolExecution","toolCallId":"b"}"#),
    ] {
        let row = (3_i64 << 40 | number, body.as_bytes());
        database.execute("INSERT INTO event (id, time, body) VALUES (?1, 0, ?2)", row).expect("written");
    }
    super::MIGRATIONS.to_latest(&mut database).expect("the last version");
    let numbers = |sql: &str| -> Vec<Option<i64>> {
        let mut statement = database.prepare(sql).expect("prepared");
        statement.query_map([], |row| row.get(0)).expect("read").collect::<Result<_, _>>().expect("rows")
    };
    assert_eq!(numbers("SELECT floor FROM stream UNION ALL SELECT reserved FROM stream"), [Some(7), Some(70_000)]);
    assert_eq!(numbers("SELECT prompt_reserved FROM session"), [Some(70)]);
    assert_eq!(numbers("SELECT outcome_seq FROM prompt ORDER BY number"), [Some(1), None]);
    assert_eq!(numbers("SELECT block FROM event ORDER BY id"), [None, Some(1), None, Some(3), None]);
    assert_eq!(numbers("SELECT last FROM dropped_range ORDER BY id"), [Some(8), Some(29)]);
}

#[test]
fn usage_of_earlier_versions_lacks_credits_and_does_not_count_as_none() {
    let mut database = rusqlite::Connection::open_in_memory().expect("opened");
    super::MIGRATIONS.to_version(&mut database, 5).expect("the fifth version");
    database
        .execute(
            "INSERT INTO usage_by_day VALUES
                 ('2026-03-01', 1, 'copilot', 'm', 3, NULL, 3, 5, 0, 5, 0, 0, 0, 0, 0, 0, 0, 3, 0, 1.0, 0)",
            [],
        )
        .expect("written");
    super::MIGRATIONS.to_latest(&mut database).expect("the last version");
    let row: (Option<f64>, u32) = database
        .query_row("SELECT credits, credits_unknown FROM usage_by_day", [], |row| Ok((row.get(0)?, row.get(1)?)))
        .expect("read");
    assert_eq!(row, (None, 3));
}

#[test]
fn a_database_without_jobs_keeps_its_readers_and_can_have_jobs() {
    let mut database = rusqlite::Connection::open_in_memory().expect("opened");
    super::MIGRATIONS.to_version(&mut database, 11).expect("the eleventh version");
    database
        .execute_batch(
            "INSERT INTO session (id, runtime, model, permissions, options, state, created_at, updated_at)
               VALUES (3, 'demo', 'demo', '{}', '{}', 'ready', 1, 1);
             INSERT INTO stream (id, reserved) VALUES (3, 65536);
             INSERT INTO reader (session, token, position, done, seen_at) VALUES (3, 'a', 7, 1, 5);",
        )
        .expect("written");
    super::MIGRATIONS.to_latest(&mut database).expect("the last version");
    let reader: (i64, String, u32) = database
        .query_row("SELECT stream, token, position FROM reader", [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .expect("read");
    let stream = super::super::events::stream_key(crate::model::SessionId::from_number(3).into());
    assert_eq!(reader, (stream, "a".to_owned(), 7));
    let job: Option<String> = database.query_row("SELECT job FROM session", [], |row| row.get(0)).expect("read");
    assert_eq!(job, None);
    for table in ["job", "task", "trusted_entry"] {
        let count = format!("SELECT count(*) FROM {table}");
        assert_eq!(database.query_row(&count, [], |row| row.get::<_, u32>(0)).expect("read"), 0);
    }
}

type UsageRow = (String, u32, String, u32, Option<f64>, u32, Option<u32>, Option<u32>, u32);

#[test]
fn usage_that_the_second_version_only_had_in_its_logs_is_counted_in_the_third() {
    let mut database = rusqlite::Connection::open_in_memory().expect("opened");
    super::MIGRATIONS.to_version(&mut database, 2).expect("the second version");
    let session = "INSERT INTO session (id, runtime, model, permissions, options, state, created_at, updated_at)
                   VALUES (3, 'copilot', 'gpt-5.2', '{}', '{}', 'ready', 1, 1)";
    database.execute(session, []).expect("written");
    let noon = 1_700_049_600_000_i64;
    let day = 24 * 3600 * 1000;
    for (number, time, body) in [
        (1, noon, r#"{"callback":"onUsage","costUsd":null,"inputTokens":5,"outputTokens":null}"#),
        (2, noon, r#"{"callback":"onUsage","costUsd":null,"inputTokens":7,"outputTokens":2}"#),
        (3, noon, r#"{"callback":"onUsageOfAnotherKind","inputTokens":1000}"#),
        (4, noon, r#"{"callback":"onMessage","messageId":"m","delta":"{\"callback\":\"onUsage\"}"}"#),
        (5, noon + day, r#"{"callback":"onUsage","costUsd":0.25,"inputTokens":1}"#),
    ] {
        let row = (3_i64 << 40 | number, time, body.as_bytes());
        database.execute("INSERT INTO event (id, time, body) VALUES (?1, ?2, ?3)", row).expect("written");
    }
    super::MIGRATIONS.to_latest(&mut database).expect("the last version");
    let rows: Vec<UsageRow> = database
        .prepare(
            "SELECT day, session, model, reports, cost_usd, cost_usd_unknown, input_tokens, output_tokens,
                    output_tokens_unknown FROM usage_by_day ORDER BY day",
        )
        .expect("prepared")
        .query_map([], |row| {
            let (first, second) = ((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?), row.get(4)?);
            let (day, session, model, reports) = first;
            Ok((day, session, model, reports, second, row.get(5)?, row.get(6)?, row.get(7)?, row.get(8)?))
        })
        .expect("read")
        .collect::<rusqlite::Result<_>>()
        .expect("rows");
    let row = |day: &str, reports, cost, unknown_costs, input, output, unknown_outputs| {
        (day.to_owned(), 3, "gpt-5.2".to_owned(), reports, cost, unknown_costs, input, output, unknown_outputs)
    };
    assert_eq!(
        rows,
        [row("2023-11-15", 2, None, 2, Some(12), Some(2), 1), row("2023-11-16", 1, Some(0.25), 0, Some(1), None, 1),]
    );
}
