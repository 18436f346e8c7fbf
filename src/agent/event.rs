//! What an agent tells a session.

use serde_json::value::RawValue;

use super::failure::Failure;
use crate::model::{
    BackgroundTask, BlockKey, ContextUsage, NoticeKind, PromptId, RequestBody, ToolError, ToolResult, TurnId, Usage,
};

/// The beginning of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BlockStart {
    /// Reasoning.
    Reasoning {
        /// The block's id.
        id: String,
        /// The tool call of the sub-agent that thinks.
        parent: Option<String>,
    },
    /// A message.
    Message {
        /// The block's id.
        id: String,
        /// The tool call of the sub-agent that speaks.
        parent: Option<String>,
    },
    /// A tool call.
    Tool {
        /// The call's id.
        id: String,
        /// The call it was made within, for sub-agents.
        parent: Option<String>,
        /// The tool's name.
        name: String,
        /// Pretty JSON, or "".
        arguments: String,
    },
}

/// The end of a block: it carries the whole content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BlockEnd {
    /// All of the reasoning.
    Reasoning {
        /// The block's id.
        id: String,
        /// Everything.
        content: String,
    },
    /// All of the message.
    Message {
        /// The block's id.
        id: String,
        /// Everything.
        content: String,
    },
    /// The tool call's outcome.
    Tool {
        /// The call's id.
        id: String,
        /// What it gave.
        result: Option<ToolResult>,
        /// Why it gave nothing.
        error: Option<ToolError>,
    },
}

/// Everything an agent can tell a session. The session makes numbered events of these; it also makes up starts and
/// ends that an agent leaves out, so a runtime reports only what the agent really said.
#[derive(Debug)]
pub enum AgentEvent {
    /// The agent began to work; may come several times between a prompt and idle.
    TurnStarted {
        /// The agent's own id for it.
        turn_id: TurnId,
    },
    /// The agent stopped working, for now.
    TurnEnded {
        /// The agent's own id for it.
        turn_id: TurnId,
    },
    /// The turn is over: the agent waits for a prompt.
    Idle,
    /// A block begins.
    BlockStarted(BlockStart),
    /// A block goes on.
    BlockDelta {
        /// Which block.
        key: BlockKey,
        /// What comes next.
        delta: String,
    },
    /// A block ends.
    BlockEnded(BlockEnd),
    /// A block is given up: it ends with what it said so far, and that is no part of the answer.
    BlockDiscarded(BlockKey),
    /// A tool made a picture; comes before the end of its call.
    ImageMade {
        /// The tool call.
        tool_call_id: String,
        /// Its media type.
        mime: String,
        /// The picture itself.
        data: Vec<u8>,
    },
    /// The agent goes on by itself, with this as its prompt.
    PromptGenerated(String),
    /// A person is needed.
    RequestMade {
        /// The agent's id for the request.
        agent_request_id: String,
        /// What is asked.
        body: RequestBody,
    },
    /// The agent no longer wants an answer.
    RequestWithdrawn {
        /// The agent's id for the request.
        agent_request_id: String,
    },
    /// What something cost.
    UsageReported(Usage),
    /// How full its memory of the conversation is.
    ContextUsed(ContextUsage),
    /// What it does on the side; always all of it.
    BackgroundTasks(Vec<BackgroundTask>),
    /// Something a person should know.
    Notice {
        /// For programs.
        kind: NoticeKind,
        /// For people.
        message: String,
    },
    /// The agent gave the session a title.
    TitleChanged(String),
    /// The turn failed; the agent is still there.
    TurnFailed {
        /// Why.
        failure: Failure,
    },
    /// The session did not take its events quickly enough, and its agent's process is shared: the agent's turn was
    /// interrupted, and what it said from here on was dropped. Whatever is open ends here, incomplete: the session
    /// closes its open blocks and requests, and writes a notice. The turn itself continues: when the session has taken
    /// everything, the runtime tells the agent to continue, and the events of that follow. No [`Self::Idle`] comes
    /// before that. Sent outside a turn too; then nothing was interrupted and nothing is to be continued.
    FellBehind {
        /// How much waited for the session by then, in bytes.
        waiting: usize,
    },
    /// A prompt was not taken into the running turn, which goes on.
    SteerRefused {
        /// Which prompt.
        prompt: PromptId,
        /// Why, for people.
        reason: String,
    },
    /// The connection is to be opened anew before the next turn: it was made for another model or another login, or its
    /// process has been idle for longer than it is kept.
    Outdated,
    /// A kind we do not know, kept as it came.
    Unknown {
        /// What the agent called it.
        kind: String,
        /// All of it.
        raw: Box<RawValue>,
    },
    /// The connection is gone. Nothing follows.
    Gone {
        /// For people.
        reason: String,
    },
}
