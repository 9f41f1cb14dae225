//! Ids of blobs: a component can only know those that the runtime has sent.

use super::{IdSpace, MessageTurn, broken, rule};
use crate::protocol::{Direction, Role};
use crate::tape::Node;
use foldhash::HashSet;
use std::collections::BTreeMap;

/// The length of an id: a SHA-256 in hex.
const LENGTH: usize = 64;
/// The number of characters of an id in a text.
const SHOWN: usize = 12;
/// The largest number of stored ids. After that, ids are not checked.
const MAX_ENTRIES: usize = 1 << 14;

/// The ids that a server was sent.
#[derive(Debug, Default)]
pub(super) struct Blobs {
    known: HashSet<[u8; LENGTH]>,
    /// Open requests for an id that the runtime has not sent, by index.
    unknown: BTreeMap<u64, String>,
    /// The runtime named another store, in which components find and store blobs.
    has_other_store: bool,
}

impl Blobs {
    /// Records the ids in a message of the runtime, or the unknown id that a server requests; reports one in an output.
    /// `is_complete`: no earlier message was missed.
    pub(super) fn handle(&mut self, message: &MessageTurn<'_, '_>, is_complete: bool) {
        let is_full = self.known.len() >= MAX_ENTRIES;
        let Some(root) = message.seen.root().filter(|_| !is_full) else {
            return;
        };
        if message.direction == Some(Direction::ToServer) {
            root.each(&mut |node| {
                self.known.extend(id(node.raw_text()));
            });
            let capabilities = message.call.params.and_then(|p| p.get("capabilities"));
            let url = capabilities.and_then(|named| named.get("blobApiUrl"));
            self.has_other_store |= url.is_some_and(|url| !url.is_null());
            return;
        }
        if message.seen.message.role == Some(Role::Response) {
            // Over HTTP, a server can be configured with a store that no message names.
            let is_only_store = !self.has_other_store && message.id_space != IdSpace::All;
            if is_complete && is_only_store && !message.breaks_rule {
                self.check_output(root, message);
            }
            return;
        }
        let is_request = message
            .method
            .is_some_and(|method| method.name == "blobs/get");
        let asked = message.call.params.and_then(|p| p.get("blob_id"));
        let asked = asked.filter(|_| is_request && is_complete && !message.breaks_rule);
        if let Some(asked) = asked.and_then(|node| id(node.raw_text()))
            && !self.known.contains(&asked)
            && self.unknown.len() < MAX_ENTRIES
        {
            let shown = asked.iter().take(SHOWN).map(|b| char::from(*b)).collect();
            self.unknown.insert(message.index, shown);
        }
    }

    /// Reports the first reference in an output, `{"$blob": id}`, to a blob that the runtime has not sent.
    fn check_output(&mut self, root: Node<'_>, message: &MessageTurn<'_, '_>) {
        let Some(output) = root.get("result").and_then(|result| result.get("output")) else {
            return;
        };
        let mut found = None;
        output.each(&mut |node| {
            let named = node.get("$blob").filter(|_| found.is_none());
            let named = named.and_then(|blob| Some((blob, id(blob.raw_text())?)));
            found = found.or(named.filter(|(_, named)| !self.known.contains(named)));
        });
        if let Some((blob, named)) = found {
            self.known.insert(named);
            let shown: String = named.iter().take(SHOWN).map(|b| char::from(*b)).collect();
            broken!(message, rule::BLOB_UNKNOWN, message.seen.span(blob.span());
                "the output names blob {shown}…: the runtime has sent no such id before");
        }
    }

    /// Handles the answer to the request with this index. A runtime may also have blobs of earlier runs.
    pub(super) fn handle_answer(&mut self, index: u64, message: &MessageTurn<'_, '_>, well: bool) {
        if let Some(shown) = self.unknown.remove(&index).filter(|_| !well) {
            broken!(message, rule::BLOB_UNKNOWN, message.whole(), index;
                "the runtime refuses blob {shown}…: it has sent no such id before");
        }
    }
}

/// Returns the id in a text.
fn id(text: &[u8]) -> Option<[u8; LENGTH]> {
    let id: [u8; LENGTH] = text.try_into().ok()?;
    id.iter().all(u8::is_ascii_hexdigit).then_some(id)
}
