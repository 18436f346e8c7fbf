//! The pages as browsers get them: few files instead of many.
//!
//! The sources stay plain modules and stylesheets, and are served as such too. A page, however, loads its modules as one
//! file, what they import later as a second one, and its stylesheets together. `build.rs` uses this to embed the result;
//! a development build that serves the pages from a folder uses it at its start. So it knows nothing but the standard
//! library.
//!
//! What must always hold here: a module runs once, after everything that it imports, in the order of its imports, as the
//! browser would run it. What cannot be kept that way (cycles, re-exports, …) is an error that names the file and line.

mod chunk;
mod module;
pub mod page;
mod source_map;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use module::Module;

/// Name and text of every source file.
pub type Sources<'a> = BTreeMap<&'a str, &'a str>;

/// A source that cannot be put together with others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BundleError {
    /// The name of the file, below `web/`.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// What is wrong, and what to write instead.
    pub problem: String,
}

impl BundleError {
    fn new(file: &str, line: usize, problem: impl Into<String>) -> Self {
        Self { file: file.to_owned(), line, problem: problem.into() }
    }
}

impl fmt::Display for BundleError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "web/{}:{}: {}", self.file, self.line, self.problem)
    }
}

impl std::error::Error for BundleError {}

/// The files that are made from the sources, by name: each page that loads modules, the modules and stylesheets of these
/// pages, and source maps. A page takes the place of its source. The mark [`page::VERSION_MARK`] in a page stands for the
/// version.
pub fn made_files(sources: &Sources<'_>) -> Result<BTreeMap<String, String>, BundleError> {
    let mut made = BTreeMap::new();
    for (name, html) in sources.iter().filter(|(name, _)| is_page(name)) {
        let Some(entry) = page::entry_of(html) else { continue };
        let chunks = Chunks::of(sources, entry, name)?;
        made.extend(chunks.files(entry));
        made.extend(page::sheet(name, html, sources)?);
        made.insert((*name).to_owned(), page::html(name, html, entry));
    }
    Ok(made)
}

fn is_page(name: &str) -> bool {
    name.strip_suffix(".html").is_some_and(|stem| !stem.contains('/'))
}

/// The modules of a page.
struct Chunks<'a> {
    /// What the page runs at first, in the order in which it runs.
    first: Vec<Module<'a>>,
    /// What may be imported later; empty if nothing is.
    later: Vec<Module<'a>>,
}

impl<'a> Chunks<'a> {
    fn of(sources: &Sources<'a>, entry: &'a str, page: &str) -> Result<Self, BundleError> {
        let mut walk = Walk { sources, entry, done: BTreeSet::new() };
        let asked = Place { file: page, line: 1 };
        let first = walk.with_imports(entry, asked)?;
        let mut later: Vec<Module<'a>> = Vec::new();
        // What a later module imports later is in the same chunk.
        let mut open: Vec<(String, usize, String)> = first.iter().flat_map(Module::wanted_later).collect();
        while let Some((file, line, name)) = open.pop() {
            let found = walk.with_imports(&name, Place { file: &file, line })?;
            open.extend(found.iter().flat_map(Module::wanted_later));
            later.extend(found);
        }
        later.sort_by_key(|module| module.name);
        Ok(Self { first, later })
    }

    fn files(&self, entry: &str) -> Vec<(String, String)> {
        let mut files = Vec::from(chunk::first(entry, &self.first, !self.later.is_empty()));
        if !self.later.is_empty() {
            files.extend(chunk::later(entry, &self.later));
        }
        files
    }
}

/// Where something is imported.
#[derive(Clone, Copy)]
struct Place<'a> {
    file: &'a str,
    line: usize,
}

struct Walk<'w, 'a> {
    sources: &'w Sources<'a>,
    entry: &'w str,
    done: BTreeSet<&'a str>,
}

