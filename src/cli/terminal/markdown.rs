//! Markdown for a terminal while it streams: headings, code and bold text get a style, everything else stays as it is.
//!
//! A span is held back until it is closed or its line ends, so nothing that is shown has to be taken back. What is not
//! closed is shown exactly as it was written.

use super::style::Style;
use super::text::clean;

/// A span that is longer is not waited for.
const LONGEST_SPAN: usize = 400;

/// A text that arrives in parts.
#[derive(Debug)]
pub(in crate::cli) struct Markdown {
    style: Style,
    /// What was not shown yet; never has a line end.
    held: String,
    /// How the line began, once it is known.
    line: Option<Line>,
    is_in_fence: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line {
    Plain,
    Heading,
    Fence,
    Code,
}

impl Markdown {
    pub fn new(style: Style) -> Self {
        Self { style, held: String::new(), line: None, is_in_fence: false }
    }

    /// What can be shown after a part has arrived.
    pub fn add(&mut self, part: &str) -> String {
        let mut shown = String::new();
        for (index, piece) in clean(part).split('\n').enumerate() {
            if index > 0 {
                shown.push_str(&self.end_line());
                shown.push('\n');
            }
            self.held.push_str(piece);
            shown.push_str(&self.ready());
        }
        shown
    }

    /// What is left at the end of the text.
    pub fn finish(&mut self) -> String {
        let shown = self.end_line();
        self.is_in_fence = false;
        shown
    }

    fn end_line(&mut self) -> String {
        let kind = self.line.unwrap_or_else(|| self.kind(&self.held));
        let rest = std::mem::take(&mut self.held);
        self.line = None;
        match kind {
            Line::Fence => {
                self.is_in_fence = !self.is_in_fence;
                self.style.dim(&rest)
            }
            Line::Heading => self.style.bold(&rest),
            Line::Code => self.style.cyan(&rest),
            Line::Plain => self.spans(&rest, true).0,
        }
    }

    /// The part of the line that is certain already.
    fn ready(&mut self) -> String {
        if self.line.is_none() {
            if could_be_special(&self.held) {
                return String::new();
            }
            self.line = Some(self.kind(&self.held));
        }
        match self.line {
            Some(Line::Plain) => {
                let (shown, rest) = self.spans(&self.held, false);
                self.held = rest;
                shown
            }
            Some(Line::Code) => self.style.cyan(&std::mem::take(&mut self.held)),
            Some(Line::Heading) => self.style.bold(&std::mem::take(&mut self.held)),
            // Shown when its line ends.
            Some(Line::Fence) | None => String::new(),
        }
    }

    fn kind(&self, line: &str) -> Line {
        let begin = line.trim_start();
        if begin.starts_with("```") || begin.starts_with("~~~") {
            return Line::Fence;
        }
        if self.is_in_fence {
            return Line::Code;
        }
        let level = line.bytes().take_while(|byte| *byte == b'#').count();
        let is_heading = (1..=6).contains(&level) && line[level..].starts_with(' ');
        if is_heading { Line::Heading } else { Line::Plain }
    }

    /// The styled text up to the first span that is still open, and the rest. At the end of a line nothing is held.
    fn spans(&self, text: &str, is_end: bool) -> (String, String) {
        let (mut shown, mut rest) = (String::new(), text);
        while let Some(at) = rest.find(['`', '*']) {
            let (before, from) = rest.split_at(at);
            shown.push_str(before);
            let mark = if from.starts_with('`') { "`" } else { "**" };
            if mark == "**" && !from.starts_with("**") {
                // A star alone is kept; the last one of a part may become two.
                if from.len() == 1 && !is_end {
                    return (shown, from.to_owned());
                }
                shown.push('*');
                rest = &from[1..];
                continue;
            }
            let inside = &from[mark.len()..];
            let opens = inside.chars().next().is_none_or(|next| !next.is_whitespace());
            match inside.find(mark) {
                Some(end) if opens && end > 0 => {
                    let content = &inside[..end];
                    shown.push_str(&if mark == "`" { self.style.cyan(content) } else { self.style.bold(content) });
                    rest = &inside[end + mark.len()..];
                }
                None if opens && !is_end && inside.len() < LONGEST_SPAN => return (shown, from.to_owned()),
                _ => {
                    shown.push_str(mark);
                    rest = inside;
                }
            }
        }
        shown.push_str(rest);
        (shown, String::new())
    }
}

/// Whether more of the line is needed to know how it begins.
fn could_be_special(line: &str) -> bool {
    let begin = line.trim_start();
    let is_mark = |mark: char, most: usize| begin.chars().all(|letter| letter == mark) && begin.len() <= most;
    begin.is_empty() || is_mark('#', 6) || is_mark('`', 2) || is_mark('~', 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same, whatever the parts are.
    fn check(text: &str, expected: &str) {
        for size in [1, 2, 3, 7, text.len().max(1)] {
            let mut markdown = Markdown::new(Style::coloured());
            let letters: Vec<char> = text.chars().collect();
            let mut shown: String =
                letters.chunks(size).map(|part| markdown.add(&part.iter().collect::<String>())).collect();
            shown.push_str(&markdown.finish());
            // A heading or a line of code may be styled in several parts.
            let shown = shown.replace("\u{1b}[0m\u{1b}[1m", "").replace("\u{1b}[0m\u{1b}[36m", "");
            assert_eq!(shown, expected, "in parts of {size}");
        }
    }

    #[test]
    fn headings_code_and_bold_text_are_styled() {
        check("# Title\nplain", "\u{1b}[1m# Title\u{1b}[0m\nplain");
        check("a **bold** and `code`.", "a \u{1b}[1mbold\u{1b}[0m and \u{1b}[36mcode\u{1b}[0m.");
        check(
            "```rust\nlet a = \"**\";\n```\nb",
            "\u{1b}[2m```rust\u{1b}[0m\n\u{1b}[36mlet a = \"**\";\u{1b}[0m\n\u{1b}[2m```\u{1b}[0m\nb",
        );
    }

    #[test]
    fn what_is_not_markdown_stays_as_it_was_written() {
        for text in ["2 ** 3 * 4", "an `open span\nnext", "**open", "#no heading", "a * b", "", "\n\n", "`", "``", "#"]
        {
            check(text, text);
        }
    }

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        check("a\u{1b}[31mb", "a\u{fffd}[31mb");
    }
}
