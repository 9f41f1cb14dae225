//! The schema: the methods of versions 3.17 and 3.18, and the capabilities that announce them.
//!
//! [`methods`] is data, made from the machine-readable specification (metaModel.json 3.18.0) by
//! `tests/peers/lsp_methods.py`.

mod methods;

use crate::protocol::Kind;
use crate::protocol::make::Recipe;
use crate::protocol::rpc::dialect::Dialect;
use crate::protocol::rpc::read;
use crate::protocol::schema::Maker::{self, Receiver, Sender};
use crate::protocol::schema::marks::{Generated, Marks};
use crate::protocol::schema::{Fresh, Releases, TEXT, Type};
#[cfg(feature = "rules")]
pub(super) use methods::NEEDS;
use std::sync::LazyLock;

/// Versions up to 3.16 are not distinguished.
const SINCE_3_17: Releases = Releases(6);
const SINCE_3_18: Releases = Releases(4);

/// "Abstract Message": an integer of 32 bits, or a string.
const ID: Type = Type::Either(&[Type::Whole(-(1 << 31), (1 << 31) - 1), TEXT]);

pub(super) static DIALECT: Dialect = Dialect {
    id: ID,
    error_id: Type::Either(&[ID, Type::Null]),
    // `result.capabilities.hoverProvider` is three levels down.
    head_levels: 3,
    ..Dialect::new(methods::METHODS)
};

/// Every kind of message.
pub(super) static KINDS: LazyLock<Vec<Kind>> = LazyLock::new(|| {
    let mut kinds = read::kinds();
    kinds.retain(|kind| {
        matches!(
            &*kind.name,
            "request" | "notification" | "response" | "error" | "batch"
        )
    });
    kinds
});

/// The messages that can be made.
pub(super) static RECIPES: LazyLock<Vec<Recipe>> = LazyLock::new(|| DIALECT.recipes());

/// The version of a client, which differs from run to run.
const VOLATILE: &str = "request:params.clientInfo.version";
/// The process of the client: a server ends when it has ended (3.17, `InitializeParams`).
const PROCESS: &str = "request:params.processId";

/// Ids and tokens: the path, the group, and for a reference the side that generated it.
const IDS: [(&str, &str, Option<Maker>); 12] = [
    ("notification $/cancelRequest:params.id", "id", Some(Sender)),
    ("request:params.workDoneToken", "token", None),
    ("request:params.partialResultToken", "token", None),
    (
        "request window/workDoneProgress/create:params.token",
        "token",
        None,
    ),
    (
        "notification $/progress:params.token",
        "token",
        Some(Receiver),
    ),
    (
        "notification window/workDoneProgress/cancel:params.token",
        "token",
        Some(Receiver),
    ),
    (
        "request client/registerCapability:params.registrations[*].id",
        "registration",
        None,
    ),
    (
        "request client/unregisterCapability:params.unregisterations[*].id",
        "registration",
        Some(Sender),
    ),
    ("response:result.**.resultId", "result", None),
    (
        "notification $/progress:params.value.**.resultId",
        "result",
        None,
    ),
    ("request:params.previousResultId", "result", Some(Receiver)),
    (
        "request workspace/diagnostic:params.previousResultIds[*].value",
        "result",
        Some(Receiver),
    ),
];

/// The requests and notifications whose `token` connects the messages of one progress.
const PROGRESS: [&str; 3] = [
    "$/progress",
    "window/workDoneProgress/create",
    "window/workDoneProgress/cancel",
];

/// Data of items, which a server gives, and the client returns with the item.
const DATA: [&str; 12] = [
    "response:result[*].data.**",
    "response:result[*].*.data.**",
    "response:result.items[*].data.**",
    "response:result.itemDefaults.data.**",
    "response */resolve:result.data.**",
    "response:result.**.diagnostics[*].data.**",
    "response:result.items[*].items[*].data.**",
    "response:result.relatedDocuments.*.items[*].data.**",
    "notification textDocument/publishDiagnostics:params.diagnostics[*].data.**",
    "notification $/progress:params.value[*].data.**",
    "notification $/progress:params.value[*].*.data.**",
    "notification $/progress:params.value.items[*].data.**",
];

/// The same in the requests of the client.
const RETURNED_DATA: [&str; 9] = [
    "request textDocument/codeAction:params.context.diagnostics[*].data.**",
    "request codeAction/resolve:params.diagnostics[*].data.**",
    "request:params.item.data.**",
    "request completionItem/resolve:params.data.**",
    "request codeAction/resolve:params.data.**",
    "request codeLens/resolve:params.data.**",
    "request documentLink/resolve:params.data.**",
    "request inlayHint/resolve:params.data.**",
    "request workspaceSymbol/resolve:params.data.**",
];

/// Values that differ from run to run.
pub(super) static MARKS: LazyLock<Marks> = LazyLock::new(|| {
    let mut marks = DIALECT.marks();
    let volatile = [
        Generated::ignored(VOLATILE, "client"),
        Generated::new(PROCESS, "process", Fresh::Process).volatile(),
    ];
    let ids = IDS.map(|(path, group, maker)| match maker {
        Some(maker) => Generated::reference(path, group, maker),
        None => Generated::new(path, group, Fresh::Id),
    });
    let data = DATA.map(|path| Generated::opaque(path, "data"));
    let returned = RETURNED_DATA.map(|path| Generated {
        opaque: true,
        ..Generated::reference(path, "data", Receiver)
    });
    let version = Generated::new(
        "response:result.serverInfo.version",
        "version",
        Fresh::Given,
    );
    marks.generated.extend(volatile);
    marks.generated.extend(ids);
    marks.generated.extend(data);
    marks.generated.extend(returned);
    marks.generated.push(version.volatile());
    let tokens = PROGRESS.map(|method| (method.into(), vec!["params".into(), "token".into()]));
    marks.public.extend(tokens);
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
