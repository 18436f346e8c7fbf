//! One module, read line by line.

use super::BundleError;

/// Lines that begin like this are not code.
const COMMENTS: [&str; 3] = ["//", "/*", "*"];

/// What is declared at the top of a module and may be exported there. Only what never changes: an importer gets its value
/// when it begins, not whenever it looks.
const EXPORTS: [&str; 5] = ["async function* ", "async function ", "function ", "class ", "const "];

pub(super) struct Module<'a> {
    pub name: &'a str,
    /// Where and what it imports at its beginning.
    pub imports: Vec<(usize, String)>,
    /// Where and what it imports later.
    later: Vec<(usize, String)>,
    /// The names that it exports.
    pub exports: Vec<String>,
    /// Its code, line by line as in the source.
    pub lines: Vec<String>,
}

impl<'a> Module<'a> {
    /// `is_entry`: the one that the page names; only it may wait at its top.
    pub fn parse(name: &'a str, text: &str, is_entry: bool) -> Result<Self, BundleError> {
        let mut module = Self { name, imports: Vec::new(), later: Vec::new(), exports: Vec::new(), lines: Vec::new() };
        let mut has_code = false;
        for (line, number) in text.lines().zip(1..) {
            let is_comment = COMMENTS.iter().any(|start| line.trim_start().starts_with(start));
            let code = if is_comment {
                line.to_owned()
            } else if line.starts_with("import ") || line.starts_with("import{") {
                if has_code {
                    return Err(module.error(number, "write imports before all other code"));
                }
                module.import(line, number)?
            } else {
                has_code |= !line.trim().is_empty();
                if !is_entry && waits(line) {
                    return Err(module.error(number, "only the module that a page names may await at its top"));
                }
                module.code(line, number)?
            };
            module.lines.push(code);
        }
        Ok(module)
    }

    /// Where and what it imports later.
    pub fn wanted_later(&self) -> impl Iterator<Item = (String, usize, String)> + '_ {
        self.later.iter().map(|(line, name)| (self.name.to_owned(), *line, name.clone()))
    }

    fn error(&self, line: usize, problem: &str) -> BundleError {
        BundleError::new(self.name, line, problem)
    }

    fn import(&mut self, line: &str, number: usize) -> Result<String, BundleError> {
        const FORM: &str =
            "write an import in one line, as `import { a, b as c } from \"./d.js\";` or `import \"./d.js\";`";
        let rest = line.strip_prefix("import").unwrap_or_default().trim_start();
        let (names, path) = match rest.strip_prefix('{') {
            Some(rest) => match rest.split_once('}') {
                Some((names, rest)) => (Some(names), rest.trim_start().strip_prefix("from").map(str::trim_start)),
                None => (None, None),
            },
            None => (None, Some(rest)),
        };
        let path = path.and_then(|path| path.strip_prefix('"')).and_then(|path| path.strip_suffix("\";"));
        let Some(path) = path else { return Err(self.error(number, FORM)) };
        let import = self.resolve(path, number)?;
        self.imports.push((number, import.clone()));
        let used = format!("$use({import:?});");
        Ok(match names {
            Some(names) => format!("const {{ {} }} = {used}", names.trim().trim_end_matches(',').replace(" as ", ": ")),
            None => used,
        })
    }

    fn code(&mut self, line: &str, number: usize) -> Result<String, BundleError> {
        if line.contains("import.meta") {
            return Err(self.error(number, "import.meta has no meaning in a bundle: name the address"));
        }
        let line = self.load_later(line, number)?;
        let Some(declared) = line.strip_prefix("export ") else { return Ok(line) };
        if let Some(names) = self.listed(declared) {
            self.exports.extend(names);
            return Ok(String::new());
        }
        let name = EXPORTS.iter().find_map(|kind| declared.strip_prefix(kind)).map(leading_name);
        let Some(name) = name.filter(|name| !name.is_empty()) else {
            return Err(self.error(number, "export only functions, classes and constants, by their own names"));
        };
        self.exports.push(name.to_owned());
        // As wide as before, so that columns stay.
        Ok(format!("       {declared}"))
    }

    /// The names in `{ a, b };`, if they are those of this module and never change.
    fn listed(&self, declared: &str) -> Option<Vec<String>> {
        let names: Vec<&str> = declared.strip_prefix('{')?.strip_suffix("};")?.split(',').map(str::trim).collect();
        let changes = |name: &str| {
            ["let ", "var "].iter().any(|kind| {
                self.lines.iter().any(|line| line.strip_prefix(kind).is_some_and(|rest| leading_name(rest) == name))
            })
        };
        let fits = |name: &str| !name.is_empty() && leading_name(name) == name && !changes(name);
        names.iter().all(|name| fits(name)).then(|| names.into_iter().map(str::to_owned).collect())
    }

    /// The line with `$load("name.js")` instead of `import("./name.js")`.
    fn load_later(&mut self, line: &str, number: usize) -> Result<String, BundleError> {
        const WORD: &str = "import(";
        let mut code = String::new();
        let mut rest = line;
        while let Some(at) = rest.find(WORD) {
            let (before, after) = (&rest[..at], &rest[at + WORD.len()..]);
            code.push_str(before);
            rest = after;
            if before.ends_with(|last: char| last.is_alphanumeric() || matches!(last, '_' | '$' | '.' | '#')) {
                code.push_str(WORD);
                continue;
            }
            let path = after.strip_prefix('"').and_then(|after| after.split_once("\")"));
            let Some((path, after)) = path else {
                return Err(self.error(number, "write import(\"./name.js\") with the name itself"));
            };
            let import = self.resolve(path, number)?;
            code.extend(["$load(", &format!("{import:?}"), ")"]);
            self.later.push((number, import));
            rest = after;
        }
        code.push_str(rest);
        Ok(code)
    }

    /// The name of the file that is imported by a relative path.
    fn resolve(&self, path: &str, number: usize) -> Result<String, BundleError> {
        if !path.starts_with("./") && !path.starts_with("../") {
            return Err(self.error(number, "import by a relative path that begins with ./ or ../"));
        }
        let mut parts: Vec<&str> = self.name.split('/').collect();
        parts.pop();
        for part in path.split('/') {
            match part {
                "." => {}
                ".." => drop(parts.pop()),
                name => parts.push(name),
            }
        }
        Ok(parts.join("/"))
    }
}

/// Whether a line waits outside of any function. Lines inside of one are indented.
fn waits(line: &str) -> bool {
    let declares = ["const ", "let ", "export const "].iter().any(|start| line.starts_with(start));
    line.starts_with("await ") || line.starts_with("for await ") || (declares && line.contains(" = await "))
}

fn leading_name(text: &str) -> &str {
    let end = text.find(|letter: char| !(letter.is_alphanumeric() || matches!(letter, '_' | '$')));
    &text[..end.unwrap_or(text.len())]
}
