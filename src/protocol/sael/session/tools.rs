//! The tools that a server lists, reduced to the facts that rules need.

use super::{SaelMessage, broken, rule, short};
use crate::protocol::schema::validate::{Budget, SchemaDocument};
use crate::tape::Node;
use foldhash::HashMap;

/// The largest number of tools.
const MAX_ENTRIES: usize = 4096;
/// The longest stored name, in bytes.
const LONGEST: usize = 256;

/// The effects of the document.
const EFFECTS: [&str; 7] = [
    "pure",
    "read",
    "write",
    "network",
    "money",
    "irreversible",
    "cost",
];

/// The facts of a listed tool.
#[derive(Clone, Debug, Default)]
pub(super) struct Tool {
    pub(super) streaming: Option<bool>,
    pub(super) delta: bool,
    /// An effect other than pure and read.
    pub(super) effect: Option<String>,
    pub(super) capability: Option<String>,
    input: Option<SchemaDocument>,
    /// The tool is listed more than once: the intended entry is not known.
    is_ambiguous: bool,
}

impl Tool {
    /// Describes the part of an input that the tool's schema forbids.
    pub(super) fn first_mismatch(&self, input: Option<Node<'_>>) -> Option<String> {
        let found = self.input.as_ref()?.check(input?, "input");
        found.wrong.map(|wrong| wrong.text)
    }
}

/// The latest list.
#[derive(Debug, Default)]
pub(super) struct Tools {
    pub(super) known: bool,
    /// There was no space for some tools.
    is_truncated: bool,
    by_name: HashMap<Box<str>, Tool>,
}

impl Tools {
    /// Returns the tool with this name, with or without `@version`.
    pub(super) fn find(&self, name: &str) -> Option<&Tool> {
        self.by_name.get(name).filter(|tool| !tool.is_ambiguous)
    }

    /// Returns true if there may be a tool with this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.is_truncated || name.len() > LONGEST || self.by_name.contains_key(name)
    }

    /// Handles LST of the server.
    pub(super) fn list(&mut self, message: &SaelMessage<'_, '_>) {
        let Some(list) = message.get("tools").filter(|list| list.is_array()) else {
            return;
        };
        self.by_name.clear();
        (self.known, self.is_truncated) = (true, false);
        let mut budget = Budget::default();
        for spec in list.children() {
            let Some(name) = spec.get("name").and_then(Node::text) else {
                continue;
            };
            let tool = read(message, spec, &name, &mut budget);
            if self.by_name.len() >= MAX_ENTRIES || name.len() > LONGEST {
                self.is_truncated = true;
                continue;
            }
            let version = spec.get("version").and_then(Node::text);
            if let Some(version) = version.filter(|v| !v.is_empty() && v.len() <= LONGEST) {
                let full = format!("{name}@{version}");
                let input = input_schema(spec, &mut budget);
                let twin = Tool {
                    input,
                    ..tool.clone()
                };
                self.add(full, twin);
            }
            self.add(name.into_owned(), tool);
        }
    }

    fn add(&mut self, name: String, tool: Tool) {
        let is_ambiguous = self.by_name.contains_key(name.as_str());
        self.by_name.insert(
            name.into(),
            Tool {
                is_ambiguous,
                ..tool
            },
        );
    }
}

/// Returns the schema of a tool's input, if there is space for it.
fn input_schema(spec: Node<'_>, budget: &mut Budget) -> Option<SchemaDocument> {
    budget.take(spec.get("input")?).map(SchemaDocument::new)
}

fn read(message: &SaelMessage<'_, '_>, spec: Node<'_>, name: &str, budget: &mut Budget) -> Tool {
    let flag = |key: &str| spec.get(key).and_then(Node::as_bool);
    let mut tool = Tool {
        streaming: flag("streaming"),
        delta: flag("delta") == Some(true),
        capability: spec
            .get("requires_capability")
            .and_then(Node::text)
            .filter(|capability| !capability.is_empty() && capability.len() <= 1024)
            .map(std::borrow::Cow::into_owned),
        input: input_schema(spec, budget),
        ..Tool::default()
    };
    for node in spec.get("effects").into_iter().flat_map(Node::children) {
        let text = node.text();
        match text.as_deref() {
            Some("pure" | "read") => {}
            Some(effect) if EFFECTS.contains(&effect) => {
                tool.effect.get_or_insert_with(|| effect.to_owned());
            }
            other => {
                let effect =
                    other.map_or(node.describe().to_owned(), |e| format!("`{}`", short(e)));
                broken!(message, rule::TOOL_EFFECT, message.at(node);
                    "tool `{}` has the unknown effect {effect}", short(name));
            }
        }
    }
    if let Some(cost) = spec.get("cost")
        && cost.get("currency").is_none()
        && !cost.is_null()
    {
        broken!(message, rule::TOOL_COST, message.at(cost);
            "tool `{}` has a cost without a currency", short(name));
    }
    tool
}
