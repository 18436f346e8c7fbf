//! Changes of a session's, job's or task's record that are committed together with events. They are data: the backend decides how they
//! are stored.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::UsageReport;
use crate::model::{
    AnsweredBy, Attachment, BudgetNotices, ContextUsage, Continuation, FolderRule, Happening, JobStatus, LastTurn,
    LostSession, OpenRequest, PermissionPolicy, PromptId, PromptOutcome, RequestId, RequestOutcome, Seq, SessionBudget,
    SessionState, SlashCommand, StreamId, TaskId, Timestamp, TurnId, Usage, hex,
};

/// A turn that has begun and not ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OpenTurn {
    /// Its id.
    pub turn_id: TurnId,
    /// Its prompt; `None` for work that the agent does outside a turn.
    #[serde(default, with = "prompt_number")]
    pub prompt: Option<PromptId>,
    /// Everything that is open began after this event.
    pub after: Seq,
    /// The turn's own events follow this one; `None` when that is all that follows `after`.
    #[serde(default)]
    pub begun: Option<Seq>,
}

/// A turn's prompt is stored as a plain number.
mod prompt_number {
    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

    use crate::model::PromptId;

    #[expect(clippy::ref_option, clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
    pub fn serialize<S: Serializer>(prompt: &Option<PromptId>, serializer: S) -> Result<S::Ok, S::Error> {
        prompt.map(PromptId::number).serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<PromptId>, D::Error> {
        Ok(Option::<u32>::deserialize(deserializer)?.map(PromptId::from_number))
    }
}

/// A prompt that waits for its turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueuedPrompt {
    /// Its id.
    pub id: PromptId,
    /// The caller's own key, to make a repetition harmless.
    pub idempotency_key: Option<String>,
    /// The text.
    pub text: String,
    /// Its attachments.
    pub attachments: Vec<Attachment>,
    /// Where it stands among the prompts that wait.
    pub place: QueuePlace,
    /// It carries answers to requests, and what they permit holds for its turn alone: it is not changed, moved or
    /// cancelled.
    pub is_continuation: bool,
}

/// Where a prompt stands in the queue: prompts are sent in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueuePlace {
    /// It comes before other prompts that wait: it continues or repeats work that was cut off.
    pub is_first: bool,
    /// At first the number of the prompt; exchanged with others when the queue is reordered.
    pub number: u32,
}

impl QueuePlace {
    /// The place of a prompt that was just accepted.
    pub fn of(prompt: PromptId, is_first: bool) -> Self {
        Self { is_first, number: prompt.number() }
    }

    /// What prompts are sorted by.
    pub fn rank(self) -> (bool, u32) {
        (!self.is_first, self.number)
    }
}

impl QueuedPrompt {
    /// A prompt that is nothing but a text.
    pub fn plain(id: PromptId, text: String) -> Self {
        let (attachments, place) = (Vec::new(), QueuePlace::of(id, false));
        Self { id, idempotency_key: None, text, attachments, place, is_continuation: false }
    }

    /// What a repetition with the same key must match.
    pub fn fingerprint(text: &str, attachments: &[Attachment]) -> String {
        hex(&Sha256::digest(json(&(text, attachments))))
    }

    /// The prompt as it is stored. Slow for large attachments, so it is called where it blocks nobody else: never by
    /// a backend.
    pub fn prepare(&self) -> AcceptedPrompt {
        AcceptedPrompt {
            id: self.id,
            idempotency_key: self.idempotency_key.clone(),
            fingerprint: Self::fingerprint(&self.text, &self.attachments),
            text: self.text.clone(),
            attachments: json(&self.attachments),
            place: self.place,
            is_continuation: self.is_continuation,
        }
    }
}

/// An accepted prompt, ready to be written: no backend has to hash or encode anything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AcceptedPrompt {
    /// Its id.
    pub id: PromptId,
    /// The caller's own key.
    pub idempotency_key: Option<String>,
    /// What a repetition with the same key must match.
    pub fingerprint: String,
    /// The text.
    pub text: String,
    /// Its attachments, as a JSON list of [`Attachment`].
    pub attachments: String,
    /// Where it stands among the prompts that wait.
    pub place: QueuePlace,
    /// It carries answers to requests.
    pub is_continuation: bool,
}

