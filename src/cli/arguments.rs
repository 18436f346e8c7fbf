//! Flags as they are typed, and the layer of configuration that they make.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::error::ErrorKind;
use clap::{Args, CommandFactory as _, Parser, Subcommand, ValueEnum};
use toml::Value;

use crate::config::{ConfigPaths, Loaded, Place, Sources, load};

/// Hosts coding-agent sessions on your own machine.
#[derive(Debug, Parser)]
#[command(name = "flightdeck", version)]
pub(super) struct Arguments {
    #[command(subcommand)]
    pub command: Option<Command>,
    #[command(flatten)]
    pub serve: ServeFlags,
    #[command(flatten)]
    pub common: CommonFlags,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Start the server (what happens without a command)
    Serve(ServeFlags),
    /// Open the running server in the browser, logged in
    Open(OpenFlags),
    /// Stop the running server
    Stop,
    /// Show every setting and where its value came from, or change one
    Config {
        #[command(subcommand)]
        command: Option<ConfigCommand>,
    },
    /// Show the models there are to choose from
    Models(ModelsFlags),
    /// Show the agents and what is missing, or install one
    Agents {
        #[command(subcommand)]
        command: Option<AgentsCommand>,
    },
    /// Show what was used: tokens, premium requests, money
    Usage(UsageFlags),
    /// Check this machine, its agents and our own folder
    Doctor(DoctorFlags),
    /// Read a recorded transcript of an agent and print what it means, for bug reports
    Replay(ReplayFlags),
}

#[derive(Debug, Subcommand)]
pub(super) enum ConfigCommand {
    /// Show every setting and where its value came from (what happens without a command)
    Show,
    /// Show the value of one setting
    Get {
        /// The setting, such as sessions.model
        key: String,
    },
    /// Write a setting to your own file, or to the project's; everything else in it stays as it is
    Set {
        /// The setting, such as sessions.model
        key: String,
        /// Its value; the empty text takes the setting out
        value: String,
        #[command(flatten)]
        place: PlaceFlags,
    },
    /// Take a setting out of your own file, or out of the project's
    Unset {
        /// The setting, such as sessions.model
        key: String,
        #[command(flatten)]
        place: PlaceFlags,
    },
}

#[derive(Debug, Args)]
pub(super) struct PlaceFlags {
    /// Your own file (what happens without a flag)
    #[arg(long, conflicts_with = "project")]
    user: bool,
    /// The project's .flightdeck.toml
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
    /// Show every runtime, its program, and what is missing (what happens without a command)
    List,
    /// Install an agent's program from npm, below the data folder
    Install(InstallFlags),
}

#[derive(Debug, Args)]
pub(super) struct InstallFlags {
    /// The agent: copilot or claude
    pub name: String,
    /// A version other than the newest
    #[arg(long = "agent-version", value_name = "VERSION")]
    pub version: Option<String>,
}

#[derive(Debug, Args)]
pub(super) struct ModelsFlags {
    /// Ask the agents again instead of using what was asked within the hour
    #[arg(long)]
    pub refresh: bool,
}

#[derive(Debug, Args)]
pub(super) struct UsageFlags {
    /// What figures are put together by: day, model, runtime or session [default: day]
    #[arg(long, value_name = "WHAT")]
    pub by: Option<String>,
    /// The first day, of UTC [default: 30 days in all]
    #[arg(long, value_name = "YYYY-MM-DD")]
    pub from: Option<String>,
    /// The last day, of UTC [default: today]
    #[arg(long, value_name = "YYYY-MM-DD")]
    pub to: Option<String>,
}

#[derive(Debug, Args)]
pub(super) struct DoctorFlags {
    /// Leave out the permission canary, which runs each agent once on a scripted model
    #[arg(long)]
    pub no_canary: bool,
}

#[derive(Debug, Args)]
pub(super) struct ReplayFlags {
    /// Whose transcript it is: copilot, copilot-headless, claude, copilot-acp or acp:NAME
    #[arg(long, value_name = "NAME")]
    pub runtime: String,
    /// Print one line with what the last turn came to instead of every event
    #[arg(long = "final")]
    pub is_final: bool,
    /// The transcript, a JSON value on each line
    pub file: PathBuf,
}

/// Flags of every command.
#[derive(Debug, Args)]
pub(super) struct CommonFlags {
    /// Where everything is kept
    #[arg(long, global = true, value_name = "FOLDER")]
    pub data_dir: Option<PathBuf>,
    /// Answer in JSON
    #[arg(long, global = true)]
    pub json: bool,
}

#[derive(Debug, Default, PartialEq, Eq, Args)]
pub(super) struct ServeFlags {
    /// The port; the same as --port
    #[arg(value_name = "PORT", conflicts_with = "port", value_parser = bare_port)]
    pub bare_port: Option<u16>,
    /// The port; 0 takes any free one [default: 8888]
    #[arg(long)]
    pub port: Option<u16>,
    /// `loopback`, or an address (which needs --behind-proxy)
    #[arg(long, value_name = "ADDRESS")]
    pub bind: Option<String>,
    /// Who is let in
    #[arg(long, value_enum)]
    pub auth: Option<Auth>,
    /// A proxy in front ends TLS
    #[arg(long)]
    pub behind_proxy: bool,
    /// Shorter times and the routes that tests need
    #[arg(long)]
    pub test: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Auth {
    /// Whoever has the token
    Token,
    /// Whoever reaches the port
    None,
}

#[derive(Debug, Args)]
pub(super) struct OpenFlags {
    /// Print the login link instead of opening a browser
    #[arg(long)]
    pub print: bool,
}

impl Arguments {
    /// Parses, or ends the process with a word on what is wrong. Flags of every command may stand before the command;
    /// clap's own rule against flags there would take the command for a port.
    pub fn read() -> Self {
        let arguments = Self::parse();
        if arguments.command.is_some() && arguments.serve != ServeFlags::default() {
            let problem = "flags of `serve` stand before another command; write `serve` first, or leave them out";
            Self::command().error(ErrorKind::ArgumentConflict, problem).exit();
        }
        arguments
    }
}

/// Whatever stands where a command could stand is most likely a mistyped one.
fn bare_port(text: &str) -> Result<u16, String> {
    text.parse().map_err(|_| "neither a command (`flightdeck help` lists them) nor a port up to 65535".to_owned())
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
        values
    }
}

/// The configuration in force, and the folders that go with it.
pub(super) struct Resolved {
    pub loaded: Loaded,
    pub start_folder: PathBuf,
    pub data_folder: PathBuf,
}

/// Raw flags become resolved settings.
pub(super) fn resolve(common: &CommonFlags, flags: Vec<FlagValue>) -> anyhow::Result<Resolved> {
    let sources = sources(common, flags)?;
    let loaded = load(&sources)?;
    Ok(Resolved::new(&sources, loaded))
}

/// Everything that may hold a setting.
pub(super) fn sources(common: &CommonFlags, mut flags: Vec<FlagValue>) -> anyhow::Result<Sources> {
    let start_folder = std::env::current_dir().context("the current folder cannot be used")?;
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
