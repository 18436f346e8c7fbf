//! Silence: an agent that says nothing in a turn is looked at, and silence alone never ends it.
//!
//! When half of the configured time has passed without a sign of life, a look begins that lasts for the other half: if
//! the agent neither answers nor uses the processor in that time, the log says so, once. Only where it is configured
//! is the agent ended then.

use tokio::time::{Duration, Instant};

use super::Actor;
use super::connecting::Link;
use super::turn::Turn;
use crate::agent::BoxFuture;
use crate::model::NoticeKind;

/// How long it has been quiet, and what is being done about it.
pub(super) struct Silence {
    /// When the agent last said something, was told something, or answered a look.
    last_sign: Instant,
    look: Option<BoxFuture<'static, bool>>,
    /// The log has it already.
    is_told: bool,
}

impl Silence {
    pub fn new() -> Self {
        Self { last_sign: Instant::now(), look: None, is_told: false }
    }

    /// There was a sign of life, or nobody can expect one. A look that is under way is of no more use.
    pub fn ends(&mut self) {
        *self = Self::new();
    }

    pub fn is_looked_at(&self) -> bool {
        self.look.is_some()
    }

    /// What a look finds: whether the agent lives. May be dropped at any point without losing anything.
    pub async fn looked(&mut self) -> bool {
        match &mut self.look {
            Some(look) => {
                let lives = look.await;
                self.look = None;
                lives
            }
            None => std::future::pending().await,
        }
    }
}

impl Actor {
    /// The time after which silence is told, where anybody waits for the agent: in a turn that neither waits for a
    /// person nor is being interrupted, on a connection that can be looked at.
    fn longest_silence(&self) -> Option<Duration> {
        let longest = self.around.settings.recovery.silence_notice?;
        let turn = self.turn.as_ref()?;
        let Link::Live(connection) = &self.link else { return None };
        let waits_for_agent = self.requests.is_empty() && Turn::interrupt_deadline(turn).is_none();
        (waits_for_agent && connection.pulse().is_some()).then_some(longest)
    }

    /// When the next look begins.
    pub(super) fn silence_deadline(&self) -> Option<Instant> {
        let longest = self.longest_silence()?;
        let rests = self.silence.is_looked_at() || self.silence.is_told;
        (!rests).then(|| self.silence.last_sign + longest / 2)
    }

    pub(super) fn look_at_silent_agent(&mut self) {
        let Some(longest) = self.longest_silence() else { return };
        let Link::Live(connection) = &self.link else { return };
        if let Some(pulse) = connection.pulse().cloned() {
            self.silence.look = Some(Box::pin(async move { pulse.feel(longest / 2).await }));
        }
    }

    pub(super) async fn on_looked(&mut self, lives: bool) {
        if lives {
            self.silence.ends();
            return;
        }
        if self.longest_silence().is_none() {
            return;
        }
        self.silence.is_told = true;
        let quiet = in_words(self.silence.last_sign.elapsed());
        tracing::warn!(session = %self.id, %quiet, "no sign of life from the agent");
        let ends = self.around.settings.recovery.end_hung;
        let what_now =
            if ends { "It is ended and started anew." } else { "Interrupt the turn to end it, or wait for it." };
        self.write_notice(
            NoticeKind::Hung,
            format!(
                "No sign of life from the agent for {quiet}: it says nothing, uses no processor time and does not \
                 answer. {what_now}"
            ),
        );
        if ends {
            self.cut_off(format!("the agent showed no sign of life for {quiet} and was ended")).await;
        }
    }

    async fn cut_off(&mut self, reason: String) {
        // Nobody has to wait for the notice until the agent is gone.
        self.journal.flush();
        let pulse = match &self.link {
            Link::Live(connection) => connection.pulse().cloned(),
            _ => None,
        };
        if let Some(pulse) = pulse {
            pulse.cut_off().await;
        }
        self.on_agent_lost(reason).await;
    }
}

fn in_words(span: Duration) -> String {
    match span.as_secs() {
        seconds if seconds >= 120 => format!("{} minutes", seconds / 60),
        1 => "1 second".to_owned(),
        seconds => format!("{seconds} seconds"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_said_as_people_say_them() {
        let said: Vec<String> =
            [1, 90, 119, 120, 300].map(|seconds| in_words(Duration::from_secs(seconds))).into_iter().collect();
        assert_eq!(said, ["1 second", "90 seconds", "119 seconds", "2 minutes", "5 minutes"]);
    }
}
