//! Notifications: where they are sent, of what, and when not.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Span;
use crate::model::{HappeningKind, Template};

/// Notifications.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Notifications {
    /// The address of this server in links, such as `https://deck.example.com`; empty for its own address on this machine.
    pub base_url: String,
    /// When quiet hours begin, as `22:00` in local time; empty for no quiet hours.
    pub quiet_from: String,
    /// When they end.
    pub quiet_to: String,
    /// What happens to notifications in quiet hours.
    pub in_quiet_hours: InQuietHours,
    /// What needs a person is sent in quiet hours too.
    pub quiet_needs_you: bool,
    /// The targets, by name.
    pub targets: BTreeMap<String, NotificationTarget>,
}

/// What happens to notifications in quiet hours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InQuietHours {
    /// They are sent at the end, as one summary.
    #[default]
    Hold,
    /// They are not sent.
    Drop,
}

/// What a target speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TargetKind {
    /// A POST of JSON.
    #[default]
    Webhook,
    /// ntfy.
    Ntfy,
    /// Gotify.
    Gotify,
}

/// What notifications are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TargetSubject {
    /// Sessions.
    Sessions,
    /// Jobs.
    Jobs,
}

/// Where notifications are sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NotificationTarget {
    /// What it speaks.
    #[serde(rename = "type")]
    pub kind: TargetKind,
    /// Its address: of the webhook, of the ntfy topic, of the Gotify server.
    pub url: String,
    /// The token for ntfy or Gotify; prefer `token_variable`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub token: String,
    /// The environment variable that holds the token.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub token_variable: String,
    /// The secret that a webhook's requests are signed with; prefer `secret_variable`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub secret: String,
    /// The environment variable that holds the secret.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub secret_variable: String,
    /// Of what.
    pub events: Vec<HappeningKind>,
    /// About what.
    pub subjects: Vec<TargetSubject>,
    /// The title.
    pub title: String,
    /// The body; empty for the built-in one.
    pub body: String,
    /// Turns and jobs that took less are not reported, unless they need a person.
    pub min_duration: Span,
    /// Send what the agent asked or said, too.
    pub include_text: bool,
}

impl Default for NotificationTarget {
    fn default() -> Self {
        Self {
            kind: TargetKind::Webhook,
            url: String::new(),
            token: String::new(),
            token_variable: String::new(),
            secret: String::new(),
            secret_variable: String::new(),
            events: HappeningKind::ALL.to_vec(),
            subjects: vec![TargetSubject::Sessions, TargetSubject::Jobs],
            title: "{{headline}}: {{title}}".to_owned(),
            body: String::new(),
            min_duration: Span::of(Duration::ZERO),
            include_text: false,
        }
    }
}

impl Notifications {
    /// What is wrong, if anything.
    pub(super) fn problem(&self) -> Option<String> {
        if !self.base_url.is_empty() && !is_address(&self.base_url) {
            return Some(format!(
                "base_url is {:?}; it must be an address such as \"https://deck.example.com\"",
                self.base_url
            ));
        }
        for time in [&self.quiet_from, &self.quiet_to] {
            if !time.is_empty() && minute_of_day(time).is_none() {
                return Some(format!("{time:?} is not a time of day such as \"22:00\""));
            }
        }
        if let Some(name) = self.targets.keys().find(|name| name.starts_with("browser-")) {
            return Some(format!(
                "target {name:?}: names that begin with browser- are reserved for browsers; choose another one"
            ));
        }
        let mut problems = self.targets.iter().filter_map(|(name, target)| Some((name, target.problem()?)));
        problems.next().map(|(name, problem)| format!("target {name:?}: {problem}"))
    }

    /// When quiet hours begin and end, in minutes since midnight. Without both there are none.
    pub fn quiet_hours(&self) -> Option<(u16, u16)> {
        Some((minute_of_day(&self.quiet_from)?, minute_of_day(&self.quiet_to)?)).filter(|(from, to)| from != to)
    }
}

