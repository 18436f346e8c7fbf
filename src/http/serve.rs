//! Accepting connections, within limits, until the server stops.

use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::app::App;
use super::listen::Listeners;
use super::router::router;
use crate::agent::program::Installs;
use crate::config::Limits;

/// The headers of a request must arrive within this time.
const HEAD_TIMEOUT: Duration = Duration::from_secs(30);
/// The smallest buffer that the HTTP library accepts.
const LEAST_HEAD_BYTES: usize = 8 * 1024;
/// The pause after a failed accept: it mostly means that there are no file descriptors left, and an immediate retry
/// does not help.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
const FULL: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: 97\r\n\r\n\
{\"error\":\"TooManyConnections\",\"message\":\"Too many connections; the limit is limits.connections.\"}";

/// The connections of a running server; [`Serving::finish`] ends them.
pub struct Serving {
    accepting: TaskTracker,
    connections: TaskTracker,
    draining: TaskTracker,
    installs: Installs,
    cut: CancellationToken,
}

/// Serves until `stopping` is cancelled: then it accepts no new connections and finishes running requests.
pub fn serve(listeners: Listeners, app: &App, stopping: &CancellationToken) -> Serving {
    let limits = app.limits();
    let serving = Serving {
        accepting: TaskTracker::new(),
        connections: TaskTracker::new(),
        draining: app.draining().clone(),
        installs: app.installs().clone(),
        cut: CancellationToken::new(),
    };
    let places = Arc::new(Semaphore::new(limits.connections));
    let service = TowerToHyperService::new(router(app.clone()));
    for socket in listeners.sockets {
        let acceptor = Acceptor {
            socket,
            places: Arc::clone(&places),
            service: service.clone(),
            builder: builder(&limits),
            connections: serving.connections.clone(),
            stopping: stopping.clone(),
            cut: serving.cut.clone(),
        };
        serving.accepting.spawn(acceptor.run());
    }
    serving
}

/// How many connections are open.
#[derive(Clone)]
pub struct Connections(TaskTracker);

impl Connections {
    /// Right now.
    pub fn count(&self) -> usize {
        self.0.len()
    }
}

impl Serving {
    /// A view of the open connections.
    pub fn connections(&self) -> Connections {
        Connections(self.connections.clone())
    }

    /// Waits for running requests, then closes the connections that are still open.
    pub async fn finish(self, grace: Duration) {
        self.accepting.close();
        self.accepting.wait().await;
        self.connections.close();
        if tokio::time::timeout(grace, self.connections.wait()).await.is_err() {
            tracing::info!(open = self.connections.len(), "closing connections that did not end in time");
            self.cut.cancel();
            self.connections.wait().await;
        }
        // Their connections are closed, so they end now.
        self.draining.close();
        self.draining.wait().await;
        self.installs.shut_down().await;
    }
}

fn builder(limits: &Limits) -> http1::Builder {
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_buf_size(limits.header_bytes.max(LEAST_HEAD_BYTES));
    builder
}

struct Acceptor {
    socket: TcpListener,
    places: Arc<Semaphore>,
    service: TowerToHyperService<axum::Router>,
    builder: http1::Builder,
    connections: TaskTracker,
    stopping: CancellationToken,
    cut: CancellationToken,
}

impl Acceptor {
    async fn run(self) {
        loop {
            let accepted = tokio::select! {
                accepted = self.socket.accept() => accepted,
                () = self.stopping.cancelled() => return,
            };
            match accepted {
                Ok((stream, _)) => self.take(stream),
                Err(error) => {
                    tracing::warn!(%error, "could not accept a connection");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    }

    fn take(&self, stream: TcpStream) {
        let Ok(place) = Arc::clone(&self.places).try_acquire_owned() else {
            // A new socket has room for this; if not, the closed connection is answer enough.
            let _ = stream.try_write(FULL);
            return;
        };
        // Events are small and must not be delayed.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "no TCP_NODELAY");
        }
        let connection = self.builder.serve_connection(TokioIo::new(stream), self.service.clone());
        let (stopping, cut) = (self.stopping.clone(), self.cut.clone());
        self.connections.spawn(async move {
            let _place = place;
            let mut connection = std::pin::pin!(connection);
            let ended = tokio::select! {
                ended = connection.as_mut() => ended,
                () = stopping.cancelled() => {
                    connection.as_mut().graceful_shutdown();
                    tokio::select! {
                        ended = connection.as_mut() => ended,
                        () = cut.cancelled() => return,
                    }
                }
            };
            if let Err(error) = ended {
                tracing::debug!(%error, "a connection ended with an error");
            }
        });
    }
}
