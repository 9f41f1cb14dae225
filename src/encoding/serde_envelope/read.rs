//! Reads envelopes by their schema.

use super::error::{EnvelopeError, EnvelopeErrorKind};
use super::{COMPAT_VERSION, EnvelopeHeader, FIELDS, FieldType, MAX_DEPTH, TAIL, Types, VERSION};
use crate::encoding::Nothing;
use crate::error::DecodeError;
use crate::span::Span;
use crate::tape::{Scalar, Shape, Sink};

/// The maximum number of faults of one message.
const MAX_ERRORS: usize = 16;

/// The result of reading a struct's fields.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParseOutcome {
    /// The position after the last byte of a field; the bytes up to the end of the envelope are its
    /// tail.
    pub end: usize,
    /// The number of fields that an older writer left out.
    pub missing: usize,
    /// `true` if one of these can hold something other than a vector.
    pub incomplete: bool,
    /// Errors after which reading could continue.
    pub faults: Vec<DecodeError>,
}

/// Reports the map of a struct's fields at `span` of `bytes` to `sink`.
///
/// `depth` limits nested envelopes, counting the one with these fields.
pub fn parse<S: Sink>(
    types: &Types,
    layout: u32,
    bytes: &[u8],
    span: Span,
    depth: u32,
    sink: &mut S,
) -> Result<ParseOutcome, DecodeError> {
    let mut parser = EnvelopeParser::new(types, bytes, span, depth, true);
    let result = parser.layout(layout, span.end().min(bytes.len()), sink);
    parser.outcome(result)
}

/// A measure of the fit between a struct and bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Fit {
    /// All values could be read.
    pub(crate) sound: bool,
    /// No field is absent that a writer of that version writes, except vectors.
    pub(crate) complete: bool,
    /// Every byte belongs to a field.
    pub(crate) full: bool,
    /// The number of bytes that belong to fields.
    pub(crate) owned: usize,
}

/// Measures the fit between a struct and the fields of an envelope in `bytes`.
pub(crate) fn fit(
    types: &Types,
    layout: u32,
    bytes: &[u8],
    header: EnvelopeHeader,
    depth: u32,
) -> Fit {
    let span = header.fields;
    let mut parser = EnvelopeParser::new(types, bytes, span, depth, false);
    let end = span.end().min(bytes.len());
    let sound = parser.layout(layout, end, &mut Nothing).is_ok() && parser.violations.is_empty();
    let fields = types.layout(layout).map_or(&[][..], |s| &s.fields);
    let mut absent = fields.iter().rev().take(parser.missing);
    Fit {
        sound,
        complete: !absent
            .any(|f| f.since <= header.version && !matches!(f.kind, FieldType::Vector(_))),
        full: parser.at == end,
        owned: parser.at.saturating_sub(span.at()),
    }
}

pub(super) struct EnvelopeParser<'t, 'a> {
    types: &'t Types,
    pub bytes: &'a [u8],
    pub at: usize,
    /// The remaining levels of envelopes, and the limit.
    pub left: u32,
    pub limit: u32,
    /// `true` if the sink uses the values; only then the form of a nested envelope matters.
    is_reported: bool,
    /// Names of the fields on the path here; not popped after an error.
    path: Vec<u32>,
    violations: Vec<(EnvelopeError, Vec<u32>)>,
    /// The values of the outermost struct.
    missing: usize,
    incomplete: bool,
}

impl<'t, 'a> EnvelopeParser<'t, 'a> {
    pub fn new(
        types: &'t Types,
        bytes: &'a [u8],
        span: Span,
        depth: u32,
        is_reported: bool,
    ) -> Self {
        let limit = depth.min(MAX_DEPTH);
        Self {
            types,
            bytes,
            at: span.at(),
            left: limit.saturating_sub(1),
            limit,
            is_reported,
            path: Vec::new(),
            violations: Vec::new(),
            missing: 0,
            incomplete: false,
        }
    }

