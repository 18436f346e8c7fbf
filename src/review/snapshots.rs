//! Takes a snapshot when a turn begins and when it ends, in the background.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::Duration;

use super::record::{Outcome, Record, TurnRecord};
use super::reviews::Shared;
use crate::folder::snapshot;
use crate::model::{Callback, PromptId, SessionId, Timestamp};
use crate::session::{TurnObserver, now, resolve_working_directory};
use crate::store::EventPage;

/// How long a snapshot may take.
const LONGEST: Duration = Duration::from_secs(30);
/// Snapshots that may wait for one session.
const MOST_WAITING: usize = 32;
/// The most that the snapshots of one session take on the disk.
const SESSION_BYTES: u64 = 256 * 1024 * 1024;
/// How long somebody who wants to see changes waits for snapshots that are being taken.
const PATIENCE: Duration = Duration::from_secs(10);
/// Where the prompt of a turn is looked for, from the end of the log.
const PROMPT_EVENTS: usize = 64;
/// What is shown of a prompt.
const PROMPT_LETTERS: usize = 120;

/// A snapshot that is to be taken.
#[derive(Debug)]
pub(super) struct Wanted {
    moment: Moment,
    prompt: PromptId,
    folder: PathBuf,
    at: Timestamp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Moment {
    Beginning,
    End,
}

/// Is told by the sessions. It holds nothing that would keep them alive.
pub(super) struct Observer(pub Weak<Shared>);

impl TurnObserver for Observer {
    fn turn_began(&self, session: SessionId, prompt: PromptId, working_directory: Option<&Path>) {
        self.want(session, Moment::Beginning, prompt, working_directory);
    }

    fn turn_ended(&self, session: SessionId, prompt: PromptId, working_directory: Option<&Path>) {
        self.want(session, Moment::End, prompt, working_directory);
    }
}

impl Observer {
    fn want(&self, session: SessionId, moment: Moment, prompt: PromptId, folder: Option<&Path>) {
        let (Some(shared), Some(folder)) = (self.0.upgrade(), folder) else { return };
        let wanted = Wanted { moment, prompt, folder: folder.to_owned(), at: now() };
        let mut waiting = shared.waiting.lock();
        if let Some(queue) = waiting.get_mut(&session) {
            if queue.len() < MOST_WAITING {
                queue.push_back(wanted);
            } else {
                tracing::warn!(%session, "too many snapshots wait; one is left out");
            }
            return;
        }
        waiting.insert(session, VecDeque::from([wanted]));
        drop(waiting);
        let working = Arc::clone(&shared);
        shared.tasks.spawn(async move { working.take_snapshots(session).await });
    }
}

impl Shared {
    /// Takes what is wanted for a session, in order, until nothing is.
    async fn take_snapshots(self: Arc<Self>, session: SessionId) {
        loop {
            let next = {
                let mut waiting = self.waiting.lock();
                let next = waiting.get_mut(&session).and_then(VecDeque::pop_front);
                if next.is_none() {
                    waiting.remove(&session);
                }
                next
            };
            let Some(wanted) = next else { break };
            tokio::select! {
                () = self.parts.stopping.cancelled() => {
                    self.waiting.lock().remove(&session);
                    break;
                }
                () = self.take_snapshot(session, wanted) => {}
            }
            self.finished.send_modify(|count| *count += 1);
        }
        self.finished.send_modify(|count| *count += 1);
    }

    async fn take_snapshot(&self, session: SessionId, wanted: Wanted) {
        let grown = self.take_and_record(session, wanted).await;
        let total = self.total_bytes.fetch_add(grown, Ordering::Relaxed) + grown;
        if grown > 0 && total > self.parts.sessions.settings().snapshot_bytes {
            let left = self.make_room(Some(session)).await;
            self.total_bytes.store(left, Ordering::Relaxed);
        }
    }

