//! One session of an agent that answers as a model: it is opened, answers turns, waits for its caller, and is destroyed.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::captures::Shared;
use super::compliance::MOST_CORRECTIONS;
use super::fingerprint::Fingerprint;
use super::opening::{Start, open};
use super::recorder::Recorder;
use super::rendering::{self, Prompt};
use super::turn::{Input, Turn};
use super::waiting::{OpenCall, Place, WaitsFor};
use super::{
    CaptureError, ErrorKind, Message, Mode, Part, Piece, Reading, Recording, StopReason, ToolCall, images_of, text_of,
};
use crate::agent::{
    AgentCommand, AgentEvent, BlockEnd, Connection, QuestionAnswer, RequestAnswer, ToolAnswer, ToolRequest,
};
use crate::model::{Attachment, BlockKind, Decision, RequestBody, Usage};

/// How long to wait for usage that the agent reports after it is idle.
const USAGE_WITHIN: Duration = Duration::from_millis(200);

/// How an answer ended.
enum After {
    /// The session waits for its caller.
    Waits,
    /// The agent ended before it said anything. It may still wait for these results.
    Died(Vec<OpenCall>),
    /// The agent no longer knows what it waited for; the request needs a new session.
    Forgotten,
    /// The session is of no further use.
    Over,
}

/// How waiting ended.
enum Next {
    /// The caller came.
    Turn(Seat, Box<Turn>),
    /// The caller came while the session was being put on the agent's disk.
    Resume(Start, Box<Turn>),
    /// The session is on the agent's disk.
    Left,
    /// Nobody will come.
    Over(Seat),
}

pub(super) struct Seat {
    shared: Arc<Shared>,
    session: String,
    connection: Box<Connection>,
    is_gone: bool,
    /// The calls that wait, in order.
    calls: Vec<OpenCall>,
    turns: mpsc::Receiver<Turn>,
    sender: mpsc::Sender<Turn>,
}

/// Answers a turn in a new or resumed session, and further turns of the same conversation.
pub(super) async fn run(shared: Arc<Shared>, mut turn: Turn, mut start: Start) {
    let mut was_resumed = false;
    while let Some(mut seat) = open(&shared, &mut turn, start).await {
        start = loop {
            match seat.answer(&mut turn).await {
                After::Over => return seat.discard().await,
                // What the agent wrote to its disk is tried once in a turn.
                After::Died(calls) if !calls.is_empty() && !was_resumed => {
                    was_resumed = true;
                    break seat.close_to_resume(calls).await;
                }
                After::Died(_) | After::Forgotten => {
                    seat.discard().await;
                    turn.start_afresh();
                    break Start::New;
                }
                After::Waits => {}
            }
            was_resumed = false;
            let recording = turn.recording.clone();
            // Its conversation need not wait in memory too.
            drop(turn);
            match seat.wait(&recording).await {
                Next::Turn(same, next) => (seat, turn) = (same, *next),
                Next::Resume(resumed, next) => {
                    turn = *next;
                    break resumed;
                }
                Next::Left => return,
                Next::Over(seat) => return seat.discard().await,
            }
        };
    }
}

impl Seat {
    pub fn new(shared: Arc<Shared>, session: String, connection: Box<Connection>, calls: Vec<OpenCall>) -> Self {
        let (sender, turns) = mpsc::channel(1);
        Self { shared, session, connection, is_gone: false, calls, turns, sender }
    }

    async fn send(&self, command: AgentCommand) {
        // An error means that the agent is gone, and the next event says so.
        let _ = self.connection.commands.send(command).await;
    }

    async fn prompt(&self, prompt: Prompt) {
        let attachments = prompt
            .images
            .into_iter()
            .enumerate()
            .map(|(number, image)| Attachment {
                name: format!("image {}", number + 1),
                mime: image.mime,
                data: image.data,
            })
            .collect();
        self.send(AgentCommand::Prompt { turn_id: "capture".into(), text: prompt.text, attachments }).await;
    }

