//! The full-text index: a file of its own beside the database, written by the indexer and never by the writer thread, so
//! that indexing cannot make a session wait.
//!
//! What must always hold here:
//!
//! - The index holds words and positions, not texts (`content=''`). Texts are in the log, once.
//! - Everything in the file can be built again from the logs. A file that is damaged, or of another version, is deleted and
//!   built again. Nothing else depends on it: a server whose index cannot be written serves its sessions as usual.
//! - A text and the position that says it is indexed are committed together, so that a kill neither loses nor repeats one.
//! - A text is named by its event (`session << 40 | number`), so a session is one range, and newer sessions come last.

mod comparison;
mod expression;
mod file;
mod indexing;
mod matching;
mod snippets;

pub(super) use file::SearchFile;

use std::sync::Arc;

use super::{Sqlite, sessions};
use crate::model::SessionId;
use crate::store::{
    Answer, IndexBacklog, IndexBatch, Match, MatchQuery, SearchIndex, SearchTerms, SearchText, SessionFacts,
    SnippetPart, StoreError,
};

impl SearchIndex for Sqlite {
    fn index_backlog(&self) -> &Arc<IndexBacklog> {
        &self.search.backlog
    }

    fn compare_index(&self) -> Answer<'_, ()> {
        Box::pin(async move {
            let search = Arc::clone(&self.search);
            let read = blocking(move || {
                search.replace_if_damaged()?;
                match search.positions() {
                    Err(StoreError::Damaged { .. }) => search.replace_if_damaged().and_then(|()| search.positions()),
                    read => read,
                }
            });
            let positions = read.await?;
            let found = self.read(move |connection| comparison::compare(connection, positions)).await?;
            let search = Arc::clone(&self.search);
            blocking(move || search.apply(&found)).await
        })
    }

    fn index(&self, batch: IndexBatch) -> Answer<'_, ()> {
        let search = Arc::clone(&self.search);
        Box::pin(blocking(move || search.index(&batch)))
    }

    fn session_facts(&self) -> Answer<'_, Vec<SessionFacts>> {
        self.read(sessions::facts)
    }

    fn matches(&self, query: MatchQuery) -> Answer<'_, Vec<Match>> {
        let search = Arc::clone(&self.search);
        Box::pin(async move {
            let permit = Arc::clone(&search.searches).acquire_owned().await.map_err(|_| StoreError::Closed)?;
            blocking(move || {
                // Held until the search is done, not only until its caller is gone.
                let _permit = permit;
                search.matches(&query)
            })
            .await
        })
    }

    fn snippets(&self, terms: SearchTerms, texts: Vec<SearchText>) -> Answer<'_, Vec<Vec<SnippetPart>>> {
        let path = self.search.path().to_owned();
        Box::pin(blocking(move || snippets::of(&terms, &texts).map_err(|error| super::error::described(error, &path))))
    }
}

impl Sqlite {
    /// Removes a deleted session from the index. If the server is killed before, the next start does it.
    pub(super) async fn forget_in_index(&self, session: SessionId) -> Result<(), StoreError> {
        let search = Arc::clone(&self.search);
        blocking(move || {
            search.forget(session);
            Ok(())
        })
        .await
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    tokio::task::spawn_blocking(work).await.unwrap_or(Err(StoreError::Closed))
}
