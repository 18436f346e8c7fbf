//! Links over in-memory streams, with the test in the role of the program: sessions must not affect each other.

use serde_json::{Value, json};
use tokio::io::{BufReader, DuplexStream};
use tokio::task::JoinHandle;

use super::falling_behind::{CONTINUE, CONTINUED_AT_MOST};
use super::*;
use crate::agent::StartSpec;
use crate::agent::copilot::transport::{Server, read_frame, write_frame};
use crate::agent::copilot::{CopilotSettings, EVENTS_IN_FLIGHT};
use crate::model::{BlockKey, BlockKind};

/// The program's end of the streams.
struct Program {
    output: DuplexStream,
    input: BufReader<DuplexStream>,
}

impl Program {
    fn start() -> (Arc<Server>, Self) {
        let (output, from_program) = tokio::io::duplex(256 * 1024);
        let (to_program, input) = tokio::io::duplex(256 * 1024);
        (Arc::new(Server::at(from_program, to_program)), Self { output, input: BufReader::new(input) })
    }

    async fn say(&mut self, message: &Value) {
        write_frame(&mut self.output, message.to_string().as_bytes()).await.expect("taken");
    }

    async fn event(&mut self, session: &str, kind: &str, data: Value) {
        let params = json!({ "sessionId": session, "event": { "type": kind, "data": data } });
        self.say(&json!({ "jsonrpc": "2.0", "method": "session.event", "params": params })).await;
    }

    async fn delta(&mut self, session: &str, text: &str) {
        self.event(session, "assistant.message_delta", json!({ "messageId": "m", "deltaContent": text })).await;
    }

    /// The next call, without an answer.
    async fn hear(&mut self) -> Value {
        let frame = read_frame(&mut self.input).await.expect("a frame").expect("a call");
        serde_json::from_slice(&frame).expect("JSON")
    }

    async fn answer(&mut self, call: &Value, result: Value) {
        self.say(&json!({ "jsonrpc": "2.0", "id": call["id"], "result": result })).await;
    }

    /// The next call, which is answered immediately.
    async fn call(&mut self) -> (String, Value) {
        let call = self.hear().await;
        self.answer(&call, json!({})).await;
        (call["method"].as_str().expect("a method").to_owned(), call["params"].clone())
    }
}

/// A session's end of a link.
struct Session {
    commands: mpsc::Sender<AgentCommand>,
    events: mpsc::Receiver<AgentEvent>,
    task: JoinHandle<()>,
    _ends_when_dropped: tokio_util::sync::DropGuard,
}

impl Session {
    fn open(server: &Arc<Server>, name: &str) -> Self {
        Self::open_with(server, name, Commands::default())
    }

    fn open_with(server: &Arc<Server>, name: &str, offered: Commands) -> Self {
        let (commands, to_obey) = mpsc::channel(8);
        let (sender, events) = mpsc::channel(EVENTS_IN_FLIGHT);
        let settings = CopilotSettings::default();
        let spec = StartSpec::in_folder(crate::agent::Owner::Canary, std::path::Path::new("/"));
        let link = Link {
            barriers: None,
            discarded: Arc::default(),
            lease: Lease::of(server),
            servers: Arc::new(Servers::new(settings.clone())),
            session: name.to_owned(),
            router: Router { settings: Arc::new(settings), spec, provider: None },
            logins: None,
            outbox: Outbox::new(sender),
            incoming: server.tap.listen(name),
            pace: Pace::default(),
            is_suspended: false,
            is_working: false,
            times_continued: 0,
            translated: Vec::new(),
            translator: Translator::default(),
            questions: HashMap::new(),
            tasks: Vec::new(),
            tasks_asked: Asked::default(),
            commands: offered,
            model_change: ModelChange::default(),
        };
        let cancelled = CancellationToken::new();
        let task = tokio::spawn(link.serve(to_obey, cancelled.clone()));
        Self { commands, events, task, _ends_when_dropped: cancelled.drop_guard() }
    }

    async fn prompt(&self, program: &mut Program) {
        let prompt = AgentCommand::Prompt { turn_id: "turn-1".into(), text: "go".to_owned(), attachments: Vec::new() };
        self.commands.send(prompt).await.expect("taken");
        assert_eq!(program.call().await.0, "session.send");
    }

    async fn next(&mut self) -> AgentEvent {
        self.events.recv().await.expect("an event")
    }

    /// The deltas up to the next event of another kind, and that one.
    async fn deltas(&mut self) -> (Vec<String>, AgentEvent) {
        let mut deltas = Vec::new();
        loop {
            match self.next().await {
                AgentEvent::BlockDelta { key, delta } => {
                    assert_eq!(key, BlockKey::new(BlockKind::Message, "m"));
                    deltas.push(delta);
                }
                other => return (deltas, other),
            }
        }
    }
}

/// More than the queue of a session holds, in pieces that can hardly be merged.
const PIECE: usize = 10_000;
const PIECES: usize = 3_000;
/// Deltas that can be merged.
const SMALL: usize = 20_000;

