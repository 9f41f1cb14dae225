//! Serde envelopes, as Redpanda's serde, and telequick's lite form of it, write them.
//!
//! ```text
//!   00      | 00             | 07 00 00 00  | 03 00 00 00 61 62 63
//!   version   compat_version   payload_size   fields: inline, in the schema's order, no tags, no padding
//! ```
//!
//! All numbers are little-endian. A string is an i32 length and its bytes, a vector an i32 count and its elements, a
//! struct inside a struct an envelope of its own. The bytes name nothing, so a struct is read by its [`Struct`]; what a
//! newer writer added after the known fields is kept as `tail`, what an older one did not know is absent. That holds at
//! every level. [`guess`] reads an envelope that no schema describes.

// Long: types, parser and guess share their parts; a quarter is tests.

mod write;

use crate::error::DecodeError;
use crate::span::Span;
use crate::tape::{Name, Scalar, Shape, Sink};
use std::sync::Arc;
pub(crate) use write::{Versions, bytes, int, versions, write, write_guess};

/// The names that this encoding needs; [`Types::names`] begins with them.
pub const LABELS: [&str; 4] = ["version", "compat_version", "fields", "tail"];
/// Place of `version` in [`LABELS`].
pub const VERSION: u32 = 0;
/// Place of `compat_version` in [`LABELS`].
pub const COMPAT_VERSION: u32 = 1;
/// Place of `fields` in [`LABELS`].
pub const FIELDS: u32 = 2;
/// Place of `tail` in [`LABELS`].
pub const TAIL: u32 = 3;

/// Bytes of an envelope before its fields.
pub const HEADER: usize = 6;
/// Levels of envelopes inside envelopes that are read at most, whatever the limit.
pub const MAX_DEPTH: u32 = 64;
/// Values that [`guess`] tells apart in one message; the bytes after them stay bytes.
const MAX_GUESSES: u32 = 1024;
/// Faults that one message is given at most.
const MAX_FLAWS: usize = 16;

/// What a field holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    /// One byte, 0 or 1.
    Bool,
    /// A signed integer of so many bytes.
    Int(u8),
    /// An unsigned integer of so many bytes.
    Uint(u8),
    /// IEEE 754, 8 bytes.
    Double,
    /// Text.
    Str,
    /// Opaque bytes in the shape of a string.
    Bytes,
    /// An int32 with names: a place in [`Types::enums`].
    Enum(u32),
    /// An envelope: a place in [`Types::structs`].
    Struct(u32),
    /// A count and elements.
    Vector(Box<Type>),
}

impl Type {
    /// The fewest bytes a value takes.
    pub fn min_size(&self) -> usize {
        match self {
            Self::Bool => 1,
            Self::Int(width) | Self::Uint(width) => *width as usize,
            Self::Double => 8,
            Self::Str | Self::Bytes | Self::Enum(_) | Self::Vector(_) => 4,
            Self::Struct(_) => HEADER,
        }
    }
}

/// A field of a struct.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name, a place in [`Types::names`].
    pub name: u32,
    /// What it holds.
    pub kind: Type,
    /// The version of the struct that brought it.
    pub since: u8,
}

/// A struct: its fields in the order they are written in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Struct {
    /// Its name, a place in [`Types::names`].
    pub name: u32,
    /// The version that is described.
    pub version: u8,
    /// The oldest version whose readers can read it.
    pub compat_version: u8,
    /// The fields.
    pub fields: Vec<Field>,
}

/// Names for the values of an int32.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Enum {
    /// Its name, a place in [`Types::names`].
    pub name: u32,
    /// Value and name, by rising value.
    pub values: Vec<(i32, u32)>,
}

impl Enum {
    /// The name of a value, a place in [`Types::names`].
    pub fn name_of(&self, value: i32) -> Option<u32> {
        let at = self.values.binary_search_by_key(&value, |(v, _)| *v).ok()?;
        self.values.get(at).map(|(_, name)| *name)
    }
}

/// Everything that a schema describes of bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Types {
    /// Every name there is; [`LABELS`] first.
    pub names: Arc<Vec<Name>>,
    /// The structs.
    pub structs: Vec<Struct>,
    /// The enums.
    pub enums: Vec<Enum>,
    /// How many elements a vector may have; bytes bound it anyway.
    pub max_elements: Option<u32>,
}

