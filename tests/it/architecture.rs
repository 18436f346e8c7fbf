//! Which module may use which, and which crates each may name. `ARCHITECTURE.md` has the same table for people.

use std::collections::BTreeSet;

use crate::support::markdown::{code_spans, section, table_rows};
use crate::support::source::{SourceFile, code_of, project_file, source_files, source_folders};

/// Which module may use which. A module may always use itself.
const MAY_USE: [(&str, &[&str]); 20] = [
    ("model", &[]),
    ("private_file", &[]),
    ("scripted_model", &[]),
    ("config", &["model"]),
    ("process", &["private_file", "model"]),
    ("agent", &["process", "private_file", "scripted_model", "model"]),
    ("store", &["model"]),
    ("folder", &["process", "model"]),
    ("render", &["model"]),
    ("search", &["store", "model"]),
    ("export", &["store", "model"]),
    ("session", &["agent", "search", "store", "model"]),
    ("capture", &["agent", "store", "model"]),
    ("notify", &["store", "model"]),
    ("jobs", &["session", "agent", "process", "store", "folder", "model"]),
    ("review", &["session", "store", "folder", "private_file", "model"]),
    ("doctor", &["agent", "process", "store", "scripted_model", "private_file", "model"]),
    (
        "http",
        &[
            "capture", "jobs", "review", "notify", "doctor", "session", "search", "export", "agent", "store", "folder",
            "render", "config", "model",
        ],
    ),
    ("client", &["store", "model"]),
    (
        "cli",
        &[
            "client",
            "http",
            "capture",
            "jobs",
            "review",
            "notify",
            "doctor",
            "session",
            "agent",
            "process",
            "store",
            "config",
            "private_file",
            "model",
        ],
    ),
];

/// Crates that only these folders may name.
const ONLY_IN: [(&str, &[&str]); 13] = [
    ("axum", &["http", "scripted_model"]),
    ("hyper", &["http", "client"]),
    ("rusqlite", &["store/sqlite"]),
    ("clap", &["cli"]),
    ("rustyline", &["cli/turn"]),
    ("tar", &["cli/backup"]),
    ("qrcode", &["cli"]),
    ("comrak", &["render"]),
    ("ammonia", &["render"]),
    ("syntect", &["render"]),
    ("similar", &["render"]),
    ("github_copilot_sdk", &["agent/copilot"]),
    ("agent_client_protocol_schema", &["agent/acp"]),
];

/// The folders of `src/agent` that hold a runtime. What is inside one is nobody else's business.
const RUNTIMES: [&str; 4] = ["acp", "copilot", "demo", "headless"];
/// The folders of `src/agent` that all runtimes share.
const SHARED_BY_RUNTIMES: [&str; 4] = ["conformance", "failure", "program", "transcript"];

fn is_top_level(name: &str) -> bool {
    MAY_USE.iter().any(|(module, _)| *module == name)
}

fn starts_with_name(text: &str) -> String {
    text.trim_start().chars().take_while(|letter| letter.is_alphanumeric() || *letter == '_').collect()
}

/// The names that stand directly below a path prefix: one in `crate::a::b`, several in `crate::{a::b, c::{d, e}}`.
fn first_names(after_prefix: &str) -> Vec<String> {
    let after_prefix = after_prefix.trim_start();
    let Some(group) = after_prefix.strip_prefix('{') else {
        let is_everything = after_prefix.starts_with('*');
        return vec![if is_everything { "*".to_owned() } else { starts_with_name(after_prefix) }];
    };
    let (mut names, mut depth, mut begins) = (Vec::new(), 0, true);
    for (at, letter) in group.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => begins = true,
            '*' if depth == 0 && begins => names.push("*".to_owned()),
            _ if begins && !letter.is_whitespace() => {
                names.push(starts_with_name(&group[at..]));
                begins = false;
            }
            _ => {}
        }
    }
    names
}

/// The top-level modules that a file names, by `crate::…` or by a chain of `super::` that reaches the root.
fn modules_named(path: &str, code: &str) -> Vec<String> {
    let depth = path.trim_end_matches("/mod.rs").trim_end_matches(".rs").split('/').count();
    let to_root = "super::".repeat(depth);
    let mut names = Vec::new();
    for prefix in ["crate::", &to_root] {
        for (at, _) in code.match_indices(prefix) {
            let is_part_of_a_name = code[..at].ends_with(|before: char| before.is_alphanumeric() || before == '_');
            if !is_part_of_a_name {
                names.extend(first_names(&code[at + prefix.len()..]));
            }
        }
    }
    names.retain(|name| name == "*" || is_top_level(name));
    names
}

fn allowed(module: &str) -> &'static [&'static str] {
    let row = MAY_USE.iter().find(|(known, _)| *known == module);
    row.unwrap_or_else(|| panic!("{module} is not in the table")).1
}

