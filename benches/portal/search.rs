//! Search over a million events, the indexing before it, and the export of a long session.

use std::fmt::Write as _;
use std::time::Instant;

use bytes::Bytes;
use flightdeck::model::{Seq, SessionId, Timestamp};
use flightdeck::store::{Append, DataFolder, EventRow, Store, StoreSettings};

use crate::process::Process;
use crate::report::{Report, percentile};
use crate::start::new_session;
use crate::viewer::request;

const SESSIONS: usize = 100;
const EVENTS: usize = 10_000;
/// Words that texts are made of, the first ones most often.
const WORDS: usize = 40_000;
const ROUNDS: usize = 5;
const EXPORTED: u64 = 100_000;

/// A sequence of numbers that looks random and is the same in every run.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    /// Below `bound`; small numbers are much more frequent, as in a language.
    fn skewed(&mut self, bound: usize) -> usize {
        #[expect(clippy::cast_precision_loss, reason = "a fraction")]
        let fraction = self.next() as f64 / (1_u64 << 31) as f64;
        #[expect(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "an index"
        )]
        let number = ((bound as f64).powf(fraction) - 1.0) as usize;
        number.min(bound - 1)
    }
}

fn word(number: usize) -> String {
    const SYLLABLES: [&str; 16] =
        ["ba", "re", "to", "mi", "con", "stra", "ne", "pu", "lo", "ver", "st", "qu", "fa", "gi", "ent", "er"];
    let (mut rest, mut text) = (number + 16, String::new());
    while rest > 0 {
        text.push_str(SYLLABLES[rest % 16]);
        rest /= 16;
    }
    text
}

fn text(numbers: &mut Numbers, words: &[String]) -> String {
    let count = 10 + numbers.next() % 70;
    let mut text = String::new();
    for _ in 0..count {
        let _ = write!(text, "{} ", words[numbers.skewed(words.len())]);
    }
    text
}

