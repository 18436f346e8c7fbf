//! The corpus of the fuzz targets, run as plain tests: what once broke a reader never does again. And, because the real
//! fuzzer needs a toolchain of its own, some thousand mutations of it that are the same each time.

#[path = "../fuzz_corpus/check.rs"]
mod check;

use std::path::PathBuf;

const MUTATIONS: u64 = 3_000;
/// Longer ones say nothing that shorter ones do not, and take their time.
const LONGEST: usize = 4_000;
/// Pieces that mean something to a reader.
const PIECES: [&str; 17] = [
    "\n",
    "\"",
    "{",
    "}",
    "[]",
    "null",
    "-1",
    "1e400",
    "\\ud800",
    "\"type\":\"result\"",
    "\"exitCode\":0",
    "\"is_error\":false",
    "Content-Length: 2\r\n\r\n{}",
    "\"sessionUpdate\":\"tool_call_update\"",
    "\"stopReason\":\"end_turn\"",
    "\"type\":\"assistant.turn_retry\"",
    "\"method\":\"session.event\"",
];

fn corpus(folders: &[&str]) -> Vec<Vec<u8>> {
    let tests = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests");
    let mut files: Vec<PathBuf> = folders
        .iter()
        .flat_map(|folder| std::fs::read_dir(tests.join(folder)).expect("a corpus"))
        .map(|entry| entry.expect("readable").path())
        .collect();
    files.sort();
    assert!(files.len() > 10, "{files:?}");
    files.iter().map(|file| std::fs::read(file).expect("readable")).collect()
}

/// Numbers that look random and are the same each time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % most.max(1) as u64).expect("small")
    }
}

fn mutate(input: &[u8], other: &[u8], dice: &mut Dice) -> Vec<u8> {
    let mut input = input[..input.len().min(LONGEST)].to_vec();
    for _ in 0..=dice.below(4) {
        let at = dice.below(input.len() + 1);
        match dice.below(5) {
            0 => input.insert(at, u8::try_from(dice.below(256)).expect("a byte")),
            1 => input.truncate(at),
            2 => drop(input.drain(at..(at + dice.below(40)).min(input.len()))),
            3 => drop(input.splice(at..at, PIECES[dice.below(PIECES.len())].bytes())),
            _ => {
                // A line of another file in the middle of this one.
                let lines: Vec<&[u8]> = other.split_inclusive(|byte| *byte == b'\n').collect();
                if let Some(line) = lines.get(dice.below(lines.len())) {
                    let line = line[..line.len().min(LONGEST)].to_vec();
                    drop(input.splice(at..at, line));
                }
            }
        }
    }
    input
}

fn run(runtime: &str, folders: &[&str]) {
    let corpus = corpus(folders);
    for input in &corpus {
        // Whole, and cut in the middle: a process may die at any byte.
        for input in [&input[..], &input[..input.len() / 2], &input[..input.len() / 3]] {
            check::check(runtime, input);
        }
    }
    let mut dice = Dice(0x9E37_79B9_7F4A_7C15);
    for _ in 0..MUTATIONS {
        let (one, other) = (&corpus[dice.below(corpus.len())], &corpus[dice.below(corpus.len())]);
        check::check(runtime, &mutate(one, other, &mut dice));
    }
}

#[test]
fn copilots_reader_takes_its_corpus_and_what_becomes_of_it() {
    run("copilot-headless", &["fuzz_corpus/copilot-headless", "transcripts/headless", "transcripts/claude"]);
}

#[test]
fn claude_codes_reader_takes_its_corpus_and_what_becomes_of_it() {
    run("claude", &["fuzz_corpus/claude", "transcripts/claude", "transcripts/headless"]);
}

#[test]
fn the_reader_of_acp_takes_its_corpus_and_what_becomes_of_it() {
    run("acp", &["fuzz_corpus/acp"]);
}

#[test]
fn the_reader_of_the_sdk_takes_its_corpus_and_what_becomes_of_it() {
    run("sdk", &["fuzz_corpus/sdk"]);
}
