//! Agent events, written to the log.

use super::model_retries::ModelRetries;
use super::turn::Phase;
use super::{AgentInput, Context, Link, Machine, Output, Stored};
use crate::agent::{AgentEvent, BlockEnd, BlockStart};
use crate::model::{
    AnsweredBy, BlockKey, BlockKind, Callback, NoticeKind, RequestOutcome, SessionState, SlashCommand, ToolResult,
    redact,
};
use crate::store::Change;

/// The part of an event of unknown kind that is kept.
const LONGEST_UNKNOWN: usize = 64 * 1024;

impl Machine {
    pub(super) fn on_agent_input(&mut self, context: &Context, input: AgentInput) {
        match input {
            AgentInput::Event(event) => self.on_agent_event(context, event),
            _ if !self.has_been_prompted() => {}
            AgentInput::BlockEnded { end, stored } => {
                self.write_model_retries();
                self.keep(stored);
                self.on_block_ended(end);
            }
            AgentInput::Image { tool_call_id, image, stored } => {
                self.keep(stored);
                self.images.entry(tool_call_id).or_default().extend(image);
            }
            AgentInput::Usage { usage, of_day } => self.on_usage(context, usage, &of_day),
        }
    }

    fn on_agent_event(&mut self, context: &Context, event: AgentEvent) {
        self.stop_if_turn_goes_on(context, &event);
        if ModelRetries::are_over_with(&event) {
            self.write_model_retries();
        }
        match event {
            AgentEvent::Gone { reason } => return self.on_agent_lost(context, &reason),
            AgentEvent::ToolWaits { agent_request_id, call } => return self.on_tool_waits(agent_request_id, &call),
            AgentEvent::Outdated => {
                if let Link::Live { is_outdated, .. } = &mut self.link {
                    *is_outdated = true;
                }
                return self.advance(context);
            }
            AgentEvent::CommandsListed(commands) => {
                return self.draft.change(Change::Commands(SlashCommand::usable(commands)));
            }
            // A session's log is empty until its first prompt.
            AgentEvent::TitleChanged(title) if !self.has_been_prompted() => return self.on_title(title),
            AgentEvent::Notice { kind, message } if !self.has_been_prompted() => {
                return self.notify(kind, redact(&message).into_owned());
            }
            _ if !self.has_been_prompted() => return,
            AgentEvent::Idle => return self.on_agent_idle(context),
            _ => {}
        }
        match event {
            AgentEvent::TurnStarted { .. } => self.on_agent_turn_started(),
            AgentEvent::BlockStarted(start) => self.on_block_started(start),
            AgentEvent::BlockDelta { key, delta } => {
                self.touch_attempt(key.kind);
                if !self.is_of_earlier_run(&key) {
                    self.note_own_work();
                    self.transcript.extend_block(&mut self.draft, key, delta);
                }
            }
            AgentEvent::BlockDiscarded(key) => {
                self.transcript.discard_block(&mut self.draft, &key, "the agent started it again");
            }
            AgentEvent::BlockEnded(end) => self.on_block_ended(end),
            AgentEvent::RequestMade { agent_request_id, body } => self.on_request(context, agent_request_id, body),
            AgentEvent::RequestWithdrawn { agent_request_id } => self.on_request_withdrawn(&agent_request_id),
            AgentEvent::ContextUsed(usage) => {
                self.draft.change(Change::Context(usage));
                self.write(Callback::ContextUsage(usage));
            }
            AgentEvent::BackgroundTasks(tasks) => {
                self.write(Callback::BackgroundTasks { tasks });
            }
            AgentEvent::PromptGenerated(prompt) => {
                if !prompt.trim().is_empty() {
                    self.transcript.write_agent_end(&mut self.draft);
                    self.write(Callback::generated_prompt(prompt));
                }
            }
            AgentEvent::Notice { kind: NoticeKind::Retrying, message } => self.on_model_retry(redact(&message).into()),
            AgentEvent::Notice { kind, message } => self.notify(kind, redact(&message).into_owned()),
            AgentEvent::TitleChanged(title) => self.on_title(title),
            AgentEvent::SessionNamed(id) => self.set_agent_session(Some(id)),
            AgentEvent::TurnFailed { failure } => self.on_turn_failed(context, failure),
            AgentEvent::Unknown { kind, raw } => {
                self.outputs.push(Output::CountUnknown);
                let raw = if raw.get().len() <= LONGEST_UNKNOWN {
                    serde_json::from_str(raw.get()).unwrap_or_default()
                } else {
                    raw.get()[..raw.get().floor_char_boundary(LONGEST_UNKNOWN)].into()
                };
                self.write(Callback::UnknownEvent { kind, raw });
            }
            AgentEvent::FellBehind { waiting } => self.on_fell_behind(waiting),
            AgentEvent::SteerRefused { prompt, reason } => self.on_steer_refused(prompt, &reason),
            // The end is written when the next step begins, or with the turn's own end: what an agent says about a step
            // after its end belongs to it.
            AgentEvent::TurnEnded { .. }
            // The start of a call says the same.
            | AgentEvent::ToolsRequested(_)
            | AgentEvent::ModelStopped { .. }
            // The agent has given up the call, because its turn was interrupted.
            | AgentEvent::ToolAnswerRefused { .. }
            // Handled above, or by a case of their own in `AgentInput`.
            | AgentEvent::Idle
            | AgentEvent::CommandsListed(_)
            | AgentEvent::ToolWaits { .. }
            | AgentEvent::Outdated
            | AgentEvent::Gone { .. }
            | AgentEvent::ImageMade { .. }
            | AgentEvent::UsageReported(_) => {}
        }
    }

