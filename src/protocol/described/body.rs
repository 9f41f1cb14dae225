//! The bytes of a message: a header of fields, and a body in an encoding.
//!
//! ```text
//!   i3-ipc | 04 00 00 00 | 00 00 00 00 | exit        {"header":{"length":4,"type":"RUN_COMMAND"},"body":"exit"}
//!   lines      SET name value                        {"command":"SET","rest":"name value"}
//! ```

use super::names::Names;
use super::text::{self, TextForm};
use crate::encoding::lossless::{ObjectForm, form, json_bytes, quote};
use crate::encoding::{Encoding, Nothing, Parsed, cbor, json, msgpack};
use crate::error::{DecodeError, Refusal, Result};
use crate::framing::layout::{FieldKind, HeaderLayout, HeaderValue, LayoutField};
use crate::path::PathStep;
use crate::span::Span;
use crate::tape::{Node, Scalar, Shape, Sink, Tape};

/// The members of a message with a header.
const HEADER: &str = "header";
const BODY: &str = "body";

/// The reason why messages have no body.
pub(super) const NO_BODY: &str = "the header has no length, and no delimiter follows it";

/// The maximum number of levels of a value that is written.
const DEPTH: u32 = 128;

/// A check of a message before it is written.
pub(super) type Check<'c> = &'c dyn Fn(Node<'_>) -> Result<()>;

/// How the bytes of a message become values.
#[derive(Debug, Default)]
pub(super) struct Body {
    pub encodings: Vec<Encoding>,
    pub header: Option<Header>,
    /// The forms of a text; the first that fits counts.
    pub texts: Vec<TextForm>,
    /// The names of members and of values.
    pub names: Names,
}

/// A header of fields before each body.
#[derive(Debug)]
pub(super) struct Header {
    pub layout: HeaderLayout,
    /// The fields in order, and the checksum after the body.
    pub fields: Vec<HeaderField>,
    /// The delimiter that ends a body without a length.
    pub delimiter: Vec<u8>,
    /// The numbers of the names of the two members.
    pub labels: [u32; 2],
}

/// A field of a header.
#[derive(Debug)]
pub(super) struct HeaderField {
    pub name: String,
    /// The number of its name; `None` if it is not shown, because it is the same in each header.
    pub label: Option<u32>,
    /// The named values, each with the number of its name.
    pub values: Vec<(i128, u32)>,
}

impl Header {
    /// The labels of the two members.
    pub fn labels(names: &mut Names) -> [u32; 2] {
        [HEADER, BODY].map(|name| names.add(name))
    }

    /// Returns the number of bytes that each header has.
    pub fn magic(&self) -> usize {
        let fields = self.layout.layout().iter();
        let magic = fields.map(|field| match &field.kind {
            FieldKind::Magic(bytes) => bytes.len(),
            _ => 0,
        });
        magic.sum()
    }

    /// Returns true for a complete header with its magic bytes.
    pub fn is_whole(&self, bytes: &[u8]) -> bool {
        let mut read = self.layout.fields(bytes);
        let mut fields = self.layout.layout().iter();
        fields.all(|field| match (&field.kind, read.next()) {
            (_, None) => false,
            (FieldKind::Magic(magic), Some(read)) => read.value == HeaderValue::Bytes(magic),
            _ => true,
        })
    }

    fn read(&self, names: &Names, bytes: &[u8], tape: &mut Tape) {
        for (read, field) in self.layout.fields(bytes).zip(&self.fields) {
            let Some(label) = field.label else {
                continue;
            };
            names.label(read.span.at(), label, tape);
            let number = read.value.number();
            let known = field
                .values
                .iter()
                .find(|(value, _)| Some(*value) == number);
            let value = match (read.value, known) {
                (_, Some((value, name))) => {
                    let value = i64::try_from(*value).unwrap_or_default();
                    Scalar::Name(value, *name, names.get(*name).as_str())
                }
                (HeaderValue::Uint(n), _) => Scalar::Uint(n),
                (HeaderValue::Int(n), _) => match u64::try_from(n) {
                    Ok(n) => Scalar::Uint(n),
                    Err(_) => Scalar::Int(n),
                },
                (HeaderValue::Bytes(bytes), _) => Scalar::Bin(bytes),
            };
            tape.scalar(read.span, value);
        }
    }

    /// Writes the header of a message.
    fn write(&self, names: &Names, header: Option<Node<'_>>, out: &mut Vec<u8>) -> Result<()> {
        let mut given = Vec::new();
        for (key, value) in header.into_iter().flat_map(Node::members) {
            let key = key.text().unwrap_or_default();
            let mut fields = self.fields.iter().filter(|field| field.label.is_some());
            let Some(field) = fields.find(|field| field.name == key) else {
                return Err(Refusal::new(key, "a field of the header", quote(value)));
            };
            let number = match value.text() {
                Some(text) => {
                    let is = |(_, name): &&(i128, u32)| names.get(*name).as_str() == text;
                    field.values.iter().find(is).map(|(number, _)| *number)
                }
                None => value.as_i128(),
            };
            let fits = |n: i128| u64::try_from(n).is_ok() || i64::try_from(n).is_ok();
            if number.is_some_and(|n| !fits(n)) {
                return Err(Refusal::new(key, "a number of 64 bits", quote(value)));
            }
            let bytes = json_bytes(value);
            if number.is_none() && bytes.is_none() {
                let known = field.values.iter().take(8);
                let known: Vec<_> = known.map(|(_, name)| names.get(*name).as_str()).collect();
                let wanted = match known.as_slice() {
                    [] => "a number, or {\"$bin\":\"hex\"}".to_owned(),
                    known => format!("a number, or a name such as {}", known.join(", ")),
                };
                return Err(Refusal::new(key, wanted, quote(value)));
            }
            given.push((field.name.as_str(), number, bytes));
        }
        let value = |name: &str| {
            let (_, number, bytes) = given.iter().find(|(known, ..)| *known == name)?;
            let number = number.map(|n| match u64::try_from(n) {
                Ok(n) => HeaderValue::Uint(n),
                Err(_) => HeaderValue::Int(i64::try_from(n).unwrap_or(i64::MIN)),
            });
            number.or(bytes.as_deref().map(HeaderValue::Bytes))
        };
        out.extend(self.layout.header(&value)?);
        Ok(())
    }

    /// Returns true if a length or a delimiter tells where a body ends.
    pub fn has_body(&self) -> bool {
        let is_length = |field: &LayoutField| matches!(field.kind, FieldKind::Length { .. });
        !self.delimiter.is_empty() || self.layout.layout().iter().any(is_length)
    }

    /// Refuses a body that no frame can have.
    fn check_body(&self, body: &[u8]) -> Result<()> {
        if !self.has_body() && !body.is_empty() {
            let got = format!("{} bytes", body.len());
            return Err(Refusal::new(BODY, format!("no body: {NO_BODY}"), got));
        }
        let most = self.layout.max_body().unwrap_or(u64::MAX);
        if body.len() as u64 > most {
            let got = format!("{} bytes", body.len());
            return Err(Refusal::new(BODY, format!("at most {most} bytes"), got));
        }
        if !self.delimiter.is_empty() && memchr::memmem::find(body, &self.delimiter).is_some() {
            return Err(Refusal::new(BODY, "no delimiter in it", "one"));
        }
        Ok(())
    }

    /// Returns the paths of the numbers that a message gives.
    pub fn numbers(&self) -> impl Iterator<Item = [PathStep; 2]> {
        let all = self.fields.iter().zip(self.layout.layout());
        let given = all.filter(|(_, layout)| matches!(layout.kind, FieldKind::Number(_)));
        given.map(|(field, _)| [HEADER, &field.name].map(|name| PathStep::Member(name.to_owned())))
    }

    /// Returns the paths of the numbers that the layout computes: they depend on the body.
    pub fn computed(&self) -> impl Iterator<Item = String> {
        let is_computed =
            |kind: &FieldKind| matches!(kind, FieldKind::Length { .. } | FieldKind::Checksum(_));
        let kinds = self.layout.layout().iter().map(|field| Some(&field.kind));
        let all = self.fields.iter().zip(kinds.chain(std::iter::repeat(None)));
        all.filter(move |(_, kind)| kind.is_none_or(is_computed))
            .map(|(field, _)| format!("{HEADER}.{}", field.name))
    }
}

impl Body {
    /// Returns true if an encoding is read and written without this module.
    pub fn is_plain(&self, encoding: Encoding) -> bool {
        self.header.is_none() && !matches!(encoding, Encoding::Text | Encoding::Bytes)
    }

    /// Returns true if its only encoding is text, of which it has no template.
    pub fn is_read_only(&self) -> bool {
        let is_pattern = |form: &TextForm| matches!(form, TextForm::Pattern(..));
        self.encodings == [Encoding::Text]
            && !self.texts.is_empty()
            && self.texts.iter().all(is_pattern)
    }

    /// Returns the encoding beside JSON.
    fn other(&self) -> Option<Encoding> {
        let mut all = self.encodings.iter().copied();
        all.find(|one| *one != Encoding::Json)
    }

    /// Returns the encoding of a body.
    pub fn encoding(&self, body: &[u8]) -> Encoding {
        if let [only] = self.encodings.as_slice() {
            return *only;
        }
        let other = self.other().unwrap_or(Encoding::Json);
        // A map or an array of the other encodings never starts like one of JSON.
        let is_json = match (body.trim_ascii_start().first(), other) {
            (Some(b'{' | b'['), Encoding::Text | Encoding::Bytes) => {
                json::parse(body, Span::new(0, body.len()), DEPTH, &mut Nothing).is_ok()
            }
            (first, _) => matches!(first, Some(b'{' | b'[')),
        };
        if is_json { Encoding::Json } else { other }
    }

    /// Returns the encoding in which a value is written. `packed`: not JSON, if the description has both.
    pub fn encoding_of(&self, value: Option<Node<'_>>, packed: bool) -> Encoding {
        let has_json = self.encodings.contains(&Encoding::Json);
        match self.other() {
            None => Encoding::Json,
            Some(other) if !has_json => other,
            Some(Encoding::Text) if value.is_some_and(|v| self.is_text(v)) => Encoding::Text,
            Some(Encoding::Bytes) if value.is_some_and(|v| json_bytes(v).is_some()) => {
                Encoding::Bytes
            }
            Some(Encoding::Text | Encoding::Bytes) => Encoding::Json,
            Some(other) if packed => other,
            Some(_) => Encoding::Json,
        }
    }

    /// Returns true for a value that is written as text where JSON is possible, too.
    fn is_text(&self, value: Node<'_>) -> bool {
        let is_string = value.is_string() || value.get("$str").is_some();
        is_string || text::is_form(&self.texts, &self.names, value)
    }

    /// Returns the value that the body of a message holds.
    pub fn value<'n>(&self, message: Node<'n>) -> Option<Node<'n>> {
        match self.header {
            Some(_) => message.get(BODY),
            None => Some(message),
        }
    }

    /// Reads a message.
    pub fn read(&self, bytes: &[u8], body: Span, parsed: &mut Parsed) -> Result<(), DecodeError> {
        let encoding = self.encoding(body.of(bytes));
        parsed.set_names(self.names.all());
        let depth = parsed.depth();
        let copied = match encoding {
            Encoding::Text | Encoding::Bytes => None,
            copied => self.header.as_ref().map(|_| copied),
        };
        parsed.compose(body, copied, |tape| {
            self.read_into(bytes, body, encoding, depth, tape)
        })
    }

    fn read_into(
        &self,
        bytes: &[u8],
        body: Span,
        encoding: Encoding,
        depth: u32,
        tape: &mut Tape,
    ) -> Result<(), DecodeError> {
        let Some(header) = &self.header else {
            return self.read_body(bytes, body, encoding, depth, tape);
        };
        let [head, rest] = header.labels;
        tape.open(0, Shape::Map);
        self.names.label(0, head, tape);
        tape.open(0, Shape::Map);
        header.read(&self.names, bytes, tape);
        tape.close(body.at());
        if body.len > 0 {
            self.names.label(body.at(), rest, tape);
            self.read_body(bytes, body, encoding, depth.saturating_sub(1), tape)?;
        }
        tape.close(body.end());
        Ok(())
    }

    fn read_body(
        &self,
        bytes: &[u8],
        body: Span,
        encoding: Encoding,
        depth: u32,
        tape: &mut Tape,
    ) -> Result<(), DecodeError> {
        match encoding {
            Encoding::MessagePack => msgpack::parse(bytes, body, depth, tape),
            Encoding::Cbor => cbor::parse(bytes, body, depth, tape),
            Encoding::Text => {
                text::read(&self.texts, &self.names, bytes, body, tape);
                Ok(())
            }
            Encoding::Bytes => {
                tape.scalar(body, Scalar::Bin(body.of(bytes)));
                Ok(())
            }
            _ => json::parse(bytes, body, depth, tape).map(drop),
        }
    }

    /// Writes a message, and checks it as it was written. Returns the number of bytes of its header.
    pub fn write(
        &self,
        message: Node<'_>,
        packed: bool,
        check: Option<Check<'_>>,
        out: &mut Vec<u8>,
    ) -> Result<usize> {
        let start = out.len();
        let written = self.write_parts(message, packed, out).and_then(|header| {
            let bytes = out.get(start..).unwrap_or_default();
            let Some(check) = check else {
                return Ok(header);
            };
            let mut tape = Tape::new();
            tape.set_names(self.names.all());
            let body = Span::new(header, bytes.len());
            let encoding = self.encoding(body.of(bytes));
            let read = self.read_into(bytes, body, encoding, DEPTH, &mut tape);
            read.map_err(|error| Refusal::whole(error.wanted, error.got))?;
            tape.root(bytes).map_or(Ok(()), check)?;
            Ok(header)
        });
        written.inspect_err(|_| out.truncate(start))
    }

    fn write_parts(&self, message: Node<'_>, packed: bool, out: &mut Vec<u8>) -> Result<usize> {
        let start = out.len();
        if let Some(header) = &self.header {
            for (key, value) in message.members() {
                let key = key.text().unwrap_or_default();
                if ![HEADER, BODY].contains(&&*key) {
                    return Err(Refusal::new(key, "header or body", quote(value)));
                }
            }
            let values = message.get(HEADER);
            let written = header.write(&self.names, values, out);
            written.map_err(|refusal| refusal.inside(HEADER))?;
        }
        let len = out.len() - start;
        let value = self.value(message);
        if let Some(value) = value {
            let written = self.write_body(value, self.encoding_of(Some(value), packed), out);
            let inside = |refusal: Refusal| match self.header {
                Some(_) => refusal.inside(BODY),
                None => refusal,
            };
            written.map_err(inside)?;
        }
        if let Some(header) = &self.header {
            header.check_body(out.get(start + len..).unwrap_or_default())?;
        }
        Ok(len)
    }

    fn write_body(&self, value: Node<'_>, encoding: Encoding, out: &mut Vec<u8>) -> Result<()> {
        match encoding {
            Encoding::MessagePack => msgpack::write(value, out),
            Encoding::Cbor => cbor::write(value, out),
            Encoding::Text => text::write(&self.texts, &self.names, value, out),
            Encoding::Bytes => match form(value)? {
                ObjectForm::Bin(bytes) => {
                    out.extend(bytes);
                    Ok(())
                }
                _ => Err(Refusal::whole("bytes: {\"$bin\":\"hex\"}", quote(value))),
            },
            _ => {
                json::write_text(value.span().of(value.bytes()), true, out);
                Ok(())
            }
        }
    }
}
