//! Full-text search: what is indexed, what is asked, what is found. The index is derived from the logs: it may be behind
//! them, and can always be built again.

use std::path::PathBuf;
use std::sync::Arc;

use super::{Answer, IndexBacklog};
use crate::model::{Seq, SessionId, Timestamp};

/// The text of an event for a full-text search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchText {
    /// Who wrote it.
    pub kind: SearchKind,
    /// All of it, without markup.
    pub text: String,
}

/// Who wrote a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SearchKind {
    /// A person or program, as a prompt.
    Prompt,
    /// The agent, as a message.
    Message,
    /// The agent, as reasoning.
    Reasoning,
    /// The agent, as the name and arguments of a tool call.
    ToolCall,
    /// A tool, as its output.
    ToolOutput,
}

impl SearchKind {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Prompt, Self::Message, Self::Reasoning, Self::ToolCall, Self::ToolOutput];
}

/// A text with the event that it is from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexedText {
    /// The number of the event.
    pub seq: Seq,
    /// When the event was made.
    pub time: Timestamp,
    /// The text.
    pub text: SearchText,
}

/// The next part of a session's log for the index.
#[derive(Clone, Debug)]
pub struct IndexBatch {
    /// Which session.
    pub session: SessionId,
    /// Where the part begins: the index has everything up to this number. A batch that does not fit is ignored.
    pub after: Seq,
    /// Where the part ends. The index has everything up to here afterwards.
    pub through: Seq,
    /// The texts in between, in order.
    pub texts: Vec<IndexedText>,
}

/// A word or phrase to look for. Its text is split into words as texts are; case and diacritics do not matter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchTerm {
    /// Words that must follow each other.
    pub text: String,
    /// Whether the last word may go on.
    pub is_prefix: bool,
}

/// What a text must contain, and what it must not contain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchTerms {
    /// All of these.
    pub wanted: Vec<SearchTerm>,
    /// None of these.
    pub excluded: Vec<SearchTerm>,
    /// Only texts of these kinds; empty for all.
    pub kinds: Vec<SearchKind>,
}

/// Which texts to find.
#[derive(Clone, Debug)]
pub struct MatchQuery {
    /// What they contain.
    pub terms: SearchTerms,
    /// Only texts of these sessions; `None` for all.
    pub sessions: Option<Vec<SessionId>>,
    /// Only texts from this moment on.
    pub from: Option<Timestamp>,
    /// Only texts up to this moment.
    pub to: Timestamp,
    /// At most that many.
    pub limit: usize,
}

/// A text that was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Match {
    /// Its session.
    pub session: SessionId,
    /// The number of its event.
    pub seq: Seq,
    /// When the event was made.
    pub time: Timestamp,
    /// How well it matches: higher is better.
    pub score: f64,
}

/// A piece of a snippet: a match, or what is between two.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnippetPart {
    /// The text. An ellipsis stands for what was left out.
    pub text: String,
    /// Whether it matches.
    pub is_match: bool,
}

/// What a search needs to know of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionFacts {
    /// Which session.
    pub id: SessionId,
    /// Its title.
    pub title: Option<String>,
    /// The runtime's name.
    pub runtime: String,
    /// Where the agent works.
    pub working_directory: Option<PathBuf>,
    /// When it was started.
    pub created_at: Timestamp,
    /// When something last happened in it.
    pub updated_at: Timestamp,
}

/// The full-text index.
pub trait SearchIndex {
    /// What the index still lacks.
    fn index_backlog(&self) -> &Arc<IndexBacklog>;
    /// Compares the index with the logs: removes what is gone, and adds to the backlog what the index lacks. An index that is
    /// damaged is emptied first.
    fn compare_index(&self) -> Answer<'_, ()>;
    /// Adds to the index. Texts and position are one transaction.
    fn index(&self, batch: IndexBatch) -> Answer<'_, ()>;
    /// All sessions, newest first.
    fn session_facts(&self) -> Answer<'_, Vec<SessionFacts>>;
    /// The newest texts that match, with their scores, in no particular order. Sessions that were deleted may still be among them.
    fn matches(&self, query: MatchQuery) -> Answer<'_, Vec<Match>>;
    /// For each text, the part that matches best. Empty for a text that does not match.
    fn snippets(&self, terms: SearchTerms, texts: Vec<SearchText>) -> Answer<'_, Vec<Vec<SnippetPart>>>;
}
