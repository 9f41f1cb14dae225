//! The messages of version 1, from `schema/v1` of the package `@agentclientprotocol/sdk` 2.4.0: `schema.json`, and
//! methods that only `schema.unstable.json` has.

use crate::protocol::Direction::{ToClient, ToServer};
use crate::protocol::rpc::read::{Codes, Signs};
use crate::protocol::rule_names::acp as rule;
use crate::protocol::schema::{
    ANY, ARRAY, BOOL, Fresh, INT, Maker, Mark, Member, MessageSchema, OBJECT, Releases, TEXT, Type,
    UINT, ValueForm, may, message, must, nullable, object, request,
};

/// In the schema of drafts only.
const DRAFT: Releases = Releases(2);

const META: Member = nullable("_meta", OBJECT);
const SESSION_MARK: &[Mark] = &[Mark::Generated("session", Fresh::Id)];
const SESSION: Member = must("sessionId", TEXT).marked(SESSION_MARK);
const NEW_TERMINAL: Member =
    must("terminalId", TEXT).marked(&[Mark::Generated("terminal", Fresh::Id)]);
const TERMINAL_MARK: &[Mark] = &[Mark::Reference("terminal", Maker::Receiver)];
const TERMINAL: Member = must("terminalId", TEXT).marked(TERMINAL_MARK);
const CALL_MARK: &[Mark] = &[Mark::Generated("call", Fresh::Id)];
const CALL: Member = must("toolCallId", TEXT).marked(CALL_MARK);
const ELICITATION: &[Mark] = &[Mark::Generated("elicitation", Fresh::Id)];
const NAMES: &[Mark] = &[Mark::Name];
const CARRIED_MARK: &[Mark] = &[Mark::Generated("carried", Fresh::Id)];
/// A path that the receiver resolves must not depend on its working directory.
const PATH: Type = Type::Form(
    &TEXT,
    &ValueForm::of(
        Some(rule::RELATIVE_PATH),
        "an absolute path",
        super::is_absolute,
    ),
);
/// Lines count from 1.
const LINE: Type = Type::Form(
    &UINT,
    &ValueForm::of(Some(rule::LINE_ZERO), "an integer of 1 or more", |node| {
        node.as_i128() != Some(0)
    }),
);
const SECRET: Member = must("value", TEXT).marked(&[Mark::Volatile]);
const ENV: Type = Type::Array(&object![must("name", TEXT), SECRET]);
const SERVER: Type = object![
    must("name", TEXT),
    may("command", TEXT),
    may("args", Type::Array(&TEXT)),
    may("env", ENV),
    may("type", Type::OneOf(&["http", "sse", "stdio", "acp"])),
    may("url", TEXT),
    may("headers", ENV),
];
const SERVERS: Type = Type::Array(&SERVER);
const INFO: Type = object![must("name", TEXT), must("version", TEXT)];
/// `ContentBlock`.
const BLOCK: Type = Type::Either(&[
    object![must(
        "type",
        Type::OneOf(&["text", "image", "audio", "resource_link", "resource"])
    )],
    object![must("type", Type::OneOf(&["text"])), must("text", TEXT)],
    object![
        must("type", Type::OneOf(&["image"])),
        must("data", TEXT),
        must("mimeType", TEXT)
    ],
    object![
        must("type", Type::OneOf(&["audio"])),
        must("data", TEXT),
        must("mimeType", TEXT)
    ],
    object![
        must("type", Type::OneOf(&["resource_link"])),
        must("uri", TEXT),
        must("name", TEXT)
    ],
    object![
        must("type", Type::OneOf(&["resource"])),
        must("resource", object![must("uri", TEXT)])
    ],
]);
const MODES: Member = nullable(
    "modes",
    object![must("currentModeId", TEXT), must("availableModes", ARRAY)],
);
const OPTIONS: Member = nullable("configOptions", ARRAY);
const STATUS: Type = Type::OneOf(&["pending", "in_progress", "completed", "failed"]);
/// `ToolKind`.
const TOOL_KIND: Type = Type::OneOf(&[
    "read",
    "edit",
    "delete",
    "move",
    "search",
    "execute",
    "think",
    "fetch",
    "switch_mode",
    "other",
]);
/// `PlanEntry`.
const PLAN_ENTRY: Type = object![
    must("content", TEXT),
    must("priority", Type::OneOf(&["high", "medium", "low"])),
    must(
        "status",
        Type::OneOf(&["pending", "in_progress", "completed"])
    ),
];
const TOOL_CALL: Type = object![
    CALL,
    nullable("title", TEXT).marked(NAMES),
    nullable("status", STATUS),
    nullable("kind", TOOL_KIND),
    nullable("content", TOOL_CONTENT),
    nullable("locations", Type::Array(&object![must("path", TEXT)])),
];
/// What a tool call shows. A list of other values is allowed.
const TOOL_CONTENT: Type = Type::Either(&[
    ARRAY,
    Type::Array(&object![may("terminalId", TEXT).marked(TERMINAL_MARK)]),
]);
/// `SessionUpdate`: the members that have a meaning of their own, and those that a kind requires.
const UPDATE: Type = Type::Either(&[
    UPDATE_MEMBERS,
    object![
        must("sessionUpdate", Type::OneOf(&["user_message_chunk"])),
        must("content", BLOCK)
    ],
    object![
        must("sessionUpdate", Type::OneOf(&["agent_message_chunk"])),
        must("content", BLOCK)
    ],
    object![
        must("sessionUpdate", Type::OneOf(&["agent_thought_chunk"])),
        must("content", BLOCK)
    ],
    object![
        must("sessionUpdate", Type::OneOf(&["tool_call"])),
        must("toolCallId", TEXT),
        must("title", TEXT),
        nullable("kind", TOOL_KIND),
        nullable("status", STATUS),
        nullable("content", ARRAY)
    ],
    object![
        must("sessionUpdate", Type::OneOf(&["tool_call_update"])),
        must("toolCallId", TEXT),
        nullable("kind", TOOL_KIND),
        nullable("status", STATUS),
        nullable("content", ARRAY)
    ],
    object![
        must("sessionUpdate", Type::OneOf(&["plan"])),
        must("entries", Type::Array(&PLAN_ENTRY))
    ],
    object![
        must("sessionUpdate", Type::OneOf(&["available_commands_update"])),
        must("availableCommands", ARRAY)
    ],
    object![
        must("sessionUpdate", Type::OneOf(&["current_mode_update"])),
        must("currentModeId", TEXT)
    ],
]);
const UPDATE_MEMBERS: Type = object![
    must("sessionUpdate", TEXT).marked(NAMES),
    may("toolCallId", TEXT).marked(CALL_MARK),
    nullable("status", TEXT).marked(&[Mark::Fails(&["failed"])]),
    may("content", Type::Either(&[ANY, TOOL_CONTENT])),
    nullable("messageId", TEXT).marked(&[Mark::Volatile]),
    may("used", UINT).marked(&[Mark::Volatile]),
    nullable("updatedAt", TEXT).marked(&[Mark::Generated("updated", Fresh::Time), Mark::Volatile]),
];
const LOADED: Type = object![MODES, OPTIONS, META];
const EMPTY: Type = object![META];

