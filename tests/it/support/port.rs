//! Ports for tests that must know theirs beforehand.

use std::net::{Ipv4Addr, Ipv6Addr, TcpListener};

/// Below the range from which operating systems give out ports, so that nobody is given it in between.
const FIRST: u32 = 20_000;
const COUNT: u32 = 8_000;

/// A port that is free on both loopback addresses. Test processes that run side by side begin to look elsewhere.
pub fn free_port() -> u16 {
    let start = std::process::id();
    (0..COUNT)
        .map(|offset| u16::try_from(FIRST + (start + offset) % COUNT).expect("a port"))
        .find(|port| {
            let four = TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok();
            // A machine without IPv6 cannot have a listener there either.
            let six = !has_ipv6() || TcpListener::bind((Ipv6Addr::LOCALHOST, *port)).is_ok();
            four && six
        })
        .expect("a free port")
}

fn has_ipv6() -> bool {
    TcpListener::bind((Ipv6Addr::LOCALHOST, 0)).is_ok()
}
