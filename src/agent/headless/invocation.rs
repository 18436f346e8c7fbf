//! One start of an agent's program, for one turn.

use std::collections::BTreeMap;
use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::flags::KnownFlags;
use crate::agent::StartSpec;
use crate::model::Attachment;
use crate::private_file::TemporaryFile;

/// What a turn is made of.
pub(super) struct Wanted<'a> {
    /// As the session is now.
    pub spec: &'a StartSpec,
    /// The agent's own id of the session.
    pub session: &'a str,
    /// The agent has the session already.
    pub is_known: bool,
    /// What to do.
    pub text: &'a str,
    /// What came along.
    pub attachments: &'a [Attachment],
    /// What the installed program knows.
    pub flags: &'a KnownFlags,
}

/// A program, ready to be started.
#[derive(Debug, Default)]
pub(super) struct Invocation {
    pub arguments: Vec<String>,
    pub environment: BTreeMap<String, String>,
    /// The prompt always goes here, never into an argument: those have limits, and everybody on the machine sees them.
    pub input: String,
    /// Flags that the program does not know.
    pub left_out: Vec<&'static str>,
    /// For people.
    pub notices: Vec<String>,
    /// Files that must be there while it runs.
    pub files: Vec<TemporaryFile>,
}

impl Invocation {
    /// Writes a file for the program and gives where.
    pub fn file(&mut self, beginning: &str, ending: &str, content: &[u8]) -> Result<PathBuf, String> {
        let file = TemporaryFile::write(beginning, ending, content)
            .map_err(|error| format!("cannot write a file for the agent: {error}"))?;
        let path = file.path().to_owned();
        self.files.push(file);
        Ok(path)
    }
}

/// A text file that came along, as a part of the prompt; `None` for what is no text.
pub(super) fn as_text(attachment: &Attachment) -> Option<String> {
    if attachment.mime.starts_with("image/") {
        return None;
    }
    let text = String::from_utf8(STANDARD.decode(&attachment.data).ok()?).ok()?;
    Some(format!("\n\n{}:\n{text}", attachment.name))
}

/// The content of what came along.
pub(super) fn content(attachment: &Attachment) -> Option<Vec<u8>> {
    STANDARD.decode(&attachment.data).ok()
}

/// One line for all files that could not be given.
pub(super) fn left_behind(agent: &str, names: &[String]) -> Option<String> {
    (!names.is_empty()).then(|| format!("{agent} does not accept these files: {}.", names.join(", ")))
}
