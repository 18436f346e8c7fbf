//! Changes of the model. The program handles calls at the same time, so what depends on a change waits until the program has
//! answered it: a prompt that came first would run on the old model.

use serde_json::{Value, json};

use super::super::outbox::SessionClosed;
use super::{Calls, Link, Outcome};
use crate::agent::AgentEvent;
use crate::model::{Attachment, PromptId};

/// The change that is under way, and what waits for it.
#[derive(Debug, Default)]
pub(in crate::agent::copilot) struct ModelChange {
    is_under_way: bool,
    /// The newest change that was asked for meanwhile.
    next: Option<Value>,
    prompt: Option<(String, Vec<Attachment>)>,
}

impl Link {
    pub(super) fn configure(
        &mut self,
        model: &str,
        effort: Option<String>,
        calls: &mut Calls,
    ) -> Result<(), SessionClosed> {
        let Some(model) = self.router.switched_to(model) else {
            // A session keeps the provider it was opened with.
            return self.emit(AgentEvent::Outdated, calls);
        };
        let mut params = json!({ "sessionId": self.session, "modelId": model });
        if let Some(effort) = effort {
            params["reasoningEffort"] = json!(effort);
        }
        if self.model_change.is_under_way {
            self.model_change.next = Some(params);
        } else {
            self.change_model(params, calls);
        }
        Ok(())
    }

    /// Sends a prompt, after the change of the model that is under way.
    pub(super) fn prompt_when_configured(&mut self, text: String, attachments: Vec<Attachment>, calls: &mut Calls) {
        if self.model_change.is_under_way {
            self.model_change.prompt = Some((text, attachments));
        } else {
            self.prompt(text, attachments, calls);
        }
    }

    /// Forgets the prompt that waits. Returns whether there was one: the program knows nothing of its turn.
    pub(super) fn withdraw_prompt(&mut self) -> bool {
        self.model_change.prompt.take().is_some()
    }

    /// Whether the turn's prompt has not been sent yet.
    pub(super) fn holds_prompt(&self) -> bool {
        self.model_change.prompt.is_some()
    }

    pub(super) fn steer_refused(&mut self, prompt: PromptId, calls: &mut Calls) -> Result<(), SessionClosed> {
        let reason = "its turn has not begun: Copilot is still changing the model".to_owned();
        self.emit(AgentEvent::SteerRefused { prompt, reason }, calls)
    }

    pub(super) fn model_changed(&mut self, refusal: Option<String>, calls: &mut Calls) -> Result<(), SessionClosed> {
        self.model_change.is_under_way = false;
        if let Some(reason) = refusal {
            self.report(Outcome::Refused(reason), calls)?;
        }
        if let Some(params) = self.model_change.next.take() {
            self.change_model(params, calls);
        } else if let Some((text, attachments)) = self.model_change.prompt.take() {
            self.prompt(text, attachments, calls);
        }
        Ok(())
    }

    fn change_model(&mut self, params: Value, calls: &mut Calls) {
        self.model_change.is_under_way = true;
        let changed = self.called("session.model.switchTo", params);
        calls.push(Box::pin(async move { Outcome::ModelChanged { refusal: changed.await.err() } }));
    }
}
