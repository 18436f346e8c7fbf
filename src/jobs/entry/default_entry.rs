//! The entry that ships with the program.

/// Its text.
pub const DEFAULT_ENTRY: &str = include_str!("default_entry.json");

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::jobs::chart::{ChartHint, chart};
    use crate::jobs::entry::schema::entry_schema;
    use crate::jobs::entry::{CheckedEntry, OnInterrupted, read_entry};

    fn checked() -> CheckedEntry {
        read_entry(DEFAULT_ENTRY).expect("a valid entry")
    }

    #[test]
    fn it_is_valid_without_warnings() {
        assert_eq!(checked().warnings(), []);
        let json = serde_json::from_str(DEFAULT_ENTRY).expect("JSON");
        let errors: Vec<_> = entry_schema().validator.iter_errors(&json).map(|error| error.to_string()).collect();
        assert_eq!(errors, Vec::<String>::new());
    }

    #[test]
    fn every_task_and_every_job_is_used() {
        let checked = checked();
        let jobs = &checked.entry().jobs;
        let plans = jobs.keys().map(|name| checked.plan(name).expect("a plan"));
        let used: std::collections::BTreeSet<_> = plans.flat_map(|plan| plan.tasks.into_keys()).collect();
        assert_eq!(used.iter().collect::<Vec<_>>(), checked.tasks().keys().collect::<Vec<_>>());
        let in_grid = checked.entry().grid.iter().flat_map(|row| row.jobs.iter().flatten()).map(|cell| &cell.job_name);
        assert_eq!(in_grid.collect::<std::collections::BTreeSet<_>>(), jobs.keys().collect());
    }

    #[test]
    fn a_feature_is_approved_checked_reviewed_and_committed() {
        let plan = checked().plan("feature").expect("a plan");
        assert!(plan.requires_user_input());
        let hints: Vec<_> = chart(&plan.job.work).into_iter().map(|node| node.hint).collect();
        let expected = [
            ChartHint::TaskNode(0),
            ChartHint::GateNode(1),
            ChartHint::TaskNode(2),
            ChartHint::TaskNode(3),
            ChartHint::TaskNode(4),
            ChartHint::ParBegin,
            ChartHint::TaskNode(6),
            ChartHint::TaskNode(7),
            ChartHint::TaskNode(8),
            ChartHint::ParEnd,
            ChartHint::CondNode(5),
            ChartHint::LoopEnd,
            ChartHint::TaskNode(9),
            ChartHint::TaskNode(10),
            ChartHint::TaskNode(11),
        ];
        assert_eq!(hints, expected);
        assert_eq!(plan.tasks["commit"].on_interrupted, Some(OnInterrupted::Ask));
    }

    #[test]
    fn nothing_is_allowed_that_a_rule_does_not_narrow() {
        for (name, task) in checked().tasks() {
            let permissions = task.permissions.clone().unwrap_or_default();
            assert_eq!(permissions.mode, None, "{name}");
            let wide = permissions.rules.iter().filter(|rule| rule.decision == crate::model::RuleDecision::Allow);
            assert!(wide.clone().all(|rule| rule.prefix.as_ref().is_some_and(|prefix| prefix.contains(' '))), "{name}");
            assert!(task.timeout.is_some(), "{name}");
        }
    }

    /// Runs the check of a task in a folder, with `programs` in front of everything else.
    #[cfg(unix)]
    fn succeeds(task: &str, folder: &Path, programs: &Path) -> bool {
        let criteria = checked().tasks()[task].criteria.clone().expect("criteria");
        let run = criteria.command.expect("a command").run;
        let path = format!("{}:/usr/bin:/bin", programs.display());
        let mut command = std::process::Command::new(&run[0]);
        let output = command.args(&run[1..]).current_dir(folder).env("PATH", path).output().expect("it runs");
        output.status.success()
    }

    #[cfg(unix)]
    fn program(folder: &Path, name: &str, script: &str) {
        use std::os::unix::fs::PermissionsExt;
        let path = folder.join(name);
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("written");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("made executable");
    }

    #[cfg(unix)]
    #[test]
    fn the_build_check_runs_what_the_repository_has() {
        let without = tempfile::tempdir().expect("a folder");
        let programs = tempfile::tempdir().expect("a folder");
        assert!(succeeds("build-and-test", without.path(), programs.path()), "nothing to build");
        for (file, text, name) in [
            ("Cargo.toml", "", "cargo"),
            ("go.mod", "", "go"),
            ("package.json", "{}", "npm"),
            ("pyproject.toml", "", "python3"),
            ("Makefile", "check:\n", "make"),
            ("Makefile", "test:\n", "make"),
        ] {
            let repository = tempfile::tempdir().expect("a folder");
            std::fs::write(repository.path().join(file), text).expect("written");
            let run = |script: &str| {
                program(programs.path(), name, script);
                succeeds("build-and-test", repository.path(), programs.path())
            };
            assert!(run("exit 0"), "{file}");
            // The import of pytest succeeds, the tests do not.
            assert!(!run("[ \"$1\" = -c ]"), "{file}");
        }
        let none_specified = tempfile::tempdir().expect("a folder");
        let package = r#"{ "scripts": { "test": "echo \"Error: no test specified\" && exit 1" } }"#;
        std::fs::write(none_specified.path().join("package.json"), package).expect("written");
        assert!(succeeds("build-and-test", none_specified.path(), programs.path()), "what npm init writes");
    }

    #[cfg(unix)]
    #[test]
    fn pytest_without_tests_is_no_failure() {
        let [repository, programs] = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
        std::fs::write(repository.path().join("setup.py"), "").expect("written");
        for (script, expected) in
            [("[ \"$1\" = -c ] || exit 5", true), ("[ \"$1\" = -c ] || exit 2", false), ("exit 1", true)]
        {
            program(programs.path(), "python3", script);
            assert_eq!(succeeds("build-and-test", repository.path(), programs.path()), expected, "{script}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn checks_of_documents_look_at_the_files() {
        for (task, file) in [
            ("plan", "plan.md"),
            ("revise-plan", "plan.md"),
            ("review-correctness", "review-correctness.md"),
            ("review-tests", "review-tests.md"),
            ("review-simplicity", "review-simplicity.md"),
            ("summarize-review", "review.md"),
            ("final-review", "review.md"),
        ] {
            let folder = tempfile::tempdir().expect("a folder");
            let succeeds = || succeeds(task, folder.path(), folder.path());
            assert!(!succeeds(), "{task}: missing");
            std::fs::create_dir(folder.path().join(".flightdeck")).expect("a folder");
            let path = folder.path().join(".flightdeck").join(file);
            std::fs::write(&path, "").expect("written");
            assert!(!succeeds(), "{task}: empty");
            std::fs::write(&path, "text").expect("written");
            assert!(succeeds(), "{task}: written");
            let old = std::time::SystemTime::UNIX_EPOCH;
            std::fs::File::options().write(true).open(&path).expect("opened").set_modified(old).expect("made old");
            assert!(!succeeds(), "{task}: old");
        }
    }

    #[cfg(unix)]
    #[test]
    fn checks_of_changes_ask_git() {
        let folder = tempfile::tempdir().expect("a folder");
        let git = std::process::Command::new("git").args(["init", "-q"]).current_dir(folder.path()).status();
        assert!(git.expect("git runs").success());
        let changed =
            || (succeeds("implement", folder.path(), folder.path()), succeeds("commit", folder.path(), folder.path()));
        assert_eq!(changed(), (false, true));
        std::fs::create_dir(folder.path().join(".flightdeck")).expect("a folder");
        std::fs::write(folder.path().join(".flightdeck/plan.md"), "plan").expect("written");
        assert_eq!(changed(), (false, true), "documents of jobs do not count");
        std::fs::write(folder.path().join("code"), "code").expect("written");
        assert_eq!(changed(), (true, false));
    }
}
