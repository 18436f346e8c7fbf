//! The job tools as declared tools of a session.

use super::{DeclaredTool, DeclaredTools, ToolAccess, ToolAnswer, ToolRequest};
use crate::model::JobTool;

/// The tools that every session of a runtime with `custom_tools` declares.
pub fn job_tools() -> DeclaredTools {
    let tool = |tool: JobTool| DeclaredTool {
        name: tool.as_str().to_owned(),
        description: tool.description().to_owned(),
        parameters: tool.parameters(),
    };
    DeclaredTools { tools: JobTool::ALL.map(tool).to_vec(), access: ToolAccess::Beside }
}

/// The answer to a call: what was reported.
pub fn job_tool_answer(call: &ToolRequest) -> ToolAnswer {
    match JobTool::named(&call.name) {
        Some(_) => ToolAnswer { text: JobTool::reported(&call.arguments), ..ToolAnswer::default() },
        None => ToolAnswer { text: format!("unknown tool {:?}", call.name), is_error: true, ..ToolAnswer::default() },
    }
}
