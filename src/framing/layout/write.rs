//! Writes frames with a header of fields.

use super::read::uncounted;
use super::{FieldKind, HeaderLayout, HeaderValue, Layout, NumberForm};
use crate::error::Refusal;
use crate::framing::Wire;
use crate::span::Span;

/// Returns the lowest 64 bits.
fn low(value: i128) -> u64 {
    value.cast_unsigned() as u64
}

impl NumberForm {
    /// Writes a number; the bits that the form does not have are lost.
    fn write(self, value: i128, out: &mut Vec<u8>) {
        match self {
            Self::Fixed { bytes, little, .. } => {
                let digits = value.to_le_bytes();
                let digits = digits.get(..bytes.into()).unwrap_or_default();
                if little {
                    out.extend_from_slice(digits);
                } else {
                    out.extend(digits.iter().rev());
                }
            }
            Self::Varint => {
                let mut rest = low(value);
                while rest > 0x7f {
                    out.push(rest as u8 | 0x80);
                    rest >>= 7;
                }
                out.push(rest as u8);
            }
        }
    }

    /// Returns the number of bytes of a number.
    fn len(self, value: i128) -> usize {
        match self {
            Self::Fixed { bytes, .. } => bytes.into(),
            Self::Varint => low(value).checked_ilog2().map_or(1, |n| n as usize / 7 + 1),
        }
    }

    /// Returns the smallest and the largest number.
    fn limits(self) -> (i128, i128) {
        match self {
            Self::Fixed {
                bytes,
                signed: true,
                ..
            } => {
                let half = 1_i128 << (8 * u32::from(bytes) - 1);
                (-half, half - 1)
            }
            Self::Fixed { bytes, .. } => (0, (1 << (8 * u32::from(bytes))) - 1),
            Self::Varint => (0, u64::MAX.into()),
        }
    }
}

impl HeaderLayout {
    /// Writes a header from named values. Values that are not given are zero. Magic bytes are constant; length and
    /// checksum are those of an empty body, and become those of the frame when it is written: values for these three are
    /// ignored.
    pub fn header<'v>(
        &self,
        value: &dyn Fn(&str) -> Option<HeaderValue<'v>>,
    ) -> Result<Vec<u8>, Refusal> {
        for field in &self.0.fields {
            let Some(given) = value(&field.name) else {
                continue;
            };
            let refuse = |wanted: String| {
                let got = match given {
                    HeaderValue::Bytes(bytes) => format!("{} bytes", bytes.len()),
                    HeaderValue::Uint(n) => n.to_string(),
                    HeaderValue::Int(n) => n.to_string(),
                };
                Err(Refusal::new(field.name.clone(), wanted, got))
            };
            match &field.kind {
                FieldKind::Number(form) => {
                    let (least, most) = form.limits();
                    if !given.number().is_some_and(|n| (least..=most).contains(&n)) {
                        return refuse(format!("an integer of {least} to {most}"));
                    }
                }
                FieldKind::Bytes(len) if !matches!(given, HeaderValue::Bytes(bytes) if bytes.len() == *len) =>
                {
                    return refuse(format!("{len} bytes"));
                }
                _ => {}
            }
        }
        let number = |name: &str| value(name).and_then(HeaderValue::number).unwrap_or(0);
        // That of an empty body may be below 0, which not every form can hold.
        let length = self.0.length_of(&number, 0).map(|n| n.max(0));
        let mut out = Vec::new();
        self.0.assemble(value, b"", length, &mut out);
        let trailer = self.0.trailer.len();
        out.truncate(out.len() - trailer);
        Ok(out)
    }

    /// Returns the largest body that the length can count; `None` if there is no limit.
    pub fn max_body(&self) -> Option<u64> {
        self.0.fields.iter().find_map(|field| match field.kind {
            FieldKind::Length { form, range, plus } => {
                let (_, most) = form.limits();
                let header = uncounted(range, self.0.max_header, Span::default());
                u64::try_from(most - i128::from(plus) - header).ok()
            }
            _ => None,
        })
    }
}

