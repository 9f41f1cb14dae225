//! The schema: the messages of all releases.
//!
//! ```text
//!   releases   0.2 to 0.4   0.5 to 0.7   0.9   0.10 to 0.11        of the Python SDK; all have protocol version 1
//!   constant        A            B        C0        C
//! ```

use crate::error::Result;
use crate::protocol::Direction::{ToClient, ToServer};
use crate::protocol::make::{Recipe, text};
use crate::protocol::rpc::dialect::{Dialect, OTHERS};
use crate::protocol::rule_names::stepflow as rule;
use crate::protocol::schema::check::{is_text, refuse};
use crate::protocol::schema::json_schema::{self, MessageJsonSchema};
use crate::protocol::schema::marks::Marks;
use crate::protocol::schema::{
    self, ANY, ARRAY, Fresh, INT, Mark, Member, MessageSchema, OBJECT, Releases, TEXT, Type, UINT,
    ValueForm, message, must, nullable, object, request,
};
use crate::protocol::{Id, Kind, Role, WriteOptions, Written};
use crate::tape::Node;
use std::sync::LazyLock;

/// The oldest releases.
const A: Releases = Releases(1);
const B: Releases = Releases(2);
/// Without stdio; blobs still use this protocol.
const C0: Releases = Releases(4);
/// Blobs use another protocol.
const C: Releases = Releases(8);
/// Only the document has it.
const NONE: Releases = Releases(0);
const A_B: Releases = A.or(B);
const UP_TO_C0: Releases = A_B.or(C0);
const SINCE_B: Releases = B.or(C0).or(C);
const SINCE_C0: Releases = C0.or(C);

/// The texts for sets of releases.
const NAMES: [(Releases, &str); 4] = [
    (A, "0.2 to 0.4"),
    (B, "0.5 to 0.7"),
    (C0, "0.9"),
    (C, "0.10 and later"),
];

const BLOB_FORM: ValueForm = ValueForm::of(Some(rule::BLOB_ID), "64 hex digits", |node| {
    is_hex(node, 64)
});
const BLOB: Type = Type::Form(&TEXT, &BLOB_FORM);
const TRACE: Type = Type::Form(
    &ANY,
    &ValueForm::of(Some(rule::TRACE_ID), "32 hex digits", |node| {
        is_hex(node, 32)
    }),
);
const SPAN: Type = Type::Form(
    &ANY,
    &ValueForm::of(Some(rule::SPAN_ID), "16 hex digits", |node| {
        is_hex(node, 16)
    }),
);
/// The document writes an object with a name, every peer text.
const COMPONENT: Type = Type::Form(
    &Type::Either(&[TEXT, object![must("name", TEXT)]]),
    &ValueForm::of(
        Some(rule::COMPONENT_OBJECT),
        "its path as text, as in \"/upper\"",
        is_text,
    ),
);
const ATTEMPT: Type = Type::Form(
    &INT,
    &ValueForm::of(Some(rule::ATTEMPT), "an integer of 1 or more", |node| {
        node.as_i128().is_some_and(|n| n >= 1)
    })
    .refused(),
);

const RUN: &[Mark] = &[Mark::Generated("run", Fresh::Id)];
const BATCH: &[Mark] = &[Mark::Generated("batch", Fresh::Id)];
const CREATED: &[Mark] = &[Mark::Generated("created", Fresh::Time)];
const COMPLETED: &[Mark] = &[Mark::Generated("completed", Fresh::Time)];

/// The position of a request in a trace.
const OBSERVED: Member = nullable(
    "observability",
    object![
        nullable("trace_id", TRACE).marked(&[Mark::Generated("trace", Fresh::Id), Mark::Volatile]),
        nullable("span_id", SPAN).marked(&[Mark::Generated("span", Fresh::Id), Mark::Volatile]),
        nullable("run_id", ANY).marked(&[Mark::Generated("run", Fresh::Id), Mark::Volatile]),
        nullable("flow_id", Type::Form(&ANY, &BLOB_FORM)),
    ],
)
.releases(SINCE_B);
const INFO: Type = object![must("component", TEXT)];
const STATUS: Type = object![
    must("runId", TEXT).marked(RUN),
    must("flowId", BLOB),
    must("status", TEXT),
    must("items", OBJECT),
    nullable("createdAt", ANY).marked(CREATED),
    nullable("completedAt", ANY).marked(COMPLETED),
    nullable(
        "results",
        Type::Array(&object![nullable("completedAt", ANY).marked(COMPLETED)]),
    ),
];
const DETAILS: Type = object![
    nullable("batch_id", ANY).marked(BATCH),
    nullable("created_at", ANY).marked(CREATED),
    nullable("completed_at", ANY).marked(COMPLETED),
];

