//! Follows the log of a job, across lost connections and restarts of the server.

use std::time::Duration;

use serde::Deserialize as _;
use serde_json::Value;
use tokio::sync::mpsc;

use super::super::command_context::CommandContext;
use super::connection::about_job;
use super::event_line::LoggedEvent;
use crate::http::{ClientError, LocalServer};
use crate::model::{JobId, Seq};

/// How long to wait before looking for the server again.
const RECONNECT_AFTER: Duration = Duration::from_millis(500);

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

/// Why a connection ended.
enum Stop {
    /// The job is over.
    Ended,
    /// The connection was lost; the log has been read up to this number.
    Lost,
    /// Nobody listens any more.
    Unheard,
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
        let mut is_lost = false;
        loop {
            match self.read(&mut is_lost).await {
                Ok(Stop::Ended) => {
                    self.report(Update::Ended).await;
                    return Ok(());
                }
                Ok(Stop::Unheard) => return Ok(()),
                Err(error) if error.is_final() => return Err(about_job(error, self.job)),
                Ok(Stop::Lost) | Err(_) => {}
            }
            if !std::mem::replace(&mut is_lost, true) {
                self.report(Update::Lost).await;
            }
            tokio::time::sleep(RECONNECT_AFTER).await;
        }
    }

    async fn report(&self, update: Update) -> bool {
        self.updates.send(update).await.is_ok()
    }

    async fn read(&mut self, is_lost: &mut bool) -> Result<Stop, ClientError> {
        // Read again each time: a restarted server may have another port.
        let Some(server) = self.context.server() else { return Ok(Stop::Lost) };
        let path = format!("/api/jobs/{}/events?after={}", self.job, self.after);
        let stream = server.events(&path).await?;
        if std::mem::take(is_lost) && !self.report(Update::Found(server.url().to_owned())).await {
            return Ok(Stop::Unheard);
        }
        let Some(mut stream) = stream else { return Ok(Stop::Ended) };
        while let Ok(Some(event)) = stream.next().await {
            // The stream says that there is something new; the log also says when it happened.
            if event.id.is_some_and(|id| id > self.after) && !self.report_new(&server).await? {
                return Ok(Stop::Unheard);
            }
            if event.name == "closed" {
                return Ok(Stop::Ended);
            }
        }
        Ok(Stop::Lost)
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
