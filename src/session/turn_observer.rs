//! Somebody who is told when turns begin and end, such as whoever keeps snapshots of folders.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use crate::model::{PromptId, SessionId};

/// Is told when turns begin and end. Called by the sessions themselves, so it must return at once.
pub trait TurnObserver: Send + Sync {
    /// A turn begins: its agent gets the prompt now.
    fn turn_began(&self, session: SessionId, prompt: PromptId, working_directory: Option<&Path>);
    /// A turn has ended, in whatever way.
    fn turn_ended(&self, session: SessionId, prompt: PromptId, working_directory: Option<&Path>);
}

/// The place of the one observer, which may be empty.
#[derive(Default)]
pub(super) struct TurnObserverSlot(OnceLock<Arc<dyn TurnObserver>>);

impl TurnObserverSlot {
    pub fn set(&self, observer: Arc<dyn TurnObserver>) {
        if self.0.set(observer).is_err() {
            tracing::error!("a second observer of turns was ignored");
        }
    }

    pub fn get(&self) -> Option<&dyn TurnObserver> {
        self.0.get().map(Arc::as_ref)
    }
}
