// Long: one table.
//! The messages of all versions: 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25 and 2026-07-28, from the `schema.ts` of
//! each.
//!
//! Members that only some versions require are optional here. In 2026-07-28 only servers send progress.

use crate::protocol::Direction::{ToClient, ToServer};
use crate::protocol::HttpSession;
use crate::protocol::rpc::read::{Codes, Signs};
use crate::protocol::schema::{
    ANY, ARRAY, BOOL, Fresh, INT, Maker, Mark, Member, MessageSchema, OBJECT, Releases, TEXT, Type,
    UINT, may, message, must, nullable, object, request,
};

pub(super) const V2025_03: Releases = Releases(2);
pub(super) const V2025_06: Releases = Releases(4);
pub(super) const V2025_11: Releases = Releases(8);
/// Without a handshake and sessions.
pub(in super::super) const STATELESS: Releases = Releases(16);
/// With a handshake.
pub(super) const HANDSHAKE: Releases = Releases(1).or(V2025_03).or(V2025_06).or(V2025_11);
const SINCE_2025_03: Releases = V2025_03.or(SINCE_2025_06);
const SINCE_2025_06: Releases = V2025_06.or(SINCE_2025_11);
const SINCE_2025_11: Releases = V2025_11.or(STATELESS);

const TOKEN: Type = Type::Either(&[TEXT, INT]);
/// The task that a message belongs to.
const RELATED_TASK: Member = may(
    "io.modelcontextprotocol/related-task",
    object![may("taskId", TEXT).marked(TASK)],
);
const META: Member = may("_meta", object![RELATED_TASK]);
/// The `_meta` of a request.
const ASK_META: Member = may(
    "_meta",
    object![
        may("progressToken", TOKEN).marked(&[Mark::Generated("token", Fresh::Id)]),
        RELATED_TASK,
    ],
);
/// The `_meta` of a notification that belongs to a subscription.
const SUBSCRIPTION_META: Member = may(
    "_meta",
    object![
        may("io.modelcontextprotocol/subscriptionId", TOKEN)
            .marked(&[Mark::Reference("id", Maker::Receiver)])
    ],
);
const CURSOR: Member = may("cursor", TEXT).marked(&[Mark::Reference("cursor", Maker::Receiver)]);
const NEXT: Member = may("nextCursor", TEXT).marked(&[Mark::Generated("cursor", Fresh::Id)]);
const NAMES: &[Mark] = &[Mark::Name];
const NAME: Member = must("name", TEXT).marked(NAMES);
const URI: Member = must("uri", TEXT).marked(NAMES);
const TTL: Member = may("ttlMs", UINT)
    .releases(STATELESS)
    .marked(&[Mark::Volatile]);
const CACHE: Member = may(CACHE_KEY, Type::OneOf(&["public", "private"])).releases(STATELESS);
const RESULT_TYPE: Member = may("resultType", TEXT).releases(STATELESS);
const INPUT_REQUESTS: Member = may("inputRequests", OBJECT).releases(STATELESS);
const INPUT_RESPONSES: Member = may("inputResponses", OBJECT).releases(STATELESS);
const STATE: Member = may("requestState", TEXT)
    .releases(STATELESS)
    .marked(&[Mark::Generated("state", Fresh::Id), Mark::Secret]);
const TASK: &[Mark] = &[Mark::Generated("task", Fresh::Id)];
const TASK_ID: Member = must("taskId", TEXT).marked(TASK);
/// The request for a task.
const AS_TASK: Member = may("task", OBJECT).releases(V2025_11);
const CREATED: Member =
    may("createdAt", TEXT).marked(&[Mark::Generated("created", Fresh::Time), Mark::Volatile]);
const UPDATED: Member =
    may("lastUpdatedAt", TEXT).marked(&[Mark::Generated("updated", Fresh::Time), Mark::Volatile]);
