//! The encodings of messages: one file for each, with parser and writer.
//!
//! A parser reads bytes once and reports each value to a [`Sink`]. [`Parsed`] holds two: the tape, and lossless JSON text.

pub mod cbor;
pub mod json;
pub mod lossless;
pub mod msgpack;
mod packed;
pub mod serde_envelope;
mod values;

use crate::error::DecodeError;
use crate::span::Span;
use crate::tape::{KeyName, Node, Sink, Tape, Tee};
use lossless::{JsonText, PairMaps, StreamedText};
use std::sync::Arc;

/// The fault codes of encodings, each with its meaning.
pub const FAULTS: &[(&str, &str)] = &[
    ("empty", "a message is missing"),
    ("bad-json", "not JSON (RFC 8259)"),
    ("bad-utf8", "JSON that is not UTF-8"),
    ("bad-msgpack", "not MessagePack"),
    ("bad-cbor", "not CBOR (RFC 8949)"),
    ("ends-early", "the body ends inside a value"),
    ("trailing-bytes", "bytes after the end of the value"),
    ("too-deep", "more levels of nesting than the limit"),
];

/// The error of bytes after the end of a value; `is_value`: they are another one.
fn trailing(rest: Span, is_value: bool) -> DecodeError {
    let got = format!("{} more bytes", rest.len);
    let error = DecodeError::new("trailing-bytes", rest, "message", "the end", got);
    if is_value {
        error.hint("the frame contains two values")
    } else {
        error
    }
}

/// The encoding of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Encoding {
    /// JSON (RFC 8259).
    Json,
    /// `MessagePack`.
    MessagePack,
    /// A serde envelope; a schema gives its fields.
    SerdeEnvelope,
    /// CBOR (RFC 8949).
    Cbor,
    /// Text that is not JSON.
    Text,
    /// Bytes without a meaning.
    Bytes,
}

impl Encoding {
    /// The encodings in which a message alone can be written, in the order help lists them.
    pub const ALL: [Self; 3] = [Self::Json, Self::MessagePack, Self::Cbor];

    /// The name in descriptions and output.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::MessagePack => "msgpack",
            Self::SerdeEnvelope => "serde-envelope",
            Self::Cbor => "cbor",
            Self::Text => "text",
            Self::Bytes => "bytes",
        }
    }

    /// Returns the type of such a body in HTTP.
    pub(crate) const fn media_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::MessagePack => "application/msgpack",
            Self::Cbor => "application/cbor",
            Self::Text => "text/plain; charset=utf-8",
            Self::SerdeEnvelope | Self::Bytes => "application/octet-stream",
        }
    }

    /// Returns the encoding with this name, of those of [`Encoding::ALL`].
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|e| e.name() == name)
    }
}

/// The details of a message that the output needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Want {
    /// All positions: the tape is complete. The message is also available as JSON text.
    Places,
    /// As [`Want::Places`], if each message is written: `MessagePack` and CBOR become text while they are parsed.
    PlacesAndText,
    /// Positions, but only the first ones of a long message: as many as are shown.
    Rows,
    /// The message as JSON text; the tape holds only the head.
    Text,
    /// The message as JSON text, if few messages are written: `MessagePack` and CBOR become text when they are.
    TextOfFew,
    /// Only the head.
    Head,
    /// The members of the head, and as much of arguments and results as a line shows.
    Line,
    /// All positions, and the bytes of each frame. The JSON text reproduces the bytes.
    Exact,
    /// As [`Want::Exact`], but only the first positions of a long message; JSON text of a long `MessagePack` or CBOR
    /// message does not reproduce its bytes.
    ExactText,
}

/// The depth of the tape if only the head is needed: `params.selector` is two levels down, and so
/// is the code of an error, which the line view needs.
const HEAD_DEPTH: u32 = 2;
/// Depth of the tape for a line: `result.content[0].text` is four levels down.
const LINE_DEPTH: u32 = 4;

impl Want {
    /// Depth of the tape.
    const fn depth(self) -> u32 {
        match self {
            Self::Head | Self::Text | Self::TextOfFew => HEAD_DEPTH,
            Self::Line => LINE_DEPTH,
            _ => u32::MAX,
        }
    }

