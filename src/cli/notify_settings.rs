//! Converts the configuration to the settings of notifications.

use jiff::tz::TimeZone;

use anyhow::{Context as _, bail};

use crate::config::{InQuietHours, NotificationTarget, Notifications, TargetKind, TargetSubject};
use crate::model::Template;
use crate::notify::{NotifySettings, Protocol, QuietHours, Retries, Secret, Target};

/// The settings. `own_url` is where links lead if the configuration does not say.
pub(super) fn notify_settings(
    config: &Notifications,
    own_url: &str,
    variables: impl Fn(&str) -> Option<String>,
    retries: Retries,
) -> anyhow::Result<NotifySettings> {
    let base_url = if config.base_url.is_empty() { own_url } else { &config.base_url };
    let quiet_hours = config.quiet_hours().map(|(from, to)| QuietHours {
        from,
        to,
        zone: TimeZone::system(),
        hold: config.in_quiet_hours == InQuietHours::Hold,
        needs_you_breaks_through: config.quiet_needs_you,
    });
    let targets = config
        .targets
        .iter()
        .map(|(name, target)| {
            self::target(name, target, &variables).with_context(|| format!("notifications.targets.{name}"))
        })
        .collect::<anyhow::Result<_>>()?;
    Ok(NotifySettings { base_url: base_url.trim_end_matches('/').to_owned(), quiet_hours, targets, retries })
}

fn target(
    name: &str,
    target: &NotificationTarget,
    variables: &impl Fn(&str) -> Option<String>,
) -> anyhow::Result<Target> {
    let secret = |value: &str, variable: &str| -> anyhow::Result<Option<Secret>> {
        if variable.is_empty() {
            return Ok((!value.is_empty()).then(|| Secret(value.to_owned())));
        }
        match variables(variable).filter(|value| !value.is_empty()) {
            Some(value) => Ok(Some(Secret(value))),
            None => bail!("the environment variable {variable} is not set; set it, or remove it from the target"),
        }
    };
    let url = Secret(target.url.clone());
    let token = secret(&target.token, &target.token_variable)?;
    let protocol = match target.kind {
        TargetKind::Webhook => Protocol::Webhook { url, secret: secret(&target.secret, &target.secret_variable)? },
        TargetKind::Ntfy => Protocol::Ntfy { url, token },
        TargetKind::Gotify => Protocol::Gotify { url, token: token.context("Gotify needs a token")? },
    };
    let template = |text: &str| Template::parse(text).map_err(anyhow::Error::msg);
    Ok(Target {
        name: name.to_owned(),
        protocol,
        events: target.events.iter().copied().collect(),
        sessions: target.subjects.contains(&TargetSubject::Sessions),
        jobs: target.subjects.contains(&TargetSubject::Jobs),
        title: template(&target.title)?,
        body: (!target.body.is_empty()).then(|| template(&target.body)).transpose()?,
        min_duration: target.min_duration.or_zero(),
        include_text: target.include_text,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_may_come_from_a_variable_that_must_be_set() {
        let target = NotificationTarget {
            kind: TargetKind::Gotify,
            url: "https://push.example.com".to_owned(),
            token_variable: "PUSH".to_owned(),
            ..NotificationTarget::default()
        };
        let config = Notifications { targets: [("phone".to_owned(), target)].into(), ..Notifications::default() };
        let settings = |value: Option<&str>| {
            let value = value.map(str::to_owned);
            notify_settings(&config, "http://localhost:1/", move |_| value.clone(), Retries::default())
        };
        let found = settings(Some("A1")).expect("valid");
        assert_eq!(found.base_url, "http://localhost:1");
        assert!(matches!(&found.targets[0].protocol, Protocol::Gotify { token, .. } if token.0 == "A1"));
        let error = format!("{:#}", settings(None).expect_err("not set"));
        assert!(error.contains("notifications.targets.phone") && error.contains("PUSH"), "{error}");
    }
}
