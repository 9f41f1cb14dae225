//! The parts of a frame beyond its body, as `-f json --exact` prints them and [`super::write()`]
//! takes them.
//!
//! ```text
//!   "wire":{"eol":"\r\n"}                                   a line
//!   "wire":{"opcode":1,"mask":"37fa213d"}                   a masked WebSocket message
//!   "wire":{"opcode":1,"fragments":[3,2],"between":[1]}     in two frames, with a ping after the first
//!   "wire":{"head":"POST / HTTP/1.1\r\n…","chunks":[5,4]}   an HTTP exchange in chunks
//!   "wire":{"before":"0a0a","hex":"c1…"}                    bytes between, and a frame that nothing else gives
//! ```

use super::LengthMode;
use crate::encoding::Encoding;
use crate::encoding::json::write_str;
use crate::encoding::lossless::{write_bytes, write_hex, write_int};
use crate::error::DecodeError;
use crate::tape::{Node, Value};

/// The parts of a frame beyond its body. Open values are written as peers usually write them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Wire {
    /// Bytes of the stream between the frame before and this one.
    pub before: Vec<u8>,
    /// All bytes of the frame; if set, only `inside` and `between` are used besides.
    pub hex: Option<Vec<u8>>,
    /// The frame is inside a fragmented message that is reported after it.
    pub inside: bool,
    /// The positions of earlier reported frames inside this one: the number of fragments before
    /// each; with `hex`, bytes.
    pub between: Vec<usize>,
    /// The encoding of the message, if the protocol has several.
    pub encoding: Option<Encoding>,
    /// The bytes in the body before the message.
    pub header: Vec<u8>,
    /// The line end.
    pub eol: Option<String>,
    /// The length as written, if it is not correct.
    pub length: Option<u32>,
    /// The method id and the mode of the length, if the message does not determine them.
    pub method: Option<(u32, LengthMode)>,
    /// The opcode of a WebSocket message.
    pub opcode: Option<u8>,
    /// The masks of its frames, one if all are equal; empty if they are not masked.
    pub mask: Option<Vec<[u8; 4]>>,
    /// RSV1, RSV2, RSV3 of its first frame as bits 4, 2, 1.
    pub rsv: u8,
    /// The payload length of each frame, if there are several.
    pub fragments: Vec<usize>,
    /// The head of an HTTP exchange, empty line included; written verbatim.
    pub head: Option<Vec<u8>>,
    /// The lengths of the chunks of its body, without the last, empty one.
    pub chunks: Option<Vec<usize>>,
    /// The text before each line of a server-sent event.
    pub event: Option<String>,
}

impl Wire {
    /// Writes the bytes before the message, and the body.
    pub(super) fn payload(&self, body: &[u8], out: &mut Vec<u8>) {
        out.extend_from_slice(&self.header);
        out.extend_from_slice(body);
    }

    /// Describes a frame that only its bytes can reproduce.
    #[must_use]
    pub(crate) fn verbatim(bytes: &[u8]) -> Self {
        Self {
            hex: Some(bytes.to_vec()),
            ..Self::default()
        }
    }

