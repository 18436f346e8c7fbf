//! A session's life: changed, closed, reopened, imported, and ended with the server.

use super::continuation::Fate;
use super::prompts::user_prompt;
use super::turn::Ending;
use super::waiting::Waiting;
use super::{Context, Disconnect, Link, Machine, Output, PastInput, Reply};
use crate::agent::AgentCommand;
use crate::model::{
    AnsweredBy, Callback, NoticeKind, PromptAuthor, PromptOutcome, PromptVerdict, RequestOutcome, SessionProfile,
    SessionState,
};
use crate::session::SessionError;
use crate::session::actor::SessionUpdate;
use crate::store::{Change, QueuedPrompt};

impl Machine {
    /// Ends the agent and closes the session. Everything it has said is committed when the reply comes.
    pub(super) fn close(&mut self, context: &Context) {
        if self.state == SessionState::Closed {
            return self.reply(Reply::Done(Err(SessionError::Closed)));
        }
        // First, so that none of them begins if the running turn ends right now.
        let dropped: Vec<QueuedPrompt> = std::iter::from_fn(|| self.prompts.pop()).collect();
        self.disconnect(Disconnect::Politely);
        self.finish_turn(
            context,
            &Ending::cut("The session was closed.", AnsweredBy::Close, PromptVerdict::Interrupted),
        );
        self.end_own_work("the session was closed", AnsweredBy::Close);
        self.close_requests(RequestOutcome::Cancelled, AnsweredBy::Close);
        self.drop_continuation();
        for prompt in &dropped {
            self.write(Callback::PromptCancelled { prompt_id: prompt.id });
            self.resolve_prompt(PromptOutcome::dropped(prompt.id));
        }
        let told = match dropped.len() {
            0 => None,
            1 => Some("A queued prompt was not sent because the session was closed.".to_owned()),
            count => Some(format!("{count} queued prompts were not sent because the session was closed.")),
        };
        if let Some(message) = told {
            self.notify(NoticeKind::Dropped, message);
        }
        self.set_state(SessionState::Closed, None);
        self.draft.change(Change::ClosedAt(Some(context.time)));
        self.flush();
        self.outputs.push(Output::Closed { at: context.time });
    }

    pub(super) fn reopen(&mut self) {
        if self.state != SessionState::Closed {
            return self.reply(Reply::Done(Err(SessionError::NotClosed)));
        }
        let first = self.begin_commit();
        self.draft.change(Change::ClosedAt(None));
        self.draft.change(Change::ReadersReopened);
        self.draft.change(Change::State(SessionState::Ready, None));
        self.commit(Waiting::Reopen { first });
    }

    pub(super) fn on_reopen_committed(&mut self) {
        self.recovery.losses = 0;
        (self.state, self.state_detail) = (SessionState::Ready, None);
        self.outputs.push(Output::Reopened);
        self.status_changed = true;
    }

    pub(super) fn update(&mut self, context: &Context, update: SessionUpdate, model_warning: Option<String>) {
        let switches = update.model.is_some() || update.effort.is_some();
        if self.state == SessionState::Closed && switches {
            return self.reply(Reply::Done(Err(SessionError::Closed)));
        }
        if switches && !context.abilities.model_switch {
            let runtime = &self.profile.runtime;
            let message = format!(
                "the runtime {runtime} cannot switch model or effort in a running session; start a new session"
            );
            return self.reply(Reply::Done(Err(SessionError::Unsupported(message))));
        }
        let mut profile = self.profile.clone();
        let first = self.begin_commit();
        if let Some(title) = update.title {
            // The log of a closed session has its end already.
            if self.has_been_prompted() && self.state != SessionState::Closed {
                self.write(Callback::TitleChanged { title: title.clone() });
            }
            self.draft.change(Change::TitleGiven(title.clone()));
            (profile.title, profile.title_is_given) = (Some(title), true);
        }
        if switches {
            profile.model = update.model.unwrap_or(profile.model);
            profile.effort = update.effort.or(profile.effort);
            self.draft.change(Change::Model(profile.model.clone(), profile.effort.clone()));
            let effort = profile.effort.as_ref().filter(|_| profile.effort != self.profile.effort);
            let changed = match effort {
                Some(effort) if profile.model == self.profile.model => format!("the effort is {effort}"),
                Some(effort) => format!("the model is {} and the effort is {effort}", profile.model),
                None => format!("the model is {}", profile.model),
            };
            self.notify(NoticeKind::Model, format!("From the next turn on, {changed}."));
        }
        let permits = update.permissions.is_some();
        if let Some(permissions) = update.permissions {
            self.draft.change(Change::Permissions(permissions.clone()));
            profile.permissions = permissions;
        }
        if let Some(budget) = update.budget {
            self.draft.change(Change::Budget(budget));
            profile.budget = budget;
        }
        self.commit(Waiting::Update { profile: Box::new(profile), switches, permits, model_warning, first });
    }

