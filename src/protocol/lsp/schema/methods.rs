// Long: data.
//! The methods of version 3.18.0, made by `tests/peers/lsp_methods.py`.

use super::{SINCE_3_17, SINCE_3_18};
use crate::protocol::Direction::{ToClient, ToServer};
use crate::protocol::schema::{
    ANY, ARRAY, BOOL, INT, Mark, Member, MessageSchema, OBJECT, TEXT, Type, UINT, message, must,
    nullable, object, request,
};

const INT_OR_TEXT: Type = Type::Either(&[INT, TEXT]);
const URI: Member = must("uri", TEXT).marked(&[Mark::Name]);
const DOCUMENT: Member = must("textDocument", TEXT_DOCUMENT_IDENTIFIER);
const AT_POSITION: Member = must("position", POSITION);
const IN_RANGE: Member = must("range", RANGE);
const WORK_DONE_TOKEN: Member = nullable("workDoneToken", INT_OR_TEXT);
const PARTIAL_RESULT_TOKEN: Member = nullable("partialResultToken", INT_OR_TEXT);
const DATA: Member = nullable("data", ANY);
const TAGS: Member = nullable("tags", Type::Array(&INT));
const CANCEL_PARAMS: Type = object![must("id", INT_OR_TEXT)];
const LOG_TRACE_PARAMS: Type = object![must("message", TEXT), nullable("verbose", TEXT)];
const PROGRESS_PARAMS: Type = object![must("token", INT_OR_TEXT), must("value", ANY)];
const SET_TRACE_PARAMS: Type = object![must("value", TEXT)];
const POSITION: Type = object![must("line", UINT), must("character", UINT)];
const RANGE: Type = object![must("start", POSITION), must("end", POSITION)];
const CALL_HIERARCHY_ITEM: Type = object![
    must("name", TEXT),
    must("kind", INT),
    URI,
    IN_RANGE,
    must("selectionRange", RANGE),
    TAGS,
    nullable("detail", TEXT),
    DATA
];
const CALL_HIERARCHY_INCOMING_CALLS_PARAMS: Type = object![
    must("item", CALL_HIERARCHY_ITEM),
    WORK_DONE_TOKEN,
    PARTIAL_RESULT_TOKEN
];
const CALL_HIERARCHY_INCOMING_CALL: Type = object![
    must("from", CALL_HIERARCHY_ITEM),
    must("fromRanges", Type::Array(&RANGE))
];
const CALL_HIERARCHY_OUTGOING_CALLS_PARAMS: Type = object![
    must("item", CALL_HIERARCHY_ITEM),
    WORK_DONE_TOKEN,
    PARTIAL_RESULT_TOKEN
];
const CALL_HIERARCHY_OUTGOING_CALL: Type = object![
    must("to", CALL_HIERARCHY_ITEM),
    must("fromRanges", Type::Array(&RANGE))
];
const REGISTRATION: Type = object![
    must("id", TEXT),
    must("method", TEXT),
    nullable("registerOptions", ANY)
];
const REGISTRATION_PARAMS: Type = object![must("registrations", Type::Array(&REGISTRATION))];
const UNREGISTRATION: Type = object![must("id", TEXT), must("method", TEXT)];
const UNREGISTRATION_PARAMS: Type = object![must("unregisterations", Type::Array(&UNREGISTRATION))];
const CODE_DESCRIPTION: Type = object![must("href", TEXT)];
const LOCATION: Type = object![URI, IN_RANGE];
const DIAGNOSTIC_RELATED_INFORMATION: Type =
    object![must("location", LOCATION), must("message", TEXT)];
const DIAGNOSTIC: Type = object![
    IN_RANGE,
    must("message", TEXT),
    nullable("severity", Type::Integer(1, 4)),
    nullable("code", INT_OR_TEXT),
    nullable("codeDescription", CODE_DESCRIPTION),
    nullable("source", TEXT),
    TAGS,
    nullable(
        "relatedInformation",
        Type::Array(&DIAGNOSTIC_RELATED_INFORMATION)
    ),
    DATA
];
const CODE_ACTION_DISABLED: Type = object![must("reason", TEXT)];
const TEXT_EDIT: Type = object![IN_RANGE, must("newText", TEXT)];
const WORKSPACE_EDIT: Type = object![
    nullable("changes", OBJECT),
    nullable("documentChanges", ARRAY),
    nullable("changeAnnotations", OBJECT)
];
const COMMAND: Type = object![
    must("title", TEXT),
    must("command", TEXT),
    nullable("tooltip", TEXT),
    nullable("arguments", ARRAY)
];
const CODE_ACTION: Type = object![
    must("title", TEXT),
    nullable("kind", TEXT),
    nullable("diagnostics", Type::Array(&DIAGNOSTIC)),
    nullable("isPreferred", BOOL),
    nullable("disabled", CODE_ACTION_DISABLED),
    nullable("edit", WORKSPACE_EDIT),
    nullable("command", COMMAND),
    DATA,
    TAGS
];
const CODE_LENS: Type = object![IN_RANGE, nullable("command", COMMAND), DATA];
const COMPLETION_ITEM_LABEL_DETAILS: Type =
    object![nullable("detail", TEXT), nullable("description", TEXT)];
