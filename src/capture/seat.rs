//! One session of an agent that answers as a model: it is opened, answers turns, waits for its caller, and is destroyed.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, mpsc, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::captures::Shared;
use super::compliance::{Demands, MOST_CORRECTIONS, system};
use super::fingerprint::{self, Fingerprint};
use super::recorder::Recorder;
use super::rendering::{self, Prompt};
use super::waiting::{OpenCall, Place, WaitsFor};
use super::{
    CaptureError, ErrorKind, Message, Mode, Origin, Part, Piece, Reading, Recording, Request, StopReason, ToolCall,
    ToolChoice, images_of, text_of,
};
use crate::agent::{
    AgentCommand, AgentEvent, BlockEnd, Connection, DeclaredTool, DeclaredTools, Owner, QuestionAnswer, RequestAnswer,
    StartError, StartSpec, SuspendedTurn, ToolAccess, ToolAnswer, ToolRequest,
};
use crate::model::{Attachment, BlockKind, Decision, RequestBody, Usage};

/// How long the agent may take to wait for the results of calls that it has announced.
const CALLS_WITHIN: Duration = Duration::from_secs(30);
/// How long to wait for usage that the agent reports after it is idle.
const USAGE_WITHIN: Duration = Duration::from_millis(200);

/// One request that is being answered.
pub(super) struct Turn {
    pub request: Arc<Request>,
    /// The agent's name of the model.
    pub model: String,
    pub token: String,
    pub mode: Mode,
    pub input: Input,
    pub demands: Demands,
    pub recording: Recording,
    pub deadline: Instant,
    pub begun: std::time::Instant,
    /// One of the places for answers at a time.
    pub place: Option<OwnedSemaphorePermit>,
}

/// What the agent's session is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Input {
    /// The whole conversation, because the session is new.
    Conversation,
    /// What follows the model's last message.
    Tail,
}

/// How a seat begins.
pub(super) enum Start {
    New,
    /// From a session on the agent's disk.
    Resume {
        session: String,
        calls: Vec<OpenCall>,
    },
}

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
    Turn(Box<Turn>),
    /// The caller came while the session was being put on the agent's disk.
    TurnOnDisk(Box<Turn>),
    /// The session is on the agent's disk.
    Left,
    /// Nobody will come.
    Over,
}

pub(super) struct Seat {
    shared: Arc<Shared>,
    session: String,
    connection: Box<Connection>,
    is_gone: bool,
    /// The agent died in this turn once already.
    was_resumed: bool,
    /// The calls that wait, in order.
    calls: Vec<OpenCall>,
    turns: mpsc::Receiver<Turn>,
    sender: mpsc::Sender<Turn>,
}

/// Answers a turn in a new or resumed session, and further turns of the same conversation.
pub(super) async fn run(shared: Arc<Shared>, turn: Turn, start: Start) {
    let mut turn = turn;
    let Some(mut seat) = open(&shared, &mut turn, start).await else { return };
    loop {
        match seat.answer(&mut turn).await {
            After::Over => return seat.discard().await,
            After::Waits => {}
            After::Died(calls) => {
                seat.close().await;
                let start = Start::Resume { session: seat.session.clone(), calls };
                match open(&shared, &mut turn, start).await {
                    Some(resumed) => seat = resumed,
                    None => return,
                }
                seat.was_resumed = true;
                continue;
            }
            After::Forgotten => {
                seat.discard().await;
                turn.recording.set_origin(Origin::Fresh);
                turn.input = Input::Conversation;
                match open(&shared, &mut turn, Start::New).await {
                    Some(fresh) => seat = fresh,
                    None => return,
                }
                continue;
            }
        }
        let recording = turn.recording.clone();
        drop(turn);
        match seat.wait(&recording).await {
            Next::Turn(next) => turn = *next,
            Next::TurnOnDisk(next) => {
                turn = *next;
                let start = Start::Resume { session: seat.session.clone(), calls: seat.calls.clone() };
                match open(&shared, &mut turn, start).await {
                    Some(resumed) => seat = resumed,
                    None => return,
                }
            }
            Next::Left => return,
            Next::Over => return seat.discard().await,
        }
    }
}

