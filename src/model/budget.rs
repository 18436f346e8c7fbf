//! Limits on usage, and how much of them a session or a day has used.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Day, Usage};

/// What can be limited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BudgetFigure {
    /// Premium requests, as GitHub counts them.
    PremiumRequests,
    /// AI credits, as GitHub Copilot counts them.
    Credits,
    /// Tokens, read and written together.
    Tokens,
    /// Money, in US dollars.
    CostUsd,
}

/// Whose use is limited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BudgetScope {
    /// One session's, over all its days.
    Session,
    /// All sessions' of one day of UTC.
    Day,
}

impl BudgetFigure {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::PremiumRequests, Self::Credits, Self::Tokens, Self::CostUsd];

    /// The key of the configuration.
    pub fn key(self, scope: BudgetScope) -> &'static str {
        match (scope, self) {
            (BudgetScope::Session, Self::PremiumRequests) => "budget.session_premium_requests",
            (BudgetScope::Session, Self::Credits) => "budget.session_credits",
            (BudgetScope::Session, Self::Tokens) => "budget.session_tokens",
            (BudgetScope::Session, Self::CostUsd) => "budget.session_cost_usd",
            (BudgetScope::Day, Self::PremiumRequests) => "budget.day_premium_requests",
            (BudgetScope::Day, Self::Credits) => "budget.day_credits",
            (BudgetScope::Day, Self::Tokens) => "budget.day_tokens",
            (BudgetScope::Day, Self::CostUsd) => "budget.day_cost_usd",
        }
    }

    /// How much of it was used, as far as reported.
    #[expect(clippy::cast_precision_loss, reason = "nobody limits tokens to more than 53 bits")]
    pub fn of(self, usage: &Usage) -> Option<f64> {
        match self {
            Self::PremiumRequests => usage.premium_requests,
            Self::Credits => usage.credits,
            Self::Tokens => usage.tokens().map(|tokens| tokens as f64),
            Self::CostUsd => usage.cost_usd,
        }
    }

    /// An amount with its unit, for people.
    pub fn amount(self, amount: f64) -> String {
        match self {
            Self::PremiumRequests if (amount - 1.0).abs() < f64::EPSILON => "1 premium request".to_owned(),
            Self::PremiumRequests => format!("{} premium requests", (amount * 100.0).round() / 100.0),
            Self::Credits if (amount - 1.0).abs() < f64::EPSILON => "1 credit".to_owned(),
            Self::Credits => format!("{} credits", (amount * 1000.0).round() / 1000.0),
            Self::Tokens => format!("{} tokens", with_commas(amount)),
            Self::CostUsd if amount >= 0.01 || amount <= 0.0 => format!("${amount:.2}"),
            Self::CostUsd => format!("${amount}"),
        }
    }

    /// How much of how much, for people.
    pub fn portion(self, used: f64, limit: f64) -> String {
        let of = self.amount(limit);
        match self.amount(used).split_once(' ') {
            Some((number, _)) => format!("{number} of {of}"),
            None => format!("{} of {of}", self.amount(used)),
        }
    }

    /// As in "it does not report how much".
    pub fn how_much(self) -> &'static str {
        match self {
            Self::PremiumRequests => "how many premium requests",
            Self::Credits => "how many credits",
            Self::Tokens => "how many tokens",
            Self::CostUsd => "how much money",
        }
    }

    /// What it is, for people.
    pub fn noun(self) -> &'static str {
        match self {
            Self::PremiumRequests => "premium requests",
            Self::Credits => "credits",
            Self::Tokens => "tokens",
            Self::CostUsd => "money",
        }
    }
}

