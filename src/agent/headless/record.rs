//! The agent's own record of a session: a file of JSON lines. Only its end is read, to find out how the last turn ended.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;

use serde_json::Value;

use crate::agent::Restored;

/// How much of the end of a record is read. A turn that writes more after its last telling entry counts as complete.
const READ: u64 = 4 * 1024 * 1024;

/// How a record ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RecordEnd {
    /// The last turn is complete.
    Clean,
    /// The last turn is cut off, or the last line is damaged.
    Cut,
    /// No line of it can be read.
    Unreadable,
}

/// What one entry says about the turn that it belongs to; `None` if it says nothing.
pub(super) type Telling = fn(&Value) -> Option<RecordEnd>;

impl RecordEnd {
    pub fn read(path: &Path, telling: Telling) -> Self {
        match tail(path) {
            Ok(text) => Self::of(&text, telling),
            Err(error) => {
                tracing::warn!(path = %path.display(), %error, "cannot read the agent's record of a session");
                Self::Unreadable
            }
        }
    }

    fn of(text: &[u8], telling: Telling) -> Self {
        let lines = text.split(|byte| *byte == b'\n').rev().filter(|line| !line.trim_ascii().is_empty());
        let mut is_damaged = false;
        for line in lines {
            // Serde accepts any value; an entry is an object.
            let Some(entry) = serde_json::from_slice::<Value>(line).ok().filter(Value::is_object) else {
                is_damaged = true;
                continue;
            };
            if is_damaged {
                return Self::Cut;
            }
            if let Some(end) = telling(&entry) {
                return end;
            }
        }
        if is_damaged { Self::Unreadable } else { Self::Clean }
    }

    pub fn restored(self) -> Restored {
        if self == Self::Clean { Restored::Whole } else { Restored::Incomplete }
    }
}

/// The end of a file, from the beginning of a line.
fn tail(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    let skipped = length.saturating_sub(READ);
    file.seek(SeekFrom::Start(skipped))?;
    let mut text = Vec::new();
    file.take(READ).read_to_end(&mut text)?;
    if skipped > 0 {
        let first_end = text.iter().position(|byte| *byte == b'\n').unwrap_or_default();
        text.drain(..first_end);
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn telling(entry: &Value) -> Option<RecordEnd> {
        match entry["type"].as_str()? {
            "begin" => Some(RecordEnd::Cut),
            "end" => Some(RecordEnd::Clean),
            _ => None,
        }
    }

    #[test]
    fn the_last_telling_entry_decides_and_a_damaged_end_is_cut() {
        let (begin, end, other) = ("{\"type\":\"begin\"}\n", "{\"type\":\"end\"}\n", "{\"x\":1}\n");
        for (text, expected) in [
            (format!("{begin}{end}{other}"), RecordEnd::Clean),
            (format!("{begin}{end}{begin}{other}"), RecordEnd::Cut),
            (format!("{begin}{end}\u{0}\u{1}"), RecordEnd::Cut),
            (format!("{begin}garbage\n{end}"), RecordEnd::Clean),
            (other.to_owned(), RecordEnd::Clean),
            ("garbage\n[1]\n7".to_owned(), RecordEnd::Unreadable),
            (String::new(), RecordEnd::Clean),
        ] {
            assert_eq!(RecordEnd::of(text.as_bytes(), telling), expected, "{text}");
        }
    }

    #[test]
    fn only_the_end_of_a_long_record_is_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("record");
        let long = format!("{{\"type\":\"begin\",\"x\":\"{}\"}}\n", "y".repeat(usize::try_from(READ).expect("fits")));
        std::fs::write(&path, format!("{long}{{\"type\":\"end\"}}\n")).expect("written");
        assert_eq!(RecordEnd::read(&path, telling), RecordEnd::Clean);
        std::fs::write(&path, &long).expect("written");
        assert_eq!(RecordEnd::read(&path, telling), RecordEnd::Clean, "nothing else is known");
        assert_eq!(RecordEnd::read(&folder.path().join("none"), telling), RecordEnd::Unreadable);
    }
}