/// All methods. Members that only some releases require are optional.
static METHODS: &[MessageSchema] = &[
    request("initialize", ToServer)
        .of(object![
            must("runtime_protocol_version", UINT)
                .releases(UP_TO_C0)
                .spelled("runtimeProtocolVersion", C)
                .default("1"),
            nullable("capabilities", OBJECT).releases(C),
            OBSERVED,
        ])
        .result(object![
            must("server_protocol_version", UINT)
                .releases(UP_TO_C0)
                .spelled("serverProtocolVersion", C),
        ])
        .words("[version:runtime_protocol_version]")
        .about("opens a session"),
    message("initialized", ToServer)
        .words("")
        .about("the session is open"),
    request("components/list", ToServer)
        .result(object![must("components", Type::Array(&INFO))])
        .words("")
        .about("requests the list of components"),
    request("components/info", ToServer)
        .of(object![must("component", COMPONENT).marked(&[Mark::Name])])
        .result(object![must("info", INFO)])
        .words("component")
        .about("requests one component"),
    // Servers since 0.7 refuse a request without attempt or observability; earlier ones ignore both.
    request(EXECUTE, ToServer)
        .of(object![
            must("component", COMPONENT).marked(&[Mark::Name]),
            must("input", ANY),
            nullable("attempt", ATTEMPT).default("1"),
            nullable("step_id", ANY).releases(A_B),
            nullable("run_id", ANY).releases(A_B).marked(RUN),
            nullable("flow_id", BLOB).releases(A_B),
            OBSERVED.default("{}"),
        ])
        .result(object![must("output", ANY)])
        .words("component input attempt=")
        .about("runs a component"),
    request("components/infer_schema", ToServer)
        .of(object![
            must("component", COMPONENT).marked(&[Mark::Name]),
            must("input_schema", ANY),
        ])
        .releases(SINCE_C0)
        .words("component input_schema")
        .about("requests the schema of the output"),
    request("blobs/put", ToClient)
        .of(object![
            must("data", ANY),
            nullable("blob_type", TEXT).default("\"data\""),
            OBSERVED,
        ])
        .result(object![
            must("blob_id", BLOB).marked(&[Mark::Generated("blob", Fresh::Same)]),
        ])
        .releases(UP_TO_C0)
        .words("data [type:blob_type]")
        .about("stores data; TYPE is data or flow"),
    request("blobs/get", ToClient)
        .of(object![must("blob_id", BLOB), OBSERVED])
        .result(object![must("data", ANY), nullable("blob_type", TEXT),])
        .releases(UP_TO_C0)
        .words("blob_id")
        .about("asks for data"),
    request("flows/evaluate", ToClient)
        .of(object![must("flow_id", BLOB), must("input", ANY), OBSERVED,])
        .result(object![must(
            "result",
            object![must("outcome", TEXT).marked(&[Mark::Fails(&["failed"])])]
        )])
        .releases(A_B)
        .words("flow_id input")
        .about("runs a flow"),
    request("flows/get_metadata", ToClient)
        .of(object![
            must("flow_id", BLOB),
            nullable("step_id", TEXT),
            OBSERVED,
        ])
        .result(object![must("flow_metadata", OBJECT)])
        .releases(A_B)
        .words("flow_id [step_id]")
        .about("requests the metadata of a flow"),
    request("flows/submit_batch", ToClient)
        .of(object![
            must("flow_id", BLOB),
            must("inputs", ARRAY),
            nullable("max_concurrency", UINT),
            OBSERVED,
        ])
        .result(object![
            must("batch_id", TEXT).marked(BATCH),
            must("total_runs", UINT),
        ])
        .releases(B)
        .words("flow_id [inputs…] max_concurrency=")
        .about("runs a flow for each input"),
    request("flows/get_batch", ToClient)
        .of(object![must("batch_id", TEXT).marked(BATCH), OBSERVED,])
        .result(object![
            must("details", DETAILS),
            nullable("outputs", ARRAY),
        ])
        .releases(B)
        .words("batch_id")
        .about("requests the state of a batch"),
    request("runs/submit", ToClient)
        .of(object![
            must("flowId", BLOB),
            must("inputs", ARRAY),
            nullable("subflowKey", ANY).marked(&[Mark::Generated("subflow", Fresh::Id)]),
            nullable("maxConcurrency", UINT),
            OBSERVED,
        ])
        .result(STATUS)
        .releases(SINCE_C0)
        .words("flowId [inputs…] maxConcurrency=")
        .about("runs a flow for each input"),
    request("runs/get", ToClient)
        .of(object![
            must("runId", TEXT).marked(RUN),
            nullable("resultOrder", TEXT),
            OBSERVED,
        ])
        .result(STATUS)
        .releases(SINCE_C0)
        .words("runId")
        .about("requests the state of a run"),
    message("progress_update", ToClient).releases(NONE),
    message("execution_complete", ToClient).releases(NONE),
];

