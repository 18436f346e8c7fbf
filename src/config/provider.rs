//! The user's own model providers.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::model::{self, ProviderKind, WireApi};

/// A provider, and the models to offer from it as `name/model`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Provider {
    /// Which API it speaks.
    #[serde(rename = "type")]
    pub kind: ProviderKind,
    /// The address, such as `http://localhost:11434/v1`.
    pub base_url: String,
    /// The key itself; prefer `api_key_variable`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub api_key: String,
    /// The environment variable that holds the key.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub api_key_variable: String,
    /// Which of `OpenAI`'s APIs.
    pub wire_api: WireApi,
    /// Azure's API version.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub api_version: String,
    /// Further headers.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// The models to offer.
    pub models: Vec<String>,
}

impl Provider {
    /// What is wrong with it, if anything.
    pub fn problem(&self) -> Option<String> {
        let url = &self.base_url;
        if !(url.starts_with("http://") || url.starts_with("https://")) {
            return Some(format!("base_url is {url:?}; it must be an address such as \"http://localhost:11434/v1\""));
        }
        (!self.api_key.is_empty() && !self.api_key_variable.is_empty())
            .then(|| "api_key and api_key_variable are both set; keep one".to_owned())
    }

    /// The same for agents, with its key from the environment if the configuration says so.
    pub fn for_agents(&self, variables: &BTreeMap<String, String>) -> model::Provider {
        let variable = &self.api_key_variable;
        let key = if variable.is_empty() { Some(self.api_key.clone()) } else { variables.get(variable).cloned() };
        model::Provider {
            kind: self.kind,
            base_url: self.base_url.clone(),
            wire_api: (self.kind != ProviderKind::Anthropic).then_some(self.wire_api),
            api_key: key.filter(|key| !key.is_empty()),
            api_version: Some(self.api_version.clone()).filter(|version| !version.is_empty()),
            headers: self.headers.clone(),
            ..model::Provider::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_provider_gets_its_key_from_its_variable() {
        let entry =
            Provider { base_url: "http://x".to_owned(), api_key_variable: "KEY".to_owned(), ..Provider::default() };
        let environment = [("KEY".to_owned(), "secret".to_owned())].into();
        assert_eq!(entry.for_agents(&environment).api_key.as_deref(), Some("secret"));
        assert_eq!(entry.for_agents(&BTreeMap::new()).api_key, None);
        let anthropic = Provider { kind: ProviderKind::Anthropic, ..entry };
        assert_eq!(anthropic.for_agents(&environment).wire_api, None);
    }
}