const STATUS_TEXT: Member = may("statusMessage", TEXT).marked(&[Mark::Volatile]);
const NEW_TASK: Member = may(
    "task",
    object![TASK_ID, may("status", TEXT), CREATED, UPDATED],
)
.releases(V2025_11);
const ELICITATION: &[Mark] = &[Mark::Generated("elicitation", Fresh::Id)];
const LEVEL: Type = Type::OneOf(&[
    "debug",
    "info",
    "notice",
    "warning",
    "error",
    "critical",
    "alert",
    "emergency",
]);
const ROLE: Type = Type::OneOf(&["user", "assistant"]);
const INFO: Type = object![
    must("name", TEXT),
    must("version", TEXT),
    may("title", TEXT)
];
const CONTENT: Type = object![must("type", TEXT), may("text", TEXT), may("data", TEXT)];
const RESOURCE: Type = object![must("uri", TEXT), may("text", TEXT), may("blob", TEXT)];
const SCHEMA: Type = object![may("type", Type::OneOf(&["object"]))];
const TOOL: Type = object![
    must("name", TEXT),
    may("title", TEXT).releases(SINCE_2025_06),
    may("description", TEXT),
    must("inputSchema", SCHEMA),
    may("outputSchema", OBJECT).releases(SINCE_2025_06),
    may("annotations", OBJECT).releases(SINCE_2025_03),
];
const NAMED: Type = object![must("name", TEXT), may("title", TEXT)];
const LISTED: Type = object![must("name", TEXT), must("uri", TEXT)];
const TEMPLATE: Type = object![must("name", TEXT), must("uriTemplate", TEXT)];
/// The content of a message of the model: blocks, of which some call tools or give their results.
const SAMPLED_CONTENT: Type = Type::Either(&[ANY, SAMPLED_BLOCK, Type::Array(&SAMPLED_BLOCK)]);
const SAMPLED_BLOCK: Type = object![
    may("id", TEXT).marked(&[Mark::Generated("call", Fresh::Id)]),
    may("toolUseId", TEXT).marked(&[Mark::Reference("call", Maker::Receiver)]),
];
const SAMPLED: Type = object![may("content", SAMPLED_CONTENT)];
const EMPTY: Type = object![META, RESULT_TYPE];
const TASK_STATE: Type = object![
    may("taskId", TEXT).marked(TASK),
    may("status", TEXT),
    STATUS_TEXT,
    CREATED,
    UPDATED,
];
/// The state of a task that goes on: which one it is depends on the time.
const PASSING_STATE: Type = object![
    may("taskId", TEXT).marked(TASK),
    may("status", TEXT).marked(&[Mark::Volatile]),
    STATUS_TEXT,
    CREATED,
    UPDATED,
];