    /// Tells the session what the request says. `false` if it does not wait for what the request brings.
    async fn tell(&mut self, turn: &Turn) -> bool {
        let instruction = turn.demands.instruction();
        let calls = std::mem::take(&mut self.calls);
        if turn.input == Input::Conversation || calls.is_empty() {
            let messages = if turn.input == Input::Conversation { &turn.request.messages[..] } else { turn.tail() };
            let mut prompt = rendering::prompt(messages);
            if let Some(instruction) = instruction {
                prompt.text = format!("{}\n\n{instruction}", prompt.text);
            }
            self.prompt(prompt).await;
            return true;
        }
        // From here on nobody may give these results again.
        if self.shared.keep(&self.session, None).await.is_err() {
            return false;
        }
        let mut answers: Vec<(String, ToolAnswer)> = Vec::new();
        for call in &calls {
            let result = turn.tail().iter().find_map(|message| match message {
                Message::Tool(result) if result.call == call.id => Some(result),
                _ => None,
            });
            let Some(result) = result else { return false };
            let images = images_of(&result.parts).map(|image| (image.mime.clone(), image.data.clone())).collect();
            let answer = ToolAnswer { text: text_of(&result.parts), images, is_error: result.is_error };
            answers.push((call.request_id.clone(), answer));
        }
        // What the user said beside the results goes with the last one, so that the turn continues as the agent's.
        let beside = turn.tail().iter().filter_map(|message| match message {
            Message::User(parts) => Some(parts.as_slice()),
            _ => None,
        });
        let beside: Vec<Part> = beside.flatten().cloned().collect();
        if let Some((_, last)) = answers.last_mut() {
            last.images.extend(images_of(&beside).map(|image| (image.mime.clone(), image.data.clone())));
            for more in [Some(text_of(&beside)).filter(|text| !text.is_empty()), instruction].into_iter().flatten() {
                last.text = format!("{}\n\n{more}", last.text);
            }
        }
        self.send(AgentCommand::AnswerTools(answers)).await;
        true
    }

