//! The corpus of the fuzz targets, run as plain tests: what once broke a reader never does again.

#[path = "../fuzz_corpus/check.rs"]
mod check;

use std::path::PathBuf;

fn run(runtime: &str, folders: &[&str]) {
    let tests = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests");
    for folder in folders {
        let entries = std::fs::read_dir(tests.join(folder)).expect("a corpus");
        let files: Vec<PathBuf> = entries.map(|entry| entry.expect("readable").path()).collect();
        assert!(!files.is_empty(), "{folder}");
        for file in files {
            let input = std::fs::read(&file).expect("readable");
            // Whole, and cut in the middle: a process may die at any byte.
            for input in [&input[..], &input[..input.len() / 2], &input[..input.len() / 3]] {
                check::check(runtime, input);
            }
        }
    }
}

#[test]
fn copilots_reader_takes_its_corpus() {
    run("copilot-headless", &["fuzz_corpus/copilot-headless", "transcripts/headless", "transcripts/claude"]);
}

#[test]
fn claude_codes_reader_takes_its_corpus() {
    run("claude", &["fuzz_corpus/claude", "transcripts/claude", "transcripts/headless"]);
}
