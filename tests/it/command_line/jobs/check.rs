//! `jobs check` and `jobs trust`.

use serde_json::{Value, json};

use super::{check_failed, entry, jobs, json_of, server};
use crate::support::Server;

#[tokio::test]
async fn every_problem_is_printed_with_its_path_without_a_server() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut broken = entry();
    broken["tasks"]["say"]["requireUserInput"] = json!(false);
    broken["jobs"]["hello"]["work"]["taskId"] = json!("nobody");
    broken["grid"][0]["jobs"][0]["jobName"] = json!("nothing");
    std::fs::write(folder.path().join("mine.json"), broken.to_string()).expect("written");
    let run = async |arguments: &[&str]| Server::builder().run(folder.path(), arguments).await;

    let ended = run(&["jobs", "check", "mine.json"]).await;
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(1), ""));
    let lines: Vec<&str> = ended.stdout.lines().collect();
    let file = folder.path().join("mine.json");
    assert_eq!(
        lines,
        [
            "error: entry.grid[0].jobs[0].jobName: \"nothing\" is not a valid job name.",
            "error: entry.tasks[\"say\"].requireUserInput: Prompt should not use $user-input when requireUserInput is false.",
            "error: entry.jobs[\"hello\"].work.taskId: \"nobody\" is not a valid task name.",
            &format!("{}: 3 errors", file.display()),
        ]
    );
    let json = run(&["jobs", "check", "mine.json", "--json"]).await;
    assert_eq!(json.code, Some(1));
    let report = json_of(&json);
    assert_eq!((&report["valid"], report["problems"].as_array().map(Vec::len)), (&json!(false), Some(3)));
    assert_eq!(report["problems"][0]["path"], "entry.grid[0].jobs[0].jobName");

    let missing = run(&["jobs", "check", "none.json"]).await;
    assert_eq!(missing.code, Some(1));
    assert!(missing.stdout.contains("none.json: Cannot be read: "), "{}", missing.stdout);
    assert!(!folder.path().join("data").exists(), "asking makes nothing");
}

#[tokio::test]
async fn without_a_file_the_entry_of_the_folder_is_checked() {
    let folder = tempfile::tempdir().expect("a folder");
    let builder = Server::builder().config("[jobs]\nentry = \"jobs.json\"\n");
    let shipped = Server::builder().run(folder.path(), &["jobs", "check"]).await;
    assert_eq!(shipped.code, Some(0));
    assert!(shipped.stdout.starts_with("the jobs that come with Flightdeck: valid, "), "{}", shipped.stdout);

    std::fs::write(folder.path().join("jobs.json"), entry().to_string()).expect("written");
    let configured = builder.run(folder.path(), &["jobs", "check", "--json"]).await;
    assert_eq!((configured.code, &json_of(&configured)["source"]), (Some(0), &json!("configuration")));

    std::fs::create_dir_all(folder.path().join("work/.flightdeck")).expect("a folder");
    std::fs::write(folder.path().join("work/.flightdeck/jobs.json"), "{").expect("written");
    let own = builder.run(folder.path(), &["jobs", "check", "-C", "work"]).await;
    assert_eq!(own.code, Some(1));
    assert!(own.stdout.starts_with("error: entry: Invalid JSON at line 1, column 1"), "{}", own.stdout);

    let nowhere = builder.run(folder.path(), &["jobs", "check", "-C", "nowhere"]).await;
    check_failed(&nowhere, 1, &["cannot use the folder", "nowhere"]);
}

#[tokio::test]
async fn a_folders_jobs_can_be_started_once_they_are_trusted() {
    let server = server().await;
    let mut own = entry();
    own["jobs"] = json!({ "local": { "work": { "kind": "Ref", "taskId": "fixable" } } });
    own["grid"] = json!([]);
    own["tasks"]["fixable"]["permissions"] =
        json!({ "rules": [{ "tool": "shell", "decision": "allow", "prefix": "git diff" }] });
    std::fs::create_dir(server.work().join(".flightdeck")).expect("a folder");
    let file = server.work().join(".flightdeck/jobs.json");
    std::fs::write(&file, own.to_string()).expect("written");

    check_failed(&jobs(&server, &["run", "local"]).await, 2, &["not trusted yet", "flightdeck jobs trust"]);
    let listed = jobs(&server, &["list"]).await;
    assert!(listed.stdout.contains("gated") && !listed.stdout.contains("local"), "{}", listed.stdout);
    assert!(listed.stderr.contains("flightdeck jobs trust"), "{}", listed.stderr);
    let checked = jobs(&server, &["check"]).await;
    assert_eq!(checked.code, Some(0));
    assert!(checked.stdout.contains("You do not trust this file yet"), "{}", checked.stdout);

    let asked = jobs(&server, &["trust"]).await;
    let file = file.canonicalize().expect("a path");
    let words =
        [file.to_str().expect("UTF-8"), "runs: test -e fixed", "commands that begin with `git diff`", "--hash "];
    check_failed(&asked, 1, &words);
    let hash = asked.stderr.split("SHA-256: ").nth(1).and_then(|rest| rest.lines().next()).expect("a hash").to_owned();
    check_failed(&jobs(&server, &["trust", "--hash", "0123"]).await, 1, &["does not have the hash 0123"]);
    let trusted = jobs(&server, &["trust", "--hash", &hash, "--json"]).await;
    assert_eq!(json_of(&trusted), json!({ "path": file, "hash": hash, "trusted": true }));
    assert!(jobs(&server, &["trust"]).await.stdout.contains("already trusted"));
    assert!(jobs(&server, &["check"]).await.stdout.contains("You trust this file"));
    let listed = json_of(&jobs(&server, &["list", "--json"]).await);
    assert_eq!(listed["entry"]["source"], "folder");
    let names: Vec<&Value> =
        listed["available"].as_array().expect("a list").iter().map(|job| &job["jobName"]).collect();
    assert_eq!(names, ["local"]);
    assert_eq!(jobs(&server, &["run", "local"]).await.code, Some(1), "it runs, and its command fails");

    std::fs::write(&file, own.to_string() + "\n").expect("written");
    check_failed(&jobs(&server, &["run", "local"]).await, 2, &["not trusted yet"]);
    assert!(jobs(&server, &["trust", "--yes"]).await.stdout.starts_with("Trusted "));
}

#[tokio::test]
async fn there_is_nothing_to_trust_without_a_file_or_in_one_with_errors() {
    let server = server().await;
    check_failed(&jobs(&server, &["trust", "--yes"]).await, 1, &["nothing to trust"]);
    std::fs::create_dir(server.work().join(".flightdeck")).expect("a folder");
    std::fs::write(server.work().join(".flightdeck/jobs.json"), "{}").expect("written");
    check_failed(&jobs(&server, &["trust", "--yes"]).await, 1, &["has errors", "flightdeck jobs check"]);
    assert!(jobs(&server, &["list"]).await.stderr.contains("flightdeck jobs check"));
}
