//! Rules: what is allowed for good, in this session or in its folder, and what that means for requests that wait.

use super::{Context, Link, Machine};
use crate::model::{
    Always, AlwaysScope, AnsweredBy, Configured, Decided, Decision, FolderRule, OpenRequest, PermissionMode,
    PermissionPolicy, PermissionRule, PolicyAnswer, RequestBody, RequestOutcome, SessionState,
};
use crate::session::folder_rules::FolderRuleSet;
use crate::store::Change;

/// What is allowed from now on.
pub(super) enum NewRule {
    /// In this session: its policy with the new rule.
    Session(PermissionPolicy),
    /// In every session of the folder.
    Folder(FolderRule),
}

impl Machine {
    /// Mode and rules for an agent that asks nobody: the session's own rules, then the configured ones, then those of its
    /// folder, which count only where somebody would be asked.
    pub fn policy(&self, configured: &PermissionPolicy, folder_rules: &FolderRuleSet) -> PermissionPolicy {
        let mut policy = self.profile.permissions.clone();
        policy.rules.extend(configured.rules.iter().cloned());
        if policy.mode == PermissionMode::Ask {
            policy.rules.extend_from_slice(folder_rules.of(self.profile.working_directory.as_deref()));
        }
        policy
    }

    /// What counts beside the session's own rules.
    pub(super) fn configured<'a>(&self, context: &'a Context) -> Configured<'a> {
        let folder = context.folder_rules.of(self.profile.working_directory.as_deref());
        Configured { folder, ..context.settings.configured() }
    }

    /// The rule that an answer for good makes. The error says why there can be none.
    pub(super) fn new_rule(&self, asked: &RequestBody, always: &Always) -> Result<NewRule, &'static str> {
        match always.scope {
            AlwaysScope::Session => {
                let mut policy = self.profile.permissions.clone();
                policy.always_allow(asked, &always.covers)?;
                Ok(NewRule::Session(policy))
            }
            AlwaysScope::Folder => {
                let folder = self.profile.working_directory.clone().ok_or("the session has no folder")?;
                Ok(NewRule::Folder(FolderRule { folder, rule: PermissionRule::allowing(asked, &always.covers)? }))
            }
        }
    }

    /// The rules of some folder changed, which may be this session's.
    pub(super) fn on_rules_changed(&mut self, context: &Context) {
        if self.state == SessionState::Closed {
            return;
        }
        if self.recheck_requests(context) {
            self.after_recheck(context);
        }
        match &mut self.link {
            Link::Live { .. } => self.send_changes(context, false, true),
            // The agent is being started with the rules before.
            Link::Opening { permit, .. } => *permit = true,
            Link::None | Link::BackingOff { .. } | Link::AwaitingLogin => {}
        }
    }

    /// The rules have changed: what they allow now is not asked any more. Returns whether that answered any request.
    pub(super) fn recheck_requests(&mut self, context: &Context) -> bool {
        let configured = &self.configured(context);
        let allowed = |request: &OpenRequest| {
            let answer = self.profile.permissions.answer_with(configured, &request.body);
            match answer {
                PolicyAnswer::Allow(part) => Some((request.clone(), AnsweredBy::from(part))),
                PolicyAnswer::Deny(_) | PolicyAnswer::Ask => None,
            }
        };
        let allowed: Vec<(OpenRequest, AnsweredBy)> = self.requests.all().filter_map(allowed).collect();
        let is_awaited = self.is_awaited();
        let is_any = !allowed.is_empty();
        for (request, by) in allowed {
            self.requests.remove(&request.request_id);
            let outcome = RequestOutcome::AllowOnce;
            self.write_answer(&request, outcome, None, by);
            if is_awaited {
                self.send_policy_answer(request.agent_request_id, Decision::AllowOnce, None);
            } else {
                self.continuation.decided.push(Decided { request, outcome, text: None, by });
                self.draft.change(Change::Continuation(self.continuation.clone()));
            }
            self.status_changed = true;
        }
        is_any
    }

    /// Work that only waited for what the rules allow now continues.
    pub(super) fn after_recheck(&mut self, context: &Context) {
        if !self.continuation.decided.is_empty() {
            self.continue_work(context);
        }
        self.after_answer();
    }
}

/// Says in the log what a folder's sessions may do from now on.
pub(super) fn folder_notice(FolderRule { folder, rule }: &FolderRule) -> String {
    let what = match (&rule.prefix, &rule.call) {
        (Some(prefix), _) => format!("commands that begin with {prefix:?}"),
        (None, Some(_)) => format!("exactly this call of the tool {:?}", rule.tool),
        (None, None) => format!("every call of the tool {:?}", rule.tool),
    };
    format!("From now on, every session in {} may do this without asking: {what}.", folder.display())
}