/// Events as agents make them: of eight, five have text.
fn body(seq: Seq, numbers: &mut Numbers, words: &[String]) -> String {
    let text = text(numbers, words);
    match seq % 8 {
        0 => format!(r#"{{"callback":"onUserPrompt","promptId":"prompt-{seq}","text":"{text}","queued":false}}"#),
        1 => format!(r#"{{"callback":"onAgentStart","turnId":"turn-{seq}"}}"#),
        2 => format!(r#"{{"callback":"onEndReasoning","reasoningId":"r{seq}","completeContent":"{text}"}}"#),
        3 => format!(
            r#"{{"callback":"onStartToolExecution","toolCallId":"t{seq}","toolName":"bash","toolArguments":"{text}"}}"#
        ),
        4 => format!(
            r#"{{"callback":"onEndToolExecution","toolCallId":"t{}","result":{{"content":"{text}"}}}}"#,
            seq - 1
        ),
        5 => format!(r#"{{"callback":"onEndMessage","messageId":"m{seq}","completeContent":"{text}"}}"#),
        6 => format!(r#"{{"callback":"onAgentEnd","turnId":"turn-{}"}}"#, seq - 5),
        _ => r#"{"callback":"onIdle"}"#.to_owned(),
    }
}

async fn fill(store: &Store, session: SessionId, count: u64, numbers: &mut Numbers, words: &[String]) {
    let time = Timestamp::from_millis(1_700_000_000_000 + i64::from(session.number()) * 60_000);
    for start in (1..=count).step_by(1_000) {
        let events = (start..(start + 1_000).min(count + 1))
            .map(|seq| EventRow { seq, time, block: None, body: Bytes::from(body(seq, numbers, words)) })
            .collect();
        store.append(Append { stream: session.into(), time, events, ended_blocks: Vec::new(), changes: Vec::new() });
        store.flush().await.expect("flushed");
    }
}

/// Searches as people write them.
fn searches(numbers: &mut Numbers, words: &[String]) -> Vec<(&'static str, String)> {
    let mut searches = Vec::new();
    for _ in 0..10 {
        let (one, other) = (&words[numbers.skewed(words.len())], &words[numbers.skewed(words.len())]);
        let rare = &words[words.len() / 2 + numbers.skewed(words.len() / 2)];
        let start: String = rare.chars().take(4).collect();
        searches.push(("any word", one.clone()));
        searches.push(("two words", format!("{one}+{other}")));
        searches.push(("a rare word", rare.clone()));
        searches.push(("a phrase", format!("%22{one}+{other}%22")));
        searches.push(("a word being typed", format!("{other}+{start}&typing=true")));
    }
    for common in &words[..5] {
        searches.push(("one of the five most common words", common.clone()));
    }
    searches
}

pub async fn measure(report: &mut Report) {
    let words: Vec<String> = (0..WORDS).map(word).collect();
    let mut numbers = Numbers(1);
    let folder = tempfile::tempdir().expect("a folder");
    {
        let locked = DataFolder::lock(&folder.path().join("data")).expect("locked");
        let store = Store::open(&locked, StoreSettings::default()).expect("opened");
        for _ in 0..SESSIONS {
            let id = new_session(&store, Timestamp::from_millis(1_700_000_000_000)).await;
            fill(&store, id, EVENTS as u64, &mut numbers, &words).await;
        }
        store.close().await;
    }
    let process = Process::start_in(folder).await;
    let (began, processor) = (Instant::now(), process.processor_time());
    while request(process.port, "GET", "/api/copilot/search?q=word", "").await.contains("\"indexing\"") {
        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
    }
    let (elapsed, processor) = (began.elapsed().as_secs_f64(), process.processor_time() - processor);
    let size = |name: &str| {
        let file = std::fs::metadata(process.folder.path().join("data").join(name)).expect("there");
        #[expect(clippy::cast_precision_loss, reason = "for people")]
        let megabytes = file.len() as f64 / 1e6;
        megabytes
    };
    report.add(
        "indexing an existing database of 1,000,000 events in the background",
        "never in the way of the relay",
        format!(
            "{elapsed:.0} s, {processor:.0} s of processor time; database {:.0} MB, index {:.0} MB; memory {:.0} MB at most",
            size("flightdeck.db"),
            size("search.db"),
            process.peak_memory() / 1024.0
        ),
    );
    let mut all = Vec::new();
    let mut kinds: Vec<(&str, Vec<f64>)> = Vec::new();
    for (kind, search) in searches(&mut numbers, &words) {
        for _ in 0..ROUNDS {
            let began = Instant::now();
            let reply = request(process.port, "GET", &format!("/api/copilot/search?q={search}"), "").await;
            let time = began.elapsed().as_secs_f64() * 1_000.0;
            assert!(reply.contains("\"hits\""), "{search}: {reply}");
            all.push(time);
            match kinds.iter_mut().find(|(known, _)| *known == kind) {
                Some((_, times)) => times.push(time),
                None => kinds.push((kind, vec![time])),
            }
        }
    }
    let by_kind: Vec<String> =
        kinds.iter_mut().map(|(kind, times)| format!("{kind} {:.0} ms", percentile(times, 0.5))).collect();
    report.add(
        "search over 1,000,000 events, first page",
        "median under 50 ms",
        format!(
            "median {:.1} ms, p95 {:.0} ms ({})",
            percentile(&mut all, 0.5),
            percentile(&mut all, 0.95),
            by_kind.join(", ")
        ),
    );
    process.stop().await;
    export(report, &words).await;
}

async fn export(report: &mut Report, words: &[String]) {
    let folder = tempfile::tempdir().expect("a folder");
    {
        let locked = DataFolder::lock(&folder.path().join("data")).expect("locked");
        let store = Store::open(&locked, StoreSettings::default()).expect("opened");
        let id = new_session(&store, Timestamp::from_millis(1_700_000_000_000)).await;
        fill(&store, id, EXPORTED, &mut Numbers(2), words).await;
        store.close().await;
    }
    let process = Process::start_in(folder).await;
    while request(process.port, "GET", "/api/copilot/search?q=word", "").await.contains("\"indexing\"") {
        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
    }
    let mut measured = Vec::new();
    for format in ["md", "json"] {
        let before = process.peak_memory();
        let began = Instant::now();
        let reply =
            request(process.port, "GET", &format!("/api/copilot/session/session-1/export?format={format}"), "").await;
        let time = began.elapsed().as_secs_f64();
        #[expect(clippy::cast_precision_loss, reason = "for people")]
        let megabytes = reply.len() as f64 / 1e6;
        let grown = (process.peak_memory() - before) / 1024.0;
        measured.push(format!("{format} of {megabytes:.0} MB in {time:.2} s, peak memory grew by {grown:.0} MB"));
    }
    report.add(&format!("export of {EXPORTED} events"), "under 2 s, memory bounded", measured.join("; "));
    process.stop().await;
}
