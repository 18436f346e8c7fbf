//! The full-text index.

use super::{Ending, Medium, TIME, events, new_record, new_session};
use crate::model::{Seq, SessionId, Timestamp};
use crate::store::{
    Creation, IndexBatch, IndexProgress, IndexedText, MatchQuery, SearchKind, SearchTerm, SearchTerms, SearchText,
    Store,
};

const LATER: Timestamp = Timestamp::from_millis(10_000);

fn term(text: &str) -> SearchTerm {
    let (text, is_prefix) = text.strip_suffix('*').map_or((text, false), |text| (text, true));
    SearchTerm { text: text.to_owned(), is_prefix }
}

/// Terms, separated by commas; those that begin with `-` are excluded.
fn terms(text: &str) -> SearchTerms {
    let (excluded, wanted): (Vec<&str>, Vec<&str>) = text.split(',').partition(|text| text.starts_with('-'));
    SearchTerms {
        wanted: wanted.into_iter().map(term).collect(),
        excluded: excluded.into_iter().map(|text| term(&text[1..])).collect(),
        kinds: Vec::new(),
    }
}

fn query(text: &str) -> MatchQuery {
    MatchQuery { terms: terms(text), sessions: None, from: None, to: LATER, limit: 100 }
}

fn text(seq: Seq, kind: SearchKind, text: &str) -> IndexedText {
    IndexedText { seq, time: TIME, text: SearchText { kind, text: text.to_owned() } }
}

/// A session with messages of these texts, from event 1 on, indexed.
async fn indexed(store: &Store, texts: &[&str]) -> SessionId {
    let session = new_session(store).await;
    let texts: Vec<IndexedText> =
        (1..).zip(texts).map(|(seq, content)| text(seq, SearchKind::Message, content)).collect();
    let through = texts.len() as Seq;
    store.append_checked(events(session, 1..=through)).await.expect("appended");
    store.index(IndexBatch { session, after: 0, through, texts }).await.expect("indexed");
    session
}

async fn find(store: &Store, query: MatchQuery) -> Vec<(u32, Seq)> {
    let mut found: Vec<_> = store
        .matches(query)
        .await
        .expect("found")
        .into_iter()
        .map(|found| (found.session.number(), found.seq))
        .collect();
    found.sort_unstable();
    found
}

pub async fn texts_are_found_by_words_phrases_prefixes_and_exclusions(medium: &Medium) {
    let store = medium.open();
    store.compare_index().await.expect("compared");
    indexed(&store, &["the quick brown fox", "a quick red fox in read_page()", "Slow Brown bear"]).await;
    for (search, expected) in [
        ("quick", &[1, 2][..]),
        ("QUICK,brown", &[1]),
        ("quick brown", &[1]),
        ("brown quick", &[]),
        ("bro*", &[1, 3]),
        ("bro", &[]),
        ("fox,-red", &[1]),
        ("quick bro*", &[1]),
        ("read_page", &[2]),
        ("page", &[2]),
        ("read_pa*", &[2]),
        ("AND", &[]),
    ] {
        let seqs: Vec<Seq> = find(&store, query(search)).await.into_iter().map(|(_, seq)| seq).collect();
        assert_eq!(seqs, expected, "{search}");
    }
}

pub async fn searches_are_limited_to_kinds_sessions_and_times(medium: &Medium) {
    let store = medium.open();
    store.compare_index().await.expect("compared");
    let first = indexed(&store, &["word"]).await;
    let second = new_session(&store).await;
    let moments = (1..).map(Timestamp::from_millis);
    let texts = (1..).zip(SearchKind::ALL).map(|(seq, kind)| text(seq, kind, "word")).zip(moments);
    let texts = texts.map(|(text, time)| IndexedText { time, ..text }).collect();
    store.index(IndexBatch { session: second, after: 0, through: 5, texts }).await.expect("indexed");
    let with = |change: &dyn Fn(&mut MatchQuery)| {
        let mut query = query("word");
        change(&mut query);
        query
    };
    let all = [(1, 1), (2, 1), (2, 2), (2, 3), (2, 4), (2, 5)];
    assert_eq!(find(&store, query("word")).await, all);
    let tools = vec![SearchKind::ToolCall, SearchKind::ToolOutput];
    assert_eq!(find(&store, with(&|query| query.terms.kinds = tools.clone())).await, [(2, 4), (2, 5)]);
    assert_eq!(find(&store, with(&|query| query.sessions = Some(vec![first]))).await, [(1, 1)]);
    assert_eq!(find(&store, with(&|query| query.sessions = Some(vec![first, second]))).await, all);
    assert_eq!(find(&store, with(&|query| query.sessions = Some(Vec::new()))).await, []);
    assert_eq!(find(&store, with(&|query| query.from = Some(Timestamp::from_millis(4)))).await, [(2, 4), (2, 5)]);
    assert_eq!(find(&store, with(&|query| query.to = Timestamp::from_millis(1))).await, [(1, 1), (2, 1)]);
    assert_eq!(find(&store, with(&|query| query.limit = 2)).await, [(2, 4), (2, 5)], "the newest");
}

