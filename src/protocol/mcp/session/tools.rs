//! The tools of a session: their schemas, and whether a definition changes.
//!
//! ```text
//!   tools/list result   name -> definition        a list without cursor and nextCursor is complete
//!   tools/call params   arguments fit inputSchema
//!   tools/call result   structuredContent fits outputSchema
//! ```

use crate::protocol::rpc::extension::RpcMessage;
use crate::protocol::rule_names::mcp as rule;
use crate::protocol::schema::validate::{Budget, SchemaDocument};
use crate::protocol::session::stored::{stored, to_stored};
use crate::protocol::session::text::{quote, short};
use crate::protocol::session::{Severity, broken};
use crate::tape::Node;
use serde_json::Value;
use std::collections::BTreeMap;

/// The largest number of tools.
const MAX_TOOLS: usize = 1 << 12;

/// A tool of a list.
struct ListedTool {
    /// The index of the list that named it last.
    index: u64,
    /// Its definition, if there was space for it.
    definition: Option<Value>,
    /// The schemas in it, each with the fact that lint said that it cannot be checked.
    schemas: [Option<(SchemaDocument, bool)>; 2],
}

/// The members of a definition that are schemas.
const SCHEMAS: [&str; 2] = ["inputSchema", "outputSchema"];
const INPUT: usize = 0;
const OUTPUT: usize = 1;

/// The announced tools.
#[derive(Default)]
pub(super) struct Tools {
    known: BTreeMap<Box<str>, ListedTool>,
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
            let text: Box<str> = to_stored(&name.text().unwrap_or_default());
            let new = self.budget.take(tool);
            let old = self.known.get(&text);
            let old = old.and_then(|old| Some((old.index, old.definition.as_ref()?)));
            if let (Some((index, old)), Some(new)) = (old, &new)
                && let Some(member) = changed_member(old, new)
            {
                let place = tool.get(&member).unwrap_or(tool);
                broken!(message, rule::TOOL_CHANGED, seen.at(place), index;
                    "{member} of the tool {} differs from the definition in #{index}", quote(name));
                if self.change_announced {
                    message.report().at_most(Severity::Info);
                }
            }
            let schema = |member: &str| {
                let schema = new.as_ref().and_then(|new| new.get(member));
                schema.map(|schema| (SchemaDocument::new(schema.clone()), false))
            };
            let listed = ListedTool {
                index: seen.index,
                schemas: SCHEMAS.map(schema),
                definition: new,
            };
            self.known.insert(text, listed);
        }
        self.change_announced &= !is_end;
    }

    /// Checks the arguments of a call.
    pub(super) fn check_call(&mut self, message: &RpcMessage<'_, '_>) {
        let (seen, arguments) = (message.seen, message.param("arguments"));
        let Some(name) = message.param("name").filter(|name| name.is_string()) else {
            return;
        };
        let text = name.text().unwrap_or_default();
        if let Some((index, schema, told)) = self.schema(&text, INPUT) {
            let place = arguments.map_or(seen.whole(), |node| seen.at(node));
            let (wrong, unchecked) = if let Some(arguments) = arguments {
                schema.texts(arguments, "arguments")
            } else {
                let name = required(schema.root());
                let wrong = name.map(|name| format!("the required argument {name} is missing"));
                (wrong, None)
            };
            if let Some(wrong) = wrong {
                broken!(message, rule::TOOL_ARGUMENTS, place, index;
                    "the arguments of {} do not fit its inputSchema: {wrong}", short(&text));
            } else if let Some(why) = unchecked.filter(|_| !std::mem::replace(told, true)) {
                broken!(message, rule::TOOL_ARGUMENTS, place, index;
                    "the arguments of {} could not be checked: {why}", short(&text));
                message.report().at_most(Severity::Info);
            }
        } else if self.complete && !self.change_announced && !self.known.contains_key(&*text) {
            broken!(message, rule::UNKNOWN_TOOL, seen.at(name);
                "tools/list has no tool {}", quote(name));
        }
    }

    /// Returns the arguments that fields of the head repeat, each with its path, the field and whether it is a number
    /// (2026-07-28, Transports: Custom Headers).
    pub(super) fn repeated_arguments(&self, tool: &str) -> Vec<RepeatedArgument<'_>> {
        let mut found = Vec::new();
        let tool = self.known.get(&*stored(tool));
        let schema = tool.and_then(|tool| tool.schemas[INPUT].as_ref());
        if let Some((schema, _)) = schema {
            add_repeated(schema.root(), &mut Vec::new(), &mut found);
        }
        found
    }

    /// Checks the result of a call.
    pub(super) fn check_result(
        &mut self,
        tool: &str,
        message: &RpcMessage<'_, '_>,
        result: Node<'_>,
    ) {
        let failed = result.get("isError").and_then(Node::as_bool) == Some(true);
        // A task, or a question, comes before the result.
        let open = ["task", "inputRequests", "requestState"];
        if failed || open.iter().any(|name| result.get(name).is_some()) {
            return;
        }
        let Some((index, schema, told)) = self.schema(tool, OUTPUT) else {
            return;
        };
        let content = result.get("structuredContent");
        let (wrong, unchecked) = match content {
            Some(content) => schema.texts(content, "structuredContent"),
            None => (Some("structuredContent is missing".to_owned()), None),
        };
        let place = message.at(content.unwrap_or(result));
        if let Some(wrong) = wrong {
            broken!(message, rule::TOOL_RESULT, place, index;
                "the result of {} does not fit its outputSchema: {wrong}", short(tool));
        } else if let Some(why) = unchecked.filter(|_| !std::mem::replace(told, true)) {
            broken!(message, rule::TOOL_RESULT, place, index;
                "the result of {} could not be checked: {why}", short(tool));
            message.report().at_most(Severity::Info);
        }
    }

    /// Returns a schema of a tool, the index of the list that has it, and whether lint said that it cannot be checked.
    fn schema(&mut self, tool: &str, which: usize) -> Option<(u64, &SchemaDocument, &mut bool)> {
        let tool = self.known.get_mut(&*stored(tool))?;
        let (schema, told) = tool.schemas.get_mut(which)?.as_mut()?;
        Some((tool.index, schema, told))
    }
}

/// An argument that a field of the head of a call repeats.
pub(super) struct RepeatedArgument<'s> {
    pub(super) path: Vec<&'s str>,
    pub(super) field: &'s str,
    pub(super) is_number: bool,
}

fn add_repeated<'s>(
    schema: &'s Value,
    path: &mut Vec<&'s str>,
    found: &mut Vec<RepeatedArgument<'s>>,
) {
    if let Some(field) = schema.get("x-mcp-header").and_then(Value::as_str) {
        let ty = schema.get("type").and_then(Value::as_str);
        found.push(RepeatedArgument {
            path: path.clone(),
            field,
            is_number: matches!(ty, Some("integer" | "number")),
        });
    }
    let members = schema.get("properties").and_then(Value::as_object);
    for (name, member) in members.into_iter().flatten() {
        path.push(name);
        add_repeated(member, path, found);
        path.pop();
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
