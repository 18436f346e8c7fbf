//! How each agent names its models. A name in another agent's style is passed on, with a warning.

use schemars::JsonSchema;
use serde::Serialize;

/// The naming style of a runtime's models.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ModelNames {
    /// Unknown.
    #[default]
    Any,
    /// GitHub Copilot's: `gpt-5.2`, `claude-sonnet-4.5`.
    Copilot,
    /// Claude Code's: `sonnet`, `claude-sonnet-4-5`.
    Claude,
}

/// The aliases that Claude Code accepts.
const SHORTHANDS: [&str; 5] = ["sonnet", "opus", "haiku", "opusplan", "default"];

impl ModelNames {
    /// Why a runtime with this naming style probably does not know a model, and what to use instead.
    pub(super) fn misfit(self, runtime: &str, model: &str) -> Option<String> {
        let short = SHORTHANDS.contains(&model.split('[').next().unwrap_or(model));
        match self {
            Self::Copilot if short => Some(format!(
                "{model:?} is a Claude Code alias; {runtime} needs a full model name such as claude-sonnet-4.5. Run \
                 `flightdeck models` for the list."
            )),
            Self::Copilot => {
                dotted(model).map(|fixed| format!("{model:?} is Claude Code's spelling; use {fixed:?} with {runtime}."))
            }
            Self::Claude if short || model.is_empty() => None,
            Self::Claude if !model.contains("claude") && !model.starts_with("arn:") => Some(format!(
                "{model:?} does not look like a Claude model, and {runtime} has no others; use sonnet, opus or haiku, or a \
                 full name such as claude-sonnet-4-5."
            )),
            Self::Claude if model.starts_with("claude-") && model.contains('.') => {
                Some(format!("{model:?} is Copilot's spelling; use {:?} with {runtime}.", model.replace('.', "-")))
            }
            Self::Claude | Self::Any => None,
        }
    }
}

/// Copilot's spelling of names such as `claude-sonnet-4-5` or `claude-sonnet-4-5-20250929`; `None` for any other name.
fn dotted(model: &str) -> Option<String> {
    let parts: Vec<&str> = model.strip_prefix("claude-")?.split('-').collect();
    let is_version = |part: &str| part.len() <= 2 && !part.is_empty() && part.chars().all(|one| one.is_ascii_digit());
    let first = parts.windows(2).position(|pair| is_version(pair[0]) && is_version(pair[1]))?;
    let words = parts[..first].join("-");
    Some(format!("claude-{words}-{}.{}", parts[first], parts[first + 1]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(names: ModelNames, model: &str, fix: Option<&str>) {
        let warning = names.misfit("the-runtime", model);
        match fix {
            None => assert_eq!(warning, None, "{model}"),
            Some(fix) => {
                let warning = warning.unwrap_or_else(|| panic!("{model} fits"));
                assert!([model, fix, "the-runtime"].iter().all(|word| warning.contains(word)), "{warning}");
            }
        }
    }

    #[test]
    fn copilot_is_warned_of_claude_codes_names() {
        for short in ["sonnet", "opus", "haiku", "sonnet[1m]"] {
            check(ModelNames::Copilot, short, Some("claude-sonnet-4.5"));
        }
        check(ModelNames::Copilot, "claude-opus-4-5", Some("\"claude-opus-4.5\""));
        check(ModelNames::Copilot, "claude-sonnet-4-5-20250929", Some("\"claude-sonnet-4.5\""));
        for fits in ["", "gpt-5.2", "claude-sonnet-4.5", "claude-sonnet-4", "ollama/sonnet", "gpt-4-1"] {
            check(ModelNames::Copilot, fits, None);
        }
    }

    #[test]
    fn claude_code_is_warned_of_copilots_names() {
        check(ModelNames::Claude, "gpt-5.2", Some("sonnet"));
        check(ModelNames::Claude, "claude-sonnet-4.5", Some("\"claude-sonnet-4-5\""));
        for fits in ["", "sonnet", "opus[1m]", "claude-sonnet-4-5", "us.anthropic.claude-sonnet-4-5-v1:0", "arn:aws:x"]
        {
            check(ModelNames::Claude, fits, None);
        }
    }

    #[test]
    fn an_agent_of_which_nobody_knows_takes_any_name() {
        check(ModelNames::Any, "sonnet", None);
        check(ModelNames::Any, "gpt-5.2", None);
    }
}