const COMPLETION_ITEM: Type = object![
    must("label", TEXT),
    nullable("labelDetails", COMPLETION_ITEM_LABEL_DETAILS),
    nullable("kind", INT),
    TAGS,
    nullable("detail", TEXT),
    nullable("documentation", ANY),
    nullable("deprecated", BOOL),
    nullable("preselect", BOOL),
    nullable("sortText", TEXT),
    nullable("filterText", TEXT),
    nullable("insertText", TEXT),
    nullable("insertTextFormat", INT),
    nullable("insertTextMode", INT),
    nullable("textEdit", ANY),
    nullable("textEditText", TEXT),
    nullable("additionalTextEdits", Type::Array(&TEXT_EDIT)),
    nullable("commitCharacters", Type::Array(&TEXT)),
    nullable("command", COMMAND),
    DATA
];
const DOCUMENT_LINK: Type = object![
    IN_RANGE,
    nullable("target", TEXT),
    nullable("tooltip", TEXT),
    DATA
];
const CLIENT_INFO: Type = object![must("name", TEXT), nullable("version", TEXT)];
const WORKSPACE_FOLDER: Type = object![URI, must("name", TEXT)];
const INITIALIZE_PARAMS: Type = object![
    must("capabilities", OBJECT),
    nullable("processId", INT),
    nullable("clientInfo", CLIENT_INFO),
    nullable("locale", TEXT),
    nullable("rootPath", TEXT),
    nullable("rootUri", TEXT),
    nullable("initializationOptions", ANY),
    nullable("trace", TEXT),
    WORK_DONE_TOKEN,
    nullable("workspaceFolders", Type::Array(&WORKSPACE_FOLDER))
];
const SERVER_INFO: Type = object![must("name", TEXT), nullable("version", TEXT)];
const INITIALIZE_RESULT: Type = object![
    must("capabilities", OBJECT),
    nullable("serverInfo", SERVER_INFO)
];
const INLAY_HINT: Type = object![
    AT_POSITION,
    must("label", ANY),
    nullable("kind", INT),
    nullable("textEdits", Type::Array(&TEXT_EDIT)),
    nullable("tooltip", ANY),
    nullable("paddingLeft", BOOL),
    nullable("paddingRight", BOOL),
    DATA
];
const VERSIONED_NOTEBOOK_DOCUMENT_IDENTIFIER: Type = object![must("version", INT), URI];
const EXECUTION_SUMMARY: Type = object![must("executionOrder", UINT), nullable("success", BOOL)];
const NOTEBOOK_CELL: Type = object![
    must("kind", INT),
    must("document", TEXT),
    nullable("metadata", ANY),
    nullable("executionSummary", EXECUTION_SUMMARY)
];
const NOTEBOOK_CELL_ARRAY_CHANGE: Type = object![
    must("start", UINT),
    must("deleteCount", UINT),
    nullable("cells", Type::Array(&NOTEBOOK_CELL))
];
const TEXT_DOCUMENT_ITEM: Type = object![
    URI,
    must("languageId", TEXT),
    must("version", INT),
    must("text", TEXT)
];
const TEXT_DOCUMENT_IDENTIFIER: Type = object![URI];
const NOTEBOOK_DOCUMENT_CELL_CHANGE_STRUCTURE: Type = object![
    must("array", NOTEBOOK_CELL_ARRAY_CHANGE),
    nullable("didOpen", Type::Array(&TEXT_DOCUMENT_ITEM)),
    nullable("didClose", Type::Array(&TEXT_DOCUMENT_IDENTIFIER))
];
const VERSIONED_TEXT_DOCUMENT_IDENTIFIER: Type = object![must("version", INT), URI];
const NOTEBOOK_DOCUMENT_CELL_CONTENT_CHANGES: Type = object![
    must("document", VERSIONED_TEXT_DOCUMENT_IDENTIFIER),
    must("changes", ARRAY)
];
const NOTEBOOK_DOCUMENT_CELL_CHANGES: Type = object![
    nullable("structure", NOTEBOOK_DOCUMENT_CELL_CHANGE_STRUCTURE),
    nullable("data", Type::Array(&NOTEBOOK_CELL)),
    nullable(
        "textContent",
        Type::Array(&NOTEBOOK_DOCUMENT_CELL_CONTENT_CHANGES)
    )
];
const NOTEBOOK_DOCUMENT_CHANGE_EVENT: Type = object![
    nullable("metadata", ANY),
    nullable("cells", NOTEBOOK_DOCUMENT_CELL_CHANGES)
];
const DID_CHANGE_NOTEBOOK_DOCUMENT_PARAMS: Type = object![
    must("notebookDocument", VERSIONED_NOTEBOOK_DOCUMENT_IDENTIFIER),
    must("change", NOTEBOOK_DOCUMENT_CHANGE_EVENT)
];
const NOTEBOOK_DOCUMENT_IDENTIFIER: Type = object![URI];
const DID_CLOSE_NOTEBOOK_DOCUMENT_PARAMS: Type = object![
    must("notebookDocument", NOTEBOOK_DOCUMENT_IDENTIFIER),
    must("cellTextDocuments", Type::Array(&TEXT_DOCUMENT_IDENTIFIER))
];
const NOTEBOOK_DOCUMENT: Type = object![
    URI,
    must("notebookType", TEXT),
    must("version", INT),
    must("cells", Type::Array(&NOTEBOOK_CELL)),
    nullable("metadata", ANY)
];
const DID_OPEN_NOTEBOOK_DOCUMENT_PARAMS: Type = object![
    must("notebookDocument", NOTEBOOK_DOCUMENT),
    must("cellTextDocuments", Type::Array(&TEXT_DOCUMENT_ITEM))
];
const DID_SAVE_NOTEBOOK_DOCUMENT_PARAMS: Type =
    object![must("notebookDocument", NOTEBOOK_DOCUMENT_IDENTIFIER)];
const CODE_ACTION_CONTEXT: Type = object![
    must("diagnostics", Type::Array(&DIAGNOSTIC)),
    nullable("only", Type::Array(&TEXT)),
    nullable("triggerKind", INT)
];
const CODE_ACTION_PARAMS: Type = object![
    DOCUMENT,
    IN_RANGE,
    must("context", CODE_ACTION_CONTEXT),
    WORK_DONE_TOKEN,
    PARTIAL_RESULT_TOKEN
];
const CODE_LENS_PARAMS: Type = object![DOCUMENT, WORK_DONE_TOKEN, PARTIAL_RESULT_TOKEN];
const COLOR: Type = object![
    must("red", Type::Number),
    must("green", Type::Number),
    must("blue", Type::Number),
    must("alpha", Type::Number)
];
const COLOR_PRESENTATION_PARAMS: Type = object![
    DOCUMENT,
    must("color", COLOR),
    IN_RANGE,
    WORK_DONE_TOKEN,
    PARTIAL_RESULT_TOKEN
];
const COLOR_PRESENTATION: Type = object![
    must("label", TEXT),
    nullable("textEdit", TEXT_EDIT),
    nullable("additionalTextEdits", Type::Array(&TEXT_EDIT))
];
const COMPLETION_CONTEXT: Type =
    object![must("triggerKind", INT), nullable("triggerCharacter", TEXT)];
