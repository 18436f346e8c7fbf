//! What people do: they prompt, answer, change the queue, and close.

use super::World;
use crate::agent::{QuestionAnswer, RequestAnswer};
use crate::model::{Always, AlwaysCovers, AlwaysScope, AnsweredBy, Decision, PromptAuthor, PromptId, RequestId};
use crate::session::PromptError;
use crate::session::actor::{NewPrompt, PromptMode, QueueChange, SessionUpdate};
use crate::session::machine::simulation::store::PromptState;
use crate::session::machine::{Command, Input, Reply};

impl World {
    pub(super) fn somebody_prompts(&mut self) {
        // A client that got no answer repeats the prompt with the same key.
        let repeats = self.keys > 0 && self.random.one_in(5);
        if !repeats {
            self.keys += 1;
        }
        let key = format!("key-{}", if repeats { 1 + self.random.below(self.keys) } else { self.keys });
        let mode = if self.random.one_in(3) { PromptMode::Steer } else { PromptMode::Queue };
        let prompt = NewPrompt {
            text: format!("prompt of {key}"),
            attachments: Vec::new(),
            mode,
            author: if self.random.one_in(2) { PromptAuthor::Task } else { PromptAuthor::Person },
            idempotency_key: Some(key.clone()),
        };
        let known = self.store.with_key(&key);
        let reply = self.drive(Input::Command(Command::Prompt {
            prompt: Box::new(prompt),
            files: Vec::new(),
            known,
            model_warning: None,
        }));
        let Some(Reply::Prompt(reply)) = reply else { panic!("a prompt is answered") };
        match reply {
            Ok(accepted) => {
                let committed = self.store.records.prompts.get(&accepted.prompt);
                assert!(committed.is_some(), "an accepted prompt is committed");
                let before = self.accepted.insert(key.clone(), accepted.prompt);
                assert!(before.is_none_or(|before| before == accepted.prompt), "{key} was accepted twice");
            }
            Err(PromptError::KeyReused) => panic!("{key} is the same prompt"),
            Err(_) => {}
        }
    }

    /// Somebody edits, cancels or reorders what waits, or what they believe to wait.
    pub(super) fn somebody_changes_the_queue(&mut self) {
        let mut waiting: Vec<PromptId> =
            self.store.queued().iter().filter(|prompt| !prompt.is_continuation).map(|prompt| prompt.id).collect();
        let all: Vec<PromptId> = self.store.records.prompts.keys().copied().collect();
        if all.is_empty() {
            return;
        }
        let any = if waiting.is_empty() || self.random.one_in(4) {
            *self.random.pick(&all)
        } else {
            *self.random.pick(&waiting)
        };
        match self.random.below(3) {
            0 => {
                let number = self.random.below(1_000);
                let text = format!("changed {number}");
                let queued = self.store.records.prompts[&any].queued.text.clone();
                // Some say which text they have read, and some of those are late.
                let before = match number % 3 {
                    0 => None,
                    1 => Some(queued.clone()),
                    _ => Some(format!("not {queued}")),
                };
                let is_late = before.as_ref().is_some_and(|before| *before != queued) && queued != text;
                let reply = self.change_queue(QueueChange::Text { prompt: any, text: text.clone(), before });
                if reply.is_ok() {
                    assert!(!is_late, "{any} was changed by somebody who had read another text");
                    let changed = &self.store.records.prompts[&any];
                    assert_eq!(
                        (&changed.queued.text, &changed.state),
                        (&text, &PromptState::Queued),
                        "{any} is changed"
                    );
                }
            }
            1 => {
                let reply = self.change_queue(QueueChange::Cancel { prompt: any });
                if reply.is_ok() {
                    assert!(self.ended(any), "{any} is over when it is cancelled");
                    assert!(self.reported.contains(&any), "who waits for {any} learns of it");
                }
            }
            _ => {
                let turned = self.random.below(waiting.len().max(1));
                let turned = turned.min(waiting.len());
                waiting.rotate_left(turned);
                if self.change_queue(QueueChange::Order(waiting.clone())).is_ok() {
                    let now: Vec<PromptId> = self
                        .store
                        .queued()
                        .iter()
                        .filter(|prompt| !prompt.is_continuation)
                        .map(|prompt| prompt.id)
                        .collect();
                    // The next turn may have begun at once.
                    assert!(waiting.ends_with(&now), "the order is committed");
                }
            }
        }
    }

    fn change_queue(&mut self, change: QueueChange) -> Result<(), PromptError> {
        match self.drive(Input::Command(Command::Queue(change))) {
            Some(Reply::Queue(answer)) => answer,
            _ => panic!("a change of the queue is answered"),
        }
    }

    pub(super) fn open_request(&self) -> Option<RequestId> {
        self.store.records.open_requests.first().cloned()
    }

    pub(super) fn answer(&mut self, request_id: &RequestId, answer: RequestAnswer) {
        let by = AnsweredBy::Page;
        let scope = if self.random.one_in(2) { AlwaysScope::Folder } else { AlwaysScope::Session };
        let (request_id, always) = (request_id.clone(), Always { covers: AlwaysCovers::Tool, scope });
        self.drive(Input::Command(Command::Answer { request_id, answer, always, by }));
    }

    pub(super) fn somebody_answers(&mut self) {
        let Some(request) = self.open_request() else { return };
        let decision = *self.random.pick(&[Decision::AllowOnce, Decision::AllowAlways, Decision::Deny]);
        self.answer(&request, RequestAnswer::Permission { decision, feedback: None });
        if self.random.one_in(2) {
            self.answer(&request, RequestAnswer::Question(QuestionAnswer::Text("this".to_owned())));
        }
    }

    pub(super) fn somebody_closes(&mut self) {
        if self.random.one_in(4) {
            self.drive(Input::Command(Command::Close));
        }
    }

    pub(super) fn somebody_updates(&mut self) {
        let update = SessionUpdate { model: Some("other".to_owned()), ..SessionUpdate::default() };
        self.drive(Input::Command(Command::Update { update, model_warning: Some("unusual".to_owned()) }));
    }

    /// Another session of the folder was answered, or somebody removed the rules.
    pub(super) fn folder_rules_change(&mut self) {
        if self.random.one_in(2) {
            self.store.remove_folder_rules();
        } else {
            self.store.add_folder_rule();
        }
        self.drive(Input::RulesChanged);
    }
}
