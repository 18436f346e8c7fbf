//! Follows the log of a job, across lost connections and restarts of the server.

use serde::Deserialize as _;
use serde_json::Value;
use tokio::sync::mpsc;

use super::super::command_context::CommandContext;
use super::connection::about_job;
use super::event_line::LoggedEvent;
use crate::client::{ClientError, Follower, LocalServer, Step};
use crate::model::{JobId, Seq};

/// What a follower reports.
#[derive(Debug)]
pub(super) enum Update {
    /// The job did something.
    Events(Vec<LoggedEvent>),
    /// The connection was lost.
    Lost,
    /// The server is there again, perhaps at another address.
    Found(String),
    /// What waits in a session, as the inbox has it.
    Pending(Value),
    /// The job is over, and everything was reported.
    Ended,
}

/// Follows the log of a job.
pub(super) struct LogFollower<'a> {
    pub context: &'a CommandContext,
    pub job: JobId,
    /// Everything up to this number was reported.
    pub after: Seq,
    pub updates: mpsc::Sender<Update>,
}

impl LogFollower<'_> {
    /// Reports until the job is over. An error means that the server does not know the job.
    pub async fn run(mut self) -> anyhow::Result<()> {
        let job = self.job;
        let about = |error| about_job(error, job);
        let path = format!("/api/jobs/{}/events", self.job);
        let mut follower = Follower::new(self.context.resolved.data_folder.clone(), path, self.after);
        loop {
            let is_heard = match follower.next().await.map_err(about)? {
                // The stream says that there is something new; the log also says when it happened.
                Step::Event(event) if event.id.is_some_and(|id| id > self.after) => match follower.server().cloned() {
                    Some(server) => match self.report_new(&server).await {
                        Err(error) if error.is_final() => return Err(about(error)),
                        Err(_) => {
                            // The server is gone; what is missing follows when it is back.
                            follower.return_to(self.after);
                            true
                        }
                        Ok(is_heard) => is_heard,
                    },
                    None => true,
                },
                Step::Event(_) => true,
                Step::Lost => self.report(Update::Lost).await,
                Step::Found(url) => self.report(Update::Found(url)).await,
                Step::Ended => {
                    if let Some(server) = self.context.server() {
                        self.report_new(&server).await.map_err(about)?;
                    }
                    self.report(Update::Ended).await;
                    return Ok(());
                }
            };
            if !is_heard {
                return Ok(());
            }
        }
    }

    async fn report(&self, update: Update) -> bool {
        self.updates.send(update).await.is_ok()
    }

    async fn report_new(&mut self, server: &LocalServer) -> Result<bool, ClientError> {
        loop {
            let (events, has_more) = log_page(server, self.job, self.after).await?;
            if let Some(last) = events.last() {
                self.after = last.seq;
                if !self.report(Update::Events(events)).await {
                    return Ok(false);
                }
            }
            if !has_more {
                return Ok(true);
            }
        }
    }
}

/// A part of a job's log, and whether there is more.
pub(super) async fn log_page(
    server: &LocalServer,
    job: JobId,
    after: Seq,
) -> Result<(Vec<LoggedEvent>, bool), ClientError> {
    let mut page = server.get(&format!("/api/jobs/{job}/log?after={after}")).await?;
    let has_more = !page["next"].is_null();
    let events = page["events"].take();
    let events = events.as_array().into_iter().flatten();
    Ok((events.filter_map(|event| LoggedEvent::deserialize(event).ok()).collect(), has_more))
}
