//! Answering a search: sessions by title and folder, then texts, ranked.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::text::{self, Found};
use crate::model::{Seq, SessionId, Timestamp};
use crate::store::{
    IndexProgress, Match, MatchQuery, SearchKind, SearchTerms, SessionFacts, SnippetPart, Store, StoreError,
};

/// Of more matches, the newest are ranked: those of the newest sessions.
pub const RANKED: usize = 2_000;
/// Sessions that are found by title or folder.
const MOST_SESSIONS: usize = 20;
/// A text of today counts this much more than a very old one.
const NEWNESS: f64 = 0.5;
/// After this time, half of that is left.
const HALF_LIFE: Duration = Duration::from_hours(24 * 30);

/// What to search for, and where.
#[derive(Clone, Debug, Default)]
pub struct Search {
    /// The words.
    pub terms: SearchTerms,
    /// Only this session.
    pub session: Option<SessionId>,
    /// Only sessions in this folder or below it.
    pub folder: Option<PathBuf>,
    /// Only sessions of this runtime.
    pub runtime: Option<String>,
    /// Only texts from this moment on.
    pub from: Option<Timestamp>,
    /// Only texts up to this moment.
    pub to: Option<Timestamp>,
}

/// A position in the results of a search. Texts that are newer than its first page are left out, so that pages fit together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor {
    /// When the first page was asked for.
    pub at: Timestamp,
    /// How many hits came before.
    pub offset: usize,
}

/// A page of results.
#[derive(Clone, Debug)]
pub struct Results {
    /// Sessions whose title or folder matches; only on the first page.
    pub sessions: Vec<SessionFacts>,
    /// Texts, the best first.
    pub hits: Vec<Hit>,
    /// Where the next page begins.
    pub next: Option<Cursor>,
    /// How far the index is, if something is missing in it.
    pub indexing: Option<IndexProgress>,
}

/// A text that was found.
#[derive(Clone, Debug)]
pub struct Hit {
    /// Its session.
    pub session: SessionFacts,
    /// The number of its event.
    pub seq: Seq,
    /// When it was written.
    pub time: Timestamp,
    /// Who wrote it.
    pub kind: SearchKind,
    /// The id of its block or prompt.
    pub block_id: String,
    /// The part of it that matches.
    pub snippet: Vec<SnippetPart>,
}

/// Answers a search with at most `limit` hits.
pub async fn search(
    store: &Store,
    search: &Search,
    cursor: Option<Cursor>,
    limit: usize,
    now: Timestamp,
) -> Result<Results, StoreError> {
    let indexing = store.index_backlog().progress();
    let cursor = cursor.unwrap_or(Cursor { at: now, offset: 0 });
    let facts = store.session_facts().await?;
    let allowed: Vec<&SessionFacts> = facts.iter().filter(|session| search.allows(session)).collect();
    let sessions = if cursor.offset == 0 { search.named(&allowed) } else { Vec::new() };
    let query = MatchQuery {
        terms: search.terms.clone(),
        sessions: (allowed.len() < facts.len()).then(|| allowed.iter().map(|session| session.id).collect()),
        from: search.from,
        to: search.to.map_or(cursor.at, |to| to.min(cursor.at)),
        limit: RANKED,
    };
    let matches = match store.matches(query).await {
        // It is being built again.
        Err(StoreError::Damaged { .. }) => Vec::new(),
        found => found?,
    };
    let known: HashMap<SessionId, &SessionFacts> = allowed.iter().map(|session| (session.id, *session)).collect();
    // A session that was just deleted may still be in the index.
    let matches = ranked(matches.into_iter().filter(|found| known.contains_key(&found.session)).collect(), cursor.at);
    let page: Vec<Match> = matches.iter().skip(cursor.offset).take(limit).copied().collect();
    let end = cursor.offset + page.len();
    let hits = hits(store, &search.terms, &known, page).await?;
    let next = (end < matches.len()).then_some(Cursor { at: cursor.at, offset: end });
    Ok(Results { sessions, hits, next, indexing: indexing.or_else(|| store.index_backlog().progress()) })
}

