//! `flightdeck serve`: starts the server from resolved settings, and shuts it down.

use std::io::Write as _;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::arguments::{CommonFlags, Resolved, ServeFlags, sources};
use super::idle_stop::IdleWatch;
use super::live_config::ServerConfig;
use super::notify_settings::notify_settings;
use super::runtime_defaults::defaults_problem;
use super::session_settings::{CLOSED_GRACE, own_server, session_settings};
use super::signals::Signals;
use super::{captures, jobs, logging, runtime_list};
use crate::agent::{Quarantine, Runtimes};
use crate::capture::Captures;
use crate::client::LocalServer;
use crate::config::{AuthMode, Config, LiveConfig, Sources, load, repository_root};
use crate::http::auth::{Auth, AuthSettings, ServerToken};
use crate::http::{AllowedHosts, App, AppParts, Guard, ListenError, Listeners, Serving};
use crate::jobs::{Jobs, JobsParts};
use crate::notify::{Notifier, NotifierParts, PushKey, Retries};
use crate::process::Supervisor;
use crate::review::{Reviews, ReviewsParts};
use crate::session::{SessionSettings, Sessions, SessionsParts, now};
use crate::store::{DataFolder, ServerNote, Store, StoreSettings};

/// How long a shutdown may take in all, and how much of it connections get.
const SHUTDOWN_LIMIT: Duration = Duration::from_secs(9);
const CONNECTION_GRACE: Duration = Duration::from_secs(2);
/// Notifications in tests are given up within seconds.
const FAST_RETRIES: Retries = Retries {
    attempts: 4,
    first_delay: Duration::from_millis(20),
    longest_delay: Duration::from_millis(100),
    timeout: Duration::from_secs(1),
    look_again: Duration::from_secs(1),
};
/// How long whoever uses our port may take to say who they are.
const HEALTH_TIMEOUT: Duration = Duration::from_secs(10);

pub(super) fn serve(flags: &ServeFlags, common: &CommonFlags) -> anyhow::Result<ExitCode> {
    let sources = sources(common, flags.values())?;
    let resolved = Resolved::new(&sources, load(&sources)?);
    let log = &resolved.loaded.config.log;
    logging::start(&log.filter, log.format)?;
    check_exposure(&resolved.loaded.config)?;
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().context("cannot start the async runtime")?;
    let code = runtime.block_on(run(sources, &resolved, flags, common.json));
    // Reads that are still running must not keep a finished server alive.
    runtime.shutdown_timeout(Duration::from_millis(200));
    code
}

/// Any address other than loopback requires authentication and a TLS-terminating proxy.
pub(super) fn check_exposure(config: &Config) -> anyhow::Result<()> {
    let server = &config.server;
    let address = server.address().map_err(anyhow::Error::msg)?;
    let exposed = address.is_some_and(|address| !address.is_loopback());
    if exposed && server.auth == AuthMode::None {
        bail!(
            "--auth none works on loopback only: with server.bind = {} anybody on the network could run commands as you; \
             remove --auth none or --bind",
            server.bind
        );
    }
    if exposed && !server.behind_proxy {
        bail!(
            "server.bind = {} would send your token unencrypted: put a TLS-terminating proxy in front and add --behind-proxy, \
             or remove --bind to listen on loopback only",
            server.bind
        );
    }
    if server.behind_proxy && server.auth == AuthMode::None {
        bail!("--behind-proxy makes the server reachable from elsewhere, so it cannot be combined with --auth none");
    }
    Ok(())
}

