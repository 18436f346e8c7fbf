//! The tables, as migrations that are only ever added to.

use std::sync::LazyLock;

use rusqlite_migration::{M, Migrations};

/// Every version of the schema, oldest first.
pub(super) static MIGRATIONS: LazyLock<Migrations<'static>> = LazyLock::new(|| {
    Migrations::new(vec![
        M::up(
            "
        CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

        -- AUTOINCREMENT: an old id never names a new session, even after the newest one was deleted.
        CREATE TABLE session (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            title TEXT,
            runtime TEXT NOT NULL,
            model TEXT NOT NULL,
            effort TEXT,
            working_directory TEXT,
            permissions TEXT NOT NULL,
            system_prompt TEXT,
            options TEXT NOT NULL,
            state TEXT NOT NULL,
            state_detail TEXT,
            agent_session_id TEXT,
            created_at INTEGER NOT NULL,
            updated_at INTEGER NOT NULL,
            closed_at INTEGER,
            -- The open turn, as JSON, so that a restart can close it or go on with it.
            turn TEXT,
            -- Numbers up to here may have been seen before a power cut.
            seq_floor INTEGER NOT NULL DEFAULT 0,
            -- Numbers up to here may be given; raised durably, in large steps.
            seq_reserved INTEGER NOT NULL DEFAULT 65536
        );
        CREATE INDEX session_by_state ON session (state, id);
        CREATE INDEX session_with_turn ON session (id) WHERE turn IS NOT NULL;
        CREATE INDEX session_by_close ON session (closed_at) WHERE closed_at IS NOT NULL;

        -- One row per event. The key is session << 40 | number: a session's log is one range of the table's own
        -- tree, so appending, paging and dropping need no index.
        CREATE TABLE event (
            id INTEGER PRIMARY KEY,
            time INTEGER NOT NULL,
            -- For a delta, the number of the start of its block; else NULL.
            block INTEGER,
            body BLOB NOT NULL
        );

        -- Ranges of events that are to go, too long to be dropped in one transaction.
        CREATE TABLE dropped_range (
            id INTEGER PRIMARY KEY,
            first INTEGER NOT NULL,
            last INTEGER NOT NULL,
            block INTEGER
        );

        CREATE TABLE prompt (
            session INTEGER NOT NULL,
            number INTEGER NOT NULL,
            idempotency_key TEXT,
            -- What a repetition with the same key must match, attachments included.
            fingerprint TEXT NOT NULL,
            text TEXT NOT NULL,
            attachments TEXT NOT NULL,
            state TEXT NOT NULL,
            outcome TEXT,
            PRIMARY KEY (session, number)
        ) WITHOUT ROWID;
        CREATE UNIQUE INDEX prompt_by_key ON prompt (session, idempotency_key) WHERE idempotency_key IS NOT NULL;
        CREATE INDEX prompt_queued ON prompt (session, number) WHERE state = 'queued';

        CREATE TABLE request (
            session INTEGER NOT NULL,
            id TEXT NOT NULL,
            body TEXT NOT NULL,
            decision TEXT,
            answered_by TEXT,
            PRIMARY KEY (session, id)
        ) WITHOUT ROWID;
        CREATE INDEX request_open ON request (session) WHERE decision IS NULL;

        -- Portal readers. The empty token is the shared cursor of `live`.
        CREATE TABLE reader (
            session INTEGER NOT NULL,
            token TEXT NOT NULL,
            position INTEGER NOT NULL,
            done INTEGER NOT NULL,
            seen_at INTEGER NOT NULL,
            PRIMARY KEY (session, token)
        ) WITHOUT ROWID;

        CREATE TABLE blob_use (
            session INTEGER NOT NULL,
            hash TEXT NOT NULL,
            mime TEXT NOT NULL,
            size INTEGER NOT NULL,
            PRIMARY KEY (session, hash)
        ) WITHOUT ROWID;
        CREATE INDEX blob_use_by_hash ON blob_use (hash);

        -- Browsers that are logged in; only a hash of what they hold.
        CREATE TABLE login (
            hash TEXT PRIMARY KEY,
            expires_at INTEGER NOT NULL
        ) WITHOUT ROWID;
        ",
        ),
        M::up(
            "
        -- What the session has cost and how full the agent's memory is, as JSON.
        ALTER TABLE session ADD COLUMN usage TEXT;
        ALTER TABLE session ADD COLUMN context TEXT;
        CREATE INDEX session_by_agent ON session (runtime, agent_session_id) WHERE agent_session_id IS NOT NULL;
        ",
        ),
    ])
});

#[cfg(test)]
mod tests {
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
        let (title, usage): (String, Option<String>) = database
            .query_row("SELECT title, usage FROM session", [], |row| Ok((row.get(0)?, row.get(1)?)))
            .expect("read");
        assert_eq!((title.as_str(), usage), ("old", None));
    }
}
