//! What a job waits for: a gate, or a task that a restart interrupted.

use serde_json::Value;

use super::super::terminal::style::Style;
use super::super::terminal::text::{clean, indented, one_line, shortened};
use crate::jobs::{ChangedFiles, GateView, Subject, WorkResult};

/// How many characters of a decision are shown.
const LONGEST_DECISION: usize = 200;

/// Something that waits for a person.
#[derive(Clone, Debug)]
pub(super) struct Gate {
    pub id: String,
    pub title: String,
    /// What the person is shown has this digest.
    pub digest: String,
    kind: String,
    prompt: Option<String>,
    works: Vec<WorkResult>,
    changes: Option<ChangedFiles>,
}

impl Gate {
    /// From the `waiting` of a job in the API.
    pub fn from_json(waiting: &Value) -> Self {
        let text = |name: &str| waiting[name].as_str().unwrap_or_default().to_owned();
        let shown = &waiting["shown"];
        Self {
            id: text("waitingId"),
            title: text("title"),
            digest: text("digest"),
            kind: text("kind"),
            prompt: waiting["prompt"].as_str().map(str::to_owned),
            works: serde_json::from_value(shown["works"].clone()).unwrap_or_default(),
            changes: serde_json::from_value(shown["changes"].clone()).unwrap_or_default(),
        }
    }

    /// From a record of the job's log.
    pub fn opened(id: &str, subject: Subject, view: &GateView, digest: &str) -> Self {
        Self {
            id: id.to_owned(),
            title: view.title.clone(),
            digest: digest.to_owned(),
            kind: subject.kind().to_owned(),
            prompt: view.prompt.clone(),
            works: view.works.clone(),
            changes: view.changes.clone(),
        }
    }

    /// All that wait in a job.
    pub fn all(job: &Value) -> Vec<Self> {
        job["waiting"].as_array().into_iter().flatten().map(Self::from_json).collect()
    }

    /// In one line.
    pub fn headline(&self) -> String {
        format!("{}: {}", clean(&self.id), one_line(&self.title))
    }

    /// Everything that a person needs to decide, and the digest of it.
    pub fn shown(&self, style: Style) -> String {
        let mut lines = vec![style.bold(&self.headline())];
        if let Some(prompt) = &self.prompt {
            lines.push(indented(&clean(prompt), 2));
        }
        if self.kind == "interrupted" {
            lines.push("  The server was restarted while the agent was working on this task.".to_owned());
            lines.push("  Approve: the agent continues. Reject: the task fails.".to_owned());
        }
        if !self.works.is_empty() {
            lines.push("  Done so far:".to_owned());
        }
        for work in &self.works {
            let decision = work.last_decision.as_deref().map(|reason| shortened(&one_line(reason), LONGEST_DECISION));
            let line = format!(
                "    {} {} {}  {}",
                style.verdict(work.succeeded),
                work.work_id,
                one_line(&work.task_name),
                style.dim(&decision.unwrap_or_default())
            );
            lines.push(line.trim_end().to_owned());
        }
        match &self.changes {
            Some(changes) if changes.files.is_empty() => lines.push("  No files changed.".to_owned()),
            Some(changes) => lines.extend(changed_files(changes, style)),
            None => {}
        }
        lines.push(format!("  {}", style.dim(&format!("Digest: {}", clean(&self.digest)))));
        lines.join("\n")
    }
}

fn changed_files(changes: &ChangedFiles, style: Style) -> Vec<String> {
    let mut lines = vec!["  Changed files:".to_owned()];
    for file in &changes.files {
        let mut line = format!("    {:<9} {}", one_line(&file.kind), one_line(&file.path));
        if let (Some(added), Some(removed)) = (file.added, file.removed) {
            line = format!("{line}  {} {}", style.green(&format!("+{added}")), style.red(&format!("-{removed}")));
        }
        lines.push(line);
    }
    if changes.truncated {
        lines.push("    … and more".to_owned());
    }
    lines
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_gate_shows_what_is_decided() {
        let waiting = json!({
            "waitingId": "gate-1", "kind": "gate", "workId": 1, "title": "Go\u{1b}[2J?", "prompt": "Read it.\nThen decide.",
            "digest": "abc", "since": "2026-03-01T00:00:00.000Z",
            "shown": {
                "works": [{ "workId": 0, "taskName": "plan", "succeeded": true, "lastDecision": "[TASK SUCCEEDED] yes\nreally" }],
                "changes": { "files": [{ "path": "a.rs", "kind": "modified", "added": 3, "removed": 1 }], "truncated": true },
            },
        });
        let expected = "gate-1: Go\u{fffd}[2J?\n  Read it.\n  Then decide.\n  Done so far:\n    ✓ 0 plan  [TASK SUCCEEDED] yes really\n  \
                        Changed files:\n    modified  a.rs  +3 -1\n    … and more\n  Digest: abc";
        assert_eq!(Gate::from_json(&waiting).shown(Style::plain()), expected);
        assert!(Gate::all(&json!({ "waiting": [waiting] }))[0].headline().starts_with("gate-1: "));
        assert!(Gate::all(&json!({})).is_empty());
    }
}
