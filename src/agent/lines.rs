//! Reads lines of a program's output. Their length is bounded, and no content is an error.

use tokio::io::{AsyncBufRead, AsyncBufReadExt as _};

/// A longer line is dropped and reported.
pub(super) const LONGEST: usize = 32 * 1024 * 1024;
/// The part of a too-long line that is kept, enough to recognize it.
const BEGINNING: usize = 512;

/// One line without its line ending. Invalid UTF-8 is replaced.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    Text(String),
    TooLong { bytes: usize, beginning: String },
}

/// The next line; `None` at the end of the stream. Text after the last line ending counts as a line.
pub(super) async fn next_line(
    reader: &mut (impl AsyncBufRead + Unpin),
    longest: usize,
) -> std::io::Result<Option<Line>> {
    let mut line: Vec<u8> = Vec::new();
    let mut bytes = 0;
    loop {
        let available = reader.fill_buf().await?;
        if available.is_empty() {
            return Ok((bytes > 0).then(|| finished(&line, bytes, longest)));
        }
        let end = available.iter().position(|byte| *byte == b'\n');
        let part = &available[..end.unwrap_or(available.len())];
        bytes += part.len();
        if bytes <= longest {
            line.extend_from_slice(part);
        } else if line.len() > BEGINNING {
            line = line[..BEGINNING].to_vec();
        } else {
            let missing = BEGINNING.saturating_sub(line.len()).min(part.len());
            line.extend_from_slice(&part[..missing]);
        }
        let taken = part.len() + usize::from(end.is_some());
        reader.consume(taken);
        if end.is_some() {
            return Ok(Some(finished(&line, bytes, longest)));
        }
    }
}

fn finished(line: &[u8], bytes: usize, longest: usize) -> Line {
    let text = String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line)).into_owned();
    if bytes > longest { Line::TooLong { bytes, beginning: text } } else { Line::Text(text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn lines(bytes: &[u8], longest: usize) -> Vec<Line> {
        // A small buffer, so that lines come in pieces.
        let mut reader = tokio::io::BufReader::with_capacity(7, bytes);
        let mut lines = Vec::new();
        while let Some(line) = next_line(&mut reader, longest).await.expect("readable") {
            lines.push(line);
        }
        lines
    }

    fn text(text: &str) -> Line {
        Line::Text(text.to_owned())
    }

    #[tokio::test]
    async fn lines_end_where_they_end_and_the_last_may_lack_its_end() {
        assert_eq!(
            lines(b"one\r\n\ntwo and more\nha", 100).await,
            [text("one"), text(""), text("two and more"), text("ha")]
        );
    }

    #[tokio::test]
    async fn bad_bytes_are_replaced() {
        assert_eq!(lines(b"a\xffb\n", 100).await, [text("a\u{fffd}b")]);
    }

    #[tokio::test]
    async fn a_line_that_is_too_long_leaves_its_beginning_and_the_next_is_whole() {
        let long = "x".repeat(5_000);
        let found = lines(format!("{long}\nnext\n").as_bytes(), 1_000).await;
        assert_eq!(found, [Line::TooLong { bytes: 5_000, beginning: "x".repeat(BEGINNING) }, text("next")]);
        let found = lines(b"abcdefghij\nnext\n", 9).await;
        assert_eq!(found, [Line::TooLong { bytes: 10, beginning: "abcdefghij".to_owned() }, text("next")]);
    }
}
