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
        M::up(
            "
        -- What was used. No row goes when its session does: what a day cost does not change afterwards. A figure is
        -- NULL while no report had it; its twin counts the reports that left it out.
        CREATE TABLE usage_by_day (
            day TEXT NOT NULL,
            session INTEGER NOT NULL,
            runtime TEXT NOT NULL,
            model TEXT NOT NULL,
            reports INTEGER NOT NULL,
            cost_usd REAL, cost_usd_unknown INTEGER NOT NULL,
            input_tokens INTEGER, input_tokens_unknown INTEGER NOT NULL,
            output_tokens INTEGER, output_tokens_unknown INTEGER NOT NULL,
            cache_read INTEGER, cache_read_unknown INTEGER NOT NULL,
            cache_creation INTEGER, cache_creation_unknown INTEGER NOT NULL,
            duration_ms INTEGER, duration_ms_unknown INTEGER NOT NULL,
            num_turns INTEGER, num_turns_unknown INTEGER NOT NULL,
            premium_requests REAL, premium_requests_unknown INTEGER NOT NULL,
            PRIMARY KEY (day, session, runtime, model)
        ) WITHOUT ROWID;

        -- What earlier versions wrote to the logs counts too. Which model it was they did not write; it is taken for
        -- the one that the session has now.
        WITH report AS (
            SELECT strftime('%Y-%m-%d', event.time / 1000, 'unixepoch') AS day, session.id AS session,
                   session.runtime AS runtime, session.model AS model, CAST(event.body AS TEXT) AS body
            FROM event JOIN session ON session.id = event.id >> 40
            WHERE event.block IS NULL AND substr(event.body, 1, 21) = CAST('{\"callback\":\"onUsage\"' AS BLOB)
        ), figure AS (
            SELECT day, session, runtime, model,
                   json_extract(body, '$.costUsd') AS cost_usd,
                   json_extract(body, '$.inputTokens') AS input_tokens,
                   json_extract(body, '$.outputTokens') AS output_tokens,
                   json_extract(body, '$.cacheRead') AS cache_read,
                   json_extract(body, '$.cacheCreation') AS cache_creation,
                   json_extract(body, '$.durationMs') AS duration_ms,
                   json_extract(body, '$.numTurns') AS num_turns,
                   json_extract(body, '$.premiumRequests') AS premium_requests
            FROM report WHERE json_valid(body) AND day IS NOT NULL
        )
        INSERT INTO usage_by_day
        SELECT day, session, runtime, model, count(*),
               sum(cost_usd), sum(cost_usd IS NULL),
               sum(min(input_tokens, 1 << 40)), sum(input_tokens IS NULL),
               sum(min(output_tokens, 1 << 40)), sum(output_tokens IS NULL),
               sum(min(cache_read, 1 << 40)), sum(cache_read IS NULL),
               sum(min(cache_creation, 1 << 40)), sum(cache_creation IS NULL),
               sum(min(duration_ms, 1 << 40)), sum(duration_ms IS NULL),
               sum(min(num_turns, 1 << 40)), sum(num_turns IS NULL),
               sum(premium_requests), sum(premium_requests IS NULL)
        FROM figure GROUP BY day, session, runtime, model;

        -- The session's own limits, and which of all limits it has been told of, both as JSON.
        ALTER TABLE session ADD COLUMN budget TEXT;
        ALTER TABLE session ADD COLUMN budget_told TEXT;
        ",
        ),
        M::up(
            "
        -- A log belongs to a stream: a session, with the session's number as its key, or a job.
        CREATE TABLE stream (
            id INTEGER PRIMARY KEY,
            -- Numbers up to here may have been seen before a power cut.
            floor INTEGER NOT NULL DEFAULT 0,
            -- Numbers up to here may be given; raised durably, in large steps.
            reserved INTEGER NOT NULL
        );
        INSERT INTO stream (id, floor, reserved) SELECT id, seq_floor, seq_reserved FROM session;
        ALTER TABLE session DROP COLUMN seq_floor;
        ALTER TABLE session DROP COLUMN seq_reserved;

        -- Who created the session, and the creator's own key with what it asked for.
        ALTER TABLE session ADD COLUMN origin TEXT NOT NULL DEFAULT 'user';
        ALTER TABLE session ADD COLUMN creation_key TEXT;
        ALTER TABLE session ADD COLUMN creation_fingerprint TEXT;
        CREATE UNIQUE INDEX session_by_creation_key ON session (creation_key) WHERE creation_key IS NOT NULL;

        -- Prompts are numbered and reserved like events. Requests are named after the number of their event.
        ALTER TABLE session ADD COLUMN prompt_floor INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE session ADD COLUMN prompt_reserved INTEGER NOT NULL DEFAULT 0;
        UPDATE session SET
            prompt_reserved = 64 + coalesce((SELECT max(number) FROM prompt WHERE prompt.session = session.id), 0);

        -- Outcomes of all sessions can be read in the order in which turns ended. That order was not kept so far.
        ALTER TABLE prompt ADD COLUMN outcome_seq INTEGER;
        UPDATE prompt SET outcome_seq = numbered.position FROM (
            SELECT session, number, row_number() OVER (ORDER BY session, number) AS position FROM prompt
            WHERE outcome IS NOT NULL
        ) AS numbered WHERE prompt.session = numbered.session AND prompt.number = numbered.number;
        CREATE UNIQUE INDEX prompt_by_outcome ON prompt (outcome_seq) WHERE outcome_seq IS NOT NULL;

        -- The end of a block refers to its start, as deltas do. So far the ends of tool calls did not, and they are what
        -- is asked for. A range that is being dropped must not take the end with it.
        UPDATE dropped_range SET last = last - 1 WHERE block IS NOT NULL;
        CREATE TEMP TABLE tool_start AS
            SELECT id, id >> 40 AS stream, json_extract(CAST(body AS TEXT), '$.toolCallId') AS call FROM event
            WHERE block IS NULL AND substr(body, 1, 34) = CAST('{\"callback\":\"onStartToolExecution\"' AS BLOB)
              AND json_valid(CAST(body AS TEXT));
        CREATE INDEX tool_start_by_call ON tool_start (stream, call, id);
        UPDATE event SET block = (
            SELECT max(tool_start.id) & ((1 << 40) - 1) FROM tool_start
            WHERE tool_start.stream = event.id >> 40 AND tool_start.id < event.id
              AND tool_start.call = json_extract(CAST(event.body AS TEXT), '$.toolCallId')
        )
        WHERE block IS NULL AND substr(body, 1, 32) = CAST('{\"callback\":\"onEndToolExecution\"' AS BLOB)
          AND json_valid(CAST(body AS TEXT));
        DROP TABLE tool_start;
        ",
        ),
        M::up(
            "
        -- A login is a cookie and a secret now. Those that have a cookie alone must log in again.
        DELETE FROM login;
        ALTER TABLE login ADD COLUMN secret TEXT NOT NULL DEFAULT '';
        ",
        ),
        M::up(
            "
        -- Answers that the agent has not received, and what follows from them, as JSON.
        ALTER TABLE session ADD COLUMN continuation TEXT;
        -- A prompt that comes before others that wait, because it continues or repeats work that was cut off.
        ALTER TABLE prompt ADD COLUMN is_first INTEGER NOT NULL DEFAULT 0;
        ",
        ),
        M::up(
            "
        -- AI credits. No earlier version knew them, so every report so far lacks them.
        ALTER TABLE usage_by_day ADD COLUMN credits REAL;
        ALTER TABLE usage_by_day ADD COLUMN credits_unknown INTEGER NOT NULL DEFAULT 0;
        UPDATE usage_by_day SET credits_unknown = reports;

        -- Whether a person chose the title. For sessions of earlier versions nobody knows.
        ALTER TABLE session ADD COLUMN title_is_given INTEGER NOT NULL DEFAULT 0;
        ",
        ),
        M::up(
            "
        -- Rules for all sessions whose working directory is this folder. AUTOINCREMENT: an old id never names a new rule.
        CREATE TABLE folder_rule (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            folder NOT NULL,
            -- As JSON.
            rule TEXT NOT NULL,
            added_at INTEGER NOT NULL,
            UNIQUE (folder, rule)
        );

        -- The newest loss of the agent's own session, as JSON.
        ALTER TABLE session ADD COLUMN loss TEXT;
        ",
        ),
        M::up(
            "
        -- Sessions of agents that captures use: written before the agent makes them, removed after it has deleted them.
        CREATE TABLE capture_session (
            id TEXT PRIMARY KEY,
            runtime TEXT NOT NULL,
            -- The open calls and what identifies their conversation, as JSON; NULL if nobody can continue it.
            waits_for TEXT,
            expires_at INTEGER NOT NULL
        ) WITHOUT ROWID;
        ",
        ),
        M::up(
            "
        -- Tokens with scopes; only the hash of the secret. AUTOINCREMENT: an id in a log or a bill never names another
        -- token. Scopes are words, separated by spaces.
        CREATE TABLE token (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            hash TEXT NOT NULL UNIQUE,
            name TEXT,
            scopes TEXT NOT NULL,
            created_at INTEGER NOT NULL,
            expires_at INTEGER,
            last_used_at INTEGER,
            revoked_at INTEGER
        );
        ",
        ),
        M::up(
            "
        -- Captured calls, without their contents. AUTOINCREMENT: numbers are cursors, so none is given twice. The usage
        -- is JSON.
        CREATE TABLE capture_call (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            at INTEGER NOT NULL,
            token_id TEXT NOT NULL,
            dialect TEXT NOT NULL,
            model TEXT NOT NULL,
            mode TEXT NOT NULL,
            tools INTEGER NOT NULL,
            outcome TEXT NOT NULL,
            error TEXT,
            usage TEXT NOT NULL,
            duration_ms INTEGER NOT NULL
        );
        CREATE INDEX capture_call_by_time ON capture_call (at);
        ",
        ),
        M::up(
            "
        -- AUTOINCREMENT: an old id never names a new job. The largest columns come last, so that a list does not read
        -- the plan.
        CREATE TABLE job (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            name TEXT NOT NULL,
            working_directory NOT NULL,
            origin TEXT NOT NULL,
            status TEXT NOT NULL,
            error TEXT,
            started_at INTEGER NOT NULL,
            ended_at INTEGER,
            is_settled INTEGER NOT NULL DEFAULT 0,
            creation_key TEXT,
            creation_fingerprint TEXT,
            user_input TEXT NOT NULL,
            -- What it does, as JSON.
            plan TEXT NOT NULL
        );
        CREATE UNIQUE INDEX job_by_creation_key ON job (creation_key) WHERE creation_key IS NOT NULL;
        CREATE INDEX job_by_status ON job (status, id);
        CREATE INDEX job_by_end ON job (ended_at) WHERE ended_at IS NOT NULL;
        CREATE INDEX job_unsettled ON job (id) WHERE is_settled = 0;

        -- Numbers of tasks are reserved in `meta`. A task either belongs to a job, in whose log it is, or runs in a
        -- person's session and has all other columns and a log of its own.
        CREATE TABLE task (
            id INTEGER PRIMARY KEY,
            job INTEGER,
            work_id INTEGER,
            session INTEGER,
            name TEXT,
            status TEXT,
            error TEXT,
            started_at INTEGER,
            ended_at INTEGER,
            is_settled INTEGER,
            user_input TEXT,
            plan TEXT,
            CHECK ((job IS NULL) <> (session IS NULL))
        );
        CREATE INDEX task_by_job ON task (job) WHERE job IS NOT NULL;
        CREATE INDEX task_by_session ON task (session) WHERE session IS NOT NULL;
        CREATE INDEX task_unsettled ON task (id) WHERE is_settled = 0;

        -- The job and task that a session works for, as JSON.
        ALTER TABLE session ADD COLUMN job TEXT;
        CREATE INDEX session_by_job ON session (json_extract(job, '$.jobId'), id) WHERE job IS NOT NULL;

        -- Jobs and tasks have readers too. The key of a session's stream is the session's number.
        ALTER TABLE reader RENAME COLUMN session TO stream;

        -- Entries of jobs that a person trusts, by the hash of their file.
        CREATE TABLE trusted_entry (
            path PRIMARY KEY NOT NULL,
            hash TEXT NOT NULL,
            trusted_at INTEGER NOT NULL
        ) WITHOUT ROWID;
        ",
        ),
        M::up(
            "
        -- What people may want to be notified of, until its deliveries are planned. Written with what it reports.
        CREATE TABLE happening (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            stream INTEGER NOT NULL,
            session INTEGER,
            job INTEGER,
            at INTEGER NOT NULL,
            key TEXT NOT NULL,
            kind TEXT NOT NULL,
            reason TEXT NOT NULL,
            text TEXT NOT NULL,
            duration_ms INTEGER
        );
        CREATE INDEX happening_by_key ON happening (stream, key);

        -- One notification to one target. AUTOINCREMENT: the number is what a receiver recognises a repetition by.
        CREATE TABLE delivery (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            stream INTEGER NOT NULL,
            session INTEGER,
            job INTEGER,
            at INTEGER NOT NULL,
            key TEXT NOT NULL,
            kind TEXT NOT NULL,
            reason TEXT NOT NULL,
            text TEXT NOT NULL,
            duration_ms INTEGER,
            target TEXT NOT NULL,
            title TEXT NOT NULL,
            folder TEXT NOT NULL,
            state TEXT NOT NULL,
            attempts INTEGER NOT NULL,
            -- When it is due, or when it ended.
            due_at INTEGER NOT NULL,
            error TEXT,
            UNIQUE (stream, key, target)
        );
        CREATE INDEX delivery_open ON delivery (target, due_at) WHERE state IN ('pending', 'held');
        CREATE INDEX delivery_by_time ON delivery (at);
        ",
        ),
        M::up(
            "
        -- How the last turn ended, as JSON, and up to which event a page has shown the session.
        ALTER TABLE session ADD COLUMN last_turn TEXT;
        ALTER TABLE session ADD COLUMN seen_seq INTEGER NOT NULL DEFAULT 0;
        ",
        ),
        M::up(
            "
        -- Browsers that notifications are pushed to. AUTOINCREMENT: deliveries name them by number.
        CREATE TABLE browser (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            endpoint TEXT NOT NULL UNIQUE,
            public_key TEXT NOT NULL,
            secret TEXT NOT NULL,
            -- Words, separated by spaces.
            events TEXT NOT NULL,
            name TEXT NOT NULL,
            -- The login that it ends with.
            login TEXT,
            added_at INTEGER NOT NULL
        );
        ",
        ),
        M::up(
            "
        -- Where a prompt stands among those that wait; NULL for its own number.
        ALTER TABLE prompt ADD COLUMN place INTEGER;
        -- Whether it carries answers to requests. Nobody knows which of those that came first did so far.
        ALTER TABLE prompt ADD COLUMN is_continuation INTEGER NOT NULL DEFAULT 0;
        UPDATE prompt SET is_continuation = is_first WHERE state = 'queued';
        -- The commands that the agent understands, as JSON.
        ALTER TABLE session ADD COLUMN commands TEXT;
        ",
        ),
    ])
});

#[cfg(test)]
mod tests;