impl Search {
    fn allows(&self, session: &SessionFacts) -> bool {
        self.session.is_none_or(|id| session.id == id)
            && self.runtime.as_ref().is_none_or(|runtime| session.runtime == *runtime)
            && self.folder.as_deref().is_none_or(|folder| is_below(session.working_directory.as_deref(), folder))
            && self.from.is_none_or(|from| session.updated_at >= from)
            && self.to.is_none_or(|to| session.created_at <= to)
    }

    /// Sessions whose title or folder has all words in it, those that changed last first.
    fn named(&self, sessions: &[&SessionFacts]) -> Vec<SessionFacts> {
        if !self.terms.kinds.is_empty() || self.session.is_some() {
            return Vec::new();
        }
        let lower = |terms: &[crate::store::SearchTerm]| -> Vec<String> {
            terms.iter().map(|term| term.text.to_lowercase()).collect()
        };
        let (wanted, excluded) = (lower(&self.terms.wanted), lower(&self.terms.excluded));
        let matches = |session: &SessionFacts| {
            let folder = session.working_directory.as_deref().unwrap_or(Path::new("")).to_string_lossy();
            let name = format!("{} {} {folder}", session.id, session.title.as_deref().unwrap_or_default());
            let name = name.to_lowercase();
            wanted.iter().all(|word| name.contains(word)) && !excluded.iter().any(|word| name.contains(word))
        };
        let mut found: Vec<SessionFacts> =
            sessions.iter().filter(|session| matches(session)).map(|session| (*session).clone()).collect();
        found.sort_by_key(|session| std::cmp::Reverse((session.updated_at, session.id)));
        found.truncate(MOST_SESSIONS);
        found
    }
}

fn is_below(folder: Option<&Path>, parent: &Path) -> bool {
    folder.is_some_and(|folder| folder.starts_with(parent))
}

/// The best first; of equal ones the newest.
fn ranked(mut matches: Vec<Match>, now: Timestamp) -> Vec<Match> {
    for found in &mut matches {
        let age = now.since(found.time).as_secs_f64() / HALF_LIFE.as_secs_f64();
        found.score *= 1.0 + NEWNESS * 0.5_f64.powf(age);
    }
    matches.sort_by(|one, other| {
        let order = other.score.total_cmp(&one.score);
        order.then_with(|| (other.time, other.session, other.seq).cmp(&(one.time, one.session, one.seq)))
    });
    matches
}

async fn hits(
    store: &Store,
    terms: &SearchTerms,
    sessions: &HashMap<SessionId, &SessionFacts>,
    matches: Vec<Match>,
) -> Result<Vec<Hit>, StoreError> {
    let mut found: Vec<(Match, Found)> = Vec::with_capacity(matches.len());
    for place in matches {
        let event = store.event(place.session, place.seq).await?;
        found.extend(event.and_then(|event| text::of_event(&event.body)).map(|text| (place, text)));
    }
    let texts = found.iter().map(|(_, found)| found.text.clone()).collect();
    let snippets = store.snippets(terms.clone(), texts).await?;
    let hit = |((place, found), snippet): ((Match, Found), Vec<SnippetPart>)| {
        let session = sessions.get(&place.session)?;
        Some(Hit {
            session: (*session).clone(),
            seq: place.seq,
            time: place.time,
            kind: found.text.kind,
            block_id: found.block_id,
            snippet,
        })
    };
    Ok(found.into_iter().zip(snippets).filter_map(hit).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(score: f64, days_ago: i64, seq: Seq) -> Match {
        let time = Timestamp::from_millis(-days_ago * 24 * 60 * 60 * 1000);
        Match { session: SessionId::from_number(1), seq, time, score }
    }

    #[test]
    fn better_matches_come_first_and_newer_ones_of_about_the_same_quality() {
        let matches = vec![found(1.0, 400, 1), found(1.1, 800, 2), found(1.0, 0, 3), found(4.0, 800, 4)];
        let order: Vec<Seq> = ranked(matches, Timestamp::from_millis(0)).iter().map(|found| found.seq).collect();
        assert_eq!(order, [4, 3, 2, 1]);
    }

    #[test]
    fn a_folder_contains_what_is_below_it_and_not_its_namesakes() {
        let below = |folder: &str| is_below(Some(Path::new(folder)), Path::new("/repos/a"));
        assert!(below("/repos/a") && below("/repos/a/b"));
        assert!(!below("/repos/ab") && !below("/repos"));
        assert!(!is_below(None, Path::new("/repos")));
    }
}
