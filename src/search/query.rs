//! The language of searches: words, "phrases", prefix*, -excluded. Everything else is text, so that nothing that somebody
//! types or pastes is an error without a reason.

use crate::store::{SearchTerm, SearchTerms};

/// The longest search, in characters.
const LONGEST: usize = 1_000;
/// The most words and phrases.
const MOST_TERMS: usize = 32;
/// The shortest beginning of a word, in letters of ASCII: shorter ones match half of everything.
const SHORTEST_PREFIX: usize = 3;

/// A search that cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidSearch {
    /// It has no word.
    #[error("nothing to search for: write at least one word or number")]
    Empty,
    /// It only says what must not be found.
    #[error("only excluded words: add a word that results must contain")]
    OnlyExcluded,
    /// It is too long.
    #[error("the search is too long: {0} characters, at most {LONGEST} are allowed")]
    TooLong(usize),
    /// It has too many words.
    #[error("the search has too many words: {0}, at most {MOST_TERMS} are allowed")]
    TooManyTerms(usize),
    /// The beginning of a word is too short.
    #[error("“{text}*” at character {position} is too short: write at least {SHORTEST_PREFIX} letters before the *")]
    ShortPrefix {
        /// The word.
        text: String,
        /// Where it is, from 1.
        position: usize,
    },
}

/// What follows the last word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LastWord {
    /// Nothing: the word is complete.
    Complete,
    /// Perhaps more letters: somebody is typing.
    Typing,
}

struct Term {
    text: String,
    position: usize,
    is_phrase: bool,
    is_prefix: bool,
    is_excluded: bool,
}

/// Reads a search.
pub fn parse(text: &str, last: LastWord) -> Result<SearchTerms, InvalidSearch> {
    let length = text.chars().count();
    if length > LONGEST {
        return Err(InvalidSearch::TooLong(length));
    }
    let mut terms = split(text);
    if last == LastWord::Typing
        && !text.ends_with(char::is_whitespace)
        && let Some(last) = terms.last_mut()
        && !last.is_phrase
        && !last.is_excluded
    {
        last.is_prefix |= !is_short(&last.text);
    }
    // What has no word in it, such as an arrow, cannot be found.
    terms.retain(|term| term.text.contains(char::is_alphanumeric));
    if terms.len() > MOST_TERMS {
        return Err(InvalidSearch::TooManyTerms(terms.len()));
    }
    if let Some(term) = terms.iter().find(|term| term.is_prefix && is_short(&term.text)) {
        return Err(InvalidSearch::ShortPrefix { text: term.text.clone(), position: term.position });
    }
    let (excluded, wanted): (Vec<Term>, Vec<Term>) = terms.into_iter().partition(|term| term.is_excluded);
    match (wanted.is_empty(), excluded.is_empty()) {
        (true, true) => return Err(InvalidSearch::Empty),
        (true, false) => return Err(InvalidSearch::OnlyExcluded),
        _ => {}
    }
    let plain = |terms: Vec<Term>| {
        terms.into_iter().map(|term| SearchTerm { text: term.text, is_prefix: term.is_prefix }).collect()
    };
    Ok(SearchTerms { wanted: plain(wanted), excluded: plain(excluded), kinds: Vec::new() })
}

fn split(text: &str) -> Vec<Term> {
    let letters: Vec<char> = text.chars().collect();
    let (mut terms, mut at) = (Vec::new(), 0);
    while at < letters.len() {
        if letters[at].is_whitespace() {
            at += 1;
            continue;
        }
        let position = at + 1;
        let is_excluded = letters[at] == '-' && letters.get(at + 1).is_some_and(|next| !next.is_whitespace());
        at += usize::from(is_excluded);
        let is_phrase = letters[at] == '"';
        let start = at + usize::from(is_phrase);
        let ends = |letter: &char| if is_phrase { *letter == '"' } else { letter.is_whitespace() || *letter == '"' };
        // A phrase that is not closed goes to the end: its end is still to be typed.
        let end = letters[start..].iter().position(ends).map_or(letters.len(), |length| start + length);
        let content: String = letters[start..end].iter().collect();
        at = if is_phrase { end + 1 } else { end };
        let after_phrase = is_phrase && letters.get(at) == Some(&'*');
        at += usize::from(after_phrase);
        let word = content.trim_end_matches('*');
        let is_prefix = after_phrase || (!is_phrase && word.len() < content.len());
        terms.push(Term {
            text: if is_phrase { content } else { word.to_owned() },
            position,
            is_phrase,
            is_prefix,
            is_excluded,
        });
    }
    terms
}

