//! An agent that does anything an agent may do, and some things that none should.

use std::collections::HashMap;

use super::random::Random;
use crate::agent::failure::Failure;
use crate::agent::{AgentCommand, AgentEvent, BlockEnd, BlockStart, RequestAnswer, SuspendedTurn, ToolRequest};
use crate::model::{BlockKey, BlockKind, ErrorClass, NoticeKind, RequestBody, TurnId, Usage, Writing};

/// A job tool and its arguments.
const JOB_TOOL: (&str, &str) = ("job_boolean_true", r#"{"reason":"because"}"#);
/// Another one, which the agent got over MCP.
const OVER_MCP: (&str, &str) = ("flightdeck-job_boolean_false", r#"{"reason":"over MCP"}"#);

#[derive(Default)]
pub(super) struct Agent {
    /// The prompt it works on.
    turn: Option<TurnId>,
    /// Prompts that it has received, in order.
    pub prompted: Vec<String>,
    /// Requests that have no answer yet, with the tool that waits for each.
    requests: HashMap<String, String>,
    /// Requests that a rule allows, or that are about a file in the folder.
    harmless: Vec<String>,
    /// Calls of job tools that wait for their results, and whether they got one.
    calls: HashMap<String, bool>,
    blocks: Vec<(BlockKind, String)>,
    ids: u32,
    /// It has been asked to stop.
    last_turn: Option<(TurnId, bool)>,
    is_interrupted: bool,
}

impl Agent {
    /// An agent whose ids are not those of any other.
    pub fn new(number: u32) -> Self {
        Self { ids: number * 100_000, ..Self::default() }
    }

    /// Continues a turn that waits for answers.
    pub fn continue_turn(&mut self, turn: SuspendedTurn) {
        self.turn = Some(turn.turn_id);
        for request in turn.requests {
            self.requests.insert(request.agent_request_id, "shell".to_owned());
        }
    }

    pub fn is_busy(&self) -> bool {
        self.turn.is_some()
    }

    /// Takes a command. Returns the request that it answers, and whether the answer permits it.
    pub fn run_command(&mut self, command: AgentCommand) -> Option<(String, bool)> {
        match command {
            AgentCommand::Prompt { turn_id, .. } => {
                self.prompted.push(turn_id.to_string());
                self.last_turn = Some((turn_id.clone(), false));
                (self.turn, self.is_interrupted) = (Some(turn_id), false);
                None
            }
            AgentCommand::Interrupt => {
                self.is_interrupted = true;
                self.requests.clear();
                None
            }
            AgentCommand::Answer { agent_request_id, answer } => {
                let allows = match answer {
                    RequestAnswer::Permission { decision, .. } => decision.allows(),
                    RequestAnswer::Question(_) => false,
                };
                self.requests.remove(&agent_request_id);
                Some((agent_request_id, allows))
            }
            AgentCommand::AnswerTools(answers) => {
                for (agent_request_id, answer) in answers {
                    let before = self.calls.insert(agent_request_id.clone(), true);
                    assert_eq!(before, Some(false), "{agent_request_id} is answered once");
                    assert_eq!((answer.text.as_str(), answer.is_error), ("because", false));
                }
                None
            }
            AgentCommand::Steer { .. }
            | AgentCommand::Configure { .. }
            | AgentCommand::Suspend
            | AgentCommand::Permit(_) => None,
        }
    }

    /// Whether it has said or done something in a turn that it got before.
    pub fn has_said_something_in(&self, turn: &TurnId) -> bool {
        self.last_turn.as_ref().is_some_and(|(last, said)| last == turn && *said)
    }

    /// Whether a request is one that mode `folder` or a rule allows.
    pub fn asked_harmlessly(&self, agent_request_id: &str) -> bool {
        self.harmless.iter().any(|harmless| harmless == agent_request_id)
    }

    /// Whether a call of a job tool has no result.
    pub fn waits_for_result(&self) -> bool {
        self.calls.values().any(|answered| !answered)
    }

    fn id(&mut self, prefix: &str) -> String {
        self.ids += 1;
        format!("{prefix}{}", self.ids)
    }

    /// Ends what it does.
    pub fn finish(&mut self) -> AgentEvent {
        self.turn = None;
        self.blocks.clear();
        self.requests.clear();
        AgentEvent::Idle
    }

    /// Says or does something.
    pub fn act(&mut self, random: &mut Random, last_prompt: u32) -> AgentEvent {
        let event = self.choose(random, last_prompt);
        let said = match &event {
            AgentEvent::BlockStarted(start) => !matches!(start, BlockStart::Reasoning { .. }),
            AgentEvent::BlockDelta { key, .. } => key.kind != BlockKind::Reasoning,
            AgentEvent::BlockEnded(end) => !matches!(end, BlockEnd::Reasoning { .. }),
            _ => false,
        };
        if let Some((_, has_said)) = &mut self.last_turn {
            *has_said |= said;
        }
        event
    }

    fn choose(&mut self, random: &mut Random, last_prompt: u32) -> AgentEvent {
        // An agent whose turn is over mostly keeps quiet, and so does one that waits for an answer.
        let waits = !self.requests.is_empty() && !self.is_interrupted;
        if self.turn.is_none() && !random.one_in(12) || waits && !random.one_in(8) {
            let message = format!("note {}", random.below(3));
            return AgentEvent::Notice { kind: *random.pick(&[NoticeKind::Mcp, NoticeKind::Info]), message };
        }
        if self.is_interrupted && !random.one_in(3) {
            return self.finish();
        }
        match random.below(40) {
            0..=3 => AgentEvent::TurnStarted { turn_id: self.id("a").into() },
            4..=5 => AgentEvent::TurnEnded { turn_id: "a".into() },
            6 if random.one_in(2) => {
                let usage = Usage { input_tokens: Some(10), ..Usage::default() };
                AgentEvent::UsageReported(usage)
            }
            6..=11 => {
                let kind = *random.pick(&[BlockKind::Reasoning, BlockKind::Message, BlockKind::Tool]);
                let id = self.id("b");
                self.blocks.push((kind, id.clone()));
                let parent = random.one_in(6).then(|| "parent".to_owned());
                AgentEvent::BlockStarted(match kind {
                    BlockKind::Reasoning => BlockStart::Reasoning { id, parent },
                    BlockKind::Message => BlockStart::Message { id, parent },
                    BlockKind::Tool => {
                        let (name, arguments) = *random.pick(&[("shell", ""), JOB_TOOL, OVER_MCP]);
                        BlockStart::Tool { id, parent, name: name.to_owned(), arguments: arguments.to_owned() }
                    }
                })
            }
            12..=21 => {
                let key = self.some_block(random);
                AgentEvent::BlockDelta { key, delta: format!("d{} ", random.below(10)) }
            }
            22..=26 => {
                let BlockKey { kind, id } = self.some_block(random);
                self.blocks.retain(|(_, open)| *open != id);
                let is_secret = kind == BlockKind::Reasoning && random.one_in(3);
                let content = if is_secret { String::new() } else { format!("whole {id}") };
                AgentEvent::BlockEnded(match kind {
                    BlockKind::Reasoning => BlockEnd::Reasoning { id, content },
                    BlockKind::Message => BlockEnd::Message { id, content },
                    BlockKind::Tool => BlockEnd::Tool { id, result: None, error: None },
                })
            }
            27 => {
                let key = self.some_block(random);
                self.blocks.retain(|(_, open)| *open != key.id);
                AgentEvent::BlockDiscarded(key)
            }
            28..=30 => self.ask(random),
            31 => AgentEvent::RequestWithdrawn {
                agent_request_id: self.requests.keys().min().cloned().unwrap_or_else(|| "q0".to_owned()),
            },
            32 => {
                let class = *random.pick(&[ErrorClass::RateLimit, ErrorClass::Network, ErrorClass::Auth]);
                let failure = Failure::with_message(class, "it failed");
                let failure = if class == ErrorClass::Auth { failure.that_wants_login() } else { failure };
                let failure = if random.one_in(4) { Failure::of_lost_session("it is lost") } else { failure };
                AgentEvent::TurnFailed { failure }
            }
            33 if random.one_in(3) => AgentEvent::SessionNamed(format!("agent {}", random.below(3))),
            33 if random.one_in(2) => AgentEvent::TitleChanged(format!("title {}", random.below(3))),
            33 => AgentEvent::PromptGenerated((*random.pick(&["", "go on"])).to_owned()),
            34 => AgentEvent::SteerRefused {
                prompt: crate::model::PromptId::from_number(last_prompt),
                reason: "no".to_owned(),
            },
            37 => {
                let repeats = random.one_in(4).then(|| self.calls.keys().min().cloned()).flatten();
                let agent_request_id = repeats.unwrap_or_else(|| self.id("t"));
                self.calls.entry(agent_request_id.clone()).or_insert(false);
                let (name, arguments) = (JOB_TOOL.0.to_owned(), JOB_TOOL.1.to_owned());
                AgentEvent::ToolWaits { agent_request_id, call: ToolRequest { call_id: self.id("c"), name, arguments } }
            }
            35 if random.one_in(2) => AgentEvent::FellBehind { waiting: 1 },
            35 => AgentEvent::Outdated,
            36 if random.one_in(3) => AgentEvent::Gone { reason: "it crashed".to_owned() },
            _ => self.finish(),
        }
    }

    /// Asks for a permission, or a question.
    fn ask(&mut self, random: &mut Random) -> AgentEvent {
        let agent_request_id = self.id("q");
        let tool = (*random.pick(&["shell", "write", "forbidden", "harmless"])).to_owned();
        self.requests.insert(agent_request_id.clone(), tool.clone());
        let is_inside = random.one_in(2);
        if tool == "harmless" || tool == "write" && is_inside {
            self.harmless.push(agent_request_id.clone());
        }
        let body = if random.one_in(4) {
            RequestBody::question("which?", None)
        } else {
            RequestBody::Permission {
                kind: "shell".to_owned(),
                writes: (tool == "write").then(|| Box::new(Writing { paths: vec!["file".to_owned()], is_inside })),
                tool,
                title: "May I?".to_owned(),
                detail: String::new(),
                options: Vec::new(),
                tool_call_id: None,
                call: String::new(),
                reads: None,
            }
        };
        AgentEvent::RequestMade { agent_request_id, body }
    }

    /// A block that is open, or an unknown one.
    fn some_block(&mut self, random: &mut Random) -> BlockKey {
        if self.blocks.is_empty() || random.one_in(20) {
            return BlockKey::new(BlockKind::Message, self.id("x"));
        }
        let (kind, id) = random.pick(&self.blocks).clone();
        BlockKey::new(kind, id)
    }
}
