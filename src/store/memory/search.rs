//! The full-text index in memory: a list of texts that is read from one end to the other.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Memory;
use crate::model::{Seq, SessionId, Timestamp};
use crate::store::{
    Answer, IndexBacklog, IndexBatch, Match, MatchQuery, SearchIndex, SearchTerm, SearchTerms, SearchText,
    SessionFacts, SnippetPart,
};

/// What is indexed.
#[derive(Clone, Default)]
pub(super) struct Index {
    positions: BTreeMap<SessionId, Seq>,
    texts: BTreeMap<(SessionId, Seq), (Timestamp, SearchText)>,
}

impl Index {
    pub fn forget(&mut self, session: SessionId) {
        self.positions.remove(&session);
        self.texts.retain(|(of, _), _| *of != session);
    }
}

impl SearchIndex for Memory {
    fn index_backlog(&self) -> &Arc<IndexBacklog> {
        &self.backlog
    }

    fn compare_index(&self) -> Answer<'_, ()> {
        self.write(|state| {
            for session in state.sessions.keys() {
                let last = state.last_seq((*session).into());
                let indexed = state.index.positions.get(session).copied().unwrap_or(0);
                self.backlog.compared(*session, indexed, last);
            }
            self.backlog.finish_comparison();
        })
    }

    fn index(&self, batch: IndexBatch) -> Answer<'_, ()> {
        self.write(|state| {
            if !state.sessions.contains_key(&batch.session) {
                self.backlog.forget(batch.session);
                return;
            }
            let position = state.index.positions.entry(batch.session).or_default();
            if *position == batch.after {
                *position = batch.through;
                for text in batch.texts {
                    state.index.texts.insert((batch.session, text.seq), (text.time, text.text));
                }
            }
            self.backlog.indexed(batch.session, *position);
        })
    }

    fn session_facts(&self) -> Answer<'_, Vec<SessionFacts>> {
        self.read(|state| {
            let facts = |(id, row): (&SessionId, &super::state::SessionRow)| SessionFacts {
                id: *id,
                title: row.profile.title.clone(),
                runtime: row.profile.runtime.clone(),
                working_directory: row.profile.working_directory.clone(),
                created_at: row.created_at,
                updated_at: row.updated_at,
            };
            state.sessions.iter().rev().map(facts).collect()
        })
    }

    fn matches(&self, query: MatchQuery) -> Answer<'_, Vec<Match>> {
        self.read(|state| {
            let fits = |(session, _): &(SessionId, Seq), time: Timestamp, text: &SearchText| {
                query.sessions.as_ref().is_none_or(|sessions| sessions.contains(session))
                    && query.from.is_none_or(|from| time >= from)
                    && time <= query.to
                    && matches(&query.terms, text)
            };
            let texts = state.index.texts.iter().rev().filter(|(place, (time, text))| fits(place, *time, text));
            let found = texts.map(|((session, seq), (time, text))| {
                let found = query.terms.wanted.iter().map(|term| places(term, &text.text).len()).sum::<usize>();
                Match {
                    session: *session,
                    seq: *seq,
                    time: *time,
                    score: f64::from(u32::try_from(found).expect("few")),
                }
            });
            found.take(query.limit).collect()
        })
    }

    fn snippets(&self, terms: SearchTerms, texts: Vec<SearchText>) -> Answer<'_, Vec<Vec<SnippetPart>>> {
        self.read(|_| texts.iter().map(|text| snippet(&terms, text)).collect())
    }
}

fn matches(terms: &SearchTerms, text: &SearchText) -> bool {
    let contains = |term: &SearchTerm| !places(term, &text.text).is_empty();
    (terms.kinds.is_empty() || terms.kinds.contains(&text.kind))
        && terms.wanted.iter().all(contains)
        && !terms.excluded.iter().any(contains)
}

/// Words with their place, in bytes.
fn words(text: &str) -> Vec<(usize, String)> {
    let mut words = Vec::new();
    let mut rest = 0;
    for piece in text.split_inclusive(|letter: char| !letter.is_alphanumeric()) {
        let word = piece.trim_end_matches(|letter: char| !letter.is_alphanumeric());
        if !word.is_empty() {
            words.push((rest, word.to_owned()));
        }
        rest += piece.len();
    }
    words
}

/// Where a term is, in bytes.
fn places(term: &SearchTerm, text: &str) -> Vec<(usize, usize)> {
    let wanted: Vec<String> = words(&term.text).into_iter().map(|(_, word)| word.to_lowercase()).collect();
    let words = words(text);
    let is_here = |here: &[(usize, String)]| {
        here.iter().zip(&wanted).enumerate().all(|(position, ((_, word), wanted_word))| {
            let word = word.to_lowercase();
            let may_go_on = term.is_prefix && position + 1 == wanted.len();
            word == *wanted_word || (may_go_on && word.starts_with(wanted_word))
        })
    };
    let end = |here: &[(usize, String)]| here.last().map_or(0, |(start, word)| start + word.len());
    words.windows(wanted.len().max(1)).filter(|here| is_here(here)).map(|here| (here[0].0, end(here))).collect()
}

/// The whole text, with what matches.
fn snippet(terms: &SearchTerms, text: &SearchText) -> Vec<SnippetPart> {
    if !matches(terms, text) {
        return Vec::new();
    }
    let mut ranges: Vec<(usize, usize)> = terms.wanted.iter().flat_map(|term| places(term, &text.text)).collect();
    ranges.sort_unstable();
    let (mut parts, mut from) = (Vec::new(), 0);
    let mut add = |piece: &str, is_match| {
        if !piece.is_empty() {
            parts.push(SnippetPart { text: piece.to_owned(), is_match });
        }
    };
    for (start, end) in ranges {
        if start < from {
            continue;
        }
        add(&text.text[from..start], false);
        add(&text.text[start..end], true);
        from = end;
    }
    add(&text.text[from..], false);
    parts
}
