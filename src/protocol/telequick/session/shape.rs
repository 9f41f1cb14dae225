//! Rules for one message, beyond those of decoding.
//!
//! ```text
//!   length | method id | version, compat_version | fields, each by its type | tail | after
//! ```

use crate::encoding::serde_envelope::{
    COMPAT_VERSION, FIELDS, FieldType, HEADER, Struct, StructField, TAIL, Types, VERSION,
};
use crate::framing::{Framing, Head};
use crate::protocol::rule_names::telequick as rule;
use crate::protocol::session::{Current, Place, broken, text};
use crate::protocol::telequick::length_mode;
use crate::protocol::telequick::schema::{FieldMark, Schema, fixed, label, member, name};
use crate::protocol::{Direction, Role};
use crate::span::Span;
use crate::tape::{Node, Scalar, Value};

/// The suffix of the fields that define the first action of a call.
const DEFAULT: &str = "default_app";

/// Quotes a text for findings.
pub(super) fn quote_text(node: Node<'_>) -> String {
    text::quote_text(&String::from_utf8_lossy(node.raw_text()))
}

/// Reports the method id. The caller calls this once for each id.
pub(super) fn method_id(schema: &Schema, id: u32, seen: Current<'_, '_>) {
    let place = seen.span(Span::new(4, 8));
    let Some(method) = schema.method(id) else {
        if let Some(meant) = schema.near_miss(id) {
            broken!(seen, rule::MISSPELT_ID, place;
                "method id 0x{id:08x} is unknown; it is {meant}");
        } else {
            broken!(seen, rule::UNKNOWN_METHOD, place;
                "method id {id} (0x{id:08x}) is in no schema");
        }
        return;
    };
    if method.id != id {
        let (name, own) = (schema.types.name(method.name), method.id);
        let rule = match id {
            9999 | 10000 => rule::LEGACY_ID,
            _ => rule::DISPUTED_ID,
        };
        broken!(seen, rule, place; "method id {id} is not the standard id of {name}, {own}");
    }
}

/// The parts of a message.
#[derive(Clone, Copy, Default)]
pub(super) struct Parts<'a> {
    pub version: Option<Node<'a>>,
    pub compat: Option<Node<'a>>,
    pub fields: Option<Node<'a>>,
    pub tail: Option<Node<'a>>,
    pub after: Option<Node<'a>>,
}

impl<'a> Parts<'a> {
    pub fn of(root: Node<'a>) -> Self {
        let mut parts = Self::default();
        for (key, value) in root.members() {
            let is = |label| key.is_text(fixed(label));
            let part = if is(FIELDS) {
                &mut parts.fields
            } else if is(VERSION) {
                &mut parts.version
            } else if is(COMPAT_VERSION) {
                &mut parts.compat
            } else if is(TAIL) {
                &mut parts.tail
            } else if is(label::AFTER) {
                &mut parts.after
            } else {
                continue;
            };
            *part = Some(value);
        }
        parts
    }
}

/// Returns the struct that a message was read as.
pub(super) fn layout<'s>(schema: &'s Schema, seen: Current<'_, '_>) -> Option<&'s Struct> {
    let kind = seen.message.kind.as_ref();
    let is = |id: &u32| schema.struct_name(*id) == kind;
    let method = match seen.frame.head {
        Head::Method { id, .. } => schema.method(id),
        _ => None,
    };
    let of_method = method.and_then(|m| m.input.filter(is).or(Some(m.output).filter(is)));
    let id = of_method.or_else(|| schema.struct_named(kind))?;
    schema.types.layout(id)
}

/// Checks a message that was read without fault.
pub(super) fn check_message(schema: &Schema, seen: Current<'_, '_>, parts: &Parts<'_>) {
    if let (Head::Method { length, .. }, Some(limit)) = (seen.frame.head, schema.frame_limit)
        && length > limit
    {
        broken!(seen, rule::PEER_LIMIT, seen.span(Span::new(0, 4));
            "length is {length}; peers read frames of at most {limit} bytes");
    }
    if let Some(after) = parts.after {
        let count = after.span().len;
        broken!(seen, rule::TRAILING_BYTES, seen.at(after);
            "{count} bytes are between the end of the envelope and the end of the frame");
    }
    let Some(fields) = parts.fields else {
        return;
    };
    let look = FrameCheck {
        schema,
        types: &schema.types,
        seen,
        request: seen.message.role == Some(Role::Request),
    };
    look.versions(parts);
    if let Some(layout) = layout(schema, seen) {
        look.envelope(layout, parts, seen.whole());
        check_outcome(fields, seen);
        check_tones(fields, seen);
    }
}