impl NotificationTarget {
    /// What is wrong with it, if anything.
    fn problem(&self) -> Option<String> {
        // The address may be a secret, so it is not repeated.
        if !is_address(&self.url) {
            return Some("url must be an address that begins with http:// or https://".to_owned());
        }
        let authority = self.url.split("://").nth(1).unwrap_or_default();
        let path = authority.split_once('/').map_or("", |(_, path)| path);
        if self.kind == TargetKind::Ntfy && path.trim_matches('/').is_empty() {
            return Some("url must be the address of the topic, such as \"https://ntfy.sh/my-topic\"".to_owned());
        }
        if self.kind == TargetKind::Gotify && self.token.is_empty() && self.token_variable.is_empty() {
            return Some("Gotify needs the token of an application: set token_variable or token".to_owned());
        }
        if self.kind == TargetKind::Webhook && !(self.token.is_empty() && self.token_variable.is_empty()) {
            return Some("a webhook has no token; to sign its requests, set secret_variable or secret".to_owned());
        }
        if self.kind != TargetKind::Webhook && !(self.secret.is_empty() && self.secret_variable.is_empty()) {
            return Some("only a webhook's requests are signed; remove secret and secret_variable".to_owned());
        }
        for (value, variable, name) in
            [(&self.token, &self.token_variable, "token"), (&self.secret, &self.secret_variable, "secret")]
        {
            if !value.is_empty() && !variable.is_empty() {
                return Some(format!("{name} and {name}_variable are both set; keep one"));
            }
        }
        [&self.title, &self.body].into_iter().find_map(|template| Template::parse(template).err())
    }
}

fn is_address(url: &str) -> bool {
    ["http://", "https://"].iter().any(|scheme| {
        url.strip_prefix(scheme).is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/'))
            && !url.contains(char::is_whitespace)
    })
}

fn minute_of_day(time: &str) -> Option<u16> {
    let (hour, minute) = time.split_once(':')?;
    let number = |text: &str, digits: std::ops::RangeInclusive<usize>| {
        (digits.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit()))
            .then(|| text.parse::<u16>().ok())
            .flatten()
    };
    let (hour, minute) = (number(hour, 1..=2)?, number(minute, 2..=2)?);
    (hour < 24 && minute < 60).then_some(hour * 60 + minute)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(kind: TargetKind, url: &str) -> NotificationTarget {
        NotificationTarget { kind, url: url.to_owned(), ..NotificationTarget::default() }
    }

    #[test]
    fn what_cannot_work_is_an_error_that_names_it() {
        use TargetKind::{Gotify, Ntfy, Webhook};
        let good = target(Webhook, "https://example.com/hook");
        assert_eq!(good.problem(), None);
        assert_eq!(target(Ntfy, "https://ntfy.sh/topic").problem(), None);
        let token = || "t".to_owned();
        for (bad, part) in [
            (target(Webhook, "example.com/hook"), "begins with http"),
            (target(Webhook, "https:///hook"), "begins with http"),
            (target(Ntfy, "https://ntfy.sh"), "topic"),
            (target(Ntfy, "https://ntfy.sh/"), "topic"),
            (target(Gotify, "https://push.example.com"), "token"),
            (NotificationTarget { token: token(), ..good.clone() }, "secret_variable"),
            (NotificationTarget { secret: token(), ..target(Ntfy, "https://ntfy.sh/t") }, "only a webhook"),
            (NotificationTarget { secret: token(), secret_variable: token(), ..good.clone() }, "keep one"),
            (NotificationTarget { title: "{{titel}}".to_owned(), ..good.clone() }, "{{titel}}"),
        ] {
            let problem = bad.problem().expect("wrong");
            assert!(problem.contains(part), "{problem}");
        }
    }

    #[test]
    fn times_of_day_are_minutes() {
        assert_eq!(["00:00", "7:05", "23:59"].map(minute_of_day), [Some(0), Some(425), Some(1_439)]);
        for bad in ["", "24:00", "7", "7:5", "12:60", "+1:00", "1:+1", "noon"] {
            assert_eq!(minute_of_day(bad), None, "{bad}");
        }
    }
}