impl Types {
    /// The name at a place; empty where there is none.
    #[inline]
    pub fn name(&self, id: u32) -> &str {
        self.label(id).as_str()
    }

    /// The same with its spelling as a key.
    #[inline]
    pub fn label(&self, id: u32) -> &Name {
        self.names.get(id as usize).unwrap_or(Name::NONE)
    }

    /// The struct at a place.
    pub fn layout(&self, id: u32) -> Option<&Struct> {
        self.structs.get(id as usize)
    }
}

/// What stands before an envelope's fields, and where those end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The schema version of the writer.
    pub version: u8,
    /// The oldest version that the writer says can read it.
    pub compat_version: u8,
    /// Bytes of fields, as written.
    pub payload_size: i32,
    /// The fields that are there; less than `payload_size` where the bytes end before.
    pub fields: Span,
    /// Whether `payload_size` cannot be: negative, or more than there is.
    pub lies: bool,
}

impl Header {
    /// Reads the header at the start of `span`; `None` where its six bytes are not there.
    #[inline]
    pub fn read(bytes: &[u8], span: Span) -> Option<Self> {
        let body = span.of(bytes);
        let [version, compat_version, size @ ..] = *body.first_chunk::<HEADER>()?;
        let payload_size = i32::from_le_bytes(size);
        let room = body.len() - HEADER;
        let start = span.at() + HEADER;
        // payload_size is signed: it is compared before it is added to anything.
        let len = usize::try_from(payload_size).ok().filter(|n| *n <= room);
        Some(Self {
            version,
            compat_version,
            payload_size,
            fields: Span::new(start, start + len.unwrap_or(room)),
            lies: len.is_none(),
        })
    }

    /// What is wrong with `payload_size`, where something is.
    pub fn fault(&self) -> Option<DecodeError> {
        let flaw = self.flaw()?;
        Some(flaw.explain(String::new()))
    }

    /// What is wrong where the writer says that a reader of `version` cannot read this.
    pub fn unreadable(&self, version: u8) -> Option<DecodeError> {
        let at = self.fields.at().saturating_sub(HEADER - 1);
        let what = What::Unreadable(self.compat_version, version);
        (self.compat_version > version).then(|| Flaw { at, what }.explain(String::new()))
    }

    fn flaw(&self) -> Option<Flaw> {
        let at = self.fields.at().saturating_sub(4);
        let what = match self.payload_size {
            _ if !self.lies => return None,
            size @ ..0 => What::NegativeSize(size),
            size => What::Overrun(size, self.fields.len),
        };
        Some(Flaw { at, what })
    }
}

/// How a struct's fields were met.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// One past the last byte that a field owns; what follows up to the end of the envelope is its tail.
    pub end: usize,
    /// Fields that an older writer left out.
    pub missing: usize,
    /// Whether one of those could hold something other than a vector.
    pub incomplete: bool,
    /// What is wrong, although reading could go on.
    pub faults: Vec<DecodeError>,
}

/// Tells `sink` the map of a struct's fields, which lie at `span` of `bytes`.
///
/// `depth` bounds envelopes inside envelopes; the one whose fields these are is the first.
pub fn parse<S: Sink>(
    types: &Types,
    layout: u32,
    bytes: &[u8],
    span: Span,
    depth: u32,
    sink: &mut S,
) -> Result<Outcome, DecodeError> {
    let mut parser = Parser::new(types, bytes, span, depth, true);
    let result = parser.layout(layout, span.end().min(bytes.len()), sink);
    parser.outcome(result)
}

/// How well a struct fits bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fit {
    /// Every value could be read.
    pub sound: bool,
    /// No field is absent that a writer of that version writes; vectors may be.
    pub complete: bool,
    /// Every byte belongs to a field.
    pub full: bool,
    /// Bytes that fields own.
    pub owned: usize,
}

/// How well a struct fits the fields of an envelope in `bytes`.
pub fn fit(types: &Types, layout: u32, bytes: &[u8], header: Header, depth: u32) -> Fit {
    let span = header.fields;
    let mut parser = Parser::new(types, bytes, span, depth, false);
    let end = span.end().min(bytes.len());
    let sound = parser.layout(layout, end, &mut super::Nothing).is_ok() && parser.flaws.is_empty();
    let fields = types.layout(layout).map_or(&[][..], |s| &s.fields);
    let mut absent = fields.iter().rev().take(parser.missing);
    Fit {
        sound,
        complete: !absent.any(|f| f.since <= header.version && !matches!(f.kind, Type::Vector(_))),
        full: parser.at == end,
        owned: parser.at.saturating_sub(span.at()),
    }
}