/// All methods.
pub(super) static METHODS: &[MessageSchema] = &[
    request("initialize", ToServer)
        .of(object![
            must("protocolVersion", TEXT).default("\"2025-11-25\""),
            must("capabilities", OBJECT).default("{}"),
            must("clientInfo", INFO).default(r#"{"name":"wiretool","version":"0"}"#),
            ASK_META,
        ])
        .result(object![
            must("protocolVersion", TEXT),
            must("capabilities", OBJECT),
            must("serverInfo", INFO),
            may("instructions", TEXT),
            META,
        ])
        .releases(HANDSHAKE)
        .words("[version:protocolVersion] capabilities=")
        .about("opens a session"),
    message("notifications/initialized", ToServer)
        .of(object![META])
        .releases(HANDSHAKE)
        .words("")
        .about("the session is open"),
    request("server/discover", ToServer)
        .of(object![ASK_META.default(REQUEST_META)])
        .result(object![
            must("supportedVersions", Type::Array(&TEXT)),
            must("capabilities", OBJECT),
            may("instructions", TEXT),
            TTL,
            CACHE,
            RESULT_TYPE,
            META,
        ])
        .releases(STATELESS)
        .words("_meta=")
        .about("asks for versions and capabilities"),
    request("ping", ToServer)
        .of(object![ASK_META])
        .result(EMPTY)
        .releases(HANDSHAKE)
        .both_ways()
        .words("")
        .about("asks for a sign of life"),
    request("tools/list", ToServer)
        .of(object![CURSOR, ASK_META])
        .result(object![
            must("tools", Type::Array(&TOOL)).marked(&[Mark::Unordered]),
            NEXT,
            TTL,
            CACHE,
            RESULT_TYPE,
            META,
        ])
        .words("[cursor] _meta=")
        .about("asks for the tools"),
    request(CALL, ToServer)
        .of(object![
            NAME,
            may("arguments", OBJECT).default("{}"),
            AS_TASK,
            INPUT_RESPONSES,
            STATE,
            ASK_META,
        ])
        .result(object![
            may("content", Type::Array(&CONTENT)),
            may("isError", BOOL).marked(&[Mark::Fails(&["true"])]),
            may("structuredContent", ANY).releases(SINCE_2025_06),
            NEW_TASK,
            INPUT_REQUESTS,
            STATE,
            RESULT_TYPE,
            META,
        ])
        .words("name [arguments] _meta=")
        .about("calls a tool"),
    request("prompts/list", ToServer)
        .of(object![CURSOR, ASK_META])
        .result(object![
            must("prompts", Type::Array(&NAMED)).marked(&[Mark::Unordered]),
            NEXT,
            TTL,
            CACHE,
            RESULT_TYPE,
            META,
        ])
        .words("[cursor] _meta=")
        .about("asks for the prompts"),
    request("prompts/get", ToServer)
        .of(object![
            NAME,
            may("arguments", OBJECT),
            INPUT_RESPONSES,
            STATE,
            ASK_META,
        ])
        .result(object![
            may(
                "messages",
                Type::Array(&object![must("role", ROLE), must("content", CONTENT)]),
            ),
            may("description", TEXT),
            INPUT_REQUESTS,
            STATE,
            RESULT_TYPE,
            META,
        ])
        .words("name [arguments] _meta=")
        .about("asks for a prompt"),
    request("resources/list", ToServer)
        .of(object![CURSOR, ASK_META])
        .result(object![
            must("resources", Type::Array(&LISTED)).marked(&[Mark::Unordered]),
            NEXT,
            TTL,
            CACHE,
            RESULT_TYPE,
            META,
        ])
        .words("[cursor] _meta=")
        .about("asks for the resources"),
    request("resources/templates/list", ToServer)
        .of(object![CURSOR, ASK_META])
        .result(object![
            must("resourceTemplates", Type::Array(&TEMPLATE)).marked(&[Mark::Unordered]),
            NEXT,
            TTL,
            CACHE,
            RESULT_TYPE,
            META,
        ])
        .words("[cursor] _meta=")
        .about("asks for the templates of resources"),
    request("resources/read", ToServer)
        .of(object![URI, INPUT_RESPONSES, STATE, ASK_META])
        .result(object![
            may("contents", Type::Array(&RESOURCE)),
            INPUT_REQUESTS,
            STATE,
            TTL,
            CACHE,
            RESULT_TYPE,
            META,
        ])
        .words("uri _meta=")
        .about("asks for the contents of a resource"),
    request("resources/subscribe", ToServer)
        .of(object![URI, ASK_META])
        .result(EMPTY)
        .releases(HANDSHAKE)
        .words("uri")
        .about("asks for updates of a resource"),
    request("resources/unsubscribe", ToServer)
        .of(object![URI, ASK_META])
        .result(EMPTY)
        .releases(HANDSHAKE)
        .words("uri")
        .about("ends the updates of a resource"),
    request("subscriptions/listen", ToServer)
        .of(object![
            must("notifications", OBJECT).default("{}"),
            ASK_META
        ])
        .releases(STATELESS)
        .words("[notifications] _meta=")
        .about("asks for notifications; stays open"),
    message("notifications/subscriptions/acknowledged", ToClient)
        .of(object![may("notifications", OBJECT), SUBSCRIPTION_META])
        .releases(STATELESS),
    request("completion/complete", ToServer)
        .of(object![
            must(
                "ref",
                object![
                    must("type", Type::OneOf(&["ref/prompt", "ref/resource"])),
                    may("name", TEXT).marked(NAMES),
                    may("uri", TEXT).marked(NAMES),
                ],
            ),
            must("argument", object![must("name", TEXT), must("value", TEXT)]),
            may("context", OBJECT).releases(SINCE_2025_06),
            ASK_META,
        ])
        .result(object![
            must(
                "completion",
                object![
                    must("values", Type::Array(&TEXT)),
                    may("total", Type::Number),
                    may("hasMore", BOOL),
                ],
            ),
            RESULT_TYPE,
            META,
        ])
        .words("ref argument _meta=")
        .about("asks how an argument may go on"),
    request("logging/setLevel", ToServer)
        .of(object![must("level", LEVEL), ASK_META])
        .result(EMPTY)
        .releases(HANDSHAKE)
        .words("level")
        .about("sets the lowest level of log messages"),
    message("notifications/message", ToClient)
        .of(object![
            must("level", LEVEL),
            may("logger", TEXT),
            must("data", ANY),
            META,
        ])
        .words("level data [logger]")
        .about("a log message"),
    message("notifications/progress", ToClient)
        .of(PROGRESS)
        .both_ways()
        .words("token:progressToken progress [total] message=")
        .about("the progress of a request"),
    message("notifications/cancelled", ToServer)
        .of(CANCELLED)
        .both_ways()
        .words("id:requestId [reason]")
        .about("cancels a request"),
    message("notifications/tools/list_changed", ToClient)
        .of(object![SUBSCRIPTION_META])
        .words("")
        .about("the list of tools changed"),
    message("notifications/prompts/list_changed", ToClient)
        .of(object![SUBSCRIPTION_META])
        .words("")
        .about("the list of prompts changed"),
    message("notifications/resources/list_changed", ToClient)
        .of(object![SUBSCRIPTION_META])
        .words("")
        .about("the list of resources changed"),
    message("notifications/resources/updated", ToClient)
        .of(object![URI, SUBSCRIPTION_META])
        .words("uri")
        .about("a resource changed"),
    request("roots/list", ToClient)
        .of(object![ASK_META])
        .result(object![
            must(
                "roots",
                Type::Array(&object![must("uri", TEXT), may("name", TEXT)]),
            ),
            META,
        ])
        .releases(HANDSHAKE)
        .words("")
        .about("asks for the roots of the client"),
    message("notifications/roots/list_changed", ToServer)
        .of(object![META])
        .releases(HANDSHAKE)
        .words("")
        .about("the list of roots changed"),
    request("sampling/createMessage", ToClient)
        .of(object![
            must("messages", Type::Array(&SAMPLED)),
            must("maxTokens", Type::Number).default("100"),
            may("systemPrompt", TEXT),
            may("modelPreferences", OBJECT),
            may("temperature", Type::Number),
            may("stopSequences", Type::Array(&TEXT)),
            may("includeContext", TEXT),
            may("metadata", OBJECT),
            may("tools", ARRAY).releases(V2025_11),
            may("toolChoice", OBJECT).releases(V2025_11),
            AS_TASK,
            ASK_META,
        ])
        .result(object![
            may("role", ROLE),
            may("content", SAMPLED_CONTENT),
            may("model", TEXT),
            may("stopReason", TEXT),
            NEW_TASK,
            META,
        ])
        .releases(HANDSHAKE)
        .words("messages maxTokens=")
        .about("asks the model of the client"),
    request("elicitation/create", ToClient)
        .of(object![
            must("message", TEXT),
            may("requestedSchema", OBJECT),
            may("mode", Type::OneOf(&["form", "url"])).releases(V2025_11),
            may("url", TEXT).releases(V2025_11),
            may("elicitationId", TEXT)
                .releases(V2025_11)
                .marked(ELICITATION),
            AS_TASK,
            ASK_META,
        ])
        .result(object![
            may("action", Type::OneOf(&["accept", "decline", "cancel"])),
            nullable("content", OBJECT),
            NEW_TASK,
            META,
        ])
        .releases(V2025_06.or(V2025_11))
        .words("message [schema:requestedSchema]")
        .about("asks the user of the client"),
    message("notifications/elicitation/complete", ToClient)
        .of(object![
            must("elicitationId", TEXT).marked(&[Mark::Reference("elicitation", Maker::Sender)]),
            META
        ])
        .releases(V2025_11),
    request("tasks/get", ToServer)
        .of(object![TASK_ID, ASK_META])
        .result(PASSING_STATE)
        .releases(SINCE_2025_11)
        .both_ways()
        .words("taskId")
        .about("asks for the state of a task"),
    request("tasks/result", ToServer)
        .of(object![TASK_ID, ASK_META])
        .releases(V2025_11)
        .both_ways()
        .words("taskId")
        .about("asks for the result of a task"),
    request("tasks/cancel", ToServer)
        .of(object![TASK_ID, ASK_META])
        .result(TASK_STATE)
        .releases(SINCE_2025_11)
        .both_ways()
        .words("taskId")
        .about("cancels a task"),
    request("tasks/list", ToServer)
        .of(object![CURSOR, ASK_META])
        .result(object![must("tasks", Type::Array(&TASK_STATE)), NEXT, META])
        .releases(V2025_11)
        .both_ways()
        .words("[cursor]")
        .about("asks for the tasks"),
    request("tasks/update", ToServer)
        .of(object![TASK_ID, INPUT_RESPONSES, ASK_META])
        .releases(STATELESS),
    message("notifications/tasks/status", ToClient)
        .both_ways()
        .of(PASSING_STATE)
        .releases(V2025_11),
];

/// The method that calls a tool.
pub(in super::super) const CALL: &str = "tools/call";

const PROGRESS: Type = object![
    must("progressToken", TOKEN).marked(&[Mark::Reference("token", Maker::Receiver)]),
    must("progress", Type::Number),
    may("total", Type::Number),
    may("message", TEXT).releases(SINCE_2025_03),
    META,
];
const CANCELLED: Type = object![
    may("requestId", TOKEN).marked(&[Mark::Reference("id", Maker::Sender)]),
    may("reason", TEXT),
    META
];

/// The capability that a method needs, by the start of its name. The receiver of a request declares it, and the sender
/// of a notification.
#[cfg(feature = "rules")]
pub(in super::super) const NEEDS: &[(&str, &str)] = &[
    ("completion/", "completions"),
    ("elicitation/", "elicitation"),
    ("logging/", "logging"),
    ("notifications/message", "logging"),
    ("notifications/prompts/list_changed", "prompts.listChanged"),
    (
        "notifications/resources/list_changed",
        "resources.listChanged",
    ),
    ("notifications/resources/updated", "resources.subscribe"),
    ("notifications/roots/list_changed", "roots.listChanged"),
    ("notifications/tools/list_changed", "tools.listChanged"),
    ("prompts/", "prompts"),
    ("resources/subscribe", "resources.subscribe"),
    ("resources/unsubscribe", "resources.subscribe"),
    ("resources/", "resources"),
    ("roots/", "roots"),
    ("sampling/", "sampling"),
    ("tasks/cancel", "tasks.cancel"),
    ("tasks/list", "tasks.list"),
    ("tasks/", "tasks"),
    ("tools/", "tools"),
];

/// Names that no other protocol has.
pub(in super::super) const SIGNS: Signs = Signs {
    methods: &[
        "completion/",
        "logging/",
        "notifications/",
        "prompts/",
        "resources/",
        "roots/",
        "sampling/",
        "server/discover",
        "subscriptions/",
        "tasks/",
        "tools/",
        "ui/",
    ],
    results: &[
        "inputRequests",
        "nextCursor",
        "resourceTemplates",
        "resultType",
        "roots",
        "structuredContent",
        "supportedVersions",
        "tools",
    ],
};

/// The meaning of error codes.
pub(in super::super) const CODES: Codes = &[
    (-32000, "connection closed, or a server error"),
    (-32001, "timeout, or a session that is not known"),
    (-32002, "resource not found"),
    (-32020, "header mismatch"),
    (-32021, "missing client capability"),
    (-32022, "unsupported protocol version"),
    (-32042, "URL elicitation required"),
    (-32800, "cancelled"),
];

/// The field with the version of the session, since 2025-06-18.
pub(in super::super) const VERSION_FIELD: &str = "mcp-protocol-version";

/// Sessions over HTTP.
pub(in super::super) const HTTP: HttpSession = HttpSession {
    name: "mcp-session-id",
    version: Some((VERSION_FIELD, "protocolVersion")),
    part: None,
};

/// The prefix that the protocol reserves in `_meta`.
pub(in super::super) const OWN_PREFIX: &[u8] = b"io.modelcontextprotocol/";

/// The published versions, the oldest first.
pub(in super::super) const VERSIONS: [(&str, Releases); 5] = [
    ("2024-11-05", FIRST),
    ("2025-03-26", V2025_03),
    ("2025-06-18", V2025_06),
    ("2025-11-25", V2025_11),
    ("2026-07-28", STATELESS),
];
/// The first version.
pub(in super::super) const FIRST: Releases = Releases(1);
/// The newest version with a handshake.
#[cfg(feature = "rules")]
pub(in super::super) const NEWEST_SESSION: &str = "2025-11-25";
/// The only version with batches.
#[cfg(feature = "rules")]
pub(in super::super) const BATCHES: Releases = V2025_03;
/// The first version in which servers ask a person: without lists of choices.
#[cfg(feature = "rules")]
pub(in super::super) const FIRST_ELICITATION: Releases = V2025_06;
/// The first version that HTTP requests name in a field.
#[cfg(feature = "rules")]
pub(in super::super) const HEADER_SINCE: Releases = V2025_06;
/// The member of results that clients may store.
pub(in super::super) const CACHE_KEY: &str = "cacheScope";
/// The `_meta` of a request without a session.
pub(in super::super) const REQUEST_META: &str = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"wiretool","version":"0"},"io.modelcontextprotocol/clientCapabilities":{}}"#;
/// The members of `_meta` that say what a handshake would.
pub(in super::super) const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
#[cfg(feature = "rules")]
pub(in super::super) const CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";
