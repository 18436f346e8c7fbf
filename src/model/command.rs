//! Shell commands, as far as a rule has to understand them.

/// The words of one simple command; `None` if it could do more than its words say, or if it is not certain what its
/// words are: operators, substitution, redirection, escapes, several lines, unbalanced quotes.
pub fn simple_command(text: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    for letter in text.chars() {
        match (quote, letter) {
            // Also within double quotes, where these have a meaning, and for simplicity within single quotes.
            (_, '$' | '`' | '\\' | '!') => return None,
            (_, control) if control.is_control() && control != '\t' => return None,
            (Some(open), letter) if open == letter => quote = None,
            (None, ';' | '|' | '&' | '<' | '>' | '(' | ')' | '{' | '}' | '#' | '*' | '?' | '[' | '~') => return None,
            (None, '\'' | '"') => {
                word.get_or_insert_default();
                quote = Some(letter);
            }
            (None, ' ' | '\t') => words.extend(word.take()),
            // What looks like a space may separate words for a person and not for a shell.
            (None, space) if space.is_whitespace() => return None,
            (_, letter) => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    (quote.is_none() && !words.is_empty()).then_some(words)
}

/// Whether a command is a simple command that begins with all words of the prefix.
pub fn begins_with(command: &str, prefix: &str) -> bool {
    match (simple_command(command), simple_command(prefix)) {
        (Some(command), Some(prefix)) => command.starts_with(&prefix),
        _ => false,
    }
}

/// The words of a command that say what it does: the program, and its sub-command if there seems to be one.
pub fn suggested_prefix(command: &str) -> Option<String> {
    let words = simple_command(command)?;
    let is_plain = |word: &&String| {
        word.starts_with(|first: char| first.is_ascii_alphabetic())
            && word.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_".contains(letter))
    };
    let program = words.first().filter(|word| !word.contains([' ', '\t', '\'', '"', '=']))?;
    match words.get(1).filter(is_plain) {
        Some(second) => Some(format!("{program} {second}")),
        None => Some(program.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_is_whole_words_of_one_simple_command() {
        for command in ["git status", "git  status", "git status --short 'a file'", "\"git\" status"] {
            assert!(begins_with(command, "git status"), "{command}");
        }
        for command in ["git", "git statusx", "git stash", "sudo git status", "GIT_DIR=x git status", "git 'status x'"]
        {
            assert!(!begins_with(command, "git status"), "{command}");
        }
    }

    #[test]
    fn a_suggestion_is_a_prefix_of_its_command() {
        for (command, prefix) in [
            ("git status --short", Some("git status")),
            ("ls -la", Some("ls")),
            ("./run.sh fast", Some("./run.sh fast")),
            ("cat /etc/passwd", Some("cat")),
            ("git status; rm x", None),
            ("'my program' x", None),
            ("A=b make", None),
        ] {
            assert_eq!(suggested_prefix(command).as_deref(), prefix, "{command}");
            assert!(prefix.is_none_or(|prefix| begins_with(command, prefix)), "{command}");
        }
    }

    #[test]
    fn whatever_could_do_more_than_its_words_say_is_not_covered() {
        for end in [
            "; rm x",
            "&& rm x",
            "| sh",
            "> x",
            "< x",
            "$(rm x)",
            "`rm x`",
            "\nrm x",
            "\rrm x",
            "& rm x",
            "\"$(rm x)\"",
            "\\\nrm",
            "(x)",
            "{x}",
            "$HOME",
            "'x",
            "\"x",
            "*",
            "~",
            "\u{a0}x",
            "\u{0}",
            "!!",
            "# x",
        ] {
            assert!(!begins_with(&format!("git status {end}"), "git status"), "{end:?}");
        }
        assert!(!begins_with("git status", ""), "an empty prefix covers nothing");
        assert!(!begins_with("git status", "git $x"));
    }
}
