//! Envelopes that no schema describes.

use super::flaw::{Flaw, What};
use super::read::{Parser, signed};
use super::{HEADER, Header, Types};
use crate::error::DecodeError;
use crate::span::Span;
use crate::tape::{Scalar, Shape, Sink};

/// Values that [`guess`] tells apart in one message; the bytes after them stay bytes.
const MAX_GUESSES: u32 = 1024;

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

impl Parser<'_, '_> {
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

/// Whether bytes are likely meant as text.
fn is_printable(text: &[u8]) -> bool {
    let printable = |s: &str| !s.is_empty() && !s.chars().any(char::is_control);
    std::str::from_utf8(text).is_ok_and(printable)
}
