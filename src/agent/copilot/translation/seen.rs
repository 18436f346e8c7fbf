//! Which events have been there already: under bursts the CLI sends the same ones again.

use std::collections::{HashSet, VecDeque};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// Events that are remembered.
const REMEMBERED: usize = 65_536;

/// The last events by a number made of their ids, so that none of the many deltas costs memory of its own.
#[derive(Debug, Default)]
pub(in crate::agent::copilot) struct Seen {
    numbers: HashSet<u128>,
    in_order: VecDeque<u128>,
}

impl Seen {
    /// Whether an id, as it stands in the JSON, comes for the first time. A `null` is no id.
    pub fn is_new(&mut self, id: &str) -> bool {
        if id == "null" {
            return true;
        }
        let number = number_of(id);
        if !self.numbers.insert(number) {
            return false;
        }
        self.in_order.push_back(number);
        let too_many = self.in_order.len() > REMEMBERED;
        if let Some(oldest) = self.in_order.pop_front_if(|_| too_many) {
            self.numbers.remove(&oldest);
        }
        true
    }
}

/// The number that a UUID is; of anything else 128 bits of a hash.
fn number_of(id: &str) -> u128 {
    let plain = id.trim_matches('"');
    if plain.len() == 36
        && let Ok(uuid) = uuid::Uuid::try_parse(plain)
    {
        return uuid.as_u128();
    }
    let half = |salt: u8| {
        let mut hasher = DefaultHasher::new();
        (salt, id).hash(&mut hasher);
        u128::from(hasher.finish())
    };
    half(0) << 64 | half(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_new_once_while_it_is_remembered() {
        let mut seen = Seen::default();
        for id in
            [r#""b9c7b6d9-d49a-4486-8c00-127ea1e0926a""#, r#""b9c7b6d9-d49a-4486-8c00-127ea1e0926b""#, "\"x\"", "7"]
        {
            assert!(seen.is_new(id), "{id}");
            assert!(!seen.is_new(id), "{id}");
        }
        assert!(seen.is_new("null") && seen.is_new("null"), "that is no id");
        for number in 0..REMEMBERED {
            assert!(seen.is_new(&number.to_string()) || number == 7);
        }
        assert!(seen.is_new("\"x\""), "forgotten");
        assert_eq!(seen.numbers.len(), seen.in_order.len());
    }
}