/// All methods. The server is the agent.
pub(super) static METHODS: &[MessageSchema] = &[
    request("initialize", ToServer)
        .of(object![
            must("protocolVersion", INT).default("1"),
            may("clientCapabilities", OBJECT).default("{}"),
            nullable("clientInfo", INFO),
            META,
        ])
        .result(object![
            must("protocolVersion", INT),
            may("agentCapabilities", OBJECT),
            may("authMethods", ARRAY),
            nullable("agentInfo", INFO),
            META,
        ])
        .words("[version:protocolVersion] capabilities=clientCapabilities")
        .about("opens the connection"),
    request("authenticate", ToServer)
        .of(object![must("methodId", TEXT), META])
        .words("methodId")
        .about("authenticates the client"),
    request("logout", ToServer)
        .of(object![META])
        .words("")
        .about("ends the authentication"),
    request("session/new", ToServer)
        .of(object![
            must("cwd", PATH),
            must("mcpServers", SERVERS).default("[]"),
            may("additionalDirectories", ARRAY),
            META,
        ])
        .result(object![SESSION, MODES, OPTIONS, META])
        .words("cwd [mcpServers]")
        .about("creates a session"),
    request("session/load", ToServer)
        .of(object![
            SESSION,
            must("cwd", PATH),
            must("mcpServers", SERVERS).default("[]"),
            may("additionalDirectories", ARRAY),
            META,
        ])
        .result(LOADED)
        .words("sessionId cwd [mcpServers]")
        .about("loads a session and its history"),
    request("session/resume", ToServer)
        .of(object![
            SESSION,
            must("cwd", PATH),
            may("mcpServers", SERVERS),
            may("additionalDirectories", ARRAY),
            META,
        ])
        .result(LOADED)
        .words("sessionId cwd [mcpServers]")
        .about("continues a session"),
    request("session/list", ToServer)
        .of(object![
            nullable("cwd", TEXT),
            nullable("cursor", TEXT).marked(&[Mark::Reference("cursor", Maker::Receiver)]),
            META,
        ])
        .result(object![
            must(
                "sessions",
                Type::Array(&object![
                    SESSION,
                    must("cwd", TEXT),
                    nullable("title", TEXT),
                    nullable("updatedAt", TEXT)
                        .marked(&[Mark::Generated("updated", Fresh::Time), Mark::Volatile]),
                ]),
            ),
            nullable("nextCursor", TEXT).marked(&[Mark::Generated("cursor", Fresh::Id)]),
            META,
        ])
        .words("[cursor]")
        .about("asks for the sessions"),
    request("session/close", ToServer)
        .of(object![SESSION, META])
        .words("sessionId")
        .about("closes a session"),
    request("session/delete", ToServer)
        .of(object![SESSION, META])
        .words("sessionId")
        .about("deletes a session"),
    request(PROMPT, ToServer)
        .of(object![SESSION, must("prompt", Type::Array(&BLOCK)), META])
        .result(object![
            must(
                "stopReason",
                Type::OneOf(&[
                    "end_turn",
                    "max_tokens",
                    "max_turn_requests",
                    "refusal",
                    "cancelled",
                ]),
            ),
            META,
        ])
        .words("sessionId prompt")
        .about("starts a turn; answered at its end"),
    message("session/cancel", ToServer)
        .of(object![SESSION, META])
        .words("sessionId")
        .about("cancels the turn of a session"),
    request("session/set_mode", ToServer)
        .of(object![SESSION, must("modeId", TEXT), META])
        .words("sessionId modeId")
        .about("sets the mode of a session"),
    request("session/set_config_option", ToServer)
        .of(object![
            SESSION,
            must("configId", TEXT),
            must("value", ANY),
            META,
        ])
        .result(object![must("configOptions", ARRAY), META])
        .words("sessionId configId value")
        .about("sets an option of a session"),
    message("session/update", ToClient)
        .of(object![SESSION, must("update", UPDATE), META])
        .words("sessionId update")
        .about("reports what happens in a turn"),
    request(PERMISSION, ToClient)
        .of(object![
            SESSION,
            must("toolCall", TOOL_CALL),
            must(
                "options",
                Type::Array(&object![
                    must("optionId", TEXT).marked(&[Mark::Generated("option", Fresh::Id)]),
                    must("name", TEXT),
                    must("kind", TEXT),
                ]),
            ),
            META,
        ])
        .result(object![
            must(
                "outcome",
                object![
                    must("outcome", Type::OneOf(&["selected", "cancelled"])),
                    may("optionId", TEXT).marked(&[Mark::Reference("option", Maker::Receiver)]),
                ],
            ),
            META,
        ])
        .words("sessionId toolCall options")
        .about("asks the user for permission"),
    request("fs/read_text_file", ToClient)
        .of(object![
            SESSION,
            must("path", PATH).marked(NAMES),
            nullable("line", LINE),
            nullable("limit", UINT),
            META,
        ])
        .result(object![must("content", TEXT), META])
        .words("sessionId path [line] [limit]")
        .about("reads a file of the client"),
    request("fs/write_text_file", ToClient)
        .of(object![
            SESSION,
            must("path", PATH).marked(NAMES),
            must("content", TEXT),
            META,
        ])
        .words("sessionId path content")
        .about("writes a file of the client"),
    request("terminal/create", ToClient)
        .of(object![
            SESSION,
            must("command", TEXT).marked(NAMES),
            may("args", Type::Array(&TEXT)),
            may("env", ENV),
            nullable("cwd", PATH),
            nullable("outputByteLimit", UINT),
            META,
        ])
        .result(object![NEW_TERMINAL, META])
        .words("sessionId command [args…]")
        .about("starts a command at the client"),
    request("terminal/output", ToClient)
        .of(object![SESSION, TERMINAL, META])
        .result(object![
            must("output", TEXT),
            must("truncated", BOOL),
            nullable("exitStatus", EXIT),
            META,
        ])
        .words("sessionId terminalId")
        .about("asks for the output of a command"),
    request("terminal/wait_for_exit", ToClient)
        .of(object![SESSION, TERMINAL, META])
        .result(EXIT)
        .words("sessionId terminalId")
        .about("waits for the end of a command"),
    request("terminal/kill", ToClient)
        .of(object![SESSION, TERMINAL, META])
        .words("sessionId terminalId")
        .about("ends a command"),
    request("terminal/release", ToClient)
        .of(object![SESSION, TERMINAL, META])
        .words("sessionId terminalId")
        .about("releases a terminal"),
    request("elicitation/create", ToClient)
        .of(object![
            must("message", TEXT),
            may("mode", TEXT),
            may("elicitationId", TEXT).marked(ELICITATION),
            may("sessionId", TEXT).marked(SESSION_MARK),
            META,
        ])
        .result(object![
            must("action", Type::OneOf(&["accept", "decline", "cancel"])),
            nullable("content", OBJECT),
            META,
        ])
        .words("message")
        .about("asks the user of the client"),
    message("elicitation/complete", ToClient).of(object![
        must("elicitationId", TEXT).marked(&[Mark::Reference("elicitation", Maker::Sender)]),
        META
    ]),
    message("$/cancel_request", ToServer)
        .of(CANCELLED)
        .both_ways()
        .words("id:requestId")
        .about("cancels a request"),
    request("providers/list", ToServer)
        .of(EMPTY)
        .releases(DRAFT),
    request("providers/set", ToServer).releases(DRAFT),
    request("providers/disable", ToServer).releases(DRAFT),
    request("auth/status", ToServer).releases(DRAFT),
    message("auth/status_update", ToClient).releases(DRAFT),
    request("session/fork", ToServer)
        .of(object![SESSION, must("cwd", PATH), META])
        .result(object![SESSION, MODES, OPTIONS, META])
        .releases(DRAFT),
    request("session/archive", ToServer)
        .of(object![SESSION])
        .releases(DRAFT),
    request("session/unarchive", ToServer)
        .of(object![SESSION])
        .releases(DRAFT),
    request("session/status", ToServer)
        .of(object![SESSION])
        .releases(DRAFT),
    request("session/set_title", ToServer)
        .of(object![SESSION])
        .releases(DRAFT),
    request("session/set_model", ToServer)
        .of(object![SESSION])
        .releases(DRAFT),
    request("mcp/connect", ToClient).releases(DRAFT),
    request(CARRIER, ToClient)
        .of(object![
            nullable("requestId", TEXT).marked(CARRIED_MARK),
            may("method", TEXT).marked(NAMES)
        ])
        .both_ways()
        .or_notification()
        .releases(DRAFT),
    request("mcp/disconnect", ToClient).releases(DRAFT),
];

