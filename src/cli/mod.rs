//! The command line: a file per command, from flags to resolved settings.

mod agents;
mod arguments;
mod background_server;
mod backup;
mod captures;
mod command_context;
mod completions;
mod config;
mod config_edit;
mod conformance;
mod connection;
mod doctor;
mod exit;
mod idle_stop;
mod job_tools;
mod jobs;
mod live_config;
mod logging;
mod models;
mod notify_settings;
mod open;
mod output;
mod qr;
mod replay;
mod runtime_defaults;
mod runtime_list;
mod serve;
mod service;
mod session_settings;
mod sessions;
mod signals;
mod status;
mod stop;
mod terminal;
mod tokens;
mod turn;
mod usage;

use std::process::ExitCode;

use arguments::{AgentsCommand, Arguments, Command, ConfigCommand, TokensCommand};

/// Parses the arguments, runs the command and returns the exit code.
pub fn run() -> ExitCode {
    let arguments = Arguments::read();
    let outcome = match arguments.command {
        None => serve::serve(&arguments.serve, &arguments.common),
        Some(Command::Serve(flags)) => serve::serve(&flags, &arguments.common),
        Some(Command::Open(flags)) => open::open(&flags, &arguments.common),
        Some(Command::Stop) => stop::stop(&arguments.common),
        Some(Command::Config { command: None | Some(ConfigCommand::Show) }) => config::config(&arguments.common),
        Some(Command::Config { command: Some(command) }) => config_edit::run(&command, &arguments.common),
        Some(Command::Models(flags)) => models::models(&flags, &arguments.common),
        Some(Command::Agents { command: None | Some(AgentsCommand::List) }) => agents::list(&arguments.common),
        Some(Command::Agents { command: Some(AgentsCommand::Install(flags)) }) => {
            agents::install(&flags, &arguments.common)
        }
        Some(Command::Tokens { command: None | Some(TokensCommand::List) }) => tokens::list(&arguments.common),
        Some(Command::Tokens { command: Some(TokensCommand::Create(flags)) }) => {
            tokens::create(&flags, &arguments.common)
        }
        Some(Command::Tokens { command: Some(TokensCommand::Revoke { id }) }) => tokens::revoke(id, &arguments.common),
        Some(Command::Run(flags)) => turn::run(&flags, &arguments.common),
        Some(Command::Attach(flags)) => turn::attach(&flags, &arguments.common),
        Some(Command::Sessions { command, list }) => sessions::run(command, &list, &arguments.common),
        Some(Command::Logs(flags)) => turn::logs(&flags, &arguments.common),
        Some(Command::Inbox) => turn::inbox(&arguments.common),
        Some(Command::Allow(flags)) => turn::allow(&flags, &arguments.common),
        Some(Command::Deny(flags)) => turn::deny(&flags, &arguments.common),
        Some(Command::Answer(flags)) => turn::answer(&flags, &arguments.common),
        Some(Command::Interrupt(flags)) => turn::interrupt(&flags, &arguments.common),
        Some(Command::Status) => status::status(&arguments.common),
        Some(Command::Backup(flags)) => backup::backup(&flags, &arguments.common),
        Some(Command::Restore(flags)) => backup::restore(&flags, &arguments.common),
        Some(Command::Service { command }) => service::run(&command, &arguments.common),
        Some(Command::Completions { shell }) => completions::completions(shell),
        Some(Command::Man) => completions::man(),
        Some(Command::Jobs { command }) => jobs::run(command, &arguments.common),
        Some(Command::Usage(flags)) => usage::usage(&flags, &arguments.common),
        Some(Command::Doctor(flags)) => doctor::doctor(&flags, &arguments.common),
        Some(Command::Conformance(flags)) => conformance::conformance(&flags, &arguments.common),
        Some(Command::Replay(flags)) => replay::run(&flags),
        Some(Command::Version) => {
            output::print(concat!("flightdeck ", env!("CARGO_PKG_VERSION"))).map(|()| ExitCode::SUCCESS)
        }
        Some(Command::JobTools) => job_tools::run(),
    };
    match outcome {
        Ok(code) => code,
        Err(error) => {
            // The whole chain of causes, without a backtrace: it is for a person.
            eprintln!("flightdeck: {error:#}");
            ExitCode::FAILURE
        }
    }
}