impl<'a> Walk<'_, 'a> {
    /// A module and everything that it imports, each after what it imports itself, without what was found before.
    fn with_imports(&mut self, name: &str, asked: Place<'_>) -> Result<Vec<Module<'a>>, BundleError> {
        let mut found = Vec::new();
        self.visit(name, asked, &mut Vec::new(), &mut found)?;
        Ok(found)
    }

    fn visit(
        &mut self,
        name: &str,
        asked: Place<'_>,
        path: &mut Vec<String>,
        found: &mut Vec<Module<'a>>,
    ) -> Result<(), BundleError> {
        if path.iter().any(|open| open == name) {
            let cycle = path.iter().skip_while(|open| *open != name).map(String::as_str);
            let cycle = cycle.chain([name]).collect::<Vec<_>>().join(" → ");
            return Err(BundleError::new(asked.file, asked.line, format!("imports form a cycle: {cycle}")));
        }
        if self.done.contains(name) {
            return Ok(());
        }
        let Some((&name, &text)) = self.sources.get_key_value(name) else {
            return Err(BundleError::new(asked.file, asked.line, format!("there is no file web/{name}")));
        };
        let module = Module::parse(name, text, name == self.entry)?;
        path.push(name.to_owned());
        for (line, import) in &module.imports {
            self.visit(import, Place { file: name, line: *line }, path, found)?;
        }
        path.pop();
        self.done.insert(name);
        found.push(module);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "<head>\n<script type=\"module\" src=\"a.js\"></script>\n</head>\n";

    fn made(sources: &[(&'static str, &'static str)]) -> Result<BTreeMap<String, String>, BundleError> {
        made_files(&sources.iter().copied().chain([("a.html", PAGE)]).collect())
    }

    /// The places of texts in a file, which must rise.
    fn check_order(text: &str, parts: &[&str]) {
        let places: Vec<_> =
            parts.iter().map(|part| text.find(part).unwrap_or_else(|| panic!("{part}: {text}"))).collect();
        assert!(places.is_sorted(), "{places:?}: {text}");
    }

    fn check_refused(module: &'static str, line: usize, problem: &str) {
        let error = made(&[("a.js", "import { b } from \"./lib/b.js\";\n"), ("lib/b.js", module), ("c.js", "")])
            .expect_err(module);
        assert_eq!((error.file.as_str(), error.line), ("lib/b.js", line), "{error}");
        assert!(error.problem.contains(problem), "{error}");
    }

    #[test]
    fn what_is_imported_comes_first_and_what_is_imported_later_comes_in_a_second_file() {
        let files = made(&[
            ("a.js", "import { b } from \"./lib/b.js\";\nconst { d } = await import(\"./d.js\");\nb(d);\n"),
            ("lib/b.js", "import { c as see } from \"../c.js\";\nexport function b() { return see; }\n"),
            ("c.js", "const c = 1;\nconst unused = 2;\nexport { c, unused };\n"),
            ("d.js", "import { c } from \"./c.js\";\nexport class d { async e() { return import(\"./e.js\"); } }\n"),
            ("e.js", "export async function e() {}\n"),
        ])
        .expect("made");
        let first = &files["a.bundle.js"];
        check_order(first, &["\"c.js\"", "\"lib/b.js\"", "\"a.js\"", "await $use(\"a.js\")"]);
        assert!(first.contains("const { c: see } = $use(\"c.js\");"), "{first}");
        assert!(first.contains("$load(\"d.js\")") && !first.contains("class d"), "{first}");
        assert!(first.contains("./a.later.js"), "{first}");
        let later = &files["a.later.js"];
        assert!(
            later.contains("$use(\"c.js\")") && !later.contains("c = 1") && first.contains("return { c, unused };"),
            "a module is in one file only: {later}"
        );
        assert!(later.contains("return { d };") && later.contains("return { e };"), "{later}");
        assert!(files["a.html"].contains("src=\"/version/{{version}}/a.bundle.js\""));
    }

    #[test]
    fn a_page_whose_modules_import_nothing_later_has_one_file() {
        let files = made(&[("a.js", "document.title = \"a\";\n")]).expect("made");
        assert_eq!(files.keys().collect::<Vec<_>>(), ["a.bundle.js", "a.bundle.js.map", "a.html"]);
        assert!(!files["a.bundle.js"].contains("later.js"));
    }

    #[test]
    fn cycles_are_refused() {
        let sources = [
            ("a.js", "import { b } from \"./b.js\";\n"),
            ("b.js", "// Why.\nimport { c } from \"./c.js\";\n"),
            ("c.js", "import { b } from \"./b.js\";\n"),
        ];
        let error = made(&sources).expect_err("a cycle");
        assert_eq!(error.to_string(), "web/c.js:1: imports form a cycle: b.js → c.js → b.js");
    }

    #[test]
    fn what_cannot_be_kept_is_refused_with_its_place() {
        check_refused("export { c } from \"../c.js\";\n", 1, "export");
        check_refused("\nexport * from \"../c.js\";\n", 2, "export");
        check_refused("export default class {}\n", 1, "export");
        check_refused("const b = 1;\nexport { b as c };\n", 2, "export");
        check_refused("let b = 1;\nexport { b };\n", 2, "export");
        check_refused("export let b = 1;\n", 1, "export");
        check_refused("export const { b } = window;\n", 1, "export");
        check_refused("import b from \"../c.js\";\n", 1, "import");
        check_refused("import * as b from \"../c.js\";\n", 1, "import");
        check_refused("import {\n  b,\n} from \"../c.js\";\n", 1, "one line");
        check_refused("import { b } from \"elsewhere\";\n", 1, "relative");
        check_refused("const a = 1;\nimport { b } from \"../c.js\";\n", 2, "before");
        check_refused("import(name);\n", 1, "import(");
        check_refused("const here = import.meta.url;\n", 1, "import.meta");
        check_refused("const a = 1;\nconst b = await a;\n", 2, "await");
        check_refused("import { c } from \"../missing.js\";\n", 1, "no file web/missing.js");
        check_refused("import(\"../missing.js\");\n", 1, "no file web/missing.js");
    }

    #[test]
    fn a_line_of_a_bundle_leads_to_its_source() {
        let files = made(&[
            ("a.js", "import { b } from \"./lib/b.js\";\n\nb();\n"),
            ("lib/b.js", "export function b() {\n  throw new Error(\"here\");\n}\n"),
        ])
        .expect("made");
        for (text, source, line) in [("throw new Error", "lib/b.js", 2), ("b();", "a.js", 3)] {
            let bundled = files["a.bundle.js"].lines().position(|one| one.contains(text)).expect("there");
            let map = &files["a.bundle.js.map"];
            assert_eq!(source_map::tests::source_of(map, bundled), Some((source.to_owned(), line)), "{text}");
        }
        assert!(files["a.bundle.js"].ends_with("//# sourceMappingURL=a.bundle.js.map\n"));
    }
}
