//! Colours, for terminals.

use std::io::IsTerminal;

use crate::model::{JobStatus, SessionState};

/// Whether and how a text is coloured.
#[derive(Clone, Copy, Debug)]
pub(in crate::cli) struct Style {
    has_colours: bool,
}

impl Style {
    /// The style for an output.
    pub fn of(output: &impl IsTerminal) -> Self {
        let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let is_dumb = std::env::var_os("TERM").is_some_and(|terminal| terminal == "dumb");
        Self { has_colours: output.is_terminal() && !is_set("NO_COLOR") && !is_dumb }
    }

    /// The style for standard output.
    pub fn of_output() -> Self {
        Self::of(&std::io::stdout())
    }

    /// The style for standard error.
    pub fn of_errors() -> Self {
        Self::of(&std::io::stderr())
    }

    #[cfg(test)]
    pub fn plain() -> Self {
        Self { has_colours: false }
    }

    #[cfg(test)]
    pub fn coloured() -> Self {
        Self { has_colours: true }
    }

    /// Whether there are no colours.
    pub fn is_plain(self) -> bool {
        !self.has_colours
    }

    fn code(self, code: u8, text: &str) -> String {
        if self.has_colours && !text.is_empty() { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }

    pub fn bold(self, text: &str) -> String {
        self.code(1, text)
    }

    pub fn dim(self, text: &str) -> String {
        self.code(2, text)
    }

    pub fn red(self, text: &str) -> String {
        self.code(31, text)
    }

    pub fn green(self, text: &str) -> String {
        self.code(32, text)
    }

    pub fn cyan(self, text: &str) -> String {
        self.code(36, text)
    }

    pub fn yellow(self, text: &str) -> String {
        self.code(33, text)
    }

    /// A mark for a verdict.
    pub fn verdict(self, succeeded: bool) -> String {
        if succeeded { self.green("✓") } else { self.red("✗") }
    }

    /// A mark for the status of a work or a job, as the API writes it.
    pub fn mark(self, status: &str) -> String {
        match status {
            "Succeeded" => self.verdict(true),
            "Failed" => self.verdict(false),
            "Waiting" => self.yellow("?"),
            "Canceled" => self.dim("–"),
            _ => self.bold("●"),
        }
    }

    /// The state of a session in its colour.
    pub fn state(self, state: SessionState, text: &str) -> String {
        match state {
            SessionState::Waiting | SessionState::NeedsLogin => self.yellow(text),
            SessionState::Failed => self.red(text),
            SessionState::Working | SessionState::Starting | SessionState::Recovering => self.bold(text),
            SessionState::Closed => self.dim(text),
            SessionState::Ready => text.to_owned(),
        }
    }

    /// A status in its colour.
    pub fn status(self, status: JobStatus) -> String {
        match status {
            JobStatus::Succeeded => self.green(status.as_str()),
            JobStatus::Failed => self.red(status.as_str()),
            JobStatus::Running => self.bold(status.as_str()),
            JobStatus::Canceled => self.dim(status.as_str()),
        }
    }
}
