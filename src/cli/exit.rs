//! Exit codes of commands that work with sessions.

/// It was asked for wrongly, and nothing was done.
pub(super) const USAGE: u8 = 2;
/// Something that the agent wanted to do was denied.
pub(super) const DENIED: u8 = 3;
/// A budget is used up.
pub(super) const BUDGET: u8 = 4;
/// The turn was interrupted, or the command left it.
pub(super) const INTERRUPTED: u8 = 130;
