//! The run of one task: prompts, checks, retries and crashes.
//!
//! Its state changes only by records. Applying one returns the records that follow from it at once; a restart applies the
//! whole log and ignores them, because they are in the log too.

use std::sync::Arc;

use super::rules::{CriteriaRules, Mode, TaskRules};
use super::wording;
use crate::jobs::entry::{OnInterrupted, RuntimeVariables, expand_dynamic};
use crate::jobs::record::{CommandEnd, Purpose, Record, TurnEnd, TurnVerdict};
use crate::model::{SessionId, TaskId, ToolReport};

/// The run of a task.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskRun {
    /// Its id.
    pub id: TaskId,
    /// Its number in the job; `None` outside a job.
    pub work_id: Option<u32>,
    rules: Arc<TaskRules>,
    variables: RuntimeVariables,
    stage: Stage,
    step: Step,
    /// How often the work was asked for again because a check failed.
    iteration: u32,
    /// What is asked for now, without what is said after a crash.
    request: String,
    /// The prompt as it was last sent.
    sent: String,
    /// Crashes while this was asked for.
    crashes: usize,
    session: Option<OpenSession>,
    sessions_opened: u32,
    prompts_sent: u32,
    commands_run: u32,
    /// Tools that the last round of work called.
    tools: Vec<String>,
    /// What the last round reported.
    reported: Option<bool>,
    /// Why the command of the last check failed.
    command_failure: Option<String>,
    /// Why the task could not be done.
    error: Option<String>,
    last_decision: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct OpenSession {
    id: SessionId,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Availability,
    Work,
    Check,
}

/// What the task waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    /// A session.
    Open,
    /// The end of a turn.
    Turn,
    /// The end of a command.
    Command,
    /// The end of its session.
    Close(Then),
    /// Something to show to a person, who decides whether an interrupted turn continues.
    Ask,
    /// The person's decision.
    Asked,
    /// Nothing: it is over.
    Over,
}

/// What follows once a session is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Then {
    /// The same is asked again in a new session.
    Resend,
    Work,
    Check,
    Conclude,
    /// The next try of the work, or the end of the tries.
    NextIteration,
    End {
        succeeded: bool,
    },
}

/// What a task needs from outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Need {
    /// A session with this model.
    Session {
        /// The number of the session within the task.
        number: u32,
        /// The model.
        model: String,
        /// It checks.
        is_driving: bool,
    },
    /// The end of a turn.
    Turn {
        /// The session.
        session: SessionId,
        /// The number of the prompt within the task.
        number: u32,
        /// The prompt.
        text: String,
    },
    /// The end of the command that checks the work.
    Command {
        /// The number of the run within the task.
        number: u32,
    },
    /// The end of a session.
    Close {
        /// Which.
        session: SessionId,
    },
    /// A question to a person: continue after an interruption, or fail?
    Question,
}

type Follow<'a> = &'a mut Vec<Record>;

impl TaskRun {
    /// A task that is about to begin.
    pub fn new(id: TaskId, work_id: Option<u32>, rules: Arc<TaskRules>, variables: RuntimeVariables) -> Self {
        Self {
            id,
            work_id,
            rules,
            variables,
            stage: Stage::Work,
            step: Step::Open,
            iteration: 0,
            request: String::new(),
            sent: String::new(),
            crashes: 0,
            session: None,
            sessions_opened: 0,
            prompts_sent: 0,
            commands_run: 0,
            tools: Vec::new(),
            reported: None,
            command_failure: None,
            error: None,
            last_decision: None,
        }
    }

    /// Begins, in this session if it is somebody's.
    pub fn begin(&mut self, borrowed: Option<SessionId>, follow: Follow<'_>) {
        self.session = borrowed.map(|id| OpenSession { id });
        match self.rules.availability.clone() {
            Some(condition) if self.rules.mode != Mode::Borrowed => {
                self.stage = Stage::Availability;
                self.ask(expand_dynamic(&condition, &self.variables), follow);
            }
            _ => self.begin_work(follow),
        }
    }

    /// The session that is open for it now.
    pub fn open_session(&self) -> Option<SessionId> {
        self.session.map(|session| session.id)
    }

