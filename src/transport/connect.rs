//! Opens connections: to an address, to a child process, or by accepting a client.

use super::address::Address;
use super::connection::{Connection, ConnectionEvent};
use super::pipes;
use super::quic::{QuicClient, QuicServer};
use super::socket::{Socket, SocketListener};
use super::socket_io::serve_socket;
use super::stdio::Program;
use super::tls::{TlsClient, TlsServer};
use crate::capture::EventKind;
use std::fs::File;
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// The destination of a client.
pub enum Target {
    /// Connects to an address.
    Address {
        /// The address.
        to: Address,
        /// The TLS configuration, if the address uses TLS.
        tls: Option<TlsClient>,
        /// Time limit for a server that does not answer.
        within: Duration,
    },
    /// Connects to a QUIC address.
    Quic {
        /// The address.
        to: Address,
        /// The QUIC configuration.
        client: QuicClient,
        /// The protocols that the server is offered (ALPN).
        alpn: Vec<String>,
    },
    /// Starts a child process for each connection.
    Child {
        /// Its program.
        program: Program,
        /// Receives the stderr of the child.
        stderr: File,
    },
}

/// A listener and the configuration of its clients.
pub(super) struct Incoming {
    pub(super) listener: SocketListener,
    pub(super) tls: Option<TlsServer>,
    pub(super) quic: Option<QuicServer>,
}

/// A connection before its handshake.
pub(super) enum Accepted {
    /// A socket, and its peer.
    Socket(Socket, Option<String>, Option<TlsServer>),
    /// A QUIC connection.
    Quic(quinn::Incoming, QuicServer),
}

pub(super) async fn accept(incoming: Option<&Incoming>) -> io::Result<Accepted> {
    let Some(incoming) = incoming else {
        return std::future::pending().await;
    };
    if let Some(quic) = &incoming.quic {
        let connection = super::socket::incoming(&incoming.listener).await;
        return Ok(Accepted::Quic(connection, quic.clone()));
    }
    let (socket, peer) = incoming.listener.accept().await?;
    Ok(Accepted::Socket(socket, peer, incoming.tls.clone()))
}

/// Serves an accepted connection.
pub(super) async fn serve_accepted(accepted: Accepted, connection: &Arc<Connection>) {
    let mut opened = connection.event(EventKind::Open);
    let peer = match &accepted {
        Accepted::Socket(_, peer, _) => peer.clone(),
        Accepted::Quic(incoming, _) => Some(incoming.remote_address().to_string()),
    };
    if let Some(peer) = peer {
        opened.more.insert("peer".into(), peer.into());
    }
    connection.record_event(opened);
    let (socket, tls) = match accepted {
        Accepted::Socket(socket, _, tls) => (socket, tls),
        Accepted::Quic(incoming, server) => {
            return super::quic::accept(incoming, &server, connection).await;
        }
    };
    let socket = match tls {
        None => socket,
        Some(tls) => {
            let secured = tokio::select! {
                biased;
                () = connection.wait_for_abandonment() => return connection.end_unopened().await,
                secured = socket.secure(&tls) => secured,
            };
            match secured {
                Ok(socket) => socket,
                Err(error) => return connection.fail(&error.to_string()).await,
            }
        }
    };
    connection.emit(ConnectionEvent::Opened).await;
    serve_socket(socket, connection).await;
}

/// Connects to an address or starts a child.
pub(super) async fn connect(target: &Target, connection: &Arc<Connection>) {
    let (to, tls, within) = match target {
        Target::Address { to, tls, within } => (to, tls.as_ref(), *within),
        Target::Quic { to, client, alpn } => {
            return super::quic::connect(to, client, alpn, connection).await;
        }
        Target::Child { program, stderr } => {
            return pipes::child(program, stderr, connection).await;
        }
    };
    connection.record_event(connection.event(EventKind::Open));
    let connected = tokio::select! {
        biased;
        () = connection.wait_for_abandonment() => return connection.end_unopened().await,
        connected = Socket::connect(to, tls, Some(within)) => connected,
    };
    match connected {
        Ok(socket) => {
            connection.emit(ConnectionEvent::Opened).await;
            serve_socket(socket, connection).await;
        }
        Err(error) => connection.refuse(to, &error.to_string()).await,
    }
}
