//! The schema: the methods of versions 3.17 and 3.18, and the capabilities that announce them.
//!
//! [`methods`] is data, made from the machine-readable specification (metaModel.json 3.18.0) by
//! `tests/peers/lsp_methods.py`.

mod methods;

use crate::protocol::Kind;
use crate::protocol::make::Recipe;
use crate::protocol::rpc::dialect::Dialect;
use crate::protocol::rpc::read;
use crate::protocol::schema::marks::{Generated, Marks};
use crate::protocol::schema::{Fresh, Releases, TEXT, Type};
#[cfg(feature = "rules")]
pub(super) use methods::NEEDS;
use std::borrow::Cow;
use std::sync::LazyLock;

/// Versions up to 3.16 are not distinguished.
const SINCE_3_17: Releases = Releases(6);
const SINCE_3_18: Releases = Releases(4);

/// "Abstract Message": an integer of 32 bits, or a string.
const ID: Type = Type::Either(&[Type::Whole(-(1 << 31), (1 << 31) - 1), TEXT]);

pub(super) static DIALECT: Dialect = Dialect {
    id: ID,
    error_id: Type::Either(&[ID, Type::Null]),
    ..Dialect::new(methods::METHODS)
};

/// Every kind of message.
pub(super) static KINDS: LazyLock<Vec<Kind>> = LazyLock::new(|| {
    let mut kinds = read::kinds();
    kinds.retain(|kind| {
        matches!(
            kind.name,
            "request" | "notification" | "response" | "error" | "batch"
        )
    });
    kinds
});

/// The messages that can be made.
pub(super) static RECIPES: LazyLock<Vec<Recipe>> = LazyLock::new(|| DIALECT.recipes());

/// Values that differ from run to run: numbers of processes, versions and tokens.
const VOLATILE: [&str; 6] = [
    "request:params.processId",
    "request:params.clientInfo.version",
    "request:params.token",
    "notification:params.token",
    "request:params.workDoneToken",
    "request:params.partialResultToken",
];

/// Values that differ from run to run.
pub(super) static MARKS: LazyLock<Marks> = LazyLock::new(|| {
    let mut marks = DIALECT.marks();
    let volatile = VOLATILE.map(|path| Generated {
        path: Cow::Borrowed(path),
        group: "token",
        fresh: None,
        volatile: true,
    });
    let result_id = Generated::new("**.resultId", "result", Fresh::Id);
    let version = Generated::new(
        "response:result.serverInfo.version",
        "version",
        Fresh::Given,
    );
    marks.generated.extend(volatile);
    marks
        .generated
        .extend([result_id.volatile(), version.volatile()]);
    marks
});

/// The meaning of error codes.
pub(super) const CODES: read::Codes = &[
    (-32001, "unknown error"),
    (-32002, "server not initialized"),
    (-32800, "request cancelled"),
    (-32801, "content modified"),
    (-32802, "server cancelled"),
    (-32803, "request failed"),
];
