//! Reads a frame's header, and checks it against RFC 6455 and RFC 7692.

use super::super::Head;
use crate::error::DecodeError;
use crate::span::Span;

/// RFC 6455 section 5.2, up to the payload.
#[derive(Clone, Copy)]
pub(crate) struct WebSocketHeader {
    pub(super) fin: bool,
    /// RSV1, RSV2, RSV3 as bits 4, 2, 1.
    pub(super) rsv: u8,
    pub(super) opcode: u8,
    pub(crate) mask: Option<[u8; 4]>,
    /// The length of the payload.
    pub(crate) len: u64,
    /// The number of bytes before the payload.
    pub(crate) size: usize,
}

const RSV1: u8 = 4;

impl WebSocketHeader {
    /// Reads the header at the start of the window; `Err` with the number of missing bytes.
    pub(crate) fn read(window: &[u8]) -> Result<Self, u64> {
        let missing = |size: usize| (size - window.len()) as u64;
        let &[first, second] = window.first_chunk().ok_or_else(|| missing(2))?;
        let (len, at) = match second & 0x7f {
            126 => {
                let &[_, _, a, b] = window.first_chunk().ok_or_else(|| missing(4))?;
                (u16::from_be_bytes([a, b]) as u64, 4)
            }
            127 => {
                let &[_, _, ref len @ ..] =
                    window.first_chunk::<10>().ok_or_else(|| missing(10))?;
                (u64::from_be_bytes(*len), 10)
            }
            len => (len as u64, 2),
        };
        let masked = second & 0x80 != 0;
        let size = at + if masked { 4 } else { 0 };
        let mask = match window.get(at..size) {
            Some(mask) => mask.first_chunk().copied(),
            None => return Err(missing(size)),
        };
        Ok(Self {
            fin: first & 0x80 != 0,
            rsv: first >> 4 & 7,
            opcode: first & 15,
            mask,
            len,
            size,
        })
    }

    pub(super) fn is_control(self) -> bool {
        self.opcode >= 8
    }

    /// Returns `true` for the first frame of a text or binary message.
    pub(super) fn starts_message(self) -> bool {
        matches!(self.opcode, 1 | 2)
    }

    /// RFC 7692 section 6: RSV1 of a message's first frame means that the whole message is
    /// compressed.
    pub(super) fn compressed(self) -> bool {
        self.starts_message() && self.rsv & RSV1 != 0
    }

    pub(super) fn head(self) -> Head<'static> {
        Head::WebSocket {
            opcode: self.opcode,
            masked: self.mask.is_some(),
            compressed: self.compressed(),
            fragments: 1,
        }
    }

    pub(super) fn control(self) -> Option<&'static str> {
        match self.opcode {
            8 => Some("close"),
            9 => Some("ping"),
            10 => Some("pong"),
            _ => None,
        }
    }

    /// Returns `true` if the length has more bytes than needed: RFC 6455 section 5.2, "in all
    /// cases, the minimal number of bytes MUST be used to encode the length".
    fn has_excess_length(self) -> bool {
        let at = self.size - self.mask.map_or(0, |m| m.len());
        (at == 4 && self.len < 126) || (at == 10 && self.len <= 0xffff)
    }

    /// Returns `true` if a message of this direction, or a control frame, can start with these
    /// bytes; `None` if there are too few.
    pub(crate) fn plausible(bytes: &[u8], masked: Option<bool>) -> Option<bool> {
        let &[first, second] = bytes.first_chunk()?;
        let opcode = first & 15;
        let has_opcode = matches!(opcode, 1 | 2 | 8..=10);
        let has_rsv = first & 0x30 == 0 && (first & 0x40 == 0 || matches!(opcode, 1 | 2));
        let has_mask = masked.is_none_or(|masked| masked == (second & 0x80 != 0));
        let fits = opcode < 8 || (first & 0x80 != 0 && second & 0x7f < 126);
        Some(has_opcode && has_rsv && has_mask && fits)
    }

    /// Returns an error for a header that no peer sends: it is hardly a header.
    pub(super) fn implausible(self) -> Option<DecodeError> {
        let known = matches!(self.opcode, 0..=2 | 8..=10) && self.rsv & !RSV1 == 0;
        (!known).then(|| self.violation()).flatten()
    }

    /// Checks the header by itself.
    pub(super) fn violation(self) -> Option<DecodeError> {
        let bad = |field, wanted: &'static str, got: String| {
            let span = Span::new(0, self.size);
            Some(DecodeError::new("bad-websocket", span, field, wanted, got))
        };
        // Section 5.2: "If an unknown opcode is received, the receiving endpoint MUST Fail the WebSocket Connection".
        if !matches!(self.opcode, 0..=2 | 8..=10) {
            let hint = "the stream may not be WebSocket here, or an earlier length was wrong";
            return bad("opcode", "0, 1, 2, 8, 9 or 10", self.opcode.to_string())
                .map(|e| e.hint(hint));
        }
        // Section 5.5: "All control frames MUST have a payload length of 125 bytes or less and MUST NOT be fragmented."
        if self.is_control() && !self.fin {
            return bad("fin", "1 in a control frame", "0".into());
        }
        if self.is_control() && self.len > 125 {
            return bad(
                "length",
                "at most 125 in a control frame",
                self.len.to_string(),
            );
        }
        if self.has_excess_length() {
            // The length bytes of the header: all except its first two bytes and the mask.
            let spent = self.size - 2 - if self.mask.is_some() { 4 } else { 0 };
            let got = format!("{} in {spent} bytes", self.len);
            return bad("length", "the shortest form of the length", got);
        }
        // Section 5.2: RSV "MUST be 0 unless an extension is negotiated that defines meanings for non-zero values".
        if self.rsv & !RSV1 != 0 {
            return bad("rsv", "RSV2 and RSV3 clear", format!("{:03b}", self.rsv))
                .map(|e| e.hint("no known extension uses them"));
        }
        // RFC 7692 section 6.1: an endpoint "MUST NOT set the Per-Message Compressed bit of control frames and
        // non-first fragments of a data message".
        if self.rsv != 0 && !self.starts_message() {
            return bad(
                "rsv",
                "RSV1 only in a message's first frame",
                "it set".into(),
            );
        }
        None
    }
}
