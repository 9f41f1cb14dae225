//! The schema: every kind of message, in any of its three forms.

mod forms;

use crate::encoding::lossless::quote;
use crate::error::{Refusal, Result};
use crate::protocol::Direction::{self, ToClient, ToServer};
use crate::protocol::make::{IdGen, Made, Recipe, Words};
use crate::protocol::rule_names::sael as rule;
use crate::protocol::schema::check::{form, refuse, refuse_nothing, write_json, write_msgpack};
use crate::protocol::schema::json_schema::MessageJsonSchema;
use crate::protocol::schema::marks::{Generated, Marks};
use crate::protocol::schema::{
    self, ANY, ARRAY, BOOL, Fresh, Mark, Member, MessageIndex, MessageSchema, OBJECT, TEXT, Type,
    UINT, may, message, must, nullable, object, one, request,
};
use crate::protocol::{Kind, MessageForm, Role, WriteOptions, Written};
use crate::tape::Node;
use forms::{CODE, SPAN, STAGE, TRACE, VERSION};
pub(super) use forms::{EXTRA_CODES, stage_kinds};
use std::sync::LazyLock;

/// Readers take every number as a double, which cannot represent larger integers.
pub(super) const MAX_EXACT: i128 = (1 << 53) - 1;
const COUNT: Type = Type::Whole(0, i128::MAX);
/// A message that answers no request, or one without a number, has seq 0.
const SEQ_OR_0: Type = Type::Whole(0, MAX_EXACT);

const NUMBERED: &[Mark] = &[Mark::Generated("seq", Fresh::Id), Mark::Volatile];
/// The number of a request. It counts from 1: 0 belongs to the connection.
const SEQ: Member = must("seq", Type::Whole(1, MAX_EXACT))
    .marked(NUMBERED)
    .missing(rule::SEQ_MISSING)
    .wrong(rule::SEQ_VALUE);
const NEW_SEQ: Member = SEQ.new(|id_gen| (id_gen.number() + 1).to_string());
/// The number of the answered request.
const ANSWERED: Member = must("seq", SEQ_OR_0)
    .marked(NUMBERED)
    .missing(rule::SEQ_MISSING)
    .wrong(rule::SEQ_VALUE);
/// A server requires nothing else to resume a session.
const SESSION: Member = must("session_id", TEXT)
    .marked(&[
        Mark::Generated("session", Fresh::Id),
        Mark::Volatile,
        Mark::Secret,
    ])
    .missing(rule::FIELD_MISSING);

/// An object with the members of one kind, and with those that every message may have.
macro_rules! frame {
    ($kind:literal $(, $member:expr)* $(,)?) => {
        object![
            may("v", VERSION).default("1").wrong(rule::VERSION_UNKNOWN),
            may("kind", ANY).default(concat!("\"", $kind, "\"")),
            $($member,)*
            may("trace_id", TRACE)
                .wrong(rule::TRACE_ID)
                .marked(&[Mark::Generated("trace", Fresh::Id), Mark::Volatile]),
            may("span_id", SPAN)
                .wrong(rule::SPAN_ID)
                .marked(&[Mark::Generated("span", Fresh::Id), Mark::Volatile]),
            may("parent_span_id", SPAN)
                .wrong(rule::SPAN_ID)
                .marked(&[Mark::Generated("span", Fresh::Id)]),
        ]
    };
}

