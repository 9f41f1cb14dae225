//! What telequick names: its faults, what its sides make up, its kinds of message, the modes of supervision.

use crate::protocol::schema::Fresh;
use crate::protocol::schema::marks::{Generated, Marks};
use crate::protocol::{Kind, Role};
use std::sync::LazyLock;

/// Fault codes of telequick's own.
pub(super) const FAULTS: &[(&str, &str)] = &[
    (
        "envelope-overrun",
        "an envelope does not fit into the bytes there are",
    ),
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
];

/// What one side makes up. Numbers of audio frames count from 0 on each side, and are nobody's invention.
pub(super) static MARKS: LazyLock<Marks> = LazyLock::new(|| Marks {
    generated: vec![
        Generated::new("**.call_sid", "call", Fresh::Id),
        Generated::new("**.timestamp_ms", "time", Fresh::Time).volatile(),
        Generated::new("**.start_timestamp_ms", "time", Fresh::Time),
        Generated::new("**.answer_timestamp_ms", "time", Fresh::Time),
        Generated::new("**.end_timestamp_ms", "time", Fresh::Time),
        Generated::new("OriginateRequest:fields.session_id", "session", Fresh::Id),
        Generated::new("**.client_id", "client", Fresh::Same),
        Generated::new("**.bucket_id", "bucket", Fresh::Same),
        Generated::new("**.campaign_id", "campaign", Fresh::Same),
        Generated::new("**.media_token", "token", Fresh::Given),
        Generated::new("**.auth_token", "token", Fresh::Given),
        Generated::ignored("fields.sequence_number", "sequence_number"),
    ],
    unordered: vec![],
    secrets: vec![],
});

/// Kinds are structs.
pub(super) static KINDS: LazyLock<Vec<Kind>> = LazyLock::new(|| {
    vec![
        kind("OriginateRequest", Role::Request, "dials"),
        kind("OriginateResponse", Role::Response, "what came of dialling"),
        kind("BulkRequest", Role::Request, "starts a campaign of calls"),
        kind(
            "BulkResponse",
            Role::Response,
            "answers OriginateBulk and AbortBulk",
        ),
        kind("AbortBulkRequest", Role::Request, "ends a campaign"),
        kind("TerminateRequest", Role::Request, "hangs up"),
        kind(
            "TerminateResponse",
            Role::Response,
            "what came of hanging up",
        ),
        kind("EventStreamRequest", Role::Request, "asks for call events"),
        kind("CallEvent", Role::Item, "what happened to a call"),
        kind(
            "SetInboundRoutingRequest",
            Role::Request,
            "says what becomes of calls to a trunk",
        ),
        kind(
            "GetIncomingCallsRequest",
            Role::Request,
            "asks which calls wait",
        ),
        kind(
            "GetIncomingCallsResponse",
            Role::Response,
            "the calls that wait",
        ),
        kind("AnswerIncomingCallRequest", Role::Request, "takes a call"),
        kind(
            "AnswerIncomingCallResponse",
            Role::Response,
            "what came of taking it",
        ),
        kind(
            "ListBucketsResponse",
            Role::Response,
            "answers GetActiveBuckets",
        ),
        kind(
            "BucketRequest",
            Role::Request,
            "asks for the calls of a bucket",
        ),
        kind("BucketCallList", Role::Response, "the calls of a bucket"),
        kind(
            "BucketActionRequest",
            Role::Request,
            "does something to all calls of a bucket",
        ),
        kind(
            "BucketActionResponse",
            Role::Response,
            "how many calls it was done to",
        ),
        kind(
            "ExecuteDialplanRequest",
            Role::Request,
            "does something to a call",
        ),
        kind("ExecuteDialplanResponse", Role::Response, "what came of it"),
        kind(
            "BargeRequest",
            Role::Request,
            "stops the speech that is playing",
        ),
        kind(
            "AllocateWtRequest",
            Role::Request,
            "asks for a media session",
        ),
        kind("AllocateWtResponse", Role::Response, "the media session"),
        kind(
            "SuperviseSubscribeRequest",
            Role::Request,
            "listens in to a call",
        ),
        kind(
            "SuperviseSubscribeResponse",
            Role::Response,
            "whether that is allowed",
        ),
        kind("AudioFrame", Role::Item, "sound of a call, either way"),
        Kind {
            name: "Empty",
            role: None,
            about: "no fields: asks GetActiveBuckets, answers Barge and SetInboundRouting",
        },
        Kind {
            name: "unknown",
            role: None,
            about: "a method id or struct that no schema describes",
        },
    ]
});

const fn kind(name: &'static str, role: Role, about: &'static str) -> Kind {
    Kind {
        name,
        role: Some(role),
        about,
    }
}

/// What `mode` of a `SuperviseSubscribeRequest` stands for.
pub(super) const MODES: [&str; 5] = [
    "monitor",
    "whisper-agent",
    "whisper-caller",
    "barge",
    "agentic-monitor",
];