/// Opens the session of a turn. A session that cannot be resumed is replaced by a new one.
async fn open(shared: &Arc<Shared>, turn: &mut Turn, start: Start) -> Option<Seat> {
    let mut start = start;
    loop {
        let (session, calls) = match &start {
            Start::New => (uuid::Uuid::new_v4().to_string(), Vec::new()),
            Start::Resume { session, calls } => (session.clone(), calls.clone()),
        };
        // Before the agent has it, so that it is found again whatever happens; and nobody may continue it twice.
        if let Err(error) = shared.keep(&session, None).await {
            let message = format!("The capture cannot be recorded: {error}.");
            turn.fail(shared, "failed", CaptureError::new(ErrorKind::Unavailable, message), None);
            return None;
        }
        let opening = shared.runtimes.open(&shared.settings.runtime, spec(shared, turn, &start, &session)).finish();
        let opened = tokio::select! {
            opened = opening => opened,
            () = tokio::time::sleep_until(turn.deadline) => Err(StartError::Temporary(TIMED_OUT.to_owned())),
            () = shared.stopping.cancelled() => Err(StartError::Permanent("the server is stopping".to_owned())),
        };
        match opened {
            Ok(connection) => {
                let (sender, turns) = mpsc::channel(1);
                let shared = Arc::clone(shared);
                return Some(Seat {
                    shared,
                    session,
                    connection,
                    is_gone: false,
                    was_resumed: false,
                    calls,
                    turns,
                    sender,
                });
            }
            Err(StartError::SessionLost(reason)) if matches!(start, Start::Resume { .. }) => {
                tracing::info!(session, reason, "the agent lost a held session; the conversation is sent again");
                shared.forget(&session).await;
                turn.recording.set_origin(Origin::Fresh);
                turn.input = Input::Conversation;
                start = Start::New;
            }
            Err(StartError::NotConformant(reason)) if turn.mode == Mode::Hold => {
                tracing::warn!(reason, "sessions are destroyed instead of held");
                shared.forget(&session).await;
                turn.mode = Mode::Destroy;
                turn.recording.set_origin(Origin::Destroyed);
                turn.input = Input::Conversation;
                start = Start::New;
            }
            Err(error) => {
                shared.forget(&session).await;
                turn.fail(shared, "failed", not_opened(&error), None);
                return None;
            }
        }
    }
}

const TIMED_OUT: &str = "the agent did not answer in time";

fn not_opened(error: &StartError) -> CaptureError {
    let kind = match error {
        StartError::Temporary(text) if text == TIMED_OUT => ErrorKind::TimedOut,
        StartError::Temporary(_) => ErrorKind::Failed,
        StartError::NeedsLogin(_)
        | StartError::SessionLost(_)
        | StartError::NotConformant(_)
        | StartError::Permanent(_) => ErrorKind::Unavailable,
    };
    CaptureError::new(kind, format!("The agent could not be used: {error}"))
}

fn spec(shared: &Shared, turn: &Turn, start: &Start, session: &str) -> StartSpec {
    let request = &turn.request;
    let declared = |tool: &super::Tool| DeclaredTool {
        name: tool.name.clone(),
        description: tool.description.clone(),
        parameters: tool.parameters.clone(),
    };
    let tools = match &request.tool_choice {
        ToolChoice::None => Vec::new(),
        // Nothing else can be called then.
        ToolChoice::Named(name) => request.tools.iter().filter(|tool| tool.name == *name).map(declared).collect(),
        ToolChoice::Auto | ToolChoice::Required => request.tools.iter().map(declared).collect(),
    };
    let access = match turn.mode {
        Mode::Hold => ToolAccess::OnlyHeld,
        Mode::Destroy => ToolAccess::OnlyDenied,
    };
    let (agent_session_id, new_session_id, suspended) = match start {
        Start::New => (None, Some(session.to_owned()), None),
        Start::Resume { .. } => {
            (Some(session.to_owned()), None, Some(SuspendedTurn { turn_id: "held".into(), requests: Vec::new() }))
        }
    };
    StartSpec {
        model: turn.model.clone(),
        effort: request.effort.clone(),
        system_prompt: Some(system(request)),
        agent_session_id,
        new_session_id,
        tools: Some(DeclaredTools { tools, access }),
        suspended,
        ..StartSpec::in_folder(Owner::Capture, &shared.folder)
    }
}

impl Turn {
    /// There will be no answer.
    fn fail(&mut self, shared: &Shared, outcome: &'static str, error: CaptureError, usage: Option<Usage>) {
        let message = error.message.clone();
        self.recording.push(Piece::Failed(error));
        self.place = None;
        shared.note(self, outcome, Some(message), usage);
    }

