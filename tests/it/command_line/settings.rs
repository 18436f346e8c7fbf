//! Settings: where each came from, and mistakes that are told.

use serde_json::{Value, json};

use crate::support::{Server, ServerBuilder};

fn layered() -> ServerBuilder {
    let config = "[server]\nport = 4321\n\n[limits]\nsessions = 7\nprompt_bytes = 1000";
    Server::builder().config(config).variable("FLIGHTDECK_LIMITS_SESSIONS", "8")
}

#[tokio::test]
async fn config_shows_every_value_and_where_it_came_from() {
    let folder = tempfile::tempdir().expect("a folder");
    let ended = layered().run(folder.path(), &["config"]).await;
    assert!(ended.success, "{}", ended.stderr);
    let line = |key: &str| {
        let prefix = format!("{key} = ");
        ended.stdout.lines().find(|line| line.starts_with(&prefix)).unwrap_or_else(|| panic!("{key}: {}", ended.stdout))
    };
    let check = |key: &str, value: &str, origin: &str| {
        let (setting, comment) = line(key).split_once("  # ").expect("an origin");
        assert_eq!(setting.trim_end(), format!("{key} = {value}"));
        assert!(comment.ends_with(origin), "{comment}");
    };
    check("server.port", "4321", "flightdeck.toml");
    check("limits.sessions", "8", "FLIGHTDECK_LIMITS_SESSIONS");
    check("limits.prompt_bytes", "1000", "flightdeck.toml");
    check("server.auth", "\"token\"", "default");
    check("retention.max_age", "\"\"", "default");
    assert!(line("data_dir").contains("--data-dir"));
    assert!(!folder.path().join("data").exists(), "looking makes nothing");
}

#[tokio::test]
async fn config_in_json_shows_the_same_to_programs() {
    let folder = tempfile::tempdir().expect("a folder");
    let ended = layered().run(folder.path(), &["config", "--json"]).await;
    let shown: Value = serde_json::from_str(&ended.stdout).expect("JSON");
    let setting = |key: &str| shown["settings"][key].clone();
    assert_eq!(setting("limits.sessions"), json!({ "value": 8, "origin": "FLIGHTDECK_LIMITS_SESSIONS" }));
    assert_eq!(setting("server.auth"), json!({ "value": "token", "origin": "default" }));
    assert_eq!(setting("server.port")["value"], 4321);
    assert!(setting("server.port")["origin"].as_str().is_some_and(|origin| origin.ends_with("flightdeck.toml")));
    assert_eq!(shown["dataFolder"], json!(folder.path().join("data")));
    assert!(shown["userFile"].as_str().is_some_and(|file| file.ends_with("flightdeck.toml")));
}

/// Every command that reads the settings refuses them and says all of this.
async fn check_refused(builder: ServerBuilder, words: &[&str]) {
    let folder = tempfile::tempdir().expect("a folder");
    for arguments in [&["--port", "0"][..], &["serve"], &["config"], &["stop"], &["open", "--print"]] {
        let ended = builder.run(folder.path(), arguments).await;
        assert!(!ended.success, "{arguments:?}");
        assert_eq!(ended.stdout, "", "{arguments:?}");
        for word in words {
            assert!(ended.stderr.contains(word), "{arguments:?} {word}: {}", ended.stderr);
        }
    }
    assert!(!folder.path().join("data").exists(), "nothing was made");
}

#[tokio::test]
async fn an_unknown_key_is_refused_with_the_nearest_known_one() {
    let file = |text: &str| Server::builder().config(text);
    check_refused(file("[server]\nprot = 1"), &["server.prot", "did you mean `server.port`?", "flightdeck.toml"]).await;
    check_refused(file("[limit]\nsessions = 1"), &["limit.sessions", "did you mean `limits.sessions`?"]).await;
    check_refused(file("data-dir = \"/x\""), &["data-dir", "did you mean `data_dir`?"]).await;
    let variable = Server::builder().variable("FLIGHTDECK_SERVER_PROT", "1");
    check_refused(variable, &["environment", "FLIGHTDECK_SERVER_PROT", "did you mean `FLIGHTDECK_SERVER_PORT`?"]).await;
}

#[tokio::test]
async fn a_value_that_will_not_do_is_refused_with_its_key_and_origin() {
    let file = |text: &str| Server::builder().config(text);
    check_refused(file("[server]\nport = 70000"), &["server.port", "flightdeck.toml"]).await;
    check_refused(file("[server]\nauth = \"maybe\""), &["server.auth", "flightdeck.toml"]).await;
    check_refused(file("[retention]\nmax_age = \"soon\""), &["retention.max_age", "soon"]).await;
    check_refused(file("[limits]\nsessions = 0"), &["limits.sessions", "flightdeck.toml", "1 or more"]).await;
    check_refused(file("server = ["), &["flightdeck.toml", "not valid TOML"]).await;
    let variable = Server::builder().variable("FLIGHTDECK_LIMITS_SESSIONS", "many");
    check_refused(variable, &["FLIGHTDECK_LIMITS_SESSIONS", "limits.sessions"]).await;
}

#[tokio::test]
async fn a_log_filter_that_will_not_do_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let builder = Server::builder().config("[log]\nfilter = \"a=b=c\"");
    let ended = builder.run(folder.path(), &["--port", "0"]).await;
    assert!(!ended.success);
    assert!(ended.stderr.contains("log.filter") && ended.stderr.contains("a=b=c"), "{}", ended.stderr);
}

#[tokio::test]
async fn another_file_can_be_named_by_a_variable() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("mine.toml");
    std::fs::write(&file, "[limits]\nsessions = 9").expect("written");
    let builder = layered().variable("FLIGHTDECK_CONFIG", file.to_str().expect("UTF-8"));
    let ended = builder.run(folder.path(), &["config", "--json"]).await;
    let shown: Value = serde_json::from_str(&ended.stdout).expect("JSON");
    assert_eq!(
        shown["settings"]["server.port"],
        json!({ "value": 8888, "origin": "default" }),
        "the usual file is not read"
    );
    assert_eq!(shown["settings"]["limits.sessions"]["value"], 8, "the environment still wins");
    assert_eq!(shown["userFile"], json!(file), "and this is the file that it shows");
}
