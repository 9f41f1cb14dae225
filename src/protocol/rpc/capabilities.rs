//! The capabilities that both sides declare when a session opens.

use super::extension::{Extension, RpcMessage};
use crate::protocol::Direction;
use crate::protocol::schema::validate::Budget;
use crate::protocol::session::memory::PerDirection;
use crate::protocol::session::stored::to_stored;
use crate::protocol::session::{Severity, broken};
use crate::tape::Node;
use serde_json::Value;
use std::collections::BTreeSet;

/// The largest number of methods that are registered later.
const MAX_NAMES: usize = 1 << 10;

/// The declared capabilities of each side; unknown until they are read.
#[derive(Default)]
pub(in crate::protocol) struct Capabilities {
    declared: PerDirection<Option<Value>>,
    /// Methods that the server registered later, and their capabilities.
    registered: BTreeSet<String>,
}

impl Capabilities {
    /// Reads the object of the side that sends in direction `owner`; if there is none, nothing is declared. One that is
    /// too large stays unknown.
    pub(in crate::protocol) fn read(&mut self, owner: Direction, node: Option<Node<'_>>) {
        *self.declared.get_mut(Some(owner)) = match node {
            Some(node) => Budget::default().take(node),
            None => Some(Value::Null),
        };
    }

    /// Adds a method, or a capability, that the server registers later.
    pub(in crate::protocol) fn register(&mut self, name: &str) {
        if self.registered.len() < MAX_NAMES {
            self.registered.insert(to_stored(name));
        }
    }

    /// Returns true if a capability (`tools.listChanged`) is declared, or nothing is known.
    fn allow(&self, owner: Direction, path: &str) -> bool {
        let Some(declared) = self.declared.get(Some(owner)) else {
            return true;
        };
        let found = path
            .split('.')
            .try_fold(declared, |value, name| value.get(name));
        let found = found.is_some_and(|value| !value.is_null() && *value != Value::Bool(false));
        found || self.registered.contains(path)
    }

    /// Reports that the side that sends in direction `owner` did not declare what a value of a message needs.
    pub(in crate::protocol) fn check<E: Extension>(
        &self,
        (owner, path): (Direction, &str),
        node: Node<'_>,
        message: &RpcMessage<'_, '_>,
    ) {
        if !self.allow(owner, path) {
            let [client, server] = E::SIDES;
            let (side, rule) = match owner {
                Direction::ToServer => (client, E::CAPABILITY_RULES[0]),
                Direction::ToClient => (server, E::CAPABILITY_RULES[1]),
            };
            let what = node.text().unwrap_or_default();
            broken!(message, rule, message.at(node);
                "the {side} did not declare the capability {path}, which {what} needs");
        }
    }

    /// Reports that a side did not declare what the method of a message needs: the receiver of a request, or the
    /// sender of a notification.
    pub(in crate::protocol) fn check_method<E: Extension>(&self, message: &RpcMessage<'_, '_>) {
        let (Some(node), Some(method)) = (message.call.method, message.method) else {
            return;
        };
        let need = need::<E>(method.name).filter(|_| !self.registered.contains(method.name));
        if let Some(path) = need {
            let sender = message.requester();
            let owner = if method.answered {
                sender.other()
            } else {
                sender
            };
            let before = message.findings();
            self.check::<E>((owner, path), node, message);
            // The receiver ignores a notification that it does not expect.
            if message.findings() > before && !method.answered {
                message.report().at_most(Severity::Info);
            }
        }
    }
}

/// Returns the capability that a method needs.
pub(in crate::protocol) fn need<E: Extension>(name: &str) -> Option<&'static str> {
    let mut needs = E::NEEDS.iter();
    let found = needs.find(|(start, _)| name.starts_with(start));
    found.map(|(_, path)| *path)
}
