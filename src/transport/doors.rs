//! How connections come to be: dialled, started as a child, or accepted.

use super::address::Address;
use super::line::{Line, News};
use super::pipes;
use super::socket::{Listener, Socket};
use super::talk::talk;
use super::tls::{Client, Server};
use crate::capture::What;
use crate::conversation::actor::Ended;
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
pub(super) struct Door {
    pub(super) listener: Listener,
    pub(super) tls: Option<Server>,
}

pub(super) type Accepted = (Socket, Option<String>, Option<Server>);

pub(super) async fn accept(door: Option<&Door>) -> io::Result<Accepted> {
    let Some(door) = door else {
        return std::future::pending().await;
    };
    let (socket, peer) = door.listener.accept().await?;
    Ok((socket, peer, door.tls.clone()))
}

/// A connection that was accepted.
pub(super) async fn accepted(
    socket: Socket,
    peer: Option<String>,
    tls: Option<Server>,
    line: &Arc<Line>,
) {
    let mut opened = line.event(What::Open);
    if let Some(peer) = peer {
        opened.more.insert("peer".into(), peer.into());
    }
    line.happened(opened);
    let socket = match tls {
        None => socket,
        Some(tls) => {
            let secured = tokio::select! {
                biased;
                () = line.abandoned() => return line.abandon().await,
                secured = socket.secure(&tls) => secured,
            };
            match secured {
                Ok(socket) => socket,
                Err(error) => {
                    line.say(&format!("connection {}: {error}", line.conn));
                    line.refused(What::Close, &error.to_string());
                    return line.tell(News::Failed).await;
                }
            }
        }
    };
    line.tell(News::Opened).await;
    talk(socket, line).await;
}

/// A connection that is dialled, or a child.
pub(super) async fn dial(target: &Target, line: &Arc<Line>) {
    let (to, tls, within) = match target {
        Target::Address { to, tls, within } => (to, tls.as_ref(), *within),
        Target::Child { argv, stderr } => return pipes::child(argv, stderr, line).await,
    };
    line.happened(line.event(What::Open));
    let connected = tokio::select! {
        biased;
        () = line.abandoned() => return line.abandon().await,
        connected = Socket::connect(to, tls, Some(within)) => connected,
    };
    match connected {
        Ok(socket) => {
            line.tell(News::Opened).await;
            talk(socket, line).await;
        }
        Err(error) => {
            line.refused(What::Reset, &error.to_string());
            let why = format!("cannot connect to {to}: {error}");
            line.over(Ended::Refused(why)).await;
        }
    }
}
