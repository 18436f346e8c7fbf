//! Tools that the owner of a connection declares: the agent's model can call them, and the owner answers each call when it
//! wants to. They never run in the agent.

use serde_json::Value;

/// The declared tools of a connection.
#[derive(Clone, Debug, PartialEq)]
pub struct DeclaredTools {
    /// The tools, each name once.
    pub tools: Vec<DeclaredTool>,
    /// What else the agent has, and what happens to a call.
    pub access: ToolAccess,
}

/// What the agent may do beside the declared tools, and what happens to their calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolAccess {
    /// The agent has its own tools too. A call of a declared one waits for [`super::AgentCommand::AnswerTools`].
    Beside,
    /// The agent is only a model: it has no tools, instructions, skills or servers but the declared tools, and its system
    /// message is exactly ours. A call waits for [`super::AgentCommand::AnswerTools`], and everything else is denied.
    OnlyHeld,
    /// Like [`Self::OnlyHeld`], but every call is denied. The denial is held back until the connection is closed, because
    /// it would make the agent ask its model again.
    OnlyDenied,
}

impl ToolAccess {
    /// Whether the agent is only a model.
    pub fn is_model_only(self) -> bool {
        self != Self::Beside
    }
}

/// A declared tool.
#[derive(Clone, Debug, PartialEq)]
pub struct DeclaredTool {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// The JSON Schema of its arguments.
    pub parameters: Value,
}

/// A call that the agent's model asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolRequest {
    /// The agent's id of the call.
    pub call_id: String,
    /// The tool's name.
    pub name: String,
    /// The arguments as JSON text.
    pub arguments: String,
}

/// The result of a declared tool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolAnswer {
    /// The text.
    pub text: String,
    /// Images: media type and base64.
    pub images: Vec<(String, String)>,
    /// The tool failed.
    pub is_error: bool,
}