/// Every kind in its forms.
static MESSAGES: &[MessageSchema] = &[
    message("HEY", ToClient)
        .when("server")
        .role(Some(Role::Hello))
        .of(frame![
            "HEY",
            must(
                "server",
                object![must("id", TEXT).missing(rule::FIELD_MISSING)]
            )
            .missing(rule::FIELD_MISSING)
            .wrong(rule::FIELD_MISSING),
            Member {
                presence: schema::Presence::Nullable,
                ..SESSION
            },
            // Real servers list grants and tools in a different order each time.
            nullable("granted_capabilities", ARRAY).marked(&[Mark::Unordered]),
        ]),
    message("HEY", ToClient)
        .when("resumed")
        .role(Some(Role::Hello))
        .of(frame![
            "HEY",
            must("resumed", BOOL).missing(rule::FIELD_MISSING),
            SESSION,
            must("replayed", COUNT).missing(rule::FIELD_MISSING),
        ]),
    request("HEY", ToServer)
        .role(Some(Role::Hello))
        .of(frame![
            "HEY",
            must(
                "agent",
                object![
                    must("id", TEXT).missing(rule::FIELD_MISSING),
                    nullable("kind", TEXT).default("\"agent\""),
                    nullable("name", TEXT),
                ]
            )
            .missing(rule::FIELD_MISSING)
            .wrong(rule::FIELD_MISSING),
            nullable("supports", ARRAY),
            nullable(
                "auth",
                object![
                    must("type", TEXT)
                        .default("\"bearer\"")
                        .missing(rule::FIELD_MISSING),
                    nullable("token", TEXT)
                        .marked(&[Mark::Generated("token", Fresh::Given), Mark::Volatile]),
                ]
            ),
            nullable("capabilities", ARRAY),
        ])
        .words("agent-id:agent.id [agent.kind] token=auth.token")
        .about("opens a session"),
    request("RSM", ToServer)
        .role(Some(Role::Hello))
        .of(frame![
            "RSM",
            SESSION,
            must("last_seq_received", COUNT)
                .marked(&[Mark::Generated("seq", Fresh::Same)])
                .missing(rule::FIELD_MISSING),
        ])
        .words("session_id last-seq:last_seq_received")
        .about("resumes a session"),
    message("LST", ToClient)
        .when("tools")
        .role(Some(Role::Response))
        .of(frame![
            "LST",
            SEQ,
            nullable("tools", ARRAY).marked(&[Mark::Unordered]),
            may("types", OBJECT),
        ]),
    request("LST", ToServer)
        .of(frame!["LST", NEW_SEQ, may("types", OBJECT),])
        .words("seq=")
        .about("requests the list of tools"),
    request("INV", ToServer)
        .when("pipeline[0]")
        .of(frame![
            "INV",
            NEW_SEQ,
            may("tool", Type::Never("a pipeline is present")).wrong(rule::CALL_BOTH),
            nullable("input", OBJECT),
            must("pipeline", Type::Array(&STAGE)),
            may("via", TEXT),
        ])
        .recipe("PIPELINE")
        .words("stage:pipeline… seq= trace_id=")
        .about("an INV of stages, in JSON"),
    request("INV", ToServer)
        .of(frame![
            "INV",
            NEW_SEQ,
            must("tool", TEXT).marked(&[Mark::Name]),
            nullable("input", OBJECT).default("{}"),
            may("pipeline", ARRAY).wrong(rule::STAGE_VALUE),
            may("via", TEXT),
        ])
        .words("tool [input] seq= trace_id=")
        .about("calls a tool"),
    request("SUB", ToServer)
        .of(frame![
            "SUB",
            NEW_SEQ,
            must("topic", TEXT)
                .marked(&[Mark::Name])
                .missing(rule::FIELD_MISSING),
            nullable("filter", OBJECT),
        ])
        .words("topic [filter] seq= trace_id=")
        .about("subscribes to a topic"),
    message("UNS", ToServer)
        .of(frame!["UNS", SEQ])
        .words("seq")
        .about("ends a subscription"),
    message("CAN", ToServer)
        .of(frame!["CAN", SEQ])
        .words("seq")
        .about("cancels a call"),
    message("ACK", ToServer)
        .of(frame!["ACK", may("seq", UINT).marked(NUMBERED)])
        .words("seq")
        .about("window update"),
    message("HBT", ToServer)
        .role(Some(Role::Heartbeat))
        .of(frame![
            "HBT",
            must("ts", Type::Number)
                .default("0")
                .marked(&[Mark::Generated("beat", Fresh::Time)]),
        ])
        .words("[ts]")
        .about("the client lives"),
    message("BYE", ToServer)
        .of(frame!["BYE"])
        .words("")
        .about("ends the session"),
    message("BYE", ToClient).of(frame!["BYE"]),
    message("RES", ToClient)
        .role(Some(Role::Response))
        .of(frame![
            "RES",
            ANSWERED,
            one("output", ANY),
            one("subscriptionId", ANY).marked(NUMBERED),
            nullable("cost", OBJECT),
        ])
        .words("seq output")
        .about("the answer to a call"),
    message("STR", ToClient)
        .role(Some(Role::Item))
        .of(frame![
            "STR",
            ANSWERED,
            one("data", ANY).missing(rule::ITEM_CONTENT),
            one("delta", ANY).missing(rule::ITEM_CONTENT),
        ])
        .words("seq data")
        .about("one item of a stream"),
    message("END", ToClient)
        .role(Some(Role::End))
        .of(frame!["END", ANSWERED, nullable("cost", OBJECT)])
        .words("seq")
        .about("the end of a stream"),
    message("ERR", ToClient)
        .role(Some(Role::Error))
        .of(frame![
            "ERR",
            // An error without a number belongs to the connection.
            Member {
                rules: [None, Some(rule::SEQ_VALUE)],
                ..ANSWERED
            },
            must("code", CODE)
                .missing(rule::FIELD_MISSING)
                .wrong(rule::ERROR_CODE),
            nullable("message", TEXT),
            nullable("stage", COUNT),
            nullable("retry_after_ms", COUNT),
        ])
        .words("seq code message")
        .about("an error answer"),
    message("EVT", ToClient)
        .role(Some(Role::Item))
        .of(frame!["EVT", SEQ, must("data", ANY)])
        .words("seq data")
        .about("an event of a subscription"),
    message("WIN", ToClient)
        .of(frame![
            "WIN",
            must("window", COUNT)
                .missing(rule::WINDOW_VALUE)
                .wrong(rule::WINDOW_VALUE),
            nullable("retry_after_ms", COUNT),
        ])
        .words("window")
        .about("the limit of open calls"),
    message("HBA", ToClient)
        .role(Some(Role::Heartbeat))
        .of(frame![
            "HBA",
            may("ts", ANY)
                .default("0")
                .marked(&[Mark::Generated("beat", Fresh::Time)]),
        ])
        .words("[ts]")
        .about("the server lives"),
];