pub async fn a_batch_is_indexed_once(medium: &Medium) {
    let store = medium.open();
    store.compare_index().await.expect("compared");
    let session = indexed(&store, &["one"]).await;
    store.append_checked(events(session, 2..=3)).await.expect("appended");
    let batch = |after, through| IndexBatch {
        session,
        after,
        through,
        texts: vec![text(through, SearchKind::Message, "more")],
    };
    store.index(batch(0, 2)).await.expect("ignored");
    assert_eq!(find(&store, query("more")).await, [], "it does not follow what is there");
    store.index(batch(1, 2)).await.expect("indexed");
    store.index(batch(1, 2)).await.expect("ignored");
    assert_eq!(find(&store, query("more")).await, [(1, 2)]);
    let store = medium.restart(store, Ending::Crash).await;
    store.compare_index().await.expect("compared");
    assert_eq!(store.index_backlog().next(), Some((session, 2)), "a crash keeps text and position");
    store.index(batch(2, 3)).await.expect("indexed");
    assert_eq!(find(&store, query("more")).await, [(1, 2), (1, 3)]);
    assert_eq!(store.index_backlog().progress(), None);
}

pub async fn the_backlog_has_what_the_index_lacks(medium: &Medium) {
    let store = medium.open();
    let session = new_session(&store).await;
    store.append_checked(events(session, 1..=7)).await.expect("appended");
    let store = medium.restart(store, Ending::Clean).await;
    let backlog = store.index_backlog();
    assert!(!backlog.is_compared());
    store.compare_index().await.expect("compared");
    assert_eq!(backlog.progress(), Some(IndexProgress { done: 0, total: 7 }));
    assert_eq!(backlog.next(), Some((session, 0)));
    store.index(IndexBatch { session, after: 0, through: 7, texts: Vec::new() }).await.expect("indexed");
    assert_eq!((backlog.progress(), backlog.next()), (None, None));
    let mut delta = events(session, 8..=8);
    delta.events[0].block = Some(7);
    store.append_checked(delta).await.expect("appended");
    assert_eq!(backlog.next(), None, "deltas are not searched");
    store.append_checked(events(session, 9..=9)).await.expect("appended");
    assert_eq!(backlog.next(), Some((session, 7)));
}

pub async fn a_deleted_session_is_not_found_and_not_indexed_again(medium: &Medium) {
    let store = medium.open();
    store.compare_index().await.expect("compared");
    let gone = indexed(&store, &["word"]).await;
    let kept = indexed(&store, &["word"]).await;
    store.append_checked(events(gone, 2..=2)).await.expect("appended");
    let read_before =
        IndexBatch { session: gone, after: 1, through: 2, texts: vec![text(2, SearchKind::Message, "word")] };
    store.delete_session(gone).await.expect("deleted");
    store.index(read_before).await.expect("ignored");
    assert_eq!(find(&store, query("word")).await, [(kept.number(), 1)]);
    assert_eq!(store.index_backlog().next(), None);
    let store = medium.restart(store, Ending::Clean).await;
    store.compare_index().await.expect("compared");
    assert_eq!(find(&store, query("word")).await, [(kept.number(), 1)]);
    assert_eq!(store.index_backlog().progress(), None);
}

pub async fn snippets_mark_what_matches(medium: &Medium) {
    let store = medium.open();
    let texts = ["a fox and a Fox", "no match", "fox-trot"]
        .map(|text| SearchText { kind: SearchKind::Message, text: text.to_owned() });
    let snippets = store.snippets(terms("fox"), texts.to_vec()).await.expect("made");
    let shown: Vec<Vec<(&str, bool)>> =
        snippets.iter().map(|parts| parts.iter().map(|part| (part.text.as_str(), part.is_match)).collect()).collect();
    assert_eq!(shown[0], [("a ", false), ("fox", true), (" and a ", false), ("Fox", true)]);
    assert_eq!(shown[1], []);
    assert_eq!(shown[2], [("fox", true), ("-trot", false)]);
}

pub async fn sessions_are_listed_for_a_search(medium: &Medium) {
    let store = medium.open();
    let mut record = new_record();
    record.profile.title = Some("A title".to_owned());
    record.profile.working_directory = Some("/repos/a".into());
    let Creation::New(first) = store.create_session(record).await.expect("created") else { panic!("not new") };
    let second = new_session(&store).await;
    let facts = store.session_facts().await.expect("read");
    assert_eq!(facts.iter().map(|facts| facts.id).collect::<Vec<_>>(), [second, first], "newest first");
    let first = &facts[1];
    assert_eq!((first.title.as_deref(), first.runtime.as_str()), (Some("A title"), "demo"));
    assert_eq!(first.working_directory.as_deref(), Some(std::path::Path::new("/repos/a")));
    assert_eq!((first.created_at, first.updated_at), (TIME, TIME));
}
