//! Syntax highlighting with classes.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::LazyLock;

use syntect::parsing::{ParseState, Scope, ScopeStack, SyntaxReference, SyntaxSet};

use super::budget::Budget;
use super::html::Html;

/// Longer code is not highlighted.
const LONGEST_CODE: usize = 200 * 1024;
/// Code with a longer line is not highlighted: the cost grows with the square of the length.
const LONGEST_LINE: usize = 500;

static SYNTAXES: LazyLock<SyntaxSet> = LazyLock::new(two_face::syntax::extra_newlines);

/// The class for a scope with this prefix; the first match wins. `None` stops the search, so that outer scopes do not
/// colour embedded code.
static CLASSES: LazyLock<Vec<(Scope, Option<&'static str>)>> = LazyLock::new(|| {
    const NAMES: [(&str, Option<&str>); 38] = [
        ("meta.interpolation", None),
        ("meta.template.expression", None),
        ("source", None),
        ("comment", Some("hl-comment")),
        ("constant.character.escape", Some("hl-escape")),
        ("constant.numeric", Some("hl-number")),
        ("constant.language", Some("hl-constant")),
        ("constant", Some("hl-constant")),
        ("string", Some("hl-string")),
        ("keyword.operator.word", Some("hl-keyword")),
        ("keyword.operator", Some("hl-operator")),
        ("keyword", Some("hl-keyword")),
        ("storage", Some("hl-keyword")),
        ("variable.language", Some("hl-keyword")),
        ("variable.function", Some("hl-function")),
        ("variable.annotation", Some("hl-attribute")),
        ("variable.parameter", Some("hl-variable")),
        ("entity.name.function", Some("hl-function")),
        ("entity.name.macro", Some("hl-function")),
        ("entity.name.tag", Some("hl-tag")),
        ("entity.name.section", Some("hl-heading")),
        ("entity.name.type", Some("hl-type")),
        ("entity.name.class", Some("hl-type")),
        ("entity.name.struct", Some("hl-type")),
        ("entity.name.enum", Some("hl-type")),
        ("entity.name.trait", Some("hl-type")),
        ("entity.name.interface", Some("hl-type")),
        ("entity.other.inherited-class", Some("hl-type")),
        ("entity.other.attribute-name", Some("hl-attribute")),
        ("support.function", Some("hl-function")),
        ("support.macro", Some("hl-function")),
        ("support.type", Some("hl-type")),
        ("support.class", Some("hl-type")),
        ("support.constant", Some("hl-constant")),
        ("markup.heading", Some("hl-heading")),
        ("markup.underline.link", Some("hl-link")),
        ("markup.inserted", Some("hl-inserted")),
        ("markup.deleted", Some("hl-deleted")),
    ];
    NAMES.into_iter().filter_map(|(name, class)| Some((Scope::new(name).ok()?, class))).collect()
});

/// Language names that people write after a fence, and the names of the syntaxes.
const ALIASES: [(&str, &str); 18] = [
    ("shell", "sh"),
    ("console", "sh"),
    ("shellsession", "sh"),
    ("shell-session", "sh"),
    ("terminal", "sh"),
    ("ksh", "sh"),
    ("golang", "go"),
    ("node", "js"),
    ("mjs", "js"),
    ("cjs", "js"),
    ("mts", "ts"),
    ("cts", "ts"),
    ("jsonc", "json"),
    ("json5", "json"),
    ("jsonl", "json"),
    ("ndjson", "json"),
    ("csharp", "cs"),
    ("c++", "cpp"),
];

/// The language in a fence's info string, safe to show; empty if there is none.
pub(super) fn language_word(info: &str) -> String {
    let is_part = |letter: &char| letter.is_alphanumeric() || matches!(letter, '+' | '#' | '-' | '_' | '.');
    info.trim_start().chars().take_while(is_part).take(30).collect()
}

/// The language name for a file: its extension, or its name.
pub(super) fn language_of_path(path: &str) -> String {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let word = name.rsplit_once('.').map_or(name, |(_, extension)| extension);
    if syntax(word).is_some() { language_word(word) } else { String::new() }
}

fn syntax(word: &str) -> Option<&'static SyntaxReference> {
    if word.is_empty() {
        return None;
    }
    let lower = word.to_lowercase();
    let known = ALIASES.iter().find(|(alias, _)| *alias == lower).map_or(lower.as_str(), |(_, name)| name);
    SYNTAXES.find_syntax_by_token(known).filter(|syntax| syntax.name != "Plain Text")
}

/// Highlighted code, or plain text if the language is unknown or the code too long.
pub(super) fn highlighted(code: &str, language: &str, budget: &mut Budget) -> Html {
    let plain = || {
        let mut html = Html::new();
        html.text(code);
        html
    };
    let too_much = code.len() > LONGEST_CODE || code.lines().any(|line| line.len() > LONGEST_LINE);
    let Some(syntax) = syntax(language).filter(|_| !too_much) else { return plain() };
    if !budget.take_highlighting(code.len()) {
        return plain();
    }
    // The syntaxes are large and third-party; a bug in one of them must not break the whole block.
    match catch_unwind(AssertUnwindSafe(|| with_classes(code, syntax, budget))) {
        Ok(Some(html)) => html,
        Ok(None) => {
            if budget.is_over() {
                budget.note_ran_out();
            }
            plain()
        }
        Err(_) => {
            tracing::warn!(syntax = syntax.name, "highlighting panicked; the code is shown plain");
            plain()
        }
    }
}

