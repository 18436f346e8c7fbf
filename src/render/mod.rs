//! Renders what agents write as safe HTML: Markdown, highlighted code, terminal output, diffs, tool calls.
//!
//! What must always hold here:
//!
//! - Nothing an agent wrote becomes markup: text goes through `Html::text`, which escapes it, and Markdown is
//!   sanitised after it was rendered. Only literals of this crate are written as they are.
//! - No inline style and no script, as the strict Content-Security-Policy requires.
//! - Every input is rendered in bounded time: what is too long, too deeply nested or too slow is shown as plain text,
//!   with a note.
//!
//! Elements and classes, for the style sheets:
//!
//! - Code: `div.code-block[data-language]` > `div.code-block-header` (`span.code-language`, `button.copy-button`) and
//!   `pre` > `code.highlight`; inside `span` with one of `hl-comment` `hl-string` `hl-escape` `hl-number` `hl-constant`
//!   `hl-keyword` `hl-operator` `hl-type` `hl-function` `hl-variable` `hl-tag` `hl-attribute` `hl-heading` `hl-link`
//!   `hl-inserted` `hl-deleted`.
//! - Diffs: `div.diff` > `div.diff-file` and `table.diff-lines` > `tr.diff-line` with one of `diff-added` `diff-removed`
//!   `diff-context` `diff-hunk`, each with two `td.diff-number` and a `td.diff-text`; in that `span.diff-word` is what
//!   changed within the line. `p.diff-note` for what has no lines (binary files, renames). The signs + and − are left to
//!   the style sheet, so that copied code is code.
//! - Terminal output: `pre.terminal`, inside `span` with `ansi-fg-0` … `ansi-fg-15`, `ansi-bg-0` … `ansi-bg-15`,
//!   `ansi-bold` `ansi-dim` `ansi-italic` `ansi-underline` `ansi-strike` `ansi-inverse`. Other colours become the nearest
//!   of the sixteen, so that a theme can give all of them enough contrast.
//! - Markdown: `span.local-link` for links that lead to no website, `a.image-link` for images of other hosts,
//!   `div.markdown-alert` with `markdown-alert-note|tip|important|warning|caution` and `p.markdown-alert-title`,
//!   `ul.contains-task-list`, `li.task-list-item`, `input.task-list-item-checkbox`, `sup.footnote-ref`,
//!   `section.footnotes`.
//! - Tools: `section.tool-part` with `tool-arguments`, `tool-output` or `tool-error`; inside `p.tool-path`,
//!   `p.tool-description`, `p.tool-exit-code` (with `failed` unless it is 0), `div.tool-images` > `img.agent-image`.
//! - `pre.plain-text`: text as it is. `p.render-note`: what was left out and why. `button.show-all[data-lines]`: the same
//!   address with `?all=1` has the rest. `a.whole-output`: a blob with all of it.

mod ansi;
mod block;
mod budget;
mod code;
mod cut;
mod diff;
mod highlight;
mod html;
mod markdown;
mod sanitise;
mod terminal;
mod tool;
mod tool_arguments;

pub use block::{Block, render};
pub use budget::Budget;
pub use cut::Extent;
pub use diff::{RenderedDiff, file_note, new_file, unified_diff};
pub use html::Html;
pub use tool::{ToolBlock, ToolImage, ToolOutput};
