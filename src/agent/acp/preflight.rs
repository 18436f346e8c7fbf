//! Checks of an ACP agent that do not need a session.

use super::agent::Agent;
use super::{Acp, Backend};
use crate::agent::{LoginState, Runtime as _, StartError};
use crate::model::Check;

pub(super) async fn checks(acp: &Acp) -> Vec<Check> {
    let named = |what: &str| format!("{}: {what}", acp.name());
    if let Backend::Copilot(copilot) = &acp.backend {
        copilot.look_again();
    }
    let launch = match acp.launch(&acp.settings.environment, None).await {
        Ok(launch) => launch,
        Err(problem) => {
            return match &acp.backend {
                // The runtime `copilot` already reports this for the agent.
                Backend::Copilot(copilot) if !copilot.is_installed().await => Vec::new(),
                Backend::Copilot(_) => vec![Check::info(named("program"), problem, "this runtime needs the full CLI")],
                // It is configured, so it should be installed.
                Backend::Configured(_) => {
                    let hint = "install the program, or fix its command in the configuration";
                    vec![Check::failure(named("program"), problem, hint)]
                }
            };
        }
    };
    let mut checks = vec![Check::ok(named("program"), launch.program.display().to_string())];
    let about = match Agent::start(&acp.settings, &launch).await {
        Ok(agent) => {
            let about = agent.about.clone();
            agent.end().await;
            about
        }
        Err(error) => {
            let hint = "run the program in a terminal to see the error";
            let error = StartError::from(error);
            checks.push(Check::failure(named("protocol"), error.to_string(), hint));
            return checks;
        }
    };
    acp.known.replace(about.version.clone(), Vec::new()).await;
    let who = if about.name.is_empty() { acp.settings.title.clone() } else { about.name.clone() };
    let version = about.version.as_deref().unwrap_or("unknown version");
    let can = |word: &'static str, can: bool| can.then_some(word);
    let abilities: Vec<&str> =
        [can("resumes sessions", about.loads), can("lists sessions", about.lists)].into_iter().flatten().collect();
    let abilities = if abilities.is_empty() { "no saved sessions".to_owned() } else { abilities.join(", ") };
    checks.push(Check::ok(named("protocol"), format!("{who} {version} answers, {abilities}")));
    checks.push(login(acp, &about.logins).await);
    checks
}

async fn login(acp: &Acp, methods: &[String]) -> Check {
    let name = format!("{}: login", acp.name());
    let readiness = acp.readiness().await;
    match (&acp.backend, readiness.login.state) {
        (Backend::Copilot(_), LoginState::LoggedIn | LoginState::OwnProvider | LoginState::NotNeeded) => {
            Check::ok(name, readiness.hint)
        }
        (Backend::Copilot(_), _) => Check::warning(name, "not logged in", acp.settings.login_hint.clone()),
        // A check would create a session that shows up in the agent's list.
        (Backend::Configured(_), _) => {
            let how = Some(acp.settings.login_hint.clone()).filter(|hint| !hint.is_empty());
            let how = how.or_else(|| methods.first().cloned());
            let how = how.map(|how| format!("; if the agent needs a login: {how}")).unwrap_or_default();
            Check::ok(name, format!("checked when a session starts{how}"))
        }
    }
}
