//! Events that an agent sends to a session.

use serde_json::value::RawValue;

use super::ToolRequest;
use super::failure::Failure;
use crate::model::{
    BackgroundTask, BlockKey, ContextUsage, NoticeKind, PromptId, RequestBody, SlashCommand, ToolError, ToolResult,
    TurnId, Usage,
};

/// The start of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BlockStart {
    /// Reasoning.
    Reasoning {
        /// The block's id.
        id: String,
        /// The tool call of the sub-agent, if it comes from one.
        parent: Option<String>,
    },
    /// A message.
    Message {
        /// The block's id.
        id: String,
        /// The tool call of the sub-agent, if it comes from one.
        parent: Option<String>,
    },
    /// A tool call.
    Tool {
        /// The call's id.
        id: String,
        /// The parent call, for sub-agents.
        parent: Option<String>,
        /// The tool's name.
        name: String,
        /// The arguments as pretty-printed JSON, or "".
        arguments: String,
    },
}

/// The end of a block, with its complete content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BlockEnd {
    /// All of the reasoning.
    Reasoning {
        /// The block's id.
        id: String,
        /// The complete text.
        content: String,
    },
    /// All of the message.
    Message {
        /// The block's id.
        id: String,
        /// The complete text.
        content: String,
    },
    /// The tool call's outcome.
    Tool {
        /// The call's id.
        id: String,
        /// The result.
        result: Option<ToolResult>,
        /// The error, if it failed.
        error: Option<ToolError>,
    },
}

/// Everything an agent can report to a session. The session turns these into numbered events and adds missing starts
/// and ends, so a runtime reports only what the agent actually sent.
#[derive(Debug)]
pub enum AgentEvent {
    /// The agent started to work. Can occur several times between a prompt and idle.
    TurnStarted {
        /// The agent's own id.
        turn_id: TurnId,
    },
    /// The agent finished a step.
    TurnEnded {
        /// The agent's own id.
        turn_id: TurnId,
    },
    /// The turn is over: the agent waits for a prompt.
    Idle,
    /// A block starts.
    BlockStarted(BlockStart),
    /// A block continues.
    BlockDelta {
        /// The block.
        key: BlockKey,
        /// The text to append.
        delta: String,
    },
    /// A block ends.
    BlockEnded(BlockEnd),
    /// A block is discarded: it ends with its text so far, which is not part of the answer.
    BlockDiscarded(BlockKey),
    /// A tool produced an image. Sent before the end of its call.
    ImageMade {
        /// The tool call.
        tool_call_id: String,
        /// Its media type.
        mime: String,
        /// The image data.
        data: Vec<u8>,
    },
    /// The agent continues by itself, with this as its prompt.
    PromptGenerated(String),
    /// The agent needs input from the user.
    RequestMade {
        /// The agent's id for the request.
        agent_request_id: String,
        /// The request.
        body: RequestBody,
    },
    /// The agent's model asks for these tools, in this order, in one message. Only from connections with declared tools.
    ToolsRequested(Vec<ToolRequest>),
    /// Why a call of the model ended, in the words of chat completions: `stop`, `length`, `tool_calls` or `content_filter`.
    /// Only from connections with declared tools.
    ModelStopped {
        /// The reason.
        reason: String,
    },
    /// The call of a declared tool waits for [`super::AgentCommand::AnswerTools`].
    ToolWaits {
        /// The agent's id for the request.
        agent_request_id: String,
        /// The call.
        call: ToolRequest,
    },
    /// The agent did not take the result of a declared tool, because it no longer waits for it.
    ToolAnswerRefused {
        /// The agent's id for the request.
        agent_request_id: String,
        /// Why, for people.
        reason: String,
    },
    /// The agent no longer wants an answer.
    RequestWithdrawn {
        /// The agent's id for the request.
        agent_request_id: String,
    },
    /// Usage figures.
    UsageReported(Usage),
    /// How full the context window is.
    ContextUsed(ContextUsage),
    /// The agent's background tasks; always the complete list.
    BackgroundTasks(Vec<BackgroundTask>),
    /// The commands that the agent understands; always the complete list.
    CommandsListed(Vec<SlashCommand>),
    /// A notice for the user.
    Notice {
        /// The kind, for programs.
        kind: NoticeKind,
        /// The text for display.
        message: String,
    },
    /// The agent gave the session a title.
    TitleChanged(String),
    /// The agent chose the id of its session, or changed it. Only from runtimes that do not know it before.
    SessionNamed(String),
    /// The turn failed; the agent is still there.
    TurnFailed {
        /// The failure.
        failure: Failure,
    },
    /// The session did not receive its events quickly enough, and its agent's process is shared. The agent's turn was
    /// interrupted, and its output from here on was dropped. Everything open ends here, incomplete: the session closes
    /// its open blocks and requests, and writes a notice. The turn itself continues: when the session has received
    /// everything, the runtime tells the agent to continue, and the events of that follow. No [`Self::Idle`] comes
    /// before that. Also sent outside a turn; then nothing was interrupted and nothing is continued.
    FellBehind {
        /// The size of the session's queue at that point, in bytes.
        waiting: usize,
    },
    /// A steering prompt was rejected. The running turn continues.
    SteerRefused {
        /// The prompt.
        prompt: PromptId,
        /// The reason, for display.
        reason: String,
    },
    /// The session must reconnect before the next turn: the connection was opened for another model or login, or its
    /// process was idle for too long.
    Outdated,
    /// An event of an unknown kind, kept unchanged.
    Unknown {
        /// The agent's name for the kind.
        kind: String,
        /// The complete event.
        raw: Box<RawValue>,
    },
    /// The connection was lost. Nothing follows.
    Gone {
        /// The text for display.
        reason: String,
    },
}