#[expect(clippy::too_many_lines, reason = "one place that puts the server together, in order")]
async fn run(sources: Sources, resolved: &Resolved, flags: &ServeFlags, json: bool) -> anyhow::Result<ExitCode> {
    // Registered first: a program that reads the address may send a signal immediately.
    let signals = Signals::register()?;
    let config = &resolved.loaded.config;
    let folder = DataFolder::lock(&resolved.data_folder)?;
    let listeners = bind(config, flags.background).await?;
    let max_bytes = Some(config.limits.database_bytes).filter(|bytes| *bytes > 0);
    let store = Store::open(&folder, StoreSettings { max_bytes })?;
    let quarantine = Arc::new(Quarantine::load(folder.path(), &config.agents.trusted_versions));
    let supervisor = Supervisor::in_folder(folder.processes()?);
    // Before anything is served: an agent of the last run must not keep working next to a new one.
    supervisor.end_orphans().await?;
    let stop = CancellationToken::new();
    let stopping = CancellationToken::new();
    let settings = session_settings(config, &resolved.loaded.session_layers, closed_grace(flags.test));
    let sessions = Sessions::new(SessionsParts {
        store: store.clone(),
        runtimes: runtime_list::runtimes(config, folder.path(), Arc::clone(&quarantine), supervisor.clone()),
        settings: SessionSettings { own_server: own_server(), ..settings },
        stopping: stopping.clone(),
    });
    check_runtimes(config, sessions.runtimes())?;
    let reviews = Reviews::new(ReviewsParts {
        folder: folder.changes()?,
        sessions: sessions.clone(),
        stopping: stopping.clone(),
    });
    // Before the sessions of the last run are restored, which ends the turns that it left open.
    reviews.start();
    sessions.restore().await.context("cannot restore the sessions of the last run")?;
    sessions.start_housekeeping();
    let captures = captures::captures(&config.capture, &sessions, store.clone(), &folder);
    captures.restore().await.context("cannot restore the captures of the last run")?;

    let jobs = Jobs::new(JobsParts {
        sessions: sessions.clone(),
        supervisor: supervisor.clone(),
        settings: jobs::settings(resolved, flags, closed_grace(flags.test)),
        stopping: stopping.clone(),
    });
    jobs.restore().await.context("cannot continue the jobs of the last run")?;

    let (address, port) = (listeners.address, listeners.port);
    let push_key = Arc::new(PushKey::of(&folder)?);
    let retries = if flags.test { FAST_RETRIES } else { Retries::default() };
    let notifier = notifier(config, &own_url(address, port), retries, &sessions, push_key, &stopping)?;
    notifier.start();
    let token = ServerToken::of(&folder)?;
    let settings = AuthSettings {
        mode: config.server.auth,
        port,
        behind_proxy: config.server.behind_proxy,
        failures_per_minute: config.limits.login_failures_per_minute,
    };
    let auth = Auth::new(&token, settings, store.clone()).await?;
    let code = auth.new_code(None);
    let config_user = ServerConfig {
        sessions: sessions.clone(),
        data_folder: folder.path().to_owned(),
        quarantine: Arc::clone(&quarantine),
        supervisor,
        closed_grace: closed_grace(flags.test),
        notifier: notifier.clone(),
        own_url: own_url(address, port),
        retries,
    };
    let hosts = AllowedHosts::new(address, &config.server.allowed_hosts);
    let app = App::new(AppParts {
        sessions: sessions.clone(),
        jobs: jobs.clone(),
        captures: captures.clone(),
        notifier: notifier.clone(),
        reviews: reviews.clone(),
        auth,
        guard: Guard::new(hosts, &config.server.allowed_origins).behind_proxy(config.server.behind_proxy),
        config: Arc::new(LiveConfig::new(sources, resolved.loaded.clone(), Box::new(config_user))),
        repository_root: repository_root(&resolved.start_folder),
        data_folder: folder.path().to_owned(),
        quarantine,
        stop: stop.clone(),
    });
    let serving = crate::http::serve(listeners, &app, &stopping);
    let idle = IdleWatch {
        sessions: sessions.clone(),
        jobs: jobs.clone(),
        captures: captures.clone(),
        connections: serving.connections(),
    };
    let idle_span = config.server.idle_stop.0.filter(|_| flags.background);
    let url = own_url(address, port);
    if let Err(error) = folder.write_server_note(&ServerNote { pid: std::process::id(), url: url.clone() }) {
        // The server must run on a full disk too, because deleting sessions frees space.
        tracing::warn!(%error, "cannot write server.json; `flightdeck open` and `flightdeck stop` will not find this server");
    }
    announce(&url, &code, config.server.auth, json);

    let idle = async {
        match idle_span {
            Some(span) => idle.until_idle(span).await,
            None => std::future::pending().await,
        }
    };
    let cause = wait_for_end(&stop, signals, store.died(), idle).await;
    stopping.cancel();
    end(serving, &captures, &jobs, &sessions, &notifier, &reviews, &store).await;
    folder.remove_server_note();
    match cause {
        EndCause::Stopped => Ok(ExitCode::SUCCESS),
        // A service manager restarts a server that exits with a failure.
        EndCause::StoreDied(reason) => bail!("the server stopped because it can no longer write: {reason}"),
    }
}

/// Refuses defaults of runtimes that cannot work. A default runtime that is unknown is only a warning, because sessions may
/// choose another one.
fn check_runtimes(config: &Config, runtimes: &Runtimes) -> anyhow::Result<()> {
    if let Some(problem) = defaults_problem(config, runtimes) {
        bail!(problem);
    }
    if !config.sessions.runtime.is_empty()
        && let Err(error) = runtimes.named(&config.sessions.runtime)
    {
        tracing::warn!(%error, "sessions.runtime is not a known runtime; sessions that choose no runtime will be refused");
    }
    Ok(())
}

/// What sends notifications.
fn notifier(
    config: &Config,
    own_url: &str,
    retries: Retries,
    sessions: &Sessions,
    push_key: Arc<PushKey>,
    stopping: &CancellationToken,
) -> anyhow::Result<Notifier> {
    let settings = notify_settings(&config.notifications, own_url, |name| std::env::var(name).ok(), retries)?;
    let presence = Arc::clone(sessions.presence());
    Ok(Notifier::new(NotifierParts {
        store: sessions.store().clone(),
        settings,
        push_key,
        clock: Arc::new(now),
        is_watched: Arc::new(move |stream| presence.is_watched(stream)),
        stopping: stopping.clone(),
    }))
}

