//! `flightdeck completions`, `flightdeck man` and `flightdeck open --qr`.

use serde_json::Value;

use crate::support::Server;

#[tokio::test]
async fn completions_and_the_manual_know_every_command() {
    let folder = tempfile::tempdir().expect("a folder");
    let builder = Server::builder();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = builder.run(folder.path(), &["completions", shell]).await;
        assert!(script.success, "{shell}: {}", script.stderr);
        for command in ["attach", "sessions", "interrupt", "restore"] {
            assert!(script.stdout.contains(command), "{shell}: {command}");
        }
    }
    let unknown = builder.run(folder.path(), &["completions", "tcsh"]).await;
    assert_eq!(unknown.code, Some(2));
    assert!(unknown.stderr.contains("bash") && unknown.stderr.contains("zsh"), "{}", unknown.stderr);
    let page = builder.run(folder.path(), &["man"]).await.stdout;
    for part in [".TH flightdeck", "\"FLIGHTDECK RUN\"", "\"FLIGHTDECK SESSIONS RENAME\"", "Exit codes"] {
        assert!(page.contains(part), "{part}");
    }
    assert!(!page.contains("JOB\\-TOOLS"), "a hidden command");
    assert!(!folder.path().join("data").exists(), "nothing is made");
}

#[tokio::test]
async fn the_login_link_is_a_qr_code_that_says_who_can_use_it() {
    let server = Server::start().await;
    let ended = server.run(&["open", "--qr"]).await;
    assert!(ended.success, "{}", ended.stderr);
    assert!(ended.stdout.contains('▀') && ended.stdout.contains(&format!("{}/login?code=", server.url)));
    assert!(ended.stderr.contains("from this machine only"), "{}", ended.stderr);
    let named = server.run(&["open", "--qr", "--json", "--address", "deck.example"]).await;
    let json: Value = serde_json::from_str(&named.stdout).expect("JSON");
    assert!(
        json["loginUrl"].as_str().is_some_and(|link| link.starts_with("https://deck.example/login?code=fdl_")),
        "{json}"
    );
    assert_eq!(json["onlyThisMachine"], false);
}
