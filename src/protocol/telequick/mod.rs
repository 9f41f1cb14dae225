//! `TeleQuick` voice RPC: calls, call events and audio as serde envelopes.
//!
//! ```text
//!   11 00 00 00 | 12 fa bb e5 | 00 00 07 00 00 00 | 03 00 00 00 61 62 63
//!   length        method id     envelope header     fields, by schema: call_sid "abc"
//! ```
//!
//! Lengths come in two flavours ([`LengthMode`](crate::framing::LengthMode)), answers to a request often without
//! length and method id. Frames carry no request id: an answer is tied to its question by its stream, or by order.
//!
//! | kind | role | id | subject |
//! |---|---|---|---|
//! | name of the struct, `unknown` | request, response, item | none | method or stream, else the id in hex |

#[cfg(feature = "rules")]
mod behavior;
mod flavour;
mod format;
mod idl;
mod make;
mod message;
#[cfg(feature = "rules")]
mod peer;
pub(crate) mod schema;
#[cfg(feature = "rules")]
mod session;
mod tables;
mod write;

use super::make::{Made, Mint, Words};
use super::{Context, Descriptor, Message, Notes, Protocol, WriteOptions, Written};
use crate::encoding::{Parsed, Want};
use crate::error::Refusal;
use crate::framing::{Frame, Framing, Head, Hints};
use crate::span::{Span, SpannedText};
use crate::tape::{Node, Scalar, Value};
pub(crate) use format::format;
use message::Plan;
pub use schema::{Method, Schema, SchemaError, method_id};
use std::borrow::Cow;
use tables::{FAULTS, KINDS, MODES};

/// A frame's envelope, for users of the library.
#[derive(Clone)]
#[non_exhaustive]
pub struct Envelope<'a> {
    /// The method's name, where the schema has one of that id.
    pub method: Option<Node<'a>>,
    /// The struct that the fields are of; none where they are guessed.
    pub layout: Option<Node<'a>>,
    /// The producer's schema version.
    pub version: Node<'a>,
    /// The oldest version that it says it is compatible with.
    pub compat_version: Node<'a>,
    /// The fields by name; an array where they are guessed.
    pub fields: Node<'a>,
}

/// Reads an envelope from its parsed message; `None` where the envelope is not whole.
pub fn envelope(root: Node<'_>) -> Option<Envelope<'_>> {
    Some(Envelope {
        method: root.get("method"),
        layout: root.get("struct"),
        version: root.get("version")?,
        compat_version: root.get("compat_version")?,
        fields: root.get("fields")?,
    })
}

/// The protocol.
#[derive(Clone, Debug)]
pub struct Telequick {
    /// `None` for the built-in one, which is only read once a frame asks for it.
    schema: Option<Schema>,
    forced: Option<u32>,
}

impl Telequick {
    /// As the SDKs write it.
    pub const fn builtin() -> Self {
        Self {
            schema: None,
            forced: None,
        }
    }

    /// By a schema of one's own.
    pub fn new(schema: Schema) -> Self {
        Self {
            schema: Some(schema),
            forced: None,
        }
    }

    /// The same, reading every envelope as one struct; `None` where the schema has no such struct.
    pub fn with_struct(mut self, name: &str) -> Option<Self> {
        self.forced = Some(self.schema().struct_named(name)?);
        Some(self)
    }

    /// What it reads by.
    pub fn schema(&self) -> &Schema {
        self.schema.as_ref().unwrap_or_else(|| Schema::builtin())
    }
}

impl Default for Telequick {
    fn default() -> Self {
        Self::builtin()
    }
}

/// The facts of the protocol.
static DESCRIPTOR: Descriptor = Descriptor {
    name: "telequick",
    framings: &[Framing::Method, Framing::Bare],
    hints: Hints {
        measure: Some(flavour::measure),
        plausible: Some(flavour::plausible),
    },
    sides: ["client", "gateway"],
    provider: None,
    kinds: &KINDS,
    recipes: || make::RECIPES.to_vec(),
    marks: &tables::MARKS,
    faults: FAULTS,
    value_types: None,
    is_re_encoded: false,
    takes_turns: true,
};

impl Protocol for Telequick {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn read<'a>(
        &'a self,
        frame: &Frame<'a>,
        context: &Context,
        parsed: &'a mut Parsed,
    ) -> Message<'a> {
        let schema: &'a Schema = self.schema();
        let body = frame.view.body;
        let mut message = Message {
            kind: Cow::Borrowed("unknown"),
            body,
            ..Message::default()
        };
        let depth = parsed.depth();
        let planned = Plan::new(schema, self.forced, frame, *context, depth)
            .filter(|_| frame.control.is_none());
        let Some(plan) = planned else {
            parsed.clear();
            return message;
        };
        let torn = frame.fault.is_some();
        message.kind = Cow::Borrowed(plan.kind());
        message.role = plan.role();
        message.guess = plan.guess && plan.layout.is_some();
        message.body = plan.body;
        let body = plan.body;
        message.evidence = plan.evidence();
        let subject = match (plan.method, frame.head) {
            (Some(method), _) => Some(Cow::Borrowed(schema.types.name(method.name))),
            (None, Head::Method { id, .. }) => Some(Cow::Owned(format!("0x{id:08x}"))),
            _ => None,
        };
        // The id of the method stands right before the body.
        let has_id = matches!(frame.head, Head::Method { .. });
        let before = frame.view.body.at().checked_sub(4).filter(|_| has_id);
        message.subject = subject.map(|text| SpannedText {
            text,
            span: before.map(|at| Span::new(at, at + 4)),
        });
        message.faults = plan.faults(torn);
        parsed.set_names(&schema.types.names);
        let told = parsed.with(body, |text| plan.tell(text), |tape| plan.tell(tape));
        let whole = plan.header.is_some_and(|h| !h.lies);
        message.valid = told.is_ok() && whole;
        let parsed = &*parsed;
        message.value = Some(parsed);
        // In an envelope that is cut off the last field is too; that is the same fault.
        if whole {
            match told {
                Ok(outcome) => message.faults.extend(outcome.faults),
                Err(error) => message.faults.push(error),
            }
        }
        // Only lines show it; there is no need to look where JSON is wanted.
        let lines = parsed.want() != Want::Text;
        message.outcome = plan.layout.filter(|_| lines).and_then(|id| {
            let fields = &schema.types.layout(id)?.fields;
            let named = |name| schema.types.name(name) == "error_code";
            fields.iter().any(|f| named(f.name)).then_some(())?;
            let code = parsed
                .root(frame.view.bytes)?
                .get("fields")?
                .get("error_code")?;
            match code.value() {
                Value::Scalar(Scalar::Name(_, name, _)) => {
                    Some(SpannedText::new(schema.types.name(name), code.span()))
                }
                _ => Some(SpannedText::new(code.as_i128()?.to_string(), code.span())),
            }
        });
        message
    }

    fn write(
        &self,
        message: Node<'_>,
        options: &WriteOptions,
        out: &mut Vec<u8>,
    ) -> Result<Written, Refusal> {
        write::write(self, message, options, out)
    }

    fn make(&self, kind: &str, words: &mut Words<'_>, mint: &mut Mint) -> Result<Made, Refusal> {
        make::make(self.schema(), kind, words, mint)
    }

    fn annotate(&self, root: Node<'_>, message: &Message<'_>, notes: &mut Notes) {
        for (key, value) in root.members() {
            match key.text().as_deref() {
                Some("method_id") => self.note_method_id(value, notes),
                Some("struct") if message.guess => {
                    notes.remark(value, "other structs fit as well; this is the likeliest");
                }
                Some("fields") if value.is_array() => {
                    notes.remark(value, "no schema for this; the fields are guessed");
                }
                Some("fields") => note_fields(value, message, notes),
                _ => {}
            }
        }
    }

    #[cfg(feature = "rules")]
    fn behavior(&self) -> &dyn super::session::Behavior {
        self
    }
}

