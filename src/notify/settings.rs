//! What is sent to whom.

use std::collections::BTreeSet;
use std::time::Duration;

use super::QuietHours;
use crate::model::{HappeningKind, Template};

/// Settings of all notifications. By default nobody is notified.
#[derive(Clone, Debug, Default)]
pub struct NotifySettings {
    /// The address of this server in links, without a slash at its end.
    pub base_url: String,
    /// When nothing is sent.
    pub quiet_hours: Option<QuietHours>,
    /// The targets.
    pub targets: Vec<Target>,
    /// How often and how fast a failed delivery is sent again.
    pub retries: Retries,
}

impl NotifySettings {
    /// The target of a name.
    pub fn target(&self, name: &str) -> Option<&Target> {
        self.targets.iter().find(|target| target.name == name)
    }
}

/// Where notifications are sent.
#[derive(Clone, Debug)]
pub struct Target {
    /// Its name.
    pub name: String,
    /// What it speaks, and its address.
    pub protocol: Protocol,
    /// Of what.
    pub events: BTreeSet<HappeningKind>,
    /// Whether it wants to hear of sessions.
    pub sessions: bool,
    /// Whether it wants to hear of jobs.
    pub jobs: bool,
    /// The title.
    pub title: Template,
    /// The body; `None` for the built-in one.
    pub body: Option<Template>,
    /// Turns and jobs that took less are not reported, unless they need a person.
    pub min_duration: Duration,
    /// Send what the agent asked or said, too.
    pub include_text: bool,
}

/// What a target speaks.
#[derive(Clone, Debug)]
pub enum Protocol {
    /// A POST of JSON.
    Webhook {
        /// The address.
        url: Secret,
        /// What requests are signed with.
        secret: Option<Secret>,
    },
    /// ntfy.
    Ntfy {
        /// The address of the topic.
        url: Secret,
        /// An access token.
        token: Option<Secret>,
    },
    /// Gotify.
    Gotify {
        /// The address of the server.
        url: Secret,
        /// The token of the application.
        token: Secret,
    },
}

impl Protocol {
    /// Its name in the configuration.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Webhook { .. } => "webhook",
            Self::Ntfy { .. } => "ntfy",
            Self::Gotify { .. } => "gotify",
        }
    }
}

/// A text that is never shown: a key, or an address that works like one.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(pub String);

impl std::fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("[redacted]")
    }
}

/// How often and how fast a failed delivery is sent again.
#[derive(Clone, Copy, Debug)]
pub struct Retries {
    /// Attempts in all.
    pub attempts: u32,
    /// The delay before the second attempt; it doubles from there.
    pub first_delay: Duration,
    /// The longest delay.
    pub longest_delay: Duration,
    /// How long a target may take to answer.
    pub timeout: Duration,
    /// How long what needs a person waits while that person is looking.
    pub look_again: Duration,
}

impl Default for Retries {
    fn default() -> Self {
        Self {
            attempts: 10,
            first_delay: Duration::from_secs(5),
            longest_delay: Duration::from_mins(30),
            timeout: Duration::from_secs(15),
            look_again: Duration::from_mins(1),
        }
    }
}
