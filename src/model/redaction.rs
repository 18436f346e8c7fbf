//! Secrets are taken out of whatever is logged, shown as an error or exported.

use std::borrow::Cow;

/// Prefixes of secrets that we recognise, ours (`fd_`, `fdc_`, `fdk_`, `fdl_`, `fds_`, `fdt_`) among them.
const PREFIXES: [&str; 19] = [
    "github_pat_",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "sk-",
    "xoxb-",
    "xoxp-",
    "fdc_",
    "fdk_",
    "fdl_",
    "fds_",
    "fdt_",
    "fd_",
    "AKIA",
    "glpat-",
    "npm_",
    "AIza",
];
/// Words after which whatever follows is a secret, whatever it looks like.
/// The number is the least length that is taken for a secret: "bearer" is also a word.
const INTRODUCTIONS: [(&str, usize); 8] = [
    ("bearer ", 6),
    ("api_key=", 1),
    ("apikey=", 1),
    ("api-key=", 1),
    ("token=", 1),
    ("password=", 1),
    ("passwd=", 1),
    ("secret=", 1),
];
/// Shorter runs than this after a prefix are words, not keys ("sk-learn").
const SHORTEST_KEY: usize = 12;
const MARK: &str = "[redacted]";

/// Whether a setting or option of that name holds secrets: keys and tokens, and whatever a person may put among the
/// variables and headers of a program. The name of a variable that holds a key is none.
pub fn names_a_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let is_reference = name.ends_with("variable");
    matches!(name.as_str(), "env" | "headers")
        || (!is_reference
            && ["key", "token", "secret", "password", "authorization"].iter().any(|word| name.contains(word)))
}

/// The text with every secret that we can recognise replaced by `[redacted]`.
pub fn redact(text: &str) -> Cow<'_, str> {
    let mut clean: Option<String> = None;
    let mut copied = 0;
    let mut at = 0;
    while at < text.len() {
        if let Some(secret) = secret_at(text, at) {
            let clean = clean.get_or_insert_with(String::new);
            clean.push_str(&text[copied..secret.start]);
            clean.push_str(MARK);
            at = secret.end;
            copied = at;
        } else {
            at += text[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    match clean {
        Some(mut clean) => {
            clean.push_str(&text[copied..]);
            Cow::Owned(clean)
        }
        None => Cow::Borrowed(text),
    }
}

/// The secret that begins at `at` (or right after an introduction there).
fn secret_at(text: &str, at: usize) -> Option<std::ops::Range<usize>> {
    let bytes = text.as_bytes();
    let begins_word = at == 0 || !is_key_byte(bytes[at - 1]);
    if !begins_word {
        return None;
    }
    for prefix in PREFIXES {
        if bytes[at..].starts_with(prefix.as_bytes()) {
            let end = key_end(bytes, at + prefix.len());
            if end - at - prefix.len() >= SHORTEST_KEY {
                return Some(at..end);
            }
        }
    }
    for (introduction, shortest) in INTRODUCTIONS {
        let start = at + introduction.len();
        if bytes.len() > start && bytes[at..start].eq_ignore_ascii_case(introduction.as_bytes()) {
            let end = key_end(bytes, start);
            if end - start >= shortest {
                return Some(start..end);
            }
        }
    }
    None
}

fn key_end(bytes: &[u8], from: usize) -> usize {
    from + bytes[from..].iter().take_while(|byte| is_key_byte(**byte)).count()
}

fn is_key_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'/' | b'+')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_secrets_are_taken_out_and_the_rest_stays() {
        for (text, expected) in [
            ("login with ghp_abcdefghijklmnop1234 failed", "login with [redacted] failed"),
            ("Authorization: Bearer abc.def", "Authorization: Bearer [redacted]"),
            ("/login?token=s3cr3t&next=/", "/login?token=[redacted]&next=/"),
            ("key sk-proj-0123456789abcdef, ü", "key [redacted], ü"),
            ("fd_0123456789abcdefghij", "[redacted]"),
            ("x-api-key: fdk_0123456789abcdefghij", "x-api-key: [redacted]"),
        ] {
            assert_eq!(redact(text), expected);
        }
    }

    #[test]
    fn plain_words_are_left_alone() {
        for text in ["use sk-learn", "desk-0123456789abcdef", "the bearer of news", "日本語 ghp_", ""] {
            assert_eq!(redact(text), text);
        }
    }
}
