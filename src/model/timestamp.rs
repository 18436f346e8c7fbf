//! A moment, as milliseconds since 1970, written as RFC 3339 in JSON.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::text_schema::text_schema;

/// Milliseconds since the Unix epoch, UTC. The caller reads the clock; this module has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timestamp(i64);

impl Timestamp {
    /// The moment that many milliseconds after the epoch.
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Milliseconds since the epoch.
    pub fn as_millis(self) -> i64 {
        self.0
    }

    /// How long after `earlier` this is; zero when the clock was set back in between.
    pub fn since(self, earlier: Timestamp) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(moment) => write!(formatter, "{moment:.3}"),
            Err(_) => write!(formatter, "{} ms after 1970", self.0),
        }
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let moment: jiff::Timestamp = String::deserialize(deserializer)?.parse().map_err(de::Error::custom)?;
        Ok(Self(moment.as_millisecond()))
    }
}

text_schema!(Timestamp, "A moment in UTC, with milliseconds.", { "format": "date-time" });

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_read_as_it_was_written() {
        let moment = Timestamp(1_700_000_000_005);
        let json = serde_json::to_string(&moment).expect("JSON");
        assert_eq!(serde_json::from_str::<Timestamp>(&json).expect("a moment"), moment);
        assert!(serde_json::from_str::<Timestamp>("\"soon\"").is_err());
    }

    #[test]
    fn is_written_as_rfc_3339_with_milliseconds() {
        assert_eq!(Timestamp::from_millis(1_700_000_000_005).to_string(), "2023-11-14T22:13:20.005Z");
    }

    #[test]
    fn a_clock_set_back_gives_no_negative_span() {
        assert_eq!(Timestamp(5).since(Timestamp(9)), Duration::ZERO);
        assert_eq!(Timestamp(9).since(Timestamp(5)), Duration::from_millis(4));
    }
}
