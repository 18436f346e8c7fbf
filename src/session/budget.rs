//! Budgets: the configured limits, and notices about them.

use crate::model::{BudgetFigure, BudgetLevel, BudgetLimits, BudgetScope, BudgetStatus, SessionBudget, Usage};

/// The configured limits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BudgetSettings {
    /// For each session.
    pub session: BudgetLimits,
    /// For all sessions of a day of UTC.
    pub day: BudgetLimits,
    /// The fraction of a limit from which usage counts as near it.
    pub warn_at: f64,
    /// Whether prompts are refused once a limit is reached.
    pub refuse: bool,
    /// Whether a running turn is interrupted when a limit is reached. Prompts are refused then too: their turns would be
    /// interrupted at once.
    pub stop_turns: bool,
}

impl BudgetSettings {
    /// The limits that apply to a session with its own limits.
    pub fn session_limits(&self, own: &SessionBudget) -> BudgetLimits {
        self.session.lower(own.limits())
    }

    /// Every limit that applies to a session, and how much of it is used.
    pub(super) fn statuses(&self, own: &SessionBudget, of_session: &Usage, of_day: &Usage) -> Vec<BudgetStatus> {
        let limits = self.session_limits(own);
        // An agent without any report has not worked yet.
        let worked = *of_session != Usage::default();
        let status = |scope: BudgetScope, figure: BudgetFigure| {
            let (limit, used) = match scope {
                BudgetScope::Session => (limits.of(figure)?, figure.of(of_session)),
                BudgetScope::Day => (self.day.of(figure)?, figure.of(of_day)),
            };
            let own = scope == BudgetScope::Session && self.session.of(figure).is_none_or(|common| limit < common);
            Some(BudgetStatus {
                scope,
                figure,
                limit,
                own,
                used,
                unreported: worked && figure.of(of_session).is_none(),
            })
        };
        let scopes = [BudgetScope::Session, BudgetScope::Day];
        scopes
            .into_iter()
            .flat_map(|scope| BudgetFigure::ALL.into_iter().filter_map(move |figure| status(scope, figure)))
            .collect()
    }

    /// Whether prompts are refused when this limit is reached.
    fn refuses_at(&self, status: &BudgetStatus, own: &SessionBudget) -> bool {
        self.refuse || (own.refuse && status.scope == BudgetScope::Session) || self.stops_at(status, own)
    }

    /// Whether the running turn is interrupted when this limit is reached.
    fn stops_at(&self, status: &BudgetStatus, own: &SessionBudget) -> bool {
        self.stop_turns || (own.stop_turns && status.scope == BudgetScope::Session)
    }

    /// Why the session may not begin another turn, if a limit forbids it.
    pub(super) fn refusal(&self, own: &SessionBudget, of_session: &Usage, of_day: &Usage) -> Option<String> {
        let reached = self.reached(own, of_session, of_day).into_iter().find(|status| self.refuses_at(status, own))?;
        Some(format!("{}, so further prompts are refused: {}", used(&reached), remedy(&reached)))
    }

    /// Why nothing more may be used today by anybody, if a limit forbids it.
    pub(super) fn day_refusal(&self, of_day: &Usage) -> Option<String> {
        let common = Self { session: BudgetLimits::default(), ..*self };
        let refused = common.refusal(&SessionBudget::default(), &Usage::default(), of_day)?;
        Some(format!("{}{}.", refused[..1].to_uppercase(), &refused[1..]))
    }

    /// Why the session's running turn may not go on, if a limit forbids it.
    pub(super) fn stop(&self, own: &SessionBudget, of_session: &Usage, of_day: &Usage) -> Option<String> {
        let reached = self.reached(own, of_session, of_day).into_iter().find(|status| self.stops_at(status, own))?;
        let name = name(&reached);
        Some(format!("The turn was stopped because of a budget. {} ({name}): {}.", used(&reached), remedy(&reached)))
    }

    fn reached(&self, own: &SessionBudget, of_session: &Usage, of_day: &Usage) -> Vec<BudgetStatus> {
        let mut statuses = self.statuses(own, of_session, of_day);
        statuses.retain(|status| status.level(self.warn_at) == Some(BudgetLevel::Reached));
        statuses
    }

    /// The notice when a limit reaches a level.
    pub(super) fn notice(&self, status: &BudgetStatus, level: BudgetLevel, own: &SessionBudget) -> String {
        let (refuses, stops) = (self.refuses_at(status, own), self.stops_at(status, own));
        let name = name(status);
        match level {
            BudgetLevel::Unknown => format!(
                "This agent does not report {} it uses, so the limit of {} ({name}) cannot be enforced in this session.",
                status.figure.how_much(),
                status.figure.amount(status.limit),
            ),
            BudgetLevel::Near if stops => {
                format!("{} ({name}). At the limit turns are stopped and further prompts are refused.", used(status))
            }
            BudgetLevel::Near if refuses => {
                format!("{} ({name}). At the limit further prompts are refused.", used(status))
            }
            BudgetLevel::Near => format!("{} ({name}).", used(status)),
            BudgetLevel::Reached if refuses => {
                format!("{} ({name}). Further prompts are refused: {}.", used(status), remedy(status))
            }
            BudgetLevel::Reached => {
                format!("{} ({name}). This is only a notice; set budget.refuse to enforce the limit.", used(status))
            }
        }
    }
}

