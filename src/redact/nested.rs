//! Redacts parts of texts, and JSON inside text.
//!
//! ```text
//!   "arguments":"{\"password\":\"hunter2\",\"n\":1}"
//!                              '-----'        only this is replaced
//! ```

use super::positions;
use super::replacement::{Replacer, leaves};
use crate::framing::fields::{HeaderSecret, unescaped};
use crate::protocol::secrets::{
    Extent, SecretNames, embedded_json, for_each_secret, may_hold_json, with_json,
};
use crate::tape::Node;
use std::borrow::Cow;

/// The maximum number of levels of JSON inside text.
const MAX_LEVELS: usize = 4;

/// Text that contains secrets.
pub(super) struct Nested {
    /// The text with replacements, of the same length in characters.
    pub text: String,
    /// The secrets that are text.
    pub texts: Vec<String>,
    /// The secrets as they were escaped in URLs.
    pub escaped: Vec<Vec<u8>>,
}

/// Returns a text whose secret parts are replaced; `None` if it has none.
pub(super) fn replace_parts(
    node: Node<'_>,
    parts: &[HeaderSecret],
    replacer: &Replacer,
) -> Option<Nested> {
    if parts.is_empty() {
        return None;
    }
    let mut text = embedded_json(node)?.into_owned();
    let (mut texts, mut escaped) = (Vec::new(), Vec::new());
    for part in parts {
        let old = text.get(part.range.clone())?;
        let read = unescaped(old.as_bytes());
        let new = if part.escaped && read != old.as_bytes() {
            escaped.push(old.as_bytes().to_vec());
            texts.extend(String::from_utf8(read));
            String::from_utf8(positions::replace_escaped(old.as_bytes(), replacer)).ok()?
        } else {
            texts.push(old.to_owned());
            replacer.replace_text(old)
        };
        text.replace_range(part.range.clone(), &new);
    }
    Some(Nested {
        text,
        texts,
        escaped,
    })
}

/// Returns the secrets in a value that contains JSON; `None` if there are none.
pub(super) fn find_nested(
    node: Node<'_>,
    names: &SecretNames<'_>,
    replacer: &Replacer,
) -> Option<Nested> {
    find_nested_within(node, MAX_LEVELS, names, replacer)
}

fn find_nested_within(
    node: Node<'_>,
    levels: usize,
    names: &SecretNames<'_>,
    replacer: &Replacer,
) -> Option<Nested> {
    if levels == 0 || !may_hold_json(node) {
        return None;
    }
    let text = embedded_json(node)?;
    let mut bytes = text.as_bytes().to_vec();
    let (mut texts, mut escaped) = (Vec::new(), Vec::new());
    let changed = with_json(&text, |root| {
        let mut changed = false;
        let mut put = |at: usize, replaced: &[u8]| {
            if let Some(target) = bytes.get_mut(at..at + replaced.len()) {
                target.copy_from_slice(replaced);
                changed = true;
            }
        };
        let mut put_text = |node: Node<'_>, inner: Nested| {
            if let Some((at, _, replaced)) = positions::rewrite_value(node, &inner.text) {
                put(at, &replaced);
                texts.extend(inner.texts);
                escaped.extend(inner.escaped);
            }
        };
        let mut whole = Vec::new();
        for_each_secret(root, names, &mut |value, extent| match extent {
            Extent::Whole => whole.extend(leaves(value)),
            Extent::Parts(parts) => {
                if let Some(inner) = replace_parts(value, &parts, replacer) {
                    put_text(value, inner);
                }
            }
        });
        root.each(&mut |node| {
            if let Some(inner) = find_nested_within(node, levels - 1, names, replacer) {
                put_text(node, inner);
            }
        });
        for leaf in whole {
            texts.extend(leaf.text().map(Cow::into_owned));
            if let Some((at, _, replaced)) = positions::replace_value(leaf, replacer) {
                put(at, &replaced);
            }
        }
        changed
    });
    let text = String::from_utf8(bytes).ok()?;
    (changed == Some(true)).then_some(Nested {
        text,
        texts,
        escaped,
    })
}