    /// Returns by how much the snapshots have grown.
    async fn take_and_record(&self, session: SessionId, wanted: Wanted) -> u64 {
        let Ok(_place) = self.taking.acquire().await else { return 0 };
        let before = self.stored_bytes(session).await;
        let outcome = self.outcome(session, &wanted.folder, before).await;
        let after = self.stored_bytes(session).await;
        let prompt = match wanted.moment {
            Moment::Beginning => self.prompt_text(session, wanted.prompt).await,
            Moment::End => None,
        };
        let folder = self.folder_of(session);
        let write = move || {
            let mut record = Record::read(&folder);
            let turn = wanted.prompt.turn();
            match wanted.moment {
                Moment::Beginning => record.begin(TurnRecord {
                    turn,
                    prompt,
                    started_at: wanted.at,
                    start: outcome,
                    ended_at: None,
                    end: None,
                }),
                Moment::End => record.end(&turn, wanted.at, outcome),
            }
            record.write(&folder)
        };
        if let Ok(Err(error)) = tokio::task::spawn_blocking(write).await {
            tracing::warn!(%session, %error, "could not record a snapshot; the changes of this turn cannot be shown");
        }
        after.saturating_sub(before)
    }

    async fn stored_bytes(&self, session: SessionId) -> u64 {
        let store = self.store_of(session);
        tokio::task::spawn_blocking(move || store.bytes()).await.unwrap_or(0)
    }

    async fn outcome(&self, session: SessionId, folder: &Path, stored: u64) -> Outcome {
        let (roots, limit) = {
            let settings = self.parts.sessions.settings();
            (settings.roots.clone(), settings.snapshot_bytes.min(SESSION_BYTES))
        };
        if limit == 0 {
            return Outcome::Skipped("Snapshots are turned off (`limits.snapshot_bytes` is 0).".to_owned());
        }
        let folder = match resolve_working_directory(folder, &roots).await {
            Ok(Some(folder)) => folder,
            Ok(None) => return Outcome::Skipped("The session has no working directory.".to_owned()),
            Err(error) => return Outcome::Skipped(sentence(&error.to_string())),
        };
        if stored > limit {
            return Outcome::Skipped(format!("The snapshots of this session take more than {}.", size(limit)));
        }
        match tokio::time::timeout(LONGEST, snapshot(&folder, &roots, &self.store_of(session))).await {
            Ok(Ok(snapshot)) => Outcome::Snapshot(snapshot),
            Ok(Err(error)) => Outcome::Skipped(sentence(&error.to_string())),
            Err(_) => Outcome::Skipped(format!("The snapshot took more than {} seconds.", LONGEST.as_secs())),
        }
    }

    /// The beginning of a prompt, if it is among the newest events.
    async fn prompt_text(&self, session: SessionId, prompt: PromptId) -> Option<String> {
        let page =
            EventPage { after: 0, before: Some(u64::from(u32::MAX)), limit: PROMPT_EVENTS, max_bytes: 1024 * 1024 };
        let (events, _) = self.parts.sessions.store().events(session, page).await.ok()?;
        events.iter().rev().find_map(|event| match serde_json::from_slice(&event.body).ok()? {
            Callback::UserPrompt { prompt_id, text, .. } if prompt_id == prompt => Some(beginning(&text)),
            Callback::GeneratedUserPrompt { prompt_id: Some(id), prompt: text, .. } if id == prompt => {
                Some(beginning(&text))
            }
            _ => None,
        })
    }

    /// Waits until no snapshot of a session is being taken, but not for long.
    pub(super) async fn settled(&self, session: SessionId) {
        let mut finished = self.finished.subscribe();
        let none_left = async {
            while self.waiting.lock().contains_key(&session) {
                if finished.changed().await.is_err() {
                    return;
                }
            }
        };
        let _ = tokio::time::timeout(PATIENCE, none_left).await;
    }
}

fn beginning(text: &str) -> String {
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim();
    match line.char_indices().nth(PROMPT_LETTERS) {
        Some((end, _)) => format!("{} …", line[..end].trim_end()),
        None => line.to_owned(),
    }
}

fn size(bytes: u64) -> String {
    const MB: u64 = 1024 * 1024;
    if bytes < MB { format!("{bytes} bytes") } else { format!("{} MB", bytes / MB) }
}

/// An error's text as a sentence.
pub(super) fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    let sentence = first + letters.as_str();
    if sentence.ends_with('.') { sentence } else { sentence + "." }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_is_shown_by_its_first_line() {
        assert_eq!(beginning("\n  Fix the test \nplease"), "Fix the test");
        assert_eq!(beginning(&"ß".repeat(200)), format!("{} …", "ß".repeat(PROMPT_LETTERS)));
        assert_eq!(beginning(""), "");
    }

    #[test]
    fn a_reason_is_a_sentence() {
        assert_eq!(sentence("cannot read x"), "Cannot read x.");
        assert_eq!((sentence("Done."), sentence("")), ("Done.".to_owned(), ".".to_owned()));
    }
}
