//! Follows a job until it is over: shows what it does, and asks at its gates.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::super::command_context::CommandContext;
use super::super::connection::server;
use super::super::signals::Signals;
use super::super::terminal::keyboard::{Keyboard, can_ask};
use super::super::terminal::screen::Screen;
use super::super::terminal::text::{one_line, shortened, span};
use super::connection::about_job;
use super::event_line::{LoggedEvent, WorkNames};
use super::gate::Gate;
use super::log_follower::{LogFollower, Update, log_page};
use super::pending::{Pending, watch_inbox};
use crate::jobs::Record;
use crate::model::{JobId, JobStatus, Seq, SessionId, TaskId, Timestamp};
use crate::session::now;

const REDRAW_EVERY: Duration = Duration::from_secs(1);
const LONGEST_DECISION: usize = 160;
const CHOICES: &str = "[a]pprove  [r]eject (with a note)  [d]etach: ";
const NOTE: &str = "Note for the tasks that follow (empty for none): ";

/// How following ended.
#[derive(Debug)]
pub(super) enum Followed {
    /// The job is over; the job as the API has it.
    Ended(JobStatus, Value),
    /// The job continues without this command.
    Detached,
}

/// Follows a job. What happened up to `after` is known and not shown.
pub(super) async fn follow(
    context: &CommandContext,
    job: JobId,
    after: Seq,
    signals: &mut Signals,
) -> anyhow::Result<Followed> {
    let (updates, mut received) = mpsc::channel(64);
    let log = LogFollower { context, job, after, updates: updates.clone() }.run();
    let inbox = watch_inbox(context, updates);
    tokio::pin!(log, inbox);
    let mut follow = Follow::new(context, job)?;
    follow.learn_before(after).await?;
    let mut ticks = tokio::time::interval(REDRAW_EVERY);
    let mut log_ended = false;
    loop {
        tokio::select! {
            biased;
            () = signals.next() => {
                follow.screen.withdraw();
                return Ok(follow.detached());
            }
            update = received.recv() => match update {
                Some(Update::Ended) | None => return follow.ended().await,
                Some(update) => follow.update(update),
            },
            outcome = &mut log, if !log_ended => {
                log_ended = true;
                outcome?;
            }
            () = &mut inbox => {}
            line = follow.keyboard.line(), if follow.asked.is_some() => {
                if !follow.typed(line).await? {
                    return Ok(follow.detached());
                }
            }
            _ = ticks.tick(), if follow.screen.is_terminal() => follow.draw(),
        }
    }
}

/// A work that runs.
struct RunningWork {
    since: Timestamp,
    decision: String,
}

/// What was asked last.
enum Asked {
    /// What to do with a gate.
    Choice(Gate),
    /// The note of a rejection.
    Note(Gate),
}

struct Follow<'a> {
    context: &'a CommandContext,
    job: JobId,
    url: String,
    screen: Screen,
    names: WorkNames,
    works: BTreeMap<TaskId, RunningWork>,
    pending: Pending,
    keyboard: Keyboard,
    can_ask: bool,
    asked: Option<Asked>,
    /// Gates that wait, oldest first; the first one is asked.
    gates: VecDeque<Gate>,
}

impl<'a> Follow<'a> {
    fn new(context: &'a CommandContext, job: JobId) -> anyhow::Result<Self> {
        Ok(Self {
            context,
            job,
            url: server(context)?.url().to_owned(),
            screen: Screen::new(),
            names: WorkNames::default(),
            works: BTreeMap::new(),
            pending: Pending::default(),
            keyboard: Keyboard::new(),
            can_ask: can_ask(),
            asked: None,
            gates: VecDeque::new(),
        })
    }

    /// Learns the names of what ran before.
    async fn learn_before(&mut self, after: Seq) -> anyhow::Result<()> {
        let (server, mut read) = (server(self.context)?, 0);
        while read < after {
            let (events, _) = log_page(&server, self.job, read).await.map_err(|error| about_job(error, self.job))?;
            let Some(last) = events.last() else { break };
            read = last.seq;
            for record in events.iter().filter(|event| event.seq <= after).filter_map(LoggedEvent::record) {
                self.names.learn(&record);
            }
        }
        Ok(())
    }

