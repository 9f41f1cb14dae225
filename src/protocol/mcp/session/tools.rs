//! The tools of a session: their schemas, and whether a definition changes.
//!
//! ```text
//!   tools/list result   name -> definition        a list without cursor and nextCursor is complete
//!   tools/call params   arguments fit inputSchema
//!   tools/call result   structuredContent fits outputSchema
//! ```

use crate::protocol::rpc::extension::RpcMessage;
use crate::protocol::schema::validate::{Budget, first_mismatch};
use crate::protocol::session::text::{quote, short};
use crate::protocol::session::{Report, Seen, Severity};
use crate::tape::Node;
use serde_json::Value;
use std::collections::BTreeMap;

/// The largest number of tools.
const MAX_TOOLS: usize = 1 << 12;

/// The announced tools.
#[derive(Default)]
pub(super) struct Tools {
    /// Each tool with the index of the list that named it last, and its definition if there was space for it.
    known: BTreeMap<Box<str>, (u64, Option<Value>)>,
    /// All tools are known.
    complete: bool,
    budget: Budget,
    /// The server announced a change, and no list followed so far.
    pub(super) change_announced: bool,
}

impl Tools {
    /// Reads a list.
    pub(super) fn read(&mut self, message: &RpcMessage<'_, '_>, paged: bool, report: &mut Report) {
        let (seen, result) = (message.seen, message.call.result);
        let list = result.and_then(|result| result.get("tools"));
        let Some(list) = list.filter(|list| list.is_array()) else {
            return;
        };
        let is_end = result.is_some_and(|result| result.get("nextCursor").is_none());
        self.complete = is_end && (self.complete || !paged);
        for tool in list.children().take(MAX_TOOLS) {
            if let Some(name) = tool.get("name") {
                self.read_tool(seen, tool, name, report);
            }
        }
        self.change_announced &= !is_end;
    }

    fn read_tool(&mut self, seen: &Seen<'_>, tool: Node<'_>, name: Node<'_>, report: &mut Report) {
        let Some(text) = name.text().filter(|_| name.is_string()) else {
            return;
        };
        if self.known.len() >= MAX_TOOLS && !self.known.contains_key(text.as_ref()) {
            self.complete = false;
            return;
        }
        let definition = self.budget.take(tool);
        let before = self
            .known
            .insert(text.as_ref().into(), (seen.index, definition));
        let Some((index, Some(old))) = before else {
            return;
        };
        let new = self
            .known
            .get(text.as_ref())
            .and_then(|(_, new)| new.as_ref());
        let Some(member) = new.and_then(|new| changed_member(&old, new)) else {
            return;
        };
        let text = format!(
            "{member} of the tool {} is not the one of #{index}",
            quote(name)
        );
        let place = tool.get(&member).unwrap_or(tool);
        report.broken_by("tool-changed", seen.at(place), index, text);
        if self.change_announced {
            report.at_most(Severity::Info);
        }
    }

    /// Checks the arguments of a call.
    pub(super) fn check_call(&self, message: &RpcMessage<'_, '_>, report: &mut Report) {
        let (seen, arguments) = (message.seen, message.param("arguments"));
        let Some(name) = message.param("name").filter(|name| name.is_string()) else {
            return;
        };
        let text = name.text().unwrap_or_default();
        let Some((index, definition)) = self.known.get(text.as_ref()) else {
            if self.complete && !self.change_announced {
                let text = format!("no tool is called {}", quote(name));
                report.broken("unknown-tool", seen.at(name), text);
            }
            return;
        };
        let schema = definition.as_ref().and_then(|tool| tool.get("inputSchema"));
        let Some(schema) = schema else {
            return;
        };
        let wrong = match arguments {
            Some(arguments) => first_mismatch(schema, arguments, "arguments"),
            None => {
                required(schema).map(|name| format!("arguments has no `{name}`, which is required"))
            }
        };
        if let Some(wrong) = wrong {
            let place = arguments.map_or(seen.whole(), |node| seen.at(node));
            let text = format!(
                "the arguments of {} do not fit its inputSchema: {wrong}",
                short(&text)
            );
            report.broken_by("tool-arguments", place, *index, text);
        }
    }

    /// Checks the result of a call.
    pub(super) fn check_result(
        &self,
        tool: &str,
        message: &RpcMessage<'_, '_>,
        result: Node<'_>,
        report: &mut Report,
    ) {
        let seen = message.seen;
        let failed = result.get("isError").and_then(Node::as_bool) == Some(true);
        // A task, or a question, comes before the result.
        let open = ["task", "inputRequests", "requestState"];
        if failed || open.iter().any(|name| result.get(name).is_some()) {
            return;
        }
        let Some((index, Some(definition))) = self.known.get(tool) else {
            return;
        };
        let Some(schema) = definition.get("outputSchema") else {
            return;
        };
        let (place, wrong) = match result.get("structuredContent") {
            Some(content) => (
                content,
                first_mismatch(schema, content, "structuredContent"),
            ),
            None => (result, Some("structuredContent is not there".to_owned())),
        };
        if let Some(wrong) = wrong {
            let text = format!(
                "the result of {} does not fit its outputSchema: {wrong}",
                short(tool)
            );
            report.broken_by("tool-result", seen.at(place), *index, text);
        }
    }
}

/// Returns the first member that differs between two definitions.
fn changed_member(old: &Value, new: &Value) -> Option<String> {
    let (old, new) = (old.as_object()?, new.as_object()?);
    let mut names = old.keys().chain(new.keys());
    names.find(|name| old.get(*name) != new.get(*name)).cloned()
}

/// Returns the first required property.
fn required(schema: &Value) -> Option<&str> {
    schema.get("required")?.as_array()?.first()?.as_str()
}
