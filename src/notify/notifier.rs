//! Plans deliveries and sends them: one task that plans, and one for each target. Targets may come, go and change while
//! they run; one request at a time to each name stays the rule.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Mutex, RwLock};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::backoff;
use super::browsers::{browser_number, browsers_in, with_browsers};
use super::message::Message;
use super::plan::{Facts, later, plan};
use super::sender::{Answer, send};
use super::wire::Post;
use super::{NotifySettings, NotifyStatistics, PushKey, Target};
use crate::model::{HappeningKind, HappeningSubject, SessionState, StreamId, Timestamp};
use crate::store::{DeliveryId, DeliveryProgress, DeliveryState, Store, StoreError, StoredDelivery, StoredHappening};

/// Happenings that are planned at once, and deliveries that a target looks at.
const BATCH: usize = 256;
/// How long ended deliveries can be seen, and how often old ones are deleted.
const KEPT: Duration = Duration::from_hours(24 * 30);
const EXPIRY: Duration = Duration::from_hours(1);
/// After an error of the store.
const STORE_RETRY: Duration = Duration::from_secs(2);
/// A target that sleeps looks at the clock again after this time: the machine may have been suspended.
const LONGEST_SLEEP: Duration = Duration::from_mins(1);
/// How long a request that is under way may take when the server stops.
const LAST_REQUEST: Duration = Duration::from_secs(2);

/// What a notifier works with.
pub struct NotifierParts {
    /// The store.
    pub store: Store,
    /// The settings at first.
    pub settings: NotifySettings,
    /// The key by which push services recognise this server.
    pub push_key: Arc<PushKey>,
    /// The time of day.
    pub clock: Arc<dyn Fn() -> Timestamp + Send + Sync>,
    /// Whether somebody is looking at a session or job.
    pub is_watched: Arc<dyn Fn(StreamId) -> bool + Send + Sync>,
    /// Cancelled when the server begins to shut down.
    pub stopping: CancellationToken,
}

/// Sends notifications; clones share it.
#[derive(Clone)]
pub struct Notifier {
    pub(super) shared: Arc<Shared>,
}

pub(super) struct Shared {
    pub(super) parts: NotifierParts,
    /// Browsers are among the targets.
    pub(super) settings: RwLock<Arc<NotifySettings>>,
    statistics: NotifyStatistics,
    /// Wakes the task of each target, by its name. A target that is gone keeps its task until that has noticed.
    wakers: Mutex<BTreeMap<String, Arc<Notify>>>,
    /// Wakes the planner, which the store wakes too.
    pub(super) targets_changed: Notify,
    tasks: TaskTracker,
}

/// What became of a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TestOutcome {
    /// The target accepted it.
    Delivered,
    /// It did not; why.
    Failed(String),
    /// There is no such target.
    UnknownTarget,
}

/// What a target does next.
enum Next {
    /// These are sent together.
    Send(Vec<StoredDelivery>),
    /// Something was recorded, so look again.
    LookAgain,
    /// Nothing is due for so long.
    Sleep(Duration),
}

impl Notifier {
    /// A notifier that does nothing yet.
    pub fn new(parts: NotifierParts) -> Self {
        let settings = RwLock::new(Arc::new(parts.settings.clone()));
        Self {
            shared: Arc::new(Shared {
                parts,
                settings,
                statistics: NotifyStatistics::default(),
                wakers: Mutex::default(),
                targets_changed: Notify::new(),
                tasks: TaskTracker::new(),
            }),
        }
    }

    /// Starts the tasks. What an earlier run left is continued.
    pub fn start(&self) {
        let shared = Arc::clone(&self.shared);
        self.shared.tasks.spawn(async move { shared.plan_all().await });
        self.shared.serve_targets();
    }

    /// Uses other settings from now on. What is meant for a target that is gone is given up.
    pub fn replace_settings(&self, settings: &NotifySettings) {
        {
            let mut current = self.shared.settings.write();
            *current = Arc::new(with_browsers(settings, browsers_in(&current)));
        }
        self.shared.serve_targets();
        self.shared.targets_changed.notify_one();
        self.wake();
    }

    /// Waits for the tasks, which end because the server stops.
    pub async fn shut_down(&self) {
        self.shared.tasks.close();
        self.shared.tasks.wait().await;
    }

    /// The settings in force.
    pub fn settings(&self) -> Arc<NotifySettings> {
        self.shared.settings()
    }

    /// The counters.
    pub fn statistics(&self) -> &NotifyStatistics {
        &self.shared.statistics
    }

    /// Makes every target look at the clock again.
    pub fn wake(&self) {
        self.shared.wakers.lock().values().for_each(|waker| waker.notify_one());
    }

