//! The environment variables of agents.

use std::collections::BTreeMap;

/// The user's variables without Flightdeck's own, because an agent must not be able to control its host. With a list,
/// only the variables in it (and still never Flightdeck's).
pub fn agent_environment(
    variables: impl IntoIterator<Item = (String, String)>,
    only: &[String],
) -> BTreeMap<String, String> {
    variables
        .into_iter()
        .filter(|(name, _)| !name.to_ascii_uppercase().starts_with("FLIGHTDECK_"))
        .filter(|(name, _)| only.is_empty() || only.contains(name))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(only: &[&str]) -> Vec<String> {
        let variables = [("PATH", "/bin"), ("FLIGHTDECK_TOKEN", "x"), ("flightdeck_auth", "x"), ("CARGO_HOME", "/c")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()));
        let only: Vec<String> = only.iter().map(|name| (*name).to_owned()).collect();
        agent_environment(variables, &only).into_keys().collect()
    }

    #[test]
    fn ours_never_reaches_an_agent_and_toolchains_do() {
        assert_eq!(names(&[]), ["CARGO_HOME", "PATH"]);
    }

    #[test]
    fn a_list_narrows_it_and_cannot_bring_ours_back() {
        assert_eq!(names(&["PATH", "FLIGHTDECK_TOKEN"]), ["PATH"]);
    }
}
