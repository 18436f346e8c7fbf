//! `flightdeck tokens`, with a running server and without one.

use serde_json::{Value, json};

use crate::support::{Ended, Server};

/// Whether a token is let in under `/v1/`.
async fn opens(server: &Server, token: &str) -> bool {
    let reply = server.stranger().header("authorization", &format!("Bearer {token}")).get("/v1/no-such-route").await;
    match reply.status.as_u16() {
        404 => true,
        401 => false,
        other => panic!("{other}: {}", reply.text()),
    }
}

/// What a shell would assign in `TOKEN=$(flightdeck tokens create …)`.
fn secret_of(ended: &Ended) -> String {
    assert!(ended.success, "{}", ended.stderr);
    let secret = ended.stdout.trim_end_matches('\n').to_owned();
    assert!(secret.starts_with("fdk_") && secret.len() == 68 && !secret.contains('\n'), "{secret}");
    assert!(!ended.stderr.contains(&secret), "it is shown once");
    secret
}

fn listed(ended: &Ended) -> Vec<Value> {
    let json: Value = serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {}", ended.stderr));
    json["tokens"].as_array().expect("a list").clone()
}

#[tokio::test]
async fn a_running_server_knows_a_new_and_a_revoked_token_at_once() {
    let server = Server::start().await;
    let created = server.run(&["tokens", "create", "--scope", "models", "--name", "my loop"]).await;
    let secret = secret_of(&created);
    for word in ["token-1", "models", "expires on 20", "only this once", "tokens revoke token-1"] {
        assert!(created.stderr.contains(word), "{word}: {}", created.stderr);
    }
    assert!(opens(&server, &secret).await);

    let tokens = listed(&server.run(&["tokens", "list", "--json"]).await);
    assert_eq!(tokens[0]["name"], "my loop");
    assert!(tokens[0]["lastUsedAt"].is_string(), "{tokens:?}");
    for arguments in [&["tokens", "list"][..], &["tokens"]] {
        let table = server.run(arguments).await.stdout;
        assert!(table.contains("token-1") && table.contains("my loop") && table.contains("active"), "{table}");
        assert!(!table.contains(&secret[..12]), "{table}");
    }

    let revoked = server.run(&["tokens", "revoke", "token-1"]).await;
    assert!(revoked.success && revoked.stdout.contains("Revoked token-1 (my loop)"), "{}", revoked.stderr);
    assert!(!opens(&server, &secret).await);
    let again = server.run(&["tokens", "revoke", "token-1"]).await;
    assert_eq!((again.code, again.stdout.as_str()), (Some(1), ""));
    assert!(again.stderr.contains("already revoked on 20"), "{}", again.stderr);
    let unknown = server.run(&["tokens", "revoke", "token-7"]).await;
    assert_eq!(unknown.code, Some(1));
    assert!(unknown.stderr.contains("oken token-7 not found") && !unknown.stderr.contains('{'), "{}", unknown.stderr);
}

#[tokio::test]
async fn without_a_server_the_same_commands_work_and_the_next_server_knows_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = async |arguments: &[&str]| Server::builder().run(folder.path(), arguments).await;
    assert_eq!(listed(&run(&["tokens", "list", "--json"]).await), Vec::<Value>::new());
    assert!(run(&["tokens"]).await.stdout.contains("flightdeck tokens create --scope models"));
    let unknown = run(&["tokens", "revoke", "token-1"]).await;
    assert!(unknown.code == Some(1) && unknown.stderr.contains("token token-1 not found"), "{}", unknown.stderr);
    assert!(!folder.path().join("data").exists(), "asking makes nothing");

    let kept = secret_of(&run(&["tokens", "create", "--scope", "models", "--expires", "never"]).await);
    let json = run(&["tokens", "create", "--scope", "models", "--expires", "12h", "--json"]).await;
    let second: Value = serde_json::from_str(&json.stdout).expect("JSON");
    assert_eq!(
        (&second["id"], &second["scopes"], &second["state"]),
        (&json!("token-2"), &json!(["models"]), &json!("active"))
    );
    let revoked = run(&["tokens", "revoke", "token-2", "--json"]).await;
    assert_eq!(serde_json::from_str::<Value>(&revoked.stdout).expect("JSON")["state"], "revoked");
    let again = run(&["tokens", "revoke", "token-2"]).await;
    assert!(again.code == Some(1) && again.stderr.contains("already revoked"), "{}", again.stderr);

    let server = Server::builder().start_in(folder).await;
    assert!(opens(&server, &kept).await);
    assert!(!opens(&server, second["secret"].as_str().expect("a secret")).await);
    let tokens = listed(&server.run(&["tokens", "list", "--json"]).await);
    let states: Vec<&Value> = tokens.iter().map(|token| &token["state"]).collect();
    assert_eq!(states, ["revoked", "active"], "newest first");
    assert_eq!(tokens[1]["expiresAt"], json!(null));
}

#[tokio::test]
async fn what_cannot_be_a_token_is_refused_with_a_reason() {
    let folder = tempfile::tempdir().expect("a folder");
    for (arguments, word) in [
        (&["create"][..], "--scope <SCOPE>"),
        (&["create", "--scope", "modls"], "did you mean \"models\"?"),
        (&["create", "--scope", "root"], "known scopes: view, prompt, approve, jobs, models, admin"),
        (&["create", "--scope", "models", "--name", ""], "name"),
        (&["create", "--scope", "models", "--name", " "], "1 to 100 characters"),
        (&["create", "--scope", "models", "--expires", "soon"], "such as 12h or 30d, or never"),
        (&["create", "--scope", "models", "--expires", "0s"], "from 1 second"),
        (&["create", "--scope", "models", "--expires", "-1d"], "-1"),
        (&["revoke"], "<ID>"),
        (&["revoke", "1"], "not a token id such as token-1"),
        (&["revok", "token-1"], "revoke"),
    ] {
        let arguments: Vec<&str> = ["tokens"].iter().chain(arguments).copied().collect();
        let ended = Server::builder().run(folder.path(), &arguments).await;
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{arguments:?}: {}", ended.stderr);
        assert!(ended.stderr.contains("error:") && ended.stderr.contains(word), "{arguments:?}: {}", ended.stderr);
    }
    assert!(!folder.path().join("data").exists());
}
