//! Model providers of the user's own, as every runtime's encoder gets them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Which API a provider speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProviderKind {
    /// `OpenAI`'s, which Ollama and vLLM speak too.
    #[default]
    Openai,
    /// Azure's.
    Azure,
    /// Anthropic's.
    Anthropic,
}

impl ProviderKind {
    /// The word used in the API and the configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Openai => "openai",
            Self::Azure => "azure",
            Self::Anthropic => "anthropic",
        }
    }

    /// The kind with that word.
    pub fn named(word: &str) -> Option<Self> {
        [Self::Openai, Self::Azure, Self::Anthropic].into_iter().find(|kind| kind.as_str() == word)
    }
}

/// Which of `OpenAI`'s two APIs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WireApi {
    /// Chat completions.
    #[default]
    Completions,
    /// Responses.
    Responses,
}

impl WireApi {
    /// The word used in the API and the configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Completions => "completions",
            Self::Responses => "responses",
        }
    }

    /// The API with that word.
    pub fn named(word: &str) -> Option<Self> {
        [Self::Completions, Self::Responses].into_iter().find(|api| api.as_str() == word)
    }
}

/// A service with models, and how to authenticate to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Provider {
    /// Which API it speaks.
    pub kind: ProviderKind,
    /// Its address, such as `http://localhost:11434/v1`.
    pub base_url: String,
    /// Which of `OpenAI`'s APIs; `None` leaves the choice to the agent.
    pub wire_api: Option<WireApi>,
    /// The API key.
    pub api_key: Option<String>,
    /// A bearer token, which the agent prefers to the key.
    pub bearer_token: Option<String>,
    /// Azure's API version.
    pub api_version: Option<String>,
    /// Headers of every request.
    pub headers: BTreeMap<String, String>,
    /// The well-known model whose limits and behaviour apply to the provider's model.
    pub model_id: Option<String>,
    /// The model's name in requests to the provider, where it differs from the session's.
    pub wire_model: Option<String>,
    /// How many tokens a prompt may have.
    pub max_prompt_tokens: Option<u64>,
    /// How many tokens an answer may have.
    pub max_output_tokens: Option<u64>,
}

/// The provider that a session asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProviderChoice {
    /// One of the configuration's, by its name.
    Configured(String),
    /// One of the session's own.
    Own(Box<Provider>),
}
