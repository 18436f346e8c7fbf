//! Plain values that every module uses: ids, responses, states, permissions, usage.
//!
//! What must always hold here: no I/O, no clock, no task. A value of this module means the same in the store,
//! in a session and on the wire, so changing a type here changes the API.

mod background_task;
mod block;
mod budget;
mod check;
mod command;
mod context;
mod continuation;
mod day;
mod error_class;
mod happening;
mod hex;
mod id;
mod job;
mod job_tool;
mod mcp_server;
mod notice;
mod permission;
mod prompt;
mod provider;
mod redaction;
mod request;
mod response;
mod runtime_defaults;
mod scope;
mod session;
mod session_defaults;
mod session_options;
mod slash_command;
mod state;
mod template;
mod text_schema;
mod timestamp;
mod turn_activity;
mod usage;
mod words;

pub use background_task::BackgroundTask;
pub use block::{BlockKey, BlockKind};
pub use budget::{BudgetFigure, BudgetLevel, BudgetLimits, BudgetNotices, BudgetScope, BudgetStatus, SessionBudget};
pub use check::{Check, CheckVerdict};
pub use command::simple_command;
pub use context::ContextUsage;
pub use continuation::{Continuation, Decided, Grant, canonical};
pub use day::{Day, InvalidDay};
pub use error_class::ErrorClass;
pub use happening::{Happening, HappeningKind, HappeningSubject};
pub use hex::hex;
pub use id::{
    InvalidJobId, InvalidPromptId, InvalidSessionId, InvalidTaskId, InvalidTokenId, JobId, PromptId, RequestId, Seq,
    SessionId, StreamId, TaskId, TokenId, TurnId,
};
pub use job::{JobStatus, SessionJob};
pub use job_tool::JobTool;
pub use mcp_server::{McpAddress, McpServer, McpTransport, merged_mcp_servers};
pub use notice::NoticeKind;
pub use permission::{
    Always, AlwaysCovers, AlwaysScope, Configured, Decision, FolderRule, PermissionMode, PermissionPolicy,
    PermissionRule, PolicyAnswer, PolicyPart, RuleDecision,
};
pub use prompt::{AttachedFile, Attachment, PromptAuthor, PromptOutcome, PromptVerdict, RetryHint};
pub use provider::{Provider, ProviderChoice, ProviderKind, WireApi};
pub use redaction::{names_a_secret, redact};
pub use request::{AnsweredBy, OpenRequest, Reading, RequestBody, RequestOutcome, Writing};
pub use response::{Callback, Response, SessionTrouble, ToolError, ToolImage, ToolResult};
pub use runtime_defaults::RuntimeDefaults;
pub use scope::{Scope, Scopes, UnknownScope};
pub use session::{LastTurn, LostSession, SessionOrigin, SessionProfile, SessionSummary};
pub use session_defaults::SessionDefaults;
pub use session_options::{SessionOptions, kind_of};
pub use slash_command::SlashCommand;
pub use state::SessionState;
pub use template::{TEMPLATE_VARIABLES, Template};
pub use timestamp::Timestamp;
pub use turn_activity::{MOST_DENIED, ToolReport, TurnActivity};
pub use usage::{CodeChanges, UnknownFigures, Usage, UsageTotal};
