//! Rule 1: loopback, unless a proxy with TLS stands in front and a login is needed.

use crate::support::Server;

/// The server must refuse to start with these flags, say why, and leave nothing behind.
async fn check_refused(flags: &[&str], config: &str, reasons: &[&str]) {
    let folder = tempfile::tempdir().expect("a folder");
    let ended = Server::builder().config(config).flags(flags).run(folder.path(), &["--port", "0"]).await;
    assert!(!ended.success, "{flags:?} {config:?}");
    assert_eq!(ended.stdout, "", "no address is announced");
    for reason in reasons {
        assert!(ended.stderr.contains(reason), "{flags:?}: {}", ended.stderr);
    }
    assert!(!folder.path().join("data").exists(), "a server that may not start makes no token");
}

#[tokio::test]
async fn an_address_of_the_network_is_refused_without_a_proxy_in_front() {
    let reasons = ["0.0.0.0", "unencrypted", "--behind-proxy"];
    check_refused(&["--bind", "0.0.0.0"], "", &reasons).await;
    check_refused(&[], "[server]\nbind = \"0.0.0.0\"", &reasons).await;
    check_refused(&["--bind", "::"], "", &["unencrypted", "--behind-proxy"]).await;
    check_refused(&["--bind", "[::]"], "", &["unencrypted", "--behind-proxy"]).await;
    check_refused(&["--bind", "192.0.2.1"], "", &["192.0.2.1", "--behind-proxy"]).await;
}

#[tokio::test]
async fn nobody_but_this_machine_is_ever_let_in_without_a_login() {
    let reasons = ["--auth none", "loopback only"];
    check_refused(&["--bind", "0.0.0.0", "--auth", "none"], "", &reasons).await;
    check_refused(&["--bind", "0.0.0.0", "--behind-proxy", "--auth", "none"], "", &reasons).await;
    check_refused(&["--bind", "0.0.0.0", "--behind-proxy"], "[server]\nauth = \"none\"", &reasons).await;
    check_refused(&["--behind-proxy", "--auth", "none"], "", &["--behind-proxy", "--auth none"]).await;
}

#[tokio::test]
async fn an_address_that_is_none_is_refused_by_its_name() {
    check_refused(&["--bind", "everywhere"], "", &["--bind", "everywhere", "loopback"]).await;
}

#[tokio::test]
async fn behind_a_proxy_the_token_and_the_list_of_hosts_still_stand() {
    let config = "[server]\nallowed_hosts = [\"deck.example\"]";
    let server = Server::builder().config(config).flags(&["--bind", "0.0.0.0", "--behind-proxy"]).start().await;
    assert_eq!(server.stranger().get("/api/test").await.status, 401);
    assert_eq!(server.http().get("/api/test").await.status, 200);
    for (host, status) in [("deck.example", 200), ("0.0.0.0", 421), ("192.0.2.1", 421), ("evil.example", 421)] {
        let reply = server.http().header("host", host).get("/api/test").await;
        assert_eq!(reply.status, status, "{host}");
    }
    let (_, code) = server.greeting[0].rsplit_once("/login?code=").expect("a link");
    let reply = server.stranger().post("/login", format!("code={code}")).await;
    assert!(reply.header("set-cookie").contains("; Secure"), "{}", reply.header("set-cookie"));
}

#[tokio::test]
#[cfg(target_os = "linux")]
async fn another_loopback_address_is_printed_as_such_so_that_it_is_found() {
    let mut server = Server::builder().flags(&["--bind", "127.0.0.2"]).start().await;
    assert_eq!(server.url, format!("http://127.0.0.2:{}", server.port()));
    assert_eq!(server.http().get("/api/test").await.status, 200);
    assert!(server.run(&["stop"]).await.success);
    assert!(server.ended().await);
}