fn with_commas(amount: f64) -> String {
    let digits = format!("{amount:.0}");
    let mut text = String::new();
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Upper limits; `None` for no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BudgetLimits {
    /// Premium requests.
    pub premium_requests: Option<f64>,
    /// AI credits.
    pub credits: Option<f64>,
    /// Tokens, read and written together.
    pub tokens: Option<u64>,
    /// US dollars.
    pub cost_usd: Option<f64>,
}

impl BudgetLimits {
    /// The limit of a figure.
    #[expect(clippy::cast_precision_loss, reason = "nobody limits tokens to more than 53 bits")]
    pub fn of(&self, figure: BudgetFigure) -> Option<f64> {
        match figure {
            BudgetFigure::PremiumRequests => self.premium_requests,
            BudgetFigure::Credits => self.credits,
            BudgetFigure::Tokens => self.tokens.map(|tokens| tokens as f64),
            BudgetFigure::CostUsd => self.cost_usd,
        }
    }

    /// The lower limit of each figure.
    #[must_use]
    pub fn lower(self, other: Self) -> Self {
        fn lower<T: PartialOrd>(one: Option<T>, other: Option<T>) -> Option<T> {
            match (one, other) {
                (Some(one), Some(other)) => Some(if other < one { other } else { one }),
                (one, other) => one.or(other),
            }
        }
        Self {
            premium_requests: lower(self.premium_requests, other.premium_requests),
            credits: lower(self.credits, other.credits),
            tokens: lower(self.tokens, other.tokens),
            cost_usd: lower(self.cost_usd, other.cost_usd),
        }
    }
}

/// A session's own limits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct SessionBudget {
    /// Premium requests.
    pub premium_requests: Option<f64>,
    /// AI credits.
    pub credits: Option<f64>,
    /// Tokens, read and written together.
    pub tokens: Option<u64>,
    /// US dollars.
    pub cost_usd: Option<f64>,
    /// Prompts are refused once a limit of this session is reached, whatever the configuration says.
    pub refuse: bool,
    /// The running turn is interrupted when a limit of this session is reached, whatever the configuration says.
    pub stop_turns: bool,
}

impl SessionBudget {
    /// The limits alone.
    pub fn limits(&self) -> BudgetLimits {
        let Self { premium_requests, credits, tokens, cost_usd, refuse: _, stop_turns: _ } = *self;
        BudgetLimits { premium_requests, credits, tokens, cost_usd }
    }

    /// What is wrong with it, for users.
    pub fn problem(&self) -> Option<String> {
        let limits = self.limits();
        BudgetFigure::ALL.into_iter().find_map(|figure| {
            let limit = limits.of(figure)?;
            let fits = limit.is_finite() && limit > 0.0;
            (!fits).then(|| format!("invalid limit of {limit} {}: it must be above 0", figure.noun()))
        })
    }
}

/// How close to a limit the usage is, as far as a person should know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BudgetLevel {
    /// The agent does not report its usage, so the limit cannot be checked.
    Unknown,
    /// Close to the limit.
    Near,
    /// At the limit or beyond.
    Reached,
}

/// One limit and what was used of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BudgetStatus {
    /// Whose use it is.
    pub scope: BudgetScope,
    /// What is limited.
    pub figure: BudgetFigure,
    /// The limit itself.
    pub limit: f64,
    /// Whether it is the session's own limit.
    pub own: bool,
    /// How much was used, as far as reported.
    pub used: Option<f64>,
    /// The session's agent has worked and has never reported this figure.
    pub unreported: bool,
}

