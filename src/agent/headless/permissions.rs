//! A session's permissions as flags: they are fixed before a turn, because headless programs cannot ask during it.

use crate::model::{PermissionMode, PermissionPolicy, RuleDecision};

/// The granted permissions, in a program's own tool names.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Granted {
    /// Everything except the denied tools.
    pub everything: bool,
    /// Files in the working directory may be read and written, except for the protected ones.
    pub folder: bool,
    /// Names of allowed tools.
    pub allowed: Vec<String>,
    /// Names of denied tools; these take precedence.
    pub denied: Vec<String>,
    /// Rules that this program does not support, for display.
    pub unsupported: Vec<String>,
}

/// Files that are not written in mode `folder`, as patterns: git runs programs that its files name, and the others
/// configure what agents may do.
pub(super) const PROTECTED: [&str; 4] = [".git", ".git/**", ".flightdeck/jobs.json", ".flightdeck.toml"];

/// Translates the policy. `names_of` maps a rule's tool to the program's names; it returns none if there is no
/// equivalent.
pub(super) fn granted(policy: &PermissionPolicy, names_of: impl Fn(&str) -> Vec<String>) -> Granted {
    let mut granted = Granted::default();
    let (mut mode, mut folder) = (policy.mode == PermissionMode::AllowAll, policy.mode == PermissionMode::Folder);
    let mut seen: Vec<String> = Vec::new();
    let mut may_be_everything = true;
    for rule in &policy.rules {
        let allows = rule.decision == RuleDecision::Allow;
        if rule.is_narrow() && allows {
            // It allows some calls of the tool, and flags can only allow them all.
            granted.unsupported.push(rule.tool.clone());
            continue;
        }
        if rule.tool == "*" {
            // Later rules and the mode never apply.
            (mode, folder) = (allows, false);
            break;
        }
        let names = names_of(&rule.tool);
        if names.is_empty() {
            granted.unsupported.push(rule.tool.clone());
            // A denied tool must never run, even if that denies other tools too.
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
    granted.folder = folder;
    granted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::PermissionRule;

    fn policy(mode: PermissionMode, rules: &[(&str, RuleDecision)]) -> PermissionPolicy {
        let rules = rules.iter().map(|(tool, decision)| PermissionRule::for_tool(tool, *decision));
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
    fn mode_folder_ends_with_a_rule_for_all_tools() {
        use PermissionMode::Folder;
        assert!(of(Folder, &[("shell", RuleDecision::Allow)]).folder && !of(Folder, &[]).everything);
        assert!(!of(Folder, &[("*", RuleDecision::Deny)]).folder);
        let all = of(Folder, &[("*", RuleDecision::Allow)]);
        assert!(all.everything && !all.folder);
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
    fn a_rule_for_some_calls_allows_none_and_denies_all() {
        let narrow = |decision| {
            let rule =
                PermissionRule { prefix: Some("git status".to_owned()), ..PermissionRule::for_tool("shell", decision) };
            granted(&PermissionPolicy { mode: PermissionMode::Ask, rules: vec![rule] }, |tool| vec![tool.to_owned()])
        };
        assert_eq!(narrow(RuleDecision::Allow).allowed, Vec::<String>::new());
        assert_eq!(narrow(RuleDecision::Allow).unsupported, ["shell"]);
        assert_eq!(narrow(RuleDecision::Deny).denied, ["shell"]);
    }

    #[test]
    fn a_rule_that_cannot_be_said_never_lets_more_happen() {
        let granted = of(PermissionMode::AllowAll, &[("git-*", RuleDecision::Deny)]);
        assert!(!granted.everything, "it might run what must not");
        assert_eq!(granted.unsupported, ["git-*"]);
        assert!(of(PermissionMode::AllowAll, &[("git-*", RuleDecision::Allow)]).everything);
    }
}
