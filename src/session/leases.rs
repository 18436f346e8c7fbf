//! Who of ours drives which of the agents' own sessions: no two sessions of one server drive the same. Two servers on one
//! data folder cannot either, because of its lock.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::model::SessionId;

type Holders = Arc<Mutex<HashMap<(String, String), SessionId>>>;

/// All leases of a server.
#[derive(Debug, Default)]
pub(super) struct Leases {
    holders: Holders,
}

/// The right to drive one of an agent's sessions, until dropped.
#[derive(Debug)]
pub(super) struct Lease {
    key: (String, String),
    holders: Holders,
}

impl Leases {
    /// The right to drive that session; else who has it.
    pub fn take(&self, runtime: &str, agent_session: &str, by: SessionId) -> Result<Lease, SessionId> {
        let key = (runtime.to_owned(), agent_session.to_owned());
        let mut holders = self.holders.lock();
        if let Some(holder) = holders.get(&key) {
            return Err(*holder);
        }
        holders.insert(key.clone(), by);
        Ok(Lease { key, holders: Arc::clone(&self.holders) })
    }
}

impl Lease {
    /// Whether it is the right to drive that session.
    pub fn is_of(&self, runtime: &str, agent_session: &str) -> bool {
        self.key.0 == runtime && self.key.1 == agent_session
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.holders.lock().remove(&self.key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_of_an_agent_has_one_driver_at_a_time() {
        let leases = Leases::default();
        let (one, two) = (SessionId::from_number(1), SessionId::from_number(2));
        let lease = leases.take("copilot", "a", one).expect("free");
        assert_eq!(leases.take("copilot", "a", two).expect_err("taken"), one);
        assert!(leases.take("copilot", "b", two).is_ok());
        assert!(leases.take("other", "a", two).is_ok());
        drop(lease);
        assert!(leases.take("copilot", "a", two).is_ok());
    }
}