    /// Sends a test to a target, now.
    pub async fn test(&self, name: &str) -> TestOutcome {
        let settings = self.settings();
        let Some(target) = settings.target(name) else { return TestOutcome::UnknownTarget };
        let now = self.shared.now();
        let message = Message::test(target, &settings, now);
        let post = Post::new(&target.protocol, &message, now.as_millis() / 1_000);
        match send(post, settings.retries.timeout).await {
            Answer::Accepted => TestOutcome::Delivered,
            Answer::Failed { error, .. } | Answer::Refused { error } => TestOutcome::Failed(error),
            Answer::Gone { error } => {
                if let Some(browser) = browser_number(name) {
                    self.shared.forget_browser(browser).await;
                }
                TestOutcome::Failed(error)
            }
        }
    }
}

impl Shared {
    pub(super) fn now(&self) -> Timestamp {
        (self.parts.clock)()
    }

    pub(super) fn settings(&self) -> Arc<NotifySettings> {
        Arc::clone(&self.settings.read())
    }

    /// Starts a task for each target that has none.
    pub(super) fn serve_targets(self: &Arc<Self>) {
        let mut wakers = self.wakers.lock();
        for target in &self.settings().targets {
            if wakers.contains_key(&target.name) {
                continue;
            }
            let (name, waker) = (target.name.clone(), Arc::new(Notify::new()));
            wakers.insert(name.clone(), Arc::clone(&waker));
            let shared = Arc::clone(self);
            self.tasks.spawn(async move { shared.serve(&name, &waker).await });
        }
    }

    /// Returns whether the server goes on.
    async fn pause(&self, delay: Duration) -> bool {
        tokio::select! {
            () = tokio::time::sleep(delay) => true,
            () = self.parts.stopping.cancelled() => false,
        }
    }

    /// Plans the deliveries of everything that happens.
    async fn plan_all(self: &Arc<Self>) {
        let mut count = self.parts.store.happening_count();
        let mut expired_at: Option<tokio::time::Instant> = None;
        loop {
            count.borrow_and_update();
            let planned = async {
                // Before the clean-up, which gives up what is meant for targets that are not there.
                self.refresh_browsers().await?;
                if expired_at.is_none_or(|at| at.elapsed() >= EXPIRY) {
                    self.clean_up().await?;
                    expired_at = Some(tokio::time::Instant::now());
                }
                self.plan_batch().await
            };
            match planned.await {
                Ok(0) => {}
                Ok(_) => continue,
                Err(error) => {
                    tracing::warn!(%error, "cannot plan notifications; retrying");
                    if !self.pause(STORE_RETRY).await {
                        return;
                    }
                    continue;
                }
            }
            tokio::select! {
                changed = count.changed() => if changed.is_err() { return },
                () = tokio::time::sleep(EXPIRY) => {}
                () = self.targets_changed.notified() => expired_at = None,
                () = self.parts.stopping.cancelled() => return,
            }
        }
    }

    /// Returns how many happenings were planned.
    async fn plan_batch(&self) -> Result<usize, StoreError> {
        let batch = self.parts.store.happenings(BATCH).await?;
        for stored in &batch {
            let deliveries = match self.facts(stored).await? {
                Some(facts) => plan(stored, &facts, &self.settings(), self.now()),
                // Deleted meanwhile.
                None => Vec::new(),
            };
            let targets: Vec<String> = deliveries.iter().map(|delivery| delivery.target.clone()).collect();
            self.parts.store.plan_deliveries(stored.id, deliveries).await?;
            let wakers = self.wakers.lock();
            for waker in targets.iter().filter_map(|target| wakers.get(target)) {
                waker.notify_one();
            }
        }
        Ok(batch.len())
    }

    /// `None` if there is no such session or job any more.
    async fn facts(&self, stored: &StoredHappening) -> Result<Option<Facts>, StoreError> {
        let store = &self.parts.store;
        let is_watched = (self.parts.is_watched)(stored.subject.stream());
        Ok(match stored.subject {
            HappeningSubject::Session(id) => store.session(id).await?.map(|session| Facts {
                title: session.profile.title.unwrap_or_else(|| id.to_string()),
                folder: session
                    .profile
                    .working_directory
                    .map(|folder| folder.display().to_string())
                    .unwrap_or_default(),
                is_of_job: session.job.is_some(),
                is_watched,
            }),
            HappeningSubject::Job(id) => store.job(id).await?.map(|job| Facts {
                title: job.summary.name,
                folder: job.summary.working_directory.display().to_string(),
                is_of_job: false,
                is_watched,
            }),
        })
    }

