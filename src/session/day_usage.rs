//! What all sessions have used today, in memory, so that budget checks do not read the store.

use std::collections::BTreeMap;

use parking_lot::Mutex;

use crate::model::{Day, Usage};

/// Days that are remembered: a clock that is set back over midnight finds its day again.
const DAYS: usize = 3;

/// The sums of the last days.
#[derive(Default)]
pub(super) struct DayUsage(Mutex<BTreeMap<Day, Usage>>);

impl DayUsage {
    /// What the store has of a day, before anything is added to it.
    pub fn restore(&self, day: Day, usage: Usage) {
        self.0.lock().insert(day, usage);
    }

    /// Adds a report and returns the day's sum.
    pub fn add(&self, day: Day, usage: &Usage) -> Usage {
        let mut days = self.0.lock();
        let sum = days.entry(day).or_default();
        // Names of files would accumulate, and no budget needs them.
        sum.add(&Usage { code_changes: None, ..usage.clone() });
        let sum = sum.clone();
        while days.len() > DAYS {
            days.pop_first();
        }
        sum
    }

    /// A day's sum.
    pub fn of(&self, day: Day) -> Usage {
        self.0.lock().get(&day).cloned().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::CodeChanges;

    #[test]
    fn each_day_has_its_own_sum_and_goes_on_from_what_the_store_has() {
        let usage = DayUsage::default();
        let tokens = |input_tokens| Usage { input_tokens: Some(input_tokens), ..Usage::default() };
        let day = |text: &str| text.parse().expect("a day");
        usage.restore(day("2026-01-01"), tokens(10));
        let with_files = Usage { code_changes: Some(CodeChanges::default()), ..tokens(5) };
        assert_eq!(usage.add(day("2026-01-01"), &with_files), tokens(15));
        assert_eq!(usage.of(day("2026-01-02")), Usage::default(), "a new day begins with nothing");
        assert_eq!(usage.add(day("2026-01-02"), &tokens(1)), tokens(1));
        assert_eq!(usage.of(day("2026-01-01")), tokens(15), "the clock was set back");
        for later in ["2026-01-03", "2026-01-04"] {
            usage.add(day(later), &tokens(1));
        }
        assert_eq!(usage.of(day("2026-01-01")), Usage::default(), "old days are forgotten");
    }
}
