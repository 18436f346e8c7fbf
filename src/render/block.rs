//! The parts of a log that have a rendered form.

use super::budget::Budget;
use super::cut::Extent;
use super::html::Html;
use super::markdown::{LineEnds, markdown};
use super::tool::{ToolBlock, permission, tool};

/// Something that is complete and can be rendered.
#[derive(Clone, Debug)]
pub enum Block<'a> {
    /// A message or reasoning of the agent.
    Prose(&'a str),
    /// A prompt.
    Prompt(&'a str),
    /// A question of the agent, with its detail, such as a plan.
    Question {
        /// The question.
        question: &'a str,
        /// Markdown.
        detail: Option<&'a str>,
    },
    /// A permission request.
    Permission {
        /// `shell`, `write` …
        kind: &'a str,
        /// A command, a diff, a path.
        detail: &'a str,
        /// The session's folder.
        working_directory: Option<&'a str>,
    },
    /// A tool call.
    Tool(ToolBlock<'a>),
}

/// A block as a fragment of HTML.
pub fn render(block: &Block<'_>, extent: Extent, budget: &mut Budget) -> Html {
    match block {
        Block::Prose(text) => markdown(text, LineEnds::Soft, extent, budget),
        Block::Prompt(text) => markdown(text, LineEnds::Hard, extent, budget),
        Block::Question { question, detail } => {
            let mut html = markdown(question, LineEnds::Hard, extent, budget);
            if let Some(detail) = detail {
                html.append(&markdown(detail, LineEnds::Soft, extent, budget));
            }
            html
        }
        Block::Permission { kind, detail, working_directory } => {
            permission(kind, detail, *working_directory, extent, budget)
        }
        Block::Tool(block) => tool(block, extent, budget),
    }
}
