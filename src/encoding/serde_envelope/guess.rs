//! Reads envelopes without a schema.

use super::error::{EnvelopeError, EnvelopeErrorKind};
use super::read::{EnvelopeParser, signed};
use super::{EnvelopeHeader, FIELDS, HEADER, LABELS, Types};
use crate::error::DecodeError;
use crate::span::Span;
use crate::tape::{Scalar, Shape, Sink};

/// The maximum number of values that [`guess`] reports for one message; the bytes after them stay
/// bytes.
const MAX_GUESSES: u32 = 1024;

/// Reports an array of likely values for the fields at `span`, without a schema: text with a
/// plausible length before it, an envelope that fills the rest exactly, otherwise int32 values; the
/// rest is bytes.
pub fn guess<S: Sink>(
    types: &Types,
    bytes: &[u8],
    span: Span,
    depth: u32,
    sink: &mut S,
) -> Result<(), DecodeError> {
    let mut parser = EnvelopeParser::new(types, bytes, span, depth, true);
    let result = parser.guesses(span.end().min(bytes.len()), &mut 0, sink);
    result.map_err(|violation| violation.explain(LABELS[FIELDS as usize].into()))
}

impl EnvelopeParser<'_, '_> {
    fn guesses<S: Sink>(
        &mut self,
        end: usize,
        count: &mut u32,
        sink: &mut S,
    ) -> Result<(), EnvelopeError> {
        sink.open(self.at, Shape::Array);
        while self.at < end {
            let start = self.at;
            sink.item();
            *count += 1;
            if *count < MAX_GUESSES {
                if let Ok(text) = self.run(end)
                    && is_printable(text)
                {
                    sink.scalar(Span::new(start, self.at), Scalar::Str(text));
                    continue;
                }
                self.at = start;
                if let Some(header) = self.plausible_envelope(end) {
                    self.guess_envelope(header, count, sink)?;
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
        header: EnvelopeHeader,
        count: &mut u32,
        sink: &mut S,
    ) -> Result<(), EnvelopeError> {
        let start = self.at;
        if self.left == 0 {
            return Err(self.violation(EnvelopeErrorKind::TooDeep(self.limit)));
        }
        self.left -= 1;
        self.at = header.fields.at();
        let wrapped = header.version | header.compat_version != 0;
        if wrapped {
            sink.open(start, Shape::Map);
            self.report_versions(start, header, sink);
        }
        self.guesses(header.fields.end(), count, sink)?;
        if wrapped {
            sink.close(header.fields.end());
        }
        self.left += 1;
        Ok(())
    }

    /// Returns the header here if an envelope of small versions would fill the bytes up to `end`
    /// exactly.
    fn plausible_envelope(&self, end: usize) -> Option<EnvelopeHeader> {
        let header = EnvelopeHeader::read(self.bytes, Span::new(self.at, end))?;
        let fills = usize::try_from(header.payload_size) == Ok(end - self.at - HEADER);
        (fills && header.version < 16 && header.compat_version <= header.version).then_some(header)
    }
}

/// Returns `true` if bytes are probably text.
fn is_printable(text: &[u8]) -> bool {
    let printable = |s: &str| !s.is_empty() && !s.chars().any(char::is_control);
    std::str::from_utf8(text).is_ok_and(printable)
}