/// Checks that `SEND_DTMF` defines digit, method and duration.
fn check_tones(fields: Node<'_>, seen: Current<'_, '_>) {
    if seen.message.kind != name::DIALPLAN {
        return;
    }
    let action = fields.get(name::ACTION).and_then(Node::text);
    let is_tones = action.is_some_and(|action| action == name::SEND_DTMF);
    let Some(args) = fields.get("app_args").filter(|_| is_tones) else {
        return;
    };
    let digit = |b: &u8| matches!(b, b'0'..=b'9' | b'A'..=b'D' | b'a'..=b'd' | b'*' | b'#');
    let mut parts = args.raw_text().split(|b| *b == b':');
    let parts = [parts.next(), parts.next(), parts.next(), parts.next()];
    let right = match parts {
        [Some(digits), Some(mode), Some(ms), None] => {
            !digits.is_empty()
                && digits.iter().all(digit)
                && matches!(mode, b"rfc2833" | b"info" | b"inband")
                && !ms.is_empty()
                && ms.iter().all(u8::is_ascii_digit)
        }
        _ => false,
    };
    if !right {
        broken!(seen, rule::DTMF_ARGS, seen.at(args);
            "app_args of SEND_DTMF is {}; it should look like \"5:rfc2833:200\"", quote_text(args));
    }
}

/// Checks that code and message of an answer agree.
fn check_outcome(fields: Node<'_>, seen: Current<'_, '_>) {
    let code = fields
        .get(name::ERROR)
        .and_then(|c| Some((c, c.as_i128()?)));
    let (Some((code, number)), Some(message)) = (code, fields.get(name::WHY)) else {
        return;
    };
    let empty = message.raw_text().is_empty();
    if number != 0 && empty {
        let name = code.text().unwrap_or_else(|| number.to_string().into());
        broken!(seen, rule::ERROR_WITHOUT_MESSAGE, seen.at(message);
            "error_code is {name}, but error_message is empty");
    } else if number == 0 && !empty {
        broken!(seen, rule::MESSAGE_WITHOUT_ERROR, seen.at(message);
            "error_message is {}, but error_code is SUCCESS", quote_text(message));
    }
}

struct FrameCheck<'l> {
    schema: &'l Schema,
    types: &'l Types,
    seen: Current<'l, 'l>,
    request: bool,
}

