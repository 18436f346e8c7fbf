//! Rule 5: a token with scopes opens what its scopes say, and nothing else.

use flightdeck::http::{Need, route_needs};
use flightdeck::model::Scope;
use hyper::Method;
use serde_json::{Value, json};

use super::{PAGES, check_unharmed, log_in, page, post_login};
use crate::support::{Http, Reply, Server, a_moment};

/// Nothing is there, so whoever is let in gets 404 from the router.
const MODELS: &str = "/v1/no-such-route";
const UNKNOWN: &str = "fdk_0000000000000000000000000000000000000000000000000000000000000000";

async fn create(server: &Server, body: &Value) -> (String, String) {
    let reply = server.http().post_json("/api/tokens", body).await;
    assert_eq!(reply.status, 201, "{}", reply.text());
    let field = |name: &str| reply.json()[name].as_str().expect(name).to_owned();
    (field("id"), field("secret"))
}

async fn models_token(server: &Server) -> (String, String) {
    create(server, &json!({ "scopes": ["models"] })).await
}

fn bearer(server: &Server, token: &str) -> Http {
    server.stranger().header("authorization", &format!("Bearer {token}"))
}

fn api_key(server: &Server, token: &str) -> Http {
    server.stranger().header("x-api-key", token)
}

/// Checks an error in `OpenAI`'s shape.
fn check_openai(reply: &Reply, status: u16, kind: &str, code: &str) {
    let body = reply.json();
    assert_eq!(reply.status, status, "{body}");
    let message = body["error"]["message"].as_str().expect("a message");
    assert!(message.len() > 10, "{body}");
    let expected = json!({ "error": { "message": message, "type": kind, "param": null, "code": code } });
    assert_eq!(body, expected);
}

/// Checks an error in Anthropic's shape.
fn check_anthropic(reply: &Reply, status: u16, kind: &str) {
    let body = reply.json();
    assert_eq!(reply.status, status, "{body}");
    let message = body["error"]["message"].as_str().expect("a message");
    assert!(message.len() > 10, "{body}");
    let request = body["request_id"].as_str().expect("an id");
    assert_eq!(body, json!({ "type": "error", "error": { "type": kind, "message": message }, "request_id": request }));
}

fn check_let_in(reply: &Reply) {
    check_openai(reply, 404, "invalid_request_error", "not_found");
}

/// Routes that would end the server, or do not end themselves.
const NOT_TRIED: [&str; 3] = ["/api/stop", "/api/events", "/api/doctor"];

#[tokio::test]
async fn a_token_opens_the_routes_of_its_scope_and_no_others() {
    let server = Server::start().await;
    for scope in Scope::ALL {
        let (_, token) = create(&server, &json!({ "scopes": [scope] })).await;
        let client = bearer(&server, &token);
        for (method, route, need) in route_needs() {
            let path: Vec<&str> = route.split('/').map(|part| if part.contains('{') { "1" } else { part }).collect();
            let (path, method) = (path.join("/"), Method::from_bytes(method.as_bytes()).expect("a method"));
            let is_open = match need {
                Need::Nothing => true,
                Need::Admin => scope == Scope::Admin,
                Need::Scope(needed) => scope == needed || scope == Scope::Admin,
            };
            if is_open && NOT_TRIED.contains(&route) {
                continue;
            }
            let reply = client.send(method.clone(), &path, "").await;
            let is_refused = reply.status == 403 && reply.text().contains("lacks the scope");
            assert_eq!(is_refused, !is_open, "{scope}: {method} {path}: {} {}", reply.status, reply.text());
            assert!(reply.status.as_u16() < 500, "{scope}: {method} {path}: {}", reply.text());
        }
    }
    check_unharmed(&server).await;
}

