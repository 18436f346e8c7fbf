//! The mark that identifies the processes of one child: a random value in its environment, which everything it starts
//! inherits, in any process group or session.

use std::fmt;

/// The environment variable. Not named like Flightdeck's settings, which agents must not see.
const VARIABLE: &str = "AGENT_HOST_MARK";
const DIGITS: usize = 32;

/// One child's mark.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Marker(String);

impl Marker {
    /// A new unique mark.
    pub fn new() -> Self {
        Self(uuid::Uuid::new_v4().simple().to_string())
    }

    /// Parses a recorded mark. A shorter one might not be unique.
    pub fn parse(text: &str) -> Option<Self> {
        let is_whole = text.len() == DIGITS && text.bytes().all(|digit| digit.is_ascii_hexdigit());
        is_whole.then(|| Self(text.to_owned()))
    }

    pub fn variable(&self) -> (&'static str, &str) {
        (VARIABLE, &self.0)
    }

    /// The variable as an environment entry.
    #[cfg_attr(
        not(any(target_os = "linux", target_os = "macos")),
        allow(dead_code, reason = "that platform does not search for processes")
    )]
    pub fn entry(&self) -> String {
        format!("{VARIABLE}={self}")
    }
}

impl fmt::Display for Marker {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl fmt::Debug for Marker {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_that_was_written_down_is_whole_or_none() {
        let marker = Marker::new();
        assert_eq!(Marker::parse(&marker.to_string()), Some(marker.clone()));
        assert_ne!(Marker::new(), marker);
        for damaged in ["", "abc", &marker.to_string()[1..], &format!("{marker}0"), &"x".repeat(DIGITS)] {
            assert_eq!(Marker::parse(damaged), None, "{damaged}");
        }
    }
}
