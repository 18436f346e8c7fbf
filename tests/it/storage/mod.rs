//! What is on disk: who may use it, what happens when it is damaged, full or too old, and what is kept in it.

mod blobs;
mod damage;
mod folder;
mod retention;
mod room;

use crate::support::Server;

/// Prompts are accepted and answered.
async fn check_works(server: &Server) {
    assert_eq!(server.session().await.ask("hello").await["verdict"], "succeeded");
}
