//! Logs to standard error, with secrets removed from every line.

use std::io::{self, IsTerminal, Write};

use anyhow::Context as _;
use tracing_subscriber::Layer as _;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::config::LogFormat;
use crate::model::redact;

/// Starts logging: lines for people, or one JSON object per line.
pub(super) fn start(filter: &str, format: LogFormat) -> anyhow::Result<()> {
    let filter: Targets = filter
        .parse()
        .with_context(|| format!("invalid log.filter {filter:?}: expected a level, or a list of module=level"))?;
    let lines = tracing_subscriber::fmt::layer().with_writer(RedactingStderr);
    let lines = match format {
        LogFormat::Text => lines.with_ansi(io::stderr().is_terminal()).with_target(false).boxed(),
        LogFormat::Json => lines.json().flatten_event(true).with_current_span(false).boxed(),
    };
    tracing_subscriber::registry().with(lines.with_filter(filter)).try_init().context("logging is already set up")
}

/// Redacts every line. Each write is one formatted line.
struct RedactingStderr;

impl<'a> MakeWriter<'a> for RedactingStderr {
    type Writer = RedactingStderr;

    fn make_writer(&'a self) -> Self::Writer {
        RedactingStderr
    }
}

impl Write for RedactingStderr {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        io::stderr().write_all(redact(&String::from_utf8_lossy(line)).as_bytes())?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}
