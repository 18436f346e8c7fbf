//! Checks `[runtimes.NAME]`: which options there are, only the runtimes know.

use serde_json::Value;

use crate::agent::{OptionKind, Runtimes, SessionOption};
use crate::config::Config;

/// Options that name things which the configuration has tables for.
const NOT_FOR_DEFAULTS: [OptionKind; 2] = [OptionKind::McpServers, OptionKind::Provider];

/// What is wrong with the defaults of runtimes, if anything. An ACP agent may be gone from the configuration while its
/// defaults are still there.
pub(super) fn defaults_problem(config: &Config, runtimes: &Runtimes) -> Option<String> {
    config.runtimes.iter().find_map(|(name, defaults)| {
        let known = match runtimes.named(name) {
            Ok(runtime) => runtime.session_options(),
            Err(_) if name.starts_with("acp:") => return None,
            Err(error) => return Some(format!("runtimes.{name}: {error}")),
        };
        let options = defaults.for_sessions().options;
        let problem = options.iter().find_map(|(name, value)| problem_of(&known, name, value))?;
        Some(format!("runtimes.{name}.options: {problem}"))
    })
}

fn problem_of(known: &[SessionOption], name: &str, value: &Value) -> Option<String> {
    let known: Vec<&SessionOption> = known.iter().filter(|option| !NOT_FOR_DEFAULTS.contains(&option.kind)).collect();
    let Some(option) = known.iter().find(|option| option.name == name) else {
        let names: Vec<&str> = known.iter().map(|option| option.name).collect();
        let there_are = if names.is_empty() { "there are none".to_owned() } else { names.join(", ") };
        return Some(format!("unknown option {name:?}; available options: {there_are}"));
    };
    let words: Vec<&str> = option.choices.iter().map(|choice| choice.value.as_str()).collect();
    let is_text = value.is_string();
    let (fits, expected) = match option.kind {
        OptionKind::Switch => (value.is_boolean(), "true or false".to_owned()),
        OptionKind::Count => (value.as_u64().is_some_and(|count| count > 0), "a positive integer".to_owned()),
        OptionKind::Amount => (value.as_f64().is_some_and(|amount| amount > 0.0), "a positive number".to_owned()),
        OptionKind::List => {
            let texts = value.as_array().is_some_and(|items| items.iter().all(Value::is_string));
            (texts, "a list of texts".to_owned())
        }
        OptionKind::Choice => {
            (value.as_str().is_some_and(|word| words.contains(&word)), format!("one of {}", words.join(", ")))
        }
        OptionKind::Text | OptionKind::McpServers | OptionKind::Provider => (is_text, "a text".to_owned()),
    };
    (!fits).then(|| format!("invalid option {name}: expected {expected}, got {value}"))
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use super::super::runtime_list::runtimes;
    use super::*;
    use crate::process::Supervisor;

    #[test]
    fn defaults_of_a_runtime_name_a_runtime_and_its_options() {
        let runtimes =
            runtimes(&Config::default(), Path::new("/nowhere"), Arc::default(), Supervisor::without_ledger());
        let problem = |text: &str| {
            let config: Config = toml::from_str(text).expect("TOML");
            defaults_problem(&config, &runtimes)
        };
        assert_eq!(problem("[runtimes.copilot-headless.options]\nstream = false\ndisable_builtin_mcps = false"), None);
        assert_eq!(problem("[runtimes.'acp:gone']\nmodel = 'm'\n[runtimes.'acp:gone'.options]\nmode = 'x'"), None);
        for (wrong, words) in [
            ("[runtimes.copiolt]\nmodel = 'm'", ["runtimes.copiolt", "copilot-headless"]),
            ("[runtimes.copilot-headless.options]\nstraem = true", ["runtimes.copilot-headless.options", "stream"]),
            ("[runtimes.claude.options]\nmax_turns = 0", ["maxTurns", "positive"]),
            ("[runtimes.copilot.options]\nmode = 'sleep'", ["mode", "autopilot"]),
            ("[runtimes.copilot.options]\nprovider = 'x'", ["unknown option", "mode"]),
            ("[runtimes.demo.options]\nmode = 'x'", ["runtimes.demo", "there are none"]),
        ] {
            let problem = problem(wrong).expect(wrong);
            assert!(words.iter().all(|word| problem.contains(word)), "{problem}");
        }
    }
}
