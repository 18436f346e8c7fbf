//! What a token opens.

use super::words::words;

words! {
    /// A set of routes that a token opens. The server's own token opens everything. No scope includes another one, except
    /// that `admin` includes all.
    pub enum Scope {
        /// Reading sessions, jobs, usage and what waits.
        View = "view",
        /// Starting sessions, sending prompts, interrupting, closing and reopening.
        Prompt = "prompt",
        /// Deciding what agents may do: answers to requests, gates, permission modes, rules and budgets.
        Approve = "approve",
        /// Starting, stopping and retrying jobs and tasks.
        Jobs = "jobs",
        /// The models of agents, under `/v1/`.
        Models = "models",
        /// Everything, like the server's own token, except that a browser cannot log in with it.
        Admin = "admin",
    }
}

/// Several scopes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scopes(u8);

impl Scopes {
    /// Whether they open what needs this scope.
    pub fn include(self, scope: Scope) -> bool {
        let has = |scope| self.0 & bit(scope) != 0;
        has(scope) || has(Scope::Admin)
    }
}

impl<'a> FromIterator<&'a Scope> for Scopes {
    fn from_iter<I: IntoIterator<Item = &'a Scope>>(scopes: I) -> Self {
        Self(scopes.into_iter().fold(0, |bits, scope| bits | bit(*scope)))
    }
}

fn bit(scope: Scope) -> u8 {
    1 << scope as u8
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
        let known = "known scopes: view, prompt, approve, jobs, models, admin";
        assert_eq!(error("modls"), format!("unknown scope \"modls\"; did you mean \"models\"? {known}"));
        assert_eq!(error("Models"), format!("unknown scope \"Models\"; did you mean \"models\"? {known}"));
        assert_eq!(error("everything"), format!("unknown scope \"everything\"; {known}"));
        assert_eq!(error(""), format!("unknown scope \"\"; {known}"));
    }

    #[test]
    fn a_scope_includes_itself_and_admin_includes_all() {
        for scope in Scope::ALL {
            let scopes: Scopes = [scope].iter().collect();
            let included: Vec<_> = Scope::ALL.into_iter().filter(|other| scopes.include(*other)).collect();
            assert_eq!(included, if scope == Scope::Admin { Scope::ALL.to_vec() } else { vec![scope] });
        }
        let two: Scopes = [Scope::View, Scope::Jobs].iter().collect();
        assert!(two.include(Scope::View) && two.include(Scope::Jobs) && !two.include(Scope::Prompt));
    }
}
