//! Notices: held back until the session has a first prompt, and not repeated where they describe a state.

use std::collections::HashMap;

use super::{Link, Machine, ModelRetries};
use crate::model::{Callback, LostSession, NoticeKind};
use crate::store::Change;

/// Notices that may wait for the first prompt.
const EARLY_NOTICES: usize = 16;

#[derive(Clone, Debug, Default)]
pub(super) struct Notices {
    /// What came before the first prompt.
    early: Vec<(NoticeKind, String, Option<String>)>,
    /// The last notice of each kind that describes a state.
    last: HashMap<NoticeKind, String>,
    model_retries: ModelRetries,
}

impl Notices {
    /// Whether no notice waits, and none would be repeated after a reload.
    pub fn is_empty(&self) -> bool {
        self.early.is_empty() && self.last.is_empty() && self.model_retries.is_empty()
    }
}

impl Machine {
    pub(super) fn on_model_retry(&mut self, message: String) {
        if let Some(message) = self.notices.model_retries.note(message) {
            self.notify(NoticeKind::Retrying, message);
        }
    }

    pub(super) fn write_model_retries(&mut self) {
        if let Some(message) = self.notices.model_retries.finish() {
            self.notify(NoticeKind::Retrying, message);
        }
    }

    /// Writes a notice, once the session has its first prompt.
    pub(super) fn notify(&mut self, kind: NoticeKind, message: impl Into<String>) {
        self.write_notice(kind, message.into(), None);
    }

    /// A notice for people with what a program said, which few of them understand.
    pub(super) fn notify_in_detail(&mut self, kind: NoticeKind, message: impl Into<String>, detail: String) {
        self.write_notice(kind, message.into(), Some(detail));
    }

    fn write_notice(&mut self, kind: NoticeKind, message: String, detail: Option<String>) {
        if kind.is_repeated() && self.notices.last.get(&kind) == Some(&message) {
            return;
        }
        if !self.has_been_prompted() {
            if self.notices.early.len() < EARLY_NOTICES {
                self.notices.early.push((kind, message, detail));
            }
            return;
        }
        if kind.is_repeated() {
            self.notices.last.insert(kind, message.clone());
        }
        self.write_now(kind, message, detail);
    }

    fn write_now(&mut self, kind: NoticeKind, message: String, detail: Option<String>) {
        let seq = self.write(Callback::Notice { kind, message: message.clone(), detail: detail.clone() });
        if kind == NoticeKind::FreshSession {
            self.draft.change(Change::SessionLost(LostSession { seq, message, detail }));
        }
    }

    /// Writes what waited for the first prompt, right after it.
    pub(super) fn write_early_notices(&mut self) {
        for (kind, message, detail) in std::mem::take(&mut self.notices.early) {
            if kind.is_repeated() {
                self.notices.last.insert(kind, message.clone());
            }
            self.write_now(kind, message, detail);
        }
        if self.state_detail.is_some() && matches!(self.link, Link::Opening { .. }) {
            // It is in a queue, which was not logged because there was no log yet.
            self.write_state();
        }
    }
}