    fn update(&mut self, update: Update) {
        match update {
            Update::Events(events) => events.iter().for_each(|event| self.event(event)),
            Update::Pending(status) => self.pending.learn(&status),
            Update::Lost => self.screen.line(
                "Lost the connection to the server. The job continues when the server runs; trying to reconnect …",
            ),
            Update::Found(url) => {
                self.screen.line(&format!("Connected to {url} again."));
                self.url = url;
                self.pending.announce_again();
            }
            Update::Ended => {}
        }
        for news in self.pending.news(&self.url) {
            let news = self.screen.style.yellow(&news);
            self.screen.line(&news);
        }
        self.ask();
        self.draw();
    }

    fn event(&mut self, event: &LoggedEvent) {
        let record = event.record();
        if let Some(record) = &record {
            self.names.learn(record);
            self.apply(record, event.time);
        }
        let line = if self.screen.is_terminal() {
            record.as_ref().and_then(|record| self.lasting_line(record, event.time))
        } else {
            Some(self.names.line(event))
        };
        if let Some(line) = line {
            self.screen.line(&line);
        }
        if let Some(record) = &record {
            self.after(record);
        }
    }

    fn apply(&mut self, record: &Record, time: Timestamp) {
        match record {
            Record::WorkStarted { task_id, .. } => {
                self.works.insert(*task_id, RunningWork { since: time, decision: String::new() });
            }
            Record::TaskDecision { task_id, reason } => {
                if let Some(work) = self.works.get_mut(task_id) {
                    work.decision = shortened(&one_line(reason), LONGEST_DECISION);
                }
            }
            Record::TaskSessionStarted { task_id, session_id, .. } => self.add_session(*session_id, *task_id),
            _ => {}
        }
    }

    fn add_session(&mut self, session: SessionId, task: TaskId) {
        self.pending.add_session(session, self.names.of(task));
    }

    /// What a terminal keeps of an event; the rest is in the lines that are redrawn.
    fn lasting_line(&self, record: &Record, time: Timestamp) -> Option<String> {
        let style = self.screen.style;
        match record {
            Record::WorkStopped { work_id, succeeded } => {
                let (task, work) = self.running(*work_id)?;
                Some(format!(
                    "{} {}  {}  {}",
                    style.verdict(*succeeded),
                    self.names.of(task),
                    span(time.since(work.since)),
                    style.dim(&work.decision)
                ))
            }
            Record::WaitingAnswered { waiting_id, approved, note, by, .. } => {
                let verdict = if *approved { "approved" } else { "rejected" };
                let note = note.as_deref().map(|note| format!(": {}", one_line(note))).unwrap_or_default();
                let waiting_id = one_line(waiting_id);
                Some(format!("{} {waiting_id} {verdict} by {}{note}", style.verdict(*approved), by.as_str()))
            }
            Record::JobRetried {} => Some("The job continues after a retry.".to_owned()),
            Record::TaskError { task_id, message } => {
                Some(style.red(&format!("{}  error: {}", self.names.of(*task_id), one_line(message))))
            }
            _ => None,
        }
    }

    fn running(&self, work: u32) -> Option<(TaskId, &RunningWork)> {
        let mut works = self.works.iter().filter(|(task, _)| self.names.work(**task) == Some(work));
        works.next_back().map(|(task, work)| (*task, work))
    }

    /// What follows from an event after it was shown.
    fn after(&mut self, record: &Record) {
        match record {
            Record::WorkStopped { work_id, .. } => {
                if let Some((task, _)) = self.running(*work_id) {
                    self.works.remove(&task);
                }
            }
            Record::WaitingOpened { waiting_id, subject, view, digest } => {
                self.close_gate(waiting_id);
                let gate = Gate::opened(waiting_id, *subject, view, digest);
                self.screen.clear();
                let shown = gate.shown(self.screen.style);
                self.screen.line(&shown);
                if !self.can_ask {
                    let number = self.job.number();
                    self.screen.line(&format!(
                        "To answer: `flightdeck jobs approve {number}` or `flightdeck jobs reject {number} -m NOTE`"
                    ));
                }
                self.gates.push_back(gate);
            }
            Record::WaitingAnswered { waiting_id, .. } => self.close_gate(waiting_id),
            Record::JobSucceeded {} | Record::JobFailed {} | Record::JobCanceled {} => {
                self.gates.clear();
                self.asked = None;
                self.works.clear();
                self.screen.withdraw();
            }
            _ => {}
        }
    }

