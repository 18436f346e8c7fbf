//! A session that is being opened. If it is dropped before it is open, it leaves no unread queue and no unused session
//! behind.

use serde_json::{Value, json};

use super::servers::Lease;
use super::tap::Queue;

pub(in crate::agent::copilot) struct Opening {
    pub session: String,
    /// `None` once the link has taken over.
    parts: Option<(Lease, Queue)>,
    /// The program was asked to open it.
    is_asked: bool,
}

impl Opening {
    /// Subscribes first, so that no message during the opening is missed.
    pub fn new(lease: Lease, session: String) -> Self {
        let incoming = lease.server.tap.listen(&session);
        Self { session, parts: Some((lease, incoming)), is_asked: false }
    }

    pub fn lease(&self) -> &Lease {
        let (lease, _) = self.parts.as_ref().expect("only `into_parts` takes them, and it consumes the opening");
        lease
    }

    /// Asks the program to open it.
    pub async fn ask(&mut self, method: &'static str, params: Value) -> Result<Value, github_copilot_sdk::Error> {
        self.is_asked = true;
        let client = self.lease().server.client.clone();
        let opened = client.call(method, Some(params)).await;
        self.is_asked = opened.is_ok();
        opened
    }

    /// The session is open.
    pub fn into_parts(mut self) -> (Lease, Queue) {
        self.parts.take().expect("only this takes them")
    }
}

impl Drop for Opening {
    fn drop(&mut self) {
        let Some((lease, incoming)) = self.parts.take() else { return };
        let is_last = lease.server.tap.forget(&self.session, &incoming);
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        if is_last && self.is_asked && lease.server.is_alive() {
            let params = json!({ "sessionId": self.session });
            runtime.spawn(async move {
                if let Err(error) = lease.server.ask_with("session.detach", params).await {
                    tracing::debug!(%error, "copilot did not detach an abandoned session");
                }
            });
        }
    }
}
