//! `flightdeck completions` and `flightdeck man`: generated from the same definitions as the commands.

use std::process::ExitCode;

use anyhow::Context as _;
use clap::CommandFactory as _;

use super::arguments::Arguments;
use super::output::print;

/// Prints the completions for a shell.
pub(super) fn completions(shell: clap_complete::Shell) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "flightdeck", &mut script);
    print(String::from_utf8(script).context("the completions are not text")?.trim_end())?;
    Ok(ExitCode::SUCCESS)
}

/// Prints the manual page: the program, then every command with its flags.
pub(super) fn man() -> anyhow::Result<ExitCode> {
    let mut page = Vec::new();
    let mut command = Arguments::command();
    command.build();
    render(&command, &mut page).context("cannot write the manual page")?;
    print(String::from_utf8(page).context("the manual page is not text")?.trim_end())?;
    Ok(ExitCode::SUCCESS)
}

fn render(command: &clap::Command, page: &mut Vec<u8>) -> std::io::Result<()> {
    let man = clap_mangen::Man::new(command.clone());
    man.render(page)?;
    for inner in command.get_subcommands().filter(|inner| !inner.is_hide_set() && inner.get_name() != "help") {
        render_command(inner, "flightdeck", page)?;
    }
    Ok(())
}

/// A section of the page for a command.
fn render_command(command: &clap::Command, above: &str, page: &mut Vec<u8>) -> std::io::Result<()> {
    let name = format!("{above} {}", command.get_name());
    page.extend_from_slice(format!(".SH \"{}\"\n", name.to_uppercase()).as_bytes());
    let man = clap_mangen::Man::new(command.clone());
    man.render_description_section(page)?;
    if command.get_arguments().any(|argument| !argument.is_global_set() && argument.get_id() != "help") {
        man.render_options_section(page)?;
    }
    for inner in command.get_subcommands().filter(|inner| !inner.is_hide_set() && inner.get_name() != "help") {
        render_command(inner, &name, page)?;
    }
    Ok(())
}