const COMPLETION_PARAMS: Type = object![
    DOCUMENT,
    AT_POSITION,
    nullable("context", COMPLETION_CONTEXT),
    WORK_DONE_TOKEN,
    PARTIAL_RESULT_TOKEN
];
const COMPLETION_ITEM_DEFAULTS: Type = object![
    nullable("commitCharacters", Type::Array(&TEXT)),
    nullable("editRange", ANY),
    nullable("insertTextFormat", INT),
    nullable("insertTextMode", INT),
    DATA
];
const COMPLETION_ITEM_APPLY_KINDS: Type =
    object![nullable("commitCharacters", INT), nullable("data", INT)];
const COMPLETION_LIST: Type = object![
    must("isIncomplete", BOOL),
    must("items", Type::Array(&COMPLETION_ITEM)),
    nullable("itemDefaults", COMPLETION_ITEM_DEFAULTS),
    nullable("applyKind", COMPLETION_ITEM_APPLY_KINDS)
];
const DECLARATION_PARAMS: Type =
    object![DOCUMENT, AT_POSITION, WORK_DONE_TOKEN, PARTIAL_RESULT_TOKEN];
const DEFINITION_PARAMS: Type =
    object![DOCUMENT, AT_POSITION, WORK_DONE_TOKEN, PARTIAL_RESULT_TOKEN];
const DOCUMENT_DIAGNOSTIC_PARAMS: Type = object![
    DOCUMENT,
    nullable("identifier", TEXT),
    nullable("previousResultId", TEXT),
    WORK_DONE_TOKEN,
    PARTIAL_RESULT_TOKEN
];
const DID_CHANGE_TEXT_DOCUMENT_PARAMS: Type = object![
    must("textDocument", VERSIONED_TEXT_DOCUMENT_IDENTIFIER),
    must("contentChanges", ARRAY)
];
const DID_CLOSE_TEXT_DOCUMENT_PARAMS: Type = object![DOCUMENT];
const DID_OPEN_TEXT_DOCUMENT_PARAMS: Type = object![must("textDocument", TEXT_DOCUMENT_ITEM)];
const DID_SAVE_TEXT_DOCUMENT_PARAMS: Type = object![DOCUMENT, nullable("text", TEXT)];
const DOCUMENT_COLOR_PARAMS: Type = object![DOCUMENT, WORK_DONE_TOKEN, PARTIAL_RESULT_TOKEN];
const COLOR_INFORMATION: Type = object![IN_RANGE, must("color", COLOR)];
const DOCUMENT_HIGHLIGHT_PARAMS: Type =
    object![DOCUMENT, AT_POSITION, WORK_DONE_TOKEN, PARTIAL_RESULT_TOKEN];
const DOCUMENT_HIGHLIGHT: Type = object![IN_RANGE, nullable("kind", INT)];
const DOCUMENT_LINK_PARAMS: Type = object![DOCUMENT, WORK_DONE_TOKEN, PARTIAL_RESULT_TOKEN];
const DOCUMENT_SYMBOL_PARAMS: Type = object![DOCUMENT, WORK_DONE_TOKEN, PARTIAL_RESULT_TOKEN];
const FOLDING_RANGE_PARAMS: Type = object![DOCUMENT, WORK_DONE_TOKEN, PARTIAL_RESULT_TOKEN];
const FOLDING_RANGE: Type = object![
    must("startLine", UINT),
    must("endLine", UINT),
    nullable("startCharacter", UINT),
    nullable("endCharacter", UINT),
    nullable("kind", TEXT),
    nullable("collapsedText", TEXT)
];
const DOCUMENT_FORMATTING_PARAMS: Type =
    object![DOCUMENT, must("options", OBJECT), WORK_DONE_TOKEN];
const HOVER_PARAMS: Type = object![DOCUMENT, AT_POSITION, WORK_DONE_TOKEN];
/// `MarkupContent`, or `MarkedString` alone or in a list.
const HOVER_CONTENTS: Type = Type::Either(&[TEXT, OBJECT, ARRAY]);
const HOVER: Type = object![must("contents", HOVER_CONTENTS), nullable("range", RANGE)];
const DIAGNOSTIC_REPORT: Type = object![must("kind", Type::OneOf(&["full", "unchanged"]))];
const IMPLEMENTATION_PARAMS: Type =
    object![DOCUMENT, AT_POSITION, WORK_DONE_TOKEN, PARTIAL_RESULT_TOKEN];
const INLAY_HINT_PARAMS: Type = object![DOCUMENT, IN_RANGE, WORK_DONE_TOKEN];
const SELECTED_COMPLETION_INFO: Type = object![IN_RANGE, must("text", TEXT)];
const INLINE_COMPLETION_CONTEXT: Type = object![
    must("triggerKind", INT),
    nullable("selectedCompletionInfo", SELECTED_COMPLETION_INFO)
];
const INLINE_COMPLETION_PARAMS: Type = object![
    must("context", INLINE_COMPLETION_CONTEXT),
    DOCUMENT,
    AT_POSITION,
    WORK_DONE_TOKEN
];
const INLINE_COMPLETION_ITEM: Type = object![
    must("insertText", ANY),
    nullable("filterText", TEXT),
    nullable("range", RANGE),
    nullable("command", COMMAND)
];
const INLINE_COMPLETION_LIST: Type = object![must("items", Type::Array(&INLINE_COMPLETION_ITEM))];
const INLINE_VALUE_CONTEXT: Type = object![must("frameId", INT), must("stoppedLocation", RANGE)];
const INLINE_VALUE_PARAMS: Type = object![
    DOCUMENT,
    IN_RANGE,
    must("context", INLINE_VALUE_CONTEXT),
    WORK_DONE_TOKEN
];
const LINKED_EDITING_RANGE_PARAMS: Type = object![DOCUMENT, AT_POSITION, WORK_DONE_TOKEN];
const LINKED_EDITING_RANGES: Type = object![
    must("ranges", Type::Array(&RANGE)),
    nullable("wordPattern", TEXT)
];
const MONIKER_PARAMS: Type = object![DOCUMENT, AT_POSITION, WORK_DONE_TOKEN, PARTIAL_RESULT_TOKEN];
const MONIKER: Type = object![
    must("scheme", TEXT),
    must("identifier", TEXT),
    must("unique", TEXT),
    nullable("kind", TEXT)
];
const DOCUMENT_ON_TYPE_FORMATTING_PARAMS: Type = object![
    DOCUMENT,
    AT_POSITION,
    must("ch", TEXT),
    must("options", OBJECT)
];
const CALL_HIERARCHY_PREPARE_PARAMS: Type = object![DOCUMENT, AT_POSITION, WORK_DONE_TOKEN];
const PREPARE_RENAME_PARAMS: Type = object![DOCUMENT, AT_POSITION, WORK_DONE_TOKEN];
const TYPE_HIERARCHY_PREPARE_PARAMS: Type = object![DOCUMENT, AT_POSITION, WORK_DONE_TOKEN];
const TYPE_HIERARCHY_ITEM: Type = object![
    must("name", TEXT),
    must("kind", INT),
    URI,
    IN_RANGE,
    must("selectionRange", RANGE),
    TAGS,
    nullable("detail", TEXT),
    DATA
];
const PUBLISH_DIAGNOSTICS_PARAMS: Type = object![
    URI,
    must("diagnostics", Type::Array(&DIAGNOSTIC)),
    nullable("version", INT)
];
const DOCUMENT_RANGE_FORMATTING_PARAMS: Type =
    object![DOCUMENT, IN_RANGE, must("options", OBJECT), WORK_DONE_TOKEN];
