//! Redacts JSON inside text.
//!
//! ```text
//!   "arguments":"{\"password\":\"hunter2\",\"n\":1}"
//!                              '-----'        only this is replaced
//! ```

use super::positions;
use super::replacement::{Replacer, leaves};
use crate::protocol::{embedded_json, for_each_secret, may_hold_json, with_json};
use crate::tape::Node;
use std::borrow::Cow;

/// The maximum number of levels of JSON inside text.
const MAX_LEVELS: usize = 4;

/// Text that contains JSON with secrets.
pub(super) struct Nested {
    /// The text with replacements, of the same length in characters.
    pub text: String,
    /// The secrets that are text.
    pub texts: Vec<String>,
}

/// Returns the secrets in a value that contains JSON; `None` if there are none.
pub(super) fn find_nested(
    node: Node<'_>,
    also: &dyn Fn(&[u8]) -> bool,
    replacer: &Replacer,
) -> Option<Nested> {
    find_nested_within(node, MAX_LEVELS, also, replacer)
}

fn find_nested_within(
    node: Node<'_>,
    levels: usize,
    also: &dyn Fn(&[u8]) -> bool,
    replacer: &Replacer,
) -> Option<Nested> {
    if levels == 0 || !may_hold_json(node) {
        return None;
    }
    let text = embedded_json(node)?;
    let (mut bytes, mut texts) = (text.as_bytes().to_vec(), Vec::new());
    let changed = with_json(&text, |root| {
        let mut changed = false;
        let mut put = |at: usize, replaced: &[u8]| {
            if let Some(target) = bytes.get_mut(at..at + replaced.len()) {
                target.copy_from_slice(replaced);
                changed = true;
            }
        };
        root.each(&mut |node| {
            if let Some(inner) = find_nested_within(node, levels - 1, also, replacer)
                && let Some((at, _, replaced)) = positions::rewrite_value(node, &inner.text)
            {
                put(at, &replaced);
                texts.extend(inner.texts);
            }
        });
        for_each_secret(root, also, &mut |value| {
            for leaf in leaves(value) {
                texts.extend(leaf.text().map(Cow::into_owned));
                if let Some((at, _, replaced)) = positions::replace_value(leaf, replacer) {
                    put(at, &replaced);
                }
            }
        });
        changed
    });
    let text = String::from_utf8(bytes).ok()?;
    (changed == Some(true)).then_some(Nested { text, texts })
}
