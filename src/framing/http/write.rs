//! Writes a head and a body, plain or in chunks, or a server-sent event: the reverse of reading.

use super::super::Wire;
use super::chunked::{BodyDelimiter, BodyPart};
use crate::encoding::Encoding;

/// Describes the parts of an exchange, or of an event, beyond its body.
pub(in super::super) fn describe(
    raw: &[u8],
    head: usize,
    event: bool,
    body: &[u8],
    wire: &mut Wire,
) {
    if event {
        let start = if raw.starts_with(b"data: ") {
            "data: "
        } else {
            "data:"
        };
        wire.event = Some(start.to_owned());
        wire.eol = Some(if raw.ends_with(b"\r\n") { "\r\n" } else { "\n" }.to_owned());
        return;
    }
    let (head, rest) = raw.split_at_checked(head).unwrap_or((raw, &[]));
    wire.head = Some(head.to_vec());
    if rest != body {
        wire.chunks = Some(chunks(rest));
    }
}

/// Returns the length of each chunk, without the last.
fn chunks(mut rest: &[u8]) -> Vec<usize> {
    let (mut source, mut sizes) = (BodyDelimiter::CHUNKED, Vec::new());
    loop {
        let n = match source.next(rest) {
            BodyPart::Framing(n) => n,
            BodyPart::Data(n) => {
                source.took(n);
                sizes.push(n);
                n
            }
            BodyPart::More | BodyPart::End | BodyPart::Bad(_) => return sizes,
        };
        rest = rest.get(n..).unwrap_or_default();
    }
}

/// Writes an exchange or an event. Without a head it writes a POST request.
pub(in super::super) fn write(body: &[u8], wire: &Wire, out: &mut Vec<u8>) {
    if let Some(start) = &wire.event {
        let eol = wire.eol.as_deref().unwrap_or("\n").as_bytes();
        for line in body.split(|b| *b == b'\n') {
            out.extend_from_slice(start.as_bytes());
            out.extend_from_slice(line);
            out.extend_from_slice(eol);
        }
        return out.extend_from_slice(eol);
    }
    let len = wire.header.len() + body.len();
    match &wire.head {
        Some(head) => out.extend_from_slice(head),
        None => out.extend_from_slice(&request(len, wire)),
    }
    let Some(sizes) = &wire.chunks else {
        out.extend_from_slice(&wire.header);
        return out.extend_from_slice(body);
    };
    let payload = [wire.header.as_slice(), body].concat();
    let mut rest = payload.as_slice();
    for size in sizes.iter().copied().chain([usize::MAX]) {
        let (part, after) = rest.split_at_checked(size).unwrap_or((rest, &[]));
        // An empty chunk would be the last one.
        if !part.is_empty() {
            out.extend_from_slice(format!("{:x}\r\n", part.len()).as_bytes());
            out.extend_from_slice(part);
            out.extend_from_slice(b"\r\n");
        }
        rest = after;
    }
    out.extend_from_slice(b"0\r\n\r\n");
}

/// Builds the head of a request with a message as body.
fn request(len: usize, wire: &Wire) -> Vec<u8> {
    let length = length(len, wire.chunks.is_some());
    let kind = media_type(wire);
    format!(
        "POST / HTTP/1.1\r\nhost: localhost\r\ncontent-type: {kind}\r\n\
         accept: {kind}, text/event-stream\r\n{length}\r\n\r\n"
    )
    .into_bytes()
}

/// Builds the head of a response with a message as body.
pub(in super::super) fn response(len: usize, wire: &Wire) -> Vec<u8> {
    let length = length(len, wire.chunks.is_some());
    let kind = media_type(wire);
    format!("HTTP/1.1 200 OK\r\n{length}\r\ncontent-type: {kind}\r\n\r\n").into_bytes()
}

fn media_type(wire: &Wire) -> &'static str {
    wire.encoding.unwrap_or(Encoding::Json).media_type()
}

fn length(len: usize, chunked: bool) -> String {
    if chunked {
        "transfer-encoding: chunked".to_owned()
    } else {
        format!("content-length: {len}")
    }
}
