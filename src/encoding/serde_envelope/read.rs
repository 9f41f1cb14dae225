//! Envelopes, read by the schema.

use super::flaw::{Flaw, What};
use super::{COMPAT_VERSION, FIELDS, Header, MAX_DEPTH, TAIL, Type, Types, VERSION};
use crate::encoding::Nothing;
use crate::error::DecodeError;
use crate::span::Span;
use crate::tape::{Scalar, Shape, Sink};

/// Faults that one message is given at most.
const MAX_FLAWS: usize = 16;

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
    let sound = parser.layout(layout, end, &mut Nothing).is_ok() && parser.flaws.is_empty();
    let fields = types.layout(layout).map_or(&[][..], |s| &s.fields);
    let mut absent = fields.iter().rev().take(parser.missing);
    Fit {
        sound,
        complete: !absent.any(|f| f.since <= header.version && !matches!(f.kind, Type::Vector(_))),
        full: parser.at == end,
        owned: parser.at.saturating_sub(span.at()),
    }
}

pub(super) struct Parser<'t, 'a> {
    types: &'t Types,
    pub bytes: &'a [u8],
    pub at: usize,
    /// Levels of envelopes that may still follow, and may be at all.
    pub left: u32,
    pub limit: u32,
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
    pub fn new(types: &'t Types, bytes: &'a [u8], span: Span, depth: u32, tells: bool) -> Self {
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
    pub fn flaw(&self, what: What) -> Flaw {
        Flaw { at: self.at, what }
    }

    #[inline]
    pub fn take<const N: usize>(&mut self, end: usize) -> Result<[u8; N], Flaw> {
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
    pub fn run(&mut self, end: usize) -> Result<&'a [u8], Flaw> {
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
                trial.layout(id, inner, &mut Nothing).is_ok() && trial.at < inner
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
    pub fn tell_versions<S: Sink>(&self, start: usize, header: Header, sink: &mut S) {
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
}

#[inline]
pub(super) fn signed(value: i64) -> Scalar<'static> {
    if value < 0 {
        Scalar::Int(value)
    } else {
        Scalar::Uint(value.cast_unsigned())
    }
}