    /// Returns `true` if the bytes of each frame are needed.
    pub(crate) const fn is_exact(self) -> bool {
        matches!(self, Self::Exact | Self::ExactText)
    }

    /// Returns `true` if no position is left out.
    const fn has_all_places(self) -> bool {
        matches!(self, Self::Places | Self::PlacesAndText | Self::Exact)
    }

    /// Returns `true` if only a part of the message is needed.
    const fn is_part(self) -> bool {
        matches!(self, Self::Head | Self::Line)
    }

    /// Returns `true` if the tape holds only the head, and all of the message is needed as text.
    const fn is_text(self) -> bool {
        matches!(self, Self::Text | Self::TextOfFew)
    }
}

/// A parsed message; reuse one for a whole run.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// The values of the message, with their positions.
    pub tape: Tape,
    want: Want,
    depth: u32,
    /// The number of levels from which heads are read, if there are more than usual.
    head: u32,
    /// The properties of the last message, if it was JSON.
    seen: json::JsonTraits,
    text: JsonText,
    /// The source of the message's text.
    source: ParsedSource,
    /// For a message that is parsed again while it is written: the first bytes of the maps that no JSON object can hold.
    pair_maps: Vec<u32>,
    /// The encoding of the last message, if it was `MessagePack` or CBOR.
    packed: Option<Encoding>,
    /// The last message is an object whose last member alone has an encoding, after a header.
    has_header: bool,
}

/// The length of a message from which on its text is not stored.
const LONG_MESSAGE: u32 = 1 << 20;
/// The number of bytes of text that are emitted at a time.
const PIECE: usize = 64 << 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ParsedSource {
    /// The tape.
    Tape,
    /// The bytes themselves.
    Bytes(Span),
    /// The field `text`.
    Text,
    /// Long `MessagePack` or CBOR: it is parsed again while it is written.
    Again(Span, Encoding),
    /// `MessagePack` or CBOR whose text is made when it is written.
    Late(Span, Encoding),
}

impl Parsed {
    /// Creates buffers for messages of at most `depth` levels.
    pub fn new(want: Want, depth: u32) -> Self {
        Self {
            tape: Tape::new(),
            want,
            depth,
            head: 0,
            seen: json::JsonTraits::default(),
            text: JsonText::default(),
            source: ParsedSource::Tape,
            pair_maps: Vec::new(),
            packed: None,
            has_header: false,
        }
    }

    /// Removes the last message.
    pub fn clear(&mut self) {
        self.start(u32::MAX);
    }

    /// Returns the details that the output needs.
    pub fn want(&self) -> Want {
        self.want
    }

    /// Changes the details that the output needs.
    pub fn set_want(&mut self, want: Want) {
        self.want = want;
    }

    /// Returns the maximum nesting depth.
    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// Returns the properties of the last message; only for JSON.
    pub fn seen(&self) -> json::JsonTraits {
        self.seen
    }

    /// Sets the names of a schema's labels and values.
    pub(crate) fn set_names(&mut self, names: &Arc<Vec<KeyName>>) {
        if self.tape.set_names(names) {
            self.text.forget_repeated();
        }
    }

    /// Sets the number of levels from which the head of the next message is read, if there are more than usual.
    pub(crate) fn set_head(&mut self, levels: u32) {
        self.head = levels;
        self.tape.set_head(levels);
    }

    /// Returns the depth of the tape.
    fn tape_depth(&self) -> u32 {
        self.want.depth().max(self.head)
    }

    /// Returns the number of bytes of memory that it holds for the next messages.
    #[cfg(feature = "cli")]
    pub(crate) fn capacity(&self) -> usize {
        self.tape.capacity() + self.text.capacity()
    }

    fn start(&mut self, keep: u32) {
        self.seen = json::JsonTraits::default();
        self.tape.clear(keep);
        self.tape.set_few(!self.want.has_all_places());
        if self.want == Want::Line {
            self.tape.set_fewest();
        }
        self.text.clear();
        self.source = ParsedSource::Tape;
        self.packed = None;
        self.has_header = false;
    }

