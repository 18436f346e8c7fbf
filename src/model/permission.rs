//! What an agent may do: modes, rules per tool, decisions.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::command::begins_with;
use super::{AnsweredBy, RequestBody};

/// What happens to a permission request that no rule covers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PermissionMode {
    /// A person is asked.
    #[default]
    Ask,
    /// Allowed.
    AllowAll,
    /// Denied.
    Deny,
    /// Files in the working directory may be read and written, everything else is denied.
    Folder,
}

impl PermissionMode {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Ask, Self::AllowAll, Self::Deny, Self::Folder];

    /// The word used in the API, the store and the configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::AllowAll => "allow-all",
            Self::Deny => "deny",
            Self::Folder => "folder",
        }
    }
}

impl fmt::Display for PermissionMode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl FromStr for PermissionMode {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|mode| mode.as_str() == text)
            .ok_or_else(|| format!("unknown permission mode {text:?}; expected ask, allow-all, deny or folder"))
    }
}

/// What a rule says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RuleDecision {
    /// Without asking.
    Allow,
    /// Without asking.
    Deny,
    /// Whatever the mode says.
    Ask,
}

/// A rule for the tools whose name fits its pattern.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PermissionRule {
    /// A tool's name; `*` stands for any run of characters.
    pub tool: String,
    /// What is to happen.
    pub decision: RuleDecision,
    /// Only commands that are simple and begin with these words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefix: Option<String>,
    /// Only this exact call, as [`RequestBody::Permission`] has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
}

impl PermissionRule {
    /// A rule for every call of the tools whose name fits a pattern.
    pub fn for_tool(tool: &str, decision: RuleDecision) -> Self {
        Self { tool: tool.to_owned(), decision, prefix: None, call: None }
    }

    /// A rule that allows what was asked. The error says why there can be none.
    pub fn allowing(asked: &RequestBody, covers: &AlwaysCovers) -> Result<Self, &'static str> {
        let RequestBody::Permission { tool, detail, kind, call, .. } = asked else {
            return Err("only a permission can be allowed permanently");
        };
        let mut rule = Self::for_tool(&tool.replace('*', "?"), RuleDecision::Allow);
        match covers {
            AlwaysCovers::Tool => {}
            AlwaysCovers::Call if call.is_empty() => return Err("the agent did not say exactly what it would do"),
            AlwaysCovers::Call => rule.call = Some(call.clone()),
            AlwaysCovers::Prefix(_) if kind != "shell" => return Err("a prefix is for shell commands"),
            AlwaysCovers::Prefix(prefix) if !begins_with(detail, prefix) => {
                return Err(
                    "the prefix must be whole words at the beginning of the command, and the command a simple one",
                );
            }
            AlwaysCovers::Prefix(prefix) => rule.prefix = Some(prefix.clone()),
        }
        Ok(rule)
    }

    /// Whether it is about some calls only.
    pub fn is_narrow(&self) -> bool {
        self.prefix.is_some() || self.call.is_some()
    }

    fn covers(&self, asked: &RequestBody) -> bool {
        let RequestBody::Permission { tool, detail, call, kind, .. } = asked else { return false };
        let has_prefix = |prefix: &String| kind == "shell" && begins_with(detail, prefix);
        fits(self.tool.as_bytes(), tool.as_bytes())
            && self.prefix.as_ref().is_none_or(has_prefix)
            && self.call.as_ref().is_none_or(|exact| !exact.is_empty() && exact == call)
    }
}

/// What "always" covers in an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum AlwaysCovers {
    /// Every call of the tool.
    #[default]
    Tool,
    /// Exactly the call that was asked about.
    Call,
    /// Simple commands that begin with these words.
    Prefix(String),
}

/// Where "always" holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AlwaysScope {
    /// In the session whose request was answered.
    #[default]
    Session,
    /// In every session that works in the same folder. Folders below it are others.
    Folder,
}

/// What "always" means in an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Always {
    /// What it covers.
    pub covers: AlwaysCovers,
    /// Where it holds.
    pub scope: AlwaysScope,
}

/// A rule for every session that works in exactly this folder. It only allows, and only what would be asked otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderRule {
    /// The working directory of the sessions.
    pub folder: PathBuf,
    /// What they may do.
    pub rule: PermissionRule,
}

