"""Writes src/protocol/lsp/schema/methods.rs: the methods of the Language Server Protocol 3.18.0.

usage: pip install lsprotocol==2025.0.0 && python3 tests/peers/lsp_methods.py > src/protocol/lsp/schema/methods.rs && cargo fmt

lsprotocol is made from metaModel.json, the machine-readable form of the specification. Types are those of params and
results; options and capabilities are any object, and so are alternatives of which several are objects.
"""
import enum, re, typing
import attrs
from lsprotocol import types as lsp

consts, order = {}, []
MARKS = {
    ("ExecuteCommandParams", "command"): ".marked(&[Mark::Name])",
    ("ApplyWorkspaceEditResult", "applied"): '.marked(&[Mark::Fails(&["false"])])',
}
# Members that many types have.
MEMBERS = {
    'must("uri", TEXT)': "URI",
    'must("textDocument", TEXT_DOCUMENT_IDENTIFIER)': "DOCUMENT",
    'must("position", POSITION)': "AT_POSITION",
    'must("range", RANGE)': "IN_RANGE",
    'nullable("workDoneToken", INT_OR_TEXT)': "WORK_DONE_TOKEN",
    'nullable("partialResultToken", INT_OR_TEXT)': "PARTIAL_RESULT_TOKEN",
    'nullable("data", ANY)': "DATA",
    'nullable("tags", Type::Array(&INT))': "TAGS",
}


def camel(name):
    first, *rest = name.rstrip("_").split("_")
    return first + "".join(part.capitalize() for part in rest)


def upper(name):
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).upper()


def ty(hint, field=None):
    origin = typing.get_origin(hint)
    if origin is typing.Union:
        kinds = [arg for arg in typing.get_args(hint) if arg is not type(None)]
        names = list(dict.fromkeys(ty(kind, field) for kind in kinds))
        if len(names) == 1: return names[0]
        if names == ["INT", "TEXT"]: return "INT_OR_TEXT"
        return f"Type::Either(&[{', '.join(names)}])" if set(names) <= {"TEXT", "INT", "BOOL"} else "ANY"
    if origin is typing.Literal: return "TEXT"
    if origin is tuple: return "ARRAY"
    if origin is not None and issubclass(origin, typing.Sequence):
        (item,) = typing.get_args(hint)
        item = ty(item)
        return "ARRAY" if item == "ANY" else f"Type::Array(&{item})"
    if origin is not None: return "OBJECT"
    if hint is bool: return "BOOL"
    if hint is int: return "UINT" if field is not None and "uinteger" in repr(field.validator) else "INT"
    if hint is float: return "Type::Number"
    if isinstance(hint, type) and issubclass(hint, enum.Enum): return "INT" if issubclass(hint, int) else "TEXT"
    if hint is str: return "TEXT"
    if attrs.has(hint if isinstance(hint, type) else object): return struct(hint)
    return "ANY"


def members(cls):
    hints = typing.get_type_hints(cls, vars(lsp))
    return [(field, hints[field.name]) for field in attrs.fields(cls)]


def struct(cls):
    name = cls.__name__
    if name.endswith(("Capabilities", "Options")) or not members(cls): return "OBJECT"
    const = upper(name)
    if const not in consts:
        consts[const] = None
        lines = []
        for field, hint in members(cls):
            presence = "must" if field.default is attrs.NOTHING else "nullable"
            member = f'{presence}("{camel(field.name)}", {ty(hint, field)})'
            lines.append(MEMBERS.get(member, member) + MARKS.get((name, field.name), ""))
        consts[const] = f"object![{', '.join(lines)}]"
        order.append(const)
    return const if consts[const] else "OBJECT"


def words(cls, path=""):
    found = []
    for field, hint in members(cls):
        if field.default is not attrs.NOTHING: continue
        name = path + camel(field.name)
        inner = attrs.has(hint) if isinstance(hint, type) else False
        found += words(hint, name + ".") if inner and not hint.__name__.endswith("Capabilities") else [name]
    return found


def result(cls):
    hint = typing.get_type_hints(cls, vars(lsp)).get("result", type(None))
    kinds = typing.get_args(hint) if typing.get_origin(hint) is typing.Union else (hint,)
    names = list(dict.fromkeys("Type::Null" if kind is type(None) else ty(kind) for kind in kinds))
    if names == ["Type::Null"] or "ANY" in names: return "ANY"
    # A value is compared with the first type that is an array, or an object.
    for any_of, alike in (("ARRAY", [n for n in names if "Array" in n or n == "ARRAY"]), ("OBJECT", [n for n in names if n in consts])):
        if len(alike) > 1: names = [n for n in names if n not in alike] + [any_of]
    return names[0] if len(names) == 1 else f"Type::Either(&[{', '.join(sorted(names))}])"


