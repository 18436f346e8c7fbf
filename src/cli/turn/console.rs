//! Standard output and standard error of a turn, which may be the same terminal.

use std::io::{self, IsTerminal as _, Write as _};

use anyhow::Context as _;

use super::super::terminal::screen::Screen;
use super::super::terminal::style::Style;
use super::transcript::{Look, Piece};

/// Where the pieces of a transcript go.
pub(super) struct Console {
    pub screen: Screen,
    out_is_terminal: bool,
    /// The answer stands in the middle of a line.
    is_in_line: bool,
    /// Nobody reads standard output any more.
    is_closed: bool,
}

impl Console {
    pub fn new() -> Self {
        Self { screen: Screen::new(), out_is_terminal: io::stdout().is_terminal(), is_in_line: false, is_closed: false }
    }

    /// How a transcript looks here: plain where it is piped.
    pub fn look(&self, is_whole: bool) -> Look {
        let rendered = self.out_is_terminal.then(Style::of_output);
        Look { style: self.screen.style, rendered, is_whole }
    }

    /// Whether the reader of standard output is gone.
    pub fn is_closed(&self) -> bool {
        self.is_closed
    }

    pub fn show(&mut self, pieces: Vec<Piece>) -> anyhow::Result<()> {
        for piece in pieces {
            match piece {
                Piece::Answer(text) => {
                    self.screen.hide_question();
                    self.is_in_line = !text.ends_with('\n');
                    self.write(&text)?;
                }
                Piece::Line(line) => self.line(&line)?,
            }
        }
        Ok(())
    }

    /// A line about anything but the answer.
    pub fn line(&mut self, line: &str) -> anyhow::Result<()> {
        self.end_line()?;
        self.screen.line(line);
        Ok(())
    }

    /// Asks something.
    pub fn ask(&mut self, question: &str) -> anyhow::Result<()> {
        self.end_line()?;
        self.screen.ask(question);
        Ok(())
    }

    /// A line of standard output.
    pub fn print(&mut self, line: &str) -> anyhow::Result<()> {
        self.write(&format!("{line}\n"))
    }

    /// A line of standard output between parts of the answer.
    pub fn print_line(&mut self, line: &str) -> anyhow::Result<()> {
        let begin = if std::mem::take(&mut self.is_in_line) { "\n" } else { "" };
        self.write(&format!("{begin}{line}\n"))
    }

    /// On a terminal, a line about something else does not continue a line of the answer.
    fn end_line(&mut self) -> anyhow::Result<()> {
        if self.out_is_terminal && std::mem::take(&mut self.is_in_line) {
            self.write("\n")?;
        }
        Ok(())
    }

    fn write(&mut self, text: &str) -> anyhow::Result<()> {
        let mut out = io::stdout().lock();
        match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.is_closed = true;
                Ok(())
            }
            other => other.context("cannot write to standard output"),
        }
    }
}
