//! What the agent's work costs: counted, and compared with the budgets.

use super::{Context, Machine};
use crate::model::{BudgetNotices, Callback, Day, NoticeKind, Usage};
use crate::store::{Change, UsageReport};

#[derive(Debug)]
pub(super) struct Spending {
    /// All that the session has used.
    pub used: Usage,
    /// Which limits the session has been notified of.
    pub announced: BudgetNotices,
}

impl Machine {
    /// The figures go into the session's sum and the day's with the event that reports them, in one transaction.
    pub(super) fn on_usage(&mut self, context: &Context<'_>, usage: Usage, of_day: &Usage) {
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
    }

    /// Writes each budget notice once. That it was written is committed with the notice, so a
    /// restart does not repeat it.
    fn announce_budgets(&mut self, context: &Context<'_>, day: Day, of_day: &Usage) {
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
    pub(super) fn budget_refusal(&self, context: &Context<'_>) -> Option<String> {
        context.settings.budget.refusal(&self.profile.budget, &self.spending.used, &context.day_usage)
    }
}
