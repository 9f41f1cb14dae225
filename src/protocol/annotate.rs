//! Finds what there is to note on the values of a message.

use super::secrets::{Extent, SecretNames, SecretSearch, holds_secret, public_value};
use super::{Message, Notes, Protocol};
use crate::tape::Node;

/// Adds the notes on the values of a message. It decides which values are secret, for all output and for redact.
pub fn annotate(protocol: &dyn Protocol, root: Node<'_>, message: &Message<'_>, notes: &mut Notes) {
    notes.clear();
    let names = SecretNames::of(protocol);
    let public = public_value(names.marks, root, message);
    let mut search = SecretSearch::new(&names);
    root.each(&mut |node| {
        search.see(node, &mut |node, extent| match extent {
            Extent::Whole if public == Some(node.index()) => {}
            Extent::Whole => notes.secret(node),
            Extent::Parts(parts) => notes.parts.push((node.index(), parts)),
        });
        if holds_secret(node, &names) {
            notes.texts.push(node.index());
        }
    });
    protocol.annotate(root, message, notes);
    notes.sort_and_merge();
}
