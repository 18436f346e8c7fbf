//! What can be checked of Copilot before anybody starts a session.

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
            checks.push(Check::failure("copilot: program", problem, format!("run `{INSTALL_COMMAND}`")));
            return checks;
        }
        Ok(found) => {
            let version = found.version.as_deref().unwrap_or("of unknown version");
            let place = format!("{version} at {} ({})", found.path.display(), found.source.as_str());
            checks.push(if found.native {
                Check::ok("copilot: program", place)
            } else {
                let hint = format!(
                    "a script cannot be supervised as well as the program behind it; `{INSTALL_COMMAND}` brings that"
                );
                Check::warning("copilot: program", place, hint)
            });
            if !program::is_whole_cli(&found) {
                checks.push(Check::warning(
                    "copilot: login command",
                    "this is the server alone, which cannot log anybody in",
                    format!("run `{INSTALL_COMMAND}` for the whole CLI, or use a token or a model of your own"),
                ));
            }
        }
    }
    let version = copilot.version().await.unwrap_or_default();
    if let Some(reason) = copilot.settings.quarantine.reason(Copilot::NAME, &version) {
        checks.push(Check::failure("copilot: quarantine", format!("version {version} is locked out"), reason));
        return checks;
    }
    match copilot.servers.get().await {
        Ok(server) => checks.push(Check::ok("copilot: protocol", format!("version {} answers", server.version))),
        Err(error) => {
            let hint = "run the program by hand to see what is wrong with it";
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
            Check::ok("copilot: login", "nobody is logged in; the configured providers need no login")
        }
        LoginState::LoggedOut => Check::warning("copilot: login", "nobody is logged in", readiness.hint),
        LoginState::Unknown => Check::warning("copilot: login", readiness.hint, "run `copilot login`"),
    });
    checks.extend(provider_check::checks(&copilot.settings).await);
    let list = copilot.models(Freshness::Now).await;
    let names = list.models.iter().filter(|model| !model.hidden).count();
    checks.push(match list.incomplete {
        None if names > 0 => Check::ok("copilot: models", format!("{names} to choose from")),
        None => Check::warning("copilot: models", "the list is empty", "type a model's name by hand"),
        Some(reason) => {
            Check::warning("copilot: models", format!("{names} known; {reason}"), "a model's name can be typed by hand")
        }
    });
    checks
}
