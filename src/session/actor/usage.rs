//! What the agent's work costs: counted, and held against the budgets.

use super::Actor;
use crate::model::{Callback, Day, NoticeKind, Usage};
use crate::session::clock;
use crate::store::{Change, UsageReport};

impl Actor {
    /// The figures go into the session's sum and the day's with the event that reports them, in one transaction.
    pub(super) fn on_usage(&mut self, usage: Usage) {
        let usage = usage.plausible();
        let day = Day::of(clock::now());
        if let Some(turn) = &mut self.turn {
            turn.usage.add(&usage);
        }
        self.usage.add(&usage);
        let of_day = self.around.day_usage.add(day, &usage);
        self.journal.change(Change::Usage(self.usage.clone()));
        self.journal.change(Change::UsageReported(UsageReport {
            day,
            runtime: self.profile.runtime.clone(),
            model: usage.model_in(&self.profile.model).to_owned(),
            usage: usage.clone(),
        }));
        self.journal.write(&Callback::Usage(usage).into());
        self.tell_of_budgets(day, &of_day);
    }

    /// Says once what a person should know about each limit. That it was said is committed with the notice, so a
    /// restart does not repeat it.
    fn tell_of_budgets(&mut self, day: Day, of_day: &Usage) {
        let budget = self.around.settings.budget;
        let own = self.profile.budget;
        let mut is_new = false;
        for stand in budget.stands(&own, &self.usage, of_day) {
            if let Some(level) = stand.level(budget.warn_at)
                && self.budget_told.tell(&stand, level, day)
            {
                is_new = true;
                self.write_notice(NoticeKind::Budget, budget.notice(&stand, level, &own));
            }
        }
        if is_new {
            self.journal.change(Change::BudgetTold(self.budget_told.clone()));
        }
    }

    /// Why no further turn may begin, if so.
    pub(super) fn budget_refusal(&self) -> Option<String> {
        let of_day = self.around.day_usage.of(Day::of(clock::now()));
        self.around.settings.budget.refusal(&self.profile.budget, &self.usage, &of_day)
    }
}