const DOCUMENT_RANGES_FORMATTING_PARAMS: Type = object![
    DOCUMENT,
    must("ranges", Type::Array(&RANGE)),
    must("options", OBJECT),
    WORK_DONE_TOKEN
];
const REFERENCE_CONTEXT: Type = object![must("includeDeclaration", BOOL)];
const REFERENCE_PARAMS: Type = object![
    must("context", REFERENCE_CONTEXT),
    DOCUMENT,
    AT_POSITION,
    WORK_DONE_TOKEN,
    PARTIAL_RESULT_TOKEN
];
const RENAME_PARAMS: Type = object![
    DOCUMENT,
    AT_POSITION,
    must("newName", TEXT),
    WORK_DONE_TOKEN
];
const SELECTION_RANGE_PARAMS: Type = object![
    DOCUMENT,
    must("positions", Type::Array(&POSITION)),
    WORK_DONE_TOKEN,
    PARTIAL_RESULT_TOKEN
];
const SELECTION_RANGE: Type = object![IN_RANGE, nullable("parent", OBJECT)];
const SEMANTIC_TOKENS_PARAMS: Type = object![DOCUMENT, WORK_DONE_TOKEN, PARTIAL_RESULT_TOKEN];
const SEMANTIC_TOKENS: Type = object![must("data", Type::Array(&INT)), nullable("resultId", TEXT)];
const SEMANTIC_TOKENS_DELTA_PARAMS: Type = object![
    DOCUMENT,
    must("previousResultId", TEXT),
    WORK_DONE_TOKEN,
    PARTIAL_RESULT_TOKEN
];
const SEMANTIC_TOKENS_RANGE_PARAMS: Type =
    object![DOCUMENT, IN_RANGE, WORK_DONE_TOKEN, PARTIAL_RESULT_TOKEN];
const PARAMETER_INFORMATION: Type = object![must("label", ANY), nullable("documentation", ANY)];
const SIGNATURE_INFORMATION: Type = object![
    must("label", TEXT),
    nullable("documentation", ANY),
    nullable("parameters", Type::Array(&PARAMETER_INFORMATION)),
    nullable("activeParameter", INT)
];
const SIGNATURE_HELP: Type = object![
    must("signatures", Type::Array(&SIGNATURE_INFORMATION)),
    nullable("activeSignature", UINT),
    nullable("activeParameter", INT)
];
const SIGNATURE_HELP_CONTEXT: Type = object![
    must("triggerKind", INT),
    must("isRetrigger", BOOL),
    nullable("triggerCharacter", TEXT),
    nullable("activeSignatureHelp", SIGNATURE_HELP)
];
const SIGNATURE_HELP_PARAMS: Type = object![
    DOCUMENT,
    AT_POSITION,
    nullable("context", SIGNATURE_HELP_CONTEXT),
    WORK_DONE_TOKEN
];
const TYPE_DEFINITION_PARAMS: Type =
    object![DOCUMENT, AT_POSITION, WORK_DONE_TOKEN, PARTIAL_RESULT_TOKEN];
