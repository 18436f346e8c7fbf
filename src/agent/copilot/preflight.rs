//! Checks of Copilot that do not need a session.

use super::account::provider_check;
use super::program::INSTALL_COMMAND;
use super::{Copilot, program};
use crate::agent::{Freshness, LoginState, Runtime as _};
use crate::model::Check;

pub(super) async fn checks(copilot: &Copilot) -> Vec<Check> {
    let mut checks = Vec::new();
    copilot.servers.programs.look_again();
    match copilot.servers.programs.find().await {
        Err(problem) => {
            let hint = format!("run `{INSTALL_COMMAND}`");
            checks.push(if copilot.servers.programs.is_named() {
                Check::failure("copilot: program", problem, hint)
            } else {
                Check::info("copilot: program", "not installed", hint)
            });
            return checks;
        }
        Ok(found) => {
            let version = found.version.as_deref().unwrap_or("unknown version");
            let place = format!("{version} at {} ({})", found.path.display(), found.source.as_str());
            checks.push(if found.native {
                Check::ok("copilot: program", place)
            } else {
                let hint = format!(
                    "this is a script, which cannot be supervised as reliably as a native program; `{INSTALL_COMMAND}` installs one"
                );
                Check::warning("copilot: program", place, hint)
            });
            if !program::is_whole_cli(&found) {
                checks.push(Check::warning(
                    "copilot: login command",
                    "this is only the SDK server, which has no login command",
                    format!("run `{INSTALL_COMMAND}` for the full CLI, or use a token or your own model"),
                ));
            }
        }
    }
    let version = copilot.version().await.unwrap_or_default();
    if let Some(reason) = copilot.settings.quarantine.reason(Copilot::NAME, Some(&version)) {
        checks.push(Check::failure("copilot: quarantine", format!("version {version} is quarantined"), reason));
        return checks;
    }
    match copilot.servers.get().await {
        Ok(server) => checks.push(Check::ok("copilot: protocol", format!("version {} responds", server.version))),
        Err(error) => {
            let hint = "run the program in a terminal to see the error";
            checks.push(Check::failure("copilot: protocol", error.to_string(), hint));
            return checks;
        }
    }
    let readiness = copilot.readiness().await;
    checks.push(match readiness.login.state {
        LoginState::LoggedIn | LoginState::OwnProvider | LoginState::NotNeeded => {
            Check::ok("copilot: login", readiness.hint)
        }
        LoginState::LoggedOut if copilot.has_own_provider() => {
            Check::ok("copilot: login", "not logged in; the configured providers need no login")
        }
        LoginState::LoggedOut => Check::warning("copilot: login", "not logged in", readiness.hint),
        LoginState::Unknown => Check::warning("copilot: login", readiness.hint, "run `copilot login`"),
    });
    checks.extend(provider_check::checks(&copilot.settings).await);
    let list = copilot.models(Freshness::Now).await;
    let names = list.models.iter().filter(|model| !model.hidden).count();
    checks.push(match list.incomplete {
        None if names > 0 => Check::ok("copilot: models", format!("{names} available")),
        None => Check::warning("copilot: models", "the list is empty", "enter the model name yourself"),
        Some(reason) => {
            Check::warning("copilot: models", format!("{names} known; {reason}"), "you can enter any model name")
        }
    });
    checks
}