    /// Gives up what is meant for targets that are not configured any more, and deletes what is old.
    async fn clean_up(&self) -> Result<(), StoreError> {
        let (store, now) = (&self.parts.store, self.now());
        for target in store.targets_with_open_deliveries().await? {
            if self.settings().target(&target).is_some() {
                continue;
            }
            loop {
                let left = store.open_deliveries(&target, BATCH).await?;
                if left.is_empty() {
                    break;
                }
                tracing::warn!(
                    target,
                    count = left.len(),
                    "giving up notifications: the target is no longer configured"
                );
                let ids = left.iter().map(|delivery| delivery.id).collect();
                let error = Some("the target is no longer configured".to_owned());
                let progress = DeliveryProgress { state: DeliveryState::GivenUp, attempts: 0, at: now, error };
                store.record_deliveries(ids, progress).await?;
            }
        }
        store.remove_logged_out_browsers(now).await?;
        let before = now.as_millis().saturating_sub(i64::try_from(KEPT.as_millis()).unwrap_or(i64::MAX));
        store.expire_deliveries(Timestamp::from_millis(before)).await
    }

    /// Sends what is due to one target, one request at a time.
    async fn serve(self: &Arc<Self>, name: &str, waker: &Notify) {
        while !self.parts.stopping.is_cancelled() {
            let Some(settings) = self.settings_for(name) else { return };
            let Some(target) = settings.target(name) else { return };
            let next = match self.next(target, &settings).await {
                Ok(next) => next,
                Err(error) => {
                    tracing::warn!(target = target.name, %error, "cannot read notifications; retrying");
                    Next::Sleep(STORE_RETRY)
                }
            };
            match next {
                Next::LookAgain => {}
                Next::Send(deliveries) => {
                    if !self.deliver(target, &deliveries, &settings).await {
                        return;
                    }
                }
                Next::Sleep(delay) => tokio::select! {
                    () = waker.notified() => {}
                    () = tokio::time::sleep(delay) => {}
                    () = self.parts.stopping.cancelled() => return,
                },
            }
        }
    }

    /// The settings, as long as they have a target of this name. If not, its task ends; it is taken off the list here, so
    /// that a target that comes back gets a new one.
    fn settings_for(&self, name: &str) -> Option<Arc<NotifySettings>> {
        let mut wakers = self.wakers.lock();
        let settings = self.settings();
        if settings.target(name).is_none() {
            wakers.remove(name);
            return None;
        }
        Some(settings)
    }

    /// What to do for a target next.
    async fn next(&self, target: &Target, settings: &NotifySettings) -> Result<Next, StoreError> {
        // Before the list is read: what is due by then and superseded meanwhile is not in it.
        let now = self.now();
        let open = self.parts.store.open_deliveries(&target.name, BATCH).await?;
        let is_due =
            |stored: &&StoredDelivery| stored.delivery.progress.at <= now || is_released(stored, settings, now);
        let Some(first) = open.iter().find(is_due) else {
            let earliest = open.iter().map(|stored| stored.delivery.progress.at).min();
            let until =
                earliest.map_or(LONGEST_SLEEP, |at| Duration::from_millis(at.as_millis().abs_diff(now.as_millis())));
            return Ok(Next::Sleep(until.min(LONGEST_SLEEP)));
        };
        if let Some(progress) = self.instead_of_sending(first, settings, now).await? {
            self.parts.store.record_deliveries(vec![first.id], progress).await?;
            return Ok(Next::LookAgain);
        }
        if first.delivery.progress.state != DeliveryState::Held {
            return Ok(Next::Send(vec![first.clone()]));
        }
        let mut together = Vec::new();
        for stored in open.iter().filter(is_due).filter(|stored| stored.delivery.progress.state == DeliveryState::Held)
        {
            if let Some(progress) = self.instead_of_sending(stored, settings, now).await? {
                self.parts.store.record_deliveries(vec![stored.id], progress).await?;
            } else {
                together.push(stored.clone());
            }
        }
        Ok(Next::Send(together))
    }

    /// What becomes of a delivery that is due and must not be sent now.
    async fn instead_of_sending(
        &self,
        stored: &StoredDelivery,
        settings: &NotifySettings,
        now: Timestamp,
    ) -> Result<Option<DeliveryProgress>, StoreError> {
        let progress = &stored.delivery.progress;
        let kind = stored.happening.kind;
        let with = |state, at| Some(DeliveryProgress { state, at, ..progress.clone() });
        if kind == HappeningKind::NeedsYou {
            if stored.happening.reason == "login" && !self.needs_login(stored.subject).await? {
                return Ok(with(DeliveryState::Superseded, now));
            }
            if (self.parts.is_watched)(stored.subject.stream()) {
                return Ok(with(progress.state, later(now, settings.retries.look_again)));
            }
        }
        let quiet = settings.quiet_hours.as_ref();
        Ok(quiet.and_then(|quiet| Some((quiet.hold, quiet.end(kind, now)?))).and_then(|(hold, end)| {
            if hold { with(DeliveryState::Held, end) } else { with(DeliveryState::Dropped, now) }
        }))
    }

