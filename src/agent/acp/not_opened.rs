//! Why a session could not be opened, and whether a second process may do better.

use crate::agent::StartError;
use crate::agent::failure::EarlyExit;

#[derive(Debug)]
pub(super) enum NotOpened {
    /// The program exited.
    Exited {
        exit: EarlyExit,
        /// While it loaded a session.
        loading: bool,
    },
    Failed(StartError),
}

impl NotOpened {
    /// Whether a second process is worth a try: the first one may have crashed by chance, or have started before a
    /// login.
    pub fn may_pass(&self) -> bool {
        match self {
            Self::Exited { exit, .. } => !matches!(exit.start_error(), StartError::Permanent(_)),
            Self::Failed(error) => matches!(error, StartError::NeedsLogin(_)),
        }
    }

    /// What the failure of the second process means, after that of the first.
    pub fn after(self, first: &Self) -> StartError {
        match (self, first) {
            // An agent that a session makes exit can still open another one.
            (Self::Exited { exit, loading: true }, Self::Exited { exit: first, .. }) if exit.repeats(first) => {
                StartError::SessionLost(exit.message)
            }
            (Self::Exited { exit, .. }, Self::Exited { exit: first, .. }) => exit.start_error_after(first),
            (other, _) => other.into(),
        }
    }
}

impl From<StartError> for NotOpened {
    fn from(error: StartError) -> Self {
        Self::Failed(error)
    }
}

impl From<NotOpened> for StartError {
    fn from(problem: NotOpened) -> Self {
        match problem {
            NotOpened::Exited { exit, .. } => exit.start_error(),
            NotOpened::Failed(error) => error,
        }
    }
}
