//! A stream of events from the server on this machine, read line by line.

use bytes::{Bytes, BytesMut};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::{Connection, SendRequest};
use hyper::{Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

/// A stream of events. Dropping it closes the connection.
pub struct EventStream {
    status: StatusCode,
    body: Incoming,
    /// `None` once it has ended.
    connection: Option<Connection<TokioIo<TcpStream>, Full<Bytes>>>,
    /// The connection ends when nobody can send on it.
    _sender: SendRequest<Full<Bytes>>,
    /// What has arrived and was not taken yet.
    arrived: BytesMut,
    event: ServerEvent,
}

/// One event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerEvent {
    /// Its number.
    pub id: Option<u64>,
    /// Its name; empty for an ordinary one.
    pub name: String,
    /// Its data.
    pub data: String,
}

impl EventStream {
    pub(super) fn new(
        sender: SendRequest<Full<Bytes>>,
        connection: Connection<TokioIo<TcpStream>, Full<Bytes>>,
        response: Response<Incoming>,
    ) -> Self {
        Self {
            status: response.status(),
            body: response.into_body(),
            connection: Some(connection),
            _sender: sender,
            arrived: BytesMut::new(),
            event: ServerEvent::default(),
        }
    }

    pub(super) fn status(&self) -> StatusCode {
        self.status
    }

    /// The next event; `None` at the end. Nothing is lost when this is cancelled.
    pub async fn next(&mut self) -> Result<Option<ServerEvent>, hyper::Error> {
        loop {
            while let Some(line) = take_line(&mut self.arrived) {
                if let Some(event) = self.event.add(&line) {
                    return Ok(Some(event));
                }
            }
            match self.part().await? {
                Some(part) => self.arrived.extend_from_slice(&part),
                None => return Ok(None),
            }
        }
    }

    /// Everything that follows.
    pub(super) async fn rest(&mut self) -> Result<BytesMut, hyper::Error> {
        while let Some(part) = self.part().await? {
            self.arrived.extend_from_slice(&part);
        }
        Ok(std::mem::take(&mut self.arrived))
    }

    async fn part(&mut self) -> Result<Option<Bytes>, hyper::Error> {
        loop {
            let frame = match &mut self.connection {
                None => self.body.frame().await,
                Some(connection) => {
                    tokio::select! {
                        frame = self.body.frame() => frame,
                        ended = connection => {
                            self.connection = None;
                            ended?;
                            continue;
                        }
                    }
                }
            };
            match frame.transpose()?.map(hyper::body::Frame::into_data) {
                None => return Ok(None),
                Some(Ok(data)) => return Ok(Some(data)),
                // Trailers.
                Some(Err(_)) => {}
            }
        }
    }
}

fn take_line(arrived: &mut BytesMut) -> Option<String> {
    let end = arrived.iter().position(|byte| *byte == b'\n')?;
    let line = arrived.split_to(end + 1);
    let line = line.strip_suffix(b"\n").unwrap_or(&line);
    Some(String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line)).into_owned())
}

impl ServerEvent {
    /// Adds a line; an empty one completes the event.
    fn add(&mut self, line: &str) -> Option<Self> {
        if line.is_empty() {
            let event = std::mem::take(self);
            return (event != Self::default()).then_some(event);
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "id" => self.id = value.parse().ok(),
            "event" => value.clone_into(&mut self.name),
            "data" if self.data.is_empty() => value.clone_into(&mut self.data),
            "data" => {
                self.data.push('\n');
                self.data.push_str(value);
            }
            // A comment.
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_become_events() {
        let text = ": keep-alive\n\nid: 7\ndata: {\"a\":1}\n\nid: 8\r\nevent: closed\r\ndata: {}\r\n\r\ndata: ha";
        let mut arrived = BytesMut::from(text);
        let (mut event, mut events) = (ServerEvent::default(), Vec::new());
        while let Some(line) = take_line(&mut arrived) {
            events.extend(event.add(&line));
        }
        let expected =
            |id, name: &str, data: &str| ServerEvent { id: Some(id), name: name.to_owned(), data: data.to_owned() };
        assert_eq!(events, [expected(7, "", "{\"a\":1}"), expected(8, "closed", "{}")]);
        assert_eq!(arrived, "data: ha", "the rest is still to come");
    }
}
