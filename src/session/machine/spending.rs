//! What the agent's work costs: counted, and compared with the budgets.

use super::{Context, Machine};
use crate::agent::{AgentEvent, BlockStart};
use crate::model::{AnsweredBy, BudgetNotices, Callback, Day, ErrorClass, NoticeKind, Response, Usage};
use crate::store::{Change, UsageReport};

#[derive(Debug)]
pub(super) struct Spending {
    /// All that the session has used.
    pub used: Usage,
    /// Which limits the session has been notified of.
    pub announced: BudgetNotices,
    /// Usage was reported since the agent last went on: a budget may be reached.
    pub is_unchecked: bool,
}

impl Machine {
    /// The figures go into the session's sum and the day's with the event that reports them, in one transaction.
    pub(super) fn on_usage(&mut self, context: &Context, usage: Usage, of_day: &Usage) {
        let day = Day::of(context.time);
        self.spending.used.add(&usage);
        self.draft.change(Change::Usage(self.spending.used.clone()));
        self.draft.change(Change::UsageReported(UsageReport {
            day,
            runtime: self.profile.runtime.clone(),
            model: usage.model_in(&self.profile.model).to_owned(),
            usage: usage.clone(),
        }));
        self.write(Callback::Usage(usage));
        self.announce_budgets(context, day, of_day);
        self.spending.is_unchecked = true;
        if self.transcript.fold().runs_tools() || !self.requests.is_empty() {
            self.stop_over_budget(context);
        }
    }

    /// A report may be the last thing that a turn says, and a turn that has ended is not cut off. So it is stopped only
    /// when it goes on to another step or another tool.
    pub(super) fn stop_if_turn_goes_on(&mut self, context: &Context, event: &AgentEvent) {
        match event {
            AgentEvent::TurnStarted { .. }
            | AgentEvent::PromptGenerated(_)
            | AgentEvent::RequestMade { .. }
            | AgentEvent::BlockStarted(BlockStart::Tool { .. }) => self.stop_over_budget(context),
            AgentEvent::Idle => self.spending.is_unchecked = false,
            _ => {}
        }
    }

    fn stop_over_budget(&mut self, context: &Context) {
        if !std::mem::take(&mut self.spending.is_unchecked) || !self.is_live() {
            return;
        }
        let (own, used) = (&self.profile.budget, &self.spending.used);
        let Some(message) = context.settings.budget.stop(own, used, &context.day_usage) else { return };
        let Some(turn) = self.turn.as_mut().filter(|turn| !turn.is_interrupted()) else { return };
        turn.failed_with(ErrorClass::Budget);
        self.write(Response::session_error(ErrorClass::Budget, message.clone()));
        self.interrupt_turn(context, message, AnsweredBy::Budget);
    }

    /// Writes each budget notice once. That it was written is committed with the notice, so a
    /// restart does not repeat it.
    fn announce_budgets(&mut self, context: &Context, day: Day, of_day: &Usage) {
        let (budget, own) = (context.settings.budget, self.profile.budget);
        let mut is_new = false;
        for status in budget.statuses(&own, &self.spending.used, of_day) {
            if let Some(level) = status.level(budget.warn_at)
                && self.spending.announced.note(&status, level, day)
            {
                is_new = true;
                self.notify(NoticeKind::Budget, budget.notice(&status, level, &own));
            }
        }
        if is_new {
            self.draft.change(Change::BudgetNotified(self.spending.announced.clone()));
        }
    }

    /// Why no further turn may begin, if a budget forbids it.
    pub(super) fn budget_refusal(&self, context: &Context) -> Option<String> {
        context.settings.budget.refusal(&self.profile.budget, &self.spending.used, &context.day_usage)
    }
}