    /// Why it could not be done.
    pub fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }

    /// The last decision about it.
    pub fn last_decision(&self) -> Option<&str> {
        self.last_decision.as_deref()
    }

    /// Whether it uses a session of somebody else.
    pub fn is_borrowed(&self) -> bool {
        self.rules.mode == Mode::Borrowed
    }

    /// Whether nothing more happens.
    pub fn is_over(&self) -> bool {
        self.step == Step::Over
    }

    /// Whether it waits for a session, which may exist before the log says so.
    pub fn is_opening(&self) -> bool {
        self.step == Step::Open
    }

    /// The number of the session that it waits for or last opened.
    pub fn next_session(&self) -> u32 {
        self.sessions_opened + 1
    }

    /// What it needs from outside now.
    pub fn need(&self) -> Option<Need> {
        match (&self.step, self.session) {
            (Step::Open, _) => Some(Need::Session {
                number: self.next_session(),
                model: self.rules.model_after(self.crashes, self.is_driving()).to_owned(),
                is_driving: self.is_driving(),
            }),
            (Step::Turn, Some(session)) => {
                Some(Need::Turn { session: session.id, number: self.prompts_sent, text: self.sent.clone() })
            }
            (Step::Command, _) => Some(Need::Command { number: self.commands_run + 1 }),
            (Step::Close(_), Some(session)) => Some(Need::Close { session: session.id }),
            (Step::Ask, _) => Some(Need::Question),
            (Step::Turn | Step::Close(_), None) | (Step::Asked | Step::Over, _) => None,
        }
    }

    /// The command that checks the work.
    pub fn command(&self) -> Option<&crate::jobs::entry::Command> {
        self.criteria()?.command.as_ref()
    }

    /// Whether sessions of the current stage drive the task.
    fn is_driving(&self) -> bool {
        self.rules.mode != Mode::Separate || self.stage != Stage::Work
    }

    fn criteria(&self) -> Option<&CriteriaRules> {
        self.rules.criteria.as_ref()
    }

    fn decide(&self, reason: String, follow: Follow<'_>) {
        follow.push(Record::TaskDecision { task_id: self.id, reason });
    }

    /// The record for the end of the session that is open, once it is closed.
    pub fn session_stopped(&self, session: SessionId) -> Option<Record> {
        let Step::Close(then) = self.step else { return None };
        let succeeded = match then {
            Then::Resend | Then::NextIteration => false,
            Then::Work | Then::Check | Then::Conclude => true,
            Then::End { succeeded } => succeeded,
        };
        (self.open_session() == Some(session)).then_some(Record::TaskSessionStopped {
            task_id: self.id,
            session_id: session,
            succeeded,
        })
    }

    /// Whether it waits for the end of the turn of this prompt. (A session that could not be opened counts as one.)
    pub fn awaits_turn(&self, number: u32) -> bool {
        self.step == Step::Turn && self.prompts_sent == number
    }

    /// Whether it waits for the end of the command.
    pub fn awaits_command(&self) -> bool {
        self.step == Step::Command
    }

    /// Whether it waits for something to show to a person.
    pub fn awaits_question(&self) -> bool {
        self.step == Step::Ask
    }

    /// Applies a record about this task.
    pub fn apply(&mut self, record: &Record, follow: Follow<'_>) {
        match record {
            Record::TaskDecision { reason, .. } => self.last_decision = Some(reason.clone()),
            Record::TaskSessionStarted { session_id, is_driving, model, .. } => {
                self.session = Some(OpenSession { id: *session_id });
                self.sessions_opened += 1;
                self.decide(wording::session_started(*session_id, *is_driving, model), follow);
                self.send(follow);
            }
            Record::TaskPromptSent { number, text, .. } => {
                (self.prompts_sent, self.step) = (*number, Step::Turn);
                self.sent.clone_from(text);
            }
            Record::TaskTurnEnded { end, .. } => self.turn_ended(end, follow),
            Record::TaskCommandEnded { end, .. } => self.command_ended(end, follow),
            Record::TaskSessionStopped { .. } => {
                self.session = None;
                if let Step::Close(then) = self.step {
                    self.closed(then, follow);
                }
            }
            Record::TaskSucceeded { .. } | Record::TaskFailed { .. } => self.step = Step::Over,
            Record::WaitingOpened { .. } => self.step = Step::Asked,
            Record::WaitingAnswered { approved: true, .. } => self.go_on(follow),
            Record::WaitingAnswered { approved: false, .. } => {
                self.fail("a person decided not to continue after the restart", follow);
            }
            _ => {}
        }
    }

    /// Somebody stops the task.
    pub fn stop(&mut self, follow: Follow<'_>) {
        self.decide(wording::stopped(), follow);
        self.fail("it was stopped", follow);
    }

    /// Asks for something, in the open session or in a new one.
    fn ask(&mut self, request: String, follow: Follow<'_>) {
        (self.request, self.crashes, self.reported) = (request, 0, None);
        if self.session.is_some() { self.send(follow) } else { self.step = Step::Open }
    }

    fn send(&mut self, follow: Follow<'_>) {
        let text = if self.crashes > 0 { wording::after_crash(&self.request) } else { self.request.clone() };
        self.push_prompt(text, follow);
    }

    fn push_prompt(&mut self, text: String, follow: Follow<'_>) {
        let purpose = match self.stage {
            Stage::Availability => Purpose::Availability,
            Stage::Work => Purpose::Work,
            Stage::Check => Purpose::Condition,
        };
        follow.push(Record::TaskPromptSent { task_id: self.id, number: self.prompts_sent + 1, purpose, text });
    }

    /// Asks the agent to finish what a restart cut off.
    fn go_on(&mut self, follow: Follow<'_>) {
        let text = wording::after_restart(&self.request);
        self.push_prompt(text, follow);
    }

    /// Closes the session if it is the task's own, and goes on then.
    fn close(&mut self, then: Then, follow: Follow<'_>) {
        if self.session.is_some() && self.rules.mode != Mode::Borrowed {
            self.step = Step::Close(then);
        } else {
            self.closed(then, follow);
        }
    }

    fn closed(&mut self, then: Then, follow: Follow<'_>) {
        match then {
            Then::Resend => self.step = Step::Open,
            Then::Work => self.begin_work(follow),
            Then::Check => self.begin_check(follow),
            Then::Conclude => self.conclude(follow),
            Then::NextIteration => self.next_iteration(follow),
            Then::End { succeeded: true } => follow.push(Record::TaskSucceeded { task_id: self.id }),
            Then::End { succeeded: false } => {
                follow.push(Record::TaskFailed { task_id: self.id });
                if let Some(message) = self.error.clone() {
                    follow.push(Record::TaskError { task_id: self.id, message });
                }
            }
        }
    }

    /// In separate sessions each stage has a session of its own.
    fn next_stage(&mut self, then: Then, follow: Follow<'_>) {
        if self.rules.mode == Mode::Separate { self.close(then, follow) } else { self.closed(then, follow) }
    }

    fn succeed(&mut self, reason: &str, follow: Follow<'_>) {
        self.decide(wording::succeeded(reason), follow);
        self.close(Then::End { succeeded: true }, follow);
    }

    fn fail(&mut self, reason: &str, follow: Follow<'_>) {
        self.decide(wording::failed(reason), follow);
        self.close(Then::End { succeeded: false }, follow);
    }

    fn turn_ended(&mut self, end: &TurnEnd, follow: Follow<'_>) {
        let reason = end.reason.as_deref().unwrap_or("for an unknown reason");
        if self.rules.mode != Mode::Borrowed {
            for denied in &end.activity.denied {
                self.decide(wording::denied(denied), follow);
            }
        }
        match end.verdict {
            TurnVerdict::Finished => self.turn_finished(end, follow),
            TurnVerdict::Crashed => self.crashed(reason, false, follow),
            TurnVerdict::Impossible => self.crashed(reason, true, follow),
            TurnVerdict::Stopped => self.fail("a person interrupted the agent", follow),
            TurnVerdict::Interrupted => match self.rules.on_interrupted {
                OnInterrupted::Continue => {
                    self.decide(wording::continued(), follow);
                    self.go_on(follow);
                }
                OnInterrupted::Ask => self.step = Step::Ask,
                OnInterrupted::Fail => self.fail("the server was restarted while the agent was working", follow),
            },
        }
    }

    fn turn_finished(&mut self, end: &TurnEnd, follow: Follow<'_>) {
        if let Some(reason) = self.take_reports(&end.activity.reports) {
            self.decide(wording::prerequisite(&reason), follow);
            return self.fail("a prerequisite does not hold", follow);
        }
        match self.stage {
            Stage::Availability if self.reported == Some(true) => {
                self.decide(wording::available(self.variables.reported_true_reason.as_deref()), follow);
                self.next_stage(Then::Work, follow);
            }
            Stage::Availability => {
                self.decide(
                    wording::unavailable(self.reported, self.variables.reported_false_reason.as_deref()),
                    follow,
                );
                self.close(Then::End { succeeded: false }, follow);
            }
            Stage::Work => {
                self.tools.clone_from(&end.activity.tools);
                match self.criteria() {
                    None => self.succeed("the task has no criteria", follow),
                    Some(_) => self.next_stage(Then::Check, follow),
                }
            }
            Stage::Check => self.next_stage(Then::Conclude, follow),
        }
    }

    /// Takes in what the agent reported. Returns why a prerequisite does not hold, if it said so.
    fn take_reports(&mut self, reports: &[ToolReport]) -> Option<String> {
        let variables = &mut self.variables;
        for ToolReport { tool, text } in reports {
            match tool.as_str() {
                "job_prepare_document" => {
                    variables.reported_document = Some(text.lines().next().unwrap_or_default().trim().to_owned());
                }
                "job_boolean_true" => {
                    (variables.reported_true_reason, variables.reported_false_reason) = (Some(text.clone()), None);
                    self.reported = Some(true);
                }
                "job_boolean_false" => {
                    (variables.reported_true_reason, variables.reported_false_reason) = (None, Some(text.clone()));
                    self.reported = Some(false);
                }
                "job_prerequisite_failed" => return Some(text.clone()),
                _ => {}
            }
        }
        None
    }

    fn begin_work(&mut self, follow: Follow<'_>) {
        self.stage = Stage::Work;
        let mut request = expand_dynamic(&self.rules.prompt, &self.variables);
        if self.iteration > 0 {
            let additional = self.criteria().and_then(|criteria| criteria.additional_prompt.as_deref());
            let additional = additional.map(|text| expand_dynamic(text, &self.variables));
            request.push_str(&wording::retry(
                &self.missing_tools(),
                additional.as_deref(),
                self.command_failure.as_deref(),
            ));
        }
        self.ask(request, follow);
    }

    fn missing_tools(&self) -> Vec<String> {
        let required = self.criteria().map(|criteria| criteria.tools.as_slice()).unwrap_or_default();
        required.iter().filter(|tool| !self.tools.contains(tool)).cloned().collect()
    }

    fn begin_check(&mut self, follow: Follow<'_>) {
        (self.stage, self.reported, self.command_failure) = (Stage::Check, None, None);
        if self.command().is_some() {
            self.step = Step::Command;
        } else {
            self.ask_condition(follow);
        }
    }

    fn command_ended(&mut self, end: &CommandEnd, follow: Follow<'_>) {
        self.commands_run += 1;
        let Some(command) = self.command() else { return };
        let has_passed = end.exit == Some(command.expect_exit.unwrap_or(0));
        self.command_failure = (!has_passed).then(|| wording::command_failure(command, end));
        self.ask_condition(follow);
    }

    /// The condition is evaluated whatever else failed, so that its reason is known.
    fn ask_condition(&mut self, follow: Follow<'_>) {
        match self.criteria().and_then(|criteria| criteria.condition.clone()) {
            Some(condition) => self.ask(expand_dynamic(&condition, &self.variables), follow),
            None => self.conclude(follow),
        }
    }

    fn conclude(&mut self, follow: Follow<'_>) {
        let has_condition = self.criteria().is_some_and(|criteria| criteria.condition.is_some());
        let mut problems: Vec<String> = Vec::new();
        let missing = self.missing_tools();
        if !missing.is_empty() {
            problems.push(format!("required tool not called: {}", missing.join(", ")));
        }
        if let Some(failure) = &self.command_failure {
            problems.push(failure.lines().next().unwrap_or_default().to_owned());
        }
        if has_condition && self.reported != Some(true) {
            problems.push(wording::condition_failed(self.reported, self.variables.reported_false_reason.as_deref()));
        }
        if problems.is_empty() {
            let reason = self.variables.reported_true_reason.as_deref().filter(|_| has_condition);
            self.decide(wording::criteria_succeeded(reason), follow);
            self.succeed("all criteria are met", follow);
        } else {
            self.decide(wording::criteria_failed(&problems), follow);
            self.next_iteration(follow);
        }
    }

    fn next_iteration(&mut self, follow: Follow<'_>) {
        let most = self.criteria().map_or(0, |criteria| criteria.retry_times);
        if self.iteration < most {
            self.iteration += 1;
            self.decide(wording::another_try(self.iteration, most), follow);
            self.begin_work(follow);
        } else if most == 0 {
            self.fail("the criteria are not met", follow);
        } else {
            self.fail(&format!("the criteria are not met after {most} retries"), follow);
        }
    }

    fn crashed(&mut self, reason: &str, is_final: bool, follow: Follow<'_>) {
        if self.rules.mode == Mode::Borrowed {
            self.error = Some(reason.to_owned());
            return self.fail(&format!("the session failed: {reason}"), follow);
        }
        let attempts = self.rules.attempts(self.is_driving());
        let model = self.rules.model_after(self.crashes, self.is_driving()).to_owned();
        self.crashes += 1;
        // What would happen again with the same model may not happen with another one.
        while is_final && self.crashes < attempts && self.rules.model_after(self.crashes, self.is_driving()) == model {
            self.crashes += 1;
        }
        if self.crashes < attempts {
            let model = self.rules.model_after(self.crashes, self.is_driving());
            self.decide(wording::crashed(reason, self.crashes, attempts, model), follow);
            return self.close(Then::Resend, follow);
        }
        self.decide(wording::crashed_for_good(reason, self.crashes), follow);
        if self.is_driving() {
            self.error = Some(reason.to_owned());
            self.fail(&format!("its session crashed: {reason}"), follow);
        } else if self.iteration == 0 {
            self.fail(&format!("its session crashed: {reason}"), follow);
        } else {
            self.close(Then::NextIteration, follow);
        }
    }
}
