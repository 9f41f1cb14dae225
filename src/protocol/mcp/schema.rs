//! The schema: the messages of all versions.
//!
//! ```text
//!   versions   2024-11-05  2025-03-26  2025-06-18  2025-11-25  |  2026-07-28
//!              with a handshake, and sessions over HTTP        |  stateless
//! ```

mod methods;

use crate::protocol::make::Recipe;
use crate::protocol::rpc::dialect::Dialect;
use crate::protocol::schema::marks::Marks;
use crate::protocol::schema::{OBJECT, Releases, TEXT, Type};
use crate::tape::Node;
#[cfg(feature = "rules")]
pub(super) use methods::{
    BATCHES, CACHE_KEY, CAPABILITIES_KEY, FIRST_ELICITATION, HEADER_SINCE, NEEDS, NEWEST_SESSION,
    REQUEST_META, VERSION_FIELD,
};
pub(super) use methods::{
    CALL, CODES, FIRST, HTTP, OWN_PREFIX, SIGNS, STATELESS, VERSION_KEY, VERSIONS,
};
use std::sync::LazyLock;

/// An integer, also one that is written with a fraction of 0.
const WHOLE: Type = Type::Whole(i64::MIN as i128, i64::MAX as i128);

const ID: Type = Type::Either(&[TEXT, WHOLE]);

pub(super) static DIALECT: Dialect = Dialect {
    batches: true,
    object_results: true,
    id: ID,
    error_id: Type::Either(&[TEXT, WHOLE, Type::Null]),
    result: OBJECT,
    // A client opens the session with its first number.
    new_id: |id_gen| (id_gen.number() + 1).to_string(),
    ..Dialect::new(methods::METHODS)
};

pub(super) use crate::protocol::rpc::read::ALL_KINDS as KINDS;
/// The messages that can be made.
pub(super) static RECIPES: LazyLock<Vec<Recipe>> = LazyLock::new(|| DIALECT.recipes());

/// Values that differ from run to run.
pub(super) static MARKS: LazyLock<Marks> = LazyLock::new(|| DIALECT.marks());

/// Returns the version that a request of 2026-07-28 names in the `_meta` of its params.
pub(super) fn own_version(params: Option<Node<'_>>) -> Option<Node<'_>> {
    params?.get("_meta")?.get(VERSION_KEY)
}

/// The requests whose results clients store, which 2026-07-28 requires to say how long (`CacheableResult`).
#[cfg(feature = "rules")]
pub(super) const CACHEABLE: [&str; 6] = [
    "server/discover",
    "tools/list",
    "prompts/list",
    "resources/list",
    "resources/templates/list",
    "resources/read",
];

/// Returns the version with this name. Servers also answer one that was never published.
#[cfg(feature = "rules")]
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
#[cfg(feature = "rules")]
pub(super) fn name(version: Releases) -> &'static str {
    let mut versions = VERSIONS.iter();
    versions
        .find(|(_, known)| *known == version)
        .map_or("", |(name, _)| name)
}

/// Returns the names of all versions.
#[cfg(feature = "rules")]
pub(super) fn names() -> String {
    VERSIONS.map(|(name, _)| name).join(" ")
}
