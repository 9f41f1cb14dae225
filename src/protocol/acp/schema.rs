//! The schema: the messages of version 1, and of drafts.

mod methods;

use crate::protocol::HttpSession;
use crate::protocol::Kind;
use crate::protocol::make::Recipe;
use crate::protocol::rpc::dialect::{Dialect, FAILURE, MessageIndex, RESPONSE};
use crate::protocol::rpc::read;
use crate::protocol::schema::marks::Marks;
use crate::protocol::schema::{ANY, TEXT, Type};
use crate::tape::Node;
pub(super) use methods::{PERMISSION, PROMPT};
use std::sync::LazyLock;

/// Connections over HTTP, with their sessions.
pub(super) const HTTP: HttpSession = HttpSession {
    name: "acp-connection-id",
    version: None,
    part: Some(("acp-session-id", "sessionId")),
};

/// An integer, also one that is written with a fraction of 0.
const WHOLE: Type = Type::Whole(i64::MIN as i128, i64::MAX as i128);

/// Every kind of message.
pub(super) static KINDS: LazyLock<Vec<Kind>> = LazyLock::new(read::kinds);

/// The schema: "null, integer or string"; null is an id, not a notification.
const ID: Type = Type::Either(&[TEXT, WHOLE, Type::Null]);

pub(super) static DIALECT: Dialect = Dialect {
    methods: methods::METHODS,
    by_name: LazyLock::new(|| MessageIndex::new(DIALECT.methods)),
    answers: &[RESPONSE, FAILURE],
    open: true,
    any_method: true,
    batches: false,
    object_results: false,
    id: ID,
    error_id: ID,
    result: ANY,
    // A client opens the session with its first number.
    new_id: |id_gen| (id_gen.number() + 1).to_string(),
    empty_params: true,
};

/// The messages that can be made.
pub(super) static RECIPES: LazyLock<Vec<Recipe>> = LazyLock::new(|| DIALECT.recipes());

/// Values that differ from run to run.
pub(super) static MARKS: LazyLock<Marks> = LazyLock::new(|| DIALECT.marks());

/// Returns true for a method that is not part of the protocol: its name starts with an underscore.
pub(super) fn is_extension(name: &str) -> bool {
    name.starts_with('_')
}

/// Returns true for an absolute path, also one of Windows.
fn is_absolute(node: Node<'_>) -> bool {
    let path = node.text().unwrap_or_default();
    let drive = path
        .get(1..3)
        .is_some_and(|rest| rest == ":\\" || rest == ":/");
    path.starts_with(['/', '\\']) || drive
}

/// The kinds of updates.
pub(super) const UPDATES: [&str; 14] = [
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
pub(super) const DRAFT_UPDATES: [&str; 5] = [
    "plan_update",
    "plan_removed",
    "subagent_update",
    "session_message",
    "session_message_chunk",
];

/// Returns true for a method of the protocol, of a draft, or of an extension.
pub(super) fn is_known(name: &str) -> bool {
    let others = ["nes/", "document/", "proxy/", "$/"];
    let is_other = others.iter().any(|start| name.starts_with(start));
    is_other || is_extension(name) || DIALECT.find(name).is_some()
}
