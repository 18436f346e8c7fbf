//! A clock in the pipe: stands between the server and a real program, passes every frame on, and notes when those with a
//! mark went by. The benchmark starts itself as this when the server looks for Copilot.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// The program behind the clock.
pub const PROGRAM: &str = "PIPE_CLOCK_PROGRAM";
/// Where moments are noted.
pub const LOG: &str = "PIPE_CLOCK_LOG";
/// What frames of interest contain, followed by a number.
pub const MARK: &str = "probe-";

/// The number of the last prompt, until the first piece of its answer.
static PROMPTED: AtomicU32 = AtomicU32::new(NOTHING);
const NOTHING: u32 = u32::MAX;

/// Nanoseconds since 1970: one clock for all processes of the machine.
pub fn now() -> u128 {
    SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_nanos()
}

/// The number after the mark, if the text has one.
pub fn marked(text: &str) -> Option<u32> {
    let (_, rest) = text.split_once(MARK)?;
    rest.chars().take_while(char::is_ascii_digit).collect::<String>().parse().ok()
}

/// Passes frames on until the server closes its end.
pub fn run(program: &str) {
    let mut child = Command::new(program)
        .args(std::env::args().skip(1))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let (to_program, from_program) = (child.stdin.take().expect("piped"), child.stdout.take().expect("piped"));
    let log = File::options().create(true).append(true).open(std::env::var(LOG).expect("a log")).expect("opened");
    let note = log.try_clone().expect("shared");
    std::thread::spawn(move || pass(from_program, io::stdout(), note, "out", "\"assistant.message\""));
    pass(io::stdin(), to_program, log, "in", "session.send");
    let _ = child.wait();
}

/// A frame that goes in is noted when it has been read, one that goes out when it is about to be written.
fn pass(from: impl Read, mut to: impl Write, mut log: File, direction: &str, kind: &str) {
    let mut from = BufReader::with_capacity(256 * 1024, from);
    loop {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if from.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            match line.trim_end().split_once(':') {
                Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                    length = value.trim().parse().expect("a length");
                }
                _ if line.trim_end().is_empty() => break,
                _ => {}
            }
        }
        let mut content = vec![0; length];
        if from.read_exact(&mut content).is_err() {
            return;
        }
        let moment = now();
        let text = String::from_utf8_lossy(&content);
        let number = if text.contains(kind) { marked(&text) } else { None };
        if direction == "in" {
            number.inspect(|number| PROMPTED.store(*number, Ordering::Release));
        } else if text.contains("\"assistant.message_delta\"") {
            // The first piece of the answer to the last prompt.
            let prompted = PROMPTED.swap(NOTHING, Ordering::AcqRel);
            if prompted != NOTHING {
                writeln!(log, "first {prompted} {moment}").expect("noted");
            }
        }
        let mut frame = format!("Content-Length: {length}\r\n\r\n").into_bytes();
        frame.extend_from_slice(&content);
        if to.write_all(&frame).and_then(|()| to.flush()).is_err() {
            return;
        }
        if let Some(number) = number {
            writeln!(log, "{direction} {number} {moment}").expect("noted");
        }
    }
}
