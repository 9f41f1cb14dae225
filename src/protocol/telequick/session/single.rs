//! What one message may be, beyond what decoding refuses.
//!
//! ```text
//!   length | method id | version, compat_version | fields, each by its type | tail | after
//! ```

use crate::encoding::serde_envelope::{Field, Struct, Type, Types};
use crate::framing::Head;
use crate::protocol::Role;
use crate::protocol::session::{Place, Report, Seen};
use crate::protocol::telequick::schema::{Mark, Schema, name};
use crate::span::Span;
use crate::tape::{Node, Scalar, Value};

/// The fields that say what becomes of a call at its beginning end so.
const DEFAULT: &str = "default_app";
/// Texts longer than this are cut in findings.
const LONGEST: usize = 40;

/// A text in quotes, as findings show it.
pub(super) fn shown(node: Node<'_>) -> String {
    let text = String::from_utf8_lossy(node.raw_text());
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{:?}…", text.get(..end).unwrap_or_default()),
        None => format!("{text:?}"),
    }
}

/// What is said of ids, for each only once.
pub(super) fn method_id(schema: &Schema, id: u32, seen: &Seen<'_>, report: &mut Report) {
    let place = seen.span(Span::new(4, 8));
    let Some(method) = schema.method(id) else {
        if let Some(meant) = schema.near_miss(id) {
            let text = format!("method id 0x{id:08x} is unknown: {meant}");
            report.broken("misspelt-id", place, text);
        } else {
            let text = format!("method id {id} (0x{id:08x}) is in no schema");
            report.broken("unknown-method", place, text);
        }
        return;
    };
    if method.id != id {
        let (name, own) = (schema.types.name(method.name), method.id);
        let rule = match id {
            9999 | 10000 => "legacy-id",
            _ => "disputed-id",
        };
        let text = format!("method id {id} is another one of {name}, whose own is {own}");
        report.broken(rule, place, text);
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
            match key.text().as_deref() {
                Some("version") => parts.version = Some(value),
                Some("compat_version") => parts.compat = Some(value),
                Some("fields") => parts.fields = Some(value),
                Some("tail") => parts.tail = Some(value),
                Some("after") => parts.after = Some(value),
                _ => {}
            }
        }
        parts
    }
}

/// The struct that a message was read as.
pub(super) fn layout<'s>(schema: &'s Schema, seen: &Seen<'_>) -> Option<&'s Struct> {
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

/// Looks at one message that was read without fault.
pub(super) fn look(schema: &Schema, seen: &Seen<'_>, parts: &Parts<'_>, report: &mut Report) {
    if let (Head::Method { length, .. }, Some(limit)) = (seen.frame.head, schema.frame_limit)
        && length > limit
    {
        let text = format!("length is {length}, peers read frames of at most {limit} bytes");
        report.broken("peer-limit", seen.span(Span::new(0, 4)), text);
    }
    if let Some(after) = parts.after {
        let count = after.span().len;
        let text =
            format!("{count} bytes stand between the end of the envelope and that of the frame");
        report.broken("trailing-bytes", seen.at(after), text);
    }
    let Some(fields) = parts.fields else {
        return;
    };
    let look = Look {
        schema,
        types: &schema.types,
        seen,
        request: seen.message.role == Some(Role::Request),
    };
    let envelope = Envelope {
        version: parts.version,
        compat: parts.compat,
        fields,
        tail: parts.tail,
        whole: seen.whole(),
        // Fields that are missing then are what stands there.
        cut: parts.after.is_some(),
    };
    look.versions(&envelope, report);
    if let Some(layout) = layout(schema, seen) {
        look.envelope(layout, &envelope, report);
        answer(fields, seen, report);
        tones(fields, seen, report);
    }
}

/// Whether `SEND_DTMF` says which digit, how it is sent, and for how long.
fn tones(fields: Node<'_>, seen: &Seen<'_>, report: &mut Report) {
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
        let text = format!(
            "app_args of SEND_DTMF is {}, it should look like \"5:rfc2833:200\"",
            shown(args)
        );
        report.broken("dtmf-args", seen.at(args), text);
    }
}

