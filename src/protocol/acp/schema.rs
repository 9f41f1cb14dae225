//! The schema: the messages of version 1, and of drafts.

mod methods;

use crate::protocol::HttpSession;
use crate::protocol::make::Recipe;
use crate::protocol::rpc::dialect::Dialect;
use crate::protocol::schema::marks::Marks;
use crate::protocol::schema::{TEXT, Type};
use crate::tape::Node;
pub(super) use methods::{CARRIER, CODES, PERMISSION, PROMPT, SIGNS};
#[cfg(feature = "rules")]
pub(super) use methods::{DRAFT_UPDATES, NEEDS, PART_NEEDS, UPDATES};
use std::sync::LazyLock;

/// Connections over HTTP, with their sessions.
pub(super) const HTTP: HttpSession = HttpSession {
    name: "acp-connection-id",
    version: None,
    part: Some(("acp-session-id", "sessionId")),
};

/// An integer, also one that is written with a fraction of 0.
const WHOLE: Type = Type::Whole(i64::MIN as i128, i64::MAX as i128);

/// The schema: "null, integer or string"; null is an id, not a notification.
const ID: Type = Type::Either(&[TEXT, WHOLE, Type::Null]);

pub(super) static DIALECT: Dialect = Dialect {
    others: &["$/", "_", "nes/", "document/", "proxy/"],
    id: ID,
    error_id: ID,
    // A client opens the session with its first number.
    new_id: |id_gen| (id_gen.number() + 1).to_string(),
    empty_params: true,
    ..Dialect::new(methods::METHODS)
};

/// The version of the schema.
#[cfg(feature = "rules")]
pub(super) const VERSION: i128 = 1;

pub(super) use crate::protocol::rpc::read::ALL_KINDS as KINDS;
/// The messages that can be made.
pub(super) static RECIPES: LazyLock<Vec<Recipe>> = LazyLock::new(|| DIALECT.recipes());

/// Values that differ from run to run.
pub(super) static MARKS: LazyLock<Marks> = LazyLock::new(|| DIALECT.marks());

/// Returns true for an absolute path, also one of Windows.
fn is_absolute(node: Node<'_>) -> bool {
    let path = node.text().unwrap_or_default();
    let drive = path
        .get(1..3)
        .is_some_and(|rest| rest == ":\\" || rest == ":/");
    path.starts_with(['/', '\\']) || drive
}
