//! The layout is the architecture: which room may use which, and who knows what.

use std::path::{Path, PathBuf};

/// Who may use whom. A room may always use itself.
const MAY_USE: [(&str, &[&str]); 13] = [
    ("model", &[]),
    ("private_file", &[]),
    ("scripted_model", &[]),
    ("config", &["model"]),
    ("process", &["private_file", "model"]),
    ("agent", &["process", "private_file", "model"]),
    ("store", &["model"]),
    ("folder", &["process", "model"]),
    ("render", &["model"]),
    ("session", &["agent", "store", "model"]),
    ("doctor", &["agent", "process", "store", "scripted_model", "private_file", "model"]),
    ("http", &["doctor", "session", "agent", "store", "folder", "render", "config", "model"]),
    ("cli", &["http", "doctor", "session", "agent", "process", "store", "config", "model"]),
];

/// Crates that only one room may name.
const ONLY_IN: [(&str, &[&str]); 8] = [
    ("axum", &["http", "scripted_model"]),
    ("hyper", &["http"]),
    ("rusqlite", &["store"]),
    ("clap", &["cli"]),
    ("comrak", &["render"]),
    ("ammonia", &["render"]),
    ("syntect", &["render"]),
    ("similar", &["render"]),
];

fn source_files(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("readable") {
        let path = entry.expect("readable").path();
        if path.is_dir() {
            source_files(&path, into);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            into.push(path);
        }
    }
}

/// Every source file with the room it is in; files of the root are in no room.
fn files_by_room() -> Vec<(String, PathBuf, String)> {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    source_files(&sources, &mut files);
    files
        .into_iter()
        .map(|path| {
            let relative = path.strip_prefix(&sources).expect("below");
            let room = match relative.components().count() {
                1 => String::new(),
                _ => relative.components().next().expect("one").as_os_str().to_string_lossy().into_owned(),
            };
            let text = std::fs::read_to_string(&path).expect("readable");
            (room, path, text)
        })
        .collect()
}

/// The rooms that a text names by `crate::…`.
fn rooms_named(text: &str) -> Vec<String> {
    text.lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .flat_map(|line| line.split("crate::").skip(1))
        .map(|rest| rest.chars().take_while(|letter| letter.is_alphanumeric() || *letter == '_').collect())
        .filter(|name: &String| MAY_USE.iter().any(|(room, _)| room == name))
        .collect()
}

#[test]
fn rooms_use_only_the_rooms_they_may() {
    let mut rooms_seen = std::collections::BTreeSet::new();
    for (room, path, text) in files_by_room() {
        if room.is_empty() {
            continue;
        }
        rooms_seen.insert(room.clone());
        let (_, allowed) =
            MAY_USE.iter().find(|(known, _)| *known == room).unwrap_or_else(|| panic!("{room} is not in the table"));
        for used in rooms_named(&text) {
            let fine = used == room || allowed.contains(&used.as_str());
            assert!(fine, "{} ({room}) uses {used}, which it may not", path.display());
        }
    }
    assert_eq!(rooms_seen.len(), MAY_USE.len(), "every room of the table is there: {rooms_seen:?}");
}

#[test]
fn crates_are_known_only_where_they_belong() {
    for (room, path, text) in files_by_room() {
        for (name, rooms) in ONLY_IN {
            let used = text.lines().filter(|line| !line.trim_start().starts_with("//")).any(|line| {
                line.contains(&format!("{name}::")) || line.trim_start().starts_with(&format!("use {name};"))
            });
            assert!(!used || rooms.contains(&room.as_str()), "{} names {name}", path.display());
        }
    }
}

#[test]
fn only_the_sqlite_backend_knows_sqlite() {
    for (_, path, text) in files_by_room() {
        let inside = path.to_string_lossy().contains("store/sqlite/");
        let mut code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        let names_it = code.any(|line| line.contains("rusqlite"));
        assert!(inside || !names_it, "{} names rusqlite", path.display());
    }
}

#[test]
fn a_runtimes_own_types_stay_in_its_folder() {
    for (_, path, text) in files_by_room() {
        let inside =
            path.components().any(|part| ["demo", "copilot", "acp"].iter().any(|name| part.as_os_str() == *name));
        let reaches_in = [
            "demo::player",
            "demo::scenes",
            "demo::script",
            "copilot::transport",
            "copilot_sdk",
            "agent_client_protocol",
        ]
        .iter()
        .any(|name| text.contains(name));
        assert!(inside || !reaches_in, "{}", path.display());
    }
}

#[test]
fn every_room_says_what_it_is_for_and_what_must_hold() {
    for (room, _) in MAY_USE {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(room).join("mod.rs");
        let text = std::fs::read_to_string(&path).expect("a room has a mod.rs");
        assert!(text.starts_with("//! "), "{}", path.display());
        let header = text.lines().take_while(|line| line.starts_with("//!")).count();
        assert!(header >= 3 || room == "cli", "{} says too little", path.display());
    }
}
