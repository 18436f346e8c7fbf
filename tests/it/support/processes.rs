//! Processes of the machine, as tests look at them.

use std::path::Path;
use std::process::Command;

/// The processes below another one.
pub fn children_of(parent: u32) -> Vec<u32> {
    let stat = |id: u32| std::fs::read_to_string(format!("/proc/{id}/stat")).ok();
    let is_server = |id: u32| {
        std::fs::read_link(format!("/proc/{id}/exe"))
            .is_ok_and(|path| path.file_name().is_some_and(|name| name == "flightdeck"))
    };
    std::fs::read_dir("/proc")
        .expect("Linux")
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|id| {
            // A child that is still the server's own program is about to become git, or an agent. This is asked first,
            // because the name below may be read later.
            if is_server(*id) && is_server(parent) {
                return false;
            }
            let Some(text) = stat(*id) else { return false };
            let parent_field = text.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(1)?.parse().ok());
            // The server runs git for a moment, to see what a turn changes.
            parent_field == Some(parent) && !text.contains("(git)")
        })
        .collect()
}

/// The processes below another one, and those below them.
pub fn descendants_of(parent: u32) -> Vec<u32> {
    let mut all = children_of(parent);
    let mut next = 0;
    while let Some(child) = all.get(next).copied() {
        all.extend(children_of(child));
        next += 1;
    }
    all
}

/// A zombie is not alive any more.
pub fn is_alive(id: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{id}/stat")).is_ok_and(|stat| !stat.contains(") Z"))
}

pub async fn until_gone(id: u32) {
    while is_alive(id) {
        tokio::task::yield_now().await;
    }
}

pub fn send_signal(name: &str, id: u32) {
    let sent = Command::new("kill").arg(format!("-{name}")).arg(id.to_string()).status().expect("kill runs");
    assert!(sent.success(), "{name} to {id}");
}

/// The process id that something writes to a file, once it is there.
pub async fn id_in(file: &Path) -> u32 {
    loop {
        // Whole once the line is.
        let text = std::fs::read_to_string(file).unwrap_or_default();
        if let Some(id) = text.strip_suffix('\n').and_then(|line| line.parse().ok()) {
            return id;
        }
        tokio::task::yield_now().await;
    }
}

/// Waits until something is there; `what` says what, when the test's own time limit ends it.
pub async fn eventually<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    // Shown by the test runner only if the test does not end.
    println!("waiting for {what}");
    loop {
        if let Some(found) = look().await {
            return found;
        }
        tokio::task::yield_now().await;
    }
}
