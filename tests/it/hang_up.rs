//! Callers that hang up in the middle of an operation: it is done as a whole or not at all.

use std::pin::Pin;

use std::task::{Context, Poll};

use flightdeck::agent::{Capabilities, Runtimes};
use flightdeck::model::{SessionId, SessionState};
use flightdeck::session::{LiveError, NewPrompt, NewSession, SessionSettings, SessionUpdate, Sessions, SessionsParts};
use flightdeck::store::{DataFolder, Store, StoreSettings};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use crate::support::Puppet;

/// A server's insides, on a data folder that outlives them.
fn open(folder: &TempDir) -> Sessions {
    let data = DataFolder::lock(folder.path()).expect("locked");
    let store = Store::open(&data, StoreSettings::default()).expect("opened");
    let puppet = Puppet::new(Capabilities::default(), None);
    Sessions::new(SessionsParts {
        store,
        runtimes: Runtimes::new(vec![puppet.runtime()]),
        settings: SessionSettings::default(),
        stopping: CancellationToken::new(),
    })
}

async fn close(sessions: Sessions) {
    sessions.shut_down().await;
    sessions.store().close().await;
}

/// A future that is polled so often and then given up, as a handler is when its client hangs up.
struct HangsUp<F> {
    operation: Pin<Box<F>>,
    polls_left: usize,
}

impl<F: Future> Future for HangsUp<F> {
    type Output = Option<F::Output>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if self.polls_left == 0 {
            return Poll::Ready(None);
        }
        self.polls_left -= 1;
        match self.operation.as_mut().poll(context) {
            Poll::Ready(output) => Poll::Ready(Some(output)),
            Poll::Pending if self.polls_left == 0 => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        }
    }
}

/// What the operation returned, if it was over within that many polls.
async fn hang_up_after<F: Future>(polls: usize, operation: F) -> Option<F::Output> {
    HangsUp { operation: Box::pin(operation), polls_left: polls }.await
}

async fn state_of(sessions: &Sessions, id: SessionId) -> Option<SessionState> {
    sessions.store().session(id).await.expect("read").map(|summary| summary.state)
}

#[tokio::test]
async fn a_delete_whose_caller_hangs_up_deletes_everything_or_nothing() {
    for polls in 0.. {
        let folder = tempfile::tempdir().expect("a folder");
        let sessions = open(&folder);
        let id = sessions.create(NewSession::default()).await.expect("created").id();
        let is_over = hang_up_after(polls, sessions.delete(id)).await.is_some();
        close(sessions).await;

        let sessions = open(&folder);
        let state = state_of(&sessions, id).await;
        assert_ne!(state, Some(SessionState::Closed), "closed and not deleted, after {polls} polls");
        assert_eq!(sessions.get(id).await.is_ok(), state.is_some(), "after {polls} polls");
        close(sessions).await;
        if is_over {
            break;
        }
    }
}

#[tokio::test]
async fn a_reopening_whose_caller_hangs_up_lets_readers_continue_or_changes_nothing() {
    for polls in 0.. {
        let folder = tempfile::tempdir().expect("a folder");
        let sessions = open(&folder);
        let session = sessions.create(NewSession::default()).await.expect("created");
        let id = session.id();
        session.close().await.expect("closed");
        while !matches!(session.live_batch("reader", None).await, Err(LiveError::Closed)) {}
        let is_over = hang_up_after(polls, session.reopen()).await.is_some();
        // Answered in turn: what the session was asked before is done.
        let _ = session.update(SessionUpdate::default()).await;
        close(sessions).await;

        let sessions = open(&folder);
        let is_open = state_of(&sessions, id).await != Some(SessionState::Closed);
        let session = sessions.get(id).await.expect("there");
        // A reader that may not continue hears of it at once; one that may would wait.
        let read = hang_up_after(1, session.live_batch("reader", None)).await;
        let knows = !matches!(read, Some(Err(LiveError::NotFound)));
        assert_eq!(knows, is_open, "after {polls} polls the reader and the session disagree");
        close(sessions).await;
        if is_over {
            break;
        }
    }
}

#[tokio::test]
async fn a_poll_that_follows_a_hang_up_at_once_waits_for_the_old_one_to_leave() {
    let folder = tempfile::tempdir().expect("a folder");
    let sessions = open(&folder);
    for token in ["", "reader"] {
        let session = sessions.create(NewSession::default()).await.expect("created");
        let poll = || async {
            if token.is_empty() { session.live_one().await } else { session.live_batch(token, None).await }
        };
        let mut abandoned = Box::pin(poll());
        assert!(futures_util::poll!(abandoned.as_mut()).is_pending());
        let mut next = Box::pin(poll());
        // The old call is still there: the server has not noticed yet that its caller is gone.
        assert!(futures_util::poll!(next.as_mut()).is_pending());
        drop(abandoned);
        session.prompt(NewPrompt { text: "hello".to_owned(), ..NewPrompt::default() }).await.expect("accepted");
        let delivery = next.await.expect("it took over");
        assert_eq!(delivery.events[0].seq, 1);
    }
    close(sessions).await;
}