/// Sends so much to a session that receives nothing that its turn is interrupted.
async fn overwhelm(program: &mut Program, session: &str) {
    let piece = "x".repeat(PIECE);
    for _ in 0..PIECES {
        program.delta(session, &piece).await;
    }
    let (method, params) = program.call().await;
    assert_eq!((method.as_str(), &params["sessionId"]), ("session.abort", &json!(session)));
}

#[tokio::test]
async fn a_session_that_takes_nothing_is_stopped_and_continued_and_no_other_notices() {
    let (server, mut program) = Program::start();
    let (mut stalled, mut live) = (Session::open(&server, "stalled"), Session::open(&server, "live"));
    stalled.prompt(&mut program).await;
    live.prompt(&mut program).await;
    for _ in 0..SMALL {
        program.delta("stalled", "y").await;
    }
    let piece = "x".repeat(PIECE);
    for number in 0..PIECES {
        program.delta("stalled", &piece).await;
        if number % 100 == 0 {
            // While one session receives nothing, the other receives everything and the program responds.
            program.delta("live", &number.to_string()).await;
            assert!(matches!(live.next().await, AgentEvent::BlockDelta { delta, .. } if delta == number.to_string()));
        }
    }
    let (method, params) = program.call().await;
    assert_eq!((method.as_str(), &params["sessionId"]), ("session.abort", &json!("stalled")));
    let caller = Arc::clone(&server);
    let ping = tokio::spawn(async move { caller.probe(Duration::from_mins(1)).await });
    assert_eq!(program.call().await.0, "ping");
    assert!(ping.await.expect("asked"), "replies pass");
    program.event("stalled", "assistant.idle", json!({})).await;
    program.event("live", "assistant.idle", json!({})).await;
    assert!(matches!(live.next().await, AgentEvent::Idle), "the other turn ends as if nothing had happened");

    let (deltas, then) = stalled.deltas().await;
    let AgentEvent::FellBehind { waiting } = then else { panic!("{then:?}") };
    assert!(waiting <= 17 * 1024 * 1024, "{waiting}");
    let text = deltas.concat();
    assert!(text.starts_with(&"y".repeat(SMALL)), "what was said before it fell behind is all there");
    assert!(text.len() < 36 * 1024 * 1024 && text.len() > 10 * 1024 * 1024, "{}", text.len());
    assert!(deltas.len() < SMALL / 2, "small deltas were merged: {}", deltas.len());

    let (method, params) = program.call().await;
    assert_eq!((method.as_str(), &params["sessionId"]), ("session.send", &json!("stalled")));
    assert_eq!(params["prompt"], CONTINUE);
    program.event("stalled", "assistant.turn_start", json!({ "turnId": "2" })).await;
    program.delta("stalled", "more").await;
    program.event("stalled", "assistant.idle", json!({})).await;
    assert!(matches!(stalled.next().await, AgentEvent::TurnStarted { .. }), "no idle came before");
    assert!(matches!(stalled.deltas().await, (deltas, AgentEvent::Idle) if deltas == ["more"]));
}

#[tokio::test]
async fn a_turn_that_somebody_interrupts_meanwhile_is_not_continued() {
    let (server, mut program) = Program::start();
    let mut session = Session::open(&server, "s");
    session.prompt(&mut program).await;
    overwhelm(&mut program, "s").await;
    session.commands.send(AgentCommand::Interrupt).await.expect("taken");
    assert_eq!(program.call().await.0, "session.abort");
    program.event("s", "assistant.idle", json!({})).await;
    let (_, then) = session.deltas().await;
    assert!(matches!(then, AgentEvent::FellBehind { .. }), "{then:?}");
    assert!(matches!(session.next().await, AgentEvent::Idle));
    session.prompt(&mut program).await;
}

#[tokio::test]
async fn a_session_that_falls_behind_again_and_again_has_its_turn_ended() {
    let (server, mut program) = Program::start();
    let mut session = Session::open(&server, "s");
    session.prompt(&mut program).await;
    for time in 0..=CONTINUED_AT_MOST {
        overwhelm(&mut program, "s").await;
        program.event("s", "assistant.idle", json!({})).await;
        let (_, then) = session.deltas().await;
        assert!(matches!(then, AgentEvent::FellBehind { .. }), "{then:?}");
        if time < CONTINUED_AT_MOST {
            assert_eq!(program.call().await.1["prompt"], CONTINUE);
            program.event("s", "assistant.turn_start", json!({ "turnId": time.to_string() })).await;
            assert!(matches!(session.next().await, AgentEvent::TurnStarted { .. }));
        }
    }
    assert!(matches!(session.next().await, AgentEvent::TurnFailed { .. }));
    assert!(matches!(session.next().await, AgentEvent::Idle));
}