const WILL_SAVE_TEXT_DOCUMENT_PARAMS: Type = object![DOCUMENT, must("reason", INT)];
const TYPE_HIERARCHY_SUBTYPES_PARAMS: Type = object![
    must("item", TYPE_HIERARCHY_ITEM),
    WORK_DONE_TOKEN,
    PARTIAL_RESULT_TOKEN
];
const TYPE_HIERARCHY_SUPERTYPES_PARAMS: Type = object![
    must("item", TYPE_HIERARCHY_ITEM),
    WORK_DONE_TOKEN,
    PARTIAL_RESULT_TOKEN
];
const LOG_MESSAGE_PARAMS: Type = object![must("type", INT), must("message", TEXT)];
const SHOW_DOCUMENT_PARAMS: Type = object![
    URI,
    nullable("external", BOOL),
    nullable("takeFocus", BOOL),
    nullable("selection", RANGE)
];
const SHOW_DOCUMENT_RESULT: Type = object![must("success", BOOL)];
const SHOW_MESSAGE_PARAMS: Type = object![must("type", INT), must("message", TEXT)];
const MESSAGE_ACTION_ITEM: Type = object![must("title", TEXT)];
const SHOW_MESSAGE_REQUEST_PARAMS: Type = object![
    must("type", INT),
    must("message", TEXT),
    nullable("actions", Type::Array(&MESSAGE_ACTION_ITEM))
];
const WORK_DONE_PROGRESS_CANCEL_PARAMS: Type = object![must("token", INT_OR_TEXT)];
const WORK_DONE_PROGRESS_CREATE_PARAMS: Type = object![must("token", INT_OR_TEXT)];
const WORKSPACE_EDIT_METADATA: Type = object![nullable("isRefactoring", BOOL)];
const APPLY_WORKSPACE_EDIT_PARAMS: Type = object![
    must("edit", WORKSPACE_EDIT),
    nullable("label", TEXT),
    nullable("metadata", WORKSPACE_EDIT_METADATA)
];
const APPLY_WORKSPACE_EDIT_RESULT: Type = object![
    must("applied", BOOL).marked(&[Mark::Fails(&["false"])]),
    nullable("failureReason", TEXT),
    nullable("failedChange", UINT)
];
const CONFIGURATION_ITEM: Type = object![nullable("scopeUri", TEXT), nullable("section", TEXT)];
const CONFIGURATION_PARAMS: Type = object![must("items", Type::Array(&CONFIGURATION_ITEM))];
const PREVIOUS_RESULT_ID: Type = object![URI, must("value", TEXT)];
const WORKSPACE_DIAGNOSTIC_PARAMS: Type = object![
    must("previousResultIds", Type::Array(&PREVIOUS_RESULT_ID)),
    nullable("identifier", TEXT),
    WORK_DONE_TOKEN,
    PARTIAL_RESULT_TOKEN
];
const WORKSPACE_DIAGNOSTIC_REPORT: Type = object![must("items", ARRAY)];
const DID_CHANGE_CONFIGURATION_PARAMS: Type = object![must("settings", ANY)];
const FILE_EVENT: Type = object![URI, must("type", INT)];
const DID_CHANGE_WATCHED_FILES_PARAMS: Type = object![must("changes", Type::Array(&FILE_EVENT))];
const WORKSPACE_FOLDERS_CHANGE_EVENT: Type = object![
    must("added", Type::Array(&WORKSPACE_FOLDER)),
    must("removed", Type::Array(&WORKSPACE_FOLDER))
];
const DID_CHANGE_WORKSPACE_FOLDERS_PARAMS: Type =
    object![must("event", WORKSPACE_FOLDERS_CHANGE_EVENT)];
const FILE_CREATE: Type = object![URI];
const CREATE_FILES_PARAMS: Type = object![must("files", Type::Array(&FILE_CREATE))];
const FILE_DELETE: Type = object![URI];
const DELETE_FILES_PARAMS: Type = object![must("files", Type::Array(&FILE_DELETE))];
const FILE_RENAME: Type = object![must("oldUri", TEXT), must("newUri", TEXT)];
const RENAME_FILES_PARAMS: Type = object![must("files", Type::Array(&FILE_RENAME))];
const EXECUTE_COMMAND_PARAMS: Type = object![
    must("command", TEXT).marked(&[Mark::Name]),
    nullable("arguments", ARRAY),
    WORK_DONE_TOKEN
];
const WORKSPACE_SYMBOL_PARAMS: Type =
    object![must("query", TEXT), WORK_DONE_TOKEN, PARTIAL_RESULT_TOKEN];
const WORKSPACE_SYMBOL: Type = object![
    must("location", ANY),
    must("name", TEXT),
    must("kind", INT),
    DATA,
    TAGS,
    nullable("containerName", TEXT)
];
const TEXT_DOCUMENT_CONTENT_PARAMS: Type = object![URI];
const TEXT_DOCUMENT_CONTENT_RESULT: Type = object![must("text", TEXT)];
const TEXT_DOCUMENT_CONTENT_REFRESH_PARAMS: Type = object![URI];

