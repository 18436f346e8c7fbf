//! Systems where nothing is known: orphans are not found and figures are not taken. On Windows a child ends when its
//! standard input closes, and tokio kills it when it is dropped.

use super::Carrier;
use crate::process::figures::ProcessFigures;
use crate::process::marker::Marker;
use crate::process::signal::Signal;

pub fn boot() -> String {
    String::new()
}

pub fn started(_: u32) -> Option<String> {
    None
}

pub fn carriers(_: &Marker) -> Vec<Carrier> {
    Vec::new()
}

pub fn kin() -> Vec<u32> {
    vec![std::process::id()]
}

pub fn signal_carrier(_: u32, _: &Marker, _: Signal) {}

pub fn figures(_: u32, _: &Marker) -> Option<ProcessFigures> {
    None
}
