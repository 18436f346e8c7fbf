//! The last lines that a child wrote.

use std::collections::VecDeque;
use std::sync::Arc;

use super::printable::printable;
use parking_lot::Mutex;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt as _, BufReader};

/// Enough to see why a program ended.
const LINES: usize = 20;
const LONGEST_LINE: usize = 2_000;
const LONGEST_PIECE: u64 = 64 * 1024;

/// Shared with the reading task; new lines replace old ones, so memory is bounded.
#[derive(Clone, Debug)]
pub struct OutputTail {
    lines: Arc<Mutex<VecDeque<String>>>,
    most: usize,
}

impl Default for OutputTail {
    fn default() -> Self {
        Self::of_lines(LINES)
    }
}

impl OutputTail {
    /// Keeps that many lines.
    pub(super) fn of_lines(most: usize) -> Self {
        Self { lines: Arc::default(), most }
    }

    /// Reads until the child closes its end.
    pub(super) async fn follow(self, output: impl AsyncRead + Unpin) {
        let mut reader = BufReader::new(output);
        let mut line = Vec::new();
        loop {
            line.clear();
            // A line without an end is read in pieces, so that memory is bounded.
            match (&mut reader).take(LONGEST_PIECE).read_until(b'\n', &mut line).await {
                Ok(0) | Err(_) => return,
                Ok(_) => self.push(&line),
            }
        }
    }

    fn push(&self, line: &[u8]) {
        let text = String::from_utf8_lossy(line);
        let text = printable(text.trim_end());
        let mut lines = self.lines.lock();
        if lines.len() == self.most {
            lines.pop_front();
        }
        lines.push_back(text[..text.floor_char_boundary(LONGEST_LINE)].to_owned());
    }

    /// The lines, joined.
    pub fn text(&self) -> String {
        self.lines.lock().iter().cloned().collect::<Vec<_>>().join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_would_move_the_cursor_is_escaped() {
        let tail = OutputTail::default();
        tail.clone().follow(&b"\x1b[2Jgone\rover\n"[..]).await;
        assert_eq!(tail.text(), "\\u{1b}[2Jgone\\rover");
    }

    #[tokio::test]
    async fn a_line_without_an_end_is_kept_in_pieces() {
        let tail = OutputTail::default();
        let text = format!("{}end\n", "x".repeat(3 * 64 * 1024));
        tail.clone().follow(text.as_bytes()).await;
        assert_eq!(tail.text().lines().count(), 4);
        assert!(tail.text().ends_with("\nend"), "{}", tail.text());
    }

    #[tokio::test]
    async fn only_the_last_lines_are_kept_and_none_is_too_long() {
        let tail = OutputTail::default();
        let lines: Vec<String> = (0..30).map(|number| format!("line {number}")).collect();
        let text = format!("{}\n{}", "x".repeat(5_000), lines.join("\n"));
        tail.clone().follow(text.as_bytes()).await;
        let kept = tail.text();
        assert_eq!(kept.lines().count(), LINES);
        assert!(kept.starts_with("line 10") && kept.ends_with("line 29"), "{kept}");
    }
}
