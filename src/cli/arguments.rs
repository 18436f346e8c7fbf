//! Command-line flags, and the configuration layer that they form.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgAction, Args, CommandFactory as _, Parser, Subcommand, ValueEnum};
use toml::Value;

use super::backup::{BackupFlags, RestoreFlags};
use super::jobs::{JOBS_HELP, JobsCommand};
use super::service::ServiceCommand;
use super::sessions::{ListFlags, SessionsCommand};
use super::terminal::text;
use super::turn::{AnswerFlags, AttachFlags, DecideFlags, DenyFlags, InterruptFlags, LogsFlags, RunFlags};
use crate::config::{ConfigPaths, Loaded, Place, Sources, load};
use crate::http::auth::{TokenLife, TokenName};
use crate::model::{Scope, TokenId};

/// How like a command a word must be to be taken for a mistyped one.
const LEAST_LIKENESS: f64 = 0.75;

/// Runs coding agents on your machine as durable sessions.
#[derive(Debug, Parser)]
#[command(name = "flightdeck", version, disable_version_flag = true)]
pub(super) struct Arguments {
    #[command(subcommand)]
    pub command: Option<Command>,
    /// Print the version
    #[arg(short = 'V', short_alias = 'v', long, action = ArgAction::Version)]
    version: Option<bool>,
    #[command(flatten)]
    pub serve: ServeFlags,
    #[command(flatten)]
    pub common: CommonFlags,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Start the server (the default command)
    Serve(ServeFlags),
    /// Run one turn: send a prompt, print the answer
    ///
    /// The answer goes to standard output, everything else to standard error. Permissions and questions are asked on the
    /// terminal; without one they are denied. Ctrl+C interrupts the turn, a second one detaches; the session is never
    /// ended by it. If no server is running, one is started in the background.
    ///
    /// With --json, each line is a JSON object: the session, its events, the outcome.
    ///
    /// Exit codes: 0 succeeded, 1 failed, 2 not started because of its arguments, 3 something was denied, 4 a budget is used
    /// up, 130 interrupted or detached.
    Run(RunFlags),
    /// Follow a session, answer what it asks and type prompts
    Attach(AttachFlags),
    /// List sessions, or show, close, reopen, rename, delete, export and search them
    #[command(args_conflicts_with_subcommands = true)]
    Sessions {
        #[command(subcommand)]
        command: Option<SessionsCommand>,
        #[command(flatten)]
        list: ListFlags,
    },
    /// Print the transcript of a session
    Logs(LogsFlags),
    /// List everything that needs you
    Inbox,
    /// Allow what a session asks for
    Allow(DecideFlags),
    /// Deny what a session asks for
    Deny(DenyFlags),
    /// Answer the question of a session
    Answer(AnswerFlags),
    /// Interrupt the turn of a session; the session stays
    Interrupt(InterruptFlags),
    /// Show whether a server is running, where, and what it is doing
    ///
    /// Exit codes: 0 a server is running, 1 none is.
    Status,
    /// Write sessions, jobs, usage and settings into one file; a server may be running
    ///
    /// The server's token and installed agents are not part of it.
    Backup(BackupFlags),
    /// Put a backup in place of the data folder
    ///
    /// The backup is verified first. A data folder that is not empty is replaced only with --force, and kept next to it.
    Restore(RestoreFlags),
    /// Start the server at every login, by systemd or launchd
    Service {
        #[command(subcommand)]
        command: ServiceCommand,
    },
    /// Print completions for a shell
    Completions {
        /// The shell
        #[arg(value_enum)]
        shell: clap_complete::Shell,
    },
    /// Print the manual page
    Man,
    /// Open the running server in the browser, logged in
    Open(OpenFlags),
    /// Stop the running server
    Stop,
    /// Show every setting and where its value came from, or change a setting
    Config {
        #[command(subcommand)]
        command: Option<ConfigCommand>,
    },
    /// List the available models
    Models(ModelsFlags),
    /// List the agents and what they need, or install one
    Agents {
        #[command(subcommand)]
        command: Option<AgentsCommand>,
    },
    /// Create, list and revoke tokens for programs that must not hold the server's own
    Tokens {
        #[command(subcommand)]
        command: Option<TokensCommand>,
    },
    /// Start jobs, follow them and decide at their gates
    #[command(long_about = JOBS_HELP)]
    Jobs {
        #[command(subcommand)]
        command: Option<JobsCommand>,
    },
    /// Show usage: tokens, premium requests, cost
    Usage(UsageFlags),
    /// Check this machine, the agents and the data folder
    Doctor(DoctorFlags),
    /// Check what capture assumes about the installed agents, on a scripted model
    Conformance(ConformanceFlags),
    /// Read a recorded agent transcript and print its events, for bug reports
    Replay(ReplayFlags),
    /// Print the version
    Version,
    /// Offer the job tools over MCP, on standard input and output; for agents
    #[command(hide = true)]
    JobTools,
}

