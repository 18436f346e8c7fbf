//! A session's permissions as flags: what a program may do is decided before its turn, because nobody can be asked in
//! the middle of it.

use crate::model::{PermissionMode, PermissionPolicy, RuleDecision};

/// What may be done, in a program's own names.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Granted {
    /// Everything but what is denied.
    pub everything: bool,
    /// Names of tools.
    pub allowed: Vec<String>,
    /// Names of tools; these win.
    pub denied: Vec<String>,
    /// Rules that cannot be said to this program, for people.
    pub unsaid: Vec<String>,
}

/// The policy in the names that `names_of` gives to a rule's tool; nothing where the program has none for it.
pub(super) fn granted(policy: &PermissionPolicy, names_of: impl Fn(&str) -> Vec<String>) -> Granted {
    let mut granted = Granted::default();
    let mut mode = policy.mode == PermissionMode::AllowAll;
    let mut seen: Vec<String> = Vec::new();
    let mut may_be_everything = true;
    for rule in &policy.rules {
        let allows = rule.decision == RuleDecision::Allow;
        if rule.tool == "*" {
            // No later rule is ever asked.
            mode = allows;
            break;
        }
        let names = names_of(&rule.tool);
        if names.is_empty() {
            granted.unsaid.push(rule.tool.clone());
            // What must not run must not run, whatever else is lost by it.
            may_be_everything &= allows;
        }
        for name in names {
            // The first rule for a tool decides.
            if seen.contains(&name) {
                continue;
            }
            seen.push(name.clone());
            if allows { &mut granted.allowed } else { &mut granted.denied }.push(name);
        }
    }
    granted.everything = mode && may_be_everything;
    granted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::PermissionRule;

    fn policy(mode: PermissionMode, rules: &[(&str, RuleDecision)]) -> PermissionPolicy {
        let rules =
            rules.iter().map(|(tool, decision)| PermissionRule { tool: (*tool).to_owned(), decision: *decision });
        PermissionPolicy { mode, rules: rules.collect() }
    }

    fn of(mode: PermissionMode, rules: &[(&str, RuleDecision)]) -> Granted {
        granted(&policy(mode, rules), |tool| if tool.contains('*') { Vec::new() } else { vec![tool.to_owned()] })
    }

    #[test]
    fn only_the_mode_that_allows_everything_does() {
        use PermissionMode::{AllowAll, Ask, Deny};
        assert!(of(AllowAll, &[]).everything && !of(Ask, &[]).everything && !of(Deny, &[]).everything);
    }

    #[test]
    fn the_first_rule_for_a_tool_decides_and_one_for_all_ends_the_list() {
        use RuleDecision::{Allow, Ask, Deny};
        let rules = [("shell", Allow), ("write", Ask), ("shell", Deny), ("*", Deny), ("read", Allow)];
        let granted = of(PermissionMode::AllowAll, &rules);
        assert!(!granted.everything);
        assert_eq!((granted.allowed, granted.denied), (vec!["shell".to_owned()], vec!["write".to_owned()]));
        assert!(of(PermissionMode::Ask, &[("*", Allow)]).everything);
    }

    #[test]
    fn a_rule_that_cannot_be_said_never_lets_more_happen() {
        let granted = of(PermissionMode::AllowAll, &[("git-*", RuleDecision::Deny)]);
        assert!(!granted.everything, "it might run what must not");
        assert_eq!(granted.unsaid, ["git-*"]);
        assert!(of(PermissionMode::AllowAll, &[("git-*", RuleDecision::Allow)]).everything);
    }
}
