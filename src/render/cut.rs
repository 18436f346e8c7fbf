//! Cuts long texts, and links to the rest.

use super::html::Html;

/// A block first shows this much of each text.
const FIRST_LINES: usize = 400;
const FIRST_BYTES: usize = 64 * 1024;
/// The most that is shown at all, because a browser has to lay it out.
const MOST_LINES: usize = 50_000;
const MOST_BYTES: usize = 4 * 1024 * 1024;

/// How much of a text to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// The beginning, with a button for the rest.
    Beginning,
    /// As much as a browser can handle.
    All,
}

impl Extent {
    /// The most lines that are shown.
    pub(super) fn lines(self) -> usize {
        match self {
            Self::Beginning => FIRST_LINES,
            Self::All => MOST_LINES,
        }
    }

    fn bytes(self) -> usize {
        match self {
            Self::Beginning => FIRST_BYTES,
            Self::All => MOST_BYTES,
        }
    }
}

/// The part of a text that is shown.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Cut<'a> {
    pub shown: &'a str,
    /// The number of lines of the whole text, if it was cut.
    pub lines: Option<usize>,
    bytes: usize,
}

/// Cuts between lines, or between characters where a line is too long.
pub(super) fn cut(text: &str, extent: Extent) -> Cut<'_> {
    let after_lines = text.match_indices('\n').nth(extent.lines() - 1).map_or(text.len(), |(position, _)| position + 1);
    let mut end = after_lines;
    if end > extent.bytes() {
        end = text.floor_char_boundary(extent.bytes());
        // Cut before a line rather than in the middle of it, unless that would leave nothing.
        end = text[..end].rfind('\n').map_or(end, |newline| newline + 1);
    }
    let lines = (end < text.len()).then(|| text.lines().count());
    Cut { shown: &text[..end], lines, bytes: text.len() }
}

impl Cut<'_> {
    /// A button or link for the rest, if the text was cut. `whole` is the address of a blob with the whole text.
    pub fn rest(&self, extent: Extent, whole: Option<&str>, html: &mut Html) {
        let Some(lines) = self.lines else { return };
        match extent {
            Extent::Beginning => show_all(lines, self.bytes, html),
            Extent::All => {
                html.markup("<p class=\"render-note\">The rest is too large to show. In total: ");
                html.number(lines).markup(" lines, ").text(&size(self.bytes)).markup(".");
                if let Some(address) = whole {
                    html.markup(
                        " <a class=\"whole-output\" target=\"_blank\" rel=\"noopener noreferrer nofollow\" href=\"",
                    );
                    html.text(address).markup("\">Open the whole output</a>");
                }
                html.markup("</p>");
            }
        }
    }
}

/// The button that loads everything.
pub(super) fn show_all(lines: usize, bytes: usize, html: &mut Html) {
    html.markup("<button type=\"button\" class=\"show-all\" data-lines=\"").number(lines).markup("\">Show all ");
    if lines > FIRST_LINES {
        html.text(&grouped(lines)).markup(" lines</button>");
    } else {
        html.text(&size(bytes)).markup("</button>");
    }
}

/// Formats 12345 as 12,345.
pub(super) fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A size for people.
pub(super) fn size(bytes: usize) -> String {
    const MEGABYTE: usize = 1024 * 1024;
    match bytes {
        0..1024 => format!("{bytes} bytes"),
        1024..MEGABYTE => format!("{} KB", bytes / 1024),
        _ => match bytes % MEGABYTE * 10 / MEGABYTE {
            0 => format!("{} MB", bytes / MEGABYTE),
            tenths => format!("{}.{tenths} MB", bytes / MEGABYTE),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_between_lines_and_say_how_long_they_are() {
        let text = "line\n".repeat(1_000);
        let beginning = cut(&text, Extent::Beginning);
        assert_eq!((beginning.shown.lines().count(), beginning.lines), (FIRST_LINES, Some(1_000)));
        assert_eq!(cut(&text, Extent::All).shown, text);
        let exactly = "line\n".repeat(FIRST_LINES);
        assert_eq!(cut(&exactly, Extent::Beginning).lines, None);
        let mut html = Html::new();
        beginning.rest(Extent::Beginning, None, &mut html);
        assert_eq!(
            html.as_str(),
            "<button type=\"button\" class=\"show-all\" data-lines=\"1000\">Show all 1,000 lines</button>"
        );
    }

    #[test]
    fn a_line_that_never_ends_is_cut_between_characters() {
        let text = "ß".repeat(1_000_000);
        let beginning = cut(&text, Extent::Beginning);
        assert_eq!((beginning.shown.len(), beginning.lines), (FIRST_BYTES, Some(1)));
        let mut html = Html::new();
        beginning.rest(Extent::Beginning, None, &mut html);
        assert!(html.as_str().contains("Show all 1.9 MB"), "{}", html.as_str());
    }

    #[test]
    fn what_is_too_large_for_a_browser_is_described_and_linked() {
        let text = "x\n".repeat(MOST_BYTES);
        let all = cut(&text, Extent::All);
        assert_eq!(all.shown.lines().count(), MOST_LINES);
        let mut html = Html::new();
        all.rest(Extent::All, Some("/api/\"blob"), &mut html);
        assert!(html.as_str().contains("4194304 lines, 8 MB"), "{}", html.as_str());
        assert!(html.as_str().contains("href=\"/api/&quot;blob\""), "{}", html.as_str());
    }
}
