//! Durations as people write them: `90s`, `10m`, `30d`.

use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A duration; the empty text means none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span(pub Option<Duration>);

impl Span {
    /// A duration of that length.
    pub const fn of(span: Duration) -> Self {
        Self(Some(span))
    }

    /// The duration, or zero for none.
    pub fn or_zero(self) -> Duration {
        self.0.unwrap_or_default()
    }
}

impl Serialize for Span {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Some(span) => serializer.collect_str(&humantime::format_duration(span)),
            None => serializer.serialize_str(""),
        }
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text.is_empty() {
            return Ok(Self(None));
        }
        let span = humantime::parse_duration(&text).map_err(|error| {
            serde::de::Error::custom(format!("{text:?} is not a duration such as \"90s\" or \"10m\": {error}"))
        })?;
        Ok(Self(Some(span)))
    }
}