    /// Answers one request.
    async fn answer(&mut self, turn: &mut Turn) -> After {
        let calls = self.calls.clone();
        if self.is_gone {
            return After::Died(calls);
        }
        if !self.tell(turn).await {
            return After::Forgotten;
        }
        let mut asked: Vec<AskedCall> = Vec::new();
        let mut recorder = Recorder::new(&turn.recording, turn.demands.withhold_text() || turn.request.is_whole);
        let (mut usage, mut corrections, mut is_answered) = (None::<Usage>, 0, false);
        let unheard = unheard(turn.recording.reading(), self.shared.settings.unheard);
        tokio::pin!(unheard);
        loop {
            let event = match self.next_event(turn, unheard.as_mut()).await {
                Ok(event) => event,
                Err((outcome, error)) => return self.fail(turn, outcome, error, usage),
            };
            match event {
                AgentEvent::BlockDelta { key, delta } if key.kind == BlockKind::Message => {
                    recorder.text(&key.id, delta);
                }
                AgentEvent::BlockDelta { key, delta } if key.kind == BlockKind::Reasoning => {
                    recorder.reasoning(&key.id, delta);
                }
                AgentEvent::BlockEnded(BlockEnd::Message { id, content }) => recorder.whole_text(&id, &content),
                AgentEvent::BlockEnded(BlockEnd::Reasoning { id, content }) => recorder.whole_reasoning(&id, &content),
                AgentEvent::BlockDiscarded(key) if key.kind == BlockKind::Message && !recorder.discard(&key.id) => {
                    let message =
                        "The connection to the model was lost after part of the answer; send the request again.";
                    return self.fail(turn, "failed", CaptureError::new(ErrorKind::Failed, message), usage);
                }
                AgentEvent::ModelStopped { reason } => recorder.stopped(&reason),
                AgentEvent::UsageReported(more) => {
                    is_answered = true;
                    self.shared.account(&turn.model, &more);
                    usage.get_or_insert_default().add(&more);
                }
                AgentEvent::ToolsRequested(requests) => {
                    asked = asked_calls(turn, requests);
                    if turn.mode == Mode::Destroy && !asked.is_empty() {
                        return self.hand_over(turn, asked, &mut recorder, usage);
                    }
                }
                AgentEvent::ToolWaits { agent_request_id, call: ToolRequest { call_id, .. } } => {
                    if let Some(asked) = asked.iter_mut().find(|asked| asked.open.call_id == call_id) {
                        asked.open.request_id = agent_request_id;
                    }
                    if asked.iter().all(AskedCall::waits) && !asked.is_empty() {
                        return self.hand_over(turn, asked, &mut recorder, usage);
                    }
                }
                // The agent has dealt with a call itself, because its arguments are invalid.
                AgentEvent::BlockEnded(BlockEnd::Tool { id, .. }) => {
                    asked.retain(|asked| asked.open.call_id != id);
                    if asked.iter().all(AskedCall::waits) && !asked.is_empty() {
                        return self.hand_over(turn, asked, &mut recorder, usage);
                    }
                }
                AgentEvent::ToolAnswerRefused { reason, .. } if !is_answered => {
                    tracing::info!(session = self.session, reason, "a held session no longer waits for its caller");
                    return After::Forgotten;
                }
                AgentEvent::Idle => match turn.demands.check_text(recorder.said()) {
                    Ok(text) => return self.finish(turn, recorder, &text, usage).await,
                    Err(correction) if corrections < MOST_CORRECTIONS => {
                        corrections += 1;
                        recorder.start_again();
                        self.prompt(Prompt { text: correction, images: Vec::new() }).await;
                    }
                    Err(_) => {
                        let message = "The model did not give an answer of the required form after two corrections; \
                                           rephrase the request, or require less.";
                        let error = CaptureError::new(ErrorKind::Failed, message).with_code("answer_not_valid");
                        return self.fail(turn, "failed", error, usage);
                    }
                },
                AgentEvent::TurnFailed { failure } => {
                    return self.fail(turn, "failed", super::failure::error(&failure), usage);
                }
                AgentEvent::RequestMade { agent_request_id, body } => self.refuse(agent_request_id, &body).await,
                AgentEvent::FellBehind { .. } => {
                    let error = CaptureError::new(ErrorKind::Failed, "The server did not keep up with the model.");
                    return self.fail(turn, "failed", error, usage);
                }
                AgentEvent::Gone { reason } => {
                    self.is_gone = true;
                    if !is_answered && recorder.said().is_empty() && !calls.is_empty() {
                        return After::Died(calls);
                    }
                    let message = format!("The agent ended in the middle of the answer: {reason}");
                    return self.fail(turn, "failed", CaptureError::new(ErrorKind::Failed, message), usage);
                }
                _ => {}
            }
        }
    }

    /// The agent's next event, or how the answer ends without one.
    async fn next_event(
        &mut self,
        turn: &Turn,
        unheard: Pin<&mut impl Future<Output = ()>>,
    ) -> Result<AgentEvent, (&'static str, CaptureError)> {
        let gone = || AgentEvent::Gone { reason: "the agent ended".to_owned() };
        tokio::select! {
            event = self.connection.events.recv() => Ok(event.unwrap_or_else(gone)),
            () = tokio::time::sleep_until(turn.deadline) => {
                let within = humantime::format_duration(self.shared.settings.deadline);
                let message = format!("The model did not finish within {within} (capture.deadline).");
                Err(("timed_out", CaptureError::new(ErrorKind::TimedOut, message)))
            }
            () = unheard => Err(("hung_up", CaptureError::new(ErrorKind::Failed, "The caller hung up."))),
            () = self.shared.stopping.cancelled() => {
                let message = "The server is stopping; try again later.";
                Err(("stopped", CaptureError::new(ErrorKind::Unavailable, message)))
            }
        }
    }

