//! A viewer that costs as little as it can: raw lines of a stream of events.

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::net::TcpStream;

/// One request on a connection of its own; the whole answer as text.
pub async fn request(port: u16, method: &str, path: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await.expect("listening");
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).await.expect("sent");
    let mut reply = String::new();
    stream.read_to_string(&mut reply).await.expect("answered");
    reply
}

pub struct Viewer {
    lines: Lines<BufReader<TcpStream>>,
}

impl Viewer {
    pub async fn open(port: u16, session: &str) -> Self {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).await.expect("listening");
        stream.set_nodelay(true).expect("set");
        // To HTTP/1.0 the body comes as it is. In chunks, the size of a chunk may stand in the middle of a line.
        let head = format!("GET /api/copilot/session/{session}/events HTTP/1.0\r\nHost: localhost\r\n\r\n");
        stream.write_all(head.as_bytes()).await.expect("sent");
        let mut lines = BufReader::with_capacity(256 * 1024, stream).lines();
        while !lines.next_line().await.expect("readable").expect("a head").is_empty() {}
        Self { lines }
    }

    /// The next response.
    pub async fn next(&mut self) -> String {
        loop {
            let line = self.lines.next_line().await.expect("readable").expect("more");
            if let Some(data) = line.strip_prefix("data: ") {
                return data.to_owned();
            }
        }
    }
}