/// Whether an answer's code and message agree.
fn answer(fields: Node<'_>, seen: &Seen<'_>, report: &mut Report) {
    let code = fields
        .get(name::ERROR)
        .and_then(|c| Some((c, c.as_i128()?)));
    let (Some((code, number)), Some(message)) = (code, fields.get(name::WHY)) else {
        return;
    };
    let empty = message.raw_text().is_empty();
    if number != 0 && empty {
        let name = code.text().unwrap_or_else(|| number.to_string().into());
        let text = format!("error_code is {name}, and error_message is empty");
        report.broken("error-without-message", seen.at(message), text);
    } else if number == 0 && !empty {
        let text = format!(
            "error_message is {}, and error_code SUCCESS",
            shown(message)
        );
        report.broken("message-without-error", seen.at(message), text);
    }
}

/// An envelope, the frame's or one inside.
struct Envelope<'a> {
    version: Option<Node<'a>>,
    compat: Option<Node<'a>>,
    fields: Node<'a>,
    tail: Option<Node<'a>>,
    whole: Place,
    cut: bool,
}

struct Look<'l> {
    schema: &'l Schema,
    types: &'l Types,
    seen: &'l Seen<'l>,
    request: bool,
}

impl Look<'_> {
    fn versions(&self, envelope: &Envelope<'_>, report: &mut Report) {
        let number = |node: Option<Node<'_>>| node.and_then(Node::as_i128).unwrap_or(0);
        let (version, compat) = (number(envelope.version), number(envelope.compat));
        if let Some(node) = envelope.compat
            && compat > version
        {
            let text = format!("compat_version is {compat}, it cannot be above version, {version}");
            report.broken("compat-above-version", self.seen.at(node), text);
        }
    }

    fn envelope(&self, layout: &Struct, envelope: &Envelope<'_>, report: &mut Report) {
        let version = envelope.version.and_then(Node::as_i128).unwrap_or(0);
        let mut told = 0;
        for ((_, value), field) in envelope.fields.members().zip(&layout.fields) {
            told += 1;
            self.value(&field.kind, field, value, report);
        }
        let absent = layout.fields.get(told..).unwrap_or_default();
        // Real peers write no vectors, and an empty one is what they mean.
        let missing = |f: &&Field| !matches!(f.kind, Type::Vector(_));
        let due = |f: &&Field| f.since as i128 <= version;
        let (described, name) = (layout.version, self.types.name(layout.name));
        if envelope.cut {
            // Told already.
        } else if let Some(field) = absent.iter().filter(missing).find(due) {
            let field = self.types.name(field.name);
            let text = format!("{name} of version {version} ends before {field}");
            report.broken("missing-fields", envelope.whole, text);
        } else if let Some(field) = absent.iter().find(missing) {
            let (field, since) = (self.types.name(field.name), field.since);
            let text = format!(
                "{name} is of version {version}: {field}, of version {since}, is not there"
            );
            report.broken("older-version", envelope.whole, text);
        }
        if let Some(tail) = envelope.tail {
            let (count, place) = (tail.span().len, self.seen.at(tail));
            if version > described as i128 {
                let text = format!(
                    "{name} is of version {version}, {described} is known: {count} bytes are skipped"
                );
                report.broken("newer-version", place, text);
            } else {
                let text = format!(
                    "{count} bytes follow the last field of {name}, whose version {version} is known"
                );
                report.broken("unexpected-tail", place, text);
            }
        }
    }

    /// A struct inside: its fields, or those with versions and tail.
    fn inner(&self, layout: &Struct, value: Node<'_>, report: &mut Report) {
        let first = layout
            .fields
            .first()
            .map_or("", |f| self.types.name(f.name));
        let wrapped = value.get("fields").filter(|_| {
            let key = value.children().next();
            first != "version" && key.is_some_and(|k| k.is_text("version"))
        });
        let part = |name| wrapped.and_then(|_| value.get(name));
        let envelope = Envelope {
            version: part("version"),
            compat: part("compat_version"),
            fields: wrapped.unwrap_or(value),
            tail: part("tail"),
            whole: self.seen.at(value),
            cut: false,
        };
        self.versions(&envelope, report);
        self.envelope(layout, &envelope, report);
    }

    fn value(&self, kind: &Type, field: &Field, value: Node<'_>, report: &mut Report) {
        let name = || self.types.name(field.name);
        let place = || self.seen.at(value);
        match (kind, value.value()) {
            (Type::Str, Value::Scalar(Scalar::Str(bytes))) => {
                if std::str::from_utf8(bytes).is_err() {
                    let text = format!("{} is not UTF-8: {}", name(), shown(value));
                    report.broken("invalid-text", place(), text);
                } else if memchr::memchr(0, bytes).is_some() {
                    let text = format!("{} has a NUL inside: {}", name(), shown(value));
                    report.broken("nul-in-string", place(), text);
                }
            }
            (Type::Bool, Value::Scalar(Scalar::OddBool(byte))) => {
                let text = format!("{} is the byte {byte}, a bool is 0 or 1", name());
                report.broken("odd-bool", place(), text);
            }
            (Type::Enum(id), Value::Scalar(Scalar::Int(_) | Scalar::Uint(_))) => {
                let known = self.types.enums.get(*id as usize);
                let known = known.map_or("the enum", |e| self.types.name(e.name));
                let number = value.as_i128().unwrap_or_default();
                let text = format!("{} is {number}, {known} has no such value", name());
                report.broken("unknown-enum", place(), text);
            }
            (Type::Enum(_), Value::Scalar(Scalar::Name(number, _, word))) if self.request => {
                let is = |mark: &Mark| self.schema.is_marked("", word, mark);
                if is(&Mark::Gateway) {
                    let text = format!("{} is {word} ({number}), which only gateways use", name());
                    report.broken("gateway-verb", place(), text);
                } else if name().ends_with(DEFAULT) && is(&Mark::Answered) {
                    let text = format!("{} is {word}, which needs an answered call", name());
                    report.broken("dial-action", place(), text);
                }
            }
            (Type::Uint(1), Value::Scalar(Scalar::Uint(number))) => {
                let mut marks = self.schema.marks(&self.seen.message.kind, name());
                let names = marks.find_map(|mark| match mark {
                    Mark::Names(names) => Some(names.len() as u64),
                    _ => None,
                });
                if let Some(count) = names.filter(|count| number >= *count) {
                    let last = count.saturating_sub(1);
                    let text = format!("{} is {number}, the last one is {last}", name());
                    report.broken("unknown-enum", place(), text);
                }
            }
            (Type::Double, Value::Scalar(Scalar::F64(bits))) => {
                let number = f64::from_bits(bits);
                match name() {
                    name if !number.is_finite() => {
                        report.broken("not-finite", place(), format!("{name} is {number:?}"));
                    }
                    "jitter_ms" if number < 0.0 => {
                        let text = format!("jitter_ms is {number:?}, below zero");
                        report.broken("jitter-range", place(), text);
                    }
                    "estimated_mos" if number != 0.0 && !(1.0..=5.0).contains(&number) => {
                        let text = format!("estimated_mos is {number:?}, the scale is 1 to 5");
                        report.broken("mos-range", place(), text);
                    }
                    _ => {}
                }
            }
            (Type::Vector(element), Value::Array) => {
                for value in value.children() {
                    self.value(element, field, value, report);
                }
            }
            (Type::Struct(id), Value::Map) => {
                if let Some(layout) = self.types.layout(*id) {
                    self.inner(layout, value, report);
                }
            }
            _ => {}
        }
    }
}
