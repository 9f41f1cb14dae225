//! The types of messages: those of the description itself, and those of a schema file.

use crate::protocol::Direction;
use crate::protocol::schema::files::{Definition, SchemaFile};
use crate::tape::Node;
use std::sync::LazyLock;

/// The types of a description.
#[derive(Debug, Default)]
pub(super) struct Schemas {
    /// Those of the description.
    pub types: Option<SchemaFile>,
    /// Those of its schema file.
    pub file: Option<SchemaFile>,
    /// Those of a file of this crate, read when a session needs them.
    pub own: Option<&'static LazyLock<SchemaFile>>,
}

impl Schemas {
    /// Returns true if messages have types.
    pub fn is_any(&self) -> bool {
        self.types.is_some() || self.file.is_some() || self.own.is_some()
    }

    fn files(&self) -> impl Iterator<Item = &SchemaFile> {
        let own = self.own.map(|own| &**own);
        let files = [self.types.as_ref(), self.file.as_ref(), own];
        files.into_iter().flatten()
    }

    /// Returns the definition with a name, and its file.
    pub fn named(&self, name: &str) -> Option<(&SchemaFile, &Definition)> {
        let mut files = self.files();
        files.find_map(|file| Some((file, file.named(name)?)))
    }

    /// Returns the definition whose constant members a message has, and its file.
    pub fn choose(
        &self,
        value: Node<'_>,
        direction: Option<Direction>,
    ) -> Option<(&SchemaFile, &Definition)> {
        let mut files = self.files();
        files.find_map(|file| Some((file, file.choose(value, direction)?)))
    }
}