/// The method that carries a message to or from a server of tools.
pub(in super::super) const CARRIER: &str = "mcp/message";
/// The method that starts a turn.
pub(in super::super) const PROMPT: &str = "session/prompt";
/// The method that asks for permission.
pub(in super::super) const PERMISSION: &str = "session/request_permission";

const EXIT: Type = object![nullable("exitCode", INT), nullable("signal", TEXT)];
const CANCELLED: Type = object![
    must("requestId", ANY).marked(&[Mark::Reference("id", Maker::Sender)]),
    META
];

/// The methods and values that need a capability, each with its path.
#[cfg(feature = "rules")]
type Needs = &'static [(&'static str, &'static str)];
/// The capability of the receiver that a method needs, by the start of its name.
#[cfg(feature = "rules")]
pub(in super::super) const NEEDS: Needs = &[
    ("fs/read_text_file", "fs.readTextFile"),
    ("fs/write_text_file", "fs.writeTextFile"),
    ("session/close", "sessionCapabilities.close"),
    ("session/delete", "sessionCapabilities.delete"),
    ("session/list", "sessionCapabilities.list"),
    ("session/load", "loadSession"),
    ("session/resume", "sessionCapabilities.resume"),
    ("terminal/", "terminal"),
];
/// The capability that a kind of content in a prompt needs.
#[cfg(feature = "rules")]
const CONTENT: Needs = &[
    ("audio", "promptCapabilities.audio"),
    ("image", "promptCapabilities.image"),
    ("resource", "promptCapabilities.embeddedContext"),
];
/// The capability that a kind of MCP server needs.
#[cfg(feature = "rules")]
const SERVER_KINDS: Needs = &[
    ("http", "mcpCapabilities.http"),
    ("sse", "mcpCapabilities.sse"),
];
/// The capabilities that parts of a list need by their type: the start of the method, the list, and the types.
#[cfg(feature = "rules")]
pub(in super::super) const PART_NEEDS: [(&str, &str, Needs); 2] = [
    (PROMPT, "prompt", CONTENT),
    ("session/", "mcpServers", SERVER_KINDS),
];