#[test]
fn every_way_to_name_a_module_is_seen() {
    for (path, code, expected) in [
        ("http/a.rs", "use crate::store::Store;", vec!["store"]),
        ("http/a.rs", "use crate::{store::Store, model};", vec!["store", "model"]),
        ("http/a.rs", "use crate::{\n    agent::{self, acp::{Acp, Kin}},\n    store,\n};", vec!["agent", "store"]),
        ("http/a.rs", "let a = crate::store::open(); let b = crate::render::b();", vec!["store", "render"]),
        ("http/a.rs", "use crate::*;", vec!["*"]),
        ("http/a.rs", "use crate::{*};", vec!["*"]),
        ("http/a.rs", "use super::super::store::Store; use super::agent;", vec!["store"]),
        ("http/mod.rs", "use super::{store, render::Html};", vec!["store", "render"]),
        ("http/a.rs", "use my_crate::store; use crate::error;", vec![]),
    ] {
        assert_eq!(modules_named(path, &code_of(code)), expected, "{code}");
    }
}

#[test]
fn modules_use_only_what_they_may() {
    let files = source_files("");
    for SourceFile { path, code, .. } in files.iter().filter(|file| !file.module().is_empty()) {
        let module = path.split('/').next().expect("a part");
        for used in modules_named(path, code) {
            let is_allowed = used == module || allowed(module).contains(&used.as_str());
            assert!(is_allowed, "src/{path} uses {used}, which {module} may not");
        }
    }
    let found: BTreeSet<&str> = files.iter().map(SourceFile::module).filter(|module| !module.is_empty()).collect();
    assert_eq!(found, MAY_USE.iter().map(|(module, _)| *module).collect(), "the table lists the modules of src");
}

#[test]
fn architecture_md_has_the_same_table() {
    let text = project_file("ARCHITECTURE.md");
    let mut documented = Vec::new();
    for row in table_rows(section(&text, "## Code map")) {
        if let Some(module) = row[0].trim_matches('`').strip_prefix("src/") {
            let may_use: BTreeSet<String> = code_spans(&row[2]).into_iter().map(str::to_owned).collect();
            documented.push((module.to_owned(), may_use));
        }
    }
    let enforced: Vec<(String, BTreeSet<String>)> = MAY_USE
        .iter()
        .map(|(module, allowed)| ((*module).to_owned(), allowed.iter().map(|name| (*name).to_owned()).collect()))
        .collect();
    documented.sort();
    let mut sorted = enforced;
    sorted.sort();
    assert_eq!(documented, sorted, "left: ARCHITECTURE.md, right: this test");
}

#[test]
fn lib_rs_lists_all_modules_in_reading_order() {
    let text = project_file("src/lib.rs");
    let listed: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("//! - [`"))
        .filter_map(|line| line.split('`').next())
        .collect();
    let mut sorted = listed.clone();
    sorted.sort_unstable();
    let declared: Vec<&str> =
        text.lines().filter_map(|line| line.strip_prefix("pub mod ")).map(|line| line.trim_end_matches(';')).collect();
    assert_eq!(sorted, declared);
    for (at, module) in listed.iter().enumerate() {
        for used in allowed(module) {
            assert!(listed[..at].contains(used), "{module} uses {used}, which a reader has not met yet");
        }
    }
}

#[test]
fn crates_are_named_only_where_they_belong() {
    for SourceFile { path, code, .. } in source_files("") {
        for (name, folders) in ONLY_IN {
            let is_used = code.contains(&format!("{name}::")) || code.contains(&format!("use {name};"));
            let is_inside = folders.iter().any(|folder| path.starts_with(&format!("{folder}/")));
            assert!(!is_used || is_inside, "src/{path} names {name}");
        }
    }
}

#[test]
fn a_runtime_keeps_its_types_to_itself() {
    let mut known: Vec<&str> = RUNTIMES.into_iter().chain(SHARED_BY_RUNTIMES).collect();
    known.sort_unstable();
    assert_eq!(source_folders("agent"), known, "the lists above are those of src/agent");
    for runtime in RUNTIMES {
        for SourceFile { path, code, .. } in source_files(&format!("agent/{runtime}")) {
            let opens = |line: &&str| line.starts_with("pub mod ") || line.starts_with("pub(crate) mod ");
            let opened = code.lines().map(str::trim).find(opens);
            assert_eq!(opened, None, "src/{path} shows the inside of the runtime {runtime}");
        }
    }
}

#[test]
fn every_module_says_what_it_is_for_and_what_must_hold() {
    for (module, _) in MAY_USE {
        let text = project_file(&format!("src/{module}/mod.rs"));
        assert!(text.starts_with("//! "), "src/{module}/mod.rs");
        let header = text.lines().take_while(|line| line.starts_with("//!")).count();
        assert!(header >= 3 || module == "cli", "src/{module}/mod.rs says too little");
    }
}