impl Telequick {
    fn note_method_id(&self, value: Node<'_>, notes: &mut Notes) {
        let Some(id) = value.as_i128().and_then(|id| u32::try_from(id).ok()) else {
            return;
        };
        let name = |method: &schema::Method| self.schema().types.name(method.name).to_owned();
        notes.remark(
            value,
            match self.schema().method(id) {
                Some(method) if method.id == id => format!("0x{id:08x}"),
                Some(method) => format!(
                    "0x{id:08x}, another id of {} (0x{:08x})",
                    name(method),
                    method.id
                ),
                None => match self.schema().near_miss(id) {
                    Some(meant) => format!("0x{id:08x}, unknown: {meant}"),
                    None => format!("0x{id:08x}, unknown"),
                },
            },
        );
    }
}

/// Notes on fields, and on those of structs inside.
fn note_fields(fields: Node<'_>, message: &Message<'_>, notes: &mut Notes) {
    let mut open = vec![fields];
    while let Some(node) = open.pop() {
        if node.is_array() {
            open.extend(node.children());
            continue;
        }
        for (key, value) in node.members() {
            if value.is_array() || value.is_map() {
                open.push(value);
                continue;
            }
            let name = key.text().unwrap_or_default();
            note_field(&name, value, node, message, notes);
        }
    }
}

fn note_field(
    name: &str,
    value: Node<'_>,
    parent: Node<'_>,
    message: &Message<'_>,
    notes: &mut Notes,
) {
    match value.value() {
        Value::Scalar(Scalar::Name(number, ..)) => notes.remark(value, number.to_string()),
        Value::Scalar(Scalar::Int(_) | Scalar::Uint(_)) if name.ends_with("timestamp_ms") => {
            let ms = value.as_i128().and_then(|ms| i64::try_from(ms).ok());
            let time = ms
                .filter(|ms| *ms != 0)
                .and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok());
            if let Some(time) = time {
                notes.remark(value, time.to_string());
            }
        }
        Value::Scalar(Scalar::Uint(mode))
            if name == "mode" && message.kind == "SuperviseSubscribeRequest" =>
        {
            if let Some(mode) = MODES.get(usize::try_from(mode).unwrap_or(usize::MAX)) {
                notes.remark(value, *mode);
            }
        }
        Value::Scalar(Scalar::Bin(bytes)) if name == "payload" => {
            let codec = parent.get("codec").and_then(Node::text);
            notes.remark(
                value,
                match codec.as_deref() {
                    // 8000 samples a second, one byte each.
                    Some(codec @ ("PCMU" | "PCMA")) => {
                        let ms = bytes.len() as u32 as f64 / 8.0;
                        format!("{} bytes, {ms} ms of {codec}", bytes.len())
                    }
                    _ => format!("{} bytes", bytes.len()),
                },
            );
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests;
