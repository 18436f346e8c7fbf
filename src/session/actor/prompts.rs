//! Prompts: accepting them, once each, and keeping those that must wait.

use std::collections::VecDeque;

use super::{Accepted, Actor, NewPrompt, PromptMode};
use crate::agent::AgentCommand;
use crate::model::{Callback, NoticeKind, PromptId, Response, SessionProfile, SessionState, redact};
use crate::session::{PromptError, SessionError};
use crate::store::{Change, QueuedPrompt};

/// Characters of the first prompt that become the title of a session without one.
const TITLE_CHARACTERS: usize = 80;

/// Prompts that wait, and the number of the last one accepted.
#[derive(Debug)]
pub(super) struct PromptQueue {
    waiting: VecDeque<QueuedPrompt>,
    last: PromptId,
}

impl PromptQueue {
    pub fn new(waiting: Vec<QueuedPrompt>, last: PromptId) -> Self {
        Self { waiting: waiting.into(), last }
    }

    pub fn last(&self) -> PromptId {
        self.last
    }

    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    pub fn holds(&self, number: PromptId) -> bool {
        self.waiting.iter().any(|prompt| prompt.id == number)
    }

    pub fn next(&mut self) -> Option<QueuedPrompt> {
        self.waiting.pop_front()
    }

    /// Its turn could not begin; it is the next again.
    pub fn put_back(&mut self, prompt: QueuedPrompt) {
        self.waiting.push_front(prompt);
    }

    /// The prompt with that number was sent long ago.
    pub fn skip_to(&mut self, number: PromptId) {
        self.last = number;
    }

    fn push(&mut self, prompt: QueuedPrompt) {
        self.last = prompt.id;
        self.waiting.push_back(prompt);
    }
}

/// What the log says of a prompt.
pub(super) fn accepted(prompt: &QueuedPrompt, queued: bool) -> Response {
    Callback::UserPrompt { prompt_id: prompt.id, text: prompt.text.clone(), queued }.into()
}

/// A prompt that was sent before the session was ours.
pub(super) fn past_prompt(number: PromptId, text: String) -> QueuedPrompt {
    QueuedPrompt { id: number, idempotency_key: None, text, attachments: Vec::new() }
}

impl Actor {
    /// The prompt is in the store when this returns without an error.
    pub(super) async fn accept_prompt(&mut self, prompt: NewPrompt) -> Result<Accepted, PromptError> {
        self.check_prompt(&prompt)?;
        if let Some(key) = &prompt.idempotency_key {
            let known = self.around.store.prompt_by_key(self.id, key.clone()).await.map_err(SessionError::Store)?;
            if let Some(known) = known {
                let same = known.fingerprint == QueuedPrompt::fingerprint(&prompt.text, &prompt.attachments);
                return if same {
                    Ok(Accepted { prompt: PromptId::from_number(known.number) })
                } else {
                    Err(PromptError::KeyReused)
                };
            }
        }
        if self.prompts.len() >= self.around.settings.queued_prompts {
            return Err(PromptError::QueueFull { limit: self.around.settings.queued_prompts });
        }
        if let Some(reason) = self.budget_refusal() {
            return Err(PromptError::BudgetSpent(reason));
        }
        // Nobody works on a turn that waits for its next attempt.
        let is_worked_on = self.turn.as_ref().is_some_and(|turn| turn.attempts.due_at.is_none());
        let steers = is_worked_on && prompt.mode == PromptMode::Steer;
        if steers && !self.capabilities().steering {
            return Err(PromptError::SteeringNotSupported { runtime: self.profile.runtime.clone() });
        }
        let queued = QueuedPrompt {
            id: PromptId::from_number(self.prompts.last().number() + 1),
            idempotency_key: prompt.idempotency_key,
            text: prompt.text,
            attachments: prompt.attachments,
        };
        let waits = !steers && (self.turn.is_some() || !self.prompts.is_empty());
        self.write_accepted(&queued, waits).await?;
        let accepted = Accepted { prompt: queued.id };
        self.prompts.push(queued);
        if steers {
            self.steer();
        } else {
            if self.state == SessionState::Failed {
                self.deaths = 0;
            }
            self.go_on().await;
        }
        Ok(accepted)
    }

    /// Why the agent will hardly know the session's model, if so.
    pub(super) fn model_misfit(&self) -> Option<String> {
        let SessionProfile { runtime, model, options, .. } = &self.profile;
        self.around.runtimes.misfit(runtime, model, options)
    }

    fn check_prompt(&self, prompt: &NewPrompt) -> Result<(), PromptError> {
        if self.state == SessionState::Closed {
            return Err(SessionError::Closed.into());
        }
        let limit = self.around.settings.prompt_bytes;
        if prompt.text.len() > limit {
            return Err(PromptError::TooLarge { size: prompt.text.len(), limit });
        }
        if prompt.text.trim().is_empty() && prompt.attachments.is_empty() {
            return Err(PromptError::Empty);
        }
        Ok(())
    }

    async fn write_accepted(&mut self, prompt: &QueuedPrompt, waits: bool) -> Result<(), PromptError> {
        self.journal.flush();
        self.journal.write(&accepted(prompt, waits));
        self.journal.change(Change::PromptAccepted(prompt.clone()));
        let title = self.profile.title.is_none().then(|| title_of(&prompt.text));
        if let Some(title) = &title {
            self.journal.change(Change::Title(title.clone()));
        }
        if prompt.id.number() == 1 && self.capabilities().demo {
            self.journal.write(&Response::notice(
                NoticeKind::Demo,
                "This session runs on the demo agent: it is scripted, no AI and no account are involved.",
            ));
        }
        self.write_early_notices();
        if prompt.id.number() == 1
            && let Some(warning) = self.model_misfit()
        {
            self.journal.write(&Response::notice(NoticeKind::Warning, warning));
        }
        self.journal.commit().await.map_err(SessionError::Store)?;
        if title.is_some() {
            self.profile.title = title;
            self.post();
        }
        Ok(())
    }

    /// Gives the newest prompt to the running turn.
    fn steer(&mut self) {
        let Some(prompt) = self.prompts.waiting.pop_back() else { return };
        if let Some(turn) = &mut self.turn {
            turn.prompts.push(prompt.id);
            turn.steered.push(prompt.clone());
        }
        self.journal.change(Change::PromptStarted(prompt.id));
        let QueuedPrompt { id, text, attachments, .. } = prompt;
        self.send(AgentCommand::Steer { prompt: id, text, attachments });
    }

    /// The agent did not take a prompt into the running turn: it is sent when that is over.
    pub(super) fn on_steer_refused(&mut self, number: PromptId, reason: &str) {
        let reason = redact(reason).into_owned();
        let steered = self.turn.as_mut().and_then(|turn| turn.take_steered(number));
        let Some(prompt) = steered else {
            return self.write_notice(NoticeKind::Warning, format!("A prompt was not taken into the turn: {reason}."));
        };
        self.journal.change(Change::PromptPutBack(number));
        self.prompts.put_back(prompt);
        self.write_notice(
            NoticeKind::Warning,
            format!("A prompt was not taken into the running turn and is sent when it is over: {reason}."),
        );
        self.post();
    }
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
