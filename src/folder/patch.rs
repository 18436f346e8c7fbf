//! What differs between two moments as a patch, which `git apply` accepts.

use std::ffi::OsString;
use std::path::Path;

use super::FolderError;
use super::comparison::Comparison;
use super::git::{Call, Git, bytes_of_path};
use super::raw_diff::TreeChange;
use super::snapshot_store::SnapshotStore;
use crate::process::Captured;

/// The longest patch.
const PATCH_BYTES: usize = 16 * 1024 * 1024;
const FLAGS: [&str; 2] = ["--binary", "--full-index"];

/// A patch, and what it leaves out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patch {
    /// The text.
    pub text: String,
    /// Paths, and why they are not in it.
    pub left_out: Vec<(String, &'static str)>,
}

impl Comparison {
    /// One of its files or all of them as a patch. It is always text: what is not UTF-8 is in it as a binary patch.
    pub async fn patch(
        &self,
        folder: &Path,
        store: &SnapshotStore,
        file: Option<&TreeChange>,
    ) -> Result<Patch, FolderError> {
        let git = store.git(Git::of(folder).await?, None).await?;
        let chosen: Vec<&TreeChange> = file.map_or_else(|| self.files.iter().collect(), |file| vec![file]);
        let mut patch = Patch { text: String::new(), left_out: Vec::new() };
        let mut files = Vec::new();
        for file in chosen {
            match self.reason_against_patch(file) {
                Some(reason) => patch.left_out.push((file.change.shown_path(), reason)),
                None => files.push(file),
            }
        }
        // All at once, if nothing stands against it: a process for each file takes long.
        if file.is_none() && !files.is_empty() && patch.left_out.is_empty() && !self.truncated {
            let whole = checked(self.unified(&git, None, &FLAGS, PATCH_BYTES).await?)?;
            if let Ok(text) = String::from_utf8(whole) {
                patch.text = text;
                return Ok(patch);
            }
        }
        for file in files {
            match self.patch_of(&git, file).await? {
                Some(text) => patch.text.push_str(&text),
                None => patch.left_out.push((file.change.shown_path(), "it is not UTF-8 text")),
            }
            if patch.text.len() > PATCH_BYTES {
                return Err(too_large());
            }
        }
        Ok(patch)
    }

    /// The patch of one file; a binary patch if its content is not UTF-8.
    async fn patch_of(&self, git: &Git, file: &TreeChange) -> Result<Option<String>, FolderError> {
        let bytes = checked(self.unified(git, Some(file), &FLAGS, PATCH_BYTES).await?)?;
        if let Ok(text) = String::from_utf8(bytes) {
            return Ok(Some(text));
        }
        // Attributes from a tree of our own say that every file is binary.
        let blob = git.line(Call { input: b"* -diff\n", ..Call::new(["hash-object", "-w", "--stdin"]) }).await?;
        let entry = format!("100644 blob {blob}\t.gitattributes\n");
        let attributes = git.line(Call { input: entry.as_bytes(), ..Call::new(["mktree"]) }).await?;
        let paths = self.paths(Some(file));
        let call = Call {
            options: vec![OsString::from(format!("--attr-source={attributes}"))],
            paths: &paths,
            byte_limit: PATCH_BYTES,
            ..self.diff_call(&[&["-r", "-p", "--src-prefix=a/", "--dst-prefix=b/"], FLAGS.as_slice()].concat())
        };
        Ok(String::from_utf8(checked(git.call(call).await?)?).ok())
    }

    fn reason_against_patch(&self, file: &TreeChange) -> Option<&'static str> {
        let is_repository = file.before.is_repository() || file.after.is_repository();
        if is_repository || bytes_of_path(&file.change.path).ends_with(b"/") {
            Some("it is another repository")
        } else if self.is_large(file) {
            Some("it is too large, or not readable")
        } else {
            None
        }
    }
}

fn checked(answer: Captured) -> Result<Vec<u8>, FolderError> {
    if answer.complete { Ok(answer.output) } else { Err(too_large()) }
}

fn too_large() -> FolderError {
    FolderError::PatchTooLarge { limit: PATCH_BYTES }
}
