//! Whatever somebody types is either found, not found, or refused with a reason.

use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::test_runner::TestRunner;

use super::{ask, search};
use crate::support::Server;

#[tokio::test]
async fn operators_of_the_database_are_text() {
    let server = Server::start().await;
    server.session().await.ask("echo title:x AND (y OR z) NEAR w").await;
    for text in
        ["AND", "title:x", "(y OR z)", "NEAR(y z, 3)", "\"y OR", "y^2 OR", "x' OR '1'='1", "{prompt}: x", "x*y", "+y"]
    {
        let found = search(&server.http(), &[("q", text)]).await;
        assert!(found["hits"].is_array(), "{text}: {found}");
    }
}

#[tokio::test]
async fn a_search_without_words_says_what_is_missing() {
    let server = Server::start().await;
    for (text, reason) in [
        ("", "nothing to search for"),
        ("->", "nothing to search for"),
        ("-excluded", "only excluded words"),
        ("some ab*", "“ab*” at character 6"),
        (&"x".repeat(1_001), "1001 characters"),
    ] {
        let reply = ask(&server.http(), &[("q", text)]).await;
        assert_eq!(reply.error(400), "InvalidSearch", "{text}");
        assert!(reply.text().contains(reason), "{text}: {}", reply.text());
    }
    assert_eq!(server.http().get("/api/copilot/search").await.error(400), "InvalidSearch");
}

#[tokio::test]
async fn no_text_breaks_the_search() {
    let server = Server::start().await;
    server.session().await.ask("some words to find").await;
    search(&server.http(), &[("q", "words")]).await;
    let mut runner = TestRunner::deterministic();
    let texts = proptest::prop_oneof![
        "\\PC{1,40}",
        "[-\"*^:(){}+a ]{1,24}",
        "(NOT|AND|OR|NEAR|words|\"|\\*|-|,|\\(|\\)| |\u{0}|ⓐ|é|e\u{301}|错){1,12}",
    ];
    for _ in 0..400 {
        let text = texts.new_tree(&mut runner).expect("a text").current();
        for typing in ["true", "false"] {
            let reply = ask(&server.http(), &[("q", &text), ("typing", typing)]).await;
            assert!(matches!(reply.status.as_u16(), 200 | 400), "{text:?}: {} {}", reply.status, reply.text());
            if reply.status == 400 {
                assert_eq!(reply.error(400), "InvalidSearch", "{text:?}");
            }
        }
    }
}
