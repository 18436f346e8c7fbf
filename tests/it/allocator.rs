//! One allocator serves the whole program, `SQLite` included: glibc's keeps most of what a long message took.

#[cfg(target_os = "linux")]
#[tokio::test]
async fn nothing_in_the_server_uses_the_allocator_of_glibc() {
    let server = crate::support::Server::start().await;
    assert_eq!(server.session().await.ask("many 10 0 1000000").await["verdict"], "succeeded");
    let maps = std::fs::read_to_string(format!("/proc/{}/maps", server.process_id())).expect("Linux");
    // It is the only one that extends the data segment, and it does so with its first allocation.
    assert!(!maps.contains("[heap]"), "{maps}");
}
