//! Frames of the SDK protocol: `Content-Length: N`, an empty line, N bytes of JSON.

use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// The largest frame. A larger length means that the stream is out of sync or is not the protocol.
const LARGEST: usize = 64 * 1024 * 1024;
/// The most header lines before the empty line.
const MOST_HEADER_LINES: usize = 16;
const LONGEST_HEADER_LINE: u64 = 4_096;
const NAME: &[u8] = b"Content-Length: ";
const END: &[u8] = b"\r\n\r\n";
/// The most digits of an accepted length.
const MOST_DIGITS: usize = 10;
/// The most memory allocated up front for an announced length.
const RESERVED_AT_MOST: usize = 1024 * 1024;

/// The stream cannot be read as frames.
#[derive(Debug, thiserror::Error)]
pub(in crate::agent::copilot) enum FrameError {
    #[error("the program does not speak the SDK protocol: it wrote {0:?}")]
    NotAFrame(String),
    #[error("the program announced a message of {0} bytes, which is over the limit")]
    TooLarge(usize),
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

/// The next frame's content; `None` at the end of the stream.
pub(in crate::agent::copilot) async fn read_frame(
    reader: &mut (impl AsyncBufRead + Unpin),
) -> Result<Option<Vec<u8>>, FrameError> {
    match header(reader).await? {
        Some(length) => content(reader, length).await.map(Some),
        None => Ok(None),
    }
}

/// The length that a header announces; `None` at the end of the stream.
async fn header(reader: &mut (impl AsyncBufRead + Unpin)) -> Result<Option<usize>, FrameError> {
    if let Some((length, taken)) = buffered_header(reader.fill_buf().await?) {
        reader.consume(taken);
        return Ok(Some(length));
    }
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
            (None, Some(_)) if text.is_empty() => return Ok(length),
            (Some(_), _) if length.is_some() || text.to_ascii_lowercase().starts_with("content-") => {}
            _ => return Err(FrameError::NotAFrame(text.chars().take(200).collect())),
        }
    }
    Err(FrameError::NotAFrame("an unterminated header".to_owned()))
}

/// The fast path for a header that is completely in the buffer: returns the announced length and the size of the
/// header. This covers nearly every header, without an allocation.
fn buffered_header(buffer: &[u8]) -> Option<(usize, usize)> {
    let digits = buffer.strip_prefix(NAME)?;
    let mut length = 0;
    for (place, byte) in digits.iter().enumerate().take(MOST_DIGITS) {
        match byte {
            b'0'..=b'9' => length = length * 10 + usize::from(byte - b'0'),
            _ if place == 0 => return None,
            _ => return digits[place..].starts_with(END).then(|| (length, NAME.len() + place + END.len())),
        }
    }
    None
}

async fn content(reader: &mut (impl AsyncBufRead + Unpin), length: usize) -> Result<Vec<u8>, FrameError> {
    if length > LARGEST {
        return Err(FrameError::TooLarge(length));
    }
    // Memory for a large frame is allocated as its bytes arrive.
    let mut content = Vec::with_capacity(length.min(RESERVED_AT_MOST));
    while content.len() < length {
        let available = reader.fill_buf().await?;
        if available.is_empty() {
            return Err(std::io::Error::from(std::io::ErrorKind::UnexpectedEof).into());
        }
        let taken = available.len().min(length - content.len());
        content.extend_from_slice(&available[..taken]);
        reader.consume(taken);
    }
    Ok(content)
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
        assert_eq!(read_frame(&mut reader).await.expect("read").expect("one"), b"{\"a\":1}");
        assert_eq!(read_frame(&mut reader).await.expect("read").expect("one"), "ü".as_bytes());
        assert!(read_frame(&mut reader).await.expect("read").is_none());
    }

    #[tokio::test]
    async fn headers_may_come_in_pieces_and_with_other_fields() {
        let stream =
            b"Content-Length: 2\r\n\r\n{}content-type: x\r\ncontent-length:3\r\n\r\n[1]Content-Length: 0\r\n\r\n";
        for capacity in [1, 7, 24, 1_000] {
            let mut reader = tokio::io::BufReader::with_capacity(capacity, &stream[..]);
            for expected in [&b"{}"[..], b"[1]", b""] {
                let frame = read_frame(&mut reader).await.expect("read").expect("one");
                assert_eq!(frame, expected, "{capacity}");
            }
            assert!(read_frame(&mut reader).await.expect("read").is_none());
        }
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
