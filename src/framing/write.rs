//! Writes frames: the reverse of the framers. Each framing's writer is in the same file or folder
//! as its reader.
//!
//! ```text
//!   body + wire  -write->  frame  -joined->  stream
//! ```
//!
//! A writer writes the given values, correct or not: tests and bug reports need both.

use super::{CustomFraming, Framing, Wire, content_length, http, lines, method, prefix, websocket};

/// A framing, and how it is written if it is from outside this crate.
#[derive(Clone, Copy)]
pub struct FrameWriter<'p> {
    pub framing: Framing,
    pub custom: Option<&'p dyn CustomFraming>,
}

impl From<Framing> for FrameWriter<'_> {
    fn from(framing: Framing) -> Self {
        let custom = None;
        Self { framing, custom }
    }
}

/// Writes one frame around a body, without the bytes before it in the stream.
pub fn write<'p>(writer: impl Into<FrameWriter<'p>>, body: &[u8], wire: &Wire, out: &mut Vec<u8>) {
    let FrameWriter { framing, custom } = writer.into();
    if let Some(hex) = &wire.hex {
        out.extend_from_slice(hex);
        return;
    }
    match framing {
        Framing::Lines => lines::write(body, wire, out),
        Framing::Prefix => prefix::write(body, wire, out),
        Framing::Method => method::write(body, wire, out),
        // Frames of HTTP/3 itself are written as their bytes.
        Framing::Bare | Framing::Http3 | Framing::Values | Framing::Header | Framing::Message => {
            wire.payload(body, out);
        }
        Framing::ContentLength => content_length::write(body, wire, out),
        Framing::WebSocket => websocket::write(body, wire, out),
        Framing::Http => http::write(body, wire, out),
        Framing::Custom(_) => match custom {
            Some(custom) => custom.write(body, wire, out),
            None => wire.payload(body, out),
        },
    }
}

/// Joins frames of one direction into one stream. Frames inside a fragmented message wait for it.
#[derive(Debug, Default)]
pub struct FrameJoiner {
    held: Vec<Vec<u8>>,
}

impl FrameJoiner {
    /// Appends the next frame of the stream, with the bytes before it.
    pub fn push(&mut self, writer: FrameWriter<'_>, body: &[u8], wire: &Wire, out: &mut Vec<u8>) {
        if wire.inside {
            let mut frame = wire.before.clone();
            write(writer, body, wire, &mut frame);
            self.held.push(frame);
            return;
        }
        if wire.between.is_empty() {
            self.finish(out);
            out.extend_from_slice(&wire.before);
            return write(writer, body, wire, out);
        }
        out.extend_from_slice(&wire.before);
        let mut frame = Vec::new();
        write(writer, body, wire, &mut frame);
        let ends = match wire.hex {
            Some(_) => Vec::new(),
            None => websocket::ends(&frame),
        };
        let mut done = 0;
        let positions = wire
            .between
            .iter()
            .copied()
            .chain(std::iter::repeat(usize::MAX));
        for (held, place) in self.held.drain(..).zip(positions) {
            let at = match (wire.hex.is_some(), place) {
                (true, at) => at,
                (false, 0) => 0,
                (false, n) => ends.get(n - 1).copied().unwrap_or(frame.len()),
            };
            let at = at.clamp(done, frame.len());
            out.extend_from_slice(frame.get(done..at).unwrap_or_default());
            out.extend_from_slice(&held);
            done = at;
        }
        out.extend_from_slice(frame.get(done..).unwrap_or_default());
    }

    /// Ends the stream, or continues it without the message that frames wait for.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        for held in self.held.drain(..) {
            out.extend_from_slice(&held);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::framing::LengthMode;

    fn written(framing: Framing, body: &[u8], wire: &Wire) -> Vec<u8> {
        let mut out = Vec::new();
        write(framing, body, wire, &mut out);
        out
    }

