//! What a token opens.

use super::words::words;

words! {
    /// A set of routes that a token opens. The server's own token opens everything.
    pub enum Scope {
        /// The models of agents, under `/v1/`.
        Models = "models",
    }
}

/// The text names no scope.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown scope {word:?}; {}known scopes: {}", suggestion(*nearest), known())]
pub struct UnknownScope {
    word: String,
    nearest: Option<Scope>,
}

fn suggestion(nearest: Option<Scope>) -> String {
    nearest.map(|scope| format!("did you mean {:?}? ", scope.as_str())).unwrap_or_default()
}

fn known() -> String {
    Scope::ALL.map(Scope::as_str).join(", ")
}

impl Scope {
    /// Reads a word, and suggests the nearest scope if there is no such scope.
    pub fn named(word: &str) -> Result<Self, UnknownScope> {
        Self::ALL.into_iter().find(|scope| scope.as_str() == word).ok_or_else(|| UnknownScope {
            word: word.to_owned(),
            nearest: Self::ALL
                .into_iter()
                .map(|scope| (strsim::jaro_winkler(scope.as_str(), &word.to_lowercase()), scope))
                .filter(|(likeness, _)| *likeness > 0.7)
                .max_by(|(one, _), (other, _)| one.total_cmp(other))
                .map(|(_, scope)| scope),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_scope_names_the_nearest_and_the_known_ones() {
        assert_eq!(Scope::named("models"), Ok(Scope::Models));
        let error = |word: &str| Scope::named(word).expect_err("unknown").to_string();
        assert_eq!(error("modls"), "unknown scope \"modls\"; did you mean \"models\"? known scopes: models");
        assert_eq!(error("Models"), "unknown scope \"Models\"; did you mean \"models\"? known scopes: models");
        assert_eq!(error("everything"), "unknown scope \"everything\"; known scopes: models");
        assert_eq!(error(""), "unknown scope \"\"; known scopes: models");
    }
}
