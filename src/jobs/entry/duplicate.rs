//! Keys that a JSON object has more than once. Readers of JSON take the last one and lose the others silently.

use std::collections::HashSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

/// The JSON pointers of such keys. The text must be valid JSON.
pub(super) fn duplicate_keys(text: &str) -> Vec<String> {
    let mut search = Search { at: String::new(), found: Vec::new() };
    let mut reader = serde_json::Deserializer::from_str(text);
    // What cannot be read has been reported before.
    let _ = reader.deserialize_any(&mut search);
    search.found
}

struct Search {
    /// The pointer of what is being read.
    at: String,
    found: Vec<String>,
}

impl Search {
    fn below<T>(&mut self, name: &str, read: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.at.len();
        self.at.push('/');
        self.at.push_str(&name.replace('~', "~0").replace('/', "~1"));
        let result = read(self);
        self.at.truncate(length);
        result
    }
}

impl<'de> DeserializeSeed<'de> for &mut Search {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for &mut Search {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut names = HashSet::new();
        while let Some(name) = map.next_key::<String>()? {
            self.below(&name, |search| {
                if names.contains(&name) {
                    search.found.push(search.at.clone());
                }
                map.next_value_seed(search)
            })?;
            names.insert(name);
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        for position in 0_usize.. {
            if self.below(&position.to_string(), |search| items.next_element_seed(search))?.is_none() {
                break;
            }
        }
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_keys_of_the_same_object_are_duplicates() {
        for (text, expected) in [
            ("{}", vec![]),
            (r#"[null, true, -1, 1, 0.5, "a", {"a": {"a": 1}, "b": {"a": 1}}]"#, vec![]),
            (r#"{"a": 1, "b": 2, "a": 3, "a": 4}"#, vec!["/a", "/a"]),
            (r#"{"x": [{}, {"a/b~": 1, "a/b~": {"c": 1, "c": 2}}]}"#, vec!["/x/1/a~1b~0", "/x/1/a~1b~0/c"]),
            (r#"{"a": 1, "\u0061": 2}"#, vec!["/a"]),
        ] {
            assert_eq!(duplicate_keys(text), expected, "{text}");
        }
    }
}
