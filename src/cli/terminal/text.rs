//! Texts for people: without control characters, on one line, short enough.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use crate::model::Timestamp;

/// A text without characters that move the cursor, change colours or turn the writing direction. Line ends stay.
pub(in crate::cli) fn clean(text: &str) -> String {
    let is_harmful = |letter: char| {
        (letter.is_control() && letter != '\n')
            || matches!(letter, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    let mut cleaned = String::with_capacity(text.len());
    for letter in text.replace("\r\n", "\n").chars() {
        match letter {
            '\t' => cleaned.push_str("    "),
            letter if is_harmful(letter) => cleaned.push('\u{fffd}'),
            letter => cleaned.push(letter),
        }
    }
    cleaned
}

/// A text in which nothing is hidden: every control character, and every character that changes the writing direction
/// or takes no room, is written as its number. For what a person decides about.
pub(in crate::cli) fn exact(text: &str) -> String {
    let is_hidden = |letter: char| {
        (letter.is_control() && !matches!(letter, '\n' | '\t'))
            || matches!(letter, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
    };
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        if is_hidden(letter) {
            shown.extend(letter.escape_unicode());
        } else {
            shown.push(letter);
        }
    }
    shown
}

/// All of a text on one line.
pub(in crate::cli) fn one_line(text: &str) -> String {
    clean(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The beginning of a text that may be longer than a line has room for.
pub(in crate::cli) fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

/// Every line of a text behind spaces.
pub(in crate::cli) fn indented(text: &str, spaces: usize) -> String {
    let indent = " ".repeat(spaces);
    let line = |line: &str| if line.is_empty() { String::new() } else { format!("{indent}{line}") };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// A text of the API, without control characters; empty if there is none.
pub(in crate::cli) fn value(value: &Value) -> String {
    clean(value.as_str().unwrap_or_default())
}

/// A moment of the API.
pub(in crate::cli) fn moment(value: &Value) -> Option<Timestamp> {
    serde_json::from_value(value.clone()).ok()
}

/// A moment in seconds.
pub(in crate::cli) fn clock(moment: Timestamp) -> String {
    let text = moment.to_string();
    match text.split_once('.') {
        Some((seconds, _)) => format!("{seconds}Z"),
        None => text,
    }
}

/// How long something took, in its two largest units.
pub(in crate::cli) fn span(span: Duration) -> String {
    let seconds = span.as_secs();
    match (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60, seconds % 60) {
        (0, 0, 0, seconds) => format!("{seconds}s"),
        (0, 0, minutes, seconds) => format!("{minutes}m {seconds}s"),
        (0, hours, minutes, _) => format!("{hours}h {minutes}m"),
        (days, hours, _, _) => format!("{days}d {hours}h"),
    }
}

/// `1 gate`, `2 gates`.
pub(in crate::cli) fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// A command with its arguments so that each can be told from the next.
pub(in crate::cli) fn command(arguments: &[String]) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_-./=:@%+,".contains(letter);
    let quoted = |argument: &String| {
        if !argument.is_empty() && argument.chars().all(is_plain) {
            argument.clone()
        } else {
            clean(&Value::from(argument.as_str()).to_string())
        }
    };
    arguments.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

/// A path without control characters.
pub(in crate::cli) fn path(path: &Path) -> String {
    one_line(&path.display().to_string())
}

/// The folder that a command works in: absolute, and as the server names it.
pub(in crate::cli) fn working_directory(start: &Path, chosen: Option<&PathBuf>) -> anyhow::Result<PathBuf> {
    use anyhow::Context as _;
    let folder = chosen.map_or_else(|| start.to_owned(), |folder| start.join(folder));
    let folder = folder.canonicalize().with_context(|| format!("cannot use the folder {}", path(&folder)))?;
    anyhow::ensure!(folder.is_dir(), "cannot use the folder {}: it is a file", path(&folder));
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        assert_eq!(clean("a\u{1b}[31mb\r\nc\td\u{7}\u{202e}e"), "a\u{fffd}[31mb\nc    d\u{fffd}\u{fffd}e");
        assert_eq!(one_line("  a\n\n b\u{8}"), "a b\u{fffd}");
        assert_eq!(
            command(&["sh".to_owned(), "-c".to_owned(), "a \u{1b}b".to_owned(), String::new()]),
            r#"sh -c "a \u001bb" """#
        );
    }

    #[test]
    fn nothing_is_hidden_in_what_a_person_decides_about() {
        assert_eq!(
            exact("rm -r x\u{1b}[2K\r\u{202e}y\u{200b}\n\tz ü"),
            "rm -r x\\u{1b}[2K\\u{d}\\u{202e}y\\u{200b}\n\tz ü"
        );
    }

    #[test]
    fn long_texts_are_cut() {
        assert_eq!(shortened("short", 5), "short");
        assert_eq!(shortened("a longer text", 9), "a longer…");
        assert_eq!(indented("a\n\nb", 2), "  a\n\n  b");
    }

    #[test]
    fn a_span_has_its_two_largest_units() {
        for (seconds, text) in [(0, "0s"), (59, "59s"), (61, "1m 1s"), (3_600, "1h 0m"), (90_000, "1d 1h")] {
            assert_eq!(span(Duration::from_secs(seconds)), text);
        }
        assert_eq!(clock(Timestamp::from_millis(1_700_000_000_005)), "2023-11-14T22:13:20Z");
    }
}