    async fn needs_login(&self, subject: HappeningSubject) -> Result<bool, StoreError> {
        let HappeningSubject::Session(id) = subject else { return Ok(false) };
        let session = self.parts.store.session(id).await?;
        Ok(session.is_some_and(|session| session.state == SessionState::NeedsLogin))
    }

    /// Sends deliveries together and records what became of them. Returns whether the server goes on.
    async fn deliver(
        self: &Arc<Self>,
        target: &Target,
        deliveries: &[StoredDelivery],
        settings: &NotifySettings,
    ) -> bool {
        let Some(message) = Message::of(deliveries, target, settings) else { return true };
        let post = Post::new(&target.protocol, &message, self.now().as_millis() / 1_000);
        let sending = send(post, settings.retries.timeout);
        tokio::pin!(sending);
        let answer = tokio::select! {
            answer = &mut sending => answer,
            // What is not recorded is sent again after the restart, so a little patience avoids a repetition.
            () = self.parts.stopping.cancelled() => match tokio::time::timeout(LAST_REQUEST, sending).await {
                Ok(answer) => answer,
                Err(_) => return false,
            },
        };
        let ids: Vec<DeliveryId> = deliveries.iter().map(|delivery| delivery.id).collect();
        let is_gone = matches!(answer, Answer::Gone { .. });
        let progress = self.progress_after(target, deliveries, settings, &message.id, answer);
        while let Err(error) = self.parts.store.record_deliveries(ids.clone(), progress.clone()).await {
            // Sending it again would be a repetition, so nothing else happens before it is recorded.
            tracing::warn!(target = target.name, %error, "cannot record a notification; retrying");
            if !self.pause(STORE_RETRY).await {
                return false;
            }
        }
        if let Some(browser) = browser_number(&target.name).filter(|_| is_gone) {
            self.forget_browser(browser).await;
        }
        true
    }

    fn progress_after(
        &self,
        target: &Target,
        deliveries: &[StoredDelivery],
        settings: &NotifySettings,
        id: &str,
        answer: Answer,
    ) -> DeliveryProgress {
        let (now, name) = (self.now(), target.name.as_str());
        let before = deliveries.iter().map(|stored| &stored.delivery.progress);
        let attempts = before.clone().map(|progress| progress.attempts).max().unwrap_or(0) + 1;
        let (error, delay) = match answer {
            Answer::Accepted => {
                self.statistics.count(name, "delivered");
                tracing::debug!(target = name, id, attempts, "notification delivered");
                return DeliveryProgress { state: DeliveryState::Delivered, attempts, at: now, error: None };
            }
            Answer::Failed { error, retry_after } => {
                // Without randomness all servers retry at the same moment; that is no reason to fail.
                let spread = getrandom::u32().map_or(0.5, |random| f64::from(random) / f64::from(u32::MAX));
                (error, backoff::delay(&settings.retries, attempts, spread, retry_after))
            }
            Answer::Refused { error } | Answer::Gone { error } => (error, None),
        };
        if let Some(delay) = delay {
            self.statistics.count(name, "retried");
            tracing::info!(target = name, id, attempts, error, "a notification was not delivered; retrying");
            let state = before.map(|progress| progress.state).next().unwrap_or(DeliveryState::Pending);
            return DeliveryProgress { state, attempts, at: later(now, delay), error: Some(error) };
        }
        self.statistics.count(name, "given-up");
        tracing::warn!(target = name, id, attempts, error, "a notification was given up");
        DeliveryProgress { state: DeliveryState::GivenUp, attempts, at: now, error: Some(error) }
    }
}

/// Whether a delivery was held for quiet hours that are over sooner than they were, because the settings have changed. One
/// that failed after them waits for its next attempt.
fn is_released(stored: &StoredDelivery, settings: &NotifySettings, now: Timestamp) -> bool {
    let progress = &stored.delivery.progress;
    let is_quiet =
        || settings.quiet_hours.as_ref().is_some_and(|quiet| quiet.end(stored.happening.kind, now).is_some());
    progress.state == DeliveryState::Held && progress.attempts == 0 && !is_quiet()
}