# The capability of the receiver that a method needs, where it is not NAMEProvider.
NEEDS = {
    "textDocument/colorPresentation": "colorProvider", "textDocument/documentColor": "colorProvider",
    "textDocument/formatting": "documentFormattingProvider", "textDocument/onTypeFormatting": "documentOnTypeFormattingProvider",
    "textDocument/prepareCallHierarchy": "callHierarchyProvider", "textDocument/prepareRename": "renameProvider",
    "textDocument/prepareTypeHierarchy": "typeHierarchyProvider", "textDocument/rangeFormatting": "documentRangeFormattingProvider",
    "textDocument/rangesFormatting": "documentRangeFormattingProvider", "textDocument/semanticTokens/": "semanticTokensProvider",
    "window/showDocument": "window.showDocument", "window/workDoneProgress/create": "window.workDoneProgress",
    "workspace/applyEdit": "workspace.applyEdit", "workspace/configuration": "workspace.configuration",
    "workspace/diagnostic": "diagnosticProvider", "workspace/executeCommand": "executeCommandProvider",
    "workspace/symbol": "workspaceSymbolProvider", "workspace/workspaceFolders": "workspace.workspaceFolders",
}


def need(method):
    if method.endswith("/refresh"):
        name = method.split("/")[1]
        return "workspace." + {"diagnostic": "diagnostics"}.get(name, name)
    if "semanticTokens" in method or method in NEEDS: return NEEDS.get(method)
    # The two requests before a document is saved are options of textDocumentSync.
    if method.startswith("textDocument/") and "willSave" not in method: return method.split("/")[1] + "Provider"


rows, needs = [], dict(NEEDS)
for method, (kind, response, params, _) in sorted(lsp.METHOD_TO_TYPES.items()):
    way = lsp.message_direction(method)
    since = re.search(r"@since 3\.(\d+)", kind.__doc__ or "")
    since = int(since.group(1)) if since else 0
    row = f'{"request" if response else "message"}("{method}", {"ToClient" if way == "serverToClient" else "ToServer"})'
    if way == "both": row += ".both_ways()"
    if isinstance(params, type) and attrs.has(params):
        row += f".of({struct(params)}).words(\"{' '.join(words(params))}\")"
    else:
        row += '.words("")'
    if response: row += f".result({result(response)})"
    if since >= 17: row += f".releases(SINCE_3_{since})"
    about = re.sub(r"\{@link (\w+)[^}]*\}|`", lambda m: m.group(1) or "", kind.__doc__ or "")
    about = re.split(r"(?<=[a-z])\. |\n\n|, the response|\. The request", " ".join(about.split("\n\n")[0].split()))[0]
    rows.append(row + f',')
    if response and need(method): needs[method] = need(method)
print("// Long: data.")
print("//! The methods of version 3.18.0, made by `tests/peers/lsp_methods.py`.\n")
print("use super::{SINCE_3_17, SINCE_3_18};")
print("use crate::protocol::Direction::{ToClient, ToServer};")
print("use crate::protocol::schema::{ANY, ARRAY, BOOL, INT, Mark, Member, MessageSchema, OBJECT, TEXT, Type, UINT, message, must, nullable, object, request};\n")
used, found = set(), set(re.findall(r"[A-Z][A-Z_]+", " ".join(rows)))
while found - used:
    used |= found
    found = {name for const in used & set(order) for name in re.findall(r"[A-Z][A-Z_]+", consts[const])}
print("const INT_OR_TEXT: Type = Type::Either(&[INT, TEXT]);")
for member, name in MEMBERS.items():
    print(f"const {name}: Member = {member}{'.marked(&[Mark::Name])' if name == 'URI' else ''};")
for const in order:
    if const in used: print(f"const {const}: Type = {consts[const]};")
print("\n/// All methods.\npub(super) static METHODS: &[MessageSchema] = &[")
print("\n".join(rows))
print("];")
print("\n/// The capability of the receiver that a method needs, by the start of its name.")
print('#[cfg(feature = "rules")]')
print("pub(in super::super) const NEEDS: &[(&str, &str)] = &[")
# The longest start that fits comes first.
for method, path in sorted(needs.items(), reverse=True): print(f'("{method}", "{path}"),')
print("];")
