//! What a notification says.

use std::path::Path;
use std::time::Duration;

use serde::Serialize;

use super::{NotifySettings, Target};
use crate::model::{HappeningKind, HappeningSubject, Template, Timestamp};
use crate::store::StoredDelivery;

/// Titles that a summary lists; the others are counted.
const LISTED: usize = 10;

/// A notification, as a webhook gets it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Message {
    /// The same for every attempt, and after a restart.
    pub id: String,
    /// `needs-you`, `finished`, `failed`, `summary` or `test`.
    pub event: &'static str,
    /// For people.
    pub title: String,
    /// For people.
    pub body: String,
    /// Where to look; empty for none.
    pub link: String,
    /// When it happened.
    pub at: Timestamp,
    /// What it is about; a summary has several.
    pub items: Vec<Item>,
    /// How much it matters.
    #[serde(skip)]
    pub urgency: Urgency,
}

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Item {
    pub event: &'static str,
    /// `session` or `job`.
    pub kind: &'static str,
    /// The id of the session or job.
    pub id: String,
    /// The title of the session or the name of the job.
    pub title: String,
    pub folder: String,
    pub state: &'static str,
    pub reason: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    pub link: String,
    /// Only for targets that ask for it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub text: String,
    pub at: Timestamp,
}

/// How much a notification matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Urgency {
    Normal,
    Raised,
    High,
}

impl Urgency {
    fn of(kind: HappeningKind) -> Self {
        match kind {
            HappeningKind::Finished => Self::Normal,
            HappeningKind::Failed => Self::Raised,
            HappeningKind::NeedsYou => Self::High,
        }
    }
}

impl Message {
    /// The notification for deliveries that are sent together: one, or the summary of several.
    pub fn of(deliveries: &[StoredDelivery], target: &Target, settings: &NotifySettings) -> Option<Self> {
        let first = deliveries.first()?;
        let items: Vec<Item> = deliveries.iter().map(|delivery| Item::of(delivery, target, settings)).collect();
        let id = format!("delivery-{}", first.id);
        let urgency = deliveries.iter().map(|delivery| Urgency::of(delivery.happening.kind)).max()?;
        if let [item] = &items[..] {
            let title = item.expand(&target.title, first.happening.kind);
            let body = match &target.body {
                Some(template) => item.expand(template, first.happening.kind),
                None => item.body(),
            };
            let (event, link, at) = (item.event, item.link.clone(), item.at);
            return Some(Self { id, event, title, body, link, at, items, urgency });
        }
        let title = summary_title(deliveries);
        let lines = deliveries.iter().take(LISTED).map(|one| line(one.happening.kind, &one.delivery.title));
        let mut body = lines.collect::<Vec<_>>().join("\n");
        if let Some(more) = deliveries.len().checked_sub(LISTED).filter(|more| *more > 0) {
            body = format!("{body}\nand {more} more");
        }
        let at = deliveries.last()?.happened_at;
        Some(Self { id, event: "summary", title, body, link: settings.base_url.clone(), at, items, urgency })
    }

    /// A test.
    pub fn test(target: &Target, settings: &NotifySettings, at: Timestamp) -> Self {
        Self {
            id: format!("test-{}", at.as_millis()),
            event: "test",
            title: "Flightdeck test".to_owned(),
            body: format!("Notifications to the target {} work.", target.name),
            link: settings.base_url.clone(),
            at,
            items: Vec::new(),
            urgency: Urgency::Normal,
        }
    }
}

fn line(kind: HappeningKind, title: &str) -> String {
    format!("{}: {title}", kind.headline())
}

/// Such as `During quiet hours: 2 need your input, 1 finished`.
fn summary_title(deliveries: &[StoredDelivery]) -> String {
    let counts = HappeningKind::ALL.into_iter().filter_map(|kind| {
        let count = deliveries.iter().filter(|delivery| delivery.happening.kind == kind).count();
        let words = match kind {
            HappeningKind::NeedsYou if count == 1 => "needs your input",
            HappeningKind::NeedsYou => "need your input",
            HappeningKind::Finished => "finished",
            HappeningKind::Failed => "failed",
        };
        (count > 0).then(|| format!("{count} {words}"))
    });
    format!("During quiet hours: {}", counts.collect::<Vec<_>>().join(", "))
}

