//! Quiet hours, with a clock of the test's own and a real target and store.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use flightdeck::model::{
    Happening, HappeningKind, PermissionPolicy, SessionBudget, SessionId, SessionOrigin, SessionProfile, SessionState,
    Template, Timestamp,
};
use flightdeck::notify::{
    Notifier, NotifierParts, NotifySettings, Protocol, PushKey, QuietHours, Retries, Secret, Target,
};
use flightdeck::store::{
    Append, Change, Creation, DataFolder, DeliveryState, NewSessionRecord, Store, StoreSettings, StoredDelivery,
};
use jiff::tz::TimeZone;
use tokio_util::sync::CancellationToken;

use crate::support::{Reaction, Receiver, eventually};

const HOUR: i64 = 3_600_000;

struct Evening {
    store: Store,
    notifier: Notifier,
    clock: Arc<AtomicI64>,
    session: SessionId,
    stopping: CancellationToken,
    _folder: tempfile::TempDir,
}

impl Evening {
    /// It is 23:00 UTC, and quiet from 22:00 to 07:00.
    async fn begin(receiver: &Receiver, change: impl FnOnce(&mut QuietHours)) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let data = DataFolder::lock(folder.path()).expect("locked");
        let store = Store::open(&data, StoreSettings::default()).expect("opened");
        let session = new_session(&store).await;
        let mut quiet =
            QuietHours { from: 22 * 60, to: 7 * 60, zone: TimeZone::UTC, hold: true, needs_you_breaks_through: false };
        change(&mut quiet);
        let clock = Arc::new(AtomicI64::new(23 * HOUR));
        let (time, stopping) = (Arc::clone(&clock), CancellationToken::new());
        let notifier = Notifier::new(NotifierParts {
            store: store.clone(),
            settings: NotifySettings {
                base_url: "http://localhost:8888".to_owned(),
                quiet_hours: Some(quiet),
                targets: vec![target(&receiver.url)],
                retries: Retries::default(),
            },
            push_key: Arc::new(PushKey::of(&data).expect("a key")),
            clock: Arc::new(move || Timestamp::from_millis(time.load(Ordering::SeqCst))),
            is_watched: Arc::new(|_| false),
            stopping: stopping.clone(),
        });
        notifier.start();
        Self { store, notifier, clock, session, stopping, _folder: folder }
    }

    async fn happens(&self, key: &str, kind: HappeningKind) {
        let happening =
            Happening { key: key.to_owned(), kind, reason: String::new(), text: String::new(), duration_ms: None };
        self.append(Change::Happened(happening)).await;
    }

    async fn append(&self, change: Change) {
        let (stream, time) = (self.session.into(), Timestamp::from_millis(0));
        let append = Append { stream, time, events: Vec::new(), ended_blocks: Vec::new(), changes: vec![change] };
        self.store.append_checked(append).await.expect("appended");
    }

    /// Waits until the deliveries are in these states, oldest first.
    async fn until(&self, expected: &[DeliveryState]) -> Vec<StoredDelivery> {
        eventually("these states", async || {
            let mut all = self.store.deliveries(None, 99).await.expect("read");
            all.reverse();
            let is_so = all.iter().map(|stored| stored.delivery.progress.state).eq(expected.iter().copied());
            is_so.then_some(all)
        })
        .await
    }

    fn at(&self, hour: i64) {
        self.clock.store(hour * HOUR, Ordering::SeqCst);
        self.notifier.wake();
    }

    async fn end(self) {
        self.stopping.cancel();
        self.notifier.shut_down().await;
        self.store.close().await;
    }
}

fn target(url: &str) -> Target {
    Target {
        name: "hook".to_owned(),
        protocol: Protocol::Webhook { url: Secret(url.to_owned()), secret: None },
        events: HappeningKind::ALL.into_iter().collect(),
        sessions: true,
        jobs: true,
        title: Template::parse("{{headline}}: {{title}}").expect("valid"),
        body: None,
        min_duration: Duration::ZERO,
        include_text: false,
    }
}

