//! How are a message's bytes written? One file an encoding, parser and writer side by side.
//!
//! A parser walks bytes once and tells a [`Sink`] what it meets. [`Parsed`] holds the two sinks there are, reused
//! from message to message: the tape, and the message as lossless JSON text.

pub mod json;
pub mod lossless;
pub mod msgpack;
pub mod serde_envelope;
mod values;

use crate::error::DecodeError;
use crate::span::Span;
use crate::tape::{Name, Node, Sink, Tape, Tee};
use lossless::{JsonText, OddMaps, Passing};
use std::sync::Arc;

/// Fault codes that encodings give, each with what it means.
pub const FAULTS: &[(&str, &str)] = &[
    ("empty", "there is no message where one must be"),
    ("bad-json", "not JSON (RFC 8259)"),
    ("bad-utf8", "JSON that is not UTF-8"),
    ("bad-msgpack", "not MessagePack"),
    ("ends-early", "the body ends inside a value"),
    ("trailing-bytes", "bytes after the end of the value"),
    ("too-deep", "more levels of nesting than the limit"),
];

/// What the output will need of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Want {
    /// Every place: the tape is built whole. The message is also there as JSON text.
    Places,
    /// Places, but of a long message only the first: as many as are shown.
    Rows,
    /// The message as JSON text, and of the tape only what its head is read from.
    Text,
    /// Only what the head is read from.
    Head,
    /// The message as JSON text from which its bytes can be written again, and the bytes of each frame.
    Exact,
}

/// How deep the tape reaches where only the head is wanted: `params.selector` is two levels down, and so is the code of
/// an error, which is for lines alone.
const HEAD_DEPTH: u32 = 2;

/// A parsed message: reuse one for all of a run.
#[derive(Debug)]
pub struct Parsed {
    /// What the message holds, and where.
    pub tape: Tape,
    want: Want,
    depth: u32,
    /// What the last message had, where it was JSON.
    seen: json::Seen,
    text: JsonText,
    /// Where the text of the message stands.
    source: Source,
    /// Of a message that is parsed again as it is written: first bytes of the maps that no JSON object can hold.
    odd: Vec<u32>,
    /// The last message came as `MessagePack`.
    is_msgpack: bool,
}

/// Bytes of a message whose text may be too long to be held beside it.
const LONG: u32 = 1 << 20;
/// Bytes of text that are handed on at a time.
const PIECE: usize = 64 << 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    /// Nowhere: it has to be written from the tape.
    Tape,
    /// In the bytes themselves.
    Bytes(Span),
    /// In `text`.
    Text,
    /// In `MessagePack` that is long: it is parsed again as it is written.
    Again(Span),
}

impl Parsed {
    /// Room for messages of at most `depth` levels.
    pub fn new(want: Want, depth: u32) -> Self {
        Self {
            tape: Tape::new(),
            want,
            depth,
            seen: json::Seen::default(),
            text: JsonText::default(),
            source: Source::Tape,
            odd: Vec::new(),
            is_msgpack: false,
        }
    }

    /// Forgets the last message.
    pub fn clear(&mut self) {
        self.begin(u32::MAX);
    }

    /// What the output will need.
    pub fn want(&self) -> Want {
        self.want
    }

    /// The output's needs have changed.
    pub fn set_want(&mut self, want: Want) {
        self.want = want;
    }

    /// Levels of nesting that are read.
    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// What the last message was seen to have; only JSON tells.
    pub fn seen(&self) -> json::Seen {
        self.seen
    }

    /// The names that a schema's labels and values have.
    pub fn set_names(&mut self, names: &Arc<Vec<Name>>) {
        if self.tape.set_names(names) {
            self.text.forget_repeated();
        }
    }

    fn begin(&mut self, keep: u32) {
        self.seen = json::Seen::default();
        self.tape.clear(keep);
        self.tape
            .set_few(!matches!(self.want, Want::Places | Want::Exact));
        self.text.clear();
        self.source = Source::Tape;
        self.is_msgpack = false;
    }

    /// Parses one JSON value that fills `span`; what could be read of a bad one stays in the tape.
    pub fn json(&mut self, bytes: &[u8], span: Span) -> Result<(), DecodeError> {
        self.begin(if matches!(self.want, Want::Text | Want::Head) {
            HEAD_DEPTH
        } else {
            u32::MAX
        });
        let result = json::parse(bytes, span, self.depth, &mut self.tape);
        match &result {
            Ok(seen) => {
                self.seen = *seen;
                if self.want != Want::Head {
                    self.source = Source::Bytes(span);
                }
            }
            Err(_) => self.tape.mend(span.end()),
        }
        result
            .map(|_| ())
            .map_err(|error| no_json(bytes, span, error))
    }

    /// Parses one `MessagePack` value that fills `span`; what could be read of a bad one stays in the tape.
    pub fn msgpack(&mut self, bytes: &[u8], span: Span) -> Result<(), DecodeError> {
        let depth = self.depth;
        if self.want == Want::Text {
            // The head's fields are all at the top.
            self.begin(1);
            if span.len > LONG {
                let mut odd = OddMaps::default();
                let mut sinks = Tee(&mut self.tape, &mut odd);
                let result = msgpack::parse(bytes, span, depth, &mut sinks);
                if result.is_ok() {
                    self.odd = odd.finish();
                    self.source = Source::Again(span);
                    return result;
                }
                return self.packed(bytes, span);
            }
            let mut sinks = Tee(&mut self.tape, &mut self.text);
            let result = msgpack::parse(bytes, span, depth, &mut sinks);
            if result.is_ok() && self.text.is_plain() {
                self.source = Source::Text;
                return result;
            }
        }
        self.packed(bytes, span)
    }

