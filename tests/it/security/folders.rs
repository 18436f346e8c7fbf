//! Rule 6: with roots, sessions work below them and nowhere else, whatever links say.

use std::fs::create_dir;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::json;
use tempfile::TempDir;

use crate::support::Server;

/// A server whose only root is `link-to-roots`, which leads to `roots`.
async fn server_with_roots() -> Server {
    let folder: TempDir = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    for name in ["roots", "roots/inside", "roots-besides", "outside", "outside/deep"] {
        create_dir(at(name)).expect("made");
    }
    symlink(at("roots"), at("link-to-roots")).expect("linked");
    symlink(at("outside"), at("roots/leads-out")).expect("linked");
    symlink(at("roots/inside"), at("outside/leads-in")).expect("linked");
    symlink("..", at("roots/up")).expect("linked");
    let config = format!("[sessions]\nroots = ['{}']", at("link-to-roots").display());
    Server::builder().config(&config).start_in(folder).await
}

async fn check_start(server: &Server, folder: &Path, allowed: bool) {
    let text = folder.to_str().expect("UTF-8").to_owned();
    let portal = server.http().post("/api/copilot/session/start/demo", text.clone()).await;
    assert_eq!(portal.status, 200);
    let own = server.http().post_json("/api/copilot/session", &json!({ "workingDirectory": text })).await;
    if allowed {
        assert!(portal.json()["sessionId"].is_string(), "{text}: {}", portal.text());
        assert_eq!(own.status, 201, "{text}");
        let resolved = folder.canonicalize().expect("there");
        assert_eq!(own.json()["workingDirectory"], json!(resolved), "a link changed later leads nowhere else");
    } else {
        assert_eq!(portal.json(), json!({ "error": "WorkingDirectoryNotAllowed" }), "{text}");
        assert_eq!(own.error(403), "WorkingDirectoryNotAllowed", "{text}");
        assert!(own.text().contains("sessions.roots"), "{}", own.text());
    }
}

#[tokio::test]
async fn with_roots_only_folders_below_them_are_allowed_after_resolving_links() {
    let server = server_with_roots().await;
    let at = |name: &str| server.folder().join(name);
    for name in [
        "outside",
        "roots/leads-out",
        "roots/leads-out/deep",
        "roots/../outside",
        "link-to-roots/leads-out",
        "roots/up",
        "roots/up/outside",
        "roots-besides",
        "roots/..",
    ] {
        check_start(&server, &at(name), false).await;
    }
    check_start(&server, Path::new("/"), false).await;
    check_start(&server, Path::new(""), false).await;
    let sessions = server.http().get("/api/copilot/session").await.json();
    assert_eq!(sessions["sessions"], json!([]), "nothing was started on the way");
    for name in ["roots", "roots/inside", "link-to-roots", "link-to-roots/inside", "outside/leads-in", "roots/up/roots"]
    {
        check_start(&server, &at(name), true).await;
    }
}

#[tokio::test]
async fn without_roots_any_folder_that_the_user_can_reach_is_allowed() {
    let server = Server::start().await;
    check_start(&server, &server.work().canonicalize().expect("there"), true).await;
    let reply = server.http().post("/api/copilot/session/start/demo", "").await;
    assert!(reply.json()["sessionId"].is_string(), "none is allowed too: {}", reply.text());
}

#[tokio::test]
async fn a_project_cannot_widen_what_the_user_allows() {
    let server = server_with_roots().await;
    let project = server.folder().join("roots/inside");
    std::fs::write(project.join(".flightdeck.toml"), "[sessions]\nroots = [\"/\"]").expect("written");
    let body = json!({ "workingDirectory": project });
    let reply = server.http().post_json("/api/copilot/session", &body).await;
    assert_eq!(reply.error(400), "ProjectConfigurationInvalid");
    assert!(reply.text().contains("a project may not"), "{}", reply.text());
}