    /// Events of the agent were dropped. The turn continues, because the agent was asked to continue.
    fn on_fell_behind(&mut self, waiting: usize) {
        self.transcript.close_blocks(&mut self.draft, "the session did not keep up with the agent");
        self.close_requests(RequestOutcome::Cancelled, AnsweredBy::Agent);
        let consequence = match self.turn {
            Some(_) => "The agent was interrupted and continues now. What it said in between was not recorded.",
            None => "What the agent said in between was not recorded.",
        };
        let message =
            format!("This session did not keep up with its agent: {waiting} bytes were waiting. {consequence}");
        self.notify(NoticeKind::FellBehind, message);
        if self.state == SessionState::Waiting {
            self.set_state(SessionState::Working, None);
        }
    }

    /// A title that a person chose stays, and one that was made from a text that nobody wrote is no title.
    fn on_title(&mut self, title: String) {
        let is_refused = self.profile.title_is_given
            || self.recovery.began_with_summary
            || crate::session::summary::is_title_of_preamble(&title);
        if is_refused {
            return;
        }
        if self.profile.title.as_deref() != Some(&title) {
            if self.has_been_prompted() {
                self.write(Callback::TitleChanged { title: title.clone() });
            }
            self.draft.change(Change::Title(title.clone()));
            self.profile.title = Some(title);
            self.status_changed = true;
        }
    }

    fn on_block_started(&mut self, start: BlockStart) {
        self.touch_attempt(match start {
            BlockStart::Reasoning { .. } => BlockKind::Reasoning,
            BlockStart::Message { .. } => BlockKind::Message,
            BlockStart::Tool { .. } => BlockKind::Tool,
        });
        self.note_own_work();
        self.transcript.start_block(&mut self.draft, start);
    }

    /// The agent has said or done something: sending the same prompt again would say or do it twice. Agents may leave
    /// out the start of a block, so its pieces and its end count too.
    fn touch_attempt(&mut self, kind: BlockKind) {
        if kind != BlockKind::Reasoning
            && let Some(Phase::Working(attempt) | Phase::Retrying { attempt, .. }) =
                self.turn.as_mut().map(|turn| &mut turn.phase)
        {
            attempt.touch();
        }
    }

    /// Whether it is a tool call that began in an earlier connection, perhaps before a restart: when its session is
    /// resumed, an agent ends the calls that were cut off. Their ends are in the log already.
    fn is_of_earlier_run(&self, key: &BlockKey) -> bool {
        key.kind == BlockKind::Tool && !self.transcript.agent_works() && !self.transcript.fold().is_open(key)
    }

    fn on_block_ended(&mut self, mut end: BlockEnd) {
        self.touch_attempt(match end {
            BlockEnd::Reasoning { .. } => BlockKind::Reasoning,
            BlockEnd::Message { .. } => BlockKind::Message,
            BlockEnd::Tool { .. } => BlockKind::Tool,
        });
        if let BlockEnd::Tool { id, result, .. } = &mut end {
            let images = self.images.remove(id).unwrap_or_default();
            if self.is_of_earlier_run(&BlockKey::new(BlockKind::Tool, id.as_str())) {
                return;
            }
            if !images.is_empty() {
                *result = Some(ToolResult { images, ..result.take().unwrap_or_default() });
            }
        }
        self.note_own_work();
        self.transcript.end_block(&mut self.draft, end);
    }

    fn keep(&mut self, stored: Stored) {
        for blob in stored.blobs {
            self.draft.change(Change::BlobUsed { hash: blob.hash, mime: blob.mime, size: blob.size });
        }
        for message in stored.limits {
            self.notify(NoticeKind::Limit, message);
        }
    }
}
