//! From what an agent says to what the log says.

use std::sync::atomic::Ordering;

use super::{Actor, connecting::Link};
use crate::agent::{AgentEvent, BlockEnd, BlockStart};
use crate::model::{BlockKey, Callback, NoticeKind, ToolImage, ToolResult, redact};
use crate::session::responses;
use crate::store::Change;

/// The part of an event of unknown kind that is kept.
const LONGEST_UNKNOWN: usize = 64 * 1024;
/// The part of a long output that stays in the event itself.
const PREVIEW_BYTES: usize = 16 * 1024;

impl Actor {
    pub(super) async fn on_agent_event(&mut self, event: AgentEvent) {
        if let AgentEvent::Gone { reason } = event {
            return self.on_agent_lost(reason).await;
        }
        if matches!(event, AgentEvent::Outdated) {
            self.is_outdated = true;
            return self.go_on().await;
        }
        if !self.has_been_prompted() {
            match event {
                AgentEvent::TitleChanged(title) => self.on_title(title),
                AgentEvent::Notice { kind, message } => self.write_notice(kind, redact(&message).into_owned()),
                _ => {}
            }
            return;
        }
        if matches!(event, AgentEvent::Idle) {
            return self.on_agent_idle().await;
        }
        if self.agent_turn.as_ref().is_some_and(|turn| turn.ended) {
            self.write_agent_end();
        }
        match event {
            AgentEvent::TurnStarted { turn_id } => self.on_agent_turn_started(turn_id),
            AgentEvent::TurnEnded { .. } => {
                if let Some(turn) = &mut self.agent_turn {
                    turn.ended = true;
                }
            }
            AgentEvent::BlockStarted(start) => self.on_block_started(start),
            AgentEvent::BlockDelta { key, delta } => self.on_block_delta(&key, delta),
            AgentEvent::BlockDiscarded(key) => self.on_block_discarded(&key),
            AgentEvent::BlockEnded(end) => self.on_block_ended(end).await,
            AgentEvent::RequestMade { agent_request_id, body } => self.on_request(agent_request_id, body),
            AgentEvent::RequestWithdrawn { agent_request_id } => self.on_request_withdrawn(&agent_request_id),
            AgentEvent::UsageReported(usage) => self.on_usage(usage),
            AgentEvent::ContextUsed(usage) => {
                self.journal.change(Change::Context(usage));
                self.journal.write(&Callback::ContextUsage(usage).into());
            }
            AgentEvent::BackgroundTasks(tasks) => {
                self.journal.write(&Callback::BackgroundTasks { tasks }.into());
            }
            AgentEvent::ImageMade { tool_call_id, mime, data } => self.on_image(tool_call_id, mime, data).await,
            AgentEvent::PromptGenerated(prompt) => {
                self.journal.write(&Callback::GeneratedUserPrompt { prompt }.into());
            }
            AgentEvent::Notice { kind, message } => self.write_notice(kind, redact(&message).into_owned()),
            AgentEvent::TitleChanged(title) => self.on_title(title),
            AgentEvent::TurnFailed { failure } => self.on_turn_failed(failure),
            AgentEvent::Unknown { kind, raw } => {
                self.around.unknown_events.fetch_add(1, Ordering::Relaxed);
                tracing::debug!(session = %self.id, %kind, bytes = raw.get().len(), "unknown agent event");
                let raw = if raw.get().len() <= LONGEST_UNKNOWN {
                    serde_json::from_str(raw.get()).unwrap_or_default()
                } else {
                    raw.get()[..raw.get().floor_char_boundary(LONGEST_UNKNOWN)].into()
                };
                self.journal.write(&Callback::UnknownEvent { kind, raw }.into());
            }
            AgentEvent::SteerRefused { prompt, reason } => self.on_steer_refused(prompt, &reason),
            AgentEvent::Idle | AgentEvent::Outdated | AgentEvent::Gone { .. } => {}
        }
    }

    fn on_title(&mut self, title: String) {
        if self.profile.title.as_deref() != Some(&title) {
            if self.has_been_prompted() {
                self.journal.write(&Callback::TitleChanged { title: title.clone() }.into());
            }
            self.journal.change(Change::Title(title.clone()));
            self.profile.title = Some(title);
            self.post();
        }
    }

    fn on_block_started(&mut self, start: BlockStart) {
        if let (BlockStart::Message { .. } | BlockStart::Tool { .. }, Some(turn)) = (&start, &mut self.turn) {
            // From here on the same prompt again would say or do things twice.
            turn.attempts.untouched = None;
        }
        match (&start, &mut self.turn) {
            // A sub-agent speaks to the agent, not to the person who asked.
            (BlockStart::Message { id, parent: Some(_) }, Some(turn)) => drop(turn.asides.insert(id.clone())),
            // What the agent said before a tool call is not its final word.
            (BlockStart::Tool { .. }, Some(turn)) => turn.text.clear(),
            _ => {}
        }
        let (key, response) = responses::start(start);
        if self.blocks.is_open(&key) {
            // A second start of an open block says nothing new.
            return;
        }
        let seq = self.journal.write(&response.into());
        self.blocks.start(key, seq);
    }

