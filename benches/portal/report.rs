//! The table that comes out.

use std::fmt::Write as _;

/// What was measured, in order.
#[derive(Default)]
pub struct Report {
    rows: Vec<(String, String, String)>,
}

impl Report {
    pub fn add(&mut self, what: &str, aim: &str, measured: impl Into<String>) {
        let measured = measured.into();
        eprintln!("{what}: {measured}");
        self.rows.push((what.to_owned(), aim.to_owned(), measured));
    }

    /// The machine and the table.
    pub fn write(&self) -> String {
        let mut text = format!("Machine: {}.\n\n", machine());
        text.push_str("| what | aim | measured |\n|---|---|---|\n");
        for (what, aim, measured) in &self.rows {
            let _ = writeln!(text, "| {what} | {aim} | {measured} |");
        }
        text
    }
}

fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info
        .lines()
        .find_map(|line| line.strip_prefix("model name"))
        .map_or("unknown processor", |rest| rest.trim_start_matches([' ', '\t', ':']));
    format!("{cores} cores of {model}, {}", std::env::consts::OS)
}

/// The value at a fraction of a sorted list.
pub fn percentile(values: &mut [f64], fraction: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "an index"
    )]
    let index = ((values.len() - 1) as f64 * fraction).round() as usize;
    values[index]
}
