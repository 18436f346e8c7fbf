//! A stream of events that survives lost connections and restarts of the server.

use std::path::PathBuf;
use std::time::Duration;

use tokio::time::Instant;

use super::error::ClientError;
use super::event_stream::{EventStream, ServerEvent};
use super::local_server::LocalServer;
use crate::model::Seq;

/// How long to wait before looking for the server again.
const RECONNECT_AFTER: Duration = Duration::from_millis(500);

/// What a follower reports.
#[derive(Debug)]
pub enum Step {
    /// An event, in order.
    Event(ServerEvent),
    /// The connection was lost. It is reported once, and looked for until it is found.
    Lost,
    /// The server is there again, perhaps at another address.
    Found(String),
    /// There will be no more events.
    Ended,
}

/// Reads a numbered stream of events from where it was left.
pub struct Follower {
    folder: PathBuf,
    path: String,
    after: Seq,
    stream: Option<(LocalServer, EventStream)>,
    is_lost: bool,
    /// When to look for the server again.
    next_attempt: Option<Instant>,
    ended: bool,
}

impl Follower {
    /// Follows the stream at a path of the API, after the event with the given number. The path may have parameters.
    pub fn new(folder: PathBuf, path: String, after: Seq) -> Self {
        Self { folder, path, after, stream: None, is_lost: false, next_attempt: None, ended: false }
    }

    /// The number of the last event that was reported.
    pub fn position(&self) -> Seq {
        self.after
    }

    /// Reads again after an earlier number: what followed it was not used.
    pub fn return_to(&mut self, after: Seq) {
        self.after = after;
        self.stream = None;
    }

    /// The server that the stream comes from, while it is connected.
    pub fn server(&self) -> Option<&LocalServer> {
        self.stream.as_ref().map(|(server, _)| server)
    }

    /// Connects now instead of with the first [`Self::next`], so that this reader counts as one that is there.
    pub async fn open(&mut self) -> Result<(), ClientError> {
        let server = LocalServer::of_folder(&self.folder);
        if let (None, Some(server)) = (&self.stream, server)
            && let Some(stream) = server.events(&self.path_from_here()).await?
        {
            self.stream = Some((server, stream));
        }
        Ok(())
    }

    fn path_from_here(&self) -> String {
        let separator = if self.path.contains('?') { '&' } else { '?' };
        format!("{}{separator}after={}", self.path, self.after)
    }

    /// The next thing that happens. Nothing is lost when this is cancelled. An error means that the server refuses the
    /// stream for good.
    pub async fn next(&mut self) -> Result<Step, ClientError> {
        loop {
            if self.ended {
                return Ok(Step::Ended);
            }
            let Some((_, stream)) = &mut self.stream else {
                if let Some(step) = self.connect().await? {
                    return Ok(step);
                }
                continue;
            };
            let Ok(Some(event)) = stream.next().await else {
                self.stream = None;
                if let Some(step) = self.lost() {
                    return Ok(step);
                }
                continue;
            };
            self.ended = event.name == "closed";
            match event.id {
                // Read before the connection was lost.
                Some(id) if id <= self.after => {}
                None if self.ended => {}
                id => {
                    self.after = id.unwrap_or(self.after);
                    return Ok(Step::Event(event));
                }
            }
        }
    }

    fn lost(&mut self) -> Option<Step> {
        self.next_attempt = Some(Instant::now() + RECONNECT_AFTER);
        (!std::mem::replace(&mut self.is_lost, true)).then_some(Step::Lost)
    }

    async fn connect(&mut self) -> Result<Option<Step>, ClientError> {
        if let Some(moment) = self.next_attempt {
            tokio::time::sleep_until(moment).await;
            self.next_attempt = None;
        }
        let Some(server) = LocalServer::of_folder(&self.folder) else { return Ok(self.lost()) };
        let opened = server.events(&self.path_from_here()).await;
        let url = server.url().to_owned();
        match opened {
            Ok(Some(stream)) => self.stream = Some((server, stream)),
            Ok(None) => self.ended = true,
            Err(error) if error.is_final() => return Err(error),
            Err(_) => return Ok(self.lost()),
        }
        Ok(std::mem::take(&mut self.is_lost).then_some(Step::Found(url)))
    }
}