    /// Returns `true` if there is nothing to report.
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Writes the parts as a JSON object.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        let start = out.len();
        hex_key("before", Some(&self.before), out);
        if self.inside {
            key("inside", out);
            out.extend_from_slice(b"true");
        }
        text_key("encoding", self.encoding.map(Encoding::name), out);
        hex_key("header", Some(&self.header), out);
        text_key("eol", self.eol.as_deref(), out);
        int_key("length", self.length, out);
        if let Some((id, mode)) = self.method {
            int_key("method_id", Some(id), out);
            text_key("length_mode", Some(mode.name()), out);
        }
        int_key("opcode", self.opcode.map(u32::from), out);
        match self.mask.as_deref() {
            None => {}
            Some([]) => {
                key("mask", out);
                out.extend_from_slice(b"null");
            }
            Some([one]) => hex_key("mask", Some(one), out),
            Some(many) => {
                key("mask", out);
                for (i, mask) in many.iter().enumerate() {
                    out.extend_from_slice(if i == 0 { b"[\"" } else { b",\"" });
                    write_hex(mask, out);
                    out.push(b'"');
                }
                out.push(b']');
            }
        }
        int_key("rsv", (self.rsv != 0).then_some(self.rsv as u32), out);
        if !self.fragments.is_empty() {
            list_key("fragments", &self.fragments, out);
        }
        if let Some(head) = &self.head {
            if let Ok(text) = std::str::from_utf8(head) {
                text_key("head", Some(text), out);
            } else {
                key("head", out);
                write_bytes(head, out);
            }
        }
        if let Some(chunks) = &self.chunks {
            list_key("chunks", chunks, out);
        }
        text_key("event", self.event.as_deref(), out);
        if let Some(hex) = &self.hex {
            key("hex", out);
            out.push(b'"');
            write_hex(hex, out);
            out.push(b'"');
        }
        if !self.between.is_empty() {
            list_key("between", &self.between, out);
        }
        if out.len() == start {
            out.push(b'{');
        } else if let Some(first) = out.get_mut(start) {
            *first = b'{';
        }
        out.push(b'}');
    }

    /// Reads the output of [`Wire::write`], or the text of a user.
    pub(crate) fn read(node: Node<'_>) -> Result<Self, DecodeError> {
        let mut wire = Self::default();
        if !node.is_map() {
            return Err(wrong(node, "", "an object"));
        }
        for (name, value) in node.members() {
            let name = name.text().unwrap_or_default();
            let wrong = |wanted| wrong(value, &name, wanted);
            match name.as_ref() {
                "before" => wire.before = hex(value).ok_or_else(|| wrong(HEX))?,
                "hex" => wire.hex = Some(hex(value).ok_or_else(|| wrong(HEX))?),
                "header" => wire.header = hex(value).ok_or_else(|| wrong(HEX))?,
                "inside" => wire.inside = value.span().of(value.bytes()) == b"true",
                "encoding" => {
                    let encoding = value.text().and_then(|name| Encoding::from_name(&name));
                    wire.encoding = Some(encoding.ok_or_else(|| wrong("json, msgpack or cbor"))?);
                }
                "between" => wire.between = list(value).ok_or_else(|| wrong(LIST))?,
                "fragments" => wire.fragments = list(value).ok_or_else(|| wrong(LIST))?,
                "chunks" => wire.chunks = Some(list(value).ok_or_else(|| wrong(LIST))?),
                "eol" => wire.eol = Some(text(value).ok_or_else(|| wrong("text"))?),
                "event" => wire.event = Some(text(value).ok_or_else(|| wrong("text"))?),
                "length" => wire.length = Some(number(value).ok_or_else(|| wrong("a u32"))?),
                "method_id" => {
                    let id = number(value).ok_or_else(|| wrong("a u32"))?;
                    let mode = wire.method.map_or(LengthMode::Auto, |(_, mode)| mode);
                    wire.method = Some((id, mode));
                }
                "length_mode" => {
                    let name = value.text().unwrap_or_default();
                    let mode = LengthMode::from_name(&name)
                        .ok_or_else(|| wrong("auto, exclusive or inclusive"))?;
                    wire.method = Some((wire.method.map_or(0, |(id, _)| id), mode));
                }
                "opcode" => {
                    let opcode = number(value).filter(|n: &u8| *n < 16);
                    wire.opcode = Some(opcode.ok_or_else(|| wrong("0 to 15"))?);
                }
                "rsv" => {
                    let rsv = number(value).filter(|n: &u8| *n < 8);
                    wire.rsv = rsv.ok_or_else(|| wrong("0 to 7"))?;
                }
                "mask" => {
                    let wanted = "eight hex digits, an array with eight for each fragment, or null";
                    wire.mask = Some(masks(value).ok_or_else(|| wrong(wanted))?);
                }
                "head" => {
                    let head = text(value)
                        .map(String::into_bytes)
                        .or_else(|| hex(value.get("$bin")?));
                    wire.head = Some(head.ok_or_else(|| wrong("text, or {\"$bin\": hex}"))?);
                }
                _ => return Err(wrong("no such key")),
            }
        }
        Ok(wire)
    }
}

const HEX: &str = "hex digits, two for each byte";
const LIST: &str = "an array of whole numbers";

fn wrong(node: Node<'_>, name: &str, wanted: &'static str) -> DecodeError {
    let field = if name.is_empty() {
        "wire".to_owned()
    } else {
        format!("wire.{name}")
    };
    DecodeError::new("bad-wire", node.span(), field, wanted, node.describe())
}

fn hex(node: Node<'_>) -> Option<Vec<u8>> {
    hex::decode(node.text()?.as_bytes()).ok()
}

fn text(node: Node<'_>) -> Option<String> {
    Some(node.text()?.into_owned())
}

fn number<T: TryFrom<i128>>(node: Node<'_>) -> Option<T> {
    T::try_from(node.as_i128()?).ok()
}

fn list(node: Node<'_>) -> Option<Vec<usize>> {
    match node.value() {
        Value::Array => node.children().map(number).collect(),
        _ => None,
    }
}

fn masks(node: Node<'_>) -> Option<Vec<[u8; 4]>> {
    let mask = |node| <[u8; 4]>::try_from(hex(node)?).ok();
    match node.value() {
        Value::Array => node.children().map(mask).collect(),
        _ if node.is_null() => Some(Vec::new()),
        _ => Some(vec![mask(node)?]),
    }
}

/// Writes a comma, which becomes the brace for the first key, and a key.
fn key(name: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(b",\"");
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\":");
}

fn hex_key(name: &str, bytes: Option<&[u8]>, out: &mut Vec<u8>) {
    if let Some(bytes @ [_, ..]) = bytes {
        key(name, out);
        out.push(b'"');
        write_hex(bytes, out);
        out.push(b'"');
    }
}

fn text_key(name: &str, text: Option<&str>, out: &mut Vec<u8>) {
    if let Some(text) = text {
        key(name, out);
        write_str(text, out);
    }
}

fn int_key(name: &str, number: Option<u32>, out: &mut Vec<u8>) {
    if let Some(number) = number {
        key(name, out);
        write_int(number, out);
    }
}

fn list_key(name: &str, list: &[usize], out: &mut Vec<u8>) {
    key(name, out);
    for (i, number) in list.iter().enumerate() {
        out.push(if i == 0 { b'[' } else { b',' });
        write_int(*number as u64, out);
    }
    out.extend_from_slice(if list.is_empty() { b"[]" } else { b"]" });
}