/// Whether too little is known of the last word. Other scripts say more with a letter.
fn is_short(text: &str) -> bool {
    let last = text.split(|letter: char| !letter.is_alphanumeric()).rfind(|word| !word.is_empty()).unwrap_or_default();
    last.is_ascii() && last.len() < SHORTEST_PREFIX
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn words(text: &str, last: LastWord) -> Result<(Vec<String>, Vec<String>), InvalidSearch> {
        let shown = |term: &SearchTerm| format!("{}{}", term.text, if term.is_prefix { "*" } else { "" });
        let terms = parse(text, last)?;
        Ok((terms.wanted.iter().map(shown).collect(), terms.excluded.iter().map(shown).collect()))
    }

    fn check(text: &str, wanted: &[&str], excluded: &[&str]) {
        let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        assert_eq!(words(text, LastWord::Complete), Ok((owned(wanted), owned(excluded))), "{text}");
    }

    #[test]
    fn words_phrases_prefixes_and_exclusions_are_read() {
        check("one two", &["one", "two"], &[]);
        check(" \"one two\"  three", &["one two", "three"], &[]);
        check("conf* -test -\"not this\"", &["conf*"], &["test", "not this"]);
        check("\"read pag\"*", &["read pag*"], &[]);
        check("src/store.rs read_page", &["src/store.rs", "read_page"], &[]);
        check("a\"b c\"d", &["a", "b c", "d"], &[]);
        check("错误*", &["错误*"], &[]);
    }

    #[test]
    fn everything_else_is_text() {
        check("a AND b OR NOT c NEAR(d)", &["a", "AND", "b", "OR", "NOT", "c", "NEAR(d)"], &[]);
        check("title:x ^y {z} a+b c-d", &["title:x", "^y", "{z}", "a+b", "c-d"], &[]);
        check("-> x - * \"\" 'y", &["x", "'y"], &[]);
        check("\"not closed", &["not closed"], &[]);
        check("--force x", &["x"], &["-force"]);
    }

    #[test]
    fn the_last_word_may_be_half_typed() {
        let typed = |text| words(text, LastWord::Typing).expect("words").0;
        assert_eq!(typed("one thr"), ["one", "thr*"]);
        assert_eq!(typed("one th"), ["one", "th"], "too short");
        assert_eq!(typed("one thr "), ["one", "thr"], "complete");
        assert_eq!(typed("one \"thr"), ["one", "thr"], "a phrase");
    }

    #[test]
    fn what_cannot_be_searched_for_says_why() {
        let problem = |text: &str| parse(text, LastWord::Complete).expect_err(text).to_string();
        for nothing in ["", "  ", "->", "\"\"", "*", "-"] {
            assert!(problem(nothing).starts_with("nothing to search for"), "{nothing}");
        }
        assert!(problem("-a -b").starts_with("only excluded words"));
        assert!(problem("one ab*").contains("“ab*” at character 5"));
        assert!(problem(&"x".repeat(1_001)).contains("1001 characters"));
        assert!(problem(&"x ".repeat(40)).contains("too many words: 40"));
    }

    proptest! {
        #[test]
        fn no_text_is_too_odd(text in "\\PC{0,60}|[-\"*a ]{0,20}") {
            for last in [LastWord::Complete, LastWord::Typing] {
                if let Ok(terms) = parse(&text, last) {
                    prop_assert!(!terms.wanted.is_empty());
                    prop_assert!(terms.wanted.iter().chain(&terms.excluded).all(|term| !term.text.is_empty()));
                }
            }
        }
    }
}
