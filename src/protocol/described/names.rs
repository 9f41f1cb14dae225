//! Names of members and of values that are not in the bytes of a message.

use crate::tape::{KeyName, Sink, Tape};
use std::sync::Arc;

/// Names that values of a tape refer to.
#[derive(Debug, Default)]
pub(super) struct Names(Arc<Vec<KeyName>>);

impl Names {
    /// Adds a name, unless it is there, and returns its number.
    pub fn add(&mut self, name: &str) -> u32 {
        let names = Arc::make_mut(&mut self.0);
        let at = names.iter().position(|known| known.as_str() == name);
        at.unwrap_or_else(|| {
            names.push(KeyName::new(name));
            names.len() - 1
        }) as u32
    }

    /// Returns all names.
    pub fn all(&self) -> &Arc<Vec<KeyName>> {
        &self.0
    }

    pub fn get(&self, number: u32) -> &KeyName {
        self.0.get(number as usize).unwrap_or(KeyName::NONE)
    }

    /// Reports a name as a key.
    pub fn label(&self, at: usize, number: u32, tape: &mut Tape) {
        tape.label(at, number, self.get(number));
    }
}
