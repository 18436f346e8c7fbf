//! Makes a program's output safe for a terminal.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Escapes control characters, so that a program's output cannot move the cursor, ring the bell or change colours. Line
/// endings and tabs are kept.
pub fn printable(text: &str) -> Cow<'_, str> {
    let is_control = |letter: char| letter.is_control() && !matches!(letter, '\n' | '\t');
    if !text.contains(is_control) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        if is_control(letter) {
            // Writing to a string cannot fail.
            let _ = write!(shown, "{}", letter.escape_default());
        } else {
            shown.push(letter);
        }
    }
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_shown_and_nothing_else_is_touched() {
        assert_eq!(printable("plain ü\ttext\n"), Cow::Borrowed("plain ü\ttext\n"));
        assert_eq!(printable("\x1b[31mred\x07\r\x7f\u{9b}2J"), "\\u{1b}[31mred\\u{7}\\r\\u{7f}\\u{9b}2J");
    }
}