    fn fail(&mut self, turn: &mut Turn, outcome: &'static str, error: CaptureError, usage: Option<Usage>) -> After {
        turn.fail(&self.shared, outcome, error, usage);
        After::Over
    }

    /// No barrier lets a request through; should one arrive, it is refused as well.
    async fn refuse(&self, agent_request_id: String, body: &RequestBody) {
        let answer = match body {
            RequestBody::Permission { .. } => RequestAnswer::Permission { decision: Decision::Deny, feedback: None },
            RequestBody::Question { .. } => RequestAnswer::Question(QuestionAnswer::Nobody),
        };
        self.send(AgentCommand::Answer { agent_request_id, answer }).await;
    }

    /// The model called tools: the caller gets the calls.
    fn hand_over(
        &mut self,
        turn: &mut Turn,
        asked: Vec<AskedCall>,
        recorder: &mut Recorder,
        usage: Option<Usage>,
    ) -> After {
        recorder.release();
        let (given, open): (Vec<ToolCall>, Vec<OpenCall>) =
            asked.into_iter().map(|asked| (asked.given, asked.open)).unzip();
        let after = match turn.mode {
            Mode::Destroy => After::Over,
            Mode::Hold => {
                self.calls = open;
                // Before the caller has the calls: it may come back at once.
                self.offer(turn, turn.continued(recorder.said(), &given));
                After::Waits
            }
        };
        turn.recording.push(Piece::Calls(given));
        turn.recording.push(Piece::End { stop: StopReason::ToolCalls, usage: usage.clone() });
        turn.end(&self.shared, "tool_calls", usage);
        after
    }

    /// The model is done.
    async fn finish(&mut self, turn: &mut Turn, mut recorder: Recorder, text: &str, mut usage: Option<Usage>) -> After {
        if usage.is_none() {
            usage = self.late_usage(&turn.model).await;
        }
        recorder.replace_withheld(text);
        recorder.release();
        let after = match turn.mode {
            Mode::Destroy => After::Over,
            Mode::Hold => {
                self.offer(turn, turn.continued(recorder.said(), &[]));
                After::Waits
            }
        };
        turn.recording.push(Piece::End { stop: recorder.stop(), usage: usage.clone() });
        turn.end(&self.shared, "stop", usage);
        after
    }

    /// Usage that the agent reports after it is idle.
    async fn late_usage(&mut self, model: &str) -> Option<Usage> {
        let deadline = Instant::now() + USAGE_WITHIN;
        while let Ok(Some(event)) = tokio::time::timeout_at(deadline, self.connection.events.recv()).await {
            match event {
                AgentEvent::UsageReported(usage) => {
                    self.shared.account(model, &usage);
                    return Some(usage);
                }
                AgentEvent::Gone { .. } => {
                    self.is_gone = true;
                    return None;
                }
                _ => {}
            }
        }
        None
    }

    /// The session can be taken by its caller from now on.
    fn offer(&self, turn: &Turn, conversation: Fingerprint) {
        let waits_for = WaitsFor { token: turn.token.clone(), conversation, calls: self.calls.clone() };
        let place = Place::Connected { turns: self.sender.clone(), leave: CancellationToken::new() };
        self.shared.offer(&self.session, waits_for, place);
    }