fn name(status: &BudgetStatus) -> &'static str {
    if status.own { "the session's own budget" } else { status.figure.key(status.scope) }
}

fn used(status: &BudgetStatus) -> String {
    let who = match status.scope {
        BudgetScope::Session => "This session has used",
        BudgetScope::Day => "Today's sessions have used",
    };
    format!("{who} {}", status.figure.portion(status.used.unwrap_or_default(), status.limit))
}

fn remedy(status: &BudgetStatus) -> String {
    let key = status.figure.key(status.scope);
    match status.scope {
        BudgetScope::Session if status.own => {
            "raise the session's own budget (PATCH its `budget`), or start a new session".to_owned()
        }
        BudgetScope::Session => {
            format!("raise {key} (`flightdeck config set {key} …`) and restart the server, or start a new session")
        }
        BudgetScope::Day => {
            format!("raise {key} (`flightdeck config set {key} …`) and restart the server, or wait for midnight UTC")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(refuse: bool) -> BudgetSettings {
        let session = BudgetLimits { tokens: Some(100), ..BudgetLimits::default() };
        let day = BudgetLimits { cost_usd: Some(2.0), ..BudgetLimits::default() };
        BudgetSettings { session, day, warn_at: 0.8, refuse, stop_turns: false }
    }

    fn tokens(input_tokens: u64) -> Usage {
        Usage { input_tokens: Some(input_tokens), ..Usage::default() }
    }

    #[test]
    fn a_sessions_own_budget_wins_where_it_is_lower() {
        let settings = settings(false);
        for (own, expected, is_own) in [(None, 100.0, false), (Some(50), 50.0, true), (Some(500), 100.0, false)] {
            let own = SessionBudget { tokens: own, ..SessionBudget::default() };
            let statuses = settings.statuses(&own, &Usage::default(), &Usage::default());
            assert_eq!(statuses.len(), 2, "the other figures have no limit: {statuses:?}");
            assert!((statuses[0].limit - expected).abs() < f64::EPSILON, "{statuses:?}");
            assert_eq!(statuses[0].own, is_own);
        }
    }

    #[test]
    fn a_limit_that_stops_turns_refuses_prompts_too() {
        let (own, nothing) = (SessionBudget::default(), Usage::default());
        assert_eq!(settings(true).stop(&own, &tokens(120), &nothing), None, "refusing prompts stops no turn");
        let stopping = BudgetSettings { stop_turns: true, ..settings(false) };
        assert_eq!(stopping.stop(&own, &tokens(99), &nothing), None);
        let reason = stopping.stop(&own, &tokens(100), &nothing).expect("stopped");
        assert!(reason.contains("100 of 100 tokens (budget.session_tokens)"), "{reason}");
        assert!(stopping.refusal(&own, &tokens(100), &nothing).is_some());
        let own = SessionBudget { stop_turns: true, ..own };
        assert!(settings(false).stop(&own, &tokens(100), &nothing).is_some());
        let of_day = Usage { cost_usd: Some(3.0), ..Usage::default() };
        assert_eq!(settings(false).stop(&own, &tokens(1), &of_day), None, "a session's own budget is not the day's");
    }

    #[test]
    fn only_a_reached_limit_refuses_and_only_where_that_is_wanted() {
        let (own, nothing) = (SessionBudget::default(), Usage::default());
        assert_eq!(settings(true).refusal(&own, &tokens(99), &nothing), None);
        assert_eq!(settings(false).refusal(&own, &tokens(100), &nothing), None);
        let refusal = settings(true).refusal(&own, &tokens(120), &nothing).expect("refused");
        assert!(refusal.starts_with("This session has used 120 of 100 tokens"), "{refusal}");
        assert!(refusal.contains("budget.session_tokens"), "{refusal}");
        let strict = SessionBudget { refuse: true, ..own };
        assert!(settings(false).refusal(&strict, &tokens(100), &nothing).is_some(), "by its own wish");
        let spent = Usage { cost_usd: Some(2.5), ..Usage::default() };
        assert_eq!(settings(false).refusal(&strict, &nothing, &spent), None, "a session cannot close the day");
        let refusal = settings(true).refusal(&own, &nothing, &spent).expect("refused");
        assert!(refusal.contains("$2.50 of $2.00") && refusal.contains("midnight UTC"), "{refusal}");
    }

    #[test]
    fn an_agent_that_does_not_say_what_is_limited_is_named() {
        let settings = settings(true);
        let own = SessionBudget::default();
        let statuses = settings.statuses(&own, &tokens(1), &Usage::default());
        let levels: Vec<_> = statuses.iter().map(|status| status.level(settings.warn_at)).collect();
        assert_eq!(levels, [None, Some(BudgetLevel::Unknown)]);
        let notice = settings.notice(&statuses[1], BudgetLevel::Unknown, &own);
        assert!(
            notice.contains("does not report how much money") && notice.contains("budget.day_cost_usd"),
            "{notice}"
        );
    }
}