#[tokio::test]
async fn a_token_for_prompts_cannot_decide_what_agents_may_do() {
    let server = Server::start().await;
    let (_, token) = create(&server, &json!({ "scopes": ["prompt"] })).await;
    let client = bearer(&server, &token);
    let sessions = "/api/copilot/session";
    let started = client.post_json(sessions, &json!({ "runtime": "demo", "workingDirectory": server.work() })).await;
    assert_eq!(started.status, 201, "{}", started.text());
    let session = format!("{sessions}/{}", started.json()["sessionId"].as_str().expect("an id"));
    let more = |field: &str, value: Value| json!({ "runtime": "demo", field: value });
    let servers = json!({ "mcpServers": { "mine": { "command": "true" } } });
    for (body, scope) in [
        (more("permissionMode", json!("allow-all")), "approve"),
        (more("budget", json!({ "premiumRequests": 1 })), "approve"),
        (more("options", servers), "admin"),
    ] {
        let reply = client.post_json(sessions, &body).await;
        assert_eq!(reply.error(403), "ScopeMissing", "{body}");
        assert!(reply.text().contains(&format!("--scope {scope}`")), "it says which: {}", reply.text());
    }
    for body in [json!({ "permissionMode": "allow-all" }), json!({ "budget": { "premiumRequests": 1 } })] {
        assert_eq!(client.patch_json(&session, &body).await.error(403), "ScopeMissing", "{body}");
    }
    let portal = client.post("/api/copilot/session/start/demo?permissions=allow-all", "").await;
    assert_eq!(portal.error(403), "ScopeMissing");
    assert_eq!(client.patch_json(&session, &json!({ "title": "mine" })).await.status, 200);
    assert_eq!(client.get(&format!("{session}/events?answers=true")).await.error(403), "ScopeMissing");
    let (_, both) = create(&server, &json!({ "scopes": ["prompt", "approve", "view"] })).await;
    let allowed = bearer(&server, &both).patch_json(&session, &json!({ "permissionMode": "allow-all" })).await;
    assert_eq!(allowed.status, 200, "{}", allowed.text());
    let (_, reader) = create(&server, &json!({ "scopes": ["view"] })).await;
    let reader = bearer(&server, &reader);
    assert_eq!(reader.get(&session).await.json()["title"], "mine");
    assert_eq!(reader.get(&format!("{session}/events?answers=true")).await.error(403), "ScopeMissing");
}

#[tokio::test]
async fn a_token_for_models_opens_models_and_no_page() {
    let server = Server::start().await;
    let (_, token) = models_token(&server).await;
    for client in [bearer(&server, &token), api_key(&server, &token)] {
        check_let_in(&client.get(MODELS).await);
        check_let_in(&client.post(MODELS, "{}").await);
        assert_eq!(client.get("/api/test").await.error(403), "ScopeMissing");
        for path in PAGES.into_iter().chain(["/api/no-such-route", "/v1x", "//v1/models", "/v1/../api/test"]) {
            let reply = client.get(path).await;
            if path.starts_with("/v1/") {
                check_let_in(&reply);
            } else {
                assert_eq!(reply.error(403), "ScopeMissing", "{path}");
                assert!(reply.text().contains("`token`"), "it says what is needed: {}", reply.text());
            }
        }
        let bare = json!({ "status": "ok", "service": "flightdeck" });
        assert_eq!(client.get("/api/health").await.json(), bare, "no more than a stranger sees");
    }
    assert_eq!(post_login(&server.stranger(), &format!("token={token}")).await.status, 401, "it is not a login");
    check_unharmed(&server).await;
}

#[tokio::test]
async fn the_servers_own_token_opens_models_in_both_headers_and_a_login_does_not() {
    let server = Server::start().await;
    check_let_in(&server.http().get(MODELS).await);
    check_let_in(&api_key(&server, &server.token()).get(MODELS).await);
    let both = api_key(&server, "sk-of-somebody-else").header("authorization", &format!("Bearer {}", server.token()));
    check_let_in(&both.get(MODELS).await);
    let login = log_in(&server).await;
    let page = page(&server, &login);
    assert_eq!(page.get("/api/test").await.status, 200);
    check_openai(&page.get(MODELS).await, 401, "authentication_error", "invalid_api_key");
}

