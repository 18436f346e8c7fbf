//! The flags of `flightdeck sessions`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum SessionsCommand {
    /// List sessions, newest first (the default command)
    List(ListFlags),
    /// Show a session: its settings, its state, what waits and its usage
    Show {
        /// The session: 12, session-12 or the beginning of its title
        id: String,
    },
    /// Close sessions; they can be reopened
    Close {
        /// The sessions: 12, session-12 or the beginning of a title
        #[arg(required = true)]
        ids: Vec<String>,
    },
    /// Open closed sessions again, under the same ids
    Reopen {
        /// The sessions: 12, session-12 or the beginning of a title
        #[arg(required = true)]
        ids: Vec<String>,
    },
    /// Give a session another title
    Rename {
        /// The session: 12, session-12 or the beginning of its title
        id: String,
        /// The title; several words are joined
        #[arg(required = true)]
        title: Vec<String>,
    },
    /// Delete sessions and their transcripts; this can't be undone
    Rm(RemoveFlags),
    /// Write a session as Markdown or JSON
    Export(ExportFlags),
    /// Search prompts, messages and tool calls of all sessions
    Search(SearchFlags),
}

#[derive(Debug, Default, Args)]
pub(in crate::cli) struct ListFlags {
    /// Only sessions that need you
    #[arg(long)]
    pub waiting: bool,
    /// Closed sessions too
    #[arg(long, short)]
    pub all: bool,
    /// Print only ids
    #[arg(long, short)]
    pub quiet: bool,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct RemoveFlags {
    /// The sessions: 12, session-12 or the beginning of a title
    #[arg(required = true)]
    pub ids: Vec<String>,
    /// Delete without asking
    #[arg(long, short)]
    pub yes: bool,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct ExportFlags {
    /// The session: 12, session-12 or the beginning of its title
    pub id: String,
    /// Markdown is for people, JSON is complete [default: md; json with --json]
    #[arg(long, value_enum)]
    pub format: Option<ExportFormat>,
    /// Write to a file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum ExportFormat {
    Md,
    Json,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct SearchFlags {
    /// What to search for; several words are joined
    #[arg(required = true)]
    pub query: Vec<String>,
    /// How many results at most
    #[arg(long, value_name = "NUMBER", default_value_t = 20)]
    pub limit: usize,
}