    pub(super) fn on_update_committed(
        &mut self,
        context: &Context,
        profile: SessionProfile,
        switches: bool,
        permits: bool,
        model_warning: Option<String>,
    ) {
        self.profile = profile;
        self.status_changed = true;
        if let Some(warning) = model_warning.filter(|_| switches) {
            self.notify(NoticeKind::Warning, warning);
        }
        if permits {
            self.recheck_requests(context);
            self.after_recheck(context);
        }
        match &mut self.link {
            Link::Live { .. } => self.send_changes(context, switches, permits),
            // The agent is being started with what was set before.
            Link::Opening { configure, permit } => (*configure, *permit) = (*configure | switches, *permit | permits),
            Link::None | Link::BackingOff { .. } | Link::AwaitingLogin => {}
        }
    }

    /// Tells the agent what changed in the session's settings.
    pub(super) fn send_changes(&mut self, context: &Context, configure: bool, permit: bool) {
        if configure {
            let (model, effort) = (self.profile.model.clone(), self.profile.effort.clone());
            self.send(context, AgentCommand::Configure { model, effort });
        }
        if permit && !context.abilities.permissions {
            let policy = self.policy(&context.settings.permissions, &context.folder_rules);
            self.send(context, AgentCommand::Permit(policy));
        }
    }

    /// Writes the history and the agent's id in one commit: after a crash all of it is there or none.
    pub(super) fn adopt(&mut self, context: &Context, agent_session_id: String, past: Vec<PastInput>) {
        let first = self.begin_commit();
        self.draft.change(Change::AgentSession(Some(agent_session_id.clone())));
        self.agent_session_id = Some(agent_session_id);
        for piece in past {
            match piece {
                PastInput::Prompt(text) => self.open_past_turn(context, text),
                PastInput::Event(event) => self.on_agent_input(context, *event),
            }
        }
        if self.turn.is_some() {
            self.finish_turn(context, &Ending::Idle);
        }
        self.end_own_work("the imported history ends", AnsweredBy::Agent);
        self.notify(
            NoticeKind::Adopted,
            "Imported from another client. History above this line was recorded there; the next prompt continues it.",
        );
        self.commit(Waiting::Adoption { first });
    }

    fn open_past_turn(&mut self, context: &Context, text: String) {
        // Its record has no end.
        self.finish_turn(context, &Ending::Idle);
        let id = self.prompts.next_id();
        let prompt = QueuedPrompt::plain(id, text);
        self.write(user_prompt(&prompt, Vec::new(), PromptAuthor::Person, false));
        self.draft.change(Change::PromptAccepted(prompt.prepare()));
        self.prompts.take_id(id);
        self.open_turn(id);
    }

    /// The server shuts down: the turn is interrupted, the agent ended, the session stays open. A turn that can
    /// continue after a restart because it only waits for a person is left as it is.
    pub(super) fn shut_down(&mut self, context: &Context) {
        let fate = self.fate_of_requests(context);
        if fate == Fate::TurnContinues && self.is_live() {
            self.send(context, AgentCommand::Suspend);
        }
        self.disconnect(Disconnect::Politely);
        if fate != Fate::TurnContinues {
            let message = "The turn was interrupted because the server was stopped.";
            if fate == Fate::Kept {
                self.cut_waiting_turn(context, message.to_owned(), AnsweredBy::Shutdown);
            }
            self.finish_turn(context, &Ending::cut(message, AnsweredBy::Shutdown, PromptVerdict::Interrupted));
            self.end_own_work("the server was stopped", AnsweredBy::Shutdown);
            self.settle();
        }
        self.flush();
        self.reply(Reply::Done(Ok(())));
    }

    /// Nothing is in progress, so the state becomes ready, unless it is one that lasts.
    pub(super) fn settle(&mut self) {
        if !matches!(self.state, SessionState::Closed | SessionState::Failed | SessionState::NeedsLogin) {
            self.set_state(self.resting_state(), None);
        }
    }
}
