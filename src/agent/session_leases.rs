//! Leases on the agents' own sessions. Two connections of one server never use the same agent session; two servers
//! cannot share a data folder, because it is locked.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;

use super::Owner;

type Holders = Arc<Mutex<HashMap<(String, String), Owner>>>;

/// All leases of a server. Clones share them.
#[derive(Clone, Debug, Default)]
pub(super) struct SessionLeases {
    holders: Holders,
}

/// The exclusive right to use one of an agent's sessions, until dropped.
#[derive(Debug)]
pub(super) struct SessionLease {
    key: (String, String),
    holders: Holders,
}

impl SessionLeases {
    /// Leases a session of a runtime family, or returns the owner that holds it.
    pub fn take(&self, family: &str, agent_session: &str, owner: Owner) -> Result<SessionLease, Owner> {
        let key = (family.to_owned(), agent_session.to_owned());
        let mut holders = self.holders.lock();
        if let Some(holder) = holders.get(&key) {
            return Err(*holder);
        }
        holders.insert(key.clone(), owner);
        Ok(SessionLease { key, holders: Arc::clone(&self.holders) })
    }
}

impl SessionLease {
    /// Whether it is for that session of the agent.
    pub fn is_of(&self, agent_session: &str) -> bool {
        self.key.1 == agent_session
    }
}

impl Drop for SessionLease {
    fn drop(&mut self) {
        self.holders.lock().remove(&self.key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::SessionId;

    #[test]
    fn a_session_of_an_agent_has_one_driver_at_a_time() {
        let leases = SessionLeases::default();
        let (one, two) = (Owner::Session(SessionId::from_number(1)), Owner::Session(SessionId::from_number(2)));
        let lease = leases.take("copilot", "a", one).expect("free");
        assert_eq!(leases.take("copilot", "a", two).expect_err("taken"), one);
        assert!(leases.take("copilot", "b", two).is_ok());
        assert!(leases.take("other", "a", Owner::Capture).is_ok());
        drop(lease);
        assert!(leases.take("copilot", "a", two).is_ok());
    }
}
