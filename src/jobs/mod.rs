//! Tasks and jobs: agents led through checked, repeatable steps.
//!
//! A task is one prompt with checks. A job is a tree of tasks. Both are defined in an entry (`entry/`), drive ordinary
//! sessions, and are durable: everything that happens is a record in the job's log, committed before it takes effect.
//!
//! What must always hold here:
//!
//! - The rules are pure (`machine/`): the state is a fold over the records, and what is to be done next follows from the
//!   state alone. A restarted job therefore continues exactly where its log ends.
//! - Everything that is done outside (opening a session, sending a prompt) has a key, so doing it again after a restart
//!   does nothing a second time.
//! - A gate is passed only by its own committed record, which names what the person was shown.
//! - Nothing follows the record that ends a job, and nothing starts after it.

pub mod chart;
pub mod entry;
mod gate_view;
pub mod machine;
mod record;