/// Every kind of message.
pub(super) static KINDS: LazyLock<Vec<Kind>> = LazyLock::new(|| schema::kinds(MESSAGES));

/// Values that differ from run to run. Requests also pass traces on in their content.
pub(super) static MARKS: LazyLock<Marks> = LazyLock::new(|| {
    let mut marks = Marks::of(MESSAGES);
    marks.generated.extend([
        Generated::ignored("**.trace_id", "trace_id"),
        Generated::ignored("**.span_id", "span_id"),
    ]);
    marks
});

static BY_NAME: LazyLock<MessageIndex> = LazyLock::new(|| MessageIndex::new(MESSAGES));

/// The forms of a kind.
pub(super) type KindForms = &'static [&'static MessageSchema];

/// Returns the forms of a kind; none if it is unknown.
pub(super) fn forms(kind: &str) -> KindForms {
    BY_NAME.forms(kind)
}

/// Returns the direction of a kind if it has only one.
pub(super) fn fixed_direction(forms: KindForms) -> Option<Direction> {
    let (first, others) = forms.split_first()?;
    let is_only = others.iter().all(|form| form.direction == first.direction);
    is_only.then_some(first.direction)
}

/// Returns the direction of a message if its content shows it.
pub(super) fn direction(forms: KindForms, root: Option<Node<'_>>) -> Option<Direction> {
    fixed_direction(forms).or_else(|| {
        let (last, others) = forms.split_last()?;
        let is_known = others.iter().any(|form| form.when.is_some());
        let found = root.and_then(|root| form(forms.iter().copied(), root));
        is_known.then_some(found.unwrap_or(last).direction)
    })
}

