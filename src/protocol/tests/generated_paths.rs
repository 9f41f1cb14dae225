//! Checks that every path of a generated value exists in a message of the fixtures.

use super::super::registry;
use crate::diff::{Ignore, MessageName};
use serde_json::Value;
use std::fmt::Write as _;
use std::path::Path;

/// Calls `visit` with every path in a value.
fn paths(path: &str, value: &Value, visit: &mut dyn FnMut(&str)) {
    visit(path);
    match value {
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                paths(&format!("{path}[{at}]"), item, visit);
            }
        }
        Value::Object(members) => {
            for (key, member) in members {
                let key = serde_json::to_string(key).expect("JSON");
                paths(&format!("{path}[{key}]"), member, visit);
            }
        }
        _ => {}
    }
}

#[test]
fn every_generated_path_exists_in_a_fixture() {
    let mut astray = String::new();
    for protocol in registry::all() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        let folder = folder.join("fixtures").join(protocol.name());
        let mut generated = protocol.marks().generated.clone();
        generated.retain(|one| one.fresh.is_some());
        assert!(!generated.is_empty());
        for one in &generated {
            if let Some((kind, _)) = one.path.split_once(':') {
                let kind = kind.split(' ').next().unwrap_or_default();
                let known = protocol.kinds().iter().any(|k| k.name == kind);
                assert!(known, "{}: {} is no kind", protocol.name(), kind);
            }
        }
        for file in std::fs::read_dir(folder).expect("a folder of fixtures") {
            let file = file.expect("a file").path();
            if file.extension().is_none_or(|e| e != "json") {
                continue;
            }
            for line in std::fs::read_to_string(&file).expect("a file").lines() {
                let Ok(line) = serde_json::from_str::<Value>(line) else {
                    continue;
                };
                let name = MessageName {
                    kind: line["kind"].as_str().unwrap_or_default(),
                    subject: line["subject"].as_str(),
                    parts: &[],
                };
                paths("", &line["message"], &mut |path| {
                    let path: crate::path::Path = path.parse().expect("a path");
                    generated.retain(|one| !Ignore::new([one.path.as_ref()]).covers(name, &path));
                });
            }
        }
        for one in generated {
            let _ = writeln!(astray, "{}: {}", protocol.name(), one.path);
        }
    }
    // No fixture has these.
    insta::assert_snapshot!(astray, @r#"
    saikuro: batch:batch_items[*].capability
    saikuro: batch:batch_items[*].cap
    stepflow: response:result.details.batch_id
    stepflow: response:result.details.created_at
    stepflow: response:result.details.completed_at
    stepflow: response:result.completedAt
    stepflow: response:result.results[*].completedAt
    mcp: batch:[*].id
    mcp: params._meta["io.modelcontextprotocol/related-task"].taskId
    mcp: response:result._meta["io.modelcontextprotocol/related-task"].taskId
    mcp: response:result.content.toolUseId
    mcp: response:result.content[*].toolUseId
    lsp: response */resolve:result.data.**
    lsp: response:result.**.diagnostics[*].data.**
    lsp: response:result.items[*].items[*].data.**
    lsp: response:result.relatedDocuments.*.items[*].data.**
    lsp: notification textDocument/publishDiagnostics:params.diagnostics[*].data.**
    lsp: notification $/progress:params.value[*].data.**
    lsp: notification $/progress:params.value[*].*.data.**
    lsp: notification $/progress:params.value.items[*].data.**
    lsp: request textDocument/codeAction:params.context.diagnostics[*].data.**
    lsp: request codeAction/resolve:params.diagnostics[*].data.**
    lsp: request codeAction/resolve:params.data.**
    lsp: request documentLink/resolve:params.data.**
    lsp: request inlayHint/resolve:params.data.**
    lsp: request workspaceSymbol/resolve:params.data.**
    acp: request session/request_permission:params.toolCall.content[*].terminalId
    acp: request:params.requestId
    "#);
}