/// `None` if the time has run out or the syntax fails.
fn with_classes(code: &str, syntax: &SyntaxReference, budget: &Budget) -> Option<Html> {
    let mut parser = ParseState::new(syntax);
    let mut scopes = ScopeStack::new();
    let mut html = Html::new();
    let mut line_with_end = String::new();
    for line in code.split_inclusive('\n') {
        if budget.is_over() {
            return None;
        }
        // The syntaxes require a newline after every line, including the last.
        line_with_end.clear();
        line_with_end.push_str(line.trim_end_matches('\n'));
        line_with_end.push('\n');
        let mut spans = Spans { html: &mut html, line, from: 0, class: class_of(&scopes) };
        for (position, operation) in parser.parse_line(&line_with_end, &SYNTAXES).ok()? {
            scopes.apply(&operation).ok()?;
            spans.change(position.min(line_with_end.len() - 1), class_of(&scopes));
        }
        spans.finish();
    }
    Some(html)
}

fn class_of(scopes: &ScopeStack) -> Option<&'static str> {
    scopes
        .as_slice()
        .iter()
        .rev()
        .find_map(|scope| CLASSES.iter().find(|(prefix, _)| prefix.is_prefix_of(*scope)).map(|(_, class)| *class))
        .flatten()
}

/// The spans of one line; adjacent spans of the same class are merged.
struct Spans<'a> {
    html: &'a mut Html,
    line: &'a str,
    from: usize,
    class: Option<&'static str>,
}

impl Spans<'_> {
    fn change(&mut self, position: usize, class: Option<&'static str>) {
        if class != self.class {
            self.write_to(position);
            self.class = class;
        }
    }

    fn finish(mut self) {
        self.write_to(self.line.trim_end_matches('\n').len());
        self.html.text(&self.line[self.from..]);
    }

    fn write_to(&mut self, position: usize) {
        let Some(text) = self.line.get(self.from..position).filter(|text| !text.is_empty()) else { return };
        match self.class.filter(|_| !text.trim().is_empty()) {
            Some(class) => self.html.markup("<span class=\"").markup(class).markup("\">").text(text).markup("</span>"),
            None => self.html.text(text),
        };
        self.from = position;
    }
}

/// Every class that [`highlighted`] may use.
pub(super) fn classes() -> impl Iterator<Item = &'static str> {
    CLASSES.iter().filter_map(|(_, class)| *class)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(language: &str, code: &str, expected: &str) {
        assert_eq!(highlighted(code, language, &mut Budget::default()).as_str(), expected);
    }

    #[test]
    fn parts_of_code_get_classes() {
        check(
            "rust",
            "fn main() { // <hi>\n",
            "<span class=\"hl-keyword\">fn</span> <span class=\"hl-function\">main</span>() { \
             <span class=\"hl-comment\">// &lt;hi&gt;</span>\n",
        );
        check(
            "json",
            "{\"a\": 1}",
            "{<span class=\"hl-string\">&quot;a&quot;</span>: <span class=\"hl-number\">1</span>}",
        );
        check(
            "ts",
            "const a = `x${1}`;",
            "<span class=\"hl-keyword\">const</span> a <span class=\"hl-operator\">=</span> \
             <span class=\"hl-string\">`x</span>${<span class=\"hl-number\">1</span>}<span class=\"hl-string\">`</span>;",
        );
    }

    #[test]
    fn the_languages_that_people_use_are_known() {
        let words = "rust rs python py javascript js typescript ts tsx json toml yaml yml bash sh shell console go java c \
                     cpp c++ csharp cs ruby php sql html css scss xml dockerfile makefile kotlin swift lua diff markdown \
                     md hcl nix zig vue graphql protobuf ini Rust JSON";
        for word in words.split_whitespace() {
            assert!(syntax(word).is_some(), "{word}");
        }
        for word in ["", "text", "nonsense", "txt"] {
            assert!(syntax(word).is_none(), "{word}");
        }
        assert_eq!(language_of_path("/a/b.c/main.rs"), "rs");
        assert_eq!(language_of_path("C:\\x\\Dockerfile"), "Dockerfile");
        assert_eq!(language_of_path("/a/b.zzz"), "");
        assert_eq!(language_word(" rust,ignore title=\"x\""), "rust");
        assert_eq!(language_word("\"><script>"), "");
    }

    #[test]
    fn what_is_too_much_is_plain_and_whole() {
        let long_line = format!("let a = \"{}\";", "<".repeat(LONGEST_LINE));
        let long_code = "let a = 1;\n".repeat(LONGEST_CODE / 10);
        for code in [long_line, long_code] {
            let mut expected = Html::new();
            expected.text(&code);
            assert_eq!(highlighted(&code, "rust", &mut Budget::default()), expected);
        }
        assert_eq!(highlighted("let a = 1;", "rust", &mut Budget::used_up()).as_str(), "let a = 1;");
        let mut late = Budget::without_time();
        assert_eq!(highlighted("let a = 1;", "rust", &mut late).as_str(), "let a = 1;");
        assert!(late.ran_out());
    }

    #[test]
    fn many_small_pieces_cost_no_more_than_one_large_one() {
        let code = "let a = 1;";
        let mut budget = Budget::with_highlighting(code.len() * 3);
        let coloured = (0..10).filter(|_| highlighted(code, "rust", &mut budget).as_str().contains("hl-")).count();
        assert_eq!(coloured, 3);
    }

    #[test]
    fn no_class_is_unknown_to_the_sanitiser() {
        assert!(classes().count() > 30);
        assert!(classes().all(|class| class.starts_with("hl-")));
    }
}
