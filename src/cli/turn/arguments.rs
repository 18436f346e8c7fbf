//! The flags of `run`, `attach`, `logs` and of the commands that answer.

use std::path::PathBuf;

use clap::Args;

use crate::model::{PermissionMode, PermissionRule, RuleDecision, Seq};

#[derive(Debug, Args)]
pub(in crate::cli) struct RunFlags {
    /// What the agent is to do; several words are joined. Piped standard input is appended
    #[arg(value_name = "PROMPT")]
    pub prompt: Vec<String>,
    /// The working directory [default: the current folder]
    #[arg(short = 'C', value_name = "DIR")]
    pub folder: Option<PathBuf>,
    /// The model
    #[arg(long, short, value_name = "ID")]
    pub model: Option<String>,
    /// The runtime of the agent, such as copilot, claude or demo
    #[arg(long, value_name = "NAME", conflicts_with_all = ["session", "continues"])]
    pub runtime: Option<String>,
    /// Continue this session: 12, session-12 or the beginning of its title
    #[arg(long, short, value_name = "ID", conflicts_with = "continues")]
    pub session: Option<String>,
    /// Continue the latest session of the working directory
    #[arg(long = "continue", short)]
    pub continues: bool,
    /// Add a file: text is appended to the prompt, anything else is attached; repeat it for several files
    #[arg(long = "file", short = 'f', value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Allow a tool without asking, such as write or git-*, or a command by its first words, such as "shell:git status"; repeat it for several rules
    #[arg(long = "allow", value_name = "RULE", value_parser = allow_rule, conflicts_with_all = ["session", "continues"])]
    pub rules: Vec<PermissionRule>,
    /// What happens to permissions that no rule covers: ask, allow-all, deny or folder
    #[arg(long, value_name = "MODE", conflicts_with_all = ["session", "continues"])]
    pub mode: Option<PermissionMode>,
    /// Print the session's id and return as soon as the prompt is accepted
    #[arg(long, short)]
    pub detach: bool,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct AttachFlags {
    /// The session: 12, session-12 or the beginning of its title [default: the latest one]
    pub id: Option<String>,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct LogsFlags {
    /// The session: 12, session-12 or the beginning of its title
    pub id: String,
    /// Print what follows as it happens, until the session is closed
    #[arg(long, short)]
    pub follow: bool,
    /// Begin after the event with this number
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    pub after: Seq,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct DecideFlags {
    /// The session: 12, session-12 or the beginning of its title
    pub id: String,
    /// Which request, if several wait, such as request-7
    #[arg(long, value_name = "ID")]
    pub request: Option<String>,
    /// Allow the same from now on, in this session
    #[arg(long)]
    pub always: bool,
    /// Allow it without asking for confirmation
    #[arg(long, short)]
    pub yes: bool,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct DenyFlags {
    /// The session: 12, session-12 or the beginning of its title
    pub id: String,
    /// Which request, if several wait, such as request-7
    #[arg(long, value_name = "ID")]
    pub request: Option<String>,
    /// Tell the agent why
    #[arg(long, short, value_name = "TEXT")]
    pub message: Option<String>,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct AnswerFlags {
    /// The session: 12, session-12 or the beginning of its title
    pub id: String,
    /// The answer: words, the number of a choice, or for a form a JSON object or name=value for each field
    #[arg(required = true)]
    pub text: Vec<String>,
    /// Which question, if several wait, such as request-7
    #[arg(long, value_name = "ID")]
    pub request: Option<String>,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct InterruptFlags {
    /// The session: 12, session-12 or the beginning of its title
    pub id: String,
}

/// `TOOL`, or `TOOL:WORDS` for commands that begin with these words.
fn allow_rule(text: &str) -> Result<PermissionRule, String> {
    let (tool, prefix) = match text.split_once(':') {
        Some((tool, prefix)) => (tool.trim(), Some(prefix.trim())),
        None => (text.trim(), None),
    };
    if tool.is_empty() || prefix.is_some_and(str::is_empty) {
        return Err(
            "expected a tool such as write, or a tool and the first words of a command such as \"shell:git status\""
                .to_owned(),
        );
    }
    Ok(PermissionRule { prefix: prefix.map(str::to_owned), ..PermissionRule::for_tool(tool, RuleDecision::Allow) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_names_a_tool_and_perhaps_the_beginning_of_a_command() {
        let rule = allow_rule("shell: git status ").expect("a rule");
        assert_eq!((rule.tool.as_str(), rule.prefix.as_deref()), ("shell", Some("git status")));
        let rule = allow_rule("git-*").expect("a rule");
        assert_eq!((rule.tool.as_str(), rule.prefix, rule.decision), ("git-*", None, RuleDecision::Allow));
        for wrong in ["", ":x", "shell:", " : "] {
            assert!(allow_rule(wrong).is_err(), "{wrong:?}");
        }
    }
}
