//! Parses how long a service asks to wait from the text of an error.

use std::time::Duration;

/// Phrases that introduce the time.
const INTRODUCTIONS: [&str; 5] = ["retry-after", "retry after", "try again in", "retry_after", "retryafter"];
/// Longer waits are ignored: a retry after more than this is not worth keeping a turn open.
const LONGEST: Duration = Duration::from_hours(24);

/// The time after one of the known phrases, in seconds if it has no unit.
pub(super) fn in_text(text: &str) -> Option<Duration> {
    let text = text.to_ascii_lowercase();
    INTRODUCTIONS.iter().find_map(|introduction| {
        let (_, rest) = text.split_once(introduction)?;
        let rest = rest.trim_start_matches([':', '=', '"', ' ']);
        let rest = rest.strip_prefix("about ").unwrap_or(rest);
        time(rest).filter(|time| *time <= LONGEST)
    })
}

/// A time such as `7`, `1.5s`, `20 seconds`, `2 hours`, `1m30s`.
fn time(mut rest: &str) -> Option<Duration> {
    let mut total = None;
    loop {
        let digits =
            rest.len() - rest.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == '.').len();
        let Ok(number) = rest[..digits].trim_end_matches('.').parse::<f64>() else { return total };
        rest = rest[digits..].trim_start();
        let letters = rest.len() - rest.trim_start_matches(|letter: char| letter.is_ascii_alphabetic()).len();
        let seconds = match &rest[..letters] {
            "ms" | "millisecond" | "milliseconds" => 0.001,
            "m" | "min" | "mins" | "minute" | "minutes" => 60.0,
            "h" | "hour" | "hours" => 3_600.0,
            "d" | "day" | "days" => 86_400.0,
            _ => 1.0,
        };
        rest = rest[letters..].trim_start();
        let more = Duration::try_from_secs_f64(number * seconds).ok()?;
        total = Some(total.unwrap_or(Duration::ZERO).saturating_add(more));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_found_as_services_write_them() {
        for (text, expected) in [
            ("429 Too Many Requests, retry-after: 30", Some(30_000)),
            (r#"{"retry_after":"1.5"}"#, Some(1_500)),
            ("Please try again in 20s.", Some(20_000)),
            ("Please try again in 1m30s. Learn more", Some(90_000)),
            ("Please try again in 2 hours.", Some(7_200_000)),
            ("try again in 345ms", Some(345)),
            ("Please try again in a moment", None),
            ("try again in 3 days, that is retry-after 259200", None),
            ("try again in 99999999999999999999999999 hours", None),
            ("", None),
        ] {
            assert_eq!(in_text(text), expected.map(Duration::from_millis), "{text}");
        }
    }
}