/// The server's address for programs on this machine: `localhost`, unless the server listens elsewhere only.
fn own_url(address: Option<IpAddr>, port: u16) -> String {
    let localhost = [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];
    match address {
        Some(address) if !address.is_unspecified() && !localhost.contains(&address) => {
            format!("http://{}", SocketAddr::new(address, port))
        }
        _ => format!("http://localhost:{port}"),
    }
}

/// How long new tokens may read a closed session from the start.
fn closed_grace(test: bool) -> Duration {
    if test { Duration::from_secs(5) } else { CLOSED_GRACE }
}

/// Binds the configured address. A server in the background takes another port if that one is in use, because the command
/// that starts it needs a server and not a port.
async fn bind(config: &Config, is_background: bool) -> anyhow::Result<Listeners> {
    let address = config.server.address().map_err(anyhow::Error::msg)?;
    match Listeners::bind(address, config.server.port).await {
        Ok(listeners) => Ok(listeners),
        Err(ListenError::InUse { port }) if is_background => {
            tracing::warn!(port, "the configured port is in use; taking any free one");
            Ok(Listeners::bind(address, 0).await?)
        }
        Err(error @ ListenError::InUse { port }) => {
            let url = own_url(address, port);
            let health = LocalServer::at(&url).with_timeout(HEALTH_TIMEOUT).get("/api/health").await;
            if health.is_ok_and(|answer| answer["service"] == "flightdeck") {
                bail!(
                    "another Flightdeck server (with another data folder) is already running at {url}; \
                     use that one, or choose another port with --port (0 picks a free one)"
                );
            }
            Err(error.into())
        }
        Err(error) => Err(error.into()),
    }
}

/// The first line is the address, flushed, so that a program that starts the server can read it.
fn announce(url: &str, code: &str, auth: AuthMode, json: bool) {
    let login = match auth {
        AuthMode::Token => format!("{url}/login?code={code}"),
        AuthMode::None => format!("{url}/"),
    };
    let text = if json {
        format!("{}\n", json!({ "url": url, "loginUrl": login, "pid": std::process::id() }))
    } else {
        let login = match auth {
            AuthMode::Token => format!("Log in (once): {login}"),
            AuthMode::None => format!("No login needed: {login}"),
        };
        format!("{url}\n{login}\nStop with Ctrl+C or `flightdeck stop`.\n")
    };
    let mut out = std::io::stdout().lock();
    // The server runs even if nobody reads its output.
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    if auth == AuthMode::None {
        tracing::warn!(
            "AUTHENTICATION IS OFF: every program and every user on this machine can use this server and run commands as you"
        );
    }
}

/// Why the server ends.
#[derive(Debug, PartialEq, Eq)]
enum EndCause {
    /// A request or a signal.
    Stopped,
    /// The store can no longer write.
    StoreDied(String),
}

/// Waits for `api/stop`, a signal, an idle server or the death of the store. A second signal ends the process immediately; committed
/// events are safe.
async fn wait_for_end(
    stop: &CancellationToken,
    mut signals: Signals,
    died: impl Future<Output = String>,
    idle: impl Future<Output = ()>,
) -> EndCause {
    let cause = tokio::select! {
        () = stop.cancelled() => EndCause::Stopped,
        () = signals.next() => {
            tracing::info!("stopping; send the signal again to exit immediately");
            EndCause::Stopped
        }
        () = idle => {
            tracing::info!("stopping because nobody has needed this server for server.idle_stop");
            EndCause::Stopped
        }
        reason = died => {
            tracing::error!(%reason, "stopping because the store can no longer write");
            EndCause::StoreDied(reason)
        }
    };
    tokio::spawn(async move {
        signals.next().await;
        std::process::exit(130);
    });
    cause
}

async fn end(
    serving: Serving,
    captures: &Captures,
    jobs: &Jobs,
    sessions: &Sessions,
    notifier: &Notifier,
    reviews: &Reviews,
    store: &Store,
) {
    let ending = async {
        // Before the agents' programs end: what captures leave on their disks must be deleted by them.
        captures.shut_down().await;
        // Before its sessions: a turn that the shutdown cuts off is not the end of a task.
        jobs.shut_down().await;
        sessions.shut_down().await;
        tokio::join!(notifier.shut_down(), reviews.shut_down(), serving.finish(CONNECTION_GRACE));
        store.close().await;
    };
    if tokio::time::timeout(SHUTDOWN_LIMIT, ending).await.is_err() {
        tracing::error!("shutdown timed out; everything committed is safe");
    }
    tracing::info!("stopped");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_server_ends_when_its_store_dies_and_the_cause_is_kept() {
        let stop = CancellationToken::new();
        let signals = Signals::register().expect("registered");
        let cause =
            wait_for_end(&stop, signals, async { "the writer is gone".to_owned() }, std::future::pending()).await;
        assert_eq!(cause, EndCause::StoreDied("the writer is gone".to_owned()));
        stop.cancel();
        let signals = Signals::register().expect("registered");
        assert_eq!(
            wait_for_end(&stop, signals, std::future::pending(), std::future::pending()).await,
            EndCause::Stopped
        );
    }
}
