//! Flightdeck's own routes: JSON bodies and HTTP status codes.

mod agent_sessions;
mod block_batch;
mod blocks;
mod captures;
mod changes;
mod changes_revert;
mod changes_shapes;
mod conformance;
mod details;
mod doctor;
mod export;
mod files;
mod folder_rules;
mod folders;
mod fork;
mod inbox;
mod installs;
mod job_entry;
mod job_stream;
mod jobs;
mod log;
mod models;
mod notifications;
mod outline;
mod prompt;
mod prompt_templates;
mod providers;
mod push;
mod queue;
mod requests;
mod runtimes;
mod search;
mod seen;
mod server;
mod sessions;
mod settings;
mod stream;
mod tokens;
mod usage;

use std::sync::Arc;

pub(super) use agent_sessions::{adopt, agent_sessions};
pub(super) use block_batch::blocks;
pub(super) use blocks::block;
pub(super) use captures::captures;
pub(super) use changes::{changed_file, changes, changes_patch};
pub(super) use changes_revert::{revert_change, undo_revert};
pub(super) use conformance::conformance;
pub(super) use doctor::doctor;
pub(super) use export::export;
pub(super) use files::files;
pub(super) use folder_rules::{folder_rules, remove_folder_rule};
pub(super) use folders::folders;
pub(super) use fork::fork;
pub(super) use inbox::inbox;
pub(super) use installs::{cancel_install, install, install_progress};
pub(super) use job_entry::{entry, entry_schema, trust_entry};
pub(super) use job_stream::job_events;
pub(super) use jobs::{
    approve_job, gate_prompt, job_details, job_log, list_jobs, reject_job, retry_job, start_job, stop_job,
};
pub(super) use log::{blob, log};
pub(super) use models::models;
pub use models::models_reply;
pub(super) use notifications::{notifications, test_notification};
pub(super) use outline::outline;
pub(super) use prompt::{ask_again, interrupt, prompt};
pub(super) use prompt_templates::{prompt_templates, remove_prompt_template, save_prompt_template};
pub(super) use providers::test_provider;
pub(super) use push::{add_browser, push_overview, remove_browser};
pub(super) use queue::{cancel_prompt, change_prompt, order_queue};
pub(super) use requests::{answer_permission, answer_question};
pub use runtimes::runtimes_reply;
pub(super) use runtimes::{cancel_login, log_in, login_progress, runtimes};
pub(super) use search::search;
pub(super) use seen::mark_seen;
pub(super) use server::{health, login_code, ticket};
pub(super) use sessions::{
    create_session, delete_session, list_sessions, reopen, retry, session_details, update_session,
};
pub(super) use settings::{change_settings, settings};
pub(super) use stream::session_events;
pub(super) use tokens::{create_token, list_tokens, revoke_token};
pub(super) use usage::usage;
pub use usage::{UsageQuery, UsageQuestion, usage_report};

use super::app::App;
use super::error::{ApiError, ApiResult};
use super::openapi::Operation;
use crate::model::SessionId;
use crate::session::Session;

/// The operation of each of these routes.
pub(super) fn operations() -> Vec<Operation> {
    [
        agent_sessions::operations(),
        block_batch::operations(),
        blocks::operations(),
        captures::operations(),
        changes::operations(),
        changes_revert::operations(),
        conformance::operations(),
        doctor::operations(),
        export::operations(),
        files::operations(),
        folder_rules::operations(),
        folders::operations(),
        fork::operations(),
        inbox::operations(),
        installs::operations(),
        job_entry::operations(),
        job_stream::operations(),
        jobs::operations(),
        log::operations(),
        models::operations(),
        notifications::operations(),
        outline::operations(),
        prompt::operations(),
        prompt_templates::operations(),
        providers::operations(),
        push::operations(),
        queue::operations(),
        requests::operations(),
        runtimes::operations(),
        search::operations(),
        seen::operations(),
        server::operations(),
        sessions::operations(),
        settings::operations(),
        stream::operations(),
        tokens::operations(),
        usage::operations(),
    ]
    .concat()
}

/// The session id in a path; a malformed id is a session that does not exist.
fn session_id(text: &str) -> ApiResult<SessionId> {
    text.parse().map_err(|_| ApiError::session_not_found())
}

async fn session(app: &App, id: &str) -> ApiResult<Arc<Session>> {
    Ok(app.sessions().get(session_id(id)?).await?)
}
