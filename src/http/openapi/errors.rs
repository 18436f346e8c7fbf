//! Which errors a route may return: those of the checks before every route, and those that error types become.

use crate::folder::FolderError;
use crate::jobs::JobError;
use crate::review::ReviewError;
use crate::session::{AdoptError, AnswerError, CreateError, ForkError, LiveError, PromptError, SessionError};

/// The status and the name of an error.
pub(super) type Named = (u16, &'static str);

/// The errors that a type becomes, without those of [`EVERY_ROUTE`].
pub(in crate::http) trait Errors {
    const ERRORS: &'static [&'static [Named]];
}

/// The errors of every route, from the checks before it and from the store behind it.
pub(super) const EVERY_ROUTE: [Named; 12] = [
    (403, "CrossSiteRequest"),
    (421, "HostNotAllowed"),
    (429, "TooManyAttempts"),
    (500, "InternalError"),
    (500, "DatabaseDamaged"),
    (503, "ShuttingDown"),
    (503, "StoreStopped"),
    (503, "TooManyConnections"),
    (507, "StorageFull"),
    (507, "StorageReadOnly"),
    (507, "StorageFailed"),
    (500, "BlobDamaged"),
];

/// The errors of every route that needs a token or a login.
pub(super) const WITH_TOKEN: [Named; 2] = [(401, "Unauthorized"), (403, "ScopeMissing")];

/// The statuses of errors in the dialects of the model API.
pub(super) const DIALECT_ERRORS: [u16; 12] = [400, 401, 403, 404, 408, 413, 421, 429, 500, 503, 504, 507];

const SESSION: &[Named] =
    &[(404, "SessionNotFound"), (409, "SessionClosed"), (409, "SessionNotClosed"), (409, "NotSupportedByRuntime")];
const PROMPT: &[Named] = &[
    (404, "PromptNotFound"),
    (409, "PromptNotOver"),
    (409, "PromptSucceeded"),
    (400, "EmptyPrompt"),
    (413, "PromptTooLarge"),
    (429, "TooManyQueuedPrompts"),
    (422, "IdempotencyKeyReused"),
    (409, "BudgetSpent"),
    (409, "SteeringNotSupported"),
    (409, "PromptNotQueued"),
    (409, "PromptChanged"),
    (409, "QueueChanged"),
];
const ANSWER: &[Named] = &[
    (404, "RequestNotFound"),
    (409, "AlreadyAnswered"),
    (400, "NotForGood"),
    (400, "WrongKindOfAnswer"),
    (400, "IncompleteAnswer"),
];
const FOLDER_TO_WORK_IN: &[Named] = &[
    (400, "WorkingDirectoryNotAbsolutePath"),
    (400, "WorkingDirectoryNotExists"),
    (403, "WorkingDirectoryNotAllowed"),
];
const CREATE: &[Named] = &[
    (400, "ModelIdNotFound"),
    (400, "RuntimeNotFound"),
    (400, "ProjectConfigurationInvalid"),
    (429, "TooManySessions"),
    (422, "IdempotencyKeyReused"),
];
const JOB: &[Named] = &[
    (404, "JobNotFound"),
    (404, "TaskNotFound"),
    (404, "SessionNotFound"),
    (409, "TaskCannotClose"),
    (409, "JobOver"),
    (409, "JobNotStopped"),
    (409, "JobSucceeded"),
    (409, "GateChanged"),
    (409, "GateClosed"),
    (409, "NoEntry"),
    (400, "InvalidEntry"),
    (403, "EntryNotTrusted"),
    (409, "EntryChanged"),
    (400, "UserInputRequired"),
    (400, "UserInputNotAllowed"),
    (400, "ModelCategoryNotFound"),
    (409, "JobToolsMissing"),
    (422, "IdempotencyKeyReused"),
];
const ADOPT: &[Named] =
    &[(429, "TooManySessions"), (404, "RuntimeNotFound"), (404, "AgentSessionNotFound"), (502, "AgentNotAvailable")];
const FOLDER: &[Named] = &[
    (403, "WorkingDirectoryNotReadable"),
    (404, "ChangeNotFound"),
    (409, "NoRepository"),
    (409, "GitNotFound"),
    (409, "GitRefused"),
    (504, "GitFailed"),
    (409, "TooManyChanges"),
    (500, "NotWritable"),
    (409, "NotRevertible"),
    (409, "FileChanged"),
    (413, "PatchTooLarge"),
];
const REVIEW: &[Named] = &[(409, "NoSnapshot"), (404, "TurnNotFound"), (404, "RevertNotFound"), (500, "CopyNotKept")];
const FORK: &[Named] = &[
    (404, "RuntimeNotFound"),
    (404, "PromptNotFound"),
    (404, "EventNotFound"),
    (409, "TurnNotOver"),
    (409, "ConversationLost"),
    (502, "AgentNotAvailable"),
    (429, "TooManySessions"),
];
const LIVE: &[Named] = &[(429, "TooManyReaders"), (400, "CursorAhead")];

impl Errors for SessionError {
    const ERRORS: &'static [&'static [Named]] = &[SESSION];
}

impl Errors for PromptError {
    const ERRORS: &'static [&'static [Named]] = &[SESSION, PROMPT];
}

impl Errors for AnswerError {
    const ERRORS: &'static [&'static [Named]] = &[SESSION, ANSWER];
}

impl Errors for CreateError {
    const ERRORS: &'static [&'static [Named]] = &[FOLDER_TO_WORK_IN, CREATE];
}

impl Errors for JobError {
    const ERRORS: &'static [&'static [Named]] = &[FOLDER_TO_WORK_IN, JOB];
}

impl Errors for AdoptError {
    const ERRORS: &'static [&'static [Named]] = &[SESSION, FOLDER_TO_WORK_IN, ADOPT];
}

impl Errors for FolderError {
    const ERRORS: &'static [&'static [Named]] = &[FOLDER];
}

impl Errors for ReviewError {
    const ERRORS: &'static [&'static [Named]] = &[FOLDER, REVIEW];
}

impl Errors for ForkError {
    const ERRORS: &'static [&'static [Named]] = &[SESSION, FOLDER_TO_WORK_IN, FORK];
}

impl Errors for LiveError {
    const ERRORS: &'static [&'static [Named]] = &[LIVE];
}