#[derive(Debug, Subcommand)]
pub(super) enum ConfigCommand {
    /// Show every setting and where its value came from (the default command)
    Show,
    /// Show the value of one setting
    Get {
        /// The setting, such as sessions.model
        key: String,
    },
    /// Write a setting to your own file, or to the project's; the rest of the file stays unchanged
    Set {
        /// The setting, such as sessions.model
        key: String,
        /// Its value; an empty value removes the setting
        value: String,
        #[command(flatten)]
        place: PlaceFlags,
    },
    /// Remove a setting from your own file, or from the project's
    Unset {
        /// The setting, such as sessions.model
        key: String,
        #[command(flatten)]
        place: PlaceFlags,
    },
}

#[derive(Debug, Args)]
pub(super) struct PlaceFlags {
    /// Use your own file (the default)
    #[arg(long, conflicts_with = "project")]
    user: bool,
    /// Use the project's .flightdeck.toml
    #[arg(long)]
    project: bool,
}

impl PlaceFlags {
    pub fn place(&self) -> Place {
        if self.project { Place::Project } else { Place::User }
    }
}

#[derive(Debug, Subcommand)]
pub(super) enum AgentsCommand {
    /// List every runtime, its program and what is missing (the default command)
    List,
    /// Install an agent's program from npm, into the data folder
    Install(InstallFlags),
}

#[derive(Debug, Subcommand)]
pub(super) enum TokensCommand {
    /// List every token, with its scopes, its expiry and when it was last used (the default command)
    List,
    /// Create a token and print it, once
    Create(CreateTokenFlags),
    /// Revoke a token: it no longer works
    Revoke {
        /// The token's id, such as token-1
        id: TokenId,
    },
}

#[derive(Debug, Args)]
pub(super) struct CreateTokenFlags {
    /// What the token gives access to: view, prompt, approve, jobs, models or admin; repeat it for several scopes
    #[arg(long = "scope", value_name = "SCOPE", required = true, value_parser = Scope::named)]
    pub scopes: Vec<Scope>,
    /// A name that says what the token is for
    #[arg(long, value_name = "TEXT")]
    pub name: Option<TokenName>,
    /// How long the token is valid: a duration such as 12h or 30d, or never
    #[arg(long, value_name = "DURATION", default_value_t)]
    pub expires: TokenLife,
}

#[derive(Debug, Args)]
pub(super) struct InstallFlags {
    /// The agent: copilot or claude
    pub name: String,
    /// The version to install [default: the newest]
    #[arg(long = "agent-version", value_name = "VERSION")]
    pub version: Option<String>,
}

#[derive(Debug, Args)]
pub(super) struct ModelsFlags {
    /// Ask the agents again instead of using the lists of the last hour
    #[arg(long)]
    pub refresh: bool,
}

#[derive(Debug, Args)]
pub(super) struct UsageFlags {
    /// Group results by day, model, runtime or session [default: day]
    #[arg(long, value_name = "WHAT")]
    pub by: Option<String>,
    /// The first day, in UTC [default: 29 days before the last]
    #[arg(long, value_name = "YYYY-MM-DD")]
    pub from: Option<String>,
    /// The last day, in UTC [default: today]
    #[arg(long, value_name = "YYYY-MM-DD")]
    pub to: Option<String>,
}

#[derive(Debug, Args)]
pub(super) struct DoctorFlags {
    /// Skip the permission canary, which runs each agent once on a scripted model
    #[arg(long)]
    pub no_canary: bool,
}

#[derive(Debug, Args)]
pub(super) struct ConformanceFlags {
    /// The runtime to check [default: every one that capture can use]
    #[arg(long, value_name = "NAME")]
    pub runtime: Option<String>,
    /// Print earlier results instead
    #[arg(long)]
    pub history: bool,
}

#[derive(Debug, Args)]
pub(super) struct ReplayFlags {
    /// The runtime that recorded it: copilot, copilot-headless, claude, copilot-acp or acp:NAME
    #[arg(long, value_name = "NAME")]
    pub runtime: String,
    /// Print only the outcome of the last turn, on one line
    #[arg(long = "final")]
    pub is_final: bool,
    /// The transcript, one JSON value per line
    pub file: PathBuf,
}

