//! Quiet hours: every day, in local time.

use jiff::civil::Time;
use jiff::tz::TimeZone;
use jiff::{ToSpan as _, Zoned};

use crate::model::{HappeningKind, Timestamp};

/// When nothing is sent.
#[derive(Clone, Debug)]
pub struct QuietHours {
    /// When they begin, in minutes since midnight.
    pub from: u16,
    /// When they end; before `from` if they last past midnight.
    pub to: u16,
    /// Where.
    pub zone: TimeZone,
    /// What comes meanwhile is sent at the end, as one summary; otherwise it is dropped.
    pub hold: bool,
    /// What needs a person is sent nevertheless.
    pub needs_you_breaks_through: bool,
}

impl QuietHours {
    /// When the quiet hours end that keep this kind from being sent; `None` if it may be sent now.
    pub fn end(&self, kind: HappeningKind, now: Timestamp) -> Option<Timestamp> {
        if kind == HappeningKind::NeedsYou && self.needs_you_breaks_through {
            return None;
        }
        let moment = jiff::Timestamp::from_millisecond(now.as_millis()).ok()?.to_zoned(self.zone.clone());
        let minute = u16::from(moment.hour().unsigned_abs()) * 60 + u16::from(moment.minute().unsigned_abs());
        let is_quiet = if self.from < self.to {
            (self.from..self.to).contains(&minute)
        } else {
            minute >= self.from || minute < self.to
        };
        if !is_quiet {
            return None;
        }
        self.next_end(&moment, minute)
    }

    /// A change of the clocks between now and then counts, because the end is a time of day.
    fn next_end(&self, moment: &Zoned, minute: u16) -> Option<Timestamp> {
        let date = if minute < self.to { moment.date() } else { moment.date().checked_add(1.day()).ok()? };
        let time = Time::new(i8::try_from(self.to / 60).ok()?, i8::try_from(self.to % 60).ok()?, 0, 0).ok()?;
        let end = date.to_datetime(time).to_zoned(self.zone.clone()).ok()?;
        Some(Timestamp::from_millis(end.timestamp().as_millisecond()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        Timestamp::from_millis(text.parse::<jiff::Timestamp>().expect("a moment").as_millisecond())
    }

    fn quiet(from: u16, to: u16, zone: TimeZone) -> QuietHours {
        QuietHours { from: from * 60, to: to * 60, zone, hold: true, needs_you_breaks_through: false }
    }

    #[test]
    fn quiet_hours_may_last_past_midnight() {
        let night = quiet(22, 7, TimeZone::UTC);
        let day = quiet(9, 17, TimeZone::UTC);
        for (hours, now, end) in [
            (&night, "2026-03-01T21:59:59Z", None),
            (&night, "2026-03-01T22:00:00Z", Some("2026-03-02T07:00:00Z")),
            (&night, "2026-03-02T06:59:59Z", Some("2026-03-02T07:00:00Z")),
            (&night, "2026-03-02T07:00:00Z", None),
            (&day, "2026-03-01T08:59:00Z", None),
            (&day, "2026-03-01T09:00:00Z", Some("2026-03-01T17:00:00Z")),
            (&day, "2026-03-01T17:00:00Z", None),
        ] {
            assert_eq!(hours.end(HappeningKind::Finished, at(now)), end.map(at), "{now}");
        }
    }

    #[test]
    fn they_are_in_local_time_also_when_the_clocks_change() {
        let zone = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").expect("a zone");
        let night = quiet(22, 7, zone);
        // 23:00 in winter; the night of the change is an hour shorter.
        let end = night.end(HappeningKind::Failed, at("2026-03-28T22:00:00Z"));
        assert_eq!(end, Some(at("2026-03-29T05:00:00Z")));
        assert_eq!(night.end(HappeningKind::Failed, at("2026-06-01T20:30:00Z")), Some(at("2026-06-02T05:00:00Z")));
        assert_eq!(night.end(HappeningKind::Failed, at("2026-06-01T19:30:00Z")), None);
    }

    #[test]
    fn what_needs_a_person_may_break_through() {
        let night = QuietHours { needs_you_breaks_through: true, ..quiet(0, 23, TimeZone::UTC) };
        let now = at("2026-03-01T10:00:00Z");
        assert_eq!(night.end(HappeningKind::NeedsYou, now), None);
        assert!(night.end(HappeningKind::Finished, now).is_some());
    }
}
