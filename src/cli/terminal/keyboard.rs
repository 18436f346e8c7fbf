//! What a person types at a terminal.

use std::io::{BufRead as _, IsTerminal as _, Write as _};

use tokio::sync::mpsc;

/// Whether a person can be asked: they see the question and can type an answer.
pub(in crate::cli) fn can_ask() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// The same, also when standard input is something else: then the terminal itself is read.
pub(in crate::cli) fn can_ask_at_terminal() -> bool {
    std::io::stderr().is_terminal() && (std::io::stdin().is_terminal() || terminal().is_some())
}

/// The terminal of this process, whatever its standard input is.
fn terminal() -> Option<std::fs::File> {
    if cfg!(unix) { std::fs::File::open("/dev/tty").ok() } else { None }
}

/// Asks a person; only a clear yes counts.
pub(in crate::cli) fn confirm(question: &str) -> anyhow::Result<bool> {
    discard_typed();
    let mut errors = std::io::stderr();
    write!(errors, "{question} [y/N] ")?;
    errors.flush()?;
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line)?;
    Ok(matches!(line.trim().to_lowercase().as_str(), "y" | "yes"))
}

/// What was typed before a question is not an answer to it.
fn discard_typed() {
    #[cfg(unix)]
    let _ = rustix::termios::tcflush(std::io::stdin(), rustix::termios::QueueSelector::IFlush);
}

/// Lines as a person types them.
pub(in crate::cli) struct Keyboard {
    lines: Option<mpsc::Receiver<String>>,
}

impl Keyboard {
    /// Reads nothing until somebody is asked.
    pub fn new() -> Self {
        Self { lines: None }
    }

    /// Call this before a question is shown.
    pub fn before_question(&mut self) {
        discard_typed();
        if let Some(lines) = &mut self.lines {
            while lines.try_recv().is_ok() {}
            return;
        }
        let (sender, receiver) = mpsc::channel(16);
        // A thread of its own, which ends with the process: nothing else can leave a read of the terminal.
        std::thread::spawn(move || {
            let input: Box<dyn std::io::BufRead> = match terminal() {
                Some(terminal) if !std::io::stdin().is_terminal() => Box::new(std::io::BufReader::new(terminal)),
                _ => Box::new(std::io::stdin().lock()),
            };
            for line in input.lines() {
                let Ok(line) = line else { break };
                if sender.blocking_send(line).is_err() {
                    break;
                }
            }
        });
        self.lines = Some(receiver);
    }

    /// The next line; `None` at the end of the input. Never returns before somebody was asked.
    pub async fn line(&mut self) -> Option<String> {
        match &mut self.lines {
            Some(lines) => lines.recv().await,
            None => std::future::pending().await,
        }
    }
}
