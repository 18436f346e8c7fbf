//! Where each terminal left off in each session, so that `attach` continues there.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde::{Deserialize, Serialize};

use crate::model::{Seq, SessionId, Timestamp};

/// The file in the data folder.
const FILE: &str = "terminals.json";
/// Positions that are kept, the newest ones.
const MOST: usize = 200;

/// The positions of this terminal.
pub(super) struct Positions {
    file: PathBuf,
    /// What tells this terminal from others; `None` where there is none, and then nothing is kept.
    terminal: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Position {
    seq: Seq,
    at: Timestamp,
}

impl Positions {
    pub fn of_this_terminal(data_folder: &Path) -> Self {
        Self { file: data_folder.join(FILE), terminal: terminal_name() }
    }

    fn read(&self) -> BTreeMap<String, Position> {
        // A file that cannot be read only means that transcripts begin a little earlier.
        std::fs::read(&self.file).ok().and_then(|data| serde_json::from_slice(&data).ok()).unwrap_or_default()
    }

    fn key(&self, session: SessionId) -> Option<String> {
        self.terminal.as_ref().map(|terminal| format!("{terminal} {session}"))
    }

    /// The number of the last event that this terminal has shown.
    pub fn of(&self, session: SessionId) -> Option<Seq> {
        self.read().get(&self.key(session)?).map(|position| position.seq)
    }

    /// Remembers what was shown.
    pub fn keep(&self, session: SessionId, seq: Seq, at: Timestamp) -> anyhow::Result<()> {
        let Some(key) = self.key(session) else { return Ok(()) };
        let mut positions = self.read();
        positions.insert(key, Position { seq, at });
        while positions.len() > MOST {
            let oldest = positions.iter().min_by_key(|(_, position)| position.at).map(|(key, _)| key.clone());
            oldest.and_then(|key| positions.remove(&key));
        }
        let folder = self.file.parent().unwrap_or(Path::new("."));
        let written = serde_json::to_vec(&positions).map_err(std::io::Error::from).and_then(|data| {
            let fresh = tempfile::NamedTempFile::new_in(folder)?;
            std::fs::write(fresh.path(), data)?;
            fresh.persist(&self.file).map_err(|error| error.error)
        });
        written
            .map(drop)
            .with_context(|| format!("cannot remember in {} where this terminal left off", self.file.display()))
    }
}

/// The terminal's device and the login session in it: device names are used again.
#[cfg(unix)]
fn terminal_name() -> Option<String> {
    let device = std::fs::read_link("/proc/self/fd/0").or_else(|_| std::fs::read_link("/dev/fd/0")).ok()?;
    let session = rustix::process::getsid(None).ok()?;
    Some(format!("{} {}", device.display(), session.as_raw_nonzero()))
}

#[cfg(not(unix))]
fn terminal_name() -> Option<String> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_continues_where_it_left_off() {
        let folder = tempfile::tempdir().expect("a folder");
        let positions = |name: &str| Positions { file: folder.path().join(FILE), terminal: Some(name.to_owned()) };
        let (one, two) = (SessionId::from_number(1), SessionId::from_number(2));
        positions("a").keep(one, 7, Timestamp::from_millis(1)).expect("kept");
        assert_eq!((positions("a").of(one), positions("a").of(two), positions("b").of(one)), (Some(7), None, None));
        for number in 10..300 {
            let at = Timestamp::from_millis(number.into());
            positions("b").keep(SessionId::from_number(number), 1, at).expect("kept");
        }
        assert_eq!(positions("a").of(one), None, "the oldest is forgotten");
        assert_eq!(positions("b").read().len(), MOST);
    }

    #[test]
    fn a_place_that_cannot_be_kept_is_an_error_that_names_the_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("missing").join(FILE);
        let positions = Positions { file: file.clone(), terminal: Some("a".to_owned()) };
        let kept = positions.keep(SessionId::from_number(1), 7, Timestamp::from_millis(1));
        assert!(kept.expect_err("there is no folder").to_string().contains(&file.display().to_string()));
    }
}
