//! The last result of the conformance checks. `doctor` shows it and does not run the checks.

use crate::agent::{ConformanceReport, ConformanceResults, Runtime};
use crate::model::Check;

/// `None` if the agent cannot be used for capture.
pub(super) async fn check(runtime: &dyn Runtime, results: &ConformanceResults) -> Option<Check> {
    if !runtime.has_conformance_checks() {
        return None;
    }
    let name = format!("{}: conformance", runtime.name());
    let version = runtime.version().await;
    let last = match &version {
        Some(version) => results.of_version(runtime.name(), version),
        // A program that does not say its version: the newest result is probably its own.
        None => results.newest().map(|all| all.into_iter().find(|report| report.runtime == runtime.name())),
    };
    Some(match last {
        Err(problem) => Check::warning(name, problem, "until then, capture is off"),
        Ok(Some(report)) => of_report(name, &report),
        Ok(None) => {
            let version = version.as_deref().unwrap_or("this version");
            let command = format!("run `flightdeck conformance --runtime {}`", runtime.name());
            Check::info(name, format!("never run for {version}"), command)
        }
    })
}

fn of_report(name: String, report: &ConformanceReport) -> Check {
    let (version, at) = (&report.version, report.at);
    let failed: Vec<&str> = report.failures().map(|check| check.id.as_str()).collect();
    if failed.is_empty() {
        return Check::ok(name, format!("all {} checks passed for {version} on {at}", report.checks.len()));
    }
    let message = format!("{version} failed {} on {at}", failed.join(", "));
    let off: Vec<String> = report.switched_off().iter().map(|capability| format!("`{capability}`")).collect();
    if off.is_empty() {
        let hint = "nothing is disabled; docs/upgrading-agents.md says what the failed checks mean";
        return Check::info(name, message, hint);
    }
    let hint = format!(
        "capture mode {} is off for this version; install another one, then run `flightdeck conformance` \
         (docs/upgrading-agents.md)",
        off.join(" and ")
    );
    Check::warning(name, message, hint)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::{Area, AssumptionResult, Capability};
    use crate::model::{CheckVerdict, Timestamp};

    fn report(failed: &[(&str, &[Capability])]) -> ConformanceReport {
        let check = |(id, capabilities): &(&str, &[Capability])| AssumptionResult {
            id: (*id).to_owned(),
            area: Area::Hold,
            assumption: String::new(),
            why: String::new(),
            capabilities: capabilities.to_vec(),
            passed: false,
            seen: String::new(),
        };
        ConformanceReport {
            runtime: "copilot".to_owned(),
            program: String::new(),
            version: "1.0.0".to_owned(),
            at: Timestamp::from_millis(0),
            milliseconds: 0,
            checks: failed.iter().map(check).collect(),
        }
    }

    #[test]
    fn only_a_failure_that_switches_something_off_is_a_warning() {
        let verdict = |failed| of_report("copilot: conformance".to_owned(), &report(failed));
        assert_eq!(verdict(&[]).verdict, CheckVerdict::Ok);
        assert_eq!(verdict(&[("vocabulary.schema", &[])]).verdict, CheckVerdict::Info);
        let check = verdict(&[("hold.waits", &[Capability::Hold])]);
        assert_eq!(check.verdict, CheckVerdict::Warning);
        assert!(check.message.contains("1.0.0 failed hold.waits"), "{check:?}");
        assert!(check.hint.as_deref().is_some_and(|hint| hint.contains("`hold` is off")), "{check:?}");
    }
}
