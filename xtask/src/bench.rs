//! `cargo xtask bench`: the benchmark of the whole server. Its table replaces the one in `docs/benchmarks.md`; everything
//! else in that file is written by hand and stays.

use crate::shell::{cargo, run, workspace};

const BEGIN: &str = "<!-- measured by cargo xtask bench: begin -->\n";
const END: &str = "<!-- measured by cargo xtask bench: end -->\n";

/// Builds the benchmark, and with it the server, in the release profile, and runs it.
pub fn bench() -> Result<(), String> {
    let agents = crate::agents::install()?;
    let document = workspace().join("docs/benchmarks.md");
    let measured = workspace().join("target/benchmarks.md");
    run(cargo(&["bench", "--bench", "portal"]).env("BENCH_OUTPUT", &measured).env("TEST_AGENTS", agents))?;
    let binary = workspace().join("target/release").join(format!("flightdeck{}", std::env::consts::EXE_SUFFIX));
    let read = |path| std::fs::read_to_string(path).map_err(|error| error.to_string());
    // The table is the last thing there, and these are more rows of it.
    let table = read(&measured)? + &crate::browser::first_paint(&binary)? + &crate::browser::scrolling(&binary)?;
    let text = replace_measured(&read(&document)?, &table)?;
    std::fs::write(&document, text).map_err(|error| error.to_string())
}

/// The document with another table between the marks.
fn replace_measured(document: &str, table: &str) -> Result<String, String> {
    let parts = document.split_once(BEGIN).and_then(|(before, rest)| Some((before, rest.split_once(END)?.1)));
    let (before, after) = parts.ok_or("docs/benchmarks.md has lost the marks around the table")?;
    Ok(format!("{before}{BEGIN}{table}{END}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_between_the_marks_is_replaced() {
        let document = format!("# Title\n\n{BEGIN}old\n{END}\nBy hand.\n");
        let expected = format!("# Title\n\n{BEGIN}new\n{END}\nBy hand.\n");
        assert_eq!(replace_measured(&document, "new\n"), Ok(expected));
        assert!(replace_measured("# Title\n", "new\n").is_err());
    }

    #[test]
    fn the_document_has_the_marks() {
        let document = std::fs::read_to_string(workspace().join("docs/benchmarks.md")).expect("readable");
        assert!(replace_measured(&document, "").is_ok());
    }
}
