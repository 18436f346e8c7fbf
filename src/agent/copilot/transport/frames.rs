//! Frames of the SDK protocol: `Content-Length: N`, an empty line, N bytes of JSON.

use bytes::Bytes;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// A frame larger than this is not a frame: the stream is out of step, or the program prints rubbish.
const LARGEST: usize = 64 * 1024 * 1024;
/// Header lines before the empty one; more means that this is no header.
const MOST_HEADER_LINES: usize = 16;
const LONGEST_HEADER_LINE: u64 = 4_096;

/// The stream cannot be read as frames.
#[derive(Debug, thiserror::Error)]
pub(in crate::agent::copilot) enum FrameError {
    #[error("the program does not speak the SDK protocol: it wrote {0:?}")]
    NotAFrame(String),
    #[error("the program announced a message of {0} bytes")]
    TooLarge(usize),
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

/// The next frame's content; `None` at the end of the stream.
pub(in crate::agent::copilot) async fn read_frame(
    reader: &mut (impl AsyncBufRead + Unpin),
) -> Result<Option<Bytes>, FrameError> {
    let mut length = None;
    for _ in 0..MOST_HEADER_LINES {
        let mut line = Vec::new();
        if (&mut *reader).take(LONGEST_HEADER_LINE).read_until(b'\n', &mut line).await? == 0 {
            return Ok(None);
        }
        let text = String::from_utf8_lossy(&line);
        let text = text.trim_end();
        match (text.split_once(':'), length) {
            (Some((name, value)), _) if name.eq_ignore_ascii_case("content-length") => {
                let value = value.trim().parse().map_err(|_| FrameError::NotAFrame(text.to_owned()))?;
                length = Some(value);
            }
            (None, Some(length)) if text.is_empty() => return content(reader, length).await.map(Some),
            (Some(_), _) if length.is_some() || text.to_ascii_lowercase().starts_with("content-") => {}
            _ => return Err(FrameError::NotAFrame(text.chars().take(200).collect())),
        }
    }
    Err(FrameError::NotAFrame("a header without end".to_owned()))
}

async fn content(reader: &mut (impl AsyncBufRead + Unpin), length: usize) -> Result<Bytes, FrameError> {
    if length > LARGEST {
        return Err(FrameError::TooLarge(length));
    }
    let mut content = vec![0; length];
    reader.read_exact(&mut content).await?;
    Ok(Bytes::from(content))
}

/// Writes one frame.
pub(in crate::agent::copilot) async fn write_frame(
    writer: &mut (impl AsyncWrite + Unpin),
    content: &[u8],
) -> std::io::Result<()> {
    let mut frame = format!("Content-Length: {}\r\n\r\n", content.len()).into_bytes();
    frame.extend_from_slice(content);
    writer.write_all(&frame).await?;
    writer.flush().await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn frames_are_read_as_they_are_written() {
        let mut stream = Vec::new();
        write_frame(&mut stream, b"{\"a\":1}").await.expect("written");
        write_frame(&mut stream, "ü".as_bytes()).await.expect("written");
        let mut reader = &stream[..];
        assert_eq!(read_frame(&mut reader).await.expect("read").expect("one"), "{\"a\":1}");
        assert_eq!(read_frame(&mut reader).await.expect("read").expect("one"), "ü");
        assert!(read_frame(&mut reader).await.expect("read").is_none());
    }

    #[tokio::test]
    async fn rubbish_and_endless_messages_are_named() {
        for (rubbish, word) in [
            ("Welcome to something else!\n", "Welcome"),
            ("Content-Length: x\r\n\r\n", "Content-Length: x"),
            ("Content-Length: 99999999999\r\n\r\n", "99999999999"),
        ] {
            let error = read_frame(&mut rubbish.as_bytes()).await.expect_err(rubbish);
            assert!(error.to_string().contains(word), "{error}");
        }
        assert!(read_frame(&mut &b"Content-Length: 5\r\n\r\nab"[..]).await.is_err(), "cut off in the middle");
    }
}
