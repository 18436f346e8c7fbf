//! Agent events on their way to the machine: large content is stored as blobs first.

use std::collections::VecDeque;

use base64::prelude::{BASE64_STANDARD, Engine as _};

use super::inside::{is_inside, may_write};
use super::{Actor, Input, SessionServices};
use crate::agent::{AgentEvent, BlockEnd};
use crate::model::{AttachedFile, Attachment, Day, SessionId, ToolImage, ToolResult, redact};
use crate::session::clock;
use crate::session::machine::{AgentInput, Stored, StoredBlob};

/// The part of a long output that stays in the event itself.
const PREVIEW_BYTES: usize = 16 * 1024;

impl Actor {
    /// Hands events to the machine, one at a time and in order.
    pub(super) async fn take_in(&mut self, events: impl Iterator<Item = AgentEvent>) {
        // The clock is read once for all events that arrived together, and again after waiting.
        let mut context = self.context();
        for event in events {
            self.log_failure(&event);
            let input = match event {
                // Counted by nobody: a session's log is empty until its first prompt.
                AgentEvent::UsageReported(_) if !self.machine.has_been_prompted() => continue,
                event @ (AgentEvent::BlockEnded(BlockEnd::Tool { .. })
                | AgentEvent::ImageMade { .. }
                | AgentEvent::UsageReported(_)) => {
                    let input = Intake { services: &self.services, session: self.id }.take(event).await;
                    // Time has passed, and the day's usage may have changed.
                    context = self.context();
                    input
                }
                AgentEvent::RequestMade { agent_request_id, mut body } => {
                    let folder = self.machine.profile().working_directory.as_deref();
                    if let Some(reading) = body.reading_mut() {
                        reading.is_inside = is_inside(folder, &reading.path).await;
                    }
                    if let Some(writing) = body.writing_mut() {
                        writing.is_inside = may_write(folder, &writing.paths).await;
                    }
                    AgentInput::Event(AgentEvent::RequestMade { agent_request_id, body })
                }
                event => AgentInput::Event(event),
            };
            self.machine.step(&context, Input::Agent(input));
            if self.machine.has_outputs() {
                let mut inputs = VecDeque::new();
                self.carry_out(&mut inputs, &mut None).await;
                while let Some(input) = inputs.pop_front() {
                    let context = self.context();
                    self.machine.step(&context, input);
                    self.carry_out(&mut inputs, &mut None).await;
                }
                context = self.context();
            }
        }
        self.after_step();
    }

    fn log_failure(&self, event: &AgentEvent) {
        let agent_session = self.machine.agent_session_id().unwrap_or_default();
        match event {
            AgentEvent::Gone { reason } => {
                tracing::warn!(session = %self.id, agent_session, code = "gone", reason = %redact(reason), "the agent is gone");
            }
            AgentEvent::TurnFailed { failure } => {
                let code = if failure.lost_session { "session-lost" } else { failure.class.as_str() };
                tracing::warn!(session = %self.id, agent_session, code, error = %redact(&failure.message), "a turn failed");
            }
            _ => {}
        }
    }
}

/// Stores what is too large for the log.
pub(super) struct Intake<'a> {
    pub services: &'a SessionServices,
    pub session: SessionId,
}

impl Intake<'_> {
    pub async fn take(&self, event: AgentEvent) -> AgentInput {
        match event {
            AgentEvent::BlockEnded(BlockEnd::Tool { id, result, error }) => {
                let mut stored = Stored::default();
                let result = match result {
                    Some(result) => Some(self.outsource(result, &mut stored).await),
                    None => None,
                };
                AgentInput::BlockEnded { end: BlockEnd::Tool { id, result, error }, stored }
            }
            AgentEvent::ImageMade { tool_call_id, mime, data } => {
                let mut stored = Stored::default();
                let image = self.store_image(mime, data, &mut stored).await;
                AgentInput::Image { tool_call_id, image, stored }
            }
            AgentEvent::UsageReported(usage) => {
                let usage = usage.plausible();
                let of_day = self.services.day_usage.add(Day::of(clock::now()), &usage);
                AgentInput::Usage { usage, of_day }
            }
            event => AgentInput::Event(event),
        }
    }

    async fn store_image(&self, mime: String, data: Vec<u8>, stored: &mut Stored) -> Option<ToolImage> {
        let (size, most) = (data.len(), self.services.settings.current().blob_bytes);
        if size > most {
            stored.limits.push(format!("An image of {size} bytes was left out; raise limits.blob_bytes to keep it."));
            return None;
        }
        match self.services.store.put_blob(data).await {
            Ok(hash) => {
                stored.blobs.push(StoredBlob { hash: hash.clone(), mime: mime.clone(), size: size as u64 });
                Some(ToolImage { blob: hash, mime })
            }
            Err(error) => {
                tracing::error!(session = %self.session, error = %error, "could not store an image");
                stored.limits.push(format!("An image of {size} bytes could not be stored: {error}."));
                None
            }
        }
    }

    /// Stores the attachments of a prompt, so that the transcript can show them. One that cannot be stored is still sent.
    pub async fn store_files(&self, attachments: &[Attachment]) -> Vec<AttachedFile> {
        let mut files = Vec::with_capacity(attachments.len());
        for Attachment { name, mime, data } in attachments {
            let data = BASE64_STANDARD.decode(data).unwrap_or_default();
            let size = data.len() as u64;
            let hash = self.store_file(data).await;
            files.push(AttachedFile { name: name.clone(), mime: mime.clone(), size, hash });
        }
        files
    }

    async fn store_file(&self, data: Vec<u8>) -> Option<String> {
        if data.len() > self.services.settings.current().blob_bytes {
            return None;
        }
        match self.services.store.put_blob(data).await {
            Ok(hash) => Some(hash),
            Err(error) => {
                tracing::error!(session = %self.session, error = %error, "could not store an attachment");
                None
            }
        }
    }

    /// Moves large outputs to blobs and leaves their beginning.
    async fn outsource(&self, mut result: ToolResult, stored: &mut Stored) -> ToolResult {
        let content = std::mem::take(&mut result.content);
        (result.content, result.content_blob) = self.outsource_text(content, stored).await;
        if let Some(detailed) = result.detailed_content.take() {
            let (text, blob) = self.outsource_text(detailed, stored).await;
            (result.detailed_content, result.detailed_content_blob) = (Some(text), blob);
        }
        result
    }

    async fn outsource_text(&self, mut text: String, stored: &mut Stored) -> (String, Option<String>) {
        let settings = self.services.settings.current();
        let (inline, most) = (settings.inline_output_bytes, settings.blob_bytes);
        let size = text.len();
        if size <= inline {
            return (text, None);
        }
        if size > most {
            text.truncate(text.floor_char_boundary(most));
            let message =
                format!("A tool's output of {size} bytes was cut to {most}; raise limits.blob_bytes to keep more.");
            stored.limits.push(message);
        }
        let preview = text[..text.floor_char_boundary(PREVIEW_BYTES.min(inline))].to_owned();
        let stored_size = text.len() as u64;
        match self.services.store.put_blob(text.into_bytes()).await {
            Ok(hash) => {
                let mime = "text/plain; charset=utf-8".to_owned();
                stored.blobs.push(StoredBlob { hash: hash.clone(), mime, size: stored_size });
                (preview, Some(hash))
            }
            Err(error) => {
                tracing::error!(session = %self.session, error = %error, "could not store a large output");
                let message =
                    format!("Only the beginning of a tool's output of {size} bytes could be stored: {error}.");
                stored.limits.push(message);
                (preview, None)
            }
        }
    }
}