#[tokio::test]
async fn who_is_refused_under_v1_is_told_so_in_the_shape_of_its_dialect() {
    let server = Server::builder().config("[limits]\nlogin_failures_per_minute = 5").start().await;
    let anthropic = |client: Http| client.header("anthropic-version", "2023-06-01");
    let stranger = server.stranger();
    check_openai(&stranger.get(MODELS).await, 401, "authentication_error", "invalid_api_key");
    check_anthropic(&anthropic(stranger.clone()).get(MODELS).await, 401, "authentication_error");
    check_anthropic(&anthropic(server.http()).get(MODELS).await, 404, "not_found_error");

    let foreign = server.http().header("origin", "https://evil.example");
    check_openai(&foreign.get(MODELS).await, 403, "permission_error", "CrossSiteRequest");
    check_anthropic(&anthropic(foreign).get(MODELS).await, 403, "permission_error");
    let rebound = server.http().header("host", "evil.example");
    check_openai(&rebound.get(MODELS).await, 421, "invalid_request_error", "HostNotAllowed");
    check_anthropic(&anthropic(rebound).get(MODELS).await, 421, "invalid_request_error");

    for guess in 0..5 {
        let client = if guess % 2 == 0 { bearer(&server, UNKNOWN) } else { api_key(&server, UNKNOWN) };
        let reply = client.get(MODELS).await;
        check_openai(&reply, 401, "authentication_error", "invalid_api_key");
        assert_eq!(reply.header("www-authenticate"), "Bearer");
    }
    for client in [bearer(&server, UNKNOWN), api_key(&server, UNKNOWN)] {
        let reply = client.get(MODELS).await;
        check_openai(&reply, 429, "rate_limit_error", "TooManyAttempts");
        assert_eq!(reply.header("retry-after"), "60");
        check_anthropic(&anthropic(client).get(MODELS).await, 429, "rate_limit_error");
    }
    let (_, token) = models_token(&server).await;
    check_let_in(&bearer(&server, &token).get(MODELS).await);
}

#[tokio::test]
async fn a_revoked_or_expired_token_opens_nothing_also_after_a_restart() {
    let server = Server::start().await;
    let (revoked_id, revoked) = models_token(&server).await;
    let (_, kept) = create(&server, &json!({ "scopes": ["models"], "expires": "never", "name": "kept" })).await;
    let (short_id, short) = create(&server, &json!({ "scopes": ["models"], "expires": "1s" })).await;
    check_let_in(&bearer(&server, &revoked).get(MODELS).await);
    let reply = server.http().delete(&format!("/api/tokens/{revoked_id}")).await;
    assert_eq!((reply.status.as_u16(), &reply.json()["state"]), (200, &json!("revoked")));

    // A second passes at some point.
    let state = async |server: &Server, id: &str| {
        let listed = server.http().get("/api/tokens").await.json();
        let tokens = listed["tokens"].as_array().expect("a list").clone();
        tokens.iter().find(|token| token["id"] == id).expect("listed")["state"].clone()
    };
    while state(&server, &short_id).await == "active" {
        a_moment().await;
    }
    assert_eq!(state(&server, &short_id).await, "expired");
    let check = async |server: &Server| {
        for token in [&revoked, &short] {
            for client in [bearer(server, token), api_key(server, token)] {
                check_openai(&client.get(MODELS).await, 401, "authentication_error", "invalid_api_key");
            }
            assert_eq!(bearer(server, token).get("/api/test").await.error(401), "Unauthorized");
        }
        check_let_in(&bearer(server, &kept).get(MODELS).await);
    };
    check(&server).await;
    let server = server.kill_and_restart().await;
    check(&server).await;
    assert_eq!(state(&server, &revoked_id).await, "revoked");
}

#[tokio::test]
async fn without_authentication_any_key_and_no_key_opens_models() {
    let server = Server::builder().flags(&["--auth", "none"]).start().await;
    let stranger = server.stranger();
    for client in [stranger.clone(), api_key(&server, "anything"), bearer(&server, "sk-anything"), server.http()] {
        check_let_in(&client.get(MODELS).await);
        assert_eq!(client.get("/api/test").await.status, 200);
    }
    let (_, token) = models_token(&server).await;
    check_let_in(&bearer(&server, &token).get(MODELS).await);
    assert_eq!(bearer(&server, &token).get("/api/test").await.status, 200, "a token takes no right away");
    let foreign = stranger.header("origin", "https://evil.example");
    check_openai(&foreign.get(MODELS).await, 403, "permission_error", "CrossSiteRequest");
}

