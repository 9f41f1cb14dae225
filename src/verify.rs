//! Checks that the output of decode reproduces the bytes.
//!
//! Each frame is printed as by `-f json --exact`, read back from that text, and written again. A
//! difference is a bug of wiretool. Equal bytes can still use a freedom that the encoding gives to
//! the sender; the first byte that differs from the plainest form shows which one.

#[cfg(test)]
mod tests;

use crate::decoder::{Decoded, RawFrame};
use crate::encoding::{Encoding, Parsed, json, lossless, msgpack};
use crate::error::{DecodeError, show_byte};
use crate::framing::{self, Framing, Head, Wire};
use crate::protocol::MessageForm;
use crate::render::{self, DisplayOptions};
use crate::span::Span;
use crate::tape::{Node, Scalar, Tape, Value};
use std::collections::BTreeMap;
use std::fmt;

/// The outcome for one frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FrameVerdict {
    /// Equal bytes, from the message alone or with a reported freedom.
    Identical(Option<EncodingChoice>),
    /// Equal bytes, because the output contains them; the reason.
    Verbatim(&'static str),
    /// Different bytes.
    Different {
        /// Stream offset of the first byte that differs.
        offset: u64,
        /// The expected byte; `None` past the end.
        wanted: Option<u8>,
        /// The written byte.
        got: Option<u8>,
    },
}

/// A choice that an encoding gives to the sender.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncodingChoice {
    /// The stream offset of the first byte that shows it.
    pub offset: u64,
    /// The byte.
    pub byte: u8,
    /// Its name.
    pub name: &'static str,
}

/// The number of frames by outcome.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VerifyCounts {
    /// Equal bytes, from their parts.
    pub identical: u64,
    /// The number of these frames by freedom.
    pub choices: BTreeMap<&'static str, u64>,
    /// Verbatim frames, by reason.
    pub verbatim: BTreeMap<&'static str, u64>,
    /// Different bytes.
    pub different: u64,
}

impl VerifyCounts {
    /// Counts one frame.
    pub fn add(&mut self, verdict: &FrameVerdict) {
        match verdict {
            FrameVerdict::Identical(freedom) => {
                self.identical += 1;
                if let Some(freedom) = freedom {
                    *self.choices.entry(freedom.name).or_default() += 1;
                }
            }
            FrameVerdict::Verbatim(why) => *self.verbatim.entry(why).or_default() += 1,
            FrameVerdict::Different { .. } => self.different += 1,
        }
    }

    /// Returns the number of verbatim frames.
    pub fn verbatims(&self) -> u64 {
        self.verbatim.values().sum()
    }
}

impl fmt::Display for FrameVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let byte = |byte: Option<u8>| byte.map_or("the end".to_owned(), show_byte);
        match self {
            Self::Identical(None) => f.write_str("identical"),
            Self::Identical(Some(EncodingChoice { offset, byte, name })) => {
                write!(f, "offset {offset}: {name}, {}", show_byte(*byte))
            }
            Self::Verbatim(why) => write!(f, "by its bytes alone: {why}"),
            Self::Different {
                offset,
                wanted,
                got,
            } => write!(
                f,
                "offset {offset}: different: wanted {}, got {}",
                byte(*wanted),
                byte(*got)
            ),
        }
    }
}

impl fmt::Display for VerifyCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |counts: &BTreeMap<&str, u64>| {
            let items: Vec<String> = counts
                .iter()
                .map(|(name, n)| format!("{n} {name}"))
                .collect();
            match items.as_slice() {
                [] => String::new(),
                _ => format!(" ({})", items.join(", ")),
            }
        };
        let verbatims = self.verbatims();
        write!(
            f,
            "{} frames: {} identical{}, {verbatims} by their bytes alone{}, {} different",
            self.identical + verbatims + self.different,
            self.identical,
            list(&self.choices),
            list(&self.verbatim),
            self.different,
        )
    }
}

/// The depth of the tape for a line whose message is copied: the members of the message, such as a method id.
const HEAD_DEPTH: u32 = 2;

/// Prints frames, reads them back and compares them; reuse one for a whole run.
#[derive(Default)]
pub struct Verifier {
    line: Vec<u8>,
    tape: Tape,
    wire_tape: Tape,
    again: Vec<u8>,
}