async fn new_session(store: &Store) -> SessionId {
    let profile = SessionProfile {
        title: Some("Night work".to_owned()),
        title_is_given: false,
        runtime: "demo".to_owned(),
        model: "demo".to_owned(),
        effort: None,
        working_directory: None,
        permissions: PermissionPolicy::default(),
        system_prompt: None,
        options: serde_json::Map::new(),
        budget: SessionBudget::default(),
    };
    let record = NewSessionRecord {
        profile,
        state: SessionState::Ready,
        origin: SessionOrigin::User,
        job: None,
        key: None,
        now: Timestamp::from_millis(0),
        most_open: 9,
    };
    match store.create_session(record).await.expect("created") {
        Creation::New(id) => id,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn what_is_held_is_one_summary_in_the_morning() {
    use DeliveryState::{Delivered, Held, Superseded};
    let mut receiver = Receiver::start().await;
    let evening = Evening::begin(&receiver, |_| {}).await;
    evening.happens("prompt-1", HappeningKind::Finished).await;
    evening.happens("gate-1", HappeningKind::NeedsYou).await;
    evening.happens("prompt-2", HappeningKind::Failed).await;
    let held = evening.until(&[Held, Held, Held]).await;
    assert_eq!(held[0].delivery.progress.at.as_millis(), 31 * HOUR, "until 07:00");
    evening.append(Change::HappeningOver("gate-1".to_owned())).await;
    evening.at(30);
    evening.at(31);
    let summary = receiver.request().await;
    assert_eq!(summary.body["event"], "summary");
    assert_eq!(summary.body["title"], "During quiet hours: 1 finished, 1 failed");
    evening.until(&[Delivered, Superseded, Delivered]).await;
    evening.happens("prompt-3", HappeningKind::Finished).await;
    assert_eq!(receiver.request().await.body["title"], "Finished: Night work");
    evening.end().await;
}

#[tokio::test]
async fn one_alone_is_sent_as_it_is() {
    let mut receiver = Receiver::start().await;
    let evening = Evening::begin(&receiver, |_| {}).await;
    evening.happens("prompt-1", HappeningKind::Finished).await;
    evening.until(&[DeliveryState::Held]).await;
    evening.at(31);
    assert_eq!(receiver.request().await.body["title"], "Finished: Night work");
    evening.end().await;
}

#[tokio::test]
async fn quiet_hours_may_drop_and_what_needs_a_person_may_break_through() {
    let mut receiver = Receiver::start().await;
    let change = |quiet: &mut QuietHours| (quiet.hold, quiet.needs_you_breaks_through) = (false, true);
    let evening = Evening::begin(&receiver, change).await;
    evening.happens("prompt-1", HappeningKind::Finished).await;
    evening.happens("request-1", HappeningKind::NeedsYou).await;
    assert_eq!(receiver.request().await.body["event"], "needs-you");
    evening.until(&[DeliveryState::Dropped, DeliveryState::Delivered]).await;
    evening.at(31);
    evening.happens("prompt-2", HappeningKind::Finished).await;
    receiver.request().await;
    assert_eq!(receiver.left().len(), 0, "what was dropped is not sent later");
    evening.end().await;
}

#[tokio::test]
async fn other_settings_count_at_once_for_what_is_held_and_for_what_waits() {
    use DeliveryState::{Delivered, GivenUp, Held, Pending};
    let mut receiver = Receiver::start().await;
    let evening = Evening::begin(&receiver, |_| {}).await;
    let settings = |targets| NotifySettings {
        base_url: "http://localhost:8888".to_owned(),
        quiet_hours: None,
        targets,
        retries: Retries::default(),
    };
    evening.happens("a", HappeningKind::Finished).await;
    evening.until(&[Held]).await;
    evening.notifier.replace_settings(&settings(vec![target(&receiver.url)]));
    evening.until(&[Delivered]).await;
    receiver.request().await;
    receiver.usually(Reaction::Answers(503));
    evening.happens("b", HappeningKind::Finished).await;
    receiver.request().await;
    evening.until(&[Delivered, Pending]).await;
    evening.notifier.replace_settings(&settings(Vec::new()));
    evening.until(&[Delivered, GivenUp]).await;
    // A target that comes back under the same name has a task again.
    receiver.usually(Reaction::Answers(200));
    evening.notifier.replace_settings(&settings(vec![target(&receiver.url)]));
    evening.happens("c", HappeningKind::Finished).await;
    evening.until(&[Delivered, GivenUp, Delivered]).await;
    evening.end().await;
}
