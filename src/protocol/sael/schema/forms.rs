//! The forms that values should have beyond their types: versions, codes, traces, and the stages of a pipeline.

use super::COUNT;
use crate::protocol::rule_names::sael as rule;
use crate::protocol::schema::check::fits;
use crate::protocol::schema::{ANY, Member, OBJECT, Presence, TEXT, Type, ValueForm, may, one};
use crate::tape::Node;

/// Error codes of the document.
const CODES: [&str; 15] = [
    "AUTH_INVALID",
    "AUTH_EXPIRED",
    "MISSING_CAPABILITY",
    "TOOL_NOT_FOUND",
    "INVALID_INPUT",
    "TIMEOUT",
    "INTERNAL",
    "BACKPRESSURE",
    "RATE_LIMITED",
    "CANCELLED",
    "SESSION_EXPIRED",
    "COST_LIMIT",
    "UNSUPPORTED_VERSION",
    "FEDERATION_DENIED",
    "FEDERATION_UNREACHABLE",
];
/// Further error codes of the reference server.
pub(in super::super) const EXTRA_CODES: [&str; 4] = [
    "INVALID_FRAME",
    "UNKNOWN_KIND",
    "TOPIC_NOT_FOUND",
    "PIPELINE_STAGE_FAILED",
];

pub(super) const VERSION: Type = Type::Form(
    &COUNT,
    &ValueForm::of(Some(rule::VERSION_UNKNOWN), "1 or 2", |v| {
        matches!(v.as_i128(), Some(1 | 2))
    }),
);
pub(super) const CODE: Type = Type::Form(
    &TEXT,
    &ValueForm::of(
        Some(rule::ERROR_CODE),
        "one of the 15 error codes of the document",
        |code| {
            let mut known = CODES.iter().chain(&EXTRA_CODES);
            known.any(|known| code.is_text(known))
        },
    ),
);
/// Some clients write null instead of no trace.
pub(super) const TRACE: Type = Type::Form(
    &Type::Either(&[TEXT, Type::Null]),
    &ValueForm::of(
        Some(rule::TRACE_ID),
        "32 hex digits, not all zero",
        |node| is_trace(node, 32),
    ),
);
pub(super) const SPAN: Type = Type::Form(
    &Type::Either(&[TEXT, Type::Null]),
    &ValueForm::of(Some(rule::SPAN_ID), "16 hex digits, not all zero", |node| {
        is_trace(node, 16)
    }),
);

fn is_trace(node: Node<'_>, digits: usize) -> bool {
    let id = node.key_bytes();
    id.len() == digits && id.iter().all(u8::is_ascii_hexdigit) && id.iter().any(|b| *b != b'0')
}

/// A stage of a pipeline: exactly one of the first five members.
pub(super) static STAGE: Type = Type::Object(&STAGE_MEMBERS);
static BRANCH: Type = Type::Array(&STAGE);
static STAGE_MEMBERS: [Member; 7] = [
    one("tool", TEXT)
        .missing(rule::STAGE_KIND)
        .wrong(rule::STAGE_VALUE),
    one("filter", TEXT)
        .missing(rule::STAGE_KIND)
        .wrong(rule::STAGE_VALUE),
    one("map", FIELDS)
        .missing(rule::STAGE_KIND)
        .wrong(rule::STAGE_VALUE),
    one("reduce", ANY).missing(rule::STAGE_KIND),
    one("parallel", Type::Form(&BRANCHES, &SOME_BRANCH))
        .missing(rule::STAGE_KIND)
        .wrong(rule::PARALLEL_SHAPE),
    may("input", INPUT),
    may("input_bind", INPUT),
];
const FIELDS: Type = Type::Form(
    &ANY,
    &ValueForm::of(Some(rule::STAGE_VALUE), "an array of field names", |list| {
        list.is_array() && list.children().all(Node::is_string)
    }),
);
static BRANCHES: Type = Type::Array(&BRANCH);
const SOME_BRANCH: ValueForm = ValueForm::of(
    Some(rule::PARALLEL_SHAPE),
    "an array of at least one pipeline",
    |list| list.at(0).is_some(),
);
const INPUT: Type = Type::Form(
    &ANY,
    &ValueForm::of(Some(rule::STAGE_VALUE), "an object", |node| {
        fits(node, &OBJECT)
    }),
);

/// Returns the kinds of stages.
pub(in super::super) fn stage_kinds() -> impl Iterator<Item = &'static str> {
    let members = STAGE_MEMBERS.iter();
    let kinds = members.filter(|m| m.presence == Presence::One);
    kinds.map(|member| member.name)
}
