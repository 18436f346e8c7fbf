//! Silence: an agent that is silent in a turn is probed, and silence alone never ends it.
//!
//! When half of the configured time has passed without any activity, a probe begins that lasts for the other half: if
//! the agent neither responds nor uses the CPU in that time, this is logged once. Only if it is so configured
//! is the agent ended then.

use std::time::Duration;

use super::{Context, Disconnect, Link, Machine, Output};
use crate::model::NoticeKind;

/// How long the agent has been silent, and what is being done about it.
#[derive(Debug, Default)]
pub(super) struct Silence {
    /// When the agent last sent something, got a command, or responded to a probe.
    last_activity: Duration,
    step: Step,
}

#[derive(Debug, Default, PartialEq, Eq)]
enum Step {
    #[default]
    Quiet,
    Probing,
    /// It has been logged.
    Reported,
}

impl Silence {
    /// There was activity, or none can be expected. The result of a running probe no longer matters.
    pub fn note_activity(&mut self, now: Duration) {
        *self = Self { last_activity: now, step: Step::Quiet };
    }
}

impl Machine {
    /// Whether the result of a probe matters.
    pub fn is_probing(&self) -> bool {
        self.silence.step == Step::Probing
    }

    /// The agent was active or is not being read: its silence counts from here.
    pub fn note_activity(&mut self, now: Duration) {
        self.silence.note_activity(now);
    }

    /// The time after which silence is reported, where the agent is expected to act: in a turn that neither waits for a
    /// person nor is being interrupted, on a connection that can be probed.
    fn longest_silence(&self, context: &Context) -> Option<Duration> {
        let longest = context.settings.recovery.silence_notice?;
        let turn = self.turn.as_ref()?;
        let can_probe = matches!(self.link, Link::Live { can_probe: true, .. });
        (can_probe && self.requests.is_empty() && !turn.is_interrupted()).then_some(longest)
    }

    /// When the next probe begins.
    pub(super) fn silence_deadline(&self, context: &Context) -> Option<Duration> {
        let longest = self.longest_silence(context)?;
        (self.silence.step == Step::Quiet).then(|| self.silence.last_activity + longest / 2)
    }

    pub(super) fn probe_silent_agent(&mut self, context: &Context) {
        if let Some(longest) = self.longest_silence(context) {
            self.silence.step = Step::Probing;
            self.outputs.push(Output::Probe { within: longest / 2 });
        }
    }

    pub(super) fn on_probed(&mut self, context: &Context, alive: bool) {
        if !self.is_probing() {
            return;
        }
        if alive {
            return self.silence.note_activity(context.now);
        }
        if self.longest_silence(context).is_none() {
            return self.silence.note_activity(context.now);
        }
        self.silence.step = Step::Reported;
        let quiet = in_words(context.now.saturating_sub(self.silence.last_activity));
        let ends = context.settings.recovery.end_hung;
        let next = if ends { "It is being restarted." } else { "Interrupt the turn to end it, or wait." };
        self.notify(
            NoticeKind::Hung,
            format!("The agent has been unresponsive for {quiet} (no output, no CPU use, no reply). {next}"),
        );
        if ends {
            self.flush();
            self.disconnect(Disconnect::Hung);
            self.lose_agent(context, &format!("the agent was unresponsive for {quiet} and was ended"));
        }
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
    fn durations_are_written_as_people_say_them() {
        let said: Vec<String> =
            [1, 90, 119, 120, 300].map(|seconds| in_words(Duration::from_secs(seconds))).into_iter().collect();
        assert_eq!(said, ["1 second", "90 seconds", "119 seconds", "2 minutes", "5 minutes"]);
    }
}
