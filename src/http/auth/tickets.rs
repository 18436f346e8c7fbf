//! Tickets for downloads: addresses that work once, without a header.
//!
//! A browser does not send the secret's header when a person follows a link, and the cookie alone opens no data. So the
//! page requests a ticket for one address and opens that.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::secret::{digest, random_secret};

const LIFE: Duration = Duration::from_mins(1);
/// Beyond this number of unused tickets, the oldest one is dropped.
const MOST: usize = 1_024;

struct Ticket {
    /// Path and query that it opens.
    address: String,
    expires_at: Instant,
}

/// Tickets that were issued and not used yet.
#[derive(Default)]
pub(super) struct Tickets(Mutex<HashMap<[u8; 32], Ticket>>);

impl Tickets {
    pub fn issue(&self, address: &str, now: Instant) -> String {
        let ticket = random_secret("fdt_");
        let mut tickets = self.0.lock();
        tickets.retain(|_, ticket| ticket.expires_at > now);
        if tickets.len() >= MOST {
            let oldest = tickets.iter().min_by_key(|(_, ticket)| ticket.expires_at).map(|(key, _)| *key);
            oldest.and_then(|key| tickets.remove(&key));
        }
        tickets.insert(digest(&ticket), Ticket { address: address.to_owned(), expires_at: now + LIFE });
        ticket
    }

    /// Redeems a ticket. Returns whether it was valid for this address.
    pub fn redeem(&self, ticket: &str, address: &str, now: Instant) -> bool {
        let found = self.0.lock().remove(&digest(ticket));
        found.is_some_and(|ticket| ticket.address == address && ticket.expires_at > now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADDRESS: &str = "/api/copilot/session/session-1/blob/00";

    #[test]
    fn a_ticket_opens_its_address_once() {
        let (tickets, now) = (Tickets::default(), Instant::now());
        let ticket = tickets.issue(ADDRESS, now);
        assert!(tickets.redeem(&ticket, ADDRESS, now));
        assert!(!tickets.redeem(&ticket, ADDRESS, now));
        assert!(!tickets.redeem("fdt_guess", ADDRESS, now));
    }

    #[test]
    fn a_ticket_opens_no_other_address_and_is_used_up_by_the_attempt() {
        let (tickets, now) = (Tickets::default(), Instant::now());
        let ticket = tickets.issue(ADDRESS, now);
        assert!(!tickets.redeem(&ticket, "/api/copilot/session", now));
        assert!(!tickets.redeem(&ticket, ADDRESS, now));
    }

    #[test]
    fn a_ticket_expires_after_sixty_seconds() {
        let (tickets, now) = (Tickets::default(), Instant::now());
        let (early, late) = (tickets.issue(ADDRESS, now), tickets.issue(ADDRESS, now));
        assert!(tickets.redeem(&early, ADDRESS, now + Duration::from_millis(59_999)));
        assert!(!tickets.redeem(&late, ADDRESS, now + Duration::from_mins(1)));
    }

    #[test]
    fn the_number_of_tickets_is_bounded_and_the_oldest_goes_first() {
        let (tickets, now) = (Tickets::default(), Instant::now());
        let first = tickets.issue(ADDRESS, now);
        let second = tickets.issue(ADDRESS, now + Duration::from_millis(1));
        for _ in 0..MOST - 1 {
            tickets.issue(ADDRESS, now + Duration::from_millis(2));
        }
        assert!(!tickets.redeem(&first, ADDRESS, now));
        assert!(tickets.redeem(&second, ADDRESS, now));
    }
}