#[tokio::test(start_paused = true)]
async fn a_program_that_does_not_say_that_it_stopped_is_told_to_continue_all_the_same() {
    let (server, mut program) = Program::start();
    let mut session = Session::open(&server, "s");
    session.prompt(&mut program).await;
    overwhelm(&mut program, "s").await;
    let (_, then) = session.deltas().await;
    assert!(matches!(then, AgentEvent::FellBehind { .. }), "{then:?}");
    assert_eq!(program.call().await.1["prompt"], CONTINUE);
}

#[tokio::test]
async fn the_end_of_the_program_comes_after_everything_it_said() {
    let (server, mut program) = Program::start();
    let mut session = Session::open(&server, "s");
    for number in 0..3 * EVENTS_IN_FLIGHT {
        program.delta("s", &number.to_string()).await;
    }
    drop(program);
    let (deltas, then) = session.deltas().await;
    assert_eq!(deltas.concat(), (0..3 * EVENTS_IN_FLIGHT).map(|number| number.to_string()).collect::<String>());
    assert!(matches!(then, AgentEvent::Gone { .. }), "{then:?}");
    session.task.await.expect("the link ends");
    server.tap.finished().await;
}

#[tokio::test]
async fn a_command_that_is_interrupted_reaches_the_agent_no_more() {
    let (server, mut program) = Program::start();
    let mut session = Session::open_with(&server, "s", Commands::offered(true));
    assert_eq!(program.call().await.0, "session.commands.list", "for people");
    let text = "/review it".to_owned();
    let prompt = AgentCommand::Prompt { turn_id: "turn-1".into(), text, attachments: Vec::new() };
    session.commands.send(prompt).await.expect("taken");
    let listing = program.hear().await;
    assert_eq!(listing["method"], "session.commands.list");
    session.commands.send(AgentCommand::Interrupt).await.expect("taken");
    assert_eq!(program.call().await.0, "session.abort");
    assert!(matches!(session.next().await, AgentEvent::Idle));
    program.answer(&listing, json!({ "commands": [] })).await;
    let prompt = AgentCommand::Prompt { turn_id: "turn-2".into(), text: "go".to_owned(), attachments: Vec::new() };
    session.commands.send(prompt).await.expect("taken");
    let (method, params) = program.call().await;
    assert_eq!((method.as_str(), &params["prompt"]), ("session.send", &json!("go")));
}

/// Changes the model of a session and sends a prompt. Returns the call that changes the model, not answered yet.
async fn prompt_after_change(session: &Session, program: &mut Program) -> Value {
    let configure = |model: &str| AgentCommand::Configure { model: model.to_owned(), effort: Some("high".to_owned()) };
    session.commands.send(configure("first")).await.expect("taken");
    session.commands.send(configure("second")).await.expect("taken");
    let prompt = AgentCommand::Prompt { turn_id: "turn-1".into(), text: "go".to_owned(), attachments: Vec::new() };
    session.commands.send(prompt).await.expect("taken");
    let change = program.hear().await;
    assert_eq!((&change["method"], &change["params"]["modelId"]), (&json!("session.model.switchTo"), &json!("first")));
    change
}

#[tokio::test]
async fn a_prompt_waits_until_the_newest_change_of_the_model_is_answered() {
    let (server, mut program) = Program::start();
    let mut session = Session::open(&server, "s");
    let first = prompt_after_change(&session, &mut program).await;
    let steer =
        AgentCommand::Steer { prompt: PromptId::from_number(2), text: "left".to_owned(), attachments: Vec::new() };
    session.commands.send(steer).await.expect("taken");
    assert!(matches!(session.next().await, AgentEvent::SteerRefused { .. }), "there is no turn yet");
    program.answer(&first, json!({})).await;
    let second = program.hear().await;
    assert_eq!((&second["method"], &second["params"]["modelId"]), (&json!("session.model.switchTo"), &json!("second")));
    let refusal =
        json!({ "jsonrpc": "2.0", "id": second["id"], "error": { "code": -32000, "message": "no such model" } });
    program.say(&refusal).await;
    assert!(matches!(session.next().await, AgentEvent::Notice { message, .. } if message.contains("no such model")));
    let (method, params) = program.call().await;
    assert_eq!((method.as_str(), &params["prompt"]), ("session.send", &json!("go")), "the turn runs on the old model");
}

#[tokio::test]
async fn a_prompt_that_is_interrupted_while_the_model_changes_is_never_sent() {
    let (server, mut program) = Program::start();
    let mut session = Session::open(&server, "s");
    let first = prompt_after_change(&session, &mut program).await;
    session.commands.send(AgentCommand::Interrupt).await.expect("taken");
    assert!(matches!(session.next().await, AgentEvent::Idle), "the program knows nothing of this turn");
    program.answer(&first, json!({})).await;
    assert_eq!(program.call().await.0, "session.model.switchTo");
    let prompt = AgentCommand::Prompt { turn_id: "turn-2".into(), text: "again".to_owned(), attachments: Vec::new() };
    session.commands.send(prompt).await.expect("taken");
    let (method, params) = program.call().await;
    assert_eq!((method.as_str(), &params["prompt"]), ("session.send", &json!("again")));
}
