//! The options of one fixture, with the flags in its comment.

use super::Error;
use crate::protocol::registry::{Extensions, Protocols};
use crate::render::Format;
use crate::settings::{COMMENT_MARK, FixtureOptions, comment_of};
use std::path::Path;

impl FixtureOptions {
    /// Returns `true` if some values are hidden.
    pub(super) fn hides(&self) -> bool {
        self.redact_volatile || !self.ignore.is_empty()
    }

    /// Adds the flags from a comment before the fixture's data. Returns `true` if there are any.
    pub(super) fn of_fixture(&self, fixture: &Path) -> Result<(Self, bool), Error> {
        let mut options = self.clone();
        let flags = comment_of(fixture).map_err(Error::Unreadable)?;
        if let Some(flags) = &flags {
            let folder = fixture.parent().unwrap_or(Path::new(""));
            let taken = options.take(flags, folder);
            taken.map_err(|error| Error::Words(format!("# {COMMENT_MARK} {error}")))?;
        }
        if options.format == Format::Hex && options.hides() {
            let text = "-f hex shows every byte: nothing can be left out of it";
            return Err(Error::Words(text.into()));
        }
        Ok((options, flags.is_some()))
    }

    /// Returns the possible protocols, with separate instances for extended ones.
    pub(super) fn protocols(&self) -> Result<Protocols, Error> {
        let schema = self.schema.as_ref().map(|path| {
            let file = path.display().to_string();
            match std::fs::read_to_string(path) {
                Ok(text) => Ok((file, text)),
                Err(error) => Err(Error::Words(format!("{file}: {error}"))),
            }
        });
        let extensions = Extensions {
            schema: schema.transpose()?,
            layout: self.as_struct.clone(),
            signatures: self.signatures.clone(),
        };
        let owner = extensions.owner();
        Protocols::new(extensions, self.protocol.clone().or(owner)).map_err(Error::Words)
    }
}
