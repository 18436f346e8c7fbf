//! Budgets: from the configuration to the settings of sessions.

use crate::config::Budget;
use crate::model::BudgetLimits;
use crate::session::BudgetSettings;

/// In the configuration 0 stands for no limit.
pub(super) fn budget_settings(budget: &Budget) -> BudgetSettings {
    let amount = |limit: f64| (limit > 0.0).then_some(limit);
    let tokens = |limit: u64| (limit > 0).then_some(limit);
    BudgetSettings {
        session: BudgetLimits {
            premium_requests: amount(budget.session_premium_requests),
            tokens: tokens(budget.session_tokens),
            cost_usd: amount(budget.session_cost_usd),
        },
        day: BudgetLimits {
            premium_requests: amount(budget.day_premium_requests),
            tokens: tokens(budget.day_tokens),
            cost_usd: amount(budget.day_cost_usd),
        },
        warn_at: budget.warn_at,
        refuse: budget.refuse,
    }
}
