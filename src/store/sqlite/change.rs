//! Writing changes of a session's record.

use rusqlite::{Connection, params};
use serde::Serialize;

use super::{folder_rules, positions, usage};
use crate::model::{SessionId, StreamId, Timestamp};
use crate::store::{Change, OutcomeSeq};

fn json<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).expect("plain values")
}

#[expect(clippy::too_many_lines, reason = "one arm for each change")]
pub(super) fn write(
    connection: &Connection,
    session: SessionId,
    time: Timestamp,
    change: &Change,
    last_outcome: &mut OutcomeSeq,
) -> rusqlite::Result<()> {
    let id = session.number();
    let execute =
        |sql: &str, parameters: &[&dyn rusqlite::ToSql]| connection.prepare_cached(sql)?.execute(parameters).map(drop);
    match change {
        Change::State(state, detail) => execute(
            "UPDATE session SET state = ?2, state_detail = ?3 WHERE id = ?1",
            params![id, state.as_str(), detail],
        ),
        Change::Title(title) => execute("UPDATE session SET title = ?2 WHERE id = ?1", params![id, title]),
        Change::TitleGiven(title) => {
            execute("UPDATE session SET title = ?2, title_is_given = 1 WHERE id = ?1", params![id, title])
        }
        Change::Model(model, effort) => {
            execute("UPDATE session SET model = ?2, effort = ?3 WHERE id = ?1", params![id, model, effort])
        }
        Change::Permissions(policy) => {
            execute("UPDATE session SET permissions = ?2 WHERE id = ?1", params![id, json(policy)])
        }
        Change::FolderRuleAdded(rule) => folder_rules::add(connection, rule, time),
        Change::SessionLost(loss) => execute("UPDATE session SET loss = ?2 WHERE id = ?1", params![id, json(loss)]),
        Change::AgentSession(agent) => {
            execute("UPDATE session SET agent_session_id = ?2 WHERE id = ?1", params![id, agent])
        }
        Change::Turn(turn) => {
            execute("UPDATE session SET turn = ?2 WHERE id = ?1", params![id, turn.as_ref().map(json)])
        }
        Change::TurnOver(turn) => execute("UPDATE session SET last_turn = ?2 WHERE id = ?1", params![id, json(turn)]),
        Change::ClosedAt(moment) => {
            execute("UPDATE session SET closed_at = ?2 WHERE id = ?1", params![id, moment.map(Timestamp::as_millis)])
        }
        Change::PromptAccepted(prompt) => execute(
            "INSERT INTO prompt (session, number, idempotency_key, fingerprint, text, attachments, is_first, place,
                     is_continuation, state)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, 'queued')",
            params![
                id,
                prompt.id.number(),
                prompt.idempotency_key,
                prompt.fingerprint,
                prompt.text,
                prompt.attachments,
                prompt.place.is_first,
                prompt.place.number,
                prompt.is_continuation
            ],
        ),
        Change::PromptText(prompt, text) => execute(
            "UPDATE prompt SET text = ?3 WHERE session = ?1 AND number = ?2",
            params![id, prompt.number(), text],
        ),
        Change::PromptMoved(prompt, place) => execute(
            "UPDATE prompt SET is_first = ?3, place = ?4 WHERE session = ?1 AND number = ?2",
            params![id, prompt.number(), place.is_first, place.number],
        ),
        Change::Commands(commands) => {
            execute("UPDATE session SET commands = ?2 WHERE id = ?1", params![id, json(commands)])
        }
        Change::PromptStarted(prompt) => execute(
            "UPDATE prompt SET state = 'running' WHERE session = ?1 AND number = ?2",
            params![id, prompt.number()],
        ),
        Change::PromptPutBack(prompt) => execute(
            "UPDATE prompt SET state = 'queued' WHERE session = ?1 AND number = ?2",
            params![id, prompt.number()],
        ),
        Change::PromptEnded(prompt, outcome) => {
            *last_outcome += 1;
            execute(
                // The attachments of a prompt that may be asked again are kept.
                "UPDATE prompt SET state = 'ended', attachments = iif(?5, attachments, '[]'), outcome = ?3,
                     outcome_seq = ?4 WHERE session = ?1 AND number = ?2",
                params![id, prompt.number(), json(outcome), *last_outcome, outcome.verdict.may_be_repeated()],
            )
        }
        Change::RequestOpened(request) => execute(
            "INSERT INTO request (session, id, body) VALUES (?1, ?2, ?3)",
            params![id, request.request_id.as_str(), json(request)],
        ),
        Change::RequestClosed { request_id, outcome, by } => execute(
            "UPDATE request SET decision = ?3, answered_by = ?4 WHERE session = ?1 AND id = ?2",
            params![id, request_id.as_str(), outcome.as_str(), by.as_str()],
        ),
        Change::BlobUsed { hash, mime, size } => execute(
            "INSERT OR IGNORE INTO blob_use (session, hash, mime, size) VALUES (?1, ?2, ?3, ?4)",
            params![id, hash, mime, size],
        ),
        Change::Usage(usage) => execute("UPDATE session SET usage = ?2 WHERE id = ?1", params![id, json(usage)]),
        Change::UsageReported(report) => usage::record(connection, session, report),
        Change::Budget(budget) => execute("UPDATE session SET budget = ?2 WHERE id = ?1", params![id, json(budget)]),
        Change::BudgetNotified(news) => {
            execute("UPDATE session SET budget_told = ?2 WHERE id = ?1", params![id, json(news)])
        }
        Change::Continuation(continuation) => execute(
            "UPDATE session SET continuation = ?2 WHERE id = ?1",
            params![id, (!continuation.is_empty()).then(|| json(continuation))],
        ),
        Change::Context(usage) => execute("UPDATE session SET context = ?2 WHERE id = ?1", params![id, json(usage)]),
        Change::ReadersReopened => positions::reopen(connection, session.into()),
        // Happenings are written by the caller, for sessions and jobs alike.
        Change::Happened(_)
        | Change::HappeningOver(_)
        | Change::RunStatus { .. }
        | Change::RunSettled
        | Change::PersonDecided
        | Change::TaskCreated { .. } => Err(misplaced(session.into())),
    }
}

/// A change is in a log where it does not belong.
pub(super) fn misplaced(stream: StreamId) -> rusqlite::Error {
    rusqlite::Error::ToSqlConversionFailure(Change::misplaced(stream).into())
}