    /// Waits for the caller's next request.
    async fn wait(mut self, last: &Recording) -> Next {
        let unheard = unheard(last.reading(), self.shared.settings.unheard);
        let leave = self.shared.leave_token(&self.session);
        let long_enough = tokio::time::sleep(self.shared.settings.waiting_for);
        tokio::pin!(unheard, long_enough);
        if !self.calls.is_empty() {
            self.shared.keep_waiting(&self.session).await;
        }
        loop {
            tokio::select! {
                turn = self.turns.recv() => match turn {
                    Some(turn) => return Next::Turn(self, Box::new(turn)),
                    None => return Next::Over(self),
                },
                event = self.connection.events.recv() => match event {
                    Some(AgentEvent::UsageReported(usage)) => self.shared.account("", &usage),
                    Some(AgentEvent::Gone { .. }) | None => { self.is_gone = true; break }
                    Some(AgentEvent::Outdated) => break,
                    Some(AgentEvent::RequestMade { agent_request_id, body }) => self.refuse(agent_request_id, &body).await,
                    Some(_) => {}
                },
                () = &mut long_enough => break,
                () = leave.cancelled() => break,
                () = self.shared.stopping.cancelled() => break,
                () = &mut unheard => {
                    self.calls.clear();
                    break;
                }
            }
        }
        self.leave().await
    }

    /// Leaves the memory: a session with open calls stays on the agent's disk, any other is over. Its caller finds it all the
    /// time.
    async fn leave(mut self) -> Next {
        if self.calls.is_empty() {
            if self.shared.waiting.remove(&self.session).is_some() {
                return Next::Over(self);
            }
            // The caller is already on its way.
            return match self.turns.recv().await {
                Some(turn) => Next::Turn(self, Box::new(turn)),
                None => Next::Over(self),
            };
        }
        if !self.is_gone {
            self.send(AgentCommand::Suspend).await;
        }
        let Self { shared, session, connection, calls, mut turns, sender, .. } = self;
        connection.close().await;
        if let Some(entry) = shared.waiting.remove(&session) {
            shared.offer(&session, entry.waits_for, Place::OnDisk);
            return Next::Left;
        }
        // The caller is already on its way.
        drop(sender);
        match turns.recv().await {
            Some(turn) => Next::Resume(Start::Resume { session, calls }, Box::new(turn)),
            None => Next::Left,
        }
    }

    /// The agent is gone; its session may be on its disk.
    async fn close_to_resume(self, calls: Vec<OpenCall>) -> Start {
        self.connection.close().await;
        Start::Resume { session: self.session, calls }
    }

    /// Destroys the session and deletes it from the agent's disk.
    async fn discard(self) {
        self.shared.waiting.remove(&self.session);
        if self.connection.close().await {
            self.shared.forgotten(&self.session).await;
        } else {
            self.shared.forget(&self.session).await;
        }
    }
}

/// Resolves when nobody has read an answer to its end for that long since its caller hung up.
pub(super) async fn unheard(mut reading: watch::Receiver<Reading>, within: Duration) {
    loop {
        let state = *reading.borrow_and_update();
        match state {
            Reading::Delivered => return std::future::pending().await,
            Reading::Connected => {}
            Reading::HungUp => {
                if tokio::time::timeout(within, reading.changed()).await.is_err() {
                    return;
                }
                continue;
            }
        }
        if reading.changed().await.is_err() {
            return std::future::pending().await;
        }
    }
}

/// A call that the model asked for.
struct AskedCall {
    given: ToolCall,
    open: OpenCall,
}

impl AskedCall {
    /// Whether the agent waits for its result.
    fn waits(&self) -> bool {
        !self.open.request_id.is_empty()
    }
}

/// The calls that are for the caller. In a held session the agent itself tells the model that an undeclared tool does not
/// exist.
fn asked_calls(turn: &Turn, requests: Vec<ToolRequest>) -> Vec<AskedCall> {
    let is_declared = |name: &str| turn.request.callable_tools().any(|tool| tool.name == name);
    requests
        .into_iter()
        .filter(|request| turn.mode == Mode::Destroy || is_declared(&request.name))
        .map(|request| {
            let id = new_call_id();
            let open = OpenCall { id: id.clone(), call_id: request.call_id, request_id: String::new() };
            AskedCall { given: ToolCall { id, name: request.name, arguments: request.arguments }, open }
        })
        .collect()
}

/// 128 random bits: whoever knows it was given it.
fn new_call_id() -> String {
    format!("call_{}", uuid::Uuid::new_v4().simple())
}
