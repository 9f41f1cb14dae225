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

/// Describes how the other side gets an end that was no application close: QUIC lets no application send another one.
pub(super) fn forwarded_as(error: &ConnectionError) -> Option<String> {
    transport(error)?;
    Some(format!(
        "application close {}",
        closed(error).0.into_inner()
    ))
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

/// The QUIC error code of a TLS alert is this, and the code of the alert (RFC 9001 section 4.8).
const TLS_ALERT: u64 = 0x100;
/// TLS alerts (RFC 8446 section 6.2).
const BAD_CERTIFICATE: u64 = TLS_ALERT + 42;
const CERTIFICATE_UNKNOWN: u64 = TLS_ALERT + 46;
const UNKNOWN_CA: u64 = TLS_ALERT + 48;
pub(super) const NO_PROTOCOL: u64 = TLS_ALERT + 120;

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
        (
            ConnectionError::ConnectionClosed(_),
            Some(code @ (BAD_CERTIFICATE..=CERTIFICATE_UNKNOWN | UNKNOWN_CA)),
        ) => format!(
            "{who} does not accept this certificate (TLS alert {}): it must trust the certificate or its CA",
            code - TLS_ALERT
        ),
        (ConnectionError::ConnectionClosed(close), _) => format!(
            "{who} refused the handshake: {}",
            String::from_utf8_lossy(&close.reason)
        ),
        (error, _) => format!("the handshake with {who} failed: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::EventKind;
    use quinn::{ApplicationClose, ConnectionClose, TransportErrorCode};

    /// The reason that the other side gives is a text of its library.
    #[test]
    fn refused_certificate_is_explained() {
        let refused = |alert: u8| {
            let close = ConnectionError::ConnectionClosed(ConnectionClose {
                error_code: TransportErrorCode::crypto(alert),
                frame_type: None,
                reason: "Other(OtherError(CaUsedAsEndEntity))"[..].into(),
            });
            handshake(&close, "the client", &[])
        };
        for alert in [42, 45, 46, 48] {
            let text = refused(alert);
            assert!(
                text.starts_with("the client does not accept this certificate"),
                "{text}"
            );
            assert!(!text.contains("Other"), "{text}");
        }
        assert!(refused(40).contains("refused the handshake"));
    }

    #[test]
    fn end_names_what_the_other_side_gets() {
        let transport_close = |code: TransportErrorCode| {
            ConnectionError::ConnectionClosed(ConnectionClose {
                error_code: code,
                frame_type: None,
                reason: "bad frame"[..].into(),
            })
        };
        let application_close = ConnectionError::ApplicationClosed(ApplicationClose {
            error_code: VarInt::from_u32(7),
            reason: "done"[..].into(),
        });
        let table = [
            (application_close, 7, None, None),
            (ConnectionError::LocallyClosed, 0, None, None),
            (
                transport_close(TransportErrorCode::PROTOCOL_VIOLATION),
                10,
                Some("transport error"),
                Some("application close 10"),
            ),
            (
                transport_close(TransportErrorCode::crypto(46)),
                0x12e,
                Some("transport error"),
                Some("application close 302"),
            ),
            (
                ConnectionError::TimedOut,
                0,
                Some("idle timeout"),
                Some("application close 0"),
            ),
        ];
        for (reason, code, error, forwarded) in table {
            let mut close = EventRecord::new(EventKind::Close, 0, 1);
            let text = add_close(&mut close, &reason).unwrap_or_default();
            assert!(text.contains(error.unwrap_or_default()), "{text}");
            assert_eq!(text.is_empty(), error.is_none(), "{text}");
            assert_eq!(close.more.get("code"), Some(&code.into()), "{reason}");
            assert_eq!(forwarded_as(&reason).as_deref(), forwarded, "{reason}");
        }
    }
}