    /// Parses one JSON value that fills `span`; the readable part of a malformed one stays in the
    /// tape.
    pub fn json(&mut self, bytes: &[u8], span: Span) -> Result<(), DecodeError> {
        self.start(self.tape_depth());
        let result = json::parse(bytes, span, self.depth, &mut self.tape);
        self.tape.shrink();
        match &result {
            Ok(seen) => {
                self.seen = *seen;
                if !self.want.is_part() {
                    self.source = ParsedSource::Bytes(span);
                }
            }
            Err(_) => self.tape.close_containers(span.end()),
        }
        self.set_head(0);
        result
            .map(|_| ())
            .map_err(|error| not_json(bytes, span, error))
    }

    /// Parses one `MessagePack` value that fills `span`; the readable part of a malformed one stays
    /// in the tape.
    pub fn msgpack(&mut self, bytes: &[u8], span: Span) -> Result<(), DecodeError> {
        self.packed(Encoding::MessagePack, bytes, span)
    }

    /// Parses one CBOR value that fills `span`; the readable part of a malformed one stays in the tape.
    pub fn cbor(&mut self, bytes: &[u8], span: Span) -> Result<(), DecodeError> {
        self.packed(Encoding::Cbor, bytes, span)
    }

    fn packed(&mut self, encoding: Encoding, bytes: &[u8], span: Span) -> Result<(), DecodeError> {
        let result = self.read_packed(encoding, bytes, span);
        self.set_head(0);
        result
    }

    fn read_packed(
        &mut self,
        encoding: Encoding,
        bytes: &[u8],
        span: Span,
    ) -> Result<(), DecodeError> {
        let depth = self.depth;
        let is_long = span.len > LONG_MESSAGE;
        if self.want.is_text() || self.want == Want::ExactText && is_long {
            // All fields of the usual head are at the top level.
            self.start(self.head.max(1));
            if is_long {
                let mut pair_maps = PairMaps::default();
                let mut sinks = Tee(&mut self.tape, &mut pair_maps);
                let result = parse_packed(encoding, bytes, span, depth, &mut sinks);
                if result.is_ok() {
                    self.pair_maps = pair_maps.finish();
                    self.source = ParsedSource::Again(span, encoding);
                    return result;
                }
                return self.packed_tape(encoding, bytes, span);
            }
            if self.want == Want::TextOfFew {
                let result = parse_packed(encoding, bytes, span, depth, &mut self.tape);
                if result.is_ok() {
                    self.source = ParsedSource::Late(span, encoding);
                    return result;
                }
                return self.packed_tape(encoding, bytes, span);
            }
            let mut sinks = Tee(&mut self.tape, &mut self.text);
            let result = parse_packed(encoding, bytes, span, depth, &mut sinks);
            if result.is_ok() && self.text.is_plain() {
                self.source = ParsedSource::Text;
                return result;
            }
        }
        if self.want == Want::PlacesAndText && !is_long {
            self.start(u32::MAX);
            let sinks = &mut Tee(&mut self.tape, &mut self.text);
            let result = parse_packed(encoding, bytes, span, depth, sinks);
            self.tape.shrink();
            if result.is_ok() && self.text.is_plain() {
                (self.source, self.packed) = (ParsedSource::Text, Some(encoding));
                return result;
            }
        }
        self.packed_tape(encoding, bytes, span)
    }

    fn packed_tape(
        &mut self,
        encoding: Encoding,
        bytes: &[u8],
        span: Span,
    ) -> Result<(), DecodeError> {
        let depth = self.depth;
        let result = self.parse_whole(span, |tape| {
            parse_packed(encoding, bytes, span, depth, tape)
        });
        self.packed = Some(encoding);
        result
    }