#[tokio::test]
async fn the_use_of_a_token_is_listed_and_kept() {
    let server = Server::start().await;
    let (_, token) = models_token(&server).await;
    let used = async |server: &Server| server.http().get("/api/tokens").await.json()["tokens"][0]["lastUsedAt"].clone();
    assert_eq!(used(&server).await, json!(null));
    assert_eq!(bearer(&server, &token).get("/api/test").await.status, 403);
    assert_eq!(used(&server).await, json!(null), "it opened nothing");
    check_let_in(&bearer(&server, &token).get(MODELS).await);
    let first = used(&server).await;
    assert!(first.is_string(), "{first}");
    let mut server = server;
    assert!(server.stop().await);
    let server = server.start_again().await;
    assert_eq!(used(&server).await, first, "written");
}

#[tokio::test]
async fn a_bad_request_for_a_token_says_what_is_wrong() {
    let server = Server::start().await;
    let http = server.http();
    for (body, name, word) in [
        (json!({ "scopes": ["modls"] }), "InvalidScope", "did you mean \\\"models\\\"?"),
        (json!({ "scopes": ["root"] }), "InvalidScope", "known scopes: view, prompt, approve, jobs, models, admin"),
        (json!({ "scopes": [] }), "InvalidScope", "at least one"),
        (json!({ "scopes": ["models"], "name": "" }), "InvalidName", "1 to 100"),
        (json!({ "scopes": ["models"], "expires": "soon" }), "InvalidExpiry", "30d"),
        (json!({ "scopes": ["models"], "expires": "0s" }), "InvalidExpiry", "never"),
        (json!({ "scopes": "models" }), "InvalidJson", "expected a sequence"),
        (json!({ "name": "a" }), "InvalidJson", "scopes"),
        (json!({ "scopes": ["models"], "secret": "mine" }), "InvalidJson", "secret"),
    ] {
        let reply = http.post_json("/api/tokens", &body).await;
        assert_eq!(reply.error(400), name, "{body}");
        assert!(reply.text().contains(word), "{word}: {}", reply.text());
    }
    assert_eq!(http.get("/api/tokens").await.json(), json!({ "tokens": [] }));
    for id in ["token-1", "token-01", "token-99999999999", "fdk_00"] {
        assert_eq!(http.delete(&format!("/api/tokens/{id}")).await.error(404), "TokenNotFound", "{id}");
    }
    let (id, _) = models_token(&server).await;
    assert_eq!(http.delete(&format!("/api/tokens/{id}")).await.status, 200);
    assert_eq!(http.delete(&format!("/api/tokens/{id}")).await.error(409), "TokenAlreadyRevoked");
}

#[tokio::test]
async fn the_secret_of_a_token_is_in_no_list_no_log_and_no_file() {
    let mut server = Server::builder().variable("FLIGHTDECK_LOG_FILTER", "trace").start().await;
    let (id, token) = models_token(&server).await;
    assert!(token.starts_with("fdk_") && token.len() == 68, "256 bits");
    let digits = token.trim_start_matches("fdk_");
    for reply in [
        bearer(&server, &token).get(MODELS).await,
        api_key(&server, &token).get("/api/test").await,
        server.stranger().get(&format!("/v1/{token}")).await,
        server.http().get(&format!("/v1/{token}")).await,
        server.http().delete(&format!("/api/tokens/{token}")).await,
        server.http().post_json("/api/tokens", &json!({ "scopes": [token.clone()] })).await,
        server.http().post_json("/api/tokens", &json!({ "scopes": ["models"], "expires": token.clone() })).await,
        server.http().get("/api/tokens").await,
        server.http().delete(&format!("/api/tokens/{id}")).await,
    ] {
        assert!(!reply.text().contains(digits), "{}", reply.text());
    }
    assert!(server.stop().await);
    assert!(!server.stderr().await.contains(digits));
    for entry in std::fs::read_dir(server.data()).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_file() {
            let content = std::fs::read(&path).expect("readable");
            let holds = content.windows(digits.len()).any(|part| part == digits.as_bytes());
            assert!(!holds, "{}", path.display());
        }
    }
}
