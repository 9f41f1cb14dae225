//! Searches the redacted recording for the secrets that were removed, as an independent check of all changes.

use super::finder::{SecretFinder, batches};
use super::lines::stream_bytes;
use super::{Redactor, metadata};
use crate::capture::Record;
use crate::decoder::Origin;
use crate::protocol::Direction;

impl Redactor<'_, '_> {
    /// Returns the place and the spelling of a secret that is left in the changed records.
    pub(super) fn find_left(&mut self, records: &[Record]) -> Option<String> {
        let mut removed = self.all_secrets();
        // Text without letters and digits stays as it is.
        removed.retain(|secret| self.replace_bytes(secret) != *secret);
        for batch in batches(removed) {
            self.finder = SecretFinder::new(&batch);
            let left = (self.left_in_messages(records))
                .or_else(|| self.left_in_streams(records))
                .or_else(|| metadata::find_left(records, &self.finder));
            if left.is_some() {
                return left;
            }
        }
        None
    }

    /// Searches the bytes of frames, which are not masked and not compressed.
    fn left_in_messages(&mut self, records: &[Record]) -> Option<String> {
        let mut left = None;
        self.decode(records, &mut |redactor, decoded| {
            let bytes = decoded.frame.view.bytes;
            if left.is_none()
                && let Some(spelling) = redactor.finder.spelling_in(bytes)
            {
                left = Some(describe(decoded.origin, decoded.frame.offset, spelling));
            }
        });
        left
    }

    fn left_in_streams(&self, records: &[Record]) -> Option<String> {
        let streams = stream_bytes(records);
        let mut left = streams.iter().filter_map(|(lane, bytes)| {
            let spelling = self.finder.spelling_in(bytes)?;
            let at = self.finder.find(bytes).first().map_or(0, |at| at.start);
            Some(describe(lane.at(None), at as u64, spelling))
        });
        left.next()
    }
}

fn describe(origin: Origin, offset: u64, spelling: &str) -> String {
    let direction = origin.direction.map_or("stderr", Direction::name);
    let conn = origin.conn.unwrap_or_default();
    format!("connection {conn} {direction}, offset {offset}: a secret is left, {spelling}")
}