    /// The answer is complete: it is logged, and its place is free.
    fn end(&mut self, shared: &Shared, outcome: &'static str, usage: Option<Usage>) {
        self.place = None;
        shared.note(self, outcome, None, usage);
    }

    /// The messages after the model's last one.
    fn tail(&self) -> &[Message] {
        after_last_answer(&self.request.messages)
    }

    /// The conversation with the answer at its end.
    fn continued(&self, text: &str, calls: &[ToolCall]) -> Fingerprint {
        let mut messages = self.request.messages.clone();
        messages.push(Message::Assistant { text: text.to_owned(), calls: calls.to_vec() });
        fingerprint::conversation(&self.request, &self.model, &messages)
    }
}

/// The messages after the model's last one.
pub(super) fn after_last_answer(messages: &[Message]) -> &[Message] {
    let last = messages.iter().rposition(|message| matches!(message, Message::Assistant { .. }));
    &messages[last.map_or(0, |last| last + 1)..]
}

impl Seat {
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
        if calls.iter().any(|call| call.request_id.is_empty()) {
            return false;
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
        if !calls.is_empty() && !self.all_calls_wait().await {
            return if self.is_gone { self.died(calls) } else { After::Forgotten };
        }
        if self.is_gone || !self.tell(turn).await {
            return After::Forgotten;
        }
        let mut recorder = Recorder::new(&turn.recording, turn.demands.withhold_text() || turn.request.is_whole);
        let (mut usage, mut corrections, mut is_answered) = (None::<Usage>, 0, false);
        let unheard = unheard(turn.recording.reading(), self.shared.settings.unheard);
        tokio::pin!(unheard);
        loop {
            let event = tokio::select! {
                event = self.connection.events.recv() => event,
                () = tokio::time::sleep_until(turn.deadline) => {
                    let within = humantime::format_duration(self.shared.settings.deadline);
                    let message = format!("The model did not finish within {within} (capture.deadline).");
                    return self.fail(turn, "timed_out", CaptureError::new(ErrorKind::TimedOut, message), usage);
                }
                () = &mut unheard => {
                    let error = CaptureError::new(ErrorKind::Failed, "The caller hung up.");
                    return self.fail(turn, "hung_up", error, usage);
                }
                () = self.shared.stopping.cancelled() => {
                    let error = CaptureError::new(ErrorKind::Unavailable, "The server is stopping; try again later.");
                    return self.fail(turn, "stopped", error, usage);
                }
            };
            let event = event.unwrap_or_else(|| AgentEvent::Gone { reason: "the agent ended".to_owned() });
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
                        "The connection to the model broke off after part of the answer; send the request again.";
                    return self.fail(turn, "failed", CaptureError::new(ErrorKind::Failed, message), usage);
                }
                AgentEvent::ModelStopped { reason } => recorder.stopped(&reason),
                AgentEvent::UsageReported(more) => {
                    is_answered = true;
                    self.shared.account(&turn.model, &more);
                    usage.get_or_insert_default().add(&more);
                }
                AgentEvent::ToolsRequested(requests) => {
                    if let Some(after) = self.hand_over(turn, &requests, &mut recorder, &mut usage) {
                        return after;
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
                                           ask it in other words, or demand less.";
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
                        return self.died(calls);
                    }
                    let message = format!("The agent ended in the middle of the answer: {reason}");
                    return self.fail(turn, "failed", CaptureError::new(ErrorKind::Failed, message), usage);
                }
                _ => {}
            }
        }
    }

    /// The agent ended before it answered. What it wrote to its disk is tried once.
    fn died(&self, calls: Vec<OpenCall>) -> After {
        let known = calls.iter().all(|call| !call.request_id.is_empty());
        if known && !self.was_resumed { After::Died(calls) } else { After::Forgotten }
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

    /// The model called tools: the caller gets the calls. `None` if there is nothing to hand over.
    fn hand_over(
        &mut self,
        turn: &mut Turn,
        requests: &[ToolRequest],
        recorder: &mut Recorder,
        usage: &mut Option<Usage>,
    ) -> Option<After> {
        // In a held session the agent itself tells the model that an undeclared tool does not exist.
        let is_for_caller = |request: &&ToolRequest| {
            turn.mode == Mode::Destroy || turn.request.tools.iter().any(|tool| tool.name == request.name)
        };
        let wanted: Vec<&ToolRequest> = requests.iter().filter(is_for_caller).collect();
        if wanted.is_empty() {
            return None;
        }
        recorder.release();
        let given: Vec<ToolCall> = wanted
            .iter()
            .map(|request| ToolCall {
                id: new_call_id(),
                name: request.name.clone(),
                arguments: request.arguments.clone(),
            })
            .collect();
        let after = match turn.mode {
            Mode::Destroy => After::Over,
            Mode::Hold => {
                let open = |(call, request): (&ToolCall, &&ToolRequest)| OpenCall {
                    id: call.id.clone(),
                    call_id: request.call_id.clone(),
                    request_id: String::new(),
                };
                self.calls = given.iter().zip(&wanted).map(open).collect();
                // Before the caller has the calls: it may come back at once.
                self.offer(turn, turn.continued(recorder.said(), &given));
                After::Waits
            }
        };
        turn.recording.push(Piece::Calls(given));
        turn.recording.push(Piece::End { stop: StopReason::ToolCalls, usage: usage.clone() });
        turn.end(&self.shared, "tool_calls", usage.take());
        Some(after)
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

    fn note_wait(&mut self, call_id: &str, agent_request_id: String) {
        if let Some(call) = self.calls.iter_mut().find(|call| call.call_id == call_id) {
            call.request_id = agent_request_id;
        }
    }

    fn calls_wait(&self) -> bool {
        self.calls.iter().all(|call| !call.request_id.is_empty())
    }

    /// Waits until the agent waits for the result of every call that it announced.
    async fn all_calls_wait(&mut self) -> bool {
        let deadline = Instant::now() + CALLS_WITHIN;
        while !self.calls_wait() {
            match tokio::time::timeout_at(deadline, self.connection.events.recv()).await {
                Ok(Some(AgentEvent::ToolWaits { agent_request_id, call_id })) => {
                    self.note_wait(&call_id, agent_request_id);
                }
                Ok(Some(AgentEvent::Gone { .. }) | None) => {
                    self.is_gone = true;
                    return false;
                }
                Ok(Some(_)) => {}
                Err(_) => return false,
            }
        }
        true
    }

    /// Waits for the caller's next request.
    async fn wait(&mut self, last: &Recording) -> Next {
        let unheard = unheard(last.reading(), self.shared.settings.unheard);
        let leave = self.shared.leave_token(&self.session);
        let long_enough = tokio::time::sleep(self.shared.settings.waiting_for);
        tokio::pin!(unheard, long_enough);
        let mut is_kept = self.calls.is_empty();
        loop {
            if !is_kept && self.calls_wait() {
                is_kept = true;
                self.shared.keep_waiting(&self.session, &self.calls).await;
            }
            tokio::select! {
                turn = self.turns.recv() => match turn {
                    Some(turn) => return Next::Turn(Box::new(turn)),
                    None => return Next::Over,
                },
                event = self.connection.events.recv() => match event {
                    Some(AgentEvent::ToolWaits { agent_request_id, call_id }) => self.note_wait(&call_id, agent_request_id),
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
    async fn leave(&mut self) -> Next {
        let stays = !self.calls.is_empty() && self.calls_wait();
        if stays {
            if !self.is_gone {
                self.send(AgentCommand::Suspend).await;
            }
            self.close().await;
        }
        let Some(entry) = self.shared.waiting.remove(&self.session) else {
            // The caller is already on its way.
            return match self.turns.recv().await {
                Some(turn) if stays => Next::TurnOnDisk(Box::new(turn)),
                Some(turn) => Next::Turn(Box::new(turn)),
                None => Next::Over,
            };
        };
        if !stays {
            return Next::Over;
        }
        self.shared.offer(&self.session, entry.waits_for, Place::OnDisk);
        Next::Left
    }

    async fn close(&mut self) {
        let (commands, _) = mpsc::channel(1);
        let (_, events) = mpsc::channel(1);
        let nothing = Connection::new(commands, events, None, tokio::spawn(async {}), CancellationToken::new());
        std::mem::replace(&mut *self.connection, nothing).close().await;
    }

    /// Destroys the session and deletes it from the agent's disk.
    async fn discard(mut self) {
        self.shared.waiting.remove(&self.session);
        self.close().await;
        if self.is_gone {
            self.shared.forget(&self.session).await;
        } else {
            self.shared.forgotten(&self.session).await;
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

/// 128 random bits: whoever knows it was given it.
fn new_call_id() -> String {
    format!("call_{}", uuid::Uuid::new_v4().simple())
}