    /// A gate no longer waits, or shows something new.
    fn close_gate(&mut self, id: &str) {
        self.gates.retain(|gate| gate.id != id);
        let is_asked = matches!(&self.asked, Some(Asked::Choice(gate) | Asked::Note(gate)) if gate.id == id);
        if is_asked {
            self.asked = None;
            self.screen.withdraw();
        }
    }

    /// Asks about the first gate that waits, unless something is asked already.
    fn ask(&mut self) {
        if let (true, None, Some(gate)) = (self.can_ask, &self.asked, self.gates.front()) {
            self.keyboard.before_question();
            self.screen.ask(&format!("{}? {CHOICES}", super::super::terminal::text::clean(&gate.id)));
            self.asked = Some(Asked::Choice(gate.clone()));
        }
    }

    /// A line was typed. False to detach.
    async fn typed(&mut self, line: Option<String>) -> anyhow::Result<bool> {
        let Some(line) = line else { return Ok(false) };
        self.screen.answered();
        match self.asked.take() {
            Some(Asked::Choice(gate)) => match line.trim().to_lowercase().as_str() {
                "a" | "approve" => self.answer(&gate, true, None).await?,
                "r" | "reject" => {
                    self.keyboard.before_question();
                    self.screen.ask(NOTE);
                    self.asked = Some(Asked::Note(gate));
                }
                "d" | "detach" => return Ok(false),
                _ => self.ask(),
            },
            Some(Asked::Note(gate)) => self.answer(&gate, false, Some(line)).await?,
            None => {}
        }
        Ok(true)
    }

    async fn answer(&mut self, gate: &Gate, approved: bool, note: Option<String>) -> anyhow::Result<()> {
        let path = format!("/api/jobs/{}/{}", self.job, if approved { "approve" } else { "reject" });
        let body = json!({ "waitingId": gate.id, "digest": gate.digest, "note": note });
        let Some(server) = self.context.server() else {
            self.screen.line("The server is not running; answer again when it is.");
            self.ask();
            return Ok(());
        };
        match server.post_json(&path, &body).await {
            // The record of the answer, or the gate with what it shows now, is on its way.
            Ok(_) => self.gates.retain(|waiting| waiting.id != gate.id),
            Err(error) if error.is_final() => {
                self.gates.retain(|waiting| waiting.id != gate.id || waiting.digest != gate.digest);
                let message = about_job(error, self.job).to_string();
                self.screen.line(&message);
            }
            Err(error) => {
                self.screen.line(&format!("{:#}", anyhow::Error::from(error)));
                self.ask();
            }
        }
        Ok(())
    }

    fn draw(&mut self) {
        let (style, now) = (self.screen.style, now());
        let line = |(task, work): (&TaskId, &RunningWork)| {
            let line = format!("{}  {}  {}", self.names.of(*task), span(now.since(work.since)), work.decision);
            (style.mark("Running"), line)
        };
        let lines: Vec<(String, String)> = self.works.iter().map(line).collect();
        self.screen.draw(&lines);
    }

    fn detached(&mut self) -> Followed {
        let (job, number) = (self.job, self.job.number());
        self.screen.withdraw();
        self.screen.clear();
        self.screen.line(&format!(
            "Detached; {job} continues. To follow it, run `flightdeck jobs logs -f {number}`; to stop it, `flightdeck jobs stop {number}`."
        ));
        Followed::Detached
    }

    async fn ended(mut self) -> anyhow::Result<Followed> {
        self.screen.clear();
        let path = format!("/api/jobs/{}", self.job);
        let details = server(self.context)?.get(&path).await.map_err(|error| about_job(error, self.job))?;
        let status = details["status"].as_str().and_then(|status| status.parse().ok()).unwrap_or(JobStatus::Running);
        Ok(Followed::Ended(status, details))
    }
}
