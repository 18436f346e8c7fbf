//! Processes of the machine, as tests look at them.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// The processes below another one. The server runs git for a moment, to see what a turn changes; that is not counted, and
/// neither is a child that is still the server's own program and about to become git, or an agent.
pub fn children_of(parent: u32) -> Vec<u32> {
    let of_server = is_flightdeck(parent);
    let is_counted = |id: &u32| {
        let Ok(stat) = std::fs::read_to_string(format!("/proc/{id}/stat")) else { return false };
        let parent_field = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(1)?.parse().ok());
        parent_field == Some(parent) && !(of_server && (is_flightdeck(*id) || is_git(*id)))
    };
    let processes = std::fs::read_dir("/proc").expect("Linux");
    processes.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).filter(is_counted).collect()
}

fn is_flightdeck(id: u32) -> bool {
    let program = std::fs::read_link(format!("/proc/{id}/exe"));
    program.is_ok_and(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("flightdeck")))
}

/// Whether a process is git, or the wrapper that is about to become git. One that has just gone is not counted either.
fn is_git(id: u32) -> bool {
    loop {
        let read = |file: &str| std::fs::read_to_string(format!("/proc/{id}/{file}"));
        let (Ok(line), Ok(stat)) = (read("cmdline"), read("stat")) else { return true };
        if line.is_empty() && is_alive(id) {
            // It is becoming another program at this moment.
            continue;
        }
        let words: Vec<&str> = line.split('\0').collect();
        let is_wrapped =
            words[0].ends_with("/setpriv") && words.get(4).is_some_and(|program| program.ends_with("/git"));
        // What has exited has only its name left.
        return is_wrapped || stat.contains("(git)");
    }
}

/// Processes with their words and what the kernel says of them, for messages.
pub fn described(processes: &[u32]) -> Vec<String> {
    let read = |id: u32, file: &str| std::fs::read_to_string(format!("/proc/{id}/{file}")).unwrap_or_default();
    processes.iter().map(|id| format!("{id} {:?} {:?}", read(*id, "cmdline"), read(*id, "stat"))).collect()
}

/// Resolves when nothing is left below a process.
pub async fn until_childless(parent: u32) {
    while !children_of(parent).is_empty() {
        a_moment().await;
    }
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
        a_moment().await;
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
        a_moment().await;
    }
}

/// Between two looks at a condition. Looking without a pause would keep a core from whatever the test waits for.
pub async fn a_moment() {
    tokio::time::sleep(Duration::from_millis(5)).await;
}

/// Waits until something is there; `what` says what, when the test's own time limit ends it.
pub async fn eventually<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    // Shown by the test runner only if the test does not end.
    println!("waiting for {what}");
    loop {
        if let Some(found) = look().await {
            return found;
        }
        a_moment().await;
    }
}
