//! The capabilities that a side declares when a session opens.

use crate::protocol::schema::validate::Budget;
use crate::tape::Node;
use serde_json::Value;

/// The declared capabilities of one side; unknown until they are read.
#[derive(Default)]
pub(in crate::protocol) struct Capabilities(Option<Value>);

impl Capabilities {
    /// Reads an object of capabilities; if there is none, nothing is declared. One that is too large stays unknown.
    pub(in crate::protocol) fn read(&mut self, node: Option<Node<'_>>) {
        self.0 = match node {
            Some(node) => Budget::default().take(node),
            None => Some(Value::Null),
        };
    }

    /// Returns true if the capability at a path (`tools.listChanged`) is declared, or nothing is known.
    pub(in crate::protocol) fn allow(&self, path: &str) -> bool {
        let Some(declared) = &self.0 else {
            return true;
        };
        let found = path
            .split('.')
            .try_fold(declared, |value, name| value.get(name));
        found.is_some_and(|value| !value.is_null() && *value != Value::Bool(false))
    }
}
