//! `TeleQuick` voice RPC: calls, call events and audio as serde envelopes.
//!
//! ```text
//!   11 00 00 00 | 12 fa bb e5 | 00 00 07 00 00 00 | 03 00 00 00 61 62 63
//!   length        method id     envelope header     fields, by schema: call_sid "abc"
//! ```
//!
//! Lengths have two modes ([`LengthMode`](crate::framing::LengthMode)). Answers to a request often have no length and
//! no method id. Frames carry no request id: an answer belongs to a request by its stream, or by order.
//!
//! | kind | role | id | subject |
//! |---|---|---|---|
//! | name of the struct, `unknown` | request, response, item | none | method or stream, otherwise the id in hex |

mod head;
mod length_mode;
mod message;
#[cfg(feature = "rules")]
mod peer;
pub(crate) mod schema;
#[cfg(feature = "rules")]
mod session;

use super::make::{IdGen, Made, Recipe, Words};
use super::schema::json_schema::MessageJsonSchema;
use super::schema::marks::Marks;
use super::{
    Context, Descriptor, Direction, Kind, Message, Notes, Protocol, WriteOptions, Written,
};
use crate::encoding::Encoding;
use crate::encoding::Parsed;
use crate::encoding::serde_envelope::FIELDS;
use crate::error::Result;
use crate::framing::{Frame, Framing, Head, Hints};
use crate::protocol::Role;
use crate::protocol::schema::Fresh;
use crate::span::{Span, SpannedText};
use crate::tape::{Node, Scalar, Value};
use head::HeadValues;
use message::EnvelopePlan;
pub(crate) use schema::format;
use schema::{FieldMark, KINDS, MARKS, RECIPES, UNKNOWN, label, member};
pub use schema::{RpcMethod, Schema, SchemaError, method_id};
use std::borrow::Cow;
use std::sync::Arc;

/// The protocol.
#[derive(Clone, Debug)]
pub struct Telequick {
    /// `None` means the built-in schema, which is read at the first frame.
    own: Option<Arc<OwnSchema>>,
    forced: Option<u32>,
}

/// A user's schema, and the facts that follow from it.
struct OwnSchema {
    schema: Schema,
    kinds: Vec<Kind>,
    recipes: Vec<Recipe>,
    marks: Marks,
}

impl std::fmt::Debug for OwnSchema {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.schema.fmt(f)
    }
}

impl Telequick {
    /// The protocol with the built-in schema, which is that of the SDKs.
    pub const fn builtin() -> Self {
        Self {
            own: None,
            forced: None,
        }
    }

    /// The protocol with a user's schema.
    pub fn new(schema: Schema) -> Self {
        let own = OwnSchema {
            kinds: schema::kinds(&schema),
            recipes: schema::recipes(&schema),
            marks: schema::marks::collect(&schema),
            schema,
        };
        Self {
            own: Some(Arc::new(own)),
            forced: None,
        }
    }

    /// Reads every envelope as one struct; `None` if the schema has no such struct.
    pub fn with_struct(mut self, name: &str) -> Option<Self> {
        self.forced = Some(self.schema().struct_named(name)?);
        Some(self)
    }

    /// Returns the schema.
    pub fn schema(&self) -> &Schema {
        match self.own() {
            Some(own) => &own.schema,
            None => Schema::builtin(),
        }
    }

    fn own(&self) -> Option<&OwnSchema> {
        self.own.as_deref()
    }
}

impl Default for Telequick {
    fn default() -> Self {
        Self::builtin()
    }
}

/// The descriptor of the protocol.
static DESCRIPTOR: Descriptor = Descriptor {
    name: "telequick",
    framings: &[Framing::Method, Framing::Bare, Framing::Http3],
    encodings: &[Encoding::SerdeEnvelope],
    hints: Hints {
        measure: Some(length_mode::measure),
        plausible: Some(length_mode::plausible),
        ..Hints::NONE
    },
    sides: ["client", "gateway"],
    settings: &["length-mode", "schema"],
    faults: &[
        ("envelope-overrun", "an envelope is longer than its bytes"),
        ("negative-size", "an envelope's payload_size is below zero"),
        (
            "unreadable-version",
            "compat_version is above the version that the schema describes",
        ),
        (
            "string-length",
            "a string's length is below zero or runs past its envelope",
        ),
        (
            "vector-count",
            "a vector's count is below zero or more than its envelope can hold",
        ),
        ("field-overrun", "a field runs past its envelope"),
    ],
    is_sequential: true,
    has_unique_names: true,
    ..Descriptor::USUAL
};

#[cfg(feature = "rules")]
super::session::behavior!(
    Telequick,
    ["rules.md"],
    "telequick",
    |telequick, config| session::TelequickSession::new(telequick.schema(), config),
    |telequick, _, _| Box::new(peer::TelequickPeer::new(telequick.schema())),
);

