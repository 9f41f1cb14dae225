//! WebSocket, from its upgrade to its close (RFC 6455).
//!
//! ```text
//!   GET /path HTTP/1.1, sec-websocket-key  -->
//!                                          <--  101, sec-websocket-accept
//!   messages, ping -> pong                <-->  close -> close
//! ```
//!
//! No extension and no subprotocol is asked for or granted.

use super::{ConnectionConfig, Signal, head};
use crate::decoder::Decoded;
use crate::encode::Encoder;
use crate::framing::Wire;
pub(super) use crate::framing::accept;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

/// "Normal closure", section 7.4.1.
const NORMAL: [u8; 2] = 1000u16.to_be_bytes();

const PONG: u8 = 10;
const CLOSE: u8 = 8;

/// One connection.
pub(super) struct WebSocket {
    key: String,
    open: bool,
    /// This side said that it closes.
    closed: bool,
    /// The other side said that it closes: the status code that it gave.
    parting: Option<Vec<u8>>,
    /// It will not do.
    refused: bool,
}

impl WebSocket {
    pub(super) fn new(key: [u8; 16]) -> Self {
        Self {
            key: BASE64.encode(key),
            open: false,
            closed: false,
            parting: None,
            refused: false,
        }
    }

    pub(super) fn is_open(&self) -> bool {
        self.open && !self.closed
    }

    /// Whether this side may say no more: section 5.5.1, "MUST NOT send any more data frames after sending a Close frame".
    pub(super) fn is_closed(&self) -> bool {
        self.closed
    }

    /// Whether what still comes is passed over: section 1.4, "discards any further data received".
    pub(super) fn is_deaf(&self) -> bool {
        self.parting.is_some() || self.refused
    }

    /// The client's request.
    pub(super) fn ask(&self, config: &ConnectionConfig<'_>, out: &mut Vec<u8>) {
        let usual = [
            ("upgrade", "websocket"),
            ("connection", "Upgrade"),
            ("sec-websocket-version", "13"),
            ("sec-websocket-key", &self.key),
        ];
        let text = head::request("GET", &usual, config);
        out.extend_from_slice(text.as_bytes());
    }

    pub(super) fn received(
        &mut self,
        decoded: &Decoded<'_>,
        is_client: bool,
        encoder: &mut Encoder<'_>,
        out: &mut Vec<u8>,
    ) -> Signal {
        let means = match head::status(decoded) {
            // RFC 9110 section 15.2: interim answers are followed by the one that counts.
            Some(100 | 102..=199) if !self.open && is_client => Signal::Nothing,
            Some(status) if !self.open && is_client => self.answered(status, decoded),
            Some(_) if !self.open => self.asked(decoded, out),
            _ if !self.open => {
                Signal::Refused("what comes is no HTTP: no upgrade to WebSocket".into())
            }
            _ => {
                let body = decoded.frame.view.body();
                match decoded.frame.control {
                    Some("ping") if !self.closed => {
                        control(encoder, PONG, body, out);
                        Signal::Nothing
                    }
                    Some("close") => {
                        self.parting = Some(body.get(..2).unwrap_or_default().to_vec());
                        Signal::Closing
                    }
                    _ => Signal::Nothing,
                }
            }
        };
        self.refused |= matches!(means, Signal::Refused(_));
        means
    }

    /// The server's answer: section 4.1.
    fn answered(&mut self, status: u16, decoded: &Decoded<'_>) -> Signal {
        let start = head::start(decoded);
        if status != 101 {
            return Signal::Refused(format!(
                "no WebSocket: the server answers {start:?} (is the path right?)"
            ));
        }
        // "the client MUST _Fail the WebSocket Connection_" where the key was not answered so.
        let got = head::field(decoded, "sec-websocket-accept").unwrap_or_default();
        let wanted = accept(&self.key);
        if got != wanted {
            return Signal::Refused(format!(
                "no WebSocket: sec-websocket-accept is {got:?}, not {wanted:?}"
            ));
        }
        self.open = true;
        Signal::Open
    }

    /// The client's request: section 4.2.2.
    fn asked(&mut self, decoded: &Decoded<'_>, out: &mut Vec<u8>) -> Signal {
        let start = head::start(decoded);
        let version = head::field(decoded, "sec-websocket-version");
        let asks = start.starts_with("GET ") && head::has(decoded, "upgrade", "websocket");
        let key = head::field(decoded, "sec-websocket-key").filter(|_| asks);
        let key = match (key, version.as_deref()) {
            (Some(key), Some("13")) => key,
            (None, _) => {
                upgrade_required(start, out);
                return Signal::Refused(format!("{start:?} does not ask for WebSocket"));
            }
            (Some(_), version) => {
                upgrade_required(start, out);
                let version = version.unwrap_or("none");
                return Signal::Refused(format!(
                    "{start:?} asks for WebSocket of version {version:?}, and 13 is spoken here"
                ));
            }
        };
        let text = format!(
            "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\n\
             sec-websocket-accept: {}\r\n\r\n",
            accept(&key)
        );
        out.extend_from_slice(text.as_bytes());
        self.open = true;
        Signal::Open
    }

    /// Says that nothing more will be said, once: section 5.5.1, "it typically echos the status code it received".
    pub(super) fn close(&mut self, encoder: &mut Encoder<'_>, out: &mut Vec<u8>) {
        if self.open && !std::mem::replace(&mut self.closed, true) {
            let body = self.parting.as_deref().unwrap_or(&NORMAL);
            control(encoder, CLOSE, body, out);
        }
    }
}

/// What else is answered; section 4.4 has the version in it.
fn upgrade_required(start: &str, out: &mut Vec<u8>) {
    let body = "this speaks WebSocket only\n";
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

/// A control frame.
fn control(encoder: &mut Encoder<'_>, opcode: u8, body: &[u8], out: &mut Vec<u8>) {
    let wire = Wire {
        opcode: Some(opcode),
        ..Wire::default()
    };
    if let Ok(encoded) = encoder.frame_of(body, wire) {
        out.extend_from_slice(&encoded.bytes);
    }
}