/// Returns the form of a kind that a side sends.
pub(super) fn find(
    forms: KindForms,
    side: Option<Direction>,
    root: Option<Node<'_>>,
) -> Option<&'static MessageSchema> {
    let mut forms = forms.iter().copied();
    let is_own = |message: &&MessageSchema| side.is_none_or(|side| message.direction == side);
    let found = root.and_then(|root| form(forms.clone(), root));
    found.filter(is_own).or_else(|| forms.find(is_own))
}

/// The messages that [`make`] makes.
pub(super) static RECIPES: LazyLock<Vec<Recipe>> =
    LazyLock::new(|| schema::make::recipes(MESSAGES));

/// Returns the JSON Schema of each kind.
pub(super) fn shapes() -> Vec<MessageJsonSchema> {
    schema::json_schema::shapes(MESSAGES)
}

/// Makes a message from words: a JSON object that contains its kind, as real peers send it.
pub(super) fn make(kind: &str, words: &mut Words<'_>, id_gen: &mut IdGen) -> Result<Made> {
    schema::make::make(MESSAGES, kind, words, id_gen)
}

/// Writes a message.
pub(super) fn write(
    message: Node<'_>,
    options: &WriteOptions,
    out: &mut Vec<u8>,
) -> Result<Written> {
    let force = options.force;
    let start = out.len();
    let MessageForm::Header {
        version,
        kind,
        packed,
    } = options.form
    else {
        let check = |root: Node<'_>| check(root, None);
        return if options.form == MessageForm::MessagePack {
            write_msgpack(message, force, check, out)
        } else {
            write_json(message, force, check, out)
        };
    };
    let name = String::from_utf8_lossy(&kind).into_owned();
    let check = |root: Node<'_>| check(root, Some(&name));
    out.push(version);
    out.extend_from_slice(&kind);
    let empty = message.is_null() || message.is_map() && message.children().next().is_none();
    let written = if empty {
        // An empty message has no bytes; required members of the kind may still be missing.
        let checked = if force { Ok(()) } else { check(message) };
        checked.map(|()| Written::default())
    } else if packed {
        write_msgpack(message, force, check, out)
    } else {
        write_json(message, force, check, out)
    };
    if written.is_err() {
        out.truncate(start);
    }
    written
}

/// Checks a message; in the header form the kind precedes it.
fn check(root: Node<'_>, header: Option<&str>) -> Result<()> {
    let inside = root.get("kind");
    let kind = match (header, inside) {
        (Some(header), Some(node)) if !node.is_text(header) => {
            let wanted = format!("\"{header}\", as the header says");
            return Err(Refusal::new("kind", wanted, quote(node)));
        }
        (Some(header), _) => header.into(),
        (None, None) if root.is_map() => return Err(Refusal::new("kind", kinds(), "nothing")),
        (None, None) => return refuse(root, &OBJECT),
        (None, Some(node)) => node.text().unwrap_or_default(),
    };
    let Some(message) = form(forms(&kind).iter().copied(), root) else {
        let got = inside.map_or(kind.into_owned(), quote);
        return Err(Refusal::new("kind", kinds(), got));
    };
    // With a header, an empty message has no members.
    if root.is_null() && header.is_some() {
        refuse_nothing(&message.ty)
    } else {
        refuse(root, &message.ty)
    }
}

fn kinds() -> String {
    let names: Vec<_> = KINDS.iter().map(|kind| &*kind.name).collect();
    format!("one of {}", names.join(" "))
}

#[cfg(test)]
mod tests;
