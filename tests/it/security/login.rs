//! Rule 2: a browser logs in with a link that works once, or with the token.

use super::{browser, check_unharmed, cookie_of};
use crate::support::{Reply, Server, free_port};

/// The path of the link that the server printed.
fn printed_link(server: &Server) -> String {
    let (_, path) = server.greeting[0].split_once(&server.url).expect("a link to this server");
    assert!(path.starts_with("/login?code="), "{path}");
    path.to_owned()
}

async fn log_in_with_form(server: &Server, form: &str) -> Reply {
    server.stranger().header("content-type", "application/x-www-form-urlencoded").post("/login", form.to_owned()).await
}

/// The answer lets nobody in and shows the login.
fn check_not_logged_in(reply: &Reply) {
    assert_eq!(reply.status, 401);
    assert_eq!(reply.header("set-cookie"), "");
    assert!(reply.text().contains("role=\"alert\" >"), "it says what is wrong: {}", reply.text());
}

#[tokio::test]
async fn the_printed_link_logs_in_once() {
    let server = Server::start().await;
    let link = printed_link(&server);
    let first = server.stranger().get(&link).await;
    assert_eq!(first.status, 303);
    assert_eq!(first.header("location"), "/");
    let cookie = cookie_of(&first);
    assert_eq!(browser(&server, &cookie).get("/api/test").await.status, 200);

    check_not_logged_in(&server.stranger().get(&link).await);
    let again = browser(&server, &cookie).get(&link).await;
    assert_eq!(again.status, 303, "who is logged in already is not bothered");
    assert_eq!(again.header("set-cookie"), "", "and gets no second login");
}

#[tokio::test]
async fn the_cookie_is_for_neither_scripts_nor_other_sites() {
    let server = Server::start().await;
    let reply = server.stranger().get(&printed_link(&server)).await;
    let cookie = reply.header("set-cookie");
    for flag in ["; HttpOnly", "; SameSite=Strict", "; Path=/", "; Max-Age="] {
        assert!(cookie.contains(flag), "{flag}");
    }
    assert!(!cookie.contains("Domain="), "only this host gets it");
    assert!(!cookie.contains(&server.token()), "the token itself is never in a browser");
}

#[tokio::test]
async fn a_login_survives_a_restart_and_an_unused_link_does_not() {
    let server = Server::builder().port(free_port()).start().await;
    let cookie = cookie_of(&server.stranger().get(&printed_link(&server)).await);
    let code = server.http().post("/api/login-code", "").await.json()["code"].as_str().expect("a code").to_owned();
    let server = server.kill_and_restart().await;
    assert_eq!(browser(&server, &cookie).get("/api/test").await.status, 200);
    let server = server.restart().await;
    assert_eq!(browser(&server, &cookie).get("/").await.status, 200);
    check_not_logged_in(&server.stranger().get(&format!("/login?code={code}")).await);
}

#[tokio::test]
async fn the_form_takes_the_token_and_nothing_else() {
    let server = Server::start().await;
    let token = server.token();
    let reply = log_in_with_form(&server, &format!("token=%20{token}%0A&next=%2Findex.html%3Fa%3Db")).await;
    assert_eq!(reply.status, 303);
    assert_eq!(reply.header("location"), "/index.html?a=b");
    assert_eq!(browser(&server, &cookie_of(&reply)).get("/api/test").await.status, 200);

    let code = printed_link(&server).replace("/login?code=", "");
    for form in ["", "token=", "token=wrong", "next=%2F", &format!("token={code}"), &format!("code={token}")] {
        check_not_logged_in(&log_in_with_form(&server, form).await);
    }
    check_not_logged_in(&server.stranger().get(&format!("/login?code={token}")).await);
    check_unharmed(&server).await;
}

#[tokio::test]
async fn a_made_up_cookie_lets_nobody_in() {
    let server = Server::start().await;
    let name = format!("flightdeck_{}", server.port());
    for value in ["", "1", "fdc_0000000000000000000000000000000000000000000000000000000000000000"] {
        assert_eq!(browser(&server, &format!("{name}={value}")).get("/api/test").await.status, 401, "{value}");
    }
}

#[tokio::test]
async fn a_login_leads_to_pages_of_this_server_and_nowhere_else() {
    let server = Server::start().await;
    let token = server.token();
    for next in [
        "https%3A%2F%2Fevil.example%2F",
        "%2F%2Fevil.example",
        "%2F%5Cevil.example",
        "%5C%5Cevil.example",
        // Browsers drop tabs and line ends from addresses, wherever they stand.
        "%2F%09%2Fevil.example",
        "%2F%0A%2Fevil.example",
        "%2F%0D%0ASet-Cookie%3A%20a%3Db",
        "%2F%00",
        "%2F%7F",
        "javascript%3Aalert(1)",
        "evil.example",
        "%20%2F%2Fevil.example",
        "%2F%C3%BC",
        "",
    ] {
        let reply = log_in_with_form(&server, &format!("token={token}&next={next}")).await;
        assert_eq!(reply.status, 303, "{next}");
        assert_eq!(reply.header("location"), "/", "{next}");

        let code = server.http().post("/api/login-code", "").await.json()["code"].as_str().expect("a code").to_owned();
        let reply = server.stranger().get(&format!("/login?code={code}&next={next}")).await;
        assert_eq!(reply.header("location"), "/", "{next}");
    }
}

#[tokio::test]
async fn the_login_page_leads_on_to_the_page_that_was_wanted_and_runs_nothing_of_its_address() {
    let server = Server::start().await;
    let reply = server.stranger().get("/index.html?session=session-1&a=b").await;
    assert!(reply.text().contains("name=\"next\" value=\"/index.html?session=session-1&amp;a=b\""), "{}", reply.text());
    for path in ["/x%22%3E%3Cscript%3Ealert(1)%3C/script%3E", "/login?next=/%22%3E%3Cscript%3Ealert(1)%3C/script%3E"] {
        let text = server.stranger().get(path).await.text().to_owned();
        assert!(!text.contains("<script"), "{text}");
    }
}
