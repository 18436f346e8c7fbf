//! Plays scripts, one turn at a time. An interrupt ends a turn early.

use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::Instant;

use super::scenes;
use super::script::Script;
use crate::agent::{AgentCommand, AgentEvent, BlockEnd, BlockStart, RequestAnswer, SuspendedTurn};
use crate::model::{BlockKey, BlockKind, RequestBody, TurnId};

/// The model that streams at reading speed.
pub(super) const SLOW_MODEL: &str = "demo-slow";

const PACE: Duration = Duration::from_millis(5);
const SLOW_PACE: Duration = Duration::from_millis(120);

/// The session closed its end of the channel; the script ends.
#[derive(Debug)]
pub(super) struct SessionClosed;

pub(super) type Played = Result<(), SessionClosed>;

/// What a scene uses to send events to the session and to receive answers.
pub(super) struct Stage {
    events: mpsc::Sender<AgentEvent>,
    answers: mpsc::Receiver<RequestAnswer>,
    pace: Duration,
    pub turn_id: TurnId,
}

/// Plays one script after the other on one connection.
pub(super) struct Player {
    events: mpsc::Sender<AgentEvent>,
    pace: Duration,
}

enum Ending {
    /// The script ended.
    Played(Played),
    Interrupted,
    /// The session dropped the connection.
    Dropped,
}

impl Player {
    pub fn new(events: mpsc::Sender<AgentEvent>, model: &str) -> Self {
        Self { events, pace: pace_of(model) }
    }

    pub async fn serve(mut self, mut commands: mpsc::Receiver<AgentCommand>, suspended: Option<SuspendedTurn>) {
        if self.events.send(AgentEvent::CommandsListed(super::script::commands())).await.is_err() {
            return;
        }
        if let Some(turn) = suspended
            && self.resume(&mut commands, turn).await.is_err()
        {
            return;
        }
        while let Some(command) = commands.recv().await {
            match command {
                AgentCommand::Prompt { turn_id, text, .. } => {
                    let script = Script::of(&text);
                    let crashes = script == Script::Crash;
                    let (stage, answers) = self.stage(turn_id);
                    let turn_id = stage.turn_id.clone();
                    let ending = run(&mut commands, answers, &mut self.pace, scenes::play(stage, script)).await;
                    if self.finish(ending, turn_id).await.is_err() || crashes {
                        return;
                    }
                }
                AgentCommand::Configure { model, .. } => self.pace = pace_of(&model),
                // Outside a turn there is nothing to interrupt, steer or answer.
                AgentCommand::Interrupt
                | AgentCommand::Steer { .. }
                | AgentCommand::Answer { .. }
                | AgentCommand::AnswerTools(_)
                | AgentCommand::Suspend
                | AgentCommand::Permit(_) => {}
            }
        }
    }

    /// Continues a turn whose connection ended while it waited for the user.
    async fn resume(&mut self, commands: &mut mpsc::Receiver<AgentCommand>, turn: SuspendedTurn) -> Played {
        let Some(request) = turn.requests.into_iter().next() else {
            return Ok(());
        };
        let (mut stage, answers) = self.stage(turn.turn_id.clone());
        let play = async move {
            let answer = stage.answer().await?;
            scenes::after_answer(&mut stage, &request.body, answer).await?;
            stage.close().await
        };
        let ending = run(commands, answers, &mut self.pace, play).await;
        self.finish(ending, turn.turn_id).await
    }

    fn stage(&self, turn_id: TurnId) -> (Stage, mpsc::Sender<RequestAnswer>) {
        let (sender, answers) = mpsc::channel(1);
        (Stage { events: self.events.clone(), answers, pace: self.pace, turn_id }, sender)
    }

    async fn finish(&self, ending: Ending, turn_id: TurnId) -> Played {
        match ending {
            Ending::Played(played) => played,
            Ending::Dropped => Err(SessionClosed),
            Ending::Interrupted => {
                for event in [AgentEvent::TurnEnded { turn_id }, AgentEvent::Idle] {
                    self.events.send(event).await.map_err(|_| SessionClosed)?;
                }
                Ok(())
            }
        }
    }
}