impl Layout {
    /// Writes a frame with the header of `wire`.
    pub(super) fn write(&self, body: &[u8], wire: &Wire, out: &mut Vec<u8>) {
        let given = (!wire.header.is_empty()).then(|| self.header(&wire.header));
        let length = wire.length.map(i128::from);
        match given {
            // Bytes that are no header are written unchanged.
            Some(Err(_) | Ok(None)) => wire.payload(body, out),
            None => self.assemble(&|_: &str| None, body, length, out),
            Some(Ok(Some(header))) => {
                let bytes = wire.header.get(..header.len).unwrap_or_default();
                let value = |name: &str| self.find(bytes, name);
                self.assemble(&value, body, length, out);
            }
        }
    }

    /// Returns the value of a field of a header.
    fn find<'a>(&self, header: &'a [u8], name: &str) -> Option<HeaderValue<'a>> {
        let mut at = 0;
        for field in &self.fields {
            let rest = header.get(at..)?;
            let (value, len) = match &field.kind {
                FieldKind::Number(form) | FieldKind::Length { form, .. } => {
                    form.read(rest).ok()??
                }
                kind => (
                    HeaderValue::Bytes(rest.get(..kind.max_len())?),
                    kind.max_len(),
                ),
            };
            if field.name == name {
                return Some(value);
            }
            at += len;
        }
        None
    }

    /// Writes a frame from values, with its length, unless `length` is another one, and its checksum.
    fn assemble<'v>(
        &self,
        value: &dyn Fn(&str) -> Option<HeaderValue<'v>>,
        body: &[u8],
        length: Option<i128>,
        out: &mut Vec<u8>,
    ) {
        let number = |name: &str| value(name).and_then(HeaderValue::number).unwrap_or(0);
        let length = length.or_else(|| self.length_of(&number, body.len()));
        let start = out.len();
        let mut checksum = None;
        for field in &self.fields {
            match &field.kind {
                FieldKind::Magic(magic) => out.extend_from_slice(magic),
                FieldKind::Number(form) => form.write(number(&field.name), out),
                FieldKind::Length { form, .. } => form.write(length.unwrap_or(0), out),
                FieldKind::Bytes(len) => {
                    let end = out.len() + len;
                    if let Some(HeaderValue::Bytes(bytes)) = value(&field.name) {
                        out.extend_from_slice(bytes.get(..*len).unwrap_or(bytes));
                    }
                    out.resize(end, 0);
                }
                FieldKind::Checksum(sum) => {
                    let own = (out.len() - start, out.len() - start + sum.algorithm.len());
                    checksum = Some((*sum, own));
                    out.resize(start + own.1, 0);
                }
            }
        }
        let header = out.get(start..).unwrap_or_default();
        let mut sum = Vec::new();
        if let Some((checksum, own)) = checksum {
            let value = checksum.of(header, body, Some(own));
            checksum.form().write(value.into(), &mut sum);
            if let Some(place) = out.get_mut(start + own.0..start + own.1) {
                place.copy_from_slice(&sum);
            }
        } else if let Some((_, checksum)) = &self.trailer.checksum {
            let value = checksum.of(header, body, None);
            checksum.form().write(value.into(), &mut sum);
        }
        out.extend_from_slice(body);
        if checksum.is_none() {
            out.extend_from_slice(&sum);
        }
        out.extend_from_slice(&self.trailer.delimiter);
    }

    /// Returns the length for a body.
    fn length_of(&self, number: &dyn Fn(&str) -> i128, body: usize) -> Option<i128> {
        let (mut others, mut length) = (0, None);
        for field in &self.fields {
            others += match field.kind {
                FieldKind::Number(form) => form.len(number(&field.name)),
                FieldKind::Length { form, range, plus } => {
                    length = Some((form, range, plus, others));
                    0
                }
                ref kind => kind.max_len(),
            };
        }
        let (form, range, plus, at) = length?;
        let counted = |own: usize| {
            let header = uncounted(range, others + own, Span::new(at, at + own));
            body as i128 + header + i128::from(plus)
        };
        // A length that counts itself may need a byte more for it.
        let mut own = form.len(0);
        while form.len(counted(own)) > own {
            own += 1;
        }
        Some(counted(own))
    }
}
