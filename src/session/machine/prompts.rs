//! Prompts: accepted once each, and kept while they wait.

use std::collections::VecDeque;

use super::notices::Notices;
use super::turn::BeforeTurn;
use super::waiting::Waiting;
use super::{Command, Context, Link, Machine, Output, Reply, TurnSlot};
use crate::agent::AgentCommand;
use crate::model::{
    AttachedFile, Callback, Continuation, NoticeKind, PromptAuthor, PromptId, Response, SessionState, redact,
};
use crate::session::actor::{Accepted, NewPrompt, PromptMode};
use crate::session::{PromptError, SessionError};
use crate::store::{Change, KnownPrompt, QueuePlace, QueuedPrompt};

/// Characters of the first prompt that become the title of a session without one.
const TITLE_CHARACTERS: usize = 80;

/// Prompts that wait, and the last one that was accepted.
#[derive(Debug)]
pub(super) struct PromptQueue {
    waiting: VecDeque<QueuedPrompt>,
    last: PromptId,
    next: PromptId,
    /// The turn before them was cut off, and a person decides whether it is repeated first.
    is_held: bool,
}

impl PromptQueue {
    pub fn new(waiting: Vec<QueuedPrompt>, last: PromptId, next: PromptId) -> Self {
        Self { waiting: waiting.into(), last, next, is_held: false }
    }

    pub fn last(&self) -> PromptId {
        self.last
    }

    /// The id that the next prompt gets. After a power cut it is far above the last one.
    pub fn next_id(&self) -> PromptId {
        self.next
    }

    /// Prompts that no agent has been given.
    pub fn waiting(&self) -> Vec<PromptId> {
        self.waiting.iter().map(|prompt| prompt.id).collect()
    }

    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    pub fn holds(&self, prompt: PromptId) -> bool {
        self.waiting.iter().any(|waiting| waiting.id == prompt)
    }

    /// Keeps the prompts that wait from overtaking one that was cut off.
    pub fn hold(&mut self) {
        self.is_held = !self.waiting.is_empty();
    }

    pub fn release(&mut self) {
        self.is_held = false;
    }

    pub fn is_held(&self) -> bool {
        self.is_held && !self.waiting.is_empty()
    }

    pub fn pop(&mut self) -> Option<QueuedPrompt> {
        self.waiting.pop_front()
    }

    /// The prompts that wait, in the order in which they are sent.
    pub fn iter(&self) -> impl Iterator<Item = &QueuedPrompt> {
        self.waiting.iter()
    }

    pub fn get(&self, prompt: PromptId) -> Option<&QueuedPrompt> {
        self.waiting.iter().find(|waiting| waiting.id == prompt)
    }

    pub fn set_text(&mut self, prompt: PromptId, text: String) {
        if let Some(waiting) = self.waiting.iter_mut().find(|waiting| waiting.id == prompt) {
            waiting.text = text;
        }
    }

    pub fn remove(&mut self, prompt: PromptId) {
        self.waiting.retain(|waiting| waiting.id != prompt);
    }

    pub fn move_to(&mut self, places: &[(PromptId, QueuePlace)]) {
        for waiting in &mut self.waiting {
            if let Some((_, place)) = places.iter().find(|(prompt, _)| *prompt == waiting.id) {
                waiting.place = *place;
            }
        }
        self.waiting.make_contiguous().sort_by_key(|waiting| waiting.place.rank());
    }

    /// Its turn did not begin or was abandoned; it is queued again, in its place.
    pub fn put_back(&mut self, prompt: QueuedPrompt) {
        let place = self.waiting.partition_point(|waiting| waiting.place.rank() < prompt.place.rank());
        self.waiting.insert(place, prompt);
    }

    /// Uses this id. Returns the last one before it.
    pub fn take_id(&mut self, prompt: PromptId) -> PromptId {
        self.next = PromptId::from_number(prompt.number() + 1);
        std::mem::replace(&mut self.last, prompt)
    }

    /// The store refused the prompt with that id.
    pub fn give_back_id(&mut self, prompt: PromptId, last: PromptId) {
        (self.last, self.next) = (last, prompt);
    }
}

/// A prompt that is accepted as soon as it is committed.
pub(super) struct AcceptedPrompt {
    prompt: QueuedPrompt,
    title: Option<String>,
    after_commit: AfterCommit,
    /// The last prompt before it.
    last: PromptId,
    /// The notices before it.
    notices: Notices,
    /// It replaces the answers to requests that outlived their turn.
    withdraws: bool,
}

/// What happens to a prompt once it is committed.
enum AfterCommit {
    /// Its turn begins, in the same commit.
    Begins {
        before: Box<BeforeTurn>,
    },
    Steers,
    Waits,
}

/// The event for a prompt.
pub(super) fn user_prompt(
    prompt: &QueuedPrompt,
    attachments: Vec<AttachedFile>,
    author: PromptAuthor,
    queued: bool,
) -> Callback {
    let (id, text) = (prompt.id, prompt.text.clone());
    match author {
        PromptAuthor::Person => Callback::UserPrompt { prompt_id: id, text, queued, attachments },
        PromptAuthor::Task => Callback::GeneratedUserPrompt { prompt: text, prompt_id: Some(id), queued: Some(queued) },
    }
}