/// Tells `sink` an array of what the fields at `span` may be, where no schema says: text with a sane length before it,
/// an envelope that fills the rest exactly, else int32 after int32; what is left over are bytes.
pub fn guess<S: Sink>(
    types: &Types,
    bytes: &[u8],
    span: Span,
    depth: u32,
    sink: &mut S,
) -> Result<(), DecodeError> {
    let mut parser = Parser::new(types, bytes, span, depth, true);
    let result = parser.guesses(span.end().min(bytes.len()), &mut 0, sink);
    result.map_err(|flaw| flaw.explain("fields".into()))
}

/// What went wrong, small enough to return from the innermost step.
#[derive(Clone, Copy, Debug)]
struct Flaw {
    at: usize,
    what: What,
}

#[derive(Clone, Copy, Debug)]
enum What {
    NegativeSize(i32),
    /// `payload_size`, and the bytes there are.
    Overrun(i32, u32),
    /// Bytes of a header that are there.
    NoHeader(usize),
    /// `compat_version`, and the version that is described.
    Unreadable(u8, u8),
    /// Length, and the bytes there are.
    StringLength(i32, usize),
    /// Count, bytes left, least bytes of an element.
    Count(i32, usize, usize),
    /// Count, and the limit.
    Elements(i32, u32),
    /// Bytes of a value, and the bytes left.
    Field(usize, usize),
    TooDeep(u32),
}

impl Flaw {
    #[cold]
    fn explain(self, path: String) -> DecodeError {
        let at = self.at;
        let inside = |name: &str| match path.as_str() {
            "" => name.to_owned(),
            path => format!("{path}.{name}"),
        };
        match self.what {
            What::NegativeSize(size) => DecodeError::new(
                "negative-size",
                Span::new(at, at + 4),
                inside("payload_size"),
                "0 or more",
                size.to_string(),
            ),
            What::Overrun(size, room) => DecodeError::new(
                "envelope-overrun",
                Span::new(at, at + 4),
                inside("payload_size"),
                format!("at most {room}, the bytes that are left"),
                size.to_string(),
            ),
            What::NoHeader(left) => DecodeError::new(
                "envelope-overrun",
                Span::new(at, at + left),
                inside("envelope"),
                "6 bytes of envelope header",
                format!("{left} bytes"),
            ),
            What::Unreadable(compat, version) => DecodeError::new(
                "unreadable-version",
                Span::new(at, at + 1),
                inside("compat_version"),
                format!("at most {version}, the version that the schema describes"),
                compat.to_string(),
            )
            .hint("the writer says that older readers cannot read this; a newer schema is needed"),
            What::StringLength(len, left) => DecodeError::new(
                "string-length",
                Span::new(at, at + 4),
                path,
                format!("a length of 0 to {left}, the bytes left in the envelope"),
                len.to_string(),
            ),
            What::Count(count, left, least) => DecodeError::new(
                "vector-count",
                Span::new(at, at + 4),
                path,
                format!(
                    "at most {}: {left} bytes are left, and an element takes {least} or more",
                    left / least.max(1)
                ),
                count.to_string(),
            ),
            What::Elements(count, limit) => DecodeError::new(
                "vector-count",
                Span::new(at, at + 4),
                path,
                format!("at most {limit}, the schema's limit"),
                count.to_string(),
            ),
            What::Field(size, left) => DecodeError::new(
                "field-overrun",
                Span::new(at, at + left),
                path,
                format!("{size} bytes"),
                format!("{left} left in the envelope"),
            ),
            What::TooDeep(limit) => DecodeError::new(
                "too-deep",
                Span::new(at, at + HEADER),
                path,
                format!("at most {limit} levels of envelopes"),
                format!("level {}", limit + 1),
            ),
        }
    }
}

struct Parser<'t, 'a> {
    types: &'t Types,
    bytes: &'a [u8],
    at: usize,
    /// Levels of envelopes that may still follow, and may be at all.
    left: u32,
    limit: u32,
    /// Whether the sink hears it; only then does it matter how a nested envelope will be told.
    tells: bool,
    /// Names of the fields that lead here; not popped after an error.
    path: Vec<u32>,
    flaws: Vec<(Flaw, Vec<u32>)>,
    /// Of the outermost struct.
    missing: usize,
    incomplete: bool,
}

