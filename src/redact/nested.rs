//! JSON that text holds.
//!
//! ```text
//!   "arguments":"{\"password\":\"hunter2\",\"n\":1}"
//!                              '-----'        only this is replaced
//! ```

use super::places;
use super::stand_in::{StandIn, leaves};
use crate::protocol::{each_secret, is_json, json_in, look};
use crate::tape::Node;
use std::borrow::Cow;

/// Levels of JSON in text of JSON in text that are looked into.
const LEVELS: usize = 4;

/// Text that holds JSON with secrets.
pub(super) struct Nested {
    /// The text with stand-ins: as long, character by character.
    pub made: String,
    /// The secrets that are text.
    pub texts: Vec<String>,
}

/// The secrets in a value that holds JSON; none where it has none.
pub(super) fn nested(
    node: Node<'_>,
    also: &dyn Fn(&[u8]) -> bool,
    stand_in: &StandIn,
) -> Option<Nested> {
    inside(node, LEVELS, also, stand_in)
}

fn inside(
    node: Node<'_>,
    levels: usize,
    also: &dyn Fn(&[u8]) -> bool,
    stand_in: &StandIn,
) -> Option<Nested> {
    if levels == 0 || !is_json(node) {
        return None;
    }
    let text = json_in(node)?;
    let (mut bytes, mut texts) = (text.as_bytes().to_vec(), Vec::new());
    let changed = look(&text, |root| {
        let mut changed = false;
        let mut put = |at: usize, made: &[u8]| {
            if let Some(place) = bytes.get_mut(at..at + made.len()) {
                place.copy_from_slice(made);
                changed = true;
            }
        };
        root.each(&mut |node| {
            if let Some(inner) = inside(node, levels - 1, also, stand_in)
                && let Some((at, _, made)) = places::rewrite(node, &inner.made)
            {
                put(at, &made);
                texts.extend(inner.texts);
            }
        });
        each_secret(root, also, &mut |value| {
            for leaf in leaves(value) {
                texts.extend(leaf.text().map(Cow::into_owned));
                if let Some((at, _, made)) = places::replace(leaf, stand_in) {
                    put(at, &made);
                }
            }
        });
        changed
    });
    let made = String::from_utf8(bytes).ok()?;
    (changed == Some(true)).then_some(Nested { made, texts })
}