impl Machine {
    pub(super) fn on_prompt(
        &mut self,
        context: &Context,
        prompt: NewPrompt,
        files: Vec<AttachedFile>,
        known: Option<KnownPrompt>,
        model_warning: Option<String>,
    ) {
        match self.check_prompt(context, &prompt, known) {
            Err(error) => self.reply(Reply::Prompt(Err(error))),
            Ok(Some(earlier)) => {
                self.reply(Reply::Prompt(Ok(Accepted { prompt: earlier })));
                // Who repeats a prompt still wants it, also if a restart left it in the queue.
                if self.prompts.holds(earlier) {
                    self.advance(context);
                }
            }
            Ok(None) => self.accept_prompt(context, prompt, files, model_warning),
        }
    }

    /// The prompt that was accepted with the same key before, if so.
    fn check_prompt(
        &self,
        context: &Context,
        prompt: &NewPrompt,
        known: Option<KnownPrompt>,
    ) -> Result<Option<PromptId>, PromptError> {
        let settings = &context.settings;
        if self.state == SessionState::Closed {
            return Err(SessionError::Closed.into());
        }
        if context.stopping {
            return Err(SessionError::ShuttingDown.into());
        }
        check_text(context, &prompt.text, !prompt.attachments.is_empty())?;
        if let Some(known) = known {
            let is_same = known.fingerprint == QueuedPrompt::fingerprint(&prompt.text, &prompt.attachments);
            let earlier = PromptId::from_number(known.number);
            return if is_same { Ok(Some(earlier)) } else { Err(PromptError::KeyReused) };
        }
        if self.prompts.len() >= settings.queued_prompts {
            return Err(PromptError::QueueFull { limit: settings.queued_prompts });
        }
        if let Some(reason) = self.budget_refusal(context) {
            return Err(PromptError::BudgetSpent(reason));
        }
        if self.steers(prompt.mode) && !context.abilities.steering {
            return Err(PromptError::SteeringNotSupported { runtime: self.profile.runtime.clone() });
        }
        Ok(None)
    }

    /// A turn that nobody works on cannot be steered: one that waits for its next attempt, or for an agent.
    fn steers(&self, mode: PromptMode) -> bool {
        mode == PromptMode::Steer && self.is_live() && self.turn.as_ref().is_some_and(super::Turn::can_be_steered)
    }

    fn accept_prompt(
        &mut self,
        context: &Context,
        prompt: NewPrompt,
        files: Vec<AttachedFile>,
        model_warning: Option<String>,
    ) {
        let (steers, author) = (self.steers(prompt.mode), prompt.author);
        let id = self.prompts.next_id();
        let prompt = QueuedPrompt {
            id,
            idempotency_key: prompt.idempotency_key,
            text: prompt.text,
            attachments: prompt.attachments,
            place: QueuePlace::of(id, prompt.mode == PromptMode::First),
            is_continuation: false,
        };
        let others_wait = !self.prompts.is_empty() && !prompt.place.is_first;
        let is_queued = !steers && (self.turn.is_some() || others_wait);
        if !steers && !is_queued {
            self.renew_outdated_link();
        }
        let first = self.begin_commit();
        let notices = self.notices.clone();
        let is_first = !self.has_been_prompted();
        let withdraws = self.requests.are_kept() || self.has_answers();
        if withdraws {
            self.write_withdrawal();
        }
        for AttachedFile { mime, size, hash, .. } in &files {
            if let Some(hash) = hash.clone() {
                self.draft.change(Change::BlobUsed { hash, mime: mime.clone(), size: *size });
            }
        }
        self.write(user_prompt(&prompt, files, author, is_queued));
        // Counts from here on, so that what follows can be written to the log. Undone if the commit fails.
        let last = self.prompts.take_id(prompt.id);
        self.draft.change(Change::PromptAccepted(prompt.prepare()));
        let title = self.profile.title.is_none().then(|| title_of(&prompt.text));
        if let Some(title) = &title {
            self.draft.change(Change::Title(title.clone()));
        }
        if is_first {
            if context.abilities.demo {
                self.write(Response::notice(
                    NoticeKind::Demo,
                    "This session uses the demo agent, which follows a script. No AI and no account are involved.",
                ));
            }
            self.write_early_notices();
            if let Some(warning) = model_warning {
                self.write(Response::notice(NoticeKind::Warning, warning));
            }
        }
        let after_commit = if steers {
            self.draft.change(Change::PromptStarted(prompt.id));
            AfterCommit::Steers
        } else if !is_queued && self.may_begin(context) {
            let before = Box::new(self.before_turn());
            self.open_turn(prompt.id);
            AfterCommit::Begins { before }
        } else {
            AfterCommit::Waits
        };
        self.commit(Waiting::Prompt {
            accepted: Box::new(AcceptedPrompt { prompt, title, after_commit, last, notices, withdraws }),
            first,
        });
    }

