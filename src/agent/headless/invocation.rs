//! One start of an agent's program, for one turn.

use std::collections::BTreeMap;
use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::flags::KnownFlags;
use crate::agent::StartSpec;
use crate::model::Attachment;
use crate::private_file::TemporaryFile;

/// The input of a turn.
pub(super) struct Wanted<'a> {
    /// The current state of the session.
    pub spec: &'a StartSpec,
    /// The agent's id of the session; `None` for a new session of a program that chooses the id itself.
    pub session: Option<&'a str>,
    /// The session already exists.
    pub is_known: bool,
    /// The prompt.
    pub text: &'a str,
    /// The attachments.
    pub attachments: &'a [Attachment],
    /// The flags that the installed program supports.
    pub flags: &'a KnownFlags,
}

/// A program with everything needed to start it.
#[derive(Debug, Default)]
pub(super) struct Invocation {
    pub arguments: Vec<String>,
    pub environment: BTreeMap<String, String>,
    /// The prompt. Never passed as an argument: arguments have a size limit and are visible to other users.
    pub input: String,
    /// Flags that the program does not support.
    pub left_out: Vec<&'static str>,
    /// Notices for display.
    pub notices: Vec<String>,
    /// Files that must exist while it runs.
    pub files: Vec<TemporaryFile>,
}

impl Invocation {
    /// Writes a file for the program and returns its path.
    pub fn file(&mut self, beginning: &str, ending: &str, content: &[u8]) -> Result<PathBuf, String> {
        let file = TemporaryFile::write(beginning, ending, content)
            .map_err(|error| format!("cannot write a file for the agent: {error}"))?;
        let path = file.path().to_owned();
        self.files.push(file);
        Ok(path)
    }
}

/// A text attachment as a part of the prompt; `None` if it is not text.
pub(super) fn as_text(attachment: &Attachment) -> Option<String> {
    if attachment.mime.starts_with("image/") {
        return None;
    }
    let text = String::from_utf8(STANDARD.decode(&attachment.data).ok()?).ok()?;
    Some(format!("\n\n{}:\n{text}", attachment.name))
}

/// The content of an attachment.
pub(super) fn content(attachment: &Attachment) -> Option<Vec<u8>> {
    STANDARD.decode(&attachment.data).ok()
}

/// One notice for all attachments that the agent does not accept.
pub(super) fn left_behind(agent: &str, names: &[String]) -> Option<String> {
    (!names.is_empty()).then(|| format!("{agent} does not accept these files: {}.", names.join(", ")))
}
