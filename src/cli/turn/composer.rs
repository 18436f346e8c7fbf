//! The line at the bottom of an attached terminal: editing, history, and output above it.

use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context as _;
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Config, Editor, ExternalPrinter, Helper};
use tokio::sync::mpsc;

use super::super::terminal::screen::size;

const PROMPT: &str = "> ";
/// The lines that leave the session.
pub(super) const LEAVING: [&str; 3] = ["/detach", "/quit", "/exit"];
const HISTORY_FILE: &str = "history";
const LONGEST_HISTORY: usize = 1_000;

/// What a person did.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Typed {
    /// A line, or several.
    Line(String),
    /// Ctrl+C.
    Interrupt,
    /// Ctrl+D, or the terminal is gone.
    End,
}

/// Reads lines while text appears above them.
pub(super) struct Composer {
    typed: mpsc::Receiver<Typed>,
    printer: Box<dyn ExternalPrinter + Send>,
    is_typing: Arc<AtomicBool>,
    /// A line of the answer that is not complete.
    partial: String,
    #[cfg(unix)]
    _mode: KeyByKey,
}

/// Knows whether something is being typed, and that a line may continue on the next.
struct Watch {
    is_typing: Arc<AtomicBool>,
}

impl Completer for Watch {
    type Candidate = String;
}

impl Highlighter for Watch {}

impl Hinter for Watch {
    type Hint = String;

    fn hint(&self, line: &str, _: usize, _: &rustyline::Context<'_>) -> Option<String> {
        self.is_typing.store(!line.is_empty(), Ordering::SeqCst);
        None
    }
}

impl Validator for Watch {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        let continues = context.input().ends_with('\\');
        Ok(if continues { ValidationResult::Incomplete } else { ValidationResult::Valid(None) })
    }
}

impl Helper for Watch {}

impl Composer {
    /// Starts to read lines. What was typed before is in the history.
    pub fn start(data_folder: PathBuf) -> anyhow::Result<Self> {
        #[cfg(unix)]
        let mode = KeyByKey::begin();
        let config = Config::builder().auto_add_history(true).max_history_size(LONGEST_HISTORY);
        let config = config.context("cannot set up the history")?.history_ignore_space(true).build();
        let mut editor: Editor<Watch, FileHistory> =
            Editor::with_config(config).context("cannot read from the terminal")?;
        let is_typing = Arc::new(AtomicBool::new(false));
        editor.set_helper(Some(Watch { is_typing: Arc::clone(&is_typing) }));
        let printer = editor.create_external_printer().context("cannot write to the terminal while somebody types")?;
        let (sender, typed) = mpsc::channel(16);
        let watched = Arc::clone(&is_typing);
        // A thread of its own, which ends with the process: nothing else can leave a read of the terminal.
        std::thread::spawn(move || {
            let history = data_folder.join(HISTORY_FILE);
            // There is none before the first prompt.
            let _ = editor.load_history(&history);
            loop {
                let read = editor.readline(PROMPT);
                watched.store(false, Ordering::SeqCst);
                let typed = match read {
                    Ok(line) => {
                        if let Err(error) = editor.append_history(&history) {
                            tracing::debug!(%error, "could not write the history");
                        }
                        Typed::Line(joined(&line))
                    }
                    Err(ReadlineError::Interrupted) => Typed::Interrupt,
                    Err(_) => Typed::End,
                };
                // After this line nothing more is read, so no prompt is drawn into what is said at the end.
                let leaves = |line: &String| LEAVING.contains(&line.trim());
                let is_end = match &typed {
                    Typed::Line(line) => leaves(line),
                    Typed::Interrupt => false,
                    Typed::End => true,
                };
                if sender.blocking_send(typed).is_err() || is_end {
                    break;
                }
            }
        });
        Ok(Self {
            typed,
            printer: Box::new(printer),
            is_typing,
            partial: String::new(),
            #[cfg(unix)]
            _mode: mode,
        })
    }

    /// What the person does next.
    pub async fn next(&mut self) -> Typed {
        self.typed.recv().await.unwrap_or(Typed::End)
    }

