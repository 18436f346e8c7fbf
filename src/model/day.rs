//! A day in UTC, written `2026-03-01`.

use std::fmt;
use std::str::FromStr;

use jiff::civil::Date;
use jiff::{Span, tz::Offset};
use serde::{Serialize, Serializer};

use super::Timestamp;
use super::text_schema::text_schema;

/// A day in UTC, so that it begins at the same moment for the server and all readers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Day(Date);

/// The text is not a day.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid day {0:?}; expected YYYY-MM-DD")]
pub struct InvalidDay(String);

impl Day {
    /// The day on which a moment falls.
    pub fn of(moment: Timestamp) -> Self {
        // A moment that no calendar can name means a wrong clock; its figures count for the first possible day.
        let moment = jiff::Timestamp::from_millisecond(moment.as_millis()).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
        Self(Offset::UTC.to_datetime(moment).date())
    }

    /// The moment at which it begins.
    pub fn begins(self) -> Timestamp {
        let moment = Offset::UTC.to_timestamp(self.0.to_datetime(jiff::civil::Time::midnight()));
        Timestamp::from_millis(moment.unwrap_or(jiff::Timestamp::UNIX_EPOCH).as_millisecond())
    }

    /// The last moment of it.
    pub fn ends(self) -> Timestamp {
        const DAY: i64 = 24 * 60 * 60 * 1000;
        Timestamp::from_millis(self.begins().as_millis() + DAY - 1)
    }

    /// That many days earlier.
    #[must_use]
    pub fn earlier(self, days: u32) -> Self {
        Self(self.0.saturating_sub(Span::new().days(days)))
    }
}

impl fmt::Display for Day {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.0)
    }
}

impl FromStr for Day {
    type Err = InvalidDay;

    /// Reads exactly the form that [`Display`](fmt::Display) writes: times of day and other formats are rejected.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let day = text.parse().ok().map(Self).filter(|day| day.to_string() == text);
        day.ok_or_else(|| InvalidDay(text.to_owned()))
    }
}

impl Serialize for Day {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

text_schema!(Day, "A day in UTC.", { "format": "date" });

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_begins_at_midnight_of_utc() {
        let midnight = 1_700_006_400_000;
        assert_eq!(Day::of(Timestamp::from_millis(midnight)).to_string(), "2023-11-15");
        assert_eq!(Day::of(Timestamp::from_millis(midnight - 1)).to_string(), "2023-11-14");
        let day = Day::of(Timestamp::from_millis(midnight + 5));
        assert_eq!(day.begins(), Timestamp::from_millis(midnight));
        assert_eq!(Day::of(day.ends()), day);
        assert_ne!(Day::of(Timestamp::from_millis(day.ends().as_millis() + 1)), day);
    }

    #[test]
    fn only_one_spelling_is_a_day() {
        let day: Day = "2024-03-01".parse().expect("a day");
        assert_eq!(day.earlier(1).to_string(), "2024-02-29");
        for wrong in ["", "2024-3-1", "2024-02-30", "20240301", "2024-03-01T10:00", "yesterday", " 2024-03-01"] {
            let error = wrong.parse::<Day>().expect_err(wrong);
            assert!(error.to_string().contains("YYYY-MM-DD"), "{error}");
        }
    }
}