    /// Whether a turn could begin this moment.
    fn may_begin(&self, context: &Context) -> bool {
        let has_slot = !context.abilities.process_per_turn || self.turn_slot == TurnSlot::Held;
        self.is_live() && has_slot && !context.store_refuses
    }

    pub(super) fn on_prompt_committed(&mut self, context: &Context, accepted: AcceptedPrompt) {
        let AcceptedPrompt { prompt, title, after_commit, withdraws, .. } = accepted;
        self.prompts.release();
        if withdraws {
            self.requests.withdraw_all();
            self.continuation = Continuation::default();
            self.status_changed = true;
        }
        self.reply(Reply::Prompt(Ok(Accepted { prompt: prompt.id })));
        self.outputs.push(Output::PromptAccepted(prompt.id));
        if title.is_some() {
            self.profile.title = title;
            self.status_changed = true;
        }
        match after_commit {
            AfterCommit::Begins { .. } => self.on_turn_committed(context, prompt),
            AfterCommit::Steers => {
                if let Some(turn) = &mut self.turn {
                    turn.steered.push(prompt.clone());
                }
                let QueuedPrompt { id, text, attachments, .. } = prompt;
                self.send(context, AgentCommand::Steer { prompt: id, text, attachments });
            }
            AfterCommit::Waits => {
                self.prompts.put_back(prompt);
                if self.state == SessionState::Failed {
                    self.recovery.losses = 0;
                }
                self.advance(context);
            }
        }
    }

    /// The store refused the prompt: everything is undone.
    pub(super) fn on_prompt_refused(&mut self, accepted: AcceptedPrompt) {
        let AcceptedPrompt { prompt, after_commit, last, notices, .. } = accepted;
        self.prompts.give_back_id(prompt.id, last);
        if let AfterCommit::Begins { before } = after_commit {
            self.take_back_turn(*before);
        }
        self.transcript.fold_mut().remove_steered(prompt.id);
        self.notices = notices;
    }

    /// The agent refused a prompt during the turn: it is sent when the turn is over.
    pub(super) fn on_steer_refused(&mut self, prompt: PromptId, reason: &str) {
        let reason = redact(reason).into_owned();
        let steered = self.turn.as_mut().and_then(|turn| turn.take_steered(prompt));
        let Some(steered) = steered else {
            let message = format!("A prompt was not added to the running turn: {reason}.");
            return self.notify(NoticeKind::Warning, message);
        };
        self.transcript.fold_mut().remove_steered(prompt);
        self.draft.change(Change::PromptPutBack(prompt));
        self.prompts.put_back(steered);
        self.notify(
            NoticeKind::Warning,
            format!("A prompt was not added to the running turn and is sent when the turn ends: {reason}."),
        );
        self.status_changed = true;
    }

    /// A connection that was made for another model or login is not used for another turn.
    pub(super) fn renew_outdated_link(&mut self) {
        if self.is_idle() && matches!(self.link, Link::Live { is_outdated: true, .. }) {
            self.disconnect(super::Disconnect::Politely);
        }
    }

    pub(super) fn run_command(&mut self, context: &Context, command: Command) {
        match command {
            Command::Prompt { prompt, files, known, model_warning } => {
                self.on_prompt(context, *prompt, files, known, model_warning);
            }
            Command::Queue(change) => self.on_queue_change(context, change),
            Command::Interrupt => self.on_interrupt(context),
            Command::Close => self.close(context),
            Command::Reopen => self.reopen(),
            Command::TryAgain => {
                let outcome = self.try_again(context);
                self.reply(Reply::Done(outcome));
            }
            Command::Adopt { agent_session_id, past } => self.adopt(context, agent_session_id, past),
            Command::Update { update, model_warning } => self.update(context, update, model_warning),
            Command::Answer { request_id, answer, always, by } => self.on_answer(&request_id, answer, &always, by),
            Command::ShutDown => self.shut_down(context),
        }
    }
}

/// Whether a text may be a prompt's.
pub(super) fn check_text(context: &Context, text: &str, has_attachments: bool) -> Result<(), PromptError> {
    let limit = context.settings.prompt_bytes;
    if text.len() > limit {
        return Err(PromptError::TooLarge { size: text.len(), limit });
    }
    if text.trim().is_empty() && !has_attachments {
        return Err(PromptError::Empty);
    }
    Ok(())
}

/// The first line of the first prompt, cut to a length that fits a list.
fn title_of(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or_default().trim_end();
    let mut title: String = line.chars().take(TITLE_CHARACTERS).collect();
    if title.len() < line.len() {
        title.push('…');
    }
    if title.is_empty() { "(attachments)".to_owned() } else { title }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_the_first_line_and_not_too_long() {
        assert_eq!(title_of("\n fix the build \n and more"), "fix the build");
        assert_eq!(title_of(&"ü".repeat(100)), format!("{}…", "ü".repeat(TITLE_CHARACTERS)));
    }
}