impl Item {
    fn of(stored: &StoredDelivery, target: &Target, settings: &NotifySettings) -> Self {
        let happening = &stored.happening;
        let base = &settings.base_url;
        let link = match stored.subject {
            HappeningSubject::Session(id) => format!("{base}/?session={id}"),
            HappeningSubject::Job(id) => {
                let name = form_urlencoded::byte_serialize(stored.delivery.title.as_bytes()).collect::<String>();
                format!("{base}/jobTracking.html?jobName={name}&jobId={id}")
            }
        };
        Self {
            event: happening.kind.as_str(),
            kind: stored.subject.kind(),
            id: stored.subject.to_string(),
            title: stored.delivery.title.clone(),
            folder: stored.delivery.folder.clone(),
            state: match happening.kind {
                HappeningKind::NeedsYou => "waiting",
                HappeningKind::Finished => "finished",
                HappeningKind::Failed => "failed",
            },
            reason: happening.reason.clone(),
            duration_ms: happening.duration_ms,
            link,
            text: if target.include_text { happening.text.clone() } else { String::new() },
            at: stored.happened_at,
        }
    }

    fn folder_name(&self) -> &str {
        Path::new(&self.folder).file_name().and_then(|name| name.to_str()).unwrap_or_default()
    }

    fn duration(&self) -> String {
        let seconds = |millis| Duration::from_secs(Duration::from_millis(millis).as_secs());
        self.duration_ms.map(|millis| humantime::format_duration(seconds(millis)).to_string()).unwrap_or_default()
    }

    fn expand(&self, template: &Template, kind: HappeningKind) -> String {
        let duration = self.duration();
        template.expand(|variable| match variable {
            "headline" => kind.headline(),
            "event" => self.event,
            "kind" => self.kind,
            "id" => &self.id,
            "title" => &self.title,
            "folder" => &self.folder,
            "folder_name" => self.folder_name(),
            "state" => self.state,
            "reason" => &self.reason,
            "duration" => &duration,
            "link" => &self.link,
            "text" => &self.text,
            _ => "",
        })
    }

    /// The built-in body: the id, why, how long, where, and the text if there is one.
    fn body(&self) -> String {
        let duration = self.duration();
        let parts = [self.id.as_str(), &self.reason, self.folder_name(), &duration];
        let facts = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · ");
        if self.text.is_empty() { facts } else { format!("{facts}\n{}", self.text) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::plan::tests::{delivery, settings, target};
    use super::*;

    #[test]
    fn the_text_of_an_agent_is_sent_only_to_those_who_ask_for_it() {
        let (target, settings) = (target(), settings());
        let stored = delivery(HappeningKind::NeedsYou, 1);
        let message = Message::of(std::slice::from_ref(&stored), &target, &settings).expect("a message");
        assert_eq!(message.title, "Needs your input: Fix the build");
        assert_eq!(message.body, "session-1 · permission · project · 1m 2s");
        assert_eq!(message.link, "http://localhost:8888/?session=session-1");
        assert!(!serde_json::to_string(&message).expect("JSON").contains("rm -rf"));
        let target = Target { include_text: true, ..target };
        let message = Message::of(&[stored], &target, &settings).expect("a message");
        assert!(message.body.ends_with("\nrm -rf build"), "{}", message.body);
        assert_eq!(message.items[0].text, "rm -rf build");
    }

    #[test]
    fn every_documented_variable_has_a_value() {
        let target = Target { include_text: true, ..target() };
        let stored = delivery(HappeningKind::NeedsYou, 1);
        let item = Item::of(&stored, &target, &settings());
        for variable in crate::model::TEMPLATE_VARIABLES {
            let template = Template::parse(&format!("{{{{{variable}}}}}")).expect("known");
            assert_ne!(item.expand(&template, HappeningKind::NeedsYou), "", "{variable}");
        }
    }

    #[test]
    fn several_are_one_summary() {
        let kinds = [HappeningKind::Finished, HappeningKind::NeedsYou, HappeningKind::Finished];
        let deliveries: Vec<StoredDelivery> = kinds.into_iter().zip(1..).map(|(kind, id)| delivery(kind, id)).collect();
        let message = Message::of(&deliveries, &target(), &settings()).expect("a message");
        assert_eq!(message.title, "During quiet hours: 1 needs your input, 2 finished");
        assert_eq!(message.body.lines().count(), 3);
        assert_eq!((message.event, message.items.len(), message.urgency), ("summary", 3, Urgency::High));
        let many: Vec<StoredDelivery> = (1..=14).map(|id| delivery(HappeningKind::Failed, id)).collect();
        let message = Message::of(&many, &target(), &settings()).expect("a message");
        assert!(message.body.ends_with("\nand 4 more"), "{}", message.body);
    }
}
