//! When a failed delivery is sent again.

use std::time::Duration;

use super::Retries;

/// The delay before the next attempt, after that many. `None` when there is none. `spread` is a random number from 0 to 1:
/// it keeps many servers from asking a target that has just recovered at the same moment.
pub(super) fn delay(retries: &Retries, attempts: u32, spread: f64, retry_after: Option<Duration>) -> Option<Duration> {
    if attempts >= retries.attempts {
        return None;
    }
    let doubled = 2_u32.saturating_pow(attempts.saturating_sub(1));
    let delay = retries.first_delay.saturating_mul(doubled).min(retries.longest_delay);
    let spread = delay.mul_f64(0.75 + spread.clamp(0.0, 1.0) / 2.0);
    Some(spread.max(retry_after.unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_double_up_to_the_longest_and_end() {
        let retries = Retries::default();
        let seconds = |attempts| delay(&retries, attempts, 0.5, None).map(|delay| delay.as_secs());
        assert_eq!([1, 2, 3, 9, 10].map(seconds), [Some(5), Some(10), Some(20), Some(1_280), None]);
        let longest = Retries { attempts: 100, ..retries };
        assert_eq!(delay(&longest, 99, 0.5, None), Some(retries.longest_delay));
    }

    #[test]
    fn delays_are_spread_and_the_target_may_ask_for_more() {
        let retries = Retries::default();
        let at = |spread| delay(&retries, 3, spread, None).expect("another attempt");
        assert_eq!((at(0.0).as_secs(), at(1.0).as_secs()), (15, 25));
        let hour = Duration::from_hours(1);
        assert_eq!(delay(&retries, 1, 0.5, Some(hour)), Some(hour));
    }
}