/// All methods.
pub(super) static METHODS: &[MessageSchema] = &[
message("$/cancelRequest", ToServer).both_ways().of(CANCEL_PARAMS).words("id"),
message("$/logTrace", ToClient).of(LOG_TRACE_PARAMS).words("message"),
message("$/progress", ToServer).both_ways().of(PROGRESS_PARAMS).words("token value"),
message("$/setTrace", ToServer).of(SET_TRACE_PARAMS).words("value"),
request("callHierarchy/incomingCalls", ToServer).of(CALL_HIERARCHY_INCOMING_CALLS_PARAMS).words("item.name item.kind item.uri item.range.start.line item.range.start.character item.range.end.line item.range.end.character item.selectionRange.start.line item.selectionRange.start.character item.selectionRange.end.line item.selectionRange.end.character").result(Type::Either(&[Type::Array(&CALL_HIERARCHY_INCOMING_CALL), Type::Null])),
request("callHierarchy/outgoingCalls", ToServer).of(CALL_HIERARCHY_OUTGOING_CALLS_PARAMS).words("item.name item.kind item.uri item.range.start.line item.range.start.character item.range.end.line item.range.end.character item.selectionRange.start.line item.selectionRange.start.character item.selectionRange.end.line item.selectionRange.end.character").result(Type::Either(&[Type::Array(&CALL_HIERARCHY_OUTGOING_CALL), Type::Null])),
request("client/registerCapability", ToClient).of(REGISTRATION_PARAMS).words("registrations").result(ANY),
request("client/unregisterCapability", ToClient).of(UNREGISTRATION_PARAMS).words("unregisterations").result(ANY),
request("codeAction/resolve", ToServer).of(CODE_ACTION).words("title").result(CODE_ACTION),
request("codeLens/resolve", ToServer).of(CODE_LENS).words("range.start.line range.start.character range.end.line range.end.character").result(CODE_LENS),
request("completionItem/resolve", ToServer).of(COMPLETION_ITEM).words("label").result(COMPLETION_ITEM),
request("documentLink/resolve", ToServer).of(DOCUMENT_LINK).words("range.start.line range.start.character range.end.line range.end.character").result(DOCUMENT_LINK),
message("exit", ToServer).words(""),
request("initialize", ToServer).of(INITIALIZE_PARAMS).words("capabilities").result(INITIALIZE_RESULT),
message("initialized", ToServer).of(OBJECT).words(""),
request("inlayHint/resolve", ToServer).of(INLAY_HINT).words("position.line position.character label").result(INLAY_HINT).releases(SINCE_3_17),
message("notebookDocument/didChange", ToServer).of(DID_CHANGE_NOTEBOOK_DOCUMENT_PARAMS).words("notebookDocument.version notebookDocument.uri"),
message("notebookDocument/didClose", ToServer).of(DID_CLOSE_NOTEBOOK_DOCUMENT_PARAMS).words("notebookDocument.uri cellTextDocuments").releases(SINCE_3_17),
message("notebookDocument/didOpen", ToServer).of(DID_OPEN_NOTEBOOK_DOCUMENT_PARAMS).words("notebookDocument.uri notebookDocument.notebookType notebookDocument.version notebookDocument.cells cellTextDocuments").releases(SINCE_3_17),
message("notebookDocument/didSave", ToServer).of(DID_SAVE_NOTEBOOK_DOCUMENT_PARAMS).words("notebookDocument.uri").releases(SINCE_3_17),
request("shutdown", ToServer).words("").result(ANY),
message("telemetry/event", ToClient).words(""),
request("textDocument/codeAction", ToServer).of(CODE_ACTION_PARAMS).words("textDocument.uri range.start.line range.start.character range.end.line range.end.character context.diagnostics").result(Type::Either(&[ARRAY, Type::Null])),
request("textDocument/codeLens", ToServer).of(CODE_LENS_PARAMS).words("textDocument.uri").result(Type::Either(&[Type::Array(&CODE_LENS), Type::Null])),
request("textDocument/colorPresentation", ToServer).of(COLOR_PRESENTATION_PARAMS).words("textDocument.uri color.red color.green color.blue color.alpha range.start.line range.start.character range.end.line range.end.character").result(Type::Array(&COLOR_PRESENTATION)),
request("textDocument/completion", ToServer).of(COMPLETION_PARAMS).words("textDocument.uri position.line position.character").result(Type::Either(&[COMPLETION_LIST, Type::Array(&COMPLETION_ITEM), Type::Null])),
request("textDocument/declaration", ToServer).of(DECLARATION_PARAMS).words("textDocument.uri position.line position.character").result(Type::Either(&[ARRAY, LOCATION, Type::Null])),
request("textDocument/definition", ToServer).of(DEFINITION_PARAMS).words("textDocument.uri position.line position.character").result(Type::Either(&[ARRAY, LOCATION, Type::Null])),
request("textDocument/diagnostic", ToServer).of(DOCUMENT_DIAGNOSTIC_PARAMS).words("textDocument.uri").result(DIAGNOSTIC_REPORT).releases(SINCE_3_17),
message("textDocument/didChange", ToServer).of(DID_CHANGE_TEXT_DOCUMENT_PARAMS).words("textDocument.version textDocument.uri contentChanges"),
message("textDocument/didClose", ToServer).of(DID_CLOSE_TEXT_DOCUMENT_PARAMS).words("textDocument.uri"),
message("textDocument/didOpen", ToServer).of(DID_OPEN_TEXT_DOCUMENT_PARAMS).words("textDocument.uri textDocument.languageId textDocument.version textDocument.text"),
message("textDocument/didSave", ToServer).of(DID_SAVE_TEXT_DOCUMENT_PARAMS).words("textDocument.uri"),
request("textDocument/documentColor", ToServer).of(DOCUMENT_COLOR_PARAMS).words("textDocument.uri").result(Type::Array(&COLOR_INFORMATION)),
request("textDocument/documentHighlight", ToServer).of(DOCUMENT_HIGHLIGHT_PARAMS).words("textDocument.uri position.line position.character").result(Type::Either(&[Type::Array(&DOCUMENT_HIGHLIGHT), Type::Null])),
request("textDocument/documentLink", ToServer).of(DOCUMENT_LINK_PARAMS).words("textDocument.uri").result(Type::Either(&[Type::Array(&DOCUMENT_LINK), Type::Null])),
request("textDocument/documentSymbol", ToServer).of(DOCUMENT_SYMBOL_PARAMS).words("textDocument.uri").result(Type::Either(&[ARRAY, Type::Null])),
request("textDocument/foldingRange", ToServer).of(FOLDING_RANGE_PARAMS).words("textDocument.uri").result(Type::Either(&[Type::Array(&FOLDING_RANGE), Type::Null])),
request("textDocument/formatting", ToServer).of(DOCUMENT_FORMATTING_PARAMS).words("textDocument.uri options.tabSize options.insertSpaces").result(Type::Either(&[Type::Array(&TEXT_EDIT), Type::Null])),
request("textDocument/hover", ToServer).of(HOVER_PARAMS).words("textDocument.uri position.line position.character").result(Type::Either(&[HOVER, Type::Null])),
request("textDocument/implementation", ToServer).of(IMPLEMENTATION_PARAMS).words("textDocument.uri position.line position.character").result(Type::Either(&[ARRAY, LOCATION, Type::Null])),
request("textDocument/inlayHint", ToServer).of(INLAY_HINT_PARAMS).words("textDocument.uri range.start.line range.start.character range.end.line range.end.character").result(Type::Either(&[Type::Array(&INLAY_HINT), Type::Null])).releases(SINCE_3_17),
request("textDocument/inlineCompletion", ToServer).of(INLINE_COMPLETION_PARAMS).words("context.triggerKind textDocument.uri position.line position.character").result(Type::Either(&[INLINE_COMPLETION_LIST, Type::Array(&INLINE_COMPLETION_ITEM), Type::Null])).releases(SINCE_3_18),
request("textDocument/inlineValue", ToServer).of(INLINE_VALUE_PARAMS).words("textDocument.uri range.start.line range.start.character range.end.line range.end.character context.frameId context.stoppedLocation.start.line context.stoppedLocation.start.character context.stoppedLocation.end.line context.stoppedLocation.end.character").result(Type::Either(&[ARRAY, Type::Null])).releases(SINCE_3_17),
request("textDocument/linkedEditingRange", ToServer).of(LINKED_EDITING_RANGE_PARAMS).words("textDocument.uri position.line position.character").result(Type::Either(&[LINKED_EDITING_RANGES, Type::Null])),
request("textDocument/moniker", ToServer).of(MONIKER_PARAMS).words("textDocument.uri position.line position.character").result(Type::Either(&[Type::Array(&MONIKER), Type::Null])),
request("textDocument/onTypeFormatting", ToServer).of(DOCUMENT_ON_TYPE_FORMATTING_PARAMS).words("textDocument.uri position.line position.character ch options.tabSize options.insertSpaces").result(Type::Either(&[Type::Array(&TEXT_EDIT), Type::Null])),
request("textDocument/prepareCallHierarchy", ToServer).of(CALL_HIERARCHY_PREPARE_PARAMS).words("textDocument.uri position.line position.character").result(Type::Either(&[Type::Array(&CALL_HIERARCHY_ITEM), Type::Null])),
request("textDocument/prepareRename", ToServer).of(PREPARE_RENAME_PARAMS).words("textDocument.uri position.line position.character").result(Type::Either(&[OBJECT, Type::Null])),
request("textDocument/prepareTypeHierarchy", ToServer).of(TYPE_HIERARCHY_PREPARE_PARAMS).words("textDocument.uri position.line position.character").result(Type::Either(&[Type::Array(&TYPE_HIERARCHY_ITEM), Type::Null])).releases(SINCE_3_17),
message("textDocument/publishDiagnostics", ToClient).of(PUBLISH_DIAGNOSTICS_PARAMS).words("uri diagnostics"),
request("textDocument/rangeFormatting", ToServer).of(DOCUMENT_RANGE_FORMATTING_PARAMS).words("textDocument.uri range.start.line range.start.character range.end.line range.end.character options.tabSize options.insertSpaces").result(Type::Either(&[Type::Array(&TEXT_EDIT), Type::Null])),
request("textDocument/rangesFormatting", ToServer).of(DOCUMENT_RANGES_FORMATTING_PARAMS).words("textDocument.uri ranges options.tabSize options.insertSpaces").result(Type::Either(&[Type::Array(&TEXT_EDIT), Type::Null])).releases(SINCE_3_18),
request("textDocument/references", ToServer).of(REFERENCE_PARAMS).words("context.includeDeclaration textDocument.uri position.line position.character").result(Type::Either(&[Type::Array(&LOCATION), Type::Null])),
request("textDocument/rename", ToServer).of(RENAME_PARAMS).words("textDocument.uri position.line position.character newName").result(Type::Either(&[Type::Null, WORKSPACE_EDIT])),
request("textDocument/selectionRange", ToServer).of(SELECTION_RANGE_PARAMS).words("textDocument.uri positions").result(Type::Either(&[Type::Array(&SELECTION_RANGE), Type::Null])),
request("textDocument/semanticTokens/full", ToServer).of(SEMANTIC_TOKENS_PARAMS).words("textDocument.uri").result(Type::Either(&[SEMANTIC_TOKENS, Type::Null])),
request("textDocument/semanticTokens/full/delta", ToServer).of(SEMANTIC_TOKENS_DELTA_PARAMS).words("textDocument.uri previousResultId").result(Type::Either(&[OBJECT, Type::Null])),
request("textDocument/semanticTokens/range", ToServer).of(SEMANTIC_TOKENS_RANGE_PARAMS).words("textDocument.uri range.start.line range.start.character range.end.line range.end.character").result(Type::Either(&[SEMANTIC_TOKENS, Type::Null])),
request("textDocument/signatureHelp", ToServer).of(SIGNATURE_HELP_PARAMS).words("textDocument.uri position.line position.character").result(Type::Either(&[SIGNATURE_HELP, Type::Null])),
request("textDocument/typeDefinition", ToServer).of(TYPE_DEFINITION_PARAMS).words("textDocument.uri position.line position.character").result(Type::Either(&[ARRAY, LOCATION, Type::Null])),
message("textDocument/willSave", ToServer).of(WILL_SAVE_TEXT_DOCUMENT_PARAMS).words("textDocument.uri reason"),
request("textDocument/willSaveWaitUntil", ToServer).of(WILL_SAVE_TEXT_DOCUMENT_PARAMS).words("textDocument.uri reason").result(Type::Either(&[Type::Array(&TEXT_EDIT), Type::Null])),
request("typeHierarchy/subtypes", ToServer).of(TYPE_HIERARCHY_SUBTYPES_PARAMS).words("item.name item.kind item.uri item.range.start.line item.range.start.character item.range.end.line item.range.end.character item.selectionRange.start.line item.selectionRange.start.character item.selectionRange.end.line item.selectionRange.end.character").result(Type::Either(&[Type::Array(&TYPE_HIERARCHY_ITEM), Type::Null])).releases(SINCE_3_17),
request("typeHierarchy/supertypes", ToServer).of(TYPE_HIERARCHY_SUPERTYPES_PARAMS).words("item.name item.kind item.uri item.range.start.line item.range.start.character item.range.end.line item.range.end.character item.selectionRange.start.line item.selectionRange.start.character item.selectionRange.end.line item.selectionRange.end.character").result(Type::Either(&[Type::Array(&TYPE_HIERARCHY_ITEM), Type::Null])).releases(SINCE_3_17),
message("window/logMessage", ToClient).of(LOG_MESSAGE_PARAMS).words("type message"),
request("window/showDocument", ToClient).of(SHOW_DOCUMENT_PARAMS).words("uri").result(SHOW_DOCUMENT_RESULT),
message("window/showMessage", ToClient).of(SHOW_MESSAGE_PARAMS).words("type message"),
request("window/showMessageRequest", ToClient).of(SHOW_MESSAGE_REQUEST_PARAMS).words("type message").result(Type::Either(&[MESSAGE_ACTION_ITEM, Type::Null])),
message("window/workDoneProgress/cancel", ToServer).of(WORK_DONE_PROGRESS_CANCEL_PARAMS).words("token"),
request("window/workDoneProgress/create", ToClient).of(WORK_DONE_PROGRESS_CREATE_PARAMS).words("token").result(ANY),
request("workspace/applyEdit", ToClient).of(APPLY_WORKSPACE_EDIT_PARAMS).words("").result(APPLY_WORKSPACE_EDIT_RESULT),
request("workspace/codeLens/refresh", ToClient).words("").result(ANY),
request("workspace/configuration", ToClient).of(CONFIGURATION_PARAMS).words("items").result(ARRAY),
request("workspace/diagnostic", ToServer).of(WORKSPACE_DIAGNOSTIC_PARAMS).words("previousResultIds").result(WORKSPACE_DIAGNOSTIC_REPORT).releases(SINCE_3_17),
request("workspace/diagnostic/refresh", ToClient).words("").result(ANY).releases(SINCE_3_17),
message("workspace/didChangeConfiguration", ToServer).of(DID_CHANGE_CONFIGURATION_PARAMS).words("settings"),
message("workspace/didChangeWatchedFiles", ToServer).of(DID_CHANGE_WATCHED_FILES_PARAMS).words("changes"),
message("workspace/didChangeWorkspaceFolders", ToServer).of(DID_CHANGE_WORKSPACE_FOLDERS_PARAMS).words("event.added event.removed"),
message("workspace/didCreateFiles", ToServer).of(CREATE_FILES_PARAMS).words("files"),
message("workspace/didDeleteFiles", ToServer).of(DELETE_FILES_PARAMS).words("files"),
message("workspace/didRenameFiles", ToServer).of(RENAME_FILES_PARAMS).words("files"),
request("workspace/executeCommand", ToServer).of(EXECUTE_COMMAND_PARAMS).words("command").result(ANY),
request("workspace/foldingRange/refresh", ToClient).words("").result(ANY).releases(SINCE_3_18),
request("workspace/inlayHint/refresh", ToClient).words("").result(ANY).releases(SINCE_3_17),
request("workspace/inlineValue/refresh", ToClient).words("").result(ANY).releases(SINCE_3_17),
request("workspace/semanticTokens/refresh", ToClient).words("").result(ANY),
request("workspace/symbol", ToServer).of(WORKSPACE_SYMBOL_PARAMS).words("query").result(Type::Either(&[ARRAY, Type::Null])).releases(SINCE_3_17),
request("workspace/textDocumentContent", ToServer).of(TEXT_DOCUMENT_CONTENT_PARAMS).words("uri").result(TEXT_DOCUMENT_CONTENT_RESULT).releases(SINCE_3_18),
request("workspace/textDocumentContent/refresh", ToClient).of(TEXT_DOCUMENT_CONTENT_REFRESH_PARAMS).words("uri").result(ANY).releases(SINCE_3_18),
request("workspace/willCreateFiles", ToServer).of(CREATE_FILES_PARAMS).words("files").result(Type::Either(&[Type::Null, WORKSPACE_EDIT])),
request("workspace/willDeleteFiles", ToServer).of(DELETE_FILES_PARAMS).words("files").result(Type::Either(&[Type::Null, WORKSPACE_EDIT])),
request("workspace/willRenameFiles", ToServer).of(RENAME_FILES_PARAMS).words("files").result(Type::Either(&[Type::Null, WORKSPACE_EDIT])),
request("workspace/workspaceFolders", ToClient).words("").result(Type::Either(&[Type::Array(&WORKSPACE_FOLDER), Type::Null])),
request("workspaceSymbol/resolve", ToServer).of(WORKSPACE_SYMBOL).words("location name kind").result(WORKSPACE_SYMBOL).releases(SINCE_3_17),
];

