//! The names of OpenTelemetry's semantic conventions that spans have.
//!
//! RPC conventions are those of version 1.45.0 (stable). Protocols with conventions of their own have them in their
//! descriptor.

/// The conventions that the names below belong to.
pub(super) const SCHEMA_URL: &str = "https://opentelemetry.io/schemas/1.45.0";

pub(super) const SERVICE_NAME: &str = "service.name";
pub(super) const HOST_NAME: &str = "host.name";
pub(super) const PROCESS_ID: &str = "process.pid";

pub(super) const RPC_SYSTEM: &str = "rpc.system.name";
pub(super) const RPC_METHOD: &str = "rpc.method";
pub(super) const RPC_STATUS: &str = "rpc.response.status_code";
pub(super) const ERROR_TYPE: &str = "error.type";
pub(super) const NETWORK_TRANSPORT: &str = "network.transport";
pub(super) const NETWORK_PROTOCOL: &str = "network.protocol.name";
/// The system of requests with a version of it, and the member that has the version.
pub(super) const CALL_SYSTEM: &str = "jsonrpc";
pub(super) const CALL_VERSION: &str = "jsonrpc.protocol.version";
pub(super) const CALL_ID: &str = "jsonrpc.request.id";

/// The attributes of all series beyond the limit.
pub(super) const OVERFLOW: &[u8] =
    br#"[{"key":"otel.metric.overflow","value":{"boolValue":true}}]"#;

pub(super) const OPERATION_NAME: &str = "gen_ai.operation.name";
pub(super) const EXECUTE_TOOL: &str = "execute_tool";
/// The type of an error that the result of a tool reports.
pub(super) const TOOL_ERROR: &str = "tool_error";

/// Names of wiretool, which no convention has.
pub(super) const INDEX: &str = "wiretool.index";
pub(super) const CONNECTION: &str = "wiretool.connection";
pub(super) const SOURCE: &str = "wiretool.source";
pub(super) const PROTOCOL: &str = "wiretool.protocol";
pub(super) const STATE: &str = "wiretool.state";
pub(super) const LINK: &str = "wiretool.link";
pub(super) const MESSAGES: &str = "wiretool.messages";
pub(super) const BYTES: &str = "wiretool.bytes";
/// Before the name of an owner: nanoseconds of the duration.
pub(super) const WAITED_FOR: &str = "wiretool.waited_for.";
pub(super) const REQUEST: &str = "wiretool.request";
pub(super) const ANSWER: &str = "wiretool.answer";
pub(super) const FINDING: &str = "wiretool.finding";
pub(super) const FINDING_RULE: &str = "wiretool.finding.rule";
pub(super) const FINDING_SEVERITY: &str = "wiretool.finding.severity";
pub(super) const FINDING_TEXT: &str = "wiretool.finding.text";
