//! The schema: the messages of all versions.
//!
//! ```text
//!   versions   2024-11-05  2025-03-26  2025-06-18  2025-11-25  |  2026-07-28
//!              with a handshake, and sessions over HTTP        |  stateless
//! ```

mod methods;

use crate::protocol::HttpSession;
use crate::protocol::Kind;
use crate::protocol::make::Recipe;
use crate::protocol::rpc::dialect::{Dialect, FAILURE, MessageIndex, RESPONSE};
use crate::protocol::rpc::read;
use crate::protocol::schema::marks::Marks;
use crate::protocol::schema::{OBJECT, Releases, TEXT, Type};
use crate::tape::Node;
pub(super) use methods::{CALL, STATELESS};
use std::sync::LazyLock;

/// The field with the version of the session, since 2025-06-18.
pub(super) const VERSION_FIELD: &str = "mcp-protocol-version";

/// Sessions over HTTP.
pub(super) const HTTP: HttpSession = HttpSession {
    name: "mcp-session-id",
    version: Some((VERSION_FIELD, "protocolVersion")),
    part: None,
};

/// The prefix that the protocol reserves in `_meta`.
pub(super) const OWN_PREFIX: &[u8] = b"io.modelcontextprotocol/";

/// An integer, also one that is written with a fraction of 0.
const WHOLE: Type = Type::Whole(i64::MIN as i128, i64::MAX as i128);

/// Every kind of message.
pub(super) static KINDS: LazyLock<Vec<Kind>> = LazyLock::new(read::kinds);

const ID: Type = Type::Either(&[TEXT, WHOLE]);

pub(super) static DIALECT: Dialect = Dialect {
    methods: methods::METHODS,
    by_name: LazyLock::new(|| MessageIndex::new(DIALECT.methods)),
    answers: &[RESPONSE, FAILURE],
    open: true,
    any_method: true,
    batches: true,
    object_results: true,
    id: ID,
    error_id: Type::Either(&[TEXT, WHOLE, Type::Null]),
    result: OBJECT,
    // A client opens the session with its first number.
    new_id: |id_gen| (id_gen.number() + 1).to_string(),
    empty_params: false,
};

/// The messages that can be made.
pub(super) static RECIPES: LazyLock<Vec<Recipe>> = LazyLock::new(|| DIALECT.recipes());

/// Values that differ from run to run.
pub(super) static MARKS: LazyLock<Marks> = LazyLock::new(|| DIALECT.marks());

/// The published versions, the oldest first.
pub(super) const VERSIONS: [(&str, Releases); 5] = [
    ("2024-11-05", FIRST),
    ("2025-03-26", methods::V2025_03),
    ("2025-06-18", methods::V2025_06),
    ("2025-11-25", methods::V2025_11),
    ("2026-07-28", STATELESS),
];
/// The first version.
pub(super) const FIRST: Releases = Releases(1);
/// The newest version with a handshake.
pub(super) const NEWEST_SESSION: &str = "2025-11-25";
/// The only version with batches.
pub(super) const BATCHES: Releases = methods::V2025_03;
/// The first version that HTTP requests name in a field.
pub(super) const HEADER_SINCE: Releases = methods::V2025_06;
/// The members of `_meta` that say what a handshake would.
pub(super) const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
pub(super) const CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";

/// Returns the version with this name. Servers also answer one that was never published.
pub(super) fn version(name: Node<'_>) -> Option<Releases> {
    let name = name.text().filter(|_| name.is_string())?;
    if name == "2024-10-07" {
        return Some(FIRST);
    }
    let mut versions = VERSIONS.iter();
    versions
        .find(|(known, _)| *known == name)
        .map(|(_, version)| *version)
}

/// Returns the name of a version.
pub(super) fn name(version: Releases) -> &'static str {
    let mut versions = VERSIONS.iter();
    versions
        .find(|(_, known)| *known == version)
        .map_or("", |(name, _)| name)
}

/// Returns the names of all versions.
pub(super) fn names() -> String {
    VERSIONS.map(|(name, _)| name).join(" ")
}
