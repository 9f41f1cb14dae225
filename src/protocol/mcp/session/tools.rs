//! The tools of a session: their schemas, and whether a definition changes.
//!
//! ```text
//!   tools/list result   name -> definition        a list without cursor and nextCursor is complete
//!   tools/call params   arguments fit inputSchema
//!   tools/call result   structuredContent fits outputSchema
//! ```

use crate::protocol::rpc::extension::RpcMessage;
use crate::protocol::rule_names::mcp as rule;
use crate::protocol::schema::validate::{Budget, first_mismatch};
use crate::protocol::session::text::{quote, short};
use crate::protocol::session::{Severity, broken};
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
    pub(super) fn read(&mut self, message: &RpcMessage<'_, '_>, paged: bool) {
        let (seen, result) = (message.seen, message.call.result);
        let list = result.and_then(|result| result.get("tools"));
        let Some(list) = list.filter(|list| list.is_array()) else {
            return;
        };
        let is_end = result.is_some_and(|result| result.get("nextCursor").is_none());
        self.complete = is_end && (self.complete || !paged);
        for tool in list.children() {
            let Some(name) = tool.get("name").filter(|name| name.is_string()) else {
                continue;
            };
            if self.known.len() >= MAX_TOOLS {
                self.complete = false;
                return;
            }
            let text: Box<str> = name.text().unwrap_or_default().as_ref().into();
            let new = self.budget.take(tool);
            if let (Some((index, Some(old))), Some(new)) = (self.known.get(&text), &new)
                && let Some(member) = changed_member(old, new)
            {
                let place = tool.get(&member).unwrap_or(tool);
                broken!(message, rule::TOOL_CHANGED, seen.at(place), *index;
                    "{member} of the tool {} differs from the definition in #{index}", quote(name));
                if self.change_announced {
                    message.report().at_most(Severity::Info);
                }
            }
            self.known.insert(text, (seen.index, new));
        }
        self.change_announced &= !is_end;
    }

    /// Checks the arguments of a call.
    pub(super) fn check_call(&self, message: &RpcMessage<'_, '_>) {
        let (seen, arguments) = (message.seen, message.param("arguments"));
        let Some(name) = message.param("name").filter(|name| name.is_string()) else {
            return;
        };
        let text = name.text().unwrap_or_default();
        if let Some((index, schema)) = self.schema(&text, "inputSchema") {
            let wrong = match arguments {
                Some(arguments) => first_mismatch(schema, arguments, "arguments"),
                None => {
                    required(schema).map(|name| format!("the required argument {name} is missing"))
                }
            };
            if let Some(wrong) = wrong {
                let place = arguments.map_or(seen.whole(), |node| seen.at(node));
                broken!(message, rule::TOOL_ARGUMENTS, place, index;
                    "the arguments of {} do not fit its inputSchema: {wrong}", short(&text));
            }
        } else if self.complete && !self.change_announced && !self.known.contains_key(&*text) {
            broken!(message, rule::UNKNOWN_TOOL, seen.at(name);
                "tools/list has no tool {}", quote(name));
        }
    }

    /// Checks the result of a call.
    pub(super) fn check_result(&self, tool: &str, message: &RpcMessage<'_, '_>, result: Node<'_>) {
        let failed = result.get("isError").and_then(Node::as_bool) == Some(true);
        // A task, or a question, comes before the result.
        let open = ["task", "inputRequests", "requestState"];
        if failed || open.iter().any(|name| result.get(name).is_some()) {
            return;
        }
        let Some((index, schema)) = self.schema(tool, "outputSchema") else {
            return;
        };
        let content = result.get("structuredContent");
        let wrong = match content {
            Some(content) => first_mismatch(schema, content, "structuredContent"),
            None => Some("structuredContent is missing".to_owned()),
        };
        if let Some(wrong) = wrong {
            let place = message.at(content.unwrap_or(result));
            broken!(message, rule::TOOL_RESULT, place, index;
                "the result of {} does not fit its outputSchema: {wrong}", short(tool));
        }
    }

    /// Returns a schema of a tool, and the index of the list that has it.
    fn schema(&self, tool: &str, member: &str) -> Option<(u64, &Value)> {
        let (index, definition) = self.known.get(tool)?;
        Some((*index, definition.as_ref()?.get(member)?))
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