impl Verifier {
    /// Checks a frame; `None` if its own bytes were not stored.
    pub fn frame(&mut self, decoded: &Decoded<'_>) -> Option<FrameVerdict> {
        let raw = decoded.raw?;
        self.line.clear();
        render::json::write(decoded, None, DisplayOptions::default(), &mut self.line);
        // Text is copied, so the positions in a message are only needed if it is written value by value.
        let is_copied = |parsed: &Parsed| parsed.is_text() || parsed.is_shortest_form();
        let is_copied = decoded.message.value.is_none_or(is_copied);
        self.tape
            .clear(if is_copied { HEAD_DEPTH } else { u32::MAX });
        self.wire_tape.clear(u32::MAX);
        self.again.clear();
        let read = json::parse(
            &self.line,
            Span::new(0, self.line.len()),
            u32::MAX,
            &mut self.tape,
        );
        let root = self.tape.root(&self.line).filter(|_| read.is_ok());
        let wire = root.and_then(|root| root.get("wire")).map(Node::span);
        let read = wire.map_or(Ok(()), |wire| {
            json::parse(&self.line, wire, u32::MAX, &mut self.wire_tape).map(|_| ())
        });
        let root = root.filter(|_| read.is_ok());
        let wire = self.wire_tape.root(&self.line);
        let printed = root.and_then(|root| PrintedFrame::read(root, wire, decoded).ok());
        let Some(printed) = printed else {
            return Some(different(decoded, &raw, &[]));
        };
        framing::write(
            decoded.protocol.frame_writer(decoded.frame.framing),
            &printed.body,
            &printed.wire,
            &mut self.again,
        );
        let around = printed.wire.before == raw.before && printed.wire.inside == raw.inside;
        if self.again != raw.bytes || !around {
            return Some(different(decoded, &raw, &self.again));
        }
        if printed.wire.hex.is_some() {
            return Some(FrameVerdict::Verbatim(reason(decoded)));
        }
        Some(FrameVerdict::Identical(freedom(decoded, &printed)))
    }
}

fn different(decoded: &Decoded<'_>, raw: &RawFrame<'_>, again: &[u8]) -> FrameVerdict {
    let at = first_difference(raw.bytes, again);
    FrameVerdict::Different {
        offset: decoded.frame.offset + at as u64,
        wanted: raw.bytes.get(at).copied(),
        got: again.get(at).copied(),
    }
}

fn first_difference(a: &[u8], b: &[u8]) -> usize {
    let same = a.iter().zip(b).take_while(|(a, b)| a == b);
    same.count()
}

/// The parts of a line of JSON output that determine the frame's bytes.
struct PrintedFrame {
    wire: Wire,
    body: Vec<u8>,
}

impl PrintedFrame {
    fn read(
        root: Node<'_>,
        wire: Option<Node<'_>>,
        decoded: &Decoded<'_>,
    ) -> Result<Self, DecodeError> {
        let mut wire = match wire {
            Some(node) => Wire::read(node)?,
            None => Wire::default(),
        };
        let message = root.get("message");
        if let Some(message) = message
            && decoded.frame.framing == Framing::Method
            && wire.method.is_none()
            && wire.header.is_empty()
        {
            wire.method = message.get("method_id").and_then(|id| {
                let mode = message.get("length_mode").and_then(Node::text);
                let mode = framing::LengthMode::from_name(&mode.unwrap_or_default());
                Some((u32::try_from(id.as_i128()?).ok()?, mode.unwrap_or_default()))
            });
        }
        let has_header = matches!(decoded.frame.framing, Framing::Custom(_));
        let needed = root.get("raw").is_none() || has_header && wire.header.is_empty();
        let form = MessageForm::of(wire.encoding);
        let encode = |message| render::json::encode_body(decoded, message, form);
        // If writing is refused, the bytes differ.
        let encoded = message.filter(|_| needed).and_then(encode);
        let (header, body) = encoded.unwrap_or_default();
        if wire.header.is_empty() {
            wire.header = header;
        }
        let body = root.get("raw").map_or(body, raw_bytes);
        Ok(Self { wire, body })
    }
}

fn raw_bytes(raw: Node<'_>) -> Vec<u8> {
    lossless::json_bytes(raw)
        .unwrap_or_else(|| raw.text().unwrap_or_default().into_owned().into_bytes())
}