/// Flags of every command.
#[derive(Debug, Args)]
pub(super) struct CommonFlags {
    /// The data folder [default: the platform's data folder]
    #[arg(long, global = true, value_name = "FOLDER")]
    pub data_dir: Option<PathBuf>,
    /// Print JSON
    #[arg(long, global = true)]
    pub json: bool,
}

#[derive(Debug, Default, PartialEq, Eq, Args)]
pub(super) struct ServeFlags {
    /// The port, same as --port
    #[arg(value_name = "PORT", conflicts_with = "port", value_parser = bare_port)]
    pub bare_port: Option<u16>,
    /// The port; 0 picks a free one [default: 8888]
    #[arg(short, long)]
    pub port: Option<u16>,
    /// The address to listen on; any other than loopback needs --behind-proxy [default: loopback]
    #[arg(long, value_name = "ADDRESS")]
    pub bind: Option<String>,
    /// Authentication
    #[arg(long, value_enum)]
    pub auth: Option<Auth>,
    /// Trust a TLS-terminating proxy
    #[arg(long)]
    pub behind_proxy: bool,
    /// How the log is written: for people, or one JSON object per line [default: text]
    #[arg(long, value_enum)]
    pub log_format: Option<LogLines>,
    /// Use shorter timeouts and let tests install their jobs, for tests
    #[arg(long)]
    pub test: bool,
    /// End when idle, and take another port if the configured one is in use; for commands that start a server
    #[arg(long, hide = true)]
    pub background: bool,
    /// With --test: the folder that jobs may be installed from [default: test]
    #[arg(long, value_name = "FOLDER", requires = "test")]
    pub test_dir: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Auth {
    /// Require the token
    Token,
    /// Require nothing: everyone who can reach the port has access (loopback only)
    None,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum LogLines {
    /// For people
    Text,
    /// One JSON object per line
    Json,
}

#[derive(Debug, Args)]
pub(super) struct OpenFlags {
    /// Print the login link instead of opening a browser
    #[arg(long)]
    pub print: bool,
    /// Show the login link as a QR code, for a phone that can reach the server
    #[arg(long, conflicts_with = "print")]
    pub qr: bool,
    /// With --qr: where the phone reaches the server, such as <https://deck.example.ts.net>
    #[arg(long, value_name = "URL", requires = "qr")]
    pub address: Option<String>,
}

impl Arguments {
    /// Parses the arguments, or prints what is wrong and exits. Common flags may come before the command; clap's own
    /// rule against that would parse the command as a port.
    pub fn read() -> Self {
        let parsed = Self::try_parse().map_err(|error| mistyped(&error).unwrap_or(error));
        parsed.and_then(Self::with_flags_of_serve).unwrap_or_else(|error| error.exit())
    }

    /// Flags of `serve` may come before it, and need no command; no other command takes them.
    fn with_flags_of_serve(mut self) -> Result<Self, clap::Error> {
        if self.serve == ServeFlags::default() {
            return Ok(self);
        }
        let problem = match &mut self.command {
            None => return Ok(self),
            Some(Command::Serve(flags)) if *flags == ServeFlags::default() => {
                *flags = std::mem::take(&mut self.serve);
                return Ok(self);
            }
            Some(Command::Serve(_)) => "flags of `serve` stand before and after it; put all of them after it",
            Some(_) => "flags of `serve` cannot be used with another command; remove them, or use `serve`",
        };
        Err(Self::command().error(ErrorKind::ArgumentConflict, problem))
    }
}

/// An argument that is neither a command nor a port is probably a mistyped command.
fn bare_port(text: &str) -> Result<u16, String> {
    text.parse().map_err(|_| "not a command (`flightdeck help` lists them) and not a port from 0 to 65535".to_owned())
}

/// An error that suggests a command, if a word that was taken for a port is like one.
fn mistyped(error: &clap::Error) -> Option<clap::Error> {
    let word = |kind| match error.get(kind) {
        Some(ContextValue::String(word)) => Some(word.as_str()),
        _ => None,
    };
    if error.kind() != ErrorKind::ValueValidation || word(ContextKind::InvalidArg) != Some("[PORT]") {
        return None;
    }
    let typed = word(ContextKind::InvalidValue)?;
    let command = nearest_command(typed)?;
    let message = format!("unrecognized command '{}'; did you mean '{command}'?", text::one_line(typed));
    Some(Arguments::command().error(ErrorKind::InvalidSubcommand, message))
}

/// The command that a mistyped one is most like.
fn nearest_command(text: &str) -> Option<String> {
    let command = Arguments::command();
    let names = command.get_subcommands().filter(|known| !known.is_hide_set()).map(|known| known.get_name().to_owned());
    let likeness = |name: &str| strsim::jaro_winkler(name, &text.to_lowercase());
    let scored = names.map(|name| (likeness(&name), name)).filter(|(likeness, _)| *likeness > LEAST_LIKENESS);
    scored.max_by(|(one, _), (other, _)| one.total_cmp(other)).map(|(_, name)| name)
}

type FlagValue = (&'static str, Value, &'static str);

impl ServeFlags {
    pub fn values(&self) -> Vec<FlagValue> {
        let mut values: Vec<FlagValue> = Vec::new();
        if let Some(port) = self.port.or(self.bare_port) {
            values.push(("server.port", Value::Integer(port.into()), "--port"));
        }
        if let Some(bind) = &self.bind {
            values.push(("server.bind", Value::String(bind.clone()), "--bind"));
        }
        if let Some(auth) = self.auth {
            let word = match auth {
                Auth::Token => "token",
                Auth::None => "none",
            };
            values.push(("server.auth", Value::String(word.to_owned()), "--auth"));
        }
        if self.behind_proxy {
            values.push(("server.behind_proxy", Value::Boolean(true), "--behind-proxy"));
        }
        if let Some(format) = self.log_format {
            let word = match format {
                LogLines::Text => "text",
                LogLines::Json => "json",
            };
            values.push(("log.format", Value::String(word.to_owned()), "--log-format"));
        }
        values
    }
}

/// The configuration in force, and the folders that go with it.
pub(super) struct Resolved {
    pub loaded: Loaded,
    pub start_folder: PathBuf,
    pub data_folder: PathBuf,
}

/// Resolves the settings from flags and all other sources.
pub(super) fn resolve(common: &CommonFlags, flags: Vec<FlagValue>) -> anyhow::Result<Resolved> {
    let sources = sources(common, flags)?;
    let loaded = load(&sources)?;
    Ok(Resolved::new(&sources, loaded))
}

/// Every source of settings.
pub(super) fn sources(common: &CommonFlags, mut flags: Vec<FlagValue>) -> anyhow::Result<Sources> {
    let start_folder = std::env::current_dir().context("cannot read the current folder")?;
    if let Some(folder) = &common.data_dir {
        let folder = start_folder.join(folder).to_string_lossy().into_owned();
        flags.push(("data_dir", Value::String(folder), "--data-dir"));
    }
    let variables = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    Ok(Sources::new(ConfigPaths::of_this_user(), start_folder, variables, flags))
}

impl Resolved {
    pub fn new(sources: &Sources, loaded: Loaded) -> Self {
        let configured = &loaded.config.data_dir;
        let usual = &sources.paths.data_folder;
        let data_folder = if configured.as_os_str().is_empty() { usual.clone() } else { configured.clone() };
        Self { loaded, start_folder: sources.start_folder.clone(), data_folder }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(words: &[&str]) -> Result<Arguments, String> {
        let words = ["flightdeck"].iter().chain(words);
        Arguments::try_parse_from(words).and_then(Arguments::with_flags_of_serve).map_err(|error| error.to_string())
    }

    #[test]
    fn flags_of_serve_stand_before_it_after_it_or_alone() {
        for words in [&["--port", "7"][..], &["7"]] {
            let Arguments { command: None, serve, .. } = parsed(words).expect("parsed") else { panic!("{words:?}") };
            assert_eq!(serve.port.or(serve.bare_port), Some(7), "{words:?}");
        }
        for words in [&["--port", "7", "serve"][..], &["serve", "--port", "7"], &["serve", "7"]] {
            let Some(Command::Serve(flags)) = parsed(words).expect("parsed").command else { panic!("{words:?}") };
            assert_eq!(flags.port.or(flags.bare_port), Some(7), "{words:?}");
        }
    }

    #[test]
    fn flags_of_serve_that_would_be_ignored_are_refused() {
        let refused = |words: &[&str]| parsed(words).map(|_| ()).expect_err("refused");
        assert!(refused(&["--port", "7", "status"]).contains("cannot be used with another command"));
        assert!(refused(&["--port", "7", "serve", "--port", "8"]).contains("before and after it"));
    }
}
