//! Sessions on the real Copilot, with a scripted model behind it.

mod failures;
mod requests;
mod restarts;
mod silence;
mod supervision;
mod turns;
