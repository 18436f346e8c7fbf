//! Detects duplicate events: in bursts, the program sends some events again.
//!
//! Measured: in a burst of 20,000 deltas, groups of about thirty are repeated up to 17,000 deltas later. In longer
//! bursts, some are repeated after they have been forgotten here. Then the text shows them twice until the message
//! ends, because the end carries the complete text.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, DefaultHasher, Hash as _, Hasher};

/// The minimum number of events that are remembered. Seven eighths of a power of two, because a table grows when it is
/// that full. Twice as many take half a megabyte, and only during a burst.
const REMEMBERED: usize = 28_672;

/// Hashes of the ids of recent events, in two generations.
#[derive(Debug, Default)]
pub(in crate::agent::copilot) struct Seen {
    newest: Numbers,
    before: Numbers,
}

type Numbers = HashSet<u64, BuildHasherDefault<Spread>>;

impl Seen {
    /// Whether a raw JSON id is new. `null` counts as no id.
    pub fn is_new(&mut self, id: &str) -> bool {
        if id == "null" {
            return true;
        }
        let number = number_of(id);
        if self.before.contains(&number) || !self.newest.insert(number) {
            return false;
        }
        if self.newest.len() >= REMEMBERED {
            self.age();
        }
        true
    }

    /// Ends a turn. Its events are forgotten at the end of the next turn, which frees the memory of a burst.
    pub fn age(&mut self) {
        self.before = std::mem::take(&mut self.newest);
    }
}

/// The bits of a UUID folded into 64, or a hash of any other id.
fn number_of(id: &str) -> u64 {
    let plain = id.trim_matches('"');
    if plain.len() == 36
        && let Ok(uuid) = uuid::Uuid::try_parse(plain)
    {
        let (high, low) = uuid.as_u64_pair();
        return high.rotate_left(1) ^ low;
    }
    let mut hasher = DefaultHasher::new();
    id.hash(&mut hasher);
    hasher.finish()
}

/// A hasher for keys that are already random.
#[derive(Debug, Default)]
pub(in crate::agent::copilot) struct Spread(u64);

impl Hasher for Spread {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, number: u64) {
        // The table uses the highest and the lowest bits.
        self.0 = (self.0 ^ number).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_new_once_while_it_is_remembered() {
        let mut seen = Seen::default();
        for id in [
            r#""b9c7b6d9-d49a-4486-8c00-127ea1e0926a""#,
            r#""b9c7b6d9-d49a-4486-8c00-127ea1e0926b""#,
            r#""b9c7b6da-d49a-4486-8c00-127ea1e0926b""#,
            r#""b9c7b6da+d49a-4486-8c00-127ea1e0926b""#,
            "\"x\"",
            "7",
        ] {
            assert!(seen.is_new(id), "{id}");
            assert!(!seen.is_new(id), "{id}");
        }
        assert!(seen.is_new("null") && seen.is_new("null"), "that is no id");
    }

    #[test]
    fn as_many_are_remembered_as_a_burst_needs_and_no_more_than_twice_that() {
        let mut seen = Seen::default();
        let id = |number: usize| format!("\"{number:08x}-1bab-46c7-9ea6-3ed8462e96e3\"");
        for number in 0..10 * REMEMBERED {
            assert!(seen.is_new(&id(number)), "{number}");
            assert!(!seen.is_new(&id(number.saturating_sub(REMEMBERED - 1))), "{number}");
        }
        assert!(seen.newest.capacity() + seen.before.capacity() <= 2 * REMEMBERED);
        assert!(seen.is_new(&id(0)), "forgotten");
    }

    #[test]
    fn a_turn_that_is_over_is_forgotten_after_the_next() {
        let mut seen = Seen::default();
        assert!(seen.is_new("1"));
        seen.age();
        assert!(!seen.is_new("1"), "it may still come again");
        seen.age();
        assert!(seen.is_new("1"));
    }
}
