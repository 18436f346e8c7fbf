//! What a command says.

use std::io::{self, Write as _};

use anyhow::Context as _;

/// Prints lines to standard output. A reader that has seen enough (`| head`) is no error.
pub(super) fn say(text: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.write_all(b"\n")).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(error).context("standard output cannot be written")
        }
        _ => Ok(()),
    }
}