/// Matches `*` against any run of bytes, in linear space and without recursion on the text.
fn fits(pattern: &[u8], text: &[u8]) -> bool {
    let (mut at_pattern, mut at_text) = (0, 0);
    let mut last_star: Option<(usize, usize)> = None;
    while at_text < text.len() {
        match pattern.get(at_pattern) {
            Some(b'*') => {
                last_star = Some((at_pattern, at_text));
                at_pattern += 1;
            }
            Some(byte) if *byte == text[at_text] => {
                at_pattern += 1;
                at_text += 1;
            }
            _ => match last_star {
                Some((star, from)) => {
                    last_star = Some((star, from + 1));
                    at_pattern = star + 1;
                    at_text = from + 1;
                }
                None => return false,
            },
        }
    }
    pattern[at_pattern..].iter().all(|byte| *byte == b'*')
}

/// A session's mode and rules. The first rule that covers a tool decides; else the mode does.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PermissionPolicy {
    /// For tools that no rule covers.
    pub mode: PermissionMode,
    /// In order of precedence.
    pub rules: Vec<PermissionRule>,
}

/// What counts beside a session's own rules.
#[derive(Clone, Copy, Debug, Default)]
pub struct Configured<'a> {
    /// For all sessions. They follow a session's own.
    pub rules: &'a [PermissionRule],
    /// Of the session's folder. They only allow what would be asked otherwise.
    pub folder: &'a [PermissionRule],
    /// In mode `ask`, files in the working directory are read without asking.
    pub reads: bool,
}

/// What a policy says about one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PolicyAnswer {
    /// The agent may do it; nobody is asked.
    Allow(PolicyPart),
    /// The agent must not do it; nobody is asked.
    Deny(PolicyPart),
    /// A person decides.
    Ask,
}

/// Which part of a policy decided about a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PolicyPart {
    /// A rule for the tool.
    Rule,
    /// The session's permission mode.
    Mode,
}

impl PolicyPart {
    /// The sentence that the agent gets when it may not do it.
    pub fn denial(self) -> String {
        format!("denied by the session's permission {}", AnsweredBy::from(self).as_str())
    }
}

impl From<PolicyPart> for AnsweredBy {
    fn from(part: PolicyPart) -> Self {
        match part {
            PolicyPart::Rule => Self::Rule,
            PolicyPart::Mode => Self::Mode,
        }
    }
}

impl PermissionPolicy {
    /// What happens to a request. Only a person can answer a question.
    pub fn answer(&self, request: &RequestBody) -> PolicyAnswer {
        self.answer_with(&Configured::default(), request)
    }

    /// As [`Self::answer`], with what counts beside the session's own rules.
    pub fn answer_with(&self, configured: &Configured<'_>, request: &RequestBody) -> PolicyAnswer {
        let answer = self.answer_without_folder(configured, request);
        let is_allowed = || {
            let mut allowing = configured.folder.iter().filter(|rule| rule.decision == RuleDecision::Allow);
            allowing.any(|rule| rule.covers(request))
        };
        // Nothing that is denied, by a rule or by the mode, becomes allowed because of the folder.
        if answer == PolicyAnswer::Ask && is_allowed() { PolicyAnswer::Allow(PolicyPart::Rule) } else { answer }
    }

    fn answer_without_folder(&self, configured: &Configured<'_>, request: &RequestBody) -> PolicyAnswer {
        let RequestBody::Permission { reads, writes, .. } = request else { return PolicyAnswer::Ask };
        let reads_inside = reads.as_ref().is_some_and(|reading| reading.is_inside);
        match self.rules.iter().chain(configured.rules).find(|rule| rule.covers(request)) {
            Some(rule) => match rule.decision {
                RuleDecision::Allow => PolicyAnswer::Allow(PolicyPart::Rule),
                RuleDecision::Deny => PolicyAnswer::Deny(PolicyPart::Rule),
                RuleDecision::Ask => PolicyAnswer::Ask,
            },
            None => match self.mode {
                PermissionMode::AllowAll => PolicyAnswer::Allow(PolicyPart::Mode),
                PermissionMode::Deny => PolicyAnswer::Deny(PolicyPart::Mode),
                PermissionMode::Ask => {
                    let is_harmless = configured.reads && reads_inside;
                    if is_harmless { PolicyAnswer::Allow(PolicyPart::Mode) } else { PolicyAnswer::Ask }
                }
                PermissionMode::Folder => {
                    let is_inside = reads_inside || writes.as_ref().is_some_and(|writing| writing.is_inside);
                    if is_inside { PolicyAnswer::Allow(PolicyPart::Mode) } else { PolicyAnswer::Deny(PolicyPart::Mode) }
                }
            },
        }
    }

