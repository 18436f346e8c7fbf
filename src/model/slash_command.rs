//! Commands that an agent understands when a prompt begins with their name.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How many commands of an agent are kept.
const MOST_COMMANDS: usize = 200;
const LONGEST_NAME: usize = 80;
const LONGEST_DESCRIPTION: usize = 300;

/// A command of an agent, typed as `/name`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SlashCommand {
    /// Its name, without the slash.
    pub name: String,
    /// What it does, in the agent's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What may follow it, in the agent's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl SlashCommand {
    /// A command without a hint.
    pub fn new(name: impl Into<String>, description: Option<&str>) -> Self {
        Self { name: name.into(), description: description.map(str::to_owned), hint: None }
    }

    /// The commands that are kept of what an agent listed: usable names, each once, with texts of a bounded length.
    pub fn usable(listed: Vec<Self>) -> Vec<Self> {
        let mut kept: Vec<Self> = Vec::new();
        for command in listed {
            let name = command.name.trim_start_matches('/').to_owned();
            let is_word =
                !name.is_empty() && !name.contains(|letter: char| letter.is_whitespace() || letter.is_control());
            let is_known = kept.iter().any(|other| other.name == name);
            if is_word && name.len() <= LONGEST_NAME && !is_known && kept.len() < MOST_COMMANDS {
                kept.push(Self { name, description: cut(command.description), hint: cut(command.hint) });
            }
        }
        kept
    }
}

fn cut(text: Option<String>) -> Option<String> {
    let mut text = text?;
    text.truncate(text.floor_char_boundary(LONGEST_DESCRIPTION));
    (!text.trim().is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_that_can_be_typed_are_kept_and_texts_are_cut() {
        let long = "ü".repeat(LONGEST_DESCRIPTION);
        let listed = vec![
            SlashCommand::new("/plan", Some(&long)),
            SlashCommand::new("plan", None),
            SlashCommand::new("two words", None),
            SlashCommand::new("", None),
            SlashCommand::new("x".repeat(LONGEST_NAME + 1), None),
            SlashCommand::new("review", Some("  ")),
        ];
        let kept = SlashCommand::usable(listed);
        let names: Vec<&str> = kept.iter().map(|command| command.name.as_str()).collect();
        assert_eq!(names, ["plan", "review"]);
        assert_eq!(kept[0].description.as_ref().map(String::len), Some(LONGEST_DESCRIPTION));
        assert_eq!(kept[1].description, None);
        let many = (0..1_000).map(|number| SlashCommand::new(format!("c{number}"), None)).collect();
        assert_eq!(SlashCommand::usable(many).len(), MOST_COMMANDS);
    }
}
