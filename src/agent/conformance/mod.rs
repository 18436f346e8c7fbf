//! Conformance: what capture assumes about an agent, as checks against the installed version, and what each version is
//! allowed to do after them.
//!
//! The checks are in the runtime's own folder ([`crate::agent::Runtime::conformance`]). What must always hold here: a
//! failed check switches off the capability that rests on it, for exactly that runtime and version, and nothing else.

mod report;
mod results;

pub use report::{Area, AssumptionResult, Capability, ConformanceReport};
pub use results::{ConformanceResults, PastResult};