/// The kinds of updates.
#[cfg(feature = "rules")]
pub(in super::super) const UPDATES: [&str; 14] = [
    "user_message_chunk",
    "agent_message_chunk",
    "agent_thought_chunk",
    "tool_call",
    "tool_call_update",
    "plan",
    "available_commands_update",
    "current_mode_update",
    "config_option_update",
    "session_info_update",
    "usage_update",
    "notice",
    "compaction_update",
    "compaction_summary_chunk",
];
/// Kinds of updates in drafts.
#[cfg(feature = "rules")]
pub(in super::super) const DRAFT_UPDATES: [&str; 5] = [
    "plan_update",
    "plan_removed",
    "subagent_update",
    "session_message",
    "session_message_chunk",
];

/// Names that no other protocol has.
pub(in super::super) const SIGNS: Signs = Signs {
    methods: &["fs/", "session/", "terminal/", "providers/", "nes/"],
    results: &[
        "agentCapabilities",
        "authMethods",
        "outcome",
        "stopReason",
        "terminalId",
    ],
};

/// The meaning of error codes.
pub(in super::super) const CODES: Codes = &[
    (-32000, "authentication required"),
    (-32002, "resource not found"),
    (-32022, "unsupported protocol version"),
    (-32800, "cancelled"),
];