impl<'t, 'a> Parser<'t, 'a> {
    fn new(types: &'t Types, bytes: &'a [u8], span: Span, depth: u32, tells: bool) -> Self {
        let limit = depth.min(MAX_DEPTH);
        Self {
            types,
            bytes,
            at: span.at(),
            left: limit.saturating_sub(1),
            limit,
            tells,
            path: Vec::new(),
            flaws: Vec::new(),
            missing: 0,
            incomplete: false,
        }
    }

    fn outcome(self, result: Result<(), Flaw>) -> Result<Outcome, DecodeError> {
        if result.is_ok() && self.flaws.is_empty() {
            return Ok(Outcome {
                end: self.at,
                missing: self.missing,
                incomplete: self.incomplete,
                faults: Vec::new(),
            });
        }
        let name = |path: &[u32]| {
            let names: Vec<_> = path.iter().map(|id| self.types.name(*id)).collect();
            format!("fields.{}", names.join("."))
        };
        // The first thing wrong is told; what fails after it mostly follows from it.
        if let Err(flaw) = result
            && self.flaws.is_empty()
        {
            return Err(flaw.explain(name(&self.path)));
        }
        let faults: Vec<_> = self
            .flaws
            .iter()
            .map(|(flaw, path)| flaw.explain(name(path)))
            .collect();
        match (result, faults.first()) {
            (Err(_), Some(first)) => Err(first.clone()),
            _ => Ok(Outcome {
                end: self.at,
                missing: self.missing,
                incomplete: self.incomplete,
                faults,
            }),
        }
    }

    /// Remembers what is wrong where reading can go on.
    fn note(&mut self, flaw: Flaw) {
        if self.flaws.len() < MAX_FLAWS {
            self.flaws.push((flaw, self.path.clone()));
        }
    }

    #[inline]
    fn flaw(&self, what: What) -> Flaw {
        Flaw { at: self.at, what }
    }

    #[inline]
    fn take<const N: usize>(&mut self, end: usize) -> Result<[u8; N], Flaw> {
        let rest = self.bytes.get(self.at..end).unwrap_or_default();
        match rest.first_chunk::<N>() {
            Some(chunk) => {
                self.at += N;
                Ok(*chunk)
            }
            None => Err(self.flaw(What::Field(N, rest.len()))),
        }
    }

