//! How well a path matches what somebody types.

/// What somebody types, ready to be compared with many paths.
pub(super) struct Query {
    /// In lower case, without white space.
    letters: String,
}

/// Better matches are smaller: the kind of match, how scattered the letters are, how deep and how long the path is.
pub(super) type Rank = (u8, usize, usize, usize);

impl Query {
    pub fn new(text: &str) -> Self {
        let text = text.strip_prefix("./").unwrap_or(text);
        Self { letters: text.to_lowercase().split_whitespace().collect() }
    }

    /// `None` if the path does not match.
    pub fn rank(&self, path: &str) -> Option<Rank> {
        let depth = path.matches('/').count();
        if self.letters.is_empty() {
            return Some((0, 0, depth, 0));
        }
        let lower = path.to_lowercase();
        let name = lower.rsplit('/').next().unwrap_or(&lower);
        let letters = self.letters.as_str();
        let stem = name.split('.').next().unwrap_or(name);
        let (kind, scatter) = if name == letters || stem == letters {
            (0, 0)
        } else if name.starts_with(letters) || lower.starts_with(letters) {
            (1, 0)
        } else if let Some(at) = name.find(letters) {
            (if begins_word(name, at) { 2 } else { 3 }, 0)
        } else if lower.contains(letters) {
            (4, 0)
        } else if let Some(gaps) = gaps(name, letters) {
            (5, gaps)
        } else {
            (6, gaps(&lower, letters)?)
        };
        Some((kind, scatter, depth, path.len()))
    }
}

fn begins_word(name: &str, at: usize) -> bool {
    name[..at].chars().next_back().is_none_or(|before| !before.is_alphanumeric())
}

/// How many characters lie between the letters, taken from the end, where paths differ; `None` if they are not all
/// there in order.
fn gaps(text: &str, letters: &str) -> Option<usize> {
    let mut gaps = 0;
    let mut rest = text;
    let mut is_last = true;
    for letter in letters.chars().rev() {
        let before = rest.rfind(letter)?;
        if !is_last {
            gaps += rest[before..].chars().count() - 1;
        }
        is_last = false;
        rest = &rest[..before];
    }
    Some(gaps)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(typed: &str, paths: &[&str], expected: &[&str]) {
        let query = Query::new(typed);
        let mut found: Vec<_> = paths.iter().filter_map(|path| Some((query.rank(path)?, *path))).collect();
        found.sort_unstable();
        let found: Vec<&str> = found.into_iter().map(|(_, path)| path).collect();
        assert_eq!(found, expected, "{typed}");
    }

    #[test]
    fn names_come_before_folders_and_runs_before_scattered_letters() {
        let paths = ["src/main.rs", "src/domain.rs", "main/other.rs", "my_area/index.rs", "docs/zzz.md"];
        check("main", &paths, &["src/main.rs", "main/other.rs", "src/domain.rs", "my_area/index.rs"]);
        check("src/ma", &paths, &["src/main.rs", "src/domain.rs"]);
        check("MAIN.RS", &paths, &["src/main.rs", "src/domain.rs", "main/other.rs", "my_area/index.rs"]);
        check("zq", &paths, &[]);
    }

    #[test]
    fn without_letters_files_near_the_top_come_first() {
        check("", &["b/c/d", "b/c", "z", "a"], &["a", "z", "b/c", "b/c/d"]);
    }

    #[test]
    fn letters_of_other_scripts_and_spaces_do_no_harm() {
        check("ÄRGER", &["ordner/ärger.txt", "x"], &["ordner/ärger.txt"]);
        check("my file", &["my file.txt", "myfile.txt"], &["myfile.txt", "my file.txt"]);
        check("日志", &["src/日常/志.md"], &["src/日常/志.md"]);
    }
}