/// The capability of the receiver that a method needs, by the start of its name.
#[cfg(feature = "rules")]
pub(in super::super) const NEEDS: &[(&str, &str)] = &[
    ("workspace/workspaceFolders", "workspace.workspaceFolders"),
    (
        "workspace/textDocumentContent/refresh",
        "workspace.textDocumentContent",
    ),
    ("workspace/symbol", "workspaceSymbolProvider"),
    (
        "workspace/semanticTokens/refresh",
        "workspace.semanticTokens",
    ),
    ("workspace/inlineValue/refresh", "workspace.inlineValue"),
    ("workspace/inlayHint/refresh", "workspace.inlayHint"),
    ("workspace/foldingRange/refresh", "workspace.foldingRange"),
    ("workspace/executeCommand", "executeCommandProvider"),
    ("workspace/diagnostic/refresh", "workspace.diagnostics"),
    ("workspace/diagnostic", "diagnosticProvider"),
    ("workspace/configuration", "workspace.configuration"),
    ("workspace/codeLens/refresh", "workspace.codeLens"),
    ("workspace/applyEdit", "workspace.applyEdit"),
    ("window/workDoneProgress/create", "window.workDoneProgress"),
    ("window/showDocument", "window.showDocument"),
    ("textDocument/typeDefinition", "typeDefinitionProvider"),
    ("textDocument/signatureHelp", "signatureHelpProvider"),
    ("textDocument/semanticTokens/", "semanticTokensProvider"),
    ("textDocument/selectionRange", "selectionRangeProvider"),
    ("textDocument/rename", "renameProvider"),
    ("textDocument/references", "referencesProvider"),
    (
        "textDocument/rangesFormatting",
        "documentRangeFormattingProvider",
    ),
    (
        "textDocument/rangeFormatting",
        "documentRangeFormattingProvider",
    ),
    ("textDocument/prepareTypeHierarchy", "typeHierarchyProvider"),
    ("textDocument/prepareRename", "renameProvider"),
    ("textDocument/prepareCallHierarchy", "callHierarchyProvider"),
    (
        "textDocument/onTypeFormatting",
        "documentOnTypeFormattingProvider",
    ),
    ("textDocument/moniker", "monikerProvider"),
    (
        "textDocument/linkedEditingRange",
        "linkedEditingRangeProvider",
    ),
    ("textDocument/inlineValue", "inlineValueProvider"),
    ("textDocument/inlineCompletion", "inlineCompletionProvider"),
    ("textDocument/inlayHint", "inlayHintProvider"),
    ("textDocument/implementation", "implementationProvider"),
    ("textDocument/hover", "hoverProvider"),
    ("textDocument/formatting", "documentFormattingProvider"),
    ("textDocument/foldingRange", "foldingRangeProvider"),
    ("textDocument/documentSymbol", "documentSymbolProvider"),
    ("textDocument/documentLink", "documentLinkProvider"),
    (
        "textDocument/documentHighlight",
        "documentHighlightProvider",
    ),
    ("textDocument/documentColor", "colorProvider"),
    ("textDocument/diagnostic", "diagnosticProvider"),
    ("textDocument/definition", "definitionProvider"),
    ("textDocument/declaration", "declarationProvider"),
    ("textDocument/completion", "completionProvider"),
    ("textDocument/colorPresentation", "colorProvider"),
    ("textDocument/codeLens", "codeLensProvider"),
    ("textDocument/codeAction", "codeActionProvider"),
];