/// Something that changes with an append. Most changes belong in the log of a session and a few in the log of a job or
/// task; an append with a change that does not belong in its log is rejected.
#[derive(Clone, Debug)]
pub enum Change {
    /// What the session is doing.
    State(SessionState, Option<String>),
    /// Its title, from the first prompt or from the agent.
    Title(String),
    /// Its title, chosen by a person.
    TitleGiven(String),
    /// Its model and effort.
    Model(String, Option<String>),
    /// Its permissions.
    Permissions(PermissionPolicy),
    /// A rule for all sessions in a folder. One that is there already is not added again.
    FolderRuleAdded(FolderRule),
    /// The agent's own id for it.
    AgentSession(Option<String>),
    /// The agent lost its own session.
    SessionLost(LostSession),
    /// Its open turn.
    Turn(Option<OpenTurn>),
    /// A turn ended, and this is how.
    TurnOver(LastTurn),
    /// It was closed, or reopened.
    ClosedAt(Option<Timestamp>),
    /// A prompt was accepted. One with a key survives a power cut.
    PromptAccepted(AcceptedPrompt),
    /// A prompt's turn began.
    PromptStarted(PromptId),
    /// A prompt is queued again: the agent did not accept it.
    PromptPutBack(PromptId),
    /// The text of a queued prompt. What a repetition with its key must match stays what it was.
    PromptText(PromptId, String),
    /// The place of a queued prompt.
    PromptMoved(PromptId, QueuePlace),
    /// A prompt's turn is over.
    PromptEnded(PromptId, PromptOutcome),
    /// A request waits for a person.
    RequestOpened(OpenRequest),
    /// A request has its one answer.
    RequestClosed {
        /// Which.
        request_id: RequestId,
        /// How.
        outcome: RequestOutcome,
        /// By whom.
        by: AnsweredBy,
    },
    /// An event refers to a blob.
    BlobUsed {
        /// Its hash.
        hash: String,
        /// Its media type.
        mime: String,
        /// Its size in bytes.
        size: u64,
    },
    /// Readers that were notified of the close may read again. Belongs in every log.
    ReadersReopened,
    /// What it has cost so far.
    Usage(Usage),
    /// The agent reported figures; they are added to those of its day.
    UsageReported(UsageReport),
    /// Its own limits.
    Budget(SessionBudget),
    /// Which limits it has been notified of.
    BudgetNotified(BudgetNotices),
    /// How full the agent's context is.
    Context(ContextUsage),
    /// The commands that the agent understands.
    Commands(Vec<SlashCommand>),
    /// Answers that the agent has not received, and what follows from them.
    Continuation(Continuation),
    /// Somebody may want to be notified of something. Belongs in the log of a session or job.
    Happened(Happening),
    /// What the happening with this key asked of a person is over: nobody needs to be notified of it any more. A closed
    /// request and the end of a job imply it. Belongs in the log of a session or job.
    HappeningOver(String),
    /// A job, or a task outside a job, ended or runs again. Either way it is not settled.
    RunStatus {
        /// Its status.
        status: JobStatus,
        /// Why it could not be done, for people.
        error: Option<String>,
        /// When it ended; `None` while it runs.
        ended_at: Option<Timestamp>,
    },
    /// A job, or a task outside a job, has ended and nothing is left to do for it: a restart leaves it alone. Has no effect
    /// on a run that goes on, because it was retried.
    RunSettled,
    /// A person decided something, and was told that the decision counts. It changes nothing else, and survives a power cut.
    PersonDecided,
    /// A job started a task. Belongs in the log of the job.
    TaskCreated {
        /// Its id, reserved before.
        task: TaskId,
        /// The work within the job.
        work_id: u32,
    },
}

impl Change {
    /// Why an append with a change that does not belong in its log is rejected.
    pub(super) fn misplaced(stream: StreamId) -> String {
        format!("a change does not belong in the log of {stream}")
    }
}

fn json<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).expect("plain values")
}
