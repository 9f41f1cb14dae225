//! Finds the side that opened a connection whose start was not captured.
//!
//! The bytes wait until a message shows the client: an HTTP request or a call is from the client. If none does, the client is the side
//! with the higher port.

use super::stream::CapturedAt;
use crate::decoder::{DecodeOptions, Decoded, Decoder, Origin};
use crate::encoding::Want;
use crate::framing::Head;
use crate::protocol::{Direction, Role, registry};

/// The maximum number of bytes that wait.
const MAX_BYTES: usize = 64 << 10;
/// The approximate memory of a decoder.
const DECODER_SIZE: usize = 16 << 10;

/// Something that waits until the direction is known. `side` counts from 0.
pub(super) struct WaitingPart {
    pub side: usize,
    pub at: CapturedAt,
    pub part: OwnedPart,
}

pub(super) enum OwnedPart {
    Bytes(Vec<u8>),
    Gap(u64),
    End,
    Reset,
}

/// Examines the bytes of a connection, as if side 0 were the client.
pub(super) struct Opener {
    decoder: Decoder<'static>,
    pub waiting: Vec<WaitingPart>,
    bytes: usize,
    sides: [SentKinds; 2],
}

/// The messages of a side, of kinds that both sides may send.
#[derive(Clone, Copy, Default)]
struct SentKinds {
    requests: bool,
    answers: bool,
}

impl Opener {
    pub(super) fn new() -> Self {
        let options = DecodeOptions {
            want: Want::Head,
            ..DecodeOptions::new(registry::all().to_vec())
        };
        Self {
            decoder: Decoder::new(options),
            waiting: Vec::new(),
            bytes: 0,
            sides: <[SentKinds; 2]>::default(),
        }
    }

    /// Returns the memory that it takes, with the decoder's.
    pub(super) fn memory(&self) -> usize {
        DECODER_SIZE + 2 * self.bytes + self.waiting.len() * size_of::<WaitingPart>()
    }

    /// Adds a part; returns the side of the client if it is known now, or `Err` if it will not be.
    pub(super) fn push(&mut self, waiting: WaitingPart) -> Result<Option<usize>, ()> {
        let mut client = None;
        if let OwnedPart::Bytes(bytes) = &waiting.part {
            self.bytes += bytes.len();
            let assumed = [Direction::ToServer, Direction::ToClient];
            let origin = Origin {
                conn: Some(0),
                direction: assumed.get(waiting.side).copied(),
                ..Origin::default()
            };
            // Also if no message of a protocol follows.
            client = http_client(waiting.side, bytes);
            let sides = &mut self.sides;
            self.decoder.push(origin, bytes, &mut |decoded| {
                client = client.or(client_side(decoded, sides));
            });
        }
        self.waiting.push(waiting);
        if client.is_none() && self.bytes > MAX_BYTES {
            return Err(());
        }
        Ok(client)
    }

    /// Returns the most likely side of the client: the one that sends requests. A server that relays requests also
    /// answers, and its peer only answers.
    pub(super) fn likely_client(&mut self) -> Option<usize> {
        let sides = &mut self.sides;
        let mut client = None;
        self.decoder
            .finish(&mut |decoded| client = client.or(client_side(decoded, sides)));
        client.or(match self.sides.map(|side| (side.requests, side.answers)) {
            [(true, true), (false, true)] | [(false, _), (true, false)] => Some(1),
            [(false, true), (true, true)] | [(true, false), (false, _)] => Some(0),
            _ => None,
        })
    }
}

/// Returns the side of the client if a side sent the start of an HTTP request or response.
fn http_client(side: usize, bytes: &[u8]) -> Option<usize> {
    if bytes.starts_with(b"HTTP/1.") {
        return Some(1 - side);
    }
    let line = bytes.split(|&b| b == b'\r').next().unwrap_or_default();
    let version = line.rsplit(|&b| b == b' ').next().unwrap_or_default();
    (version.starts_with(b"HTTP/1.") && version.len() < line.len()).then_some(side)
}

/// Returns the side that sent a message that only the client sends, or the other one for a message of the server.
fn client_side(decoded: &Decoded<'_>, sides: &mut [SentKinds; 2]) -> Option<usize> {
    if decoded.is_faulty() {
        return None;
    }
    let side = match decoded.origin.direction? {
        Direction::ToServer => 0,
        Direction::ToClient => 1,
    };
    let sent_by_client = match decoded.frame.head {
        Head::Http {
            event: false,
            status,
            ..
        } => status == 0,
        Head::Http { .. } => false,
        // RFC 6455 section 5.1: frames of the client are masked, and only those.
        Head::WebSocket { masked, .. } => masked,
        _ => {
            let own = (decoded.protocol).own_direction(decoded.frame, decoded.message);
            if let Some(direction) = own {
                direction == Direction::ToServer
            } else {
                let sent = sides.get_mut(side)?;
                match decoded.message.role? {
                    Role::Request => sent.requests = true,
                    Role::Response | Role::Error => sent.answers = true,
                    _ => {}
                }
                return None;
            }
        }
    };
    Some(if sent_by_client { side } else { 1 - side })
}
