//! Whatever a program may write, Copilot's stream reader takes it.
#![no_main]

#[path = "../../tests/fuzz_corpus/check.rs"]
mod check;

libfuzzer_sys::fuzz_target!(|data: &[u8]| check::check("copilot-headless", data));