impl BudgetStatus {
    /// The level to report; `warn_at` is the fraction of the limit from which usage counts as near it.
    pub fn level(&self, warn_at: f64) -> Option<BudgetLevel> {
        match self.used {
            Some(used) if used >= self.limit => Some(BudgetLevel::Reached),
            Some(used) if used >= self.limit * warn_at => Some(BudgetLevel::Near),
            _ if self.unreported => Some(BudgetLevel::Unknown),
            _ => None,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Notified {
    level: BudgetLevel,
    limit: f64,
    /// For a limit of a day.
    #[serde(default)]
    day: Option<String>,
}

/// Which limits a session has been notified of: each level of each limit once, also across restarts. Another day, or
/// another limit, is announced again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BudgetNotices(BTreeMap<String, Notified>);

impl BudgetNotices {
    /// Records a notification. Returns whether it is new.
    pub fn note(&mut self, status: &BudgetStatus, level: BudgetLevel, day: Day) -> bool {
        let key = status.figure.key(status.scope);
        let day = (status.scope == BudgetScope::Day).then(|| day.to_string());
        let known = self.0.get(key).is_some_and(|notified| {
            // A changed limit is no reason to repeat that it cannot be checked.
            let same_limit = level == BudgetLevel::Unknown || (notified.limit - status.limit).abs() < f64::EPSILON;
            let same_day = level == BudgetLevel::Unknown || notified.day == day;
            same_limit && same_day && notified.level >= level
        });
        if !known {
            self.0.insert(key.to_owned(), Notified { level, limit: status.limit, day });
        }
        !known
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKENS: BudgetStatus = BudgetStatus {
        scope: BudgetScope::Day,
        figure: BudgetFigure::Tokens,
        limit: 1000.0,
        own: false,
        used: None,
        unreported: false,
    };

    fn day(text: &str) -> Day {
        text.parse().expect("a day")
    }

    #[test]
    fn the_lower_of_two_limits_counts_and_none_is_no_limit() {
        let one = BudgetLimits { premium_requests: Some(5.0), tokens: Some(10), ..BudgetLimits::default() };
        let other =
            BudgetLimits { premium_requests: Some(7.0), credits: Some(0.5), tokens: Some(9), cost_usd: Some(1.0) };
        let both = BudgetLimits { premium_requests: Some(5.0), ..other };
        assert_eq!((one.lower(other), other.lower(one)), (both, both));
    }

    #[test]
    fn a_limit_is_near_then_reached_and_unknown_only_when_nobody_says() {
        let level = |used, unreported| BudgetStatus { used, unreported, ..TOKENS }.level(0.8);
        assert_eq!(level(None, false), None);
        assert_eq!(level(None, true), Some(BudgetLevel::Unknown));
        assert_eq!(level(Some(799.0), false), None);
        assert_eq!(level(Some(800.0), false), Some(BudgetLevel::Near));
        assert_eq!(level(Some(1000.0), true), Some(BudgetLevel::Reached), "others of the day have used it");
    }

    #[test]
    fn each_level_is_news_once_for_a_limit_and_a_day() {
        let mut news = BudgetNotices::default();
        let (monday, tuesday) = (day("2026-03-02"), day("2026-03-03"));
        assert!(news.note(&TOKENS, BudgetLevel::Near, monday));
        assert!(!news.note(&TOKENS, BudgetLevel::Near, monday));
        assert!(news.note(&TOKENS, BudgetLevel::Reached, monday));
        let written = serde_json::to_string(&news).expect("written");
        let mut news: BudgetNotices = serde_json::from_str(&written).expect("read back");
        assert!(!news.note(&TOKENS, BudgetLevel::Reached, monday), "also after a restart");
        assert!(!news.note(&TOKENS, BudgetLevel::Near, monday), "the lesser news is old");
        assert!(news.note(&BudgetStatus { limit: 2000.0, ..TOKENS }, BudgetLevel::Near, monday), "another limit");
        assert!(news.note(&TOKENS, BudgetLevel::Near, tuesday), "another day");
        let session = BudgetStatus { scope: BudgetScope::Session, ..TOKENS };
        assert!(news.note(&session, BudgetLevel::Near, monday));
        assert!(!news.note(&session, BudgetLevel::Near, tuesday), "a session's limit knows no days");
    }

    #[test]
    fn amounts_are_written_for_people() {
        assert_eq!(BudgetFigure::Tokens.amount(1_234_567.0), "1,234,567 tokens");
        assert_eq!(BudgetFigure::Tokens.amount(12.0), "12 tokens");
        assert_eq!(BudgetFigure::CostUsd.amount(0.5), "$0.50");
        assert_eq!(BudgetFigure::CostUsd.amount(0.0025), "$0.0025");
        assert_eq!(BudgetFigure::PremiumRequests.amount(0.333_333), "0.33 premium requests");
        assert_eq!(BudgetFigure::PremiumRequests.amount(1.0), "1 premium request");
        assert_eq!(BudgetFigure::Credits.amount(1.0), "1 credit");
        assert_eq!(BudgetFigure::Credits.portion(0.012_34, 2.5), "0.012 of 2.5 credits");
        assert_eq!(BudgetFigure::Tokens.portion(1200.0, 1000.0), "1,200 of 1,000 tokens");
        assert_eq!(BudgetFigure::CostUsd.portion(0.5, 2.0), "$0.50 of $2.00");
    }

    #[test]
    fn a_limit_of_nothing_is_a_mistake() {
        for wrong in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let budget = SessionBudget { cost_usd: Some(wrong), ..SessionBudget::default() };
            assert!(budget.problem().is_some_and(|problem| problem.contains("money")), "{wrong}");
        }
        assert_eq!(SessionBudget { tokens: Some(1), ..SessionBudget::default() }.problem(), None);
    }
}