    /// A length, and the bytes that follow it.
    #[inline]
    fn run(&mut self, end: usize) -> Result<&'a [u8], Flaw> {
        let start = self.at;
        let length = i32::from_le_bytes(self.take(end)?);
        let rest = self.bytes.get(self.at..end).unwrap_or_default();
        match usize::try_from(length).ok().and_then(|n| rest.get(..n)) {
            Some(run) => {
                self.at += run.len();
                Ok(run)
            }
            None => Err(Flaw {
                at: start,
                what: What::StringLength(length, rest.len()),
            }),
        }
    }

    /// The map of a struct's fields, up to `end`.
    #[inline]
    fn layout<S: Sink>(&mut self, id: u32, end: usize, sink: &mut S) -> Result<(), Flaw> {
        let types = self.types;
        let level = self.path.len();
        let fields = types.layout(id).map_or(&[][..], |s| &s.fields);
        sink.open(self.at, Shape::Map);
        for (n, field) in fields.iter().enumerate() {
            // A reader stops where the envelope does: what an older writer did not know is absent.
            if self.at >= end {
                if level == 0 {
                    let absent = fields.get(n..).unwrap_or_default();
                    self.missing = absent.len();
                    self.incomplete = absent.iter().any(|f| !matches!(f.kind, Type::Vector(_)));
                }
                break;
            }
            sink.label(self.at, field.name, types.label(field.name));
            if let Err(flaw) = self.value(&field.kind, field.name, end, sink) {
                if self.path.len() == level {
                    self.path.push(field.name);
                }
                return Err(flaw);
            }
        }
        sink.close(self.at);
        Ok(())
    }

    #[inline]
    fn value<S: Sink>(
        &mut self,
        kind: &Type,
        name: u32,
        end: usize,
        sink: &mut S,
    ) -> Result<(), Flaw> {
        let start = self.at;
        let scalar = match kind {
            Type::Str => Scalar::Str(self.run(end)?),
            Type::Bytes => Scalar::Bin(self.run(end)?),
            Type::Bool => match self.take::<1>(end)? {
                [0] => Scalar::Bool(false),
                [1] => Scalar::Bool(true),
                [odd] => Scalar::OddBool(odd),
            },
            Type::Int(width) => signed(match width {
                1 => i8::from_le_bytes(self.take(end)?) as i64,
                2 => i16::from_le_bytes(self.take(end)?) as i64,
                4 => i32::from_le_bytes(self.take(end)?) as i64,
                _ => i64::from_le_bytes(self.take(end)?),
            }),
            Type::Uint(width) => Scalar::Uint(match width {
                1 => u8::from_le_bytes(self.take(end)?) as u64,
                2 => u16::from_le_bytes(self.take(end)?) as u64,
                4 => u32::from_le_bytes(self.take(end)?) as u64,
                _ => u64::from_le_bytes(self.take(end)?),
            }),
            Type::Double => Scalar::F64(u64::from_le_bytes(self.take(end)?)),
            Type::Enum(id) => {
                let value = i32::from_le_bytes(self.take(end)?);
                let types = self.types;
                match types.enums.get(*id as usize).and_then(|e| e.name_of(value)) {
                    Some(name) => Scalar::Name(value as i64, name, types.name(name)),
                    None => signed(value as i64),
                }
            }
            Type::Vector(element) => return self.vector(element, name, end, sink),
            Type::Struct(id) => return self.envelope(*id, name, end, sink),
        };
        sink.scalar(Span::new(start, self.at), scalar);
        Ok(())
    }

    fn vector<S: Sink>(
        &mut self,
        element: &Type,
        name: u32,
        end: usize,
        sink: &mut S,
    ) -> Result<(), Flaw> {
        let start = self.at;
        let count = i32::from_le_bytes(self.take(end)?);
        let (left, least) = (end - self.at, element.min_size());
        // A count is believed only where the bytes that are left could hold it.
        let what = match usize::try_from(count) {
            Ok(n) if n <= left / least.max(1) => match self.types.max_elements {
                Some(limit) if n > limit as usize => Some(What::Elements(count, limit)),
                _ => None,
            },
            _ => Some(What::Count(count, left, least)),
        };
        if let Some(what) = what {
            return Err(Flaw { at: start, what });
        }
        sink.open(start, Shape::Array);
        for _ in 0..count {
            sink.item();
            self.value(element, name, end, sink)?;
        }
        sink.close(self.at);
        Ok(())
    }

    /// A struct inside a struct: its fields where nothing else need be said, else versions, fields and tail.
    fn envelope<S: Sink>(
        &mut self,
        id: u32,
        name: u32,
        end: usize,
        sink: &mut S,
    ) -> Result<(), Flaw> {
        let start = self.at;
        let header = self.enter(end)?;
        self.path.push(name);
        let inner = header.fields.end();
        // An inner envelope must end inside the outer one; this one is read as far as that goes.
        if let Some(flaw) = header.flaw() {
            if header.payload_size < 0 {
                return Err(flaw);
            }
            self.note(flaw);
        }
        let version = self.types.layout(id).map_or(0, |s| s.version);
        if header.compat_version > version {
            let what = What::Unreadable(header.compat_version, version);
            self.note(Flaw {
                at: start + 1,
                what,
            });
        }
        self.left -= 1;
        self.at = header.fields.at();
        let wrapped = self.tells
            && (header.version | header.compat_version != 0 || {
                let mut trial = Parser {
                    types: self.types,
                    bytes: self.bytes,
                    at: self.at,
                    left: self.left,
                    limit: self.limit,
                    tells: false,
                    path: vec![name],
                    flaws: Vec::new(),
                    missing: 0,
                    incomplete: false,
                };
                trial.layout(id, inner, &mut super::Nothing).is_ok() && trial.at < inner
            });
        if wrapped {
            sink.open(start, Shape::Map);
            self.tell_versions(start, header, sink);
        }
        self.layout(id, inner, sink)?;
        if wrapped {
            if self.at < inner {
                self.tell(TAIL, self.at, sink);
                let tail = Span::new(self.at, inner);
                sink.scalar(tail, Scalar::Bin(tail.of(self.bytes)));
            }
            sink.close(inner);
        }
        self.at = inner;
        self.left += 1;
        self.path.pop();
        Ok(())
    }

    /// The header of an envelope one level further in.
    fn enter(&mut self, end: usize) -> Result<Header, Flaw> {
        let span = Span::new(self.at, end);
        let header = Header::read(self.bytes, span)
            .ok_or_else(|| self.flaw(What::NoHeader(span.len as usize)))?;
        if self.left == 0 {
            return Err(self.flaw(What::TooDeep(self.limit)));
        }
        Ok(header)
    }

    fn tell<S: Sink>(&self, label: u32, at: usize, sink: &mut S) {
        sink.label(at, label, self.types.label(label));
    }

    /// The keys of a wrapped envelope up to the value of `fields`.
    fn tell_versions<S: Sink>(&self, start: usize, header: Header, sink: &mut S) {
        for (n, label, value) in [
            (0, VERSION, header.version),
            (1, COMPAT_VERSION, header.compat_version),
        ] {
            self.tell(label, start + n, sink);
            let at = Span::new(start + n, start + n + 1);
            sink.scalar(at, Scalar::Uint(value as u64));
        }
        self.tell(FIELDS, header.fields.at(), sink);
    }

    fn guesses<S: Sink>(&mut self, end: usize, told: &mut u32, sink: &mut S) -> Result<(), Flaw> {
        sink.open(self.at, Shape::Array);
        while self.at < end {
            let start = self.at;
            sink.item();
            *told += 1;
            if *told < MAX_GUESSES {
                if let Ok(text) = self.run(end)
                    && is_printable(text)
                {
                    sink.scalar(Span::new(start, self.at), Scalar::Str(text));
                    continue;
                }
                self.at = start;
                if let Some(header) = self.plausible_envelope(end) {
                    self.guess_envelope(header, told, sink)?;
                    continue;
                }
                if let Ok(int) = self.take(end) {
                    let value = signed(i32::from_le_bytes(int) as i64);
                    sink.scalar(Span::new(start, self.at), value);
                    continue;
                }
            }
            let rest = Span::new(start, end);
            sink.scalar(rest, Scalar::Bin(rest.of(self.bytes)));
            self.at = end;
        }
        sink.close(end);
        Ok(())
    }

    fn guess_envelope<S: Sink>(
        &mut self,
        header: Header,
        told: &mut u32,
        sink: &mut S,
    ) -> Result<(), Flaw> {
        let start = self.at;
        if self.left == 0 {
            return Err(self.flaw(What::TooDeep(self.limit)));
        }
        self.left -= 1;
        self.at = header.fields.at();
        let wrapped = header.version | header.compat_version != 0;
        if wrapped {
            sink.open(start, Shape::Map);
            self.tell_versions(start, header, sink);
        }
        self.guesses(header.fields.end(), told, sink)?;
        if wrapped {
            sink.close(header.fields.end());
        }
        self.left += 1;
        Ok(())
    }

    /// The header here where an envelope of small versions would fill the bytes up to `end` exactly.
    fn plausible_envelope(&self, end: usize) -> Option<Header> {
        let header = Header::read(self.bytes, Span::new(self.at, end))?;
        let fills = usize::try_from(header.payload_size) == Ok(end - self.at - HEADER);
        (fills && header.version < 16 && header.compat_version <= header.version).then_some(header)
    }
}