    /// Runs a parser of a message of several parts: an object with a header, and a body in an encoding after it. `body` is
    /// that encoding, if its text is written as it arrived.
    pub(crate) fn compose(
        &mut self,
        span: Span,
        body: Option<Encoding>,
        parse: impl FnOnce(&mut Tape) -> Result<(), DecodeError>,
    ) -> Result<(), DecodeError> {
        let result = self.parse_whole(span, parse);
        self.set_head(0);
        (self.packed, self.has_header) = (body.filter(|_| result.is_ok()), true);
        result
    }

    /// Runs a parser with the required sink, for messages whose head can be read without a tape. If
    /// the run for the text fails, or a map needs `$map`, a run for the tape follows.
    pub fn with<T>(
        &mut self,
        span: Span,
        text: impl FnOnce(&mut JsonText) -> Result<T, DecodeError>,
        tape: impl FnOnce(&mut Tape) -> Result<T, DecodeError>,
    ) -> Result<T, DecodeError> {
        if self.want.is_text() {
            self.start(0);
            let result = text(&mut self.text);
            if result.is_ok() && self.text.is_plain() {
                self.source = ParsedSource::Text;
                return result;
            }
        }
        self.parse_whole(span, tape)
    }

    fn parse_whole<T>(
        &mut self,
        span: Span,
        parse: impl FnOnce(&mut Tape) -> Result<T, DecodeError>,
    ) -> Result<T, DecodeError> {
        // A message that cannot be written while it is parsed is written from the tape.
        let whole = self.want.is_text();
        self.start(if whole { u32::MAX } else { self.tape_depth() });
        if whole {
            self.tape.set_few(false);
        }
        let result = parse(&mut self.tape);
        self.tape.shrink();
        if result.is_err() {
            self.tape.close_containers(span.end());
        }
        result
    }

    /// Returns the outermost value over the bytes it was parsed from.
    pub fn root<'a>(&'a self, bytes: &'a [u8]) -> Option<Node<'a>> {
        self.tape.root(bytes)
    }

    /// Returns `true` if the message is JSON whose text is copied.
    pub fn is_text(&self) -> bool {
        matches!(self.source, ParsedSource::Bytes(_))
    }

    /// Returns the encoding of the message, if it is `MessagePack` or CBOR.
    pub fn packed_encoding(&self) -> Option<Encoding> {
        match self.source {
            ParsedSource::Again(_, encoding) => Some(encoding),
            _ => self.packed,
        }
    }

    /// Returns `true` if the message is an object with a header before the value that has an encoding.
    pub(crate) fn has_header(&self) -> bool {
        self.has_header
    }

    /// Returns `true` if the text of a `MessagePack` or CBOR message does not tell the encoding of its values.
    pub(crate) fn is_shortest_form(&self) -> bool {
        matches!(self.source, ParsedSource::Again(..))
    }

    /// Writes the message as lossless JSON, on one line.
    pub fn write_message(&self, bytes: &[u8], out: &mut Vec<u8>) {
        match self.source {
            ParsedSource::Again(span, encoding) => {
                self.write_again((encoding, bytes, span), out, &mut |_| {});
            }
            ParsedSource::Bytes(span) => json::write_text(span.of(bytes), self.seen.breaks, out),
            ParsedSource::Text => out.extend_from_slice(self.text.as_bytes()),
            ParsedSource::Late(span, encoding) => self.write_late((encoding, bytes, span), out),
            ParsedSource::Tape => match (self.tape.root(bytes), self.packed) {
                (Some(node), Some(encoding)) if self.has_header => {
                    let is_exact = self.want.is_exact();
                    lossless::write_parts(node, encoding, is_exact, out);
                }
                (Some(node), Some(encoding)) if self.want.is_exact() => {
                    lossless::write_exact(node, encoding, out);
                }
                (Some(node), _) => lossless::write(node, out),
                (None, _) => out.extend_from_slice(b"null"),
            },
        }
    }

