//! Usage metrics for Prometheus, by runtime and model, with a limited number of series.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicU64;

use parking_lot::Mutex;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::registry::Registry;

use crate::model::{Usage, UsageTotal};

/// The most pairs of runtime and model that get series of their own, because clients can invent model names.
const MOST_PAIRS: usize = 64;
/// The model label of all other pairs.
const OTHERS: &str = "other";

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct UsageLabels {
    runtime: String,
    model: String,
}

/// The pairs that have series of their own. A pair keeps them as long as the server runs: a counter that moved into
/// another series would seem to decrease.
#[derive(Default)]
pub(super) struct UsageSeries(Mutex<BTreeSet<(String, String)>>);

impl UsageSeries {
    /// Built for each request from the store, so that the figures are all-time.
    pub fn registry(&self, figures: &[(String, String, UsageTotal)]) -> Registry {
        let mut registry = Registry::with_prefix("flightdeck_usage");
        let reports = Family::<UsageLabels, Counter>::default();
        let whole = [
            ("input_tokens", "Input tokens", (|usage| usage.input_tokens) as fn(&Usage) -> Option<u64>),
            ("output_tokens", "Output tokens", |usage| usage.output_tokens),
            ("cache_read_tokens", "Tokens read from a provider's cache", |usage| usage.cache_read),
            ("cache_creation_tokens", "Tokens written to a provider's cache", |usage| usage.cache_creation),
            ("model_calls", "Model calls", |usage| usage.num_turns),
        ]
        .map(|(name, help, figure)| (name, help, figure, Family::<UsageLabels, Counter>::default()));
        let parts = [
            ("premium_requests", "Premium requests", (|usage| usage.premium_requests) as fn(&Usage) -> Option<f64>),
            ("credits", "AI credits", |usage| usage.credits),
            ("cost_usd", "Money, in US dollars", |usage| usage.cost_usd),
        ]
        .map(|(name, help, figure)| (name, help, figure, Family::<UsageLabels, Counter<f64, AtomicU64>>::default()));
        for (runtime, model, total) in figures {
            let labels = self.labels(runtime, model);
            reports.get_or_create(&labels).inc_by(total.reports);
            // A figure that no agent reported has no series, because 0 would be wrong.
            for (_, _, figure, family) in &whole {
                if let Some(amount) = figure(&total.usage) {
                    family.get_or_create(&labels).inc_by(amount);
                }
            }
            for (_, _, figure, family) in &parts {
                if let Some(amount) = figure(&total.usage) {
                    family.get_or_create(&labels).inc_by(amount);
                }
            }
        }
        registry.register("reports", "Usage reports by agents", reports);
        for (name, help, _, family) in whole {
            registry.register(name, help, family);
        }
        for (name, help, _, family) in parts {
            registry.register(name, help, family);
        }
        registry
    }

    fn labels(&self, runtime: &str, model: &str) -> UsageLabels {
        let mut known = self.0.lock();
        let pair = (runtime.to_owned(), model.to_owned());
        if known.contains(&pair) || known.len() < MOST_PAIRS {
            known.insert(pair);
            return UsageLabels { runtime: runtime.to_owned(), model: model.to_owned() };
        }
        // Only configured runtimes get series; an old name does not.
        let is_known = known.iter().any(|(known, _)| known == runtime);
        let runtime = if is_known { runtime } else { OTHERS };
        UsageLabels { runtime: runtime.to_owned(), model: OTHERS.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use prometheus_client::encoding::text::encode_registry;

    use super::*;

    fn text(series: &UsageSeries, figures: &[(String, String, UsageTotal)]) -> String {
        let mut text = String::new();
        encode_registry(&mut text, &series.registry(figures)).expect("a string takes everything");
        text
    }

    fn figures(model: &str, usage: Usage) -> (String, String, UsageTotal) {
        ("demo".to_owned(), model.to_owned(), UsageTotal { reports: 1, usage, ..UsageTotal::default() })
    }

    #[test]
    fn an_unreported_figure_has_no_series() {
        let usage = Usage { input_tokens: Some(7), cost_usd: Some(0.5), ..Usage::default() };
        let text = text(&UsageSeries::default(), &[figures("m", usage)]);
        let has = |line: &str| text.lines().any(|one| one == line);
        assert!(has(r#"flightdeck_usage_input_tokens_total{runtime="demo",model="m"} 7"#), "{text}");
        assert!(has(r#"flightdeck_usage_cost_usd_total{runtime="demo",model="m"} 0.5"#), "{text}");
        assert!(!text.contains("output_tokens_total{") && !text.contains("premium_requests_total{"), "{text}");
    }

    #[test]
    fn however_many_models_there_are_the_series_stay_few_and_keep_their_figures() {
        let series = UsageSeries::default();
        let tokens = |model: &str| figures(model, Usage { input_tokens: Some(1), ..Usage::default() });
        let first: Vec<_> = (0..10).map(|number| tokens(&format!("first-{number}"))).collect();
        text(&series, &first);
        let all: Vec<_> = (0..500).map(|number| tokens(&format!("another-{number}"))).chain(first).collect();
        let text = text(&series, &all);
        let lines: Vec<&str> = text.lines().filter(|line| line.starts_with("flightdeck_usage_input")).collect();
        assert_eq!(lines.len(), MOST_PAIRS + 1);
        assert!(lines.contains(&r#"flightdeck_usage_input_tokens_total{runtime="demo",model="first-9"} 1"#), "{text}");
        let others = 510 - MOST_PAIRS;
        let expected = format!(r#"flightdeck_usage_input_tokens_total{{runtime="demo",model="other"}} {others}"#);
        assert!(lines.contains(&expected.as_str()), "{text}");
    }
}