    /// An agent that sends data or an end first gets its start made up.
    fn ensure_started(&mut self, key: &BlockKey) {
        if !self.blocks.is_open(key) {
            self.on_block_started(responses::made_up_start(key));
        }
    }

    fn on_block_delta(&mut self, key: &BlockKey, delta: String) {
        self.ensure_started(key);
        let Some(start) = self.blocks.delta(key, &delta) else { return };
        let response = responses::delta(key, delta);
        self.journal.write_delta(&response.into(), start);
    }

    async fn on_block_ended(&mut self, mut end: BlockEnd) {
        match &mut end {
            BlockEnd::Message { id, content } => {
                if let Some(turn) = &mut self.turn
                    && !turn.asides.contains(id)
                {
                    turn.add_text(content);
                }
            }
            BlockEnd::Tool { id, result, .. } => {
                let images = self.images.remove(id).unwrap_or_default();
                *result = match result.take() {
                    Some(result) => Some(ToolResult { images, ..self.outsource(result).await }),
                    None if images.is_empty() => None,
                    None => Some(ToolResult { images, ..ToolResult::default() }),
                };
            }
            BlockEnd::Reasoning { .. } => {}
        }
        let (key, response) = responses::end(end);
        self.ensure_started(&key);
        let seq = self.journal.write(&response.into());
        if let Some(ended) = self.blocks.end(&key, seq) {
            self.journal.end_block(ended);
        }
    }

    fn on_block_discarded(&mut self, key: &BlockKey) {
        if let Some(response) = self.blocks.closing_response(key, "the agent began it anew") {
            let seq = self.journal.write(&response);
            if let Some(ended) = self.blocks.end(key, seq) {
                self.journal.end_block(ended);
            }
        }
    }

    /// Keeps a picture until the call that made it ends.
    async fn on_image(&mut self, tool_call_id: String, mime: String, data: Vec<u8>) {
        let (size, most) = (data.len(), self.around.settings.blob_bytes);
        if size > most {
            return self.write_notice(
                NoticeKind::Limit,
                format!("A picture of {size} bytes was left out; raise limits.blob_bytes to keep it."),
            );
        }
        match self.around.store.put_blob(data).await {
            Ok(hash) => {
                self.journal.change(Change::BlobUsed { hash: hash.clone(), mime: mime.clone(), size: size as u64 });
                self.images.entry(tool_call_id).or_default().push(ToolImage { blob: hash, mime });
            }
            Err(error) => {
                tracing::error!(session = %self.id, error = %error, "a picture could not be kept");
                self.write_notice(NoticeKind::Limit, format!("A picture of {size} bytes could not be kept: {error}."));
            }
        }
    }

    /// Moves large outputs to blobs and leaves their beginning.
    async fn outsource(&mut self, mut result: ToolResult) -> ToolResult {
        let content = std::mem::take(&mut result.content);
        (result.content, result.content_blob) = self.outsource_text(content).await;
        if let Some(detailed) = result.detailed_content.take() {
            let (text, blob) = self.outsource_text(detailed).await;
            (result.detailed_content, result.detailed_content_blob) = (Some(text), blob);
        }
        result
    }

    async fn outsource_text(&mut self, mut text: String) -> (String, Option<String>) {
        let (inline, most) = (self.around.settings.inline_output_bytes, self.around.settings.blob_bytes);
        let size = text.len();
        if size <= inline {
            return (text, None);
        }
        if size > most {
            text.truncate(text.floor_char_boundary(most));
            self.write_notice(
                NoticeKind::Limit,
                format!("A tool's output of {size} bytes was cut to {most}; raise limits.blob_bytes to keep more."),
            );
        }
        let preview = text[..text.floor_char_boundary(PREVIEW_BYTES.min(inline))].to_owned();
        let stored_size = text.len() as u64;
        match self.around.store.put_blob(text.into_bytes()).await {
            Ok(hash) => {
                self.journal.change(Change::BlobUsed {
                    hash: hash.clone(),
                    mime: "text/plain; charset=utf-8".to_owned(),
                    size: stored_size,
                });
                (preview, Some(hash))
            }
            Err(error) => {
                tracing::error!(session = %self.id, error = %error, "a large output could not be kept");
                self.write_notice(
                    NoticeKind::Limit,
                    format!("Only the beginning of a tool's output of {size} bytes could be kept: {error}."),
                );
                (preview, None)
            }
        }
    }

    /// Whether an agent is there to hear anything.
    pub(super) fn is_connected(&self) -> bool {
        matches!(self.link, Link::Live(_))
    }
}
