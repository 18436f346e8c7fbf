//! What can be chosen when a session is started, described for the people who choose.

use schemars::JsonSchema;
use serde::Serialize;

/// One of several ways to talk to the same agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Channel {
    /// A short name: `SDK`, `ACP` or `Headless`.
    pub name: &'static str,
    /// What is special about it, in one sentence.
    pub hint: &'static str,
}

/// The type of an option's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OptionKind {
    /// True or false.
    Switch,
    /// A positive integer.
    Count,
    /// A positive number.
    Amount,
    /// A text; `choices` are suggestions.
    Text,
    /// A list of texts.
    List,
    /// One of `choices`.
    Choice,
    /// MCP servers by name; `choices` are the configured ones, which are used unless they are set to null.
    McpServers,
    /// The name of a configured provider, which are `choices`, or an object.
    Provider,
}

/// A value that can be chosen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OptionChoice {
    /// The value itself.
    pub value: String,
    /// How it is shown.
    pub label: String,
}

/// An option of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionOption {
    /// Its name in the `options` of a session.
    pub name: &'static str,
    /// The type of its value.
    pub kind: OptionKind,
    /// A short name for people.
    pub label: &'static str,
    /// What it does, in a sentence or two.
    pub hint: &'static str,
    /// The value of a switch that nobody sets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<bool>,
    /// Values to choose from, or suggestions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<OptionChoice>,
}

impl SessionOption {
    /// An option without a default and without choices.
    pub fn new(name: &'static str, kind: OptionKind, label: &'static str, hint: &'static str) -> Self {
        Self { name, kind, label, hint, default: None, choices: Vec::new() }
    }

    /// A switch.
    pub fn switch(name: &'static str, default: bool, label: &'static str, hint: &'static str) -> Self {
        Self { default: Some(default), ..Self::new(name, OptionKind::Switch, label, hint) }
    }

    /// Whether text comes in pieces.
    pub fn stream() -> Self {
        Self::switch("stream", true, "Stream", "Text appears while the agent writes it.")
    }

    /// With these values to choose from, each with its label.
    #[must_use]
    pub fn with_choices<'a>(mut self, choices: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let choice = |(value, label): (&str, &str)| OptionChoice { value: value.to_owned(), label: label.to_owned() };
        self.choices = choices.into_iter().map(choice).collect();
        self
    }

    /// MCP servers of one session; `configured` are those that every session has.
    pub fn mcp_servers<'a>(configured: impl IntoIterator<Item = &'a String>) -> Self {
        let hint = "Tools that the agent may use in this session.";
        Self::new("mcpServers", OptionKind::McpServers, "MCP servers", hint)
            .with_choices(configured.into_iter().map(|name| (name.as_str(), name.as_str())))
    }

    /// The provider of a session's models; `configured` are those that have a name.
    pub fn provider<'a>(configured: impl IntoIterator<Item = &'a String>) -> Self {
        let hint = "Where the models come from. With a provider of your own, any model name can be used.";
        Self::new("provider", OptionKind::Provider, "Provider", hint)
            .with_choices(configured.into_iter().map(|name| (name.as_str(), name.as_str())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_says_what_it_takes_and_leaves_out_what_it_does_not_have() {
        let json = |option: SessionOption| serde_json::to_value(option).expect("plain values");
        let stream = json(SessionOption::stream());
        assert_eq!(
            stream,
            serde_json::json!({ "name": "stream", "kind": "switch", "label": "Stream", "hint": "Text appears while the agent writes it.", "default": true })
        );
        let servers = json(SessionOption::mcp_servers(&["files".to_owned()]));
        assert_eq!(servers["kind"], "mcp-servers");
        assert_eq!(servers["choices"], serde_json::json!([{ "value": "files", "label": "files" }]));
    }
}
