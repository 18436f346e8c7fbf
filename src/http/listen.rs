//! Binding the port: both loopback addresses as one, or a single address.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use tokio::net::TcpListener;

/// Attempts to find a port that is free on both loopback addresses.
const ATTEMPTS: usize = 20;

/// A bound port that accepts no connections yet.
#[derive(Debug)]
pub struct Listeners {
    /// One, or two for loopback.
    pub sockets: Vec<TcpListener>,
    /// The real port.
    pub port: u16,
    /// The bound address; `None` for loopback.
    pub address: Option<IpAddr>,
}

/// The port could not be bound.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// Another program uses the port.
    #[error(
        "port {port} is already in use by another program; stop that program, or choose another port with --port (0 picks a free one)"
    )]
    InUse {
        /// Which.
        port: u16,
    },
    /// The operating system refused.
    #[error("could not bind port {port} on {address}")]
    Refused {
        /// Where.
        address: IpAddr,
        /// Which.
        port: u16,
        /// Why not.
        #[source]
        source: io::Error,
    },
}

impl Listeners {
    /// Binds a port of an address, or of both loopback addresses.
    pub async fn bind(address: Option<IpAddr>, port: u16) -> Result<Self, ListenError> {
        if let Some(address) = address {
            let socket = bind(address, port).await?;
            let port = local_port(&socket, address)?;
            return Ok(Self { sockets: vec![socket], port, address: Some(address) });
        }
        let (four, six) = (IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST));
        let mut attempt = 0;
        loop {
            attempt += 1;
            let socket = bind(four, port).await?;
            let real_port = local_port(&socket, four)?;
            match bind(six, real_port).await {
                Ok(second) => return Ok(Self { sockets: vec![socket, second], port: real_port, address: None }),
                // Browsers may try ::1 first, and would reach another program that listens there.
                Err(ListenError::InUse { .. }) if port == 0 && attempt < ATTEMPTS => {}
                Err(error @ ListenError::InUse { .. }) => return Err(error),
                Err(error) => {
                    tracing::info!(error = %error, "no IPv6 loopback; listening on 127.0.0.1 only");
                    return Ok(Self { sockets: vec![socket], port: real_port, address: None });
                }
            }
        }
    }
}

async fn bind(address: IpAddr, port: u16) -> Result<TcpListener, ListenError> {
    TcpListener::bind(SocketAddr::new(address, port)).await.map_err(|source| match source.kind() {
        io::ErrorKind::AddrInUse => ListenError::InUse { port },
        _ => ListenError::Refused { address, port, source },
    })
}

fn local_port(socket: &TcpListener, address: IpAddr) -> Result<u16, ListenError> {
    socket.local_addr().map(|local| local.port()).map_err(|source| ListenError::Refused { address, port: 0, source })
}
