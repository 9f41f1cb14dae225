//! How connections come to be: dialled, started as a child, or accepted.

use super::address::Address;
use super::connection::{Connection, ConnectionEvent};
use super::pipes;
use super::socket::{Listener, Socket};
use super::socket_io::serve_socket;
use super::tls::{Client, Server};
use crate::capture::What;
use crate::live::handler::Ended;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// Where a client goes.
pub enum Target {
    /// Connections to an address.
    Address {
        /// Where to.
        to: Address,
        /// TLS with the server, where that is spoken.
        tls: Option<Client>,
        /// How long a server that does not answer at all is waited for.
        within: Duration,
    },
    /// A child for each connection.
    Child {
        /// The command and its arguments.
        argv: Vec<OsString>,
        /// Gets the child's stderr.
        stderr: File,
    },
}

/// Where connections come from that nobody dials.
pub(super) struct Incoming {
    pub(super) listener: Listener,
    pub(super) tls: Option<Server>,
}

pub(super) type Accepted = (Socket, Option<String>, Option<Server>);

pub(super) async fn accept(incoming: Option<&Incoming>) -> io::Result<Accepted> {
    let Some(incoming) = incoming else {
        return std::future::pending().await;
    };
    let (socket, peer) = incoming.listener.accept().await?;
    Ok((socket, peer, incoming.tls.clone()))
}

/// A connection that was accepted.
pub(super) async fn accepted(
    socket: Socket,
    peer: Option<String>,
    tls: Option<Server>,
    connection: &Arc<Connection>,
) {
    let mut opened = connection.event(What::Open);
    if let Some(peer) = peer {
        opened.more.insert("peer".into(), peer.into());
    }
    connection.happened(opened);
    let socket = match tls {
        None => socket,
        Some(tls) => {
            let secured = tokio::select! {
                biased;
                () = connection.abandoned() => return connection.abandon().await,
                secured = socket.secure(&tls) => secured,
            };
            match secured {
                Ok(socket) => socket,
                Err(error) => {
                    connection.say(&format!("connection {}: {error}", connection.conn));
                    connection.refused(What::Close, &error.to_string());
                    return connection.tell(ConnectionEvent::Failed).await;
                }
            }
        }
    };
    connection.tell(ConnectionEvent::Opened).await;
    serve_socket(socket, connection).await;
}

/// A connection that is dialled, or a child.
pub(super) async fn dial(target: &Target, connection: &Arc<Connection>) {
    let (to, tls, within) = match target {
        Target::Address { to, tls, within } => (to, tls.as_ref(), *within),
        Target::Child { argv, stderr } => return pipes::child(argv, stderr, connection).await,
    };
    connection.happened(connection.event(What::Open));
    let connected = tokio::select! {
        biased;
        () = connection.abandoned() => return connection.abandon().await,
        connected = Socket::connect(to, tls, Some(within)) => connected,
    };
    match connected {
        Ok(socket) => {
            connection.tell(ConnectionEvent::Opened).await;
            serve_socket(socket, connection).await;
        }
        Err(error) => {
            connection.refused(What::Reset, &error.to_string());
            let why = format!("cannot connect to {to}: {error}");
            connection.over(Ended::Refused(why)).await;
        }
    }
}
