//! The configuration: built-in defaults, the user's file, the project's file, environment, flags; a later one wins.
//!
//! What must always hold here: an unknown key is an error that suggests the nearest known one, the origin of every value
//! is known, and a project's file (which comes with a repository) may set only what is harmless.

mod acp_agent;
mod budget;
mod capture;
mod edit;
mod effect;
mod error;
mod layers;
mod live;
mod mcp_server;
mod notifications;
mod paths;
mod project;
mod prompt_templates;
mod provider;
mod runtime_defaults;
mod secrets;
mod session_layers;
mod settings;
mod span;
mod type_error;

pub use acp_agent::AcpAgent;
pub use budget::Budget;
pub use capture::{Capture, CaptureMode};
pub use edit::{Edit, Place};
pub use effect::Effect;
pub use error::ConfigError;
pub use layers::{Loaded, Origin, Sources, default_of, key_name, load, nearest_key};
pub use live::{ConfigChange, ConfigUser, LiveConfig};
pub use mcp_server::McpServer;
pub use notifications::{InQuietHours, NotificationTarget, Notifications, TargetKind, TargetSubject};
pub use paths::{ConfigPaths, repository_root};
pub use prompt_templates::{PromptTemplate, PromptTemplates, TemplateError, TemplateFolder};
pub use provider::Provider;
pub use runtime_defaults::RuntimeDefaults;
pub use secrets::without_secrets;
pub use session_layers::SessionLayers;
pub use settings::{AuthMode, Config, Copilot, Limits, LogFormat, Permissions, Recovery, Resume, Server};
pub use span::Span;
