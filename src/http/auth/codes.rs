//! One-time codes for login links.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::secret::{digest, random_secret};

/// Beyond this number of unused codes, the oldest ones that expire are dropped.
const MOST: usize = 64;

/// Codes that were issued and not used yet.
#[derive(Default)]
pub(super) struct LoginCodes(Mutex<HashMap<[u8; 32], Option<Instant>>>);

impl LoginCodes {
    pub fn issue(&self, good_for: Option<Duration>) -> String {
        let code = random_secret("fdl_");
        let mut codes = self.0.lock();
        let now = Instant::now();
        codes.retain(|_, end| end.is_none_or(|end| end > now));
        if codes.len() >= MOST {
            codes.retain(|_, end| end.is_none());
        }
        codes.insert(digest(&code), good_for.map(|span| now + span));
        code
    }

    /// Redeems a code. Returns whether it was valid.
    pub fn redeem(&self, code: &str) -> bool {
        match self.0.lock().remove(&digest(code)) {
            Some(Some(end)) => end > Instant::now(),
            Some(None) => true,
            None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_good_once_and_only_in_its_time() {
        let codes = LoginCodes::default();
        let code = codes.issue(None);
        assert!(codes.redeem(&code));
        assert!(!codes.redeem(&code));
        assert!(!codes.redeem(&codes.issue(Some(Duration::ZERO))));
        assert!(!codes.redeem("fdl_guess"));
    }
}
