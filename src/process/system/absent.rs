//! Platforms without process information: orphans are not found and resource use is not reported. On Windows, a child
//! exits when its standard input closes, and tokio kills it when it is dropped.

use super::Look;
use crate::process::figures::ProcessFigures;
use crate::process::marker::Marker;
use crate::process::signal::Signal;

pub fn boot() -> String {
    String::new()
}

pub fn started(_: u32) -> Option<String> {
    None
}

pub fn look(_: &Marker) -> Look {
    Look::default()
}

pub fn ancestors() -> Vec<u32> {
    vec![std::process::id()]
}

pub fn signal_carrier(_: u32, _: &Marker, _: Signal) -> bool {
    false
}

pub fn figures(_: u32, _: &Marker) -> Option<ProcessFigures> {
    None
}