    /// Allows what was asked from now on, ahead of every other rule. The error says why that is not possible.
    pub fn always_allow(&mut self, asked: &RequestBody, covers: &AlwaysCovers) -> Result<(), &'static str> {
        let rule = PermissionRule::allowing(asked, covers)?;
        let is_same = |existing: &PermissionRule| {
            (&existing.tool, &existing.prefix, &existing.call) == (&rule.tool, &rule.prefix, &rule.call)
        };
        self.rules.retain(|existing| !is_same(existing));
        self.rules.insert(0, rule);
        Ok(())
    }
}

/// A person's answer to a permission request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Decision {
    /// This time only.
    AllowOnce,
    /// This time and for this tool for the rest of the session.
    AllowAlways,
    /// Not this time.
    Deny,
}

impl Decision {
    /// The word used in the API and the log.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::AllowOnce => "allow-once",
            Self::AllowAlways => "allow-always",
            Self::Deny => "deny",
        }
    }

    /// Whether the agent may do it.
    pub fn allows(self) -> bool {
        self != Self::Deny
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(tool: &str, decision: RuleDecision) -> PermissionRule {
        PermissionRule::for_tool(tool, decision)
    }

    fn permission(tool: &str) -> RequestBody {
        RequestBody::Permission {
            kind: "shell".to_owned(),
            tool: tool.to_owned(),
            title: String::new(),
            detail: String::new(),
            options: Vec::new(),
            tool_call_id: None,
            call: String::new(),
            reads: None,
            writes: None,
        }
    }

    #[test]
    fn configured_rules_come_after_the_sessions_own() {
        let policy = PermissionPolicy { mode: PermissionMode::Deny, rules: vec![rule("read", RuleDecision::Ask)] };
        let rules = [rule("read", RuleDecision::Allow), rule("shell", RuleDecision::Allow)];
        let configured = Configured { rules: &rules, ..Configured::default() };
        assert_eq!(policy.answer_with(&configured, &permission("read")), PolicyAnswer::Ask);
        assert_eq!(policy.answer_with(&configured, &permission("shell")), PolicyAnswer::Allow(PolicyPart::Rule));
        assert_eq!(policy.answer_with(&configured, &permission("write")), PolicyAnswer::Deny(PolicyPart::Mode));
    }

    #[test]
    fn rules_of_a_folder_allow_what_would_be_asked_and_nothing_that_is_denied() {
        let folder = [PermissionRule { prefix: Some("git status".to_owned()), ..rule("shell", RuleDecision::Allow) }];
        let folder = Configured { folder: &folder, ..Configured::default() };
        let policy = |mode, rules| PermissionPolicy { mode, rules };
        let allowed = PolicyAnswer::Allow(PolicyPart::Rule);
        for (policy, expected) in [
            (policy(PermissionMode::Ask, vec![]), allowed),
            (policy(PermissionMode::Ask, vec![rule("shell", RuleDecision::Ask)]), allowed),
            (policy(PermissionMode::Ask, vec![rule("*", RuleDecision::Deny)]), PolicyAnswer::Deny(PolicyPart::Rule)),
            (policy(PermissionMode::Deny, vec![]), PolicyAnswer::Deny(PolicyPart::Mode)),
        ] {
            assert_eq!(policy.answer_with(&folder, &command("git status -s")), expected, "{policy:?}");
        }
        let configured = [rule("shell", RuleDecision::Deny)];
        let denied = Configured { rules: &configured, ..folder };
        let ask = policy(PermissionMode::Ask, vec![]);
        assert_eq!(ask.answer_with(&denied, &command("git status")), PolicyAnswer::Deny(PolicyPart::Rule));
        for other in ["git push", "git status; rm x", "git status > x", "git status $(rm x)", "git status\nrm x"] {
            assert_eq!(ask.answer_with(&folder, &command(other)), PolicyAnswer::Ask, "{other}");
        }
        assert_eq!(ask.answer_with(&folder, &RequestBody::question("?", None)), PolicyAnswer::Ask);
        let denying = [rule("shell", RuleDecision::Deny)];
        let denying = Configured { folder: &denying, ..Configured::default() };
        assert_eq!(ask.answer_with(&denying, &command("git status")), PolicyAnswer::Ask, "it only allows");
    }

    #[test]
    fn reading_inside_the_folder_is_allowed_in_mode_ask_unless_a_rule_says_otherwise() {
        let reading = |is_inside| {
            let mut body = permission("read");
            if let RequestBody::Permission { reads, .. } = &mut body {
                *reads = Some(Box::new(crate::model::Reading { path: "file".to_owned(), is_inside }));
            }
            body
        };
        let policy = |mode, rules| PermissionPolicy { mode, rules };
        let configured = Configured { reads: true, ..Configured::default() };
        let ask = policy(PermissionMode::Ask, Vec::new());
        assert_eq!(ask.answer_with(&configured, &reading(true)), PolicyAnswer::Allow(PolicyPart::Mode));
        assert_eq!(ask.answer_with(&configured, &reading(false)), PolicyAnswer::Ask);
        assert_eq!(ask.answer(&reading(true)), PolicyAnswer::Ask, "it is switched off");
        let strict = policy(PermissionMode::Ask, vec![rule("read", RuleDecision::Deny)]);
        assert_eq!(strict.answer_with(&configured, &reading(true)), PolicyAnswer::Deny(PolicyPart::Rule));
        let deny = policy(PermissionMode::Deny, Vec::new());
        assert_eq!(deny.answer_with(&configured, &reading(true)), PolicyAnswer::Deny(PolicyPart::Mode));
    }

    #[test]
    fn mode_folder_allows_files_inside_and_what_rules_allow() {
        let files = |is_read: bool, is_inside| {
            let mut body = permission(if is_read { "read" } else { "write" });
            if let RequestBody::Permission { reads, writes, .. } = &mut body {
                let path = "file".to_owned();
                if is_read {
                    *reads = Some(Box::new(crate::model::Reading { path, is_inside }));
                } else {
                    *writes = Some(Box::new(crate::model::Writing { paths: vec![path], is_inside }));
                }
            }
            body
        };
        let policy = |rules| PermissionPolicy { mode: PermissionMode::Folder, rules };
        let (allowed, denied) = (PolicyAnswer::Allow(PolicyPart::Mode), PolicyAnswer::Deny(PolicyPart::Mode));
        for is_read in [true, false] {
            assert_eq!(policy(vec![]).answer(&files(is_read, true)), allowed);
            assert_eq!(policy(vec![]).answer(&files(is_read, false)), denied);
        }
        assert_eq!(policy(vec![]).answer(&command("cargo test")), denied);
        let strict = policy(vec![rule("write", RuleDecision::Deny)]);
        assert_eq!(strict.answer(&files(false, true)), PolicyAnswer::Deny(PolicyPart::Rule));
        let prefix = PermissionRule { prefix: Some("cargo test".to_owned()), ..rule("shell", RuleDecision::Allow) };
        let tests = policy(vec![prefix.clone()]);
        assert_eq!(tests.answer(&command("cargo test --lib")), PolicyAnswer::Allow(PolicyPart::Rule));
        for other in ["cargo run", "cargo test; rm x", "cargo test > x"] {
            assert_eq!(tests.answer(&command(other)), denied, "{other}");
        }
        // A folder's rules are for sessions whose person would be asked.
        let folder = [prefix];
        let folder = Configured { folder: &folder, ..Configured::default() };
        assert_eq!(policy(vec![]).answer_with(&folder, &command("cargo test")), denied);
    }

    #[test]
    fn no_policy_answers_a_question() {
        for mode in PermissionMode::ALL {
            assert_eq!(mode.as_str().parse(), Ok(mode));
            let policy = PermissionPolicy { mode, rules: vec![rule("*", RuleDecision::Deny)] };
            assert_eq!(policy.answer(&RequestBody::question("Which colour?", None)), PolicyAnswer::Ask);
        }
    }

    #[test]
    fn the_first_rule_that_covers_the_tool_decides() {
        let policy = PermissionPolicy {
            mode: PermissionMode::AllowAll,
            rules: vec![rule("git-*", RuleDecision::Allow), rule("*", RuleDecision::Deny)],
        };
        assert_eq!(policy.answer(&permission("git-status")), PolicyAnswer::Allow(PolicyPart::Rule));
        assert_eq!(policy.answer(&permission("shell")), PolicyAnswer::Deny(PolicyPart::Rule));
    }

    #[test]
    fn without_a_rule_the_mode_decides() {
        for (mode, expected) in [
            (PermissionMode::Ask, PolicyAnswer::Ask),
            (PermissionMode::AllowAll, PolicyAnswer::Allow(PolicyPart::Mode)),
            (PermissionMode::Deny, PolicyAnswer::Deny(PolicyPart::Mode)),
            (PermissionMode::Folder, PolicyAnswer::Deny(PolicyPart::Mode)),
        ] {
            let policy = PermissionPolicy { mode, rules: vec![rule("other", RuleDecision::Deny)] };
            assert_eq!(policy.answer(&permission("shell")), expected);
        }
    }

    #[test]
    fn always_allowing_a_tool_goes_before_older_rules_and_covers_that_tool_only() {
        let mut policy = PermissionPolicy { mode: PermissionMode::Ask, rules: vec![rule("shell", RuleDecision::Deny)] };
        policy.always_allow(&permission("shell"), &AlwaysCovers::Tool).expect("allowed");
        assert_eq!(policy.answer(&permission("shell")), PolicyAnswer::Allow(PolicyPart::Rule));
        assert_eq!(policy.answer(&permission("write")), PolicyAnswer::Ask);
        policy.always_allow(&permission("*"), &AlwaysCovers::Tool).expect("allowed");
        assert_eq!(
            policy.answer(&permission("write")),
            PolicyAnswer::Ask,
            "an agent cannot name a tool so that a rule covers all"
        );
    }

    fn command(detail: &str) -> RequestBody {
        let RequestBody::Permission { kind, tool, title, options, tool_call_id, .. } = permission("shell") else {
            unreachable!("a permission")
        };
        let (detail, call) = (detail.to_owned(), format!("call {detail}"));
        RequestBody::Permission { kind, tool, title, detail, options, tool_call_id, call, reads: None, writes: None }
    }

    #[test]
    fn always_may_cover_one_call_or_a_prefix() {
        for (covers, others) in [
            (AlwaysCovers::Call, [("git status", true), ("git status -s", false), ("git push", false)]),
            (
                AlwaysCovers::Prefix("git status".to_owned()),
                [("git status -s", true), ("git status; rm x", false), ("git push", false)],
            ),
        ] {
            let mut policy = PermissionPolicy::default();
            policy.always_allow(&command("git status"), &covers).expect("allowed");
            for (other, is_allowed) in others {
                let expected = if is_allowed { PolicyAnswer::Allow(PolicyPart::Rule) } else { PolicyAnswer::Ask };
                assert_eq!(policy.answer(&command(other)), expected, "{covers:?} {other}");
            }
        }
    }

    #[test]
    fn always_never_covers_more_than_what_was_asked() {
        let mut policy = PermissionPolicy::default();
        for (asked, covers) in [
            (command("git status"), AlwaysCovers::Prefix("rm".to_owned())),
            (command("git status"), AlwaysCovers::Prefix(String::new())),
            (command("git status; rm x"), AlwaysCovers::Prefix("git status".to_owned())),
            (permission("shell"), AlwaysCovers::Call),
            (RequestBody::question("?", None), AlwaysCovers::Tool),
        ] {
            policy.always_allow(&asked, &covers).expect_err("refused");
        }
        assert_eq!(policy, PermissionPolicy::default());
    }

    #[test]
    fn stars_stand_for_any_run_of_characters() {
        for (pattern, text, expected) in [
            ("*", "", true),
            ("a*c", "abc", true),
            ("a*c", "ac", true),
            ("a*c", "acb", false),
            ("a*b*c", "a-b-b-c", true),
            ("abc", "ab", false),
        ] {
            assert_eq!(fits(pattern.as_bytes(), text.as_bytes()), expected, "{pattern} {text}");
        }
    }
}