impl Protocol for Telequick {
    fn descriptor(&self) -> Descriptor<'_> {
        DESCRIPTOR
    }

    fn name(&self) -> &str {
        DESCRIPTOR.name
    }

    fn kinds(&self) -> &[Kind] {
        self.own().map_or(&KINDS, |own| &own.kinds)
    }

    fn recipes(&self) -> &[Recipe] {
        self.own().map_or(&RECIPES, |own| &own.recipes)
    }

    fn marks(&self) -> &Marks {
        self.own().map_or(&MARKS, |own| &own.marks)
    }

    fn shapes(&self) -> Vec<MessageJsonSchema> {
        schema::shapes(self.schema(), self.kinds())
    }

    fn own_direction(&self, frame: &Frame<'_>, _message: &Message<'_>) -> Option<Direction> {
        let context = Context::default();
        EnvelopePlan::new(self.schema(), self.forced, frame, &context, u32::MAX)?.own_direction()
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
            kind: Cow::Borrowed(UNKNOWN),
            body,
            ..Message::default()
        };
        let depth = parsed.depth();
        let planned = EnvelopePlan::new(schema, self.forced, frame, context, depth)
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
        message.answered_method = plan.answered_method;
        let subject = match (plan.method, frame.head) {
            _ if plan.answered_method.is_some() => None,
            (Some(method), _) => Some(Cow::Borrowed(schema.types.name(method.name))),
            (None, Head::Method { id, .. }) => Some(Cow::Owned(format!("0x{id:08x}"))),
            _ => None,
        };
        // The id of the method is directly before the body.
        let has_id = matches!(frame.head, Head::Method { .. });
        let before = frame.view.body.at().checked_sub(4).filter(|_| has_id);
        message.subject = subject.map(|text| SpannedText {
            text,
            span: before.map(|at| Span::new(at, at + 4)),
        });
        message.faults = plan.faults(torn);
        parsed.set_names(&schema.types.names);
        let (mut head, mut again) = (HeadValues::new(schema.head), HeadValues::new(schema.head));
        let emitted = parsed.with(
            body,
            |text| plan.emit(&mut head, text),
            |tape| plan.emit(&mut again, tape),
        );

        let whole = plan.header.is_some_and(|h| !h.is_impossible);
        message.valid = emitted.is_ok() && whole;
        let parsed = &*parsed;
        message.value = Some(parsed);
        // In a truncated envelope the last field is truncated too; that is the same fault.
        if whole {
            match emitted {
                Ok(outcome) => message.faults.extend(outcome.faults),
                Err(error) => message.faults.push(error),
            }
        }
        message.name = again.name.or(head.name).and_then(|at| {
            let text = std::str::from_utf8(at.of(frame.view.bytes)).ok()?;
            Some(SpannedText::new(text, at))
        });
        if let Some((number, name, at)) = again.outcome.or(head.outcome) {
            message.outcome = Some(match name {
                Some(name) => SpannedText::new(schema.types.name(name), at),
                None => SpannedText::new(number.to_string(), at),
            });
            message.failed = number != 0 && message.role != Some(Role::Request);
        }
        message
    }

    fn write(
        &self,
        message: Node<'_>,
        options: &WriteOptions,
        out: &mut Vec<u8>,
    ) -> Result<Written> {
        schema::write(self.schema(), self.forced, message, options, out)
    }

    fn make(&self, kind: &str, words: &mut Words<'_>, id_gen: &mut IdGen) -> Result<Made> {
        schema::make(self.schema(), kind, words, id_gen)
    }

    fn content<'n>(&self, root: Node<'n>, _: &Message<'_>) -> Option<Node<'n>> {
        member(root, FIELDS)
    }

    fn annotate(&self, root: Node<'_>, message: &Message<'_>, notes: &mut Notes) {
        if !notes.has_remarks() {
            return;
        }
        if let Some(id) = member(root, label::METHOD_ID) {
            self.note_method_id(id, notes);
        }
        if let Some(name) = member(root, label::STRUCT).filter(|_| message.guess) {
            notes.remark(name, "other structs fit as well; this is the likeliest");
        }
        match member(root, FIELDS) {
            Some(fields) if fields.is_array() => {
                notes.remark(fields, "no schema for this; the fields are guessed");
            }
            Some(fields) => self.note_fields(fields, message, notes),
            None => {}
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
        let name = |method: &schema::RpcMethod| self.schema().types.name(method.name).to_owned();
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

    /// Adds notes on fields, and on those of inner structs.
    fn note_fields(&self, fields: Node<'_>, message: &Message<'_>, notes: &mut Notes) {
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
                self.note_field(&name, value, node, message, notes);
            }
        }
    }

    fn note_field(
        &self,
        name: &str,
        value: Node<'_>,
        parent: Node<'_>,
        message: &Message<'_>,
        notes: &mut Notes,
    ) {
        match value.value() {
            Value::Scalar(Scalar::Name(number, ..)) => notes.remark(value, number.to_string()),
            Value::Scalar(Scalar::Int(_) | Scalar::Uint(_)) => {
                for mark in self.schema().marks(&message.kind, name) {
                    note_number(value, mark, notes);
                }
            }
            Value::Scalar(Scalar::Bin(bytes)) if name == schema::name::PAYLOAD => {
                let codec = parent.get(schema::name::CODEC).and_then(Node::text);
                notes.remark(
                    value,
                    match codec.as_deref() {
                        // 8000 samples per second, one byte each.
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
}

/// Adds a note on the meaning of a number.
fn note_number(value: Node<'_>, mark: &FieldMark, notes: &mut Notes) {
    let number = value.as_i128().unwrap_or_default();
    match mark {
        FieldMark::Generated(_, Fresh::Time) => {
            if let Some(ms) = i64::try_from(number).ok().filter(|ms| *ms != 0) {
                notes.remark_time(value, ms);
            }
        }
        FieldMark::Names(names) => {
            let at = usize::try_from(number).ok();
            if let Some(name) = at.and_then(|at| names.get(at)) {
                notes.remark(value, name.clone());
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests;