    #[test]
    fn default_wire_writes_usual_frames() {
        let plain = Wire::default();
        let cases: &[(Framing, &[u8])] = &[
            (Framing::Lines, b"{}\n"),
            (Framing::Prefix, b"\0\0\0\x02{}"),
            (Framing::Method, b"{}"),
            (Framing::Bare, b"{}"),
            (Framing::ContentLength, b"Content-Length: 2\r\n\r\n{}"),
            (Framing::Values, b"{}"),
            (Framing::WebSocket, b"\x81\x02{}"),
            (
                Framing::Http,
                b"POST / HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
                  accept: application/json, text/event-stream\r\ncontent-length: 2\r\n\r\n{}",
            ),
        ];
        for (framing, want) in cases {
            let got = written(*framing, b"{}", &plain);
            assert_eq!(got, *want, "{framing:?} {}", got.escape_ascii());
        }
        let mut answer = Wire::default();
        answer.fill_defaults(Framing::Http, b"{}", false, [0; 4]);
        let want =
            b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-type: application/json\r\n\r\n{}";
        assert_eq!(written(Framing::Http, b"{}", &answer), want);
        let mut masked = Wire {
            opcode: Some(1),
            ..Wire::default()
        };
        masked.fill_defaults(Framing::WebSocket, b"Hello", true, [0x37, 0xfa, 0x21, 0x3d]);
        // RFC 6455 section 5.7
        let want = hex::decode("818537fa213d7f9f4d5158").unwrap();
        assert_eq!(written(Framing::WebSocket, b"Hello", &masked), want);
    }

    #[test]
    fn wire_lengths_and_modes_are_written() {
        let mut wire = Wire {
            method: Some((0xe5bb_fa12, LengthMode::Inclusive)),
            ..Wire::default()
        };
        assert_eq!(
            written(Framing::Method, b"abc", &wire),
            b"\x0b\0\0\0\x12\xfa\xbb\xe5abc"
        );
        wire.length = Some(7);
        assert_eq!(
            written(Framing::Method, b"", &wire),
            b"\x07\0\0\0\x12\xfa\xbb\xe5"
        );
    }

    #[test]
    fn fragments_hold_the_whole_payload() {
        for (body, want) in [
            ("", "010000008000"),
            ("abc", "010261620001638000"),
            ("abcdefg", "01026162000263648003656667"),
        ] {
            let wire = Wire {
                opcode: Some(1),
                fragments: vec![2, 2, 2],
                ..Wire::default()
            };
            let got = written(Framing::WebSocket, body.as_bytes(), &wire);
            assert_eq!(hex::encode(got), want, "{body}");
        }
    }

    #[test]
    fn inner_frames_wait_for_their_message() {
        let ping = Wire {
            opcode: Some(9),
            inside: true,
            ..Wire::default()
        };
        let message = Wire {
            opcode: Some(1),
            fragments: vec![1, 1],
            between: vec![1],
            before: b"x".to_vec(),
            ..Wire::default()
        };
        let (mut weave, mut out) = (FrameJoiner::default(), Vec::new());
        weave.push(Framing::WebSocket.into(), b"", &ping, &mut out);
        assert_eq!(out, b"");
        weave.push(Framing::WebSocket.into(), b"ab", &message, &mut out);
        assert_eq!(out, b"x\x01\x01a\x89\x00\x80\x01b");
        let hex = Wire {
            between: vec![3],
            before: b"x".to_vec(),
            ..Wire::verbatim(b"\x01\x01a\x80\x01b")
        };
        out.clear();
        weave.push(Framing::WebSocket.into(), b"", &ping, &mut out);
        weave.push(Framing::WebSocket.into(), b"", &hex, &mut out);
        assert_eq!(out, b"x\x01\x01a\x89\x00\x80\x01b");
    }

    #[test]
    fn chunks_and_events_are_written() {
        let wire = Wire {
            head: Some(b"H\r\n\r\n".to_vec()),
            chunks: Some(vec![1, 1]),
            ..Wire::default()
        };
        assert_eq!(
            written(Framing::Http, b"abc", &wire),
            b"H\r\n\r\n1\r\na\r\n1\r\nb\r\n1\r\nc\r\n0\r\n\r\n"
        );
        let event = Wire {
            event: Some("data: ".into()),
            ..Wire::default()
        };
        assert_eq!(
            written(Framing::Http, b"a\nb", &event),
            b"data: a\ndata: b\n\n"
        );
    }
}