#[inline]
fn signed(value: i64) -> Scalar<'static> {
    if value < 0 {
        Scalar::Int(value)
    } else {
        Scalar::Uint(value.cast_unsigned())
    }
}

/// Whether bytes are likely meant as text.
fn is_printable(text: &[u8]) -> bool {
    let printable = |s: &str| !s.is_empty() && !s.chars().any(char::is_control);
    std::str::from_utf8(text).is_ok_and(printable)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoding::lossless;
    use crate::tape::Tape;

    /// One struct `S` of these fields, and an enum of `NO` = -1 and `YES` = 1.
    fn types(kinds: &[Type]) -> Types {
        let mut names: Vec<String> = LABELS.map(str::to_owned).to_vec();
        names.extend(["NO", "YES"].map(str::to_owned));
        let first = names.len() as u32;
        names.extend((0..kinds.len()).map(|n| format!("f{n}")));
        let fields = kinds.iter().zip(first..).map(|(kind, name)| Field {
            name,
            kind: kind.clone(),
            since: 0,
        });
        Types {
            structs: vec![Struct {
                name: 0,
                version: 0,
                compat_version: 0,
                fields: fields.collect(),
            }],
            enums: vec![Enum {
                name: 0,
                values: vec![(-1, 4), (1, 5)],
            }],
            names: Arc::new(names.into_iter().map(Name::new).collect()),
            max_elements: None,
        }
    }

    fn shown(tape: &Tape, bytes: &[u8]) -> String {
        let mut out = vec![];
        lossless::write(tape.root(bytes).unwrap(), &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn every_type() {
        let vector = |kind| Type::Vector(Box::new(kind));
        for (kind, text, want) in [
            (Type::Bool, "01", "true"),
            (Type::Bool, "02", r#"{"$bool":2}"#),
            (Type::Int(1), "80", "-128"),
            (Type::Int(2), "ff7f", "32767"),
            (Type::Int(4), "00000080", "-2147483648"),
            (Type::Int(8), "0000000000000080", "-9223372036854775808"),
            (Type::Uint(1), "ff", "255"),
            (Type::Uint(2), "0100", "1"),
            (Type::Uint(4), "ffffffff", "4294967295"),
            (Type::Uint(8), "ffffffffffffffff", "18446744073709551615"),
            (Type::Double, "0000000000000080", "-0.0"),
            (
                Type::Double,
                "010000000000f87f",
                r#"{"$float":"7ff8000000000001"}"#,
            ),
            (Type::Str, "02000000c3a9", "\"é\""),
            (Type::Str, "01000000ff", r#"{"$str":"ff"}"#),
            (Type::Bytes, "0100000041", r#"{"$bin":"41"}"#),
            (Type::Enum(0), "ffffffff", "\"NO\""),
            (Type::Enum(0), "02000000", "2"),
            (
                vector(vector(Type::Int(1))),
                "02000000 00000000 02000000 01ff",
                "[[],[1,-1]]",
            ),
        ] {
            let bytes = hex::decode(text.replace(' ', "")).unwrap();
            let (types, span) = (types(&[kind]), Span::new(0, bytes.len()));
            let mut tape = Tape::new();
            tape.set_names(&types.names);
            let outcome = parse(&types, 0, &bytes, span, 64, &mut tape).unwrap();
            assert_eq!(outcome.end, bytes.len(), "{text}");
            assert_eq!(shown(&tape, &bytes), format!("{{\"f0\":{want}}}"), "{text}");
            for len in 1..bytes.len() {
                let cut = Span::new(0, len);
                let error = parse(&types, 0, &bytes, cut, 64, &mut Tape::new());
                assert!(error.is_err(), "{text} cut to {len}");
            }
        }
    }

    #[test]
    fn fits() {
        let types = types(&[Type::Int(2), Type::Vector(Box::new(Type::Int(1)))]);
        for (bytes, sound, complete, full, owned) in [
            (&[][..], true, false, true, 0),
            (&[1, 0], true, true, true, 2),
            (&[1, 0, 0, 0, 0, 0], true, true, true, 6),
            (&[1, 0, 0, 0, 0, 0, 9], true, true, false, 6),
            (&[1], false, true, false, 0),
            (&[1, 0, 2, 0, 0, 0, 9], false, true, false, 6),
        ] {
            let size = bytes.len() as u8;
            let body = [&[0, 0, size, 0, 0, 0], bytes].concat();
            let header = Header::read(&body, Span::new(0, body.len())).unwrap();
            let got = fit(&types, 0, &body, header, 64);
            let want = Fit {
                sound,
                complete,
                full,
                owned,
            };
            assert_eq!(got, want, "{bytes:?}");
        }
    }

    #[test]
    fn guesses() {
        for (text, want) in [
            ("", "[]"),
            ("05000000", "[5]"),
            ("02000000 6869 ffffffff", r#"["hi",-1]"#),
            (
                "0201 06000000 02000000 6869",
                r#"[{"version":2,"compat_version":1,"fields":["hi"]}]"#,
            ),
            ("02000000 0100 07", r#"[2,{"$bin":"010007"}]"#),
        ] {
            let bytes = hex::decode(text.replace(' ', "")).unwrap();
            let types = types(&[]);
            let mut tape = Tape::new();
            tape.set_names(&types.names);
            guess(&types, &bytes, Span::new(0, bytes.len()), 64, &mut tape).unwrap();
            assert_eq!(shown(&tape, &bytes), want, "{text}");
        }
    }
}