    fn packed(&mut self, bytes: &[u8], span: Span) -> Result<(), DecodeError> {
        let depth = self.depth;
        let result = self.whole(span, |tape| msgpack::parse(bytes, span, depth, tape));
        self.is_msgpack = true;
        result
    }

    /// Runs a parser over the sink that is wanted, where the head of a message can be read without a tape. A run over the
    /// text that fails, or meets what plain JSON cannot hold, is followed by one over the tape.
    pub fn with<T>(
        &mut self,
        span: Span,
        text: impl FnOnce(&mut JsonText) -> Result<T, DecodeError>,
        tape: impl FnOnce(&mut Tape) -> Result<T, DecodeError>,
    ) -> Result<T, DecodeError> {
        if self.want == Want::Text {
            self.begin(0);
            let result = text(&mut self.text);
            if result.is_ok() && self.text.is_plain() {
                self.source = Source::Text;
                return result;
            }
        }
        self.whole(span, tape)
    }

    fn whole<T>(
        &mut self,
        span: Span,
        parse: impl FnOnce(&mut Tape) -> Result<T, DecodeError>,
    ) -> Result<T, DecodeError> {
        self.begin(if self.want == Want::Head {
            HEAD_DEPTH
        } else {
            u32::MAX
        });
        // What cannot be written while it is parsed is written from the tape.
        self.tape
            .set_few(matches!(self.want, Want::Head | Want::Rows));
        let result = parse(&mut self.tape);
        if result.is_err() {
            self.tape.mend(span.end());
        }
        result
    }

    /// The outermost value over the bytes it was parsed from.
    pub fn root<'a>(&'a self, bytes: &'a [u8]) -> Option<Node<'a>> {
        self.tape.root(bytes)
    }

    /// Whether the message is JSON whose text passes through.
    pub fn is_text(&self) -> bool {
        matches!(self.source, Source::Bytes(_))
    }

    /// Whether the message came as `MessagePack`.
    pub fn is_msgpack(&self) -> bool {
        self.is_msgpack
    }

    /// Writes the message as lossless JSON, on one line.
    pub fn write_message(&self, bytes: &[u8], out: &mut Vec<u8>) {
        match self.source {
            Source::Again(span) => self.write_again(bytes, span, out, &mut |_| {}),
            Source::Bytes(span) => json::write_text(span.of(bytes), self.seen.breaks, out),
            Source::Text => out.extend_from_slice(self.text.as_bytes()),
            Source::Tape => match self.tape.root(bytes) {
                Some(node) if self.is_msgpack && self.want == Want::Exact => {
                    lossless::write_exact(node, out);
                }
                Some(node) => lossless::write(node, out),
                None => out.extend_from_slice(b"null"),
            },
        }
    }

    /// Writes the message as [`Parsed::write_message`] does; where it is long, `full` may empty `out` meanwhile.
    pub fn pass_message(
        &self,
        bytes: &[u8],
        out: &mut Vec<u8>,
        full: &mut dyn FnMut(&mut Vec<u8>),
    ) {
        match self.source {
            Source::Again(span) => self.write_again(bytes, span, out, full),
            Source::Bytes(span) => {
                for piece in span.of(bytes).trim_ascii().chunks(PIECE) {
                    json::write_piece(piece, self.seen.breaks, out);
                    full(out);
                }
            }
            Source::Text => {
                for piece in self.text.as_bytes().chunks(PIECE) {
                    out.extend_from_slice(piece);
                    full(out);
                }
            }
            Source::Tape => self.write_message(bytes, out),
        }
    }

    /// Parses the message again and writes it meanwhile.
    fn write_again(
        &self,
        bytes: &[u8],
        span: Span,
        out: &mut Vec<u8>,
        full: &mut dyn FnMut(&mut Vec<u8>),
    ) {
        let mut text = Passing::new(std::mem::take(out), &self.odd, full);
        // It was parsed before, and all was well.
        let _ = msgpack::parse(bytes, span, self.depth, &mut text);
        *out = text.finish();
    }
}

/// How many bytes the value at the start of `bytes` takes: JSON where it begins with a bracket, otherwise `MessagePack`.
/// `None` where it is not complete.
pub fn measure(bytes: &[u8], depth: u32) -> Result<Option<usize>, DecodeError> {
    match bytes.trim_ascii_start().first() {
        Some(b'{' | b'[') => json::measure(bytes, depth, false),
        _ => msgpack::measure(bytes, depth),
    }
}

/// What is wrong with bytes that are no JSON: of text that does not even begin like a value, all is.
fn no_json(bytes: &[u8], span: Span, error: DecodeError) -> DecodeError {
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

/// One level too many, at byte `at`.
fn too_deep(at: usize, limit: u32) -> DecodeError {
    let wanted = format!("at most {limit} levels of nesting");
    DecodeError::new(
        "too-deep",
        Span::new(at, at + 1),
        "message",
        wanted,
        format!("level {}", limit + 1),
    )
    .hint("raise the limit with --max-depth")
}

/// Tells a sink nothing; for parsers that are asked only whether bytes are valid.
pub struct Nothing;

impl Sink for Nothing {
    fn scalar(&mut self, _: Span, _: crate::tape::Scalar<'_>) {}
    fn open(&mut self, _: usize, _: crate::tape::Shape) {}
    fn close(&mut self, _: usize) {}
    fn label(&mut self, _: usize, _: u32, _: &crate::tape::Name) {}
}