/// Returns the reason why only its bytes reproduce a frame.
fn reason(decoded: &Decoded<'_>) -> &'static str {
    let frame = decoded.frame;
    match frame.head {
        _ if frame.control == Some("skipped") => "between frames",
        Head::WebSocket {
            compressed: true, ..
        } => "compressed",
        _ if frame.fault.is_some() => "fault",
        Head::Http { event: true, .. } => "event",
        Head::Http { .. } if has_content_coding(decoded) => "compressed",
        Head::Http { .. } => "chunks",
        _ if decoded.message.kind == "skipped" => "fault",
        _ => "other",
    }
}

/// Returns `true` for an HTTP message whose body has a content coding: an encoder writes other bytes than the sender.
fn has_content_coding(decoded: &Decoded<'_>) -> bool {
    let bytes = decoded.raw.map_or(&[][..], |raw| raw.bytes);
    let lines = bytes.split(|&c| c == b'\n');
    let mut head = lines.take_while(|line| !line.trim_ascii().is_empty());
    let name = b"content-encoding:";
    head.any(|line| {
        let start = line.get(..name.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(name))
    })
}

/// Returns the freedom that a sender used, if any.
fn freedom(decoded: &Decoded<'_>, printed: &PrintedFrame) -> Option<EncodingChoice> {
    let frame = decoded.frame;
    let wire = &printed.wire;
    let raw = decoded.raw?;
    let at_frame = |at: usize, name| {
        let byte = raw.bytes.get(at).copied()?;
        let offset = frame.offset + at as u64;
        Some(EncodingChoice { offset, byte, name })
    };
    if !wire.fragments.is_empty() {
        return at_frame(0, "fragments");
    }
    if let Some(eol) = wire.eol.as_deref().filter(|eol| *eol != "\n") {
        return at_frame(raw.bytes.len().saturating_sub(eol.len()), "line end");
    }
    if wire.chunks.is_some() {
        return at_frame(wire.head.as_ref().map_or(0, Vec::len), "chunks");
    }
    let parsed = decoded.message.value.filter(|_| decoded.message.valid)?;
    if parsed.has_header() {
        return None;
    }
    let body = decoded.message.body;
    let bytes = body.of(frame.view.bytes);
    let at_body = |at: usize, name| {
        Some(EncodingChoice {
            offset: frame.view.locate(body.at() + at),
            byte: bytes.get(at).copied()?,
            name,
        })
    };
    let root = decoded.root()?;
    if parsed.packed_encoding() == Some(Encoding::MessagePack) {
        let mut text = Vec::new();
        lossless::write(root, &mut text);
        let mut plain = Vec::new();
        let mut tape = Tape::new();
        tape.clear(u32::MAX);
        let root = json::root(&text, u32::MAX, &mut tape).ok()?;
        msgpack::write(root, &mut plain).ok()?;
        let at = first_difference(bytes, &plain);
        return at_body(at, width(*bytes.get(at)?));
    }
    if !parsed.is_text() {
        return None;
    }
    let root = decoded.root()?;
    let mut plain = Vec::new();
    plain_json(root, &mut plain);
    let at = first_difference(bytes, &plain);
    let name = match *bytes.get(at)? {
        b' ' | b'\t' | b'\n' | b'\r' => "white space",
        b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E' => "number",
        _ => "escaping",
    };
    at_body(at, name)
}

/// Names the choice in a `MessagePack` type byte that is not the shortest.
fn width(marker: u8) -> &'static str {
    match marker {
        0xca => "float size",
        0xcc..=0xd3 => "integer width",
        0xd9..=0xdb => "string width",
        0xc4..=0xc6 => "bin width",
        0xc7..=0xc9 => "ext width",
        0xdc | 0xdd => "array width",
        0xde | 0xdf => "map width",
        _ => "other",
    }
}

/// JSON without white space, with the fewest escapes.
fn plain_json(node: Node<'_>, out: &mut Vec<u8>) {
    let between = |i: usize, out: &mut Vec<u8>| {
        if i > 0 {
            out.push(b',');
        }
    };
    match node.value() {
        Value::Array => {
            out.push(b'[');
            for (i, item) in node.children().enumerate() {
                between(i, out);
                plain_json(item, out);
            }
            out.push(b']');
        }
        Value::Map => {
            out.push(b'{');
            for (i, (key, value)) in node.members().enumerate() {
                between(i, out);
                plain_json(key, out);
                out.push(b':');
                plain_json(value, out);
            }
            out.push(b'}');
        }
        Value::Scalar(Scalar::Json(_, true)) => match node.text() {
            Some(text) => json::write_str(&text, out),
            None => out.extend_from_slice(node.span().of(node.bytes())),
        },
        _ => out.extend_from_slice(node.span().of(node.bytes())),
    }
}
