//! Which targets get a notification, and when.

use std::time::Duration;

use super::{NotifySettings, Target};
use crate::model::{HappeningKind, HappeningSubject, Timestamp};
use crate::store::{DeliveryProgress, DeliveryState, NewDelivery, StoredHappening};

/// What is known of the session or job.
#[derive(Clone, Debug)]
pub(super) struct Facts {
    /// The title of the session or the name of the job.
    pub title: String,
    /// Its folder; empty if it has none.
    pub folder: String,
    /// It is a session of a job. How its turns end is the job's business.
    pub is_of_job: bool,
    /// Somebody is looking at it.
    pub is_watched: bool,
}

/// The deliveries of a happening.
pub(super) fn plan(
    stored: &StoredHappening,
    facts: &Facts,
    settings: &NotifySettings,
    now: Timestamp,
) -> Vec<NewDelivery> {
    let happening = &stored.happening;
    let needs_you = happening.kind == HappeningKind::NeedsYou;
    if facts.is_of_job && !needs_you {
        return Vec::new();
    }
    let (state, at) = match facts.is_watched {
        // Somebody who looks may still leave without an answer.
        true if needs_you => (DeliveryState::Pending, later(now, settings.retries.look_again)),
        true => (DeliveryState::Seen, now),
        false => (DeliveryState::Pending, now),
    };
    let delivery = |target: &Target| NewDelivery {
        target: target.name.clone(),
        title: facts.title.clone(),
        folder: facts.folder.clone(),
        progress: DeliveryProgress { state, attempts: 0, at, error: None },
    };
    settings.targets.iter().filter(|target| wants(target, stored)).map(delivery).collect()
}

fn wants(target: &Target, stored: &StoredHappening) -> bool {
    let happening = &stored.happening;
    let subject = match stored.subject {
        HappeningSubject::Session(_) => target.sessions,
        HappeningSubject::Job(_) => target.jobs,
    };
    // A turn that a restart cut off took an unknown time; it is reported.
    let is_long = happening.duration_ms.is_none_or(|millis| Duration::from_millis(millis) >= target.min_duration);
    subject && target.events.contains(&happening.kind) && (is_long || happening.kind == HappeningKind::NeedsYou)
}

/// A moment after another one.
pub(super) fn later(now: Timestamp, delay: Duration) -> Timestamp {
    Timestamp::from_millis(now.as_millis().saturating_add(i64::try_from(delay.as_millis()).unwrap_or(i64::MAX)))
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::{Protocol, Retries, Secret};
    use super::*;
    use crate::model::{Happening, SessionId, Template};
    use crate::store::StoredDelivery;

    pub fn target() -> Target {
        Target {
            name: "phone".to_owned(),
            protocol: Protocol::Webhook { url: Secret("http://localhost/hook".to_owned()), secret: None },
            events: HappeningKind::ALL.into_iter().collect(),
            sessions: true,
            jobs: true,
            title: Template::parse("{{headline}}: {{title}}").expect("valid"),
            body: None,
            min_duration: Duration::from_secs(30),
            include_text: false,
        }
    }

    pub fn settings() -> NotifySettings {
        NotifySettings {
            base_url: "http://localhost:8888".to_owned(),
            quiet_hours: None,
            targets: vec![target()],
            retries: Retries::default(),
        }
    }

    fn happening(kind: HappeningKind, seconds: Option<u64>) -> StoredHappening {
        let happening = Happening {
            key: "request-1".to_owned(),
            kind,
            reason: "permission".to_owned(),
            text: "rm -rf build".to_owned(),
            duration_ms: seconds.map(|seconds| seconds * 1_000),
        };
        let subject = HappeningSubject::Session(SessionId::from_number(1));
        StoredHappening { id: 1, subject, at: Timestamp::from_millis(0), happening }
    }

    pub fn delivery(kind: HappeningKind, id: u64) -> StoredDelivery {
        let StoredHappening { subject, at, happening, .. } = happening(kind, Some(62));
        let facts = Facts {
            title: "Fix the build".to_owned(),
            folder: "/home/me/project".to_owned(),
            is_of_job: false,
            is_watched: false,
        };
        let stored = StoredHappening { id, subject, at, happening: happening.clone() };
        let delivery = plan(&stored, &facts, &settings(), at).remove(0);
        StoredDelivery { id, subject, happened_at: at, happening, delivery }
    }

    fn planned(
        kind: HappeningKind,
        seconds: Option<u64>,
        change: impl Fn(&mut Facts, &mut Target),
    ) -> Vec<NewDelivery> {
        let mut facts = Facts { title: String::new(), folder: String::new(), is_of_job: false, is_watched: false };
        let mut settings = settings();
        change(&mut facts, &mut settings.targets[0]);
        plan(&happening(kind, seconds), &facts, &settings, Timestamp::from_millis(0))
    }

    #[test]
    fn a_target_gets_what_it_wants() {
        use HappeningKind::{Failed, Finished, NeedsYou};
        let count = |kind, seconds, change: &dyn Fn(&mut Facts, &mut Target)| planned(kind, seconds, change).len();
        let nothing = |_: &mut Facts, _: &mut Target| {};
        for kind in HappeningKind::ALL {
            assert_eq!(count(kind, Some(30), &nothing), 1, "{kind}");
        }
        assert_eq!(count(Finished, Some(29), &nothing), 0, "it was short");
        assert_eq!(count(Failed, None, &nothing), 1, "nobody knows how long it took");
        assert_eq!(count(NeedsYou, Some(0), &nothing), 1);
        assert_eq!(count(Finished, None, &|_, target| target.sessions = false), 0);
        assert_eq!(count(Finished, None, &|_, target| target.jobs = false), 1);
        assert_eq!(count(Finished, None, &|_, target| target.events.retain(|event| *event != Finished)), 0);
        assert_eq!(count(Finished, None, &|facts, _| facts.is_of_job = true), 0, "the job is reported");
        assert_eq!(count(NeedsYou, None, &|facts, _| facts.is_of_job = true), 1);
    }

    #[test]
    fn somebody_who_looks_is_told_only_what_stays_unanswered() {
        let watched = |facts: &mut Facts, _: &mut Target| facts.is_watched = true;
        let of = |kind| planned(kind, None, watched).remove(0).progress;
        assert_eq!(of(HappeningKind::Finished).state, DeliveryState::Seen);
        let request = of(HappeningKind::NeedsYou);
        assert_eq!((request.state, request.at.as_millis()), (DeliveryState::Pending, 60_000));
    }
}
