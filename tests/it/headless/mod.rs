//! The headless runtimes: the real Copilot CLI, the real Claude Code, and a program that misbehaves on request.

mod claude;
mod copilot;
mod job_tools;
mod lost_sessions;
mod misbehaviour;
mod running_tools;
mod support;