    fn outcome(self, result: Result<(), EnvelopeError>) -> Result<ParseOutcome, DecodeError> {
        if result.is_ok() && self.violations.is_empty() {
            return Ok(ParseOutcome {
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
        // The first error is reported; later ones mostly follow from it.
        if let Err(violation) = result
            && self.violations.is_empty()
        {
            return Err(violation.explain(name(&self.path)));
        }
        let faults: Vec<_> = self
            .violations
            .iter()
            .map(|(violation, path)| violation.explain(name(path)))
            .collect();
        match (result, faults.first()) {
            (Err(_), Some(first)) => Err(first.clone()),
            _ => Ok(ParseOutcome {
                end: self.at,
                missing: self.missing,
                incomplete: self.incomplete,
                faults,
            }),
        }
    }

    /// Records an error after which reading can continue.
    fn record(&mut self, violation: EnvelopeError) {
        if self.violations.len() < MAX_ERRORS {
            self.violations.push((violation, self.path.clone()));
        }
    }

    #[inline]
    pub fn violation(&self, what: EnvelopeErrorKind) -> EnvelopeError {
        EnvelopeError { at: self.at, what }
    }

    #[inline]
    pub fn take<const N: usize>(&mut self, end: usize) -> Result<[u8; N], EnvelopeError> {
        let rest = self.bytes.get(self.at..end).unwrap_or_default();
        match rest.first_chunk::<N>() {
            Some(chunk) => {
                self.at += N;
                Ok(*chunk)
            }
            None => Err(self.violation(EnvelopeErrorKind::Field(N, rest.len()))),
        }
    }

    /// Reads a length and the bytes that follow it.
    #[inline]
    pub fn run(&mut self, end: usize) -> Result<&'a [u8], EnvelopeError> {
        let start = self.at;
        let length = i32::from_le_bytes(self.take(end)?);
        let rest = self.bytes.get(self.at..end).unwrap_or_default();
        match usize::try_from(length).ok().and_then(|n| rest.get(..n)) {
            Some(run) => {
                self.at += run.len();
                Ok(run)
            }
            None => Err(EnvelopeError {
                at: start,
                what: EnvelopeErrorKind::StringLength(length, rest.len()),
            }),
        }
    }

    /// Reads the map of a struct's fields, up to `end`.
    #[inline]
    fn layout<S: Sink>(&mut self, id: u32, end: usize, sink: &mut S) -> Result<(), EnvelopeError> {
        let types = self.types;
        let level = self.path.len();
        let fields = types.layout(id).map_or(&[][..], |s| &s.fields);
        sink.open(self.at, Shape::Map);
        for (n, field) in fields.iter().enumerate() {
            // A reader stops at the end of the envelope: fields that an older writer did not know
            // are absent.
            if self.at >= end {
                if level == 0 {
                    let absent = fields.get(n..).unwrap_or_default();
                    self.missing = absent.len();
                    self.incomplete = absent
                        .iter()
                        .any(|f| !matches!(f.kind, FieldType::Vector(_)));
                }
                break;
            }
            sink.label(self.at, field.name, types.label(field.name));
            if let Err(violation) = self.value(&field.kind, field.name, end, sink) {
                if self.path.len() == level {
                    self.path.push(field.name);
                }
                return Err(violation);
            }
        }
        sink.close(self.at);
        Ok(())
    }

    #[inline]
    fn value<S: Sink>(
        &mut self,
        kind: &FieldType,
        name: u32,
        end: usize,
        sink: &mut S,
    ) -> Result<(), EnvelopeError> {
        let start = self.at;
        let scalar = match kind {
            FieldType::Str => Scalar::Str(self.run(end)?),
            FieldType::Bytes => Scalar::Bin(self.run(end)?),
            FieldType::Bool => match self.take::<1>(end)? {
                [0] => Scalar::Bool(false),
                [1] => Scalar::Bool(true),
                [odd] => Scalar::BoolByte(odd),
            },
            FieldType::Int(width) => signed(match width {
                1 => i8::from_le_bytes(self.take(end)?) as i64,
                2 => i16::from_le_bytes(self.take(end)?) as i64,
                4 => i32::from_le_bytes(self.take(end)?) as i64,
                _ => i64::from_le_bytes(self.take(end)?),
            }),
            FieldType::Uint(width) => Scalar::Uint(match width {
                1 => u8::from_le_bytes(self.take(end)?) as u64,
                2 => u16::from_le_bytes(self.take(end)?) as u64,
                4 => u32::from_le_bytes(self.take(end)?) as u64,
                _ => u64::from_le_bytes(self.take(end)?),
            }),
            FieldType::Double => Scalar::F64(u64::from_le_bytes(self.take(end)?)),
            FieldType::Enum(id) => {
                let value = i32::from_le_bytes(self.take(end)?);
                let types = self.types;
                match types.enums.get(*id as usize).and_then(|e| e.name_of(value)) {
                    Some(name) => Scalar::Name(value as i64, name, types.name(name)),
                    None => signed(value as i64),
                }
            }
            FieldType::Vector(element) => return self.vector(element, name, end, sink),
            FieldType::Struct(id) => return self.envelope(*id, name, end, sink),
        };
        sink.scalar(Span::new(start, self.at), scalar);
        Ok(())
    }

    fn vector<S: Sink>(
        &mut self,
        element: &FieldType,
        name: u32,
        end: usize,
        sink: &mut S,
    ) -> Result<(), EnvelopeError> {
        let start = self.at;
        let count = i32::from_le_bytes(self.take(end)?);
        let (left, least) = (end - self.at, element.min_size());
        // A count is accepted only if the remaining bytes can hold it.
        let what = match usize::try_from(count) {
            Ok(n) if n <= left / least.max(1) => match self.types.max_elements {
                Some(limit) if n > limit as usize => {
                    Some(EnvelopeErrorKind::Elements(count, limit))
                }
                _ => None,
            },
            _ => Some(EnvelopeErrorKind::Count(count, left, least)),
        };
        if let Some(what) = what {
            return Err(EnvelopeError { at: start, what });
        }
        sink.open(start, Shape::Array);
        for _ in 0..count {
            sink.item();
            self.value(element, name, end, sink)?;
        }
        sink.close(self.at);
        Ok(())
    }

    /// Reads a nested struct: only its fields if that is sufficient, otherwise versions, fields and
    /// tail.
    fn envelope<S: Sink>(
        &mut self,
        id: u32,
        name: u32,
        end: usize,
        sink: &mut S,
    ) -> Result<(), EnvelopeError> {
        let start = self.at;
        let header = self.enter(end)?;
        self.path.push(name);
        let inner = header.fields.end();
        // An inner envelope must end inside the outer one; this one is read up to that end.
        if let Some(violation) = header.violation() {
            if header.payload_size < 0 {
                return Err(violation);
            }
            self.record(violation);
        }
        let version = self.types.layout(id).map_or(0, |s| s.version);
        if header.compat_version > version {
            let what = EnvelopeErrorKind::Unreadable(header.compat_version, version);
            self.record(EnvelopeError {
                at: start + 1,
                what,
            });
        }
        self.left -= 1;
        self.at = header.fields.at();
        let wrapped = self.is_reported
            && (header.version | header.compat_version != 0 || {
                let mut trial = EnvelopeParser {
                    types: self.types,
                    bytes: self.bytes,
                    at: self.at,
                    left: self.left,
                    limit: self.limit,
                    is_reported: false,
                    path: vec![name],
                    violations: Vec::new(),
                    missing: 0,
                    incomplete: false,
                };
                trial.layout(id, inner, &mut Nothing).is_ok() && trial.at < inner
            });
        if wrapped {
            sink.open(start, Shape::Map);
            self.report_versions(start, header, sink);
        }
        self.layout(id, inner, sink)?;
        if wrapped {
            if self.at < inner {
                self.report_key(TAIL, self.at, sink);
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

    /// Reads the header of an envelope one level deeper.
    fn enter(&mut self, end: usize) -> Result<EnvelopeHeader, EnvelopeError> {
        let span = Span::new(self.at, end);
        let header = EnvelopeHeader::read(self.bytes, span)
            .ok_or_else(|| self.violation(EnvelopeErrorKind::NoHeader(span.len as usize)))?;
        if self.left == 0 {
            return Err(self.violation(EnvelopeErrorKind::TooDeep(self.limit)));
        }
        Ok(header)
    }

    fn report_key<S: Sink>(&self, label: u32, at: usize, sink: &mut S) {
        sink.label(at, label, self.types.label(label));
    }

    /// Reports the keys of a wrapped envelope before the value of `fields`.
    pub fn report_versions<S: Sink>(&self, start: usize, header: EnvelopeHeader, sink: &mut S) {
        for (n, label, value) in [
            (0, VERSION, header.version),
            (1, COMPAT_VERSION, header.compat_version),
        ] {
            self.report_key(label, start + n, sink);
            let at = Span::new(start + n, start + n + 1);
            sink.scalar(at, Scalar::Uint(value as u64));
        }
        self.report_key(FIELDS, header.fields.at(), sink);
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
