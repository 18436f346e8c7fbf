//! The pages from a folder instead of the program, for development builds.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

use super::web_bundle::{Sources, made_files};
use super::web_files::is_page;

/// The files below a folder, and those that are made from them.
pub(super) fn files_in(folder: &Path) -> BTreeMap<String, Cow<'static, [u8]>> {
    let mut files: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for path in std::fs::read_dir(next).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path())) {
            if path.is_dir() {
                folders.push(path);
            } else if let (Some(name), Ok(content)) = (name_below(folder, &path), std::fs::read(&path)) {
                files.insert(name, content);
            }
        }
    }
    let texts = files.iter().filter_map(|(name, content)| Some((name.as_str(), std::str::from_utf8(content).ok()?)));
    match made_files(&texts.collect::<Sources<'_>>()) {
        Ok(made) => files.extend(made.into_iter().map(|(name, text)| (name, text.into_bytes()))),
        // A build would end with this; here the pages say it.
        Err(error) => {
            tracing::error!(%error, "cannot put the pages together");
            let pages = files.iter_mut().filter(|(name, _)| is_page(name));
            pages.for_each(|(_, content)| *content = error.to_string().into_bytes());
        }
    }
    files.into_iter().map(|(name, content)| (name, Cow::Owned(content))).collect()
}

fn name_below(folder: &Path, path: &Path) -> Option<String> {
    Some(path.strip_prefix(folder).ok()?.to_str()?.replace('\\', "/"))
}