    /// How many lines are begun, or complete and not yet taken.
    pub fn begun_lines(&self) -> usize {
        let is_typing = self.is_typing.load(Ordering::SeqCst) || has_unread_keys();
        self.typed.len() + usize::from(is_typing)
    }

    /// Lines above what is typed.
    pub fn line(&mut self, text: &str) -> anyhow::Result<()> {
        self.end_line()?;
        self.print(&format!("{text}\n"))
    }

    /// A part of the answer. Complete lines are shown; a long one is wrapped before it is complete.
    pub fn answer(&mut self, text: &str) -> anyhow::Result<()> {
        self.partial.push_str(text);
        let width = size().0;
        let mut ready = String::new();
        while let Some(end) = ready_end(&self.partial, width) {
            let rest = self.partial.split_off(end);
            ready.push_str(self.partial.trim_end_matches([' ', '\n']));
            ready.push('\n');
            self.partial = rest;
        }
        if ready.is_empty() { Ok(()) } else { self.print(&ready) }
    }

    fn end_line(&mut self) -> anyhow::Result<()> {
        match std::mem::take(&mut self.partial) {
            partial if partial.is_empty() => Ok(()),
            partial => self.print(&format!("{partial}\n")),
        }
    }

    fn print(&mut self, text: &str) -> anyhow::Result<()> {
        // After a line that leaves, nobody draws for the printer any more, and nothing is typed that text could disturb.
        if self.printer.print(text.to_owned()).is_ok() {
            return Ok(());
        }
        let mut output = std::io::stdout();
        output.write_all(text.as_bytes()).and_then(|()| output.flush()).context("cannot write to the terminal")
    }
}

impl Drop for Composer {
    fn drop(&mut self) {
        let _ = self.end_line();
    }
}

/// The terminal passes on each key and shows none by itself, also while no line is read: when one is complete and the next not
/// begun. At the end it is as it was before.
#[cfg(unix)]
struct KeyByKey {
    before: Option<rustix::termios::Termios>,
}

#[cfg(unix)]
impl KeyByKey {
    fn begin() -> Self {
        use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
        let before = tcgetattr(std::io::stdin()).ok();
        if let Some(mut changed) = before.clone() {
            changed.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
            // What fails here fails again when a line is read, and is reported there.
            let _ = tcsetattr(std::io::stdin(), OptionalActions::Drain, &changed);
        }
        Self { before }
    }
}

#[cfg(unix)]
impl Drop for KeyByKey {
    fn drop(&mut self) {
        // The thread that reads may still be in the middle of a line, with the terminal in its own mode.
        if let Some(before) = &self.before {
            let _ = rustix::termios::tcsetattr(std::io::stdin(), rustix::termios::OptionalActions::Flush, before);
            eprint!("\r\u{1b}[K");
        }
    }
}

/// Whether keys were pressed that nothing has read.
fn has_unread_keys() -> bool {
    #[cfg(unix)]
    return rustix::io::ioctl_fionread(std::io::stdin()).is_ok_and(|bytes| bytes > 0);
    #[cfg(not(unix))]
    false
}

/// Where the first line ends that can be shown.
fn ready_end(text: &str, width: usize) -> Option<usize> {
    if let Some(end) = text.find('\n') {
        return Some(end + 1);
    }
    let too_long = text.char_indices().nth(width.max(20)).map(|(at, _)| at)?;
    text[..too_long].rfind(' ').filter(|at| *at > 0).map(|at| at + 1)
}

/// Lines that end with a backslash continue on the next one.
fn joined(line: &str) -> String {
    line.replace("\\\n", "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_backslash_continues_a_line() {
        assert_eq!(joined("one \\\ntwo\nthree\\x"), "one \ntwo\nthree\\x");
    }

    #[test]
    fn long_lines_are_wrapped_between_words() {
        assert_eq!(ready_end("short", 80), None);
        assert_eq!(ready_end("a\nb", 80), Some(2));
        assert_eq!(ready_end("aaaaaaaaaa bbbbbbbbbb cccc", 20), Some(11));
        assert_eq!(ready_end(&"x".repeat(100), 20), None, "a long word stays whole");
    }
}