    /// Writes the message like [`Parsed::write_message`]; during a long message, `full` can empty
    /// `out`.
    pub(crate) fn pass_message(
        &self,
        bytes: &[u8],
        out: &mut Vec<u8>,
        full: &mut dyn FnMut(&mut Vec<u8>),
    ) {
        match self.source {
            ParsedSource::Again(span, encoding) => {
                self.write_again((encoding, bytes, span), out, full);
            }
            ParsedSource::Bytes(span) => {
                for piece in span.of(bytes).trim_ascii().chunks(PIECE) {
                    json::write_piece(piece, self.seen.breaks, out);
                    full(out);
                }
            }
            ParsedSource::Text => {
                for piece in self.text.as_bytes().chunks(PIECE) {
                    out.extend_from_slice(piece);
                    full(out);
                }
            }
            ParsedSource::Tape | ParsedSource::Late(..) => self.write_message(bytes, out),
        }
    }

    /// Makes the text of a message whose head was read.
    fn write_late(&self, (encoding, bytes, span): (Encoding, &[u8], Span), out: &mut Vec<u8>) {
        let mut text = JsonText::default();
        // The first pass had no error.
        let _ = parse_packed(encoding, bytes, span, self.depth, &mut text);
        if text.is_plain() {
            return out.extend_from_slice(text.as_bytes());
        }
        let mut tape = Tape::new();
        tape.clear(u32::MAX);
        let _ = parse_packed(encoding, bytes, span, self.depth, &mut tape);
        if let Some(root) = tape.root(bytes) {
            lossless::write(root, out);
        }
    }

    /// Parses the message again while writing it.
    fn write_again(
        &self,
        (encoding, bytes, span): (Encoding, &[u8], Span),
        out: &mut Vec<u8>,
        full: &mut dyn FnMut(&mut Vec<u8>),
    ) {
        let mut text = StreamedText::new(std::mem::take(out), &self.pair_maps, full);
        // The first pass had no error.
        let _ = parse_packed(encoding, bytes, span, self.depth, &mut text);
        *out = text.finish();
    }
}

/// Parses a value of an encoding that is not text.
#[inline]
fn parse_packed<S: Sink>(
    encoding: Encoding,
    bytes: &[u8],
    span: Span,
    depth: u32,
    sink: &mut S,
) -> Result<(), DecodeError> {
    match encoding {
        Encoding::Cbor => cbor::parse(bytes, span, depth, sink),
        _ => msgpack::parse(bytes, span, depth, sink),
    }
}

/// Returns the length of the value at the start of `bytes`: JSON if it starts with a bracket,
/// otherwise `MessagePack`. `None` if it is not complete.
pub fn measure(bytes: &[u8], depth: u32) -> Result<Option<usize>, DecodeError> {
    match bytes.trim_ascii_start().first() {
        Some(b'{' | b'[') => json::measure(bytes, depth, false),
        _ => msgpack::measure(bytes, depth),
    }
}

/// Returns the error for bytes that are not JSON. If text does not even start like a value, the
/// error covers all of it.
fn not_json(bytes: &[u8], span: Span, error: DecodeError) -> DecodeError {
    let body = span.of(bytes);
    let text = body.trim_ascii();
    let is_text = text.first().is_some_and(u8::is_ascii_alphabetic)
        && !text.contains(&0)
        && std::str::from_utf8(text).is_ok();
    if error.code != "bad-json" || !is_text {
        return error;
    }
    let start = span.at() + (body.len() - body.trim_ascii_start().len());
    let span = Span::new(start, start + text.len());
    DecodeError::new("bad-json", span, "message", "JSON", "text that is not JSON")
}

/// Returns the error for one level too many, at byte `at`.
fn too_deep(at: usize, limit: u32) -> DecodeError {
    let wanted = format!("at most {limit} levels of nesting");
    DecodeError::new(
        "too-deep",
        Span::new(at, at + 1),
        "message",
        wanted,
        format!("level {}", limit + 1),
    )
    .hint("raise the limit with `max-depth`")
}

/// A sink that ignores all values, for parsers that only validate bytes.
#[derive(Debug)]
pub struct Nothing;

impl Sink for Nothing {
    fn scalar(&mut self, _: Span, _: crate::tape::Scalar<'_>) {}
    fn open(&mut self, _: usize, _: crate::tape::Shape) {}
    fn close(&mut self, _: usize) {}
    fn label(&mut self, _: usize, _: u32, _: &crate::tape::KeyName) {}
}
