//! What `doctor` found, grouped by agent.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::{Check, CheckVerdict};

/// A runtime that sessions can use now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReadyRuntime {
    /// The runtime's name.
    pub runtime: String,
    /// A description for people.
    pub hint: String,
}

/// The results.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    /// The runtimes that sessions can use now, in order of preference.
    #[serde(default)]
    pub ready: Vec<ReadyRuntime>,
    /// Every check: the machine's first, then agent by agent.
    pub checks: Vec<Check>,
}

impl Report {
    /// A report of one check.
    pub fn of(check: Check) -> Self {
        Self { ready: Vec::new(), checks: vec![check] }
    }

    /// The worst verdict. Information is neither good nor bad, so it counts as ok.
    pub fn verdict(&self) -> CheckVerdict {
        let worst = self.checks.iter().map(|check| check.verdict).max().unwrap_or(CheckVerdict::Ok);
        if worst == CheckVerdict::Info { CheckVerdict::Ok } else { worst }
    }

    /// The checks of each group, in the order in which the groups first occur.
    pub fn groups(&self) -> Vec<(&str, Vec<&Check>)> {
        let mut groups: Vec<(&str, Vec<&Check>)> = Vec::new();
        for check in &self.checks {
            match groups.iter_mut().find(|(name, _)| *name == check.group) {
                Some((_, checks)) => checks.push(check),
                None => groups.push((&check.group, vec![check])),
            }
        }
        groups
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn information_is_no_warning_and_the_worst_verdict_counts() {
        let info = || Check::info("claude: program", "not installed", "install it").in_group("claude");
        let report = |checks: Vec<Check>| Report { ready: Vec::new(), checks };
        assert_eq!(report(vec![Check::ok("git", "there"), info()]).verdict(), CheckVerdict::Ok);
        assert_eq!(report(vec![info(), Check::warning("git", "missing", "")]).verdict(), CheckVerdict::Warning);
        assert_eq!(report(vec![Check::failure("port", "taken", ""), info()]).verdict(), CheckVerdict::Failure);
        assert_eq!(Report::default().verdict(), CheckVerdict::Ok);
    }

    #[test]
    fn checks_are_grouped_by_agent_in_the_order_of_the_groups() {
        let check = |group: &str, name: &str| Check::ok(name, "").in_group(group);
        let report = Report {
            ready: Vec::new(),
            checks: vec![check("machine", "a"), check("copilot", "b"), check("claude", "c"), check("copilot", "d")],
        };
        let names: Vec<(&str, Vec<&str>)> = report
            .groups()
            .into_iter()
            .map(|(group, checks)| (group, checks.iter().map(|check| check.name.as_str()).collect()))
            .collect();
        assert_eq!(names, [("machine", vec!["a"]), ("copilot", vec!["b", "d"]), ("claude", vec!["c"])]);
    }
}
