//! The credits of a turn: Copilot writes them to its session's file, and not to its output.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Seek as _, SeekFrom};
use std::path::PathBuf;

use serde_json::Value;

use super::record::session_folder;

/// The beginning of the line that each call to a model adds to the file.
const RECORD: &[u8] = br#"{"type":"session.usage_record","#;
/// Credits are counted in billionths.
const NANO: f64 = 1e9;

/// A place in a session's file, before a turn.
#[derive(Debug)]
pub struct UsageRecords {
    file: PathBuf,
    from: u64,
}

impl UsageRecords {
    /// The end of the file so far. A session without a file has none yet.
    pub fn after_now(environment: &BTreeMap<String, String>, session: &str) -> Option<Self> {
        let file = session_folder(environment, session)?.join("events.jsonl");
        let from = file.metadata().map_or(0, |metadata| metadata.len());
        Some(Self { file, from })
    }

    /// The credits that were recorded since, as far as the records have any.
    pub fn credits(self) -> Option<f64> {
        let mut file = File::open(&self.file).ok()?;
        // A file that is shorter now was rewritten.
        let from = if file.metadata().ok()?.len() < self.from { 0 } else { self.from };
        file.seek(SeekFrom::Start(from)).ok()?;
        let (mut lines, mut line, mut sum) = (BufReader::new(file), Vec::new(), None);
        loop {
            line.clear();
            if lines.read_until(b'\n', &mut line).ok()? == 0 {
                return sum;
            }
            if line.starts_with(RECORD)
                && let Ok(record) = serde_json::from_slice::<Value>(&line)
                && let Some(nano) = record["data"]["usage"]["copilotUsage"]["totalNanoAiu"].as_f64()
            {
                sum = Some(sum.unwrap_or_default() + nano / NANO);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_recorded_since_counts_and_no_figure_is_not_zero() {
        let home = tempfile::tempdir().expect("a folder");
        let folder = home.path().join("session-state/s");
        std::fs::create_dir_all(&folder).expect("made");
        let environment = BTreeMap::from([("COPILOT_HOME".to_owned(), home.path().display().to_string())]);
        let file = folder.join("events.jsonl");
        let record = |nano: &str| {
            format!(
                r#"{{"type":"session.usage_record","data":{{"usage":{{"copilotUsage":{{"totalNanoAiu":{nano}}}}}}}}}"#
            )
        };
        let place = || UsageRecords::after_now(&environment, "s").expect("a home");
        let add = |lines: &[String]| {
            let before = std::fs::read_to_string(&file).unwrap_or_default();
            std::fs::write(&file, format!("{before}{}\n", lines.join("\n"))).expect("written");
        };
        let first = place();
        add(&[record("1500000000"), "not an event".to_owned(), record("250000000")]);
        assert_eq!(first.credits(), Some(1.75));
        let second = place();
        add(&[record("null"), r#"{"type":"session.usage_record","data":{"usage":{}}}"#.to_owned()]);
        assert_eq!(second.credits(), None);
        let third = place();
        std::fs::write(&file, format!("{}\n", record("0"))).expect("written");
        assert_eq!(third.credits(), Some(0.0), "another file in its place is read from its beginning");
        assert_eq!(UsageRecords::after_now(&environment, "none").expect("a home").credits(), None);
    }
}