impl FrameCheck<'_> {
    fn versions(&self, envelope: &Parts<'_>) {
        let number = |node: Option<Node<'_>>| node.and_then(Node::as_i128).unwrap_or(0);
        let (version, compat) = (number(envelope.version), number(envelope.compat));
        if let Some(node) = envelope.compat
            && compat > version
        {
            broken!(self.seen, rule::COMPAT_ABOVE_VERSION, self.seen.at(node);
                "compat_version is {compat}; it cannot be above version, {version}");
        }
    }

    /// Checks an envelope: that of the frame or an inner one.
    fn envelope(&self, layout: &Struct, envelope: &Parts<'_>, whole: Place) {
        let version = envelope.version.and_then(Node::as_i128).unwrap_or(0);
        let mut present = 0;
        if let Some(fields) = envelope.fields {
            for ((_, value), field) in fields.members().zip(&layout.fields) {
                present += 1;
                self.value(&field.kind, field, value);
            }
        }
        let absent = layout.fields.get(present..).unwrap_or_default();
        // Real peers write no vectors; an absent one means an empty one.
        let missing = |f: &&StructField| !matches!(f.kind, FieldType::Vector(_));
        let due = |f: &&StructField| f.since as i128 <= version;
        let (described, name) = (layout.version, self.types.name(layout.name));
        if envelope.after.is_some() {
            // The missing fields are in these bytes, which were reported.
        } else if let Some(field) = absent.iter().filter(missing).find(due) {
            let field = self.types.name(field.name);
            broken!(self.seen, rule::MISSING_FIELDS, whole;
                "{name} of version {version} ends before {field}");
        } else if let Some(field) = absent.iter().find(missing) {
            let (field, since) = (self.types.name(field.name), field.since);
            broken!(self.seen, rule::OLDER_VERSION, whole;
                "{name} has version {version}: {field}, of version {since}, is missing");
        }
        if let Some(tail) = envelope.tail {
            let (count, place) = (tail.span().len, self.seen.at(tail));
            if version > described as i128 {
                broken!(self.seen, rule::NEWER_VERSION, place;
                    "{name} has version {version}, but only {described} is known: {count} bytes \
                    are skipped");
            } else {
                broken!(self.seen, rule::UNEXPECTED_TAIL, place;
                    "{count} bytes follow the last field of {name}, whose version {version} is \
                    known");
            }
        }
    }

    /// Checks an inner struct: its fields, or those with versions and tail.
    fn inner(&self, layout: &Struct, value: Node<'_>) {
        let first = layout
            .fields
            .first()
            .map_or("", |f| self.types.name(f.name));
        let wrapped = member(value, FIELDS).filter(|_| {
            let key = value.children().next();
            first != fixed(VERSION) && key.is_some_and(|k| k.is_text(fixed(VERSION)))
        });
        let envelope = match wrapped {
            Some(_) => Parts::of(value),
            None => Parts {
                fields: Some(value),
                ..Parts::default()
            },
        };
        self.versions(&envelope);
        self.envelope(layout, &envelope, self.seen.at(value));
    }

    fn value(&self, kind: &FieldType, field: &StructField, value: Node<'_>) {
        let name = || self.types.name(field.name);
        let place = || self.seen.at(value);
        match (kind, value.value()) {
            (FieldType::Str, Value::Scalar(Scalar::Str(bytes))) => {
                if std::str::from_utf8(bytes).is_err() {
                    broken!(self.seen, rule::INVALID_TEXT, place();
                        "{} is not UTF-8: {}", name(), quote_text(value));
                } else if memchr::memchr(0, bytes).is_some() {
                    broken!(self.seen, rule::NUL_IN_STRING, place();
                        "{} has a NUL inside: {}", name(), quote_text(value));
                }
            }
            (FieldType::Bool, Value::Scalar(Scalar::BoolByte(byte))) => {
                broken!(self.seen, rule::ODD_BOOL, place();
                    "{} is the byte {byte}; a bool is 0 or 1", name());
            }
            (FieldType::Enum(id), Value::Scalar(Scalar::Int(_) | Scalar::Uint(_))) => {
                let known = self.types.enums.get(*id as usize);
                let known = known.map_or("the enum", |e| self.types.name(e.name));
                let number = value.as_i128().unwrap_or_default();
                broken!(self.seen, rule::UNKNOWN_ENUM, place();
                    "{} is {number}, but {known} has no such value", name());
            }
            (FieldType::Enum(_), Value::Scalar(Scalar::Name(number, _, word))) if self.request => {
                let is = |mark: &FieldMark| self.schema.is_marked("", word, mark);
                if is(&FieldMark::Gateway) {
                    broken!(self.seen, rule::GATEWAY_VERB, place();
                        "{} is {word} ({number}), which only gateways use", name());
                } else if name().ends_with(DEFAULT) && is(&FieldMark::Answered) {
                    broken!(self.seen, rule::DIAL_ACTION, place();
                        "{} is {word}, which needs an answered call", name());
                }
            }
            (FieldType::Uint(1), Value::Scalar(Scalar::Uint(number))) => {
                let mut marks = self.schema.marks(&self.seen.message.kind, name());
                let names = marks.find_map(|mark| match mark {
                    FieldMark::Names(names) => Some(names.len() as u64),
                    _ => None,
                });
                if let Some(count) = names.filter(|count| number >= *count) {
                    let last = count.saturating_sub(1);
                    broken!(self.seen, rule::UNKNOWN_ENUM, place();
                        "{} is {number}, but the last one is {last}", name());
                }
            }
            (FieldType::Double, Value::Scalar(Scalar::F64(bits))) => {
                let number = f64::from_bits(bits);
                match name() {
                    name if !number.is_finite() => {
                        broken!(self.seen, rule::NOT_FINITE, place(); "{name} is {number:?}");
                    }
                    "jitter_ms" if number < 0.0 => {
                        broken!(self.seen, rule::JITTER_RANGE, place();
                            "jitter_ms is {number:?}, below zero");
                    }
                    "estimated_mos" if number != 0.0 && !(1.0..=5.0).contains(&number) => {
                        broken!(self.seen, rule::MOS_RANGE, place();
                            "estimated_mos is {number:?}; the scale is 1 to 5");
                    }
                    _ => {}
                }
            }
            (FieldType::Vector(element), Value::Array) => {
                for value in value.children() {
                    self.value(element, field, value);
                }
            }
            (FieldType::Struct(id), Value::Map) => {
                if let Some(layout) = self.types.layout(*id) {
                    self.inner(layout, value);
                }
            }
            _ => {}
        }
    }
}

/// Returns the length and `payload_size` of a bare envelope at the position of a frame: the first four bytes, read as a
/// length, and the size.
pub(super) fn bare_envelope_as_frame(seen: Current<'_, '_>) -> Option<(u32, u32)> {
    seen.frame.fault.as_ref()?;
    let is_answer = seen.origin.direction == Some(Direction::ToClient);
    let bytes = seen.frame.view.bytes;
    let len = bytes.first_chunk().copied().map(u32::from_le_bytes)?;
    let size = bytes
        .get(2..)?
        .first_chunk()
        .copied()
        .map(u32::from_le_bytes)?;
    let [version, compat, ..] = bytes else {
        return None;
    };
    let rest = bytes.get(HEADER.checked_add(size as usize)?..)?;
    let is_envelope = *version < 4 && compat <= version && size > 0;
    let fits = rest.is_empty() || length_mode::plausible(rest);
    (is_answer && seen.frame.framing == Framing::Method && is_envelope && fits)
        .then_some((len, size))
}
