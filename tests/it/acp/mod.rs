//! Sessions on agents that speak ACP: the real Copilot, another real agent, and one that misbehaves on request.

mod copilot;
mod fake;
mod misbehaviour;
mod opencode;
mod pending;
mod processes;
mod restoring;
mod turns;
