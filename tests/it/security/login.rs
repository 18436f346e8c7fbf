//! Rule 2: a browser logs in with a link that works once, or with the token.

use super::{browser, check_unharmed, cookie_of, log_in, page, post_login, printed_code, printed_link};
use crate::support::{Reply, Server, free_port};

/// The answer lets nobody in and says what is wrong.
fn check_not_logged_in(reply: &Reply) {
    assert_eq!(reply.error(401), "Unauthorized");
    assert_eq!(reply.header("set-cookie"), "");
}

#[tokio::test]
async fn the_printed_link_logs_in_once() {
    let server = Server::start().await;
    let login = log_in(&server).await;
    assert_eq!(login.json()["next"], "/");
    assert_eq!(page(&server, &login).get("/api/test").await.status, 200);
    let again = format!("code={}", printed_code(&server));
    check_not_logged_in(&post_login(&server.stranger(), &again).await);
    check_not_logged_in(&post_login(&browser(&server, &cookie_of(&login)), &again).await);
    assert_eq!(page(&server, &login).get("/api/test").await.status, 200, "the first login stays");
}

#[tokio::test]
async fn looking_at_a_link_does_not_use_it_up() {
    let server = Server::start().await;
    for _ in 0..2 {
        let reply = server.stranger().get(&printed_link(&server)).await;
        assert_eq!(reply.status, 200);
        assert_eq!(reply.header("set-cookie"), "");
        assert!(!reply.text().contains(&printed_code(&server)), "the script takes it from the address");
    }
    log_in(&server).await;
}

#[tokio::test]
async fn the_cookie_is_for_neither_scripts_nor_other_sites() {
    let server = Server::start().await;
    let reply = log_in(&server).await;
    let cookie = reply.header("set-cookie");
    for flag in ["; HttpOnly", "; SameSite=Strict", "; Path=/", "; Max-Age="] {
        assert!(cookie.contains(flag), "{flag}");
    }
    assert!(!cookie.contains("Domain="), "only this host gets it");
    for text in [cookie, reply.text()] {
        assert!(!text.contains(&server.token()), "the token itself is never in a browser");
    }
}

#[tokio::test]
async fn a_login_survives_a_restart_and_an_unused_link_does_not() {
    let server = Server::builder().port(free_port()).start().await;
    let login = log_in(&server).await;
    let code = server.http().post("/api/login-code", "").await.json()["code"].as_str().expect("a code").to_owned();
    let server = server.kill_and_restart().await;
    assert_eq!(page(&server, &login).get("/api/test").await.status, 200);
    let server = server.restart().await;
    assert_eq!(page(&server, &login).get("/").await.status, 200);
    check_not_logged_in(&post_login(&server.stranger(), &format!("code={code}")).await);
}

#[tokio::test]
async fn the_form_takes_the_token_and_nothing_else() {
    let server = Server::start().await;
    let token = server.token();
    let form = format!("token=%20{token}%0A&next=%2Findex.html%3Fa%3Db");
    let reply = post_login(&server.stranger(), &form).await;
    assert_eq!(reply.json()["next"], "/index.html?a=b");
    assert_eq!(page(&server, &reply).get("/api/test").await.status, 200);

    let code = printed_code(&server);
    for form in ["", "token=", "token=wrong", "next=%2F", &format!("token={code}"), &format!("code={token}")] {
        check_not_logged_in(&post_login(&server.stranger(), form).await);
    }
    check_unharmed(&server).await;
}

#[tokio::test]
async fn a_made_up_cookie_lets_nobody_in() {
    let server = Server::start().await;
    let name = format!("flightdeck_{}", server.port());
    for value in ["", "1", "fdc_0000000000000000000000000000000000000000000000000000000000000000"] {
        for path in ["/api/test", "/"] {
            assert_eq!(browser(&server, &format!("{name}={value}")).get(path).await.status, 401, "{value}");
        }
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
        let reply = post_login(&server.stranger(), &format!("token={token}&next={next}")).await;
        assert_eq!(reply.json()["next"], "/", "{next}");
        let shown = server.stranger().get(&format!("/login?code=x&next={next}")).await;
        assert!(shown.text().contains("name=\"next\" value=\"/\""), "{next}: {}", shown.text());
    }
}

#[tokio::test]
async fn the_login_page_leads_on_to_the_page_that_was_wanted_and_runs_nothing_of_its_address() {
    let server = Server::start().await;
    let reply = server.stranger().get("/index.html?session=session-1&a=b").await;
    assert!(reply.text().contains("name=\"next\" value=\"/index.html?session=session-1&amp;a=b\""), "{}", reply.text());
    for path in ["/x%22%3E%3Cscript%3Ealert(1)%3C/script%3E", "/login?next=/%22%3E%3Cscript%3Ealert(1)%3C/script%3E"] {
        let text = server.stranger().get(path).await.text().to_owned();
        assert!(!text.contains("<script>"), "{text}");
    }
}
