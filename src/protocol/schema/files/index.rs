//! Finds the definitions that a message can have, without a look at each of them.
//!
//! ```text
//!   {"type":"request","command":"next"}     command: next -> NextRequest     type: request -> Request
//! ```

use super::Definition;
use crate::tape::Node;
use serde_json::Value;
use std::collections::HashMap;

/// The definitions, by the constant of theirs that the fewest others have.
#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    /// For each member, the definitions by its value.
    by_text: Vec<(String, HashMap<String, Vec<usize>>)>,
    /// Those without a constant text.
    others: Vec<usize>,
}

impl Index {
    pub(super) fn of(definitions: &[Definition]) -> Self {
        let mut counts: HashMap<(&str, &str), usize> = HashMap::new();
        for definition in definitions {
            for constant in texts(definition) {
                *counts.entry(constant).or_default() += 1;
            }
        }
        let mut index = Self::default();
        for (at, definition) in definitions.iter().enumerate() {
            if definition.constants.is_empty() || definition.is_answer() {
                continue;
            }
            let rarest = texts(definition).min_by_key(|one| counts.get(one).copied());
            let Some((name, text)) = rarest else {
                index.others.push(at);
                continue;
            };
            let place = index.by_text.iter().position(|(known, _)| known == name);
            let place = place.unwrap_or_else(|| {
                index.by_text.push((name.to_owned(), HashMap::new()));
                index.by_text.len() - 1
            });
            if let Some((_, values)) = index.by_text.get_mut(place) {
                values.entry(text.to_owned()).or_default().push(at);
            }
        }
        index
    }

    /// Calls `found` with each definition whose rarest constant a message has.
    pub(super) fn each(&self, message: Node<'_>, found: &mut dyn FnMut(usize)) {
        for (name, values) in &self.by_text {
            let text = message.get(name).and_then(Node::text);
            let those = text.and_then(|text| values.get(&*text));
            those.into_iter().flatten().for_each(|at| found(*at));
        }
        self.others.iter().for_each(|at| found(*at));
    }
}

fn texts(definition: &Definition) -> impl Iterator<Item = (&str, &str)> {
    let constants = definition.constants.iter();
    constants.filter_map(|(name, value)| match value {
        Value::String(text) => Some((name.as_str(), text.as_str())),
        _ => None,
    })
}
