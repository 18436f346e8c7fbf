//! The project's own sources, for tests that compare code with rules and documentation.

use std::path::{Path, PathBuf};

/// A Rust file below `src/`.
pub struct SourceFile {
    /// The path below `src/`, with `/` between its parts.
    pub path: String,
    /// The text without comments and without the content of strings.
    pub code: String,
    /// The text as it is.
    pub text: String,
}

impl SourceFile {
    /// The top-level module that the file belongs to; empty for `lib.rs` and `main.rs`.
    pub fn module(&self) -> &str {
        self.path.split_once('/').map_or("", |(module, _)| module)
    }
}

/// A path below the root of the project.
pub fn project_path(relative: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(relative)
}

/// The content of a file below the root of the project.
pub fn project_file(relative: &str) -> String {
    let path = project_path(relative);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// All Rust files below a folder of `src/`, or below `src/` itself if the name is empty.
pub fn source_files(folder: &str) -> Vec<SourceFile> {
    let sources = project_path("src");
    let mut paths = Vec::new();
    collect(&sources.join(folder), &mut paths);
    paths.sort();
    assert!(!paths.is_empty(), "no sources in src/{folder}");
    let read = |path: PathBuf| {
        let below = path.strip_prefix(&sources).expect("below src");
        let parts: Vec<_> = below.components().map(|part| part.as_os_str().to_string_lossy()).collect();
        let text = std::fs::read_to_string(&path).expect("readable");
        SourceFile { path: parts.join("/"), code: code_of(&text), text }
    };
    paths.into_iter().map(read).collect()
}

/// The names of the folders in a folder of `src/`.
pub fn source_folders(folder: &str) -> Vec<String> {
    let entries = std::fs::read_dir(project_path("src").join(folder)).expect("readable");
    let folders = entries.map(|entry| entry.expect("readable").path()).filter(|path| path.is_dir());
    let mut names: Vec<String> =
        folders.map(|path| path.file_name().expect("a name").to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn collect(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("readable") {
        let path = entry.expect("readable").path();
        if path.is_dir() {
            collect(&path, into);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            into.push(path);
        }
    }
}

/// Rust code without line comments and without the content of strings.
pub fn code_of(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let skipped = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if letter == '"' {
            code.push_str("\"\"");
            length_of_string(rest)
        } else if let Some(hashes) = raw_string(rest)
            && !code.ends_with(|before: char| before.is_alphanumeric() || before == '_')
        {
            code.push_str("\"\"");
            let end = format!("\"{}", "#".repeat(hashes));
            let start = hashes + 2;
            rest[start..].find(&end).map_or(rest.len(), |length| start + length + end.len())
        } else if rest.starts_with("'\"'") {
            3
        } else if let Some(escaped) = rest.strip_prefix("'\\") {
            escaped.char_indices().skip(1).find(|(_, letter)| *letter == '\'').map_or(rest.len(), |(at, _)| at + 3)
        } else {
            code.push(letter);
            letter.len_utf8()
        };
        rest = &rest[skipped..];
    }
    code
}

/// The number of hashes, if a raw string begins here.
fn raw_string(text: &str) -> Option<usize> {
    let after = text.strip_prefix('r')?;
    let hashes = after.len() - after.trim_start_matches('#').len();
    after[hashes..].starts_with('"').then_some(hashes)
}

fn length_of_string(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, letter) in text.char_indices().skip(1) {
        match letter {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[test]
fn comments_and_strings_are_not_code() {
    let text =
        "use a; // use b\nlet c = \"use \\\" d\"; let e = r#\"use \"f\"#; let g = ['\"', '\\'', '\\\\']; h::<'i>(r)";
    assert_eq!(code_of(text), "use a; \nlet c = \"\"; let e = \"\"; let g = [, , ]; h::<'i>(r)");
}