/// Runs a script until it ends or is interrupted. Answers are passed to it; a change of the model waits for the next
/// script.
async fn run(
    commands: &mut mpsc::Receiver<AgentCommand>,
    answers: mpsc::Sender<RequestAnswer>,
    next_pace: &mut Duration,
    play: impl Future<Output = Played>,
) -> Ending {
    let mut play = std::pin::pin!(play);
    loop {
        tokio::select! {
            command = commands.recv() => match command {
                None => return Ending::Dropped,
                Some(AgentCommand::Interrupt) => return Ending::Interrupted,
                Some(AgentCommand::Answer { answer, .. }) => {
                    // A full channel means a second answer to one question, which a session never sends.
                    if answers.try_send(answer).is_err() {
                        tracing::debug!("the demo got an answer to a question that it did not ask");
                    }
                }
                Some(AgentCommand::Configure { model, .. }) => *next_pace = pace_of(&model),
                Some(
                    AgentCommand::Prompt { .. }
                    | AgentCommand::Steer { .. }
                    | AgentCommand::AnswerTools(_)
                    | AgentCommand::Suspend
                    | AgentCommand::Permit(_),
                ) => {}
            },
            played = &mut play => return Ending::Played(played),
        }
    }
}

fn pace_of(model: &str) -> Duration {
    if model == SLOW_MODEL { SLOW_PACE } else { PACE }
}

impl Stage {
    pub async fn emit(&self, event: AgentEvent) -> Played {
        self.events.send(event).await.map_err(|_| SessionClosed)
    }

    pub async fn open(&self) -> Played {
        self.emit(AgentEvent::TurnStarted { turn_id: self.turn_id.clone() }).await
    }

    pub async fn close(&self) -> Played {
        self.emit(AgentEvent::TurnEnded { turn_id: self.turn_id.clone() }).await?;
        self.emit(AgentEvent::Idle).await
    }

    pub async fn pause(&self) {
        tokio::time::sleep(self.pace).await;
    }

    pub async fn until(&self, moment: Instant) {
        tokio::time::sleep_until(moment).await;
    }

    /// An id that is unique in the session because the turn's is.
    pub fn id(&self, noun: &str) -> String {
        format!("{}-{noun}", self.turn_id)
    }

    pub async fn message(&self, text: &str) -> Played {
        let id = self.id("message");
        self.emit(AgentEvent::BlockStarted(BlockStart::Message { id: id.clone(), parent: None })).await?;
        self.stream(BlockKey::new(BlockKind::Message, &id), text).await?;
        self.emit(AgentEvent::BlockEnded(BlockEnd::Message { id, content: text.to_owned() })).await
    }

    /// Streams a text a few words at a time, at the stage's speed.
    pub async fn stream(&self, key: BlockKey, text: &str) -> Played {
        for piece in pieces(text) {
            self.emit(AgentEvent::BlockDelta { key: key.clone(), delta: piece.to_owned() }).await?;
            self.pause().await;
        }
        Ok(())
    }

    pub async fn ask(&mut self, body: RequestBody) -> Result<RequestAnswer, SessionClosed> {
        self.emit(AgentEvent::RequestMade { agent_request_id: self.id("request"), body }).await?;
        self.answer().await
    }

    pub async fn answer(&mut self) -> Result<RequestAnswer, SessionClosed> {
        self.answers.recv().await.ok_or(SessionClosed)
    }
}

/// Splits a text after every third space. The pieces joined are the original text.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut spaces = 0;
    text.split_inclusive(move |letter: char| {
        if letter.is_whitespace() {
            spaces += 1;
        }
        letter.is_whitespace() && spaces % 3 == 0
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_put_together_are_the_text() {
        let text = "one two three four\nfive  six ü";
        assert_eq!(pieces(text).collect::<String>(), text);
        assert!(pieces(text).count() > 1);
    }
}
