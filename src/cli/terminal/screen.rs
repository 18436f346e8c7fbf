//! Standard error while a job is followed: lines that stay and, on a terminal, lines below them that are redrawn.

use std::io::{IsTerminal as _, Write as _};

use super::style::Style;

/// Used when the terminal does not say how large it is.
const USUAL_SIZE: (usize, usize) = (80, 24);

/// Standard error.
pub(in crate::cli) struct Screen {
    pub style: Style,
    is_terminal: bool,
    /// Lines below the cursor's first that are drawn now.
    drawn: usize,
    /// A question that waits for an answer. It stays the last line.
    question: Option<String>,
}

impl Screen {
    pub fn new() -> Self {
        let is_dumb = std::env::var_os("TERM").is_some_and(|terminal| terminal == "dumb");
        let is_terminal = std::io::stderr().is_terminal() && !is_dumb;
        Self { style: Style::of_errors(), is_terminal, drawn: 0, question: None }
    }

    /// Whether lines can be redrawn.
    pub fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    /// A line that stays.
    pub fn line(&mut self, text: &str) {
        let cleared = self.cleared();
        let question = self.question.clone().unwrap_or_default();
        write(&format!("{cleared}{text}\n{question}"));
    }

    /// Lines of plain text that stay at the bottom until they are drawn again.
    pub fn draw(&mut self, lines: &[(String, String)]) {
        if !self.is_terminal || self.question.is_some() {
            return;
        }
        let (width, height) = size();
        let mut text = self.cleared();
        // Redrawing works only for what fits the window.
        let shown = lines.len().min(height.saturating_sub(2));
        for (mark, line) in &lines[lines.len() - shown..] {
            let room = width.saturating_sub(4);
            text.push_str(&[mark, " ", &super::text::shortened(line, room), "\n"].concat());
        }
        self.drawn = shown;
        write(&text);
    }

    /// Asks something; whatever is printed meanwhile appears above it.
    pub fn ask(&mut self, question: &str) {
        let cleared = self.cleared();
        write(&format!("{cleared}{question}"));
        self.question = Some(question.to_owned());
    }

    /// Whether a question is open.
    pub fn is_asking(&self) -> bool {
        self.question.is_some()
    }

    /// The question was answered by a typed line.
    pub fn answered(&mut self) {
        self.question = None;
    }

    /// The question is no longer open.
    pub fn withdraw(&mut self) {
        if self.question.take().is_some() {
            write("\n");
        }
    }

    /// The open question is no longer the last line; it is shown again by [`Self::ask`].
    pub fn hide_question(&mut self) {
        if self.question.take().is_some() {
            write("\r\u{1b}[K");
        }
    }

    /// Removes what is redrawn.
    pub fn clear(&mut self) {
        let cleared = self.cleared();
        write(&cleared);
    }

    fn cleared(&mut self) -> String {
        if self.question.is_some() {
            return "\r\u{1b}[K".to_owned();
        }
        match std::mem::take(&mut self.drawn) {
            0 => String::new(),
            lines => format!("\u{1b}[{lines}A\r\u{1b}[J"),
        }
    }
}

/// Nothing can be done about a closed standard error, and the job continues anyway.
fn write(text: &str) {
    let mut errors = std::io::stderr().lock();
    let _ = errors.write_all(text.as_bytes()).and_then(|()| errors.flush());
}

/// Columns and rows of the terminal.
pub(in crate::cli) fn size() -> (usize, usize) {
    #[cfg(unix)]
    if let Ok(size) = rustix::termios::tcgetwinsize(std::io::stderr())
        && size.ws_col > 0
        && size.ws_row > 0
    {
        return (size.ws_col.into(), size.ws_row.into());
    }
    USUAL_SIZE
}
