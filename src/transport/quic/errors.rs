//! Error messages for QUIC connections.

use crate::capture::EventRecord;
use quinn::{ConnectionError, ReadError, VarInt, WriteError};
use std::io;

/// The application close that passes on the end of a connection. A transport close keeps its code.
pub(in crate::transport) fn closed(error: &ConnectionError) -> (VarInt, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    match error {
        ConnectionError::ApplicationClosed(close) => (close.error_code, text(&close.reason)),
        ConnectionError::ConnectionClosed(close) => {
            let code = VarInt::from_u64(close.error_code.into()).unwrap_or(VarInt::MAX);
            (code, text(&close.reason))
        }
        _ => (VarInt::from_u32(0), String::new()),
    }
}

/// The error of a connection that did not end with an application close.
fn transport(error: &ConnectionError) -> Option<String> {
    match error {
        ConnectionError::ApplicationClosed(_) | ConnectionError::LocallyClosed => None,
        ConnectionError::TimedOut => Some("the peer was silent until the idle timeout".into()),
        ConnectionError::Reset => {
            Some("the peer has lost the state of the connection (stateless reset)".into())
        }
        ConnectionError::ConnectionClosed(close) => Some(format!(
            "the peer closed the connection with the transport error {}",
            close.error_code
        )),
        error => Some(error.to_string()),
    }
}

/// Adds code, reason and error of a close to its event. Returns the error.
pub(super) fn add_close(close: &mut EventRecord, reason: &ConnectionError) -> Option<String> {
    let (code, text) = closed(reason);
    close.more.insert("code".into(), code.into_inner().into());
    if !text.is_empty() {
        close.more.insert("reason".into(), text.into());
    }
    let error = transport(reason)?;
    close.more.insert("error".into(), error.as_str().into());
    Some(error)
}

/// The code with which a peer has reset or stopped a stream.
pub(super) fn code_of(error: &io::Error) -> Option<u64> {
    let inner = error.get_ref()?;
    let reset = match inner.downcast_ref::<ReadError>() {
        Some(ReadError::Reset(code)) => Some(*code),
        _ => None,
    };
    let stopped = match inner.downcast_ref::<WriteError>() {
        Some(WriteError::Stopped(code)) => Some(*code),
        _ => None,
    };
    reset.or(stopped).map(VarInt::into_inner)
}

/// TLS alert `no_application_protocol` as a QUIC error code (RFC 9001 section 4.8).
pub(super) const NO_PROTOCOL: u64 = 0x100 + 120;

/// Explains a failed handshake with `who`.
pub(in crate::transport) fn handshake(
    error: &ConnectionError,
    who: &str,
    alpn: &[String],
) -> String {
    let code = match error {
        ConnectionError::ConnectionClosed(close) => Some(u64::from(close.error_code)),
        ConnectionError::TransportError(error) => Some(u64::from(error.code)),
        _ => None,
    };
    match (error, code) {
        (_, Some(NO_PROTOCOL)) => format!(
            "{who} accepts none of the offered protocols ({}): use --alpn to offer another one",
            alpn.join(", ")
        ),
        (ConnectionError::TimedOut, _) => {
            format!("{who} did not answer over QUIC")
        }
        (ConnectionError::VersionMismatch, _) => {
            format!("{who} does not support QUIC version 1, which wiretool uses")
        }
        (ConnectionError::TransportError(error), _) => {
            format!("the handshake with {who} failed: {}", error.reason)
        }
        (ConnectionError::ConnectionClosed(close), _) => format!(
            "{who} refused the handshake: {}",
            String::from_utf8_lossy(&close.reason)
        ),
        (error, _) => format!("the handshake with {who} failed: {error}"),
    }
}