/// The method that runs a component.
const EXECUTE: &str = "components/execute";

/// Messages that are not JSON-RPC.
static CONTROLS: &[MessageSchema] = &[
    message("port", ToClient)
        .of(object![must("port", Type::Integer(1, 65535))])
        .role(Some(Role::Control))
        .about("the address on which a worker listens"),
    message("http-request", ToServer)
        .role(Some(Role::Control))
        .about("an HTTP request without a message"),
    message("http-response", ToClient)
        .role(Some(Role::Control))
        .about("an HTTP response without a message"),
    message("sse-event", ToClient)
        .role(Some(Role::Control))
        .about("a server-sent event without a message"),
];

/// Every kind of message.
pub(super) static KINDS: LazyLock<Vec<Kind>> = LazyLock::new(|| {
    let known = OTHERS.iter().chain(DIALECT.answers);
    schema::kinds(known.chain(CONTROLS))
});

pub(super) static DIALECT: Dialect = Dialect {
    any_method: false,
    object_results: true,
    new_id: |id_gen| text(&Id::Uuid(id_gen.uuid()).text()),
    empty_params: true,
    ..Dialect::new(METHODS)
};

/// The messages that can be made.
pub(super) static RECIPES: LazyLock<Vec<Recipe>> = LazyLock::new(|| DIALECT.recipes());

/// Returns the JSON Schema of each kind that has a message: HTTP heads have none.
pub(super) fn shapes() -> Vec<MessageJsonSchema> {
    let mut shapes = DIALECT.shapes();
    shapes.extend(json_schema::shapes(CONTROLS.first()));
    shapes
}

/// Writes a message of any release.
pub(super) fn write(
    message: Node<'_>,
    options: &WriteOptions,
    out: &mut Vec<u8>,
) -> Result<Written> {
    if let [port, ..] = CONTROLS
        && message.get("jsonrpc").is_none()
        && message.get("port").is_some()
        && !options.force
    {
        refuse(message, &port.ty)?;
        let options = WriteOptions {
            force: true,
            ..*options
        };
        return DIALECT.write(message, &options, out);
    }
    DIALECT.write(message, options, out)
}

/// Values that differ from run to run.
pub(super) static MARKS: LazyLock<Marks> = LazyLock::new(|| DIALECT.marks());

/// Returns true if a method runs a component: the server may send callbacks meanwhile.
pub(super) fn runs_component(method: &MessageSchema) -> bool {
    method.name == EXECUTE
}

/// Returns true if a method opens a session.
pub(super) fn opens_session(method: &MessageSchema) -> bool {
    method.name == "initialize"
}

/// Returns the names of releases.
pub(super) fn names(releases: Releases) -> String {
    let names = NAMES.iter();
    let names = names.filter(|(one, _)| !releases.and(*one).is_empty());
    let names: Vec<&str> = names.map(|(_, name)| *name).collect();
    names.join(", ")
}

/// Returns the letters of releases, as the dialect of a message: A is 0.2 to 0.4, B 0.5 to 0.7, C 0.9 and later. `None`
/// means all.
pub(super) fn dialect(releases: Releases) -> Option<&'static str> {
    let has = |of: Releases| !releases.and(of).is_empty();
    match (has(A), has(B), has(SINCE_C0)) {
        (true, false, false) => Some("A"),
        (true, true, false) => Some("A or B"),
        (false, true, false) => Some("B"),
        (false, true, true) => Some("B or C"),
        (false, false, true) => Some("C"),
        _ => None,
    }
}

/// Returns true if a value is text with this number of hex digits.
fn is_hex(node: Node<'_>, digits: usize) -> bool {
    let is = |t: &str| t.len() == digits && t.bytes().all(|b| b.is_ascii_hexdigit());
    node.text().is_some_and(|t| is(&t))
}

#[cfg(test)]
mod tests;
