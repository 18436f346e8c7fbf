//! The user's own prompt templates: Markdown files in the folder `prompts` beside the user's configuration file.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

/// What takes the place of these in a template is what follows its name.
pub const PLACEHOLDERS: [&str; 2] = ["$ARGUMENTS", "{{input}}"];
/// The longest name; it is a file name too.
const LONGEST_NAME: usize = 64;
const LONGEST_DESCRIPTION: usize = 200;
/// As the default limit of a prompt.
const LARGEST_FILE: u64 = 1024 * 1024;
const MOST_TEMPLATES: usize = 500;
const FENCE: &str = "---";

/// A prompt to use again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptTemplate {
    /// Its name, typed as `/name`.
    pub name: String,
    /// One line about it; empty if there is none.
    pub description: String,
    /// The prompt.
    pub text: String,
}

/// What is in the folder.
#[derive(Debug, Default)]
pub struct TemplateFolder {
    /// Sorted by name.
    pub templates: Vec<PromptTemplate>,
    /// Files that could not be used, and why.
    pub problems: Vec<String>,
}

/// Why a template could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum TemplateError {
    /// The name could be a path, or cannot be typed.
    #[error(
        "invalid name {0:?} of a prompt template; use 1 to 64 letters, digits, hyphens and underscores, and begin with a \
         letter or digit"
    )]
    Name(String),
    /// The text or the description cannot be used.
    #[error("invalid prompt template: {0}")]
    Content(String),
    /// There is none with this name.
    #[error("there is no prompt template {0:?}; GET /api/prompts lists all of them")]
    NotFound(String),
    /// The folder is full.
    #[error("there are {MOST_TEMPLATES} prompt templates, which is the limit; remove one first")]
    TooMany,
    /// The disk refused.
    #[error("could not read or write {path}")]
    File {
        /// Which file or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl PromptTemplate {
    /// Whether it has a placeholder.
    pub fn takes_input(&self) -> bool {
        PLACEHOLDERS.iter().any(|placeholder| self.text.contains(placeholder))
    }

    /// Reads a file: an optional block between lines of `---` with a `description:`, then the text.
    fn parse(name: String, content: &str) -> Self {
        let content = content.strip_prefix('\u{feff}').unwrap_or(content).replace("\r\n", "\n");
        let (head, text) = match content.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n")) {
            Some((head, text)) => (head, text),
            None => ("", content.as_str()),
        };
        let described = head.lines().find_map(|line| line.strip_prefix("description:")).map(unquoted);
        let text = text.strip_prefix('\n').unwrap_or(text);
        let text = text.strip_suffix('\n').unwrap_or(text).to_owned();
        // Without a description, the first line says what it is about.
        let description = described.unwrap_or_else(|| first_line(&text));
        Self { name, description, text }
    }

    fn content(&self) -> String {
        let Self { description, text, .. } = self;
        // A text that begins like a block would be read as one.
        if description.is_empty() && !text.starts_with(FENCE) {
            return format!("{text}\n");
        }
        format!("{FENCE}\ndescription: {description}\n{FENCE}\n\n{text}\n")
    }

    fn check(&self) -> Result<(), TemplateError> {
        check_name(&self.name)?;
        let problem = |text: &str| Err(TemplateError::Content(text.to_owned()));
        if self.text.trim().is_empty() {
            return problem("the text is empty");
        }
        if self.content().len() as u64 > LARGEST_FILE {
            return problem("the text is longer than 1 MB");
        }
        if self.description.contains(char::is_control) || self.description.len() > LONGEST_DESCRIPTION {
            return problem("the description must be one line of at most 200 bytes");
        }
        Ok(())
    }
}

/// The folder with the templates.
#[derive(Clone, Debug)]
pub struct PromptTemplates {
    folder: PathBuf,
}

impl PromptTemplates {
    /// The folder beside the user's configuration file; `None` if there is no such file anywhere.
    pub fn beside(user_file: &Path) -> Option<Self> {
        let folder = user_file.parent().filter(|folder| !folder.as_os_str().is_empty())?;
        Some(Self { folder: folder.join("prompts") })
    }

    /// Where the files are.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// All templates. Blocks, as everything here.
    pub fn list(&self) -> Result<TemplateFolder, TemplateError> {
        let mut list = TemplateFolder::default();
        let mut names = self.names()?;
        names.sort_by_cached_key(|name| (name.to_lowercase(), name.clone()));
        for name in names.into_iter().take(MOST_TEMPLATES) {
            let path = self.path(&name);
            match read(&path) {
                Ok(content) if content.trim().is_empty() => list.problems.push(format!("{} is empty.", path.display())),
                Ok(content) => list.templates.push(PromptTemplate::parse(name, &content)),
                Err(error) => list.problems.push(format!("{} could not be read: {error}.", path.display())),
            }
        }
        Ok(list)
    }

    /// Writes a template; one with the same name is replaced. Returns it as it was written.
    pub fn save(&self, template: PromptTemplate) -> Result<PromptTemplate, TemplateError> {
        let PromptTemplate { name, description, text } = template;
        let template =
            PromptTemplate { name, description: description.trim().to_owned(), text: text.trim_end().to_owned() };
        template.check()?;
        let names = self.names()?;
        if names.len() >= MOST_TEMPLATES && !names.contains(&template.name) {
            return Err(TemplateError::TooMany);
        }
        let path = self.path(&template.name);
        self.write(&path, &template.content()).map_err(|source| TemplateError::File { path, source })?;
        Ok(template)
    }

    /// Removes a template.
    pub fn remove(&self, name: &str) -> Result<(), TemplateError> {
        check_name(name)?;
        let path = self.path(name);
        match fs::remove_file(&path) {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(TemplateError::NotFound(name.to_owned())),
            Err(source) => Err(TemplateError::File { path, source }),
        }
    }

