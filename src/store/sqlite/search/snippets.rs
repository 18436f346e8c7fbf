//! The part of a text that matches. The index has no texts, so the few that are shown are put into an index in memory, which
//! splits them into words exactly as the other does.

use rusqlite::{Connection, params};

use super::expression::{column, expression};
use crate::store::{SearchTerms, SearchText, SnippetPart};

/// Marks around a match. Texts have them replaced.
const BEGIN: char = '\u{1}';
const END: char = '\u{2}';
/// Words of a snippet.
const WORDS: usize = 32;
/// A word may be a whole file in base64. A piece between two matches is cut to this many characters.
const LONGEST_PIECE: usize = 240;

pub(super) fn of(terms: &SearchTerms, texts: &[SearchText]) -> rusqlite::Result<Vec<Vec<SnippetPart>>> {
    let connection = Connection::open_in_memory()?;
    connection.execute_batch(
        "CREATE VIRTUAL TABLE text USING fts5(prompt, message, reasoning, call, output,
            tokenize='unicode61 remove_diacritics 2');
         BEGIN",
    )?;
    for (number, text) in texts.iter().enumerate() {
        connection
            .prepare_cached(&format!("INSERT INTO text (rowid, {}) VALUES (?1, ?2)", column(text.kind)))?
            .execute(params![number, text.text.replace([BEGIN, END], " ")])?;
    }
    let mut snippets = vec![Vec::new(); texts.len()];
    let mut statement =
        connection.prepare("SELECT rowid, snippet(text, -1, ?2, ?3, '…', ?4) FROM text WHERE text MATCH ?1")?;
    let mut rows = statement.query(params![expression(terms), BEGIN.to_string(), END.to_string(), WORDS])?;
    while let Some(row) = rows.next()? {
        let number: usize = row.get(0)?;
        if let Some(snippet) = snippets.get_mut(number) {
            *snippet = parts(&row.get::<_, String>(1)?);
        }
    }
    Ok(snippets)
}

/// Splits at the marks.
fn parts(marked: &str) -> Vec<SnippetPart> {
    let mut parts = Vec::new();
    let mut add = |text: &str, is_match: bool| {
        if !text.is_empty() {
            parts.push(SnippetPart { text: shortened(text), is_match });
        }
    };
    for (position, piece) in marked.split(BEGIN).enumerate() {
        // Before the first mark there is no match.
        match piece.split_once(END) {
            Some((matched, rest)) if position > 0 => {
                add(matched, true);
                add(rest, false);
            }
            _ => add(piece, false),
        }
    }
    parts
}

/// Both ends stay: a match may be on either side.
fn shortened(text: &str) -> String {
    let length = text.chars().count();
    if length <= LONGEST_PIECE {
        return text.to_owned();
    }
    let half = LONGEST_PIECE / 2;
    let (start, end) = (text.chars().take(half), text.chars().skip(length - half));
    start.chain(['…']).chain(end).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{SearchKind, SearchTerm};

    fn snippet(wanted: &str, text: &str) -> Vec<(String, bool)> {
        let term = SearchTerm { text: wanted.to_owned(), is_prefix: false };
        let terms = SearchTerms { wanted: vec![term], ..SearchTerms::default() };
        let texts = [SearchText { kind: SearchKind::Message, text: text.to_owned() }];
        let found = of(&terms, &texts).expect("found").remove(0);
        found.into_iter().map(|part| (part.text, part.is_match)).collect()
    }

    #[test]
    fn matches_are_marked_without_case_and_diacritics() {
        let plain = |text: &str| (text.to_owned(), false);
        let matched = |text: &str| (text.to_owned(), true);
        assert_eq!(snippet("cafe", "The Café <b>opens</b>"), [plain("The "), matched("Café"), plain(" <b>opens</b>")]);
        assert_eq!(snippet("read_page", "in read_page()"), [plain("in "), matched("read_page"), plain("()")]);
        assert_eq!(snippet("x", "\u{1}x\u{2}"), [plain(" "), matched("x"), plain(" ")]);
        assert_eq!(snippet("none", "some"), []);
    }

    #[test]
    fn long_words_and_long_texts_are_shortened() {
        let found = snippet("needle", &format!("{} needle {}", "a".repeat(5_000), "word ".repeat(500)));
        assert_eq!(found[1], ("needle".to_owned(), true));
        assert!(found.iter().all(|(text, _)| text.chars().count() <= LONGEST_PIECE + 1), "{found:?}");
        assert!(found[2].0.ends_with('…'));
    }
}
