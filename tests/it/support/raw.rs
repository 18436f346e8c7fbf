//! HTTP by hand, for what a proper client refuses to send.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A connection on which anything can be sent. Dropping it hangs up.
pub struct RawConnection(TcpStream);

/// What came back until the server hung up.
#[derive(Debug)]
pub struct RawReply {
    /// 0 when nothing came.
    pub status: u16,
    pub text: String,
}

impl RawConnection {
    pub async fn open(authority: &str) -> Self {
        Self(TcpStream::connect(authority).await.expect("the server listens"))
    }

    /// A server that has read enough may hang up before everything is sent; its answer says why.
    pub async fn send(&mut self, bytes: &[u8]) {
        let _ = self.0.write_all(bytes).await;
    }

    /// Reads what there is, and gives how much that was.
    pub async fn read_some(&mut self) -> usize {
        self.0.read(&mut [0; 512]).await.expect("readable")
    }

    /// Reads the head of an answer, while the server may still read from us.
    pub async fn read_head(&mut self) -> RawReply {
        let (mut bytes, mut chunk) = (Vec::new(), [0; 4096]);
        while !bytes.windows(4).any(|end| end == b"\r\n\r\n") {
            let size = self.0.read(&mut chunk).await.expect("readable");
            assert_ne!(size, 0, "the server hung up: {}", String::from_utf8_lossy(&bytes));
            bytes.extend_from_slice(&chunk[..size]);
        }
        reply_of(&bytes)
    }

    /// Reads until the server hangs up, in whatever way.
    pub async fn read_to_end(mut self) -> RawReply {
        let (mut bytes, mut chunk) = (Vec::new(), [0; 4096]);
        while let Ok(size @ 1..) = self.0.read(&mut chunk).await {
            bytes.extend_from_slice(&chunk[..size]);
        }
        reply_of(&bytes)
    }
}

fn reply_of(bytes: &[u8]) -> RawReply {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let status = text.split(' ').nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
    RawReply { status, text }
}

/// Sends a request as it stands and reads until the server hangs up.
pub async fn exchange(authority: &str, request: &[u8]) -> RawReply {
    let mut connection = RawConnection::open(authority).await;
    connection.send(request).await;
    connection.read_to_end().await
}
