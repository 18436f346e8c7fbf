//! Builds HTML. This is the only way to add text to it.

use std::fmt::Write as _;

/// A fragment. Text is escaped; only literals of this crate are added unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Html(String);

impl Html {
    /// An empty fragment.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds markup. The lifetime rules out strings that were built at run time.
    pub(super) fn markup(&mut self, literal: &'static str) -> &mut Self {
        self.0.push_str(literal);
        self
    }

    /// Text, for between tags and for quoted attributes alike. Characters that a person would not see, or that would
    /// turn the direction of what follows, are shown by their names.
    pub(super) fn text(&mut self, text: &str) -> &mut Self {
        let mut plain_from = 0;
        for (position, character) in text.char_indices() {
            let entity = match character {
                '&' => "&amp;",
                '<' => "&lt;",
                '>' => "&gt;",
                '"' => "&quot;",
                '\'' => "&#39;",
                _ if is_hidden(character) => "",
                _ => continue,
            };
            self.0.push_str(&text[plain_from..position]);
            plain_from = position + character.len_utf8();
            if entity.is_empty() {
                // Writing to a string cannot fail.
                let _ = write!(self.0, "‹U+{:04X}›", u32::from(character));
            } else {
                self.0.push_str(entity);
            }
        }
        self.0.push_str(&text[plain_from..]);
        self
    }

    /// Adds a number.
    pub(super) fn number(&mut self, number: usize) -> &mut Self {
        let _ = write!(self.0, "{number}");
        self
    }

    /// Adds another fragment.
    pub(super) fn append(&mut self, other: &Self) -> &mut Self {
        self.0.push_str(&other.0);
        self
    }

    /// Removes some markup from the fragment; escaped text cannot match it.
    pub(super) fn without(self, markup: &'static str) -> Self {
        if self.0.contains(markup) { Self(self.0.replace(markup, "")) } else { self }
    }

    /// A fragment from the sanitiser's output.
    pub(super) fn from_sanitiser(html: String) -> Self {
        Self(html)
    }

    /// The fragment.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The fragment.
    pub fn into_string(self) -> String {
        self.0
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Control characters, and those that embed, override or isolate a text direction.
fn is_hidden(character: char) -> bool {
    match character {
        '\n' | '\t' => false,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        other => other.is_control(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_never_becomes_markup_and_hides_nothing() {
        let mut html = Html::new();
        html.markup("<i title=\"").text("\"><script>'&\u{202e}\0\u{1b}\u{7f}").markup("\">").text("a\n\tß").number(7);
        assert_eq!(
            html.as_str(),
            "<i title=\"&quot;&gt;&lt;script&gt;&#39;&amp;‹U+202E›‹U+0000›‹U+001B›‹U+007F›\">a\n\tß7"
        );
    }
}
