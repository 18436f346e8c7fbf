//! Quoting what somebody else wrote in Markdown.

use std::fmt::Write as _;

/// Writes a text between fences that are longer than any run of backticks in it.
pub(super) fn fenced(out: &mut String, language: &str, text: &str) {
    let fence = "`".repeat(longest_run(text, '`').max(2) + 1);
    let newline = if text.ends_with('\n') { "" } else { "\n" };
    let _ = write!(out, "{fence}{language}\n{text}{newline}{fence}\n\n");
}

/// Writes a text as a quotation.
pub(super) fn quoted(out: &mut String, text: &str) {
    for line in text.lines() {
        out.push_str(if line.is_empty() { ">" } else { "> " });
        out.push_str(line);
        out.push('\n');
    }
    out.push('\n');
}

/// Writes a text that is Markdown itself. A fence that it leaves open is closed, because it would hide what follows.
pub(super) fn markdown(out: &mut String, text: &str) {
    out.push_str(text.trim_end());
    out.push('\n');
    if let Some(fence) = open_fence(text) {
        out.push_str(&fence);
        out.push('\n');
    }
    out.push('\n');
}

/// Text inside an HTML tag.
pub(super) fn html(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// One line of plain text: nothing in it is markup.
pub(super) fn plain(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for letter in text.split_whitespace().collect::<Vec<_>>().join(" ").chars() {
        if "\\`*_{}[]<>#|!~".contains(letter) {
            line.push('\\');
        }
        line.push(letter);
    }
    line
}

/// Markdown that stays where it is folded.
pub(super) fn cannot_unfold(text: &str) -> String {
    let lower = text.to_ascii_lowercase();
    let (mut safe, mut from) = (String::with_capacity(text.len()), 0);
    for (at, _) in lower.match_indices('<') {
        if ["</details", "<!--"].iter().any(|tag| lower[at..].starts_with(tag)) {
            safe.push_str(&text[from..at]);
            safe.push_str("&lt;");
            from = at + 1;
        }
    }
    safe.push_str(&text[from..]);
    safe
}

fn longest_run(text: &str, wanted: char) -> usize {
    let (mut longest, mut run) = (0, 0);
    for letter in text.chars() {
        run = if letter == wanted { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

/// The fence that would close a code block which the text leaves open.
fn open_fence(text: &str) -> Option<String> {
    let mut open: Option<(char, usize)> = None;
    for line in text.lines() {
        let content = line.trim_start_matches(' ');
        if line.len() - content.len() > 3 {
            continue;
        }
        let Some(mark) = content.chars().next().filter(|mark| "`~".contains(*mark)) else { continue };
        let length = content.chars().take_while(|letter| *letter == mark).count();
        let rest = content[length..].trim();
        match open {
            Some((fence, fewest)) if mark == fence && length >= fewest && rest.is_empty() => open = None,
            None if length >= 3 && !(mark == '`' && rest.contains('`')) => open = Some((mark, length)),
            _ => {}
        }
    }
    open.map(|(mark, length)| mark.to_string().repeat(length))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl FnOnce(&mut String)) -> String {
        let mut out = String::new();
        write(&mut out);
        out
    }

    #[test]
    fn a_fence_is_longer_than_any_inside() {
        assert_eq!(written(|out| fenced(out, "text", "plain")), "```text\nplain\n```\n\n");
        assert_eq!(written(|out| fenced(out, "", "a\n````\nb\n")), "`````\na\n````\nb\n`````\n\n");
    }

    #[test]
    fn an_open_fence_is_closed() {
        assert_eq!(written(|out| markdown(out, "```rust\nfn a() {}")), "```rust\nfn a() {}\n```\n\n");
        assert_eq!(written(|out| markdown(out, "~~~~\n```\n")), "~~~~\n```\n~~~~\n\n");
        for complete in ["text", "```\na\n```", "``` a `b` ```", "    ```\n"] {
            assert_eq!(written(|out| markdown(out, complete)), format!("{}\n\n", complete.trim_end()), "{complete}");
        }
    }

    #[test]
    fn what_is_folded_stays_folded() {
        assert_eq!(cannot_unfold("a <!-- b </DETAILS> <i>"), "a &lt;!-- b &lt;/DETAILS> <i>");
        assert_eq!(html("<b>&"), "&lt;b&gt;&amp;");
        assert_eq!(plain("a\n[b](c) *d*"), "a \\[b\\](c) \\*d\\*");
        assert_eq!(written(|out| quoted(out, "a\n\nb")), "> a\n>\n> b\n\n");
    }
}