    fn names(&self) -> Result<Vec<String>, TemplateError> {
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(source) => return Err(TemplateError::File { path: self.folder.clone(), source }),
        };
        let name = |entry: fs::DirEntry| entry.file_name().to_str()?.strip_suffix(".md").map(str::to_owned);
        Ok(entries.flatten().filter_map(name).filter(|name| check_name(name).is_ok()).collect())
    }

    /// Only for names that were checked.
    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.md"))
    }

    fn write(&self, path: &Path, content: &str) -> io::Result<()> {
        fs::create_dir_all(&self.folder)?;
        let mut fresh = tempfile::Builder::new().prefix(".new-").tempfile_in(&self.folder)?;
        fresh.write_all(content.as_bytes())?;
        fresh.as_file().sync_all()?;
        fresh.persist(path).map_err(|error| error.error)?;
        Ok(())
    }
}

/// A name is a file name and a word: no separators, no dots, nothing that is typed differently than it looks.
fn check_name(name: &str) -> Result<(), TemplateError> {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    let begins_well = name.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
    if begins_well && name.len() <= LONGEST_NAME && name.bytes().all(is_word) {
        Ok(())
    } else {
        Err(TemplateError::Name(name.to_owned()))
    }
}

/// Reads a text file that is not too large. A pipe or a folder with such a name is not waited for.
fn read(path: &Path) -> io::Result<String> {
    let metadata = fs::metadata(path)?;
    if !metadata.is_file() {
        return Err(io::Error::other("it is not a file"));
    }
    if metadata.len() > LARGEST_FILE {
        return Err(io::Error::other("it is larger than 1 MB"));
    }
    let mut text = String::new();
    fs::File::open(path)?.take(LARGEST_FILE).read_to_string(&mut text)?;
    Ok(text)
}

fn unquoted(value: &str) -> String {
    let value = value.trim();
    let inner = ['"', '\''].into_iter().find_map(|quote| value.strip_prefix(quote)?.strip_suffix(quote));
    inner.unwrap_or(value).to_owned()
}

fn first_line(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let line = line.trim_start_matches('#').trim_start();
    line[..line.floor_char_boundary(LONGEST_DESCRIPTION)].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn templates() -> (tempfile::TempDir, PromptTemplates) {
        let folder = tempfile::tempdir().expect("a folder");
        let templates = PromptTemplates::beside(&folder.path().join("flightdeck.toml")).expect("a folder");
        (folder, templates)
    }

    fn template(name: &str, description: &str, text: &str) -> PromptTemplate {
        PromptTemplate { name: name.to_owned(), description: description.to_owned(), text: text.to_owned() }
    }

    #[test]
    fn a_template_is_written_read_replaced_and_removed() {
        let (_folder, templates) = templates();
        assert!(templates.list().expect("no folder is no error").templates.is_empty());
        for text in ["Review {{input}}.\n\nBe brief.", "---\nnot a block\n---\nat all", "  indented"] {
            templates.save(template("review", "Reviews: a \"file\"", text)).expect("saved");
            let list = templates.list().expect("listed");
            assert_eq!(list.templates, [template("review", "Reviews: a \"file\"", text)], "{:?}", list.problems);
        }
        templates.save(template("a", "", "# Look at $ARGUMENTS\nplease")).expect("saved");
        let list = templates.list().expect("listed").templates;
        assert_eq!((list[0].description.as_str(), list[0].takes_input()), ("Look at $ARGUMENTS", true));
        templates.remove("a").expect("removed");
        assert!(matches!(templates.remove("a"), Err(TemplateError::NotFound(_))));
        assert_eq!(templates.list().expect("listed").templates.len(), 1);
    }

    #[test]
    fn files_of_other_editors_are_read() {
        let crlf =
            PromptTemplate::parse("a".to_owned(), "\u{feff}---\r\ndescription: 'x'\r\nmodel: y\r\n---\r\nDo it\r\n");
        assert_eq!(crlf, template("a", "x", "Do it"));
        let open = PromptTemplate::parse("a".to_owned(), "---\ndescription: x\nno end");
        assert_eq!(open.text, "---\ndescription: x\nno end");
    }

    #[test]
    fn a_name_is_never_a_path() {
        let (folder, templates) = templates();
        fs::write(folder.path().join("secret.md"), "x").expect("written");
        for name in ["", "..", "../secret", "a/b", "a\\b", ".hidden", "-x", "a b", "ü", "a\0", "a.b", &"x".repeat(65)]
        {
            assert!(matches!(templates.save(template(name, "", "x")), Err(TemplateError::Name(_))), "{name:?}");
            assert!(matches!(templates.remove(name), Err(TemplateError::Name(_))), "{name:?}");
        }
        assert!(folder.path().join("secret.md").exists());
    }

    #[test]
    fn what_cannot_be_used_is_refused_or_reported() {
        let (_folder, templates) = templates();
        for (description, text) in [("", "  "), ("two\nlines", "x"), ("", &*"x".repeat(1024 * 1024))] {
            assert!(matches!(templates.save(template("a", description, text)), Err(TemplateError::Content(_))));
        }
        templates.save(template("good", "", "x")).expect("saved");
        fs::create_dir(templates.folder().join("folder.md")).expect("made");
        fs::write(templates.folder().join("binary.md"), [0xff, 0xfe]).expect("written");
        fs::write(templates.folder().join("notes.txt"), "x").expect("written");
        fs::write(templates.folder().join("two words.md"), "x").expect("written");
        let list = templates.list().expect("listed");
        assert_eq!((list.templates.len(), list.problems.len()), (1, 2), "{:?}", list.problems);
    }
}
