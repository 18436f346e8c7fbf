//! Model providers of the user's own.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::model::{ProviderKind, WireApi};

/// A provider, and the models to offer from it as `name/model`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Provider {
    /// Which API it speaks.
    #[serde(rename = "type")]
    pub kind: ProviderKind,
    /// Where it is, such as `http://localhost:11434/v1`.
    pub base_url: String,
    /// The key itself; better is its variable.
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
}
