//! Operations with several steps, which finish even when their caller is gone.

use std::time::Duration;

use tokio_util::task::TaskTracker;

/// How long running operations may take once the server shuts down.
const GRACE: Duration = Duration::from_secs(5);

/// Running operations. A caller that is dropped (its client hung up) stops where it waits; an
/// operation in its own task does not, so it is done completely or not at all. Clones share them.
#[derive(Clone, Debug, Default)]
pub(super) struct Operations(TaskTracker);

impl Operations {
    /// Runs an operation in a task and waits for it. Dropped before the first poll, nothing happens; dropped later, the
    /// operation continues.
    pub async fn run<T: Send + 'static>(&self, operation: impl Future<Output = T> + Send + 'static) -> T {
        match self.0.spawn(operation).await {
            Ok(output) => output,
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                // The runtime is being taken down, and the caller with it.
                Err(_) => std::future::pending().await,
            },
        }
    }

    /// Waits for the running operations.
    pub async fn finish(&self) {
        self.0.close();
        if tokio::time::timeout(GRACE, self.0.wait()).await.is_err() {
            tracing::warn!(count = self.0.len(), "operations did not finish in time");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_operation_whose_caller_is_dropped_finishes_and_is_waited_for() {
        let operations = Operations::default();
        let (go, wait) = tokio::sync::oneshot::channel::<()>();
        let (done, finished) = tokio::sync::oneshot::channel();
        let mut caller = Box::pin(operations.run(async move {
            wait.await.expect("sent");
            done.send(()).expect("somebody listens");
        }));
        assert!(futures_util::poll!(caller.as_mut()).is_pending());
        drop(caller);
        go.send(()).expect("the operation lives");
        operations.finish().await;
        finished.await.expect("it finished");
    }
}
