//! Notifications: sent once to real HTTP servers, whatever those do and whenever the server is killed.

mod delivering;
mod quiet_hours;
mod restarts;
mod secrets;
mod targets;
mod watching;

use serde_json::Value;

use crate::support::{Http, Receiver, Server, ServerBuilder, eventually};

/// A server that notifies a webhook. `--test` makes it retry within milliseconds.
fn builder(receiver: &Receiver, more: &str) -> ServerBuilder {
    let url = &receiver.url;
    let config = format!("[notifications.targets.hook]\nurl = \"{url}/hook\"\n{more}");
    Server::builder().flags(&["--test"]).config(&config)
}

/// All deliveries, oldest first.
async fn deliveries(http: &Http) -> Vec<Value> {
    let mut all = http.get("/api/notifications").await.json()["deliveries"].as_array().expect("a list").clone();
    all.reverse();
    all
}

/// Waits until a delivery is in a state.
async fn until_state(http: &Http, state: &str) -> Value {
    eventually(state, async || deliveries(http).await.into_iter().find(|delivery| delivery["state"] == state)).await
}
