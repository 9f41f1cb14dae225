//! WebSocket, from its upgrade to its close (RFC 6455).
//!
//! ```text
//!   GET /path HTTP/1.1, sec-websocket-key  -->
//!                                          <--  101, sec-websocket-accept
//!   messages, ping -> pong                <-->  close -> close
//! ```
//!
//! No extension is requested or accepted. A server selects one of the offered subprotocols.

use super::{ConnectionConfig, FieldsOfRequest, Signal, head};
use crate::decoder::Decoded;
use crate::encode::Encoder;
use crate::framing::Wire;
pub(super) use crate::framing::websocket_accept;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

/// "Normal closure", section 7.4.1.
const NORMAL_CLOSURE: [u8; 2] = 1000u16.to_be_bytes();

const PONG: u8 = 10;
const CLOSE: u8 = 8;

/// The state of one connection.
pub(super) struct WebSocketCodec {
    key: String,
    open: bool,
    /// This side has sent a Close frame.
    closed: bool,
    /// The status code of the Close frame of the peer.
    peer_close: Option<Vec<u8>>,
    /// The upgrade failed.
    refused: bool,
}

impl WebSocketCodec {
    pub(super) fn new(key: [u8; 16]) -> Self {
        Self {
            key: BASE64.encode(key),
            open: false,
            closed: false,
            peer_close: None,
            refused: false,
        }
    }

    pub(super) fn is_open(&self) -> bool {
        self.open && !self.closed
    }

    /// Returns `true` after a Close frame was sent: section 5.5.1, "MUST NOT send any more data frames after sending a
    /// Close frame".
    pub(super) fn is_closed(&self) -> bool {
        self.closed
    }

    /// Returns `true` if further input is ignored: section 1.4, "discards any further data received".
    pub(super) fn ignores_input(&self) -> bool {
        self.peer_close.is_some() || self.refused
    }

    /// Writes the upgrade request of a client.
    pub(super) fn write_request(&self, config: &ConnectionConfig<'_>, out: &mut Vec<u8>) {
        let defaults = [
            ("upgrade", "websocket"),
            ("connection", "Upgrade"),
            ("sec-websocket-version", "13"),
            ("sec-websocket-key", &self.key),
        ];
        let text = head::request("GET", &defaults, config, None, &FieldsOfRequest::default());
        out.extend_from_slice(text.as_bytes());
    }

    pub(super) fn received(
        &mut self,
        decoded: &Decoded<'_>,
        is_client: bool,
        encoder: &mut Encoder<'_>,
        out: &mut Vec<u8>,
    ) -> Signal {
        let signal = match head::status(decoded) {
            // RFC 9110 section 15.2: the final response follows an interim one.
            Some(100 | 102..=199) if !self.open && is_client => Signal::Nothing,
            Some(status) if !self.open && is_client => self.read_response(status, decoded),
            Some(_) if !self.open => self.read_request(decoded, out),
            _ if !self.open => Signal::Refused(
                "the peer does not send HTTP, so there is no upgrade to WebSocket".into(),
            ),
            _ => {
                let body = decoded.frame.view.body();
                match decoded.frame.control {
                    Some("ping") if !self.closed => {
                        write_control(encoder, PONG, body, out);
                        Signal::Nothing
                    }
                    Some("close") => {
                        self.peer_close = Some(body.get(..2).unwrap_or_default().to_vec());
                        Signal::Closing
                    }
                    _ => Signal::Nothing,
                }
            }
        };
        self.refused |= matches!(signal, Signal::Refused(_));
        signal
    }

    /// Handles the response of the server: section 4.1.
    fn read_response(&mut self, status: u16, decoded: &Decoded<'_>) -> Signal {
        let start = head::start_line(decoded);
        if status != 101 {
            return Signal::Refused(format!(
                "no WebSocket: the server answers {start:?} (is the path right?)"
            ));
        }
        // "the client MUST _Fail the WebSocket Connection_" if the accept value does not match the key.
        let got = head::field(decoded, "sec-websocket-accept").unwrap_or_default();
        let wanted = websocket_accept(&self.key);
        if got != wanted {
            return Signal::Refused(format!(
                "no WebSocket: sec-websocket-accept is {got:?}, not {wanted:?}"
            ));
        }
        self.open = true;
        Signal::Open
    }

    /// Handles the request of a client: section 4.2.2.
    fn read_request(&mut self, decoded: &Decoded<'_>, out: &mut Vec<u8>) -> Signal {
        let start = head::start_line(decoded);
        let version = head::field(decoded, "sec-websocket-version");
        let is_upgrade =
            start.starts_with("GET ") && head::has_element(decoded, "upgrade", "websocket");
        let key = head::field(decoded, "sec-websocket-key").filter(|_| is_upgrade);
        let key = match (key, version.as_deref()) {
            (Some(key), Some("13")) => key,
            (None, _) => {
                refuse_request(start, out);
                return Signal::Refused(format!("{start:?} does not request WebSocket"));
            }
            (Some(_), version) => {
                refuse_request(start, out);
                let version = version.unwrap_or("none");
                return Signal::Refused(format!(
                    "{start:?} requests WebSocket version {version:?}, but only 13 is supported"
                ));
            }
        };
        // Many clients fail if none of their subprotocols is selected.
        let offered = head::elements(decoded.frame.view.bytes, "sec-websocket-protocol");
        let mut all = offered.iter();
        let own = all.find(|one| one.eq_ignore_ascii_case(decoded.protocol.name()));
        let selected = own.or(offered.first());
        let selected = selected.map(|one| format!("sec-websocket-protocol: {one}\r\n"));
        let text = format!(
            "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\n\
             sec-websocket-accept: {}\r\n{}\r\n",
            websocket_accept(&key),
            selected.unwrap_or_default()
        );
        out.extend_from_slice(text.as_bytes());
        self.open = true;
        Signal::Open
    }

    /// Sends a Close frame, once: section 5.5.1, "it typically echos the status code it received".
    pub(super) fn close(&mut self, encoder: &mut Encoder<'_>, out: &mut Vec<u8>) {
        if self.open && !std::mem::replace(&mut self.closed, true) {
            let body = self.peer_close.as_deref().unwrap_or(&NORMAL_CLOSURE);
            write_control(encoder, CLOSE, body, out);
        }
    }
}

/// Refuses a request that is not an upgrade to a supported version. Section 4.4 requires the version.
fn refuse_request(start: &str, out: &mut Vec<u8>) {
    let body = "only WebSocket is supported here\n";
    let text = format!(
        "HTTP/1.1 426 Upgrade Required\r\nupgrade: websocket\r\nconnection: Upgrade, close\r\n\
         sec-websocket-version: 13\r\ncontent-type: text/plain\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    out.extend_from_slice(text.as_bytes());
    if !start.starts_with("HEAD ") {
        out.extend_from_slice(body.as_bytes());
    }
}

/// Writes a control frame.
fn write_control(encoder: &mut Encoder<'_>, opcode: u8, body: &[u8], out: &mut Vec<u8>) {
    let wire = Wire {
        opcode: Some(opcode),
        ..Wire::default()
    };
    if let Ok(encoded) = encoder.frame_of(body, wire) {
        out.extend_from_slice(&encoded.bytes);
    }
}
