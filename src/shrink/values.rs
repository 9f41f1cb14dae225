//! Leaves out members, elements and long texts of a message.

use crate::encode::{EncodeOptions, Encoder};
use crate::encoding::json;
use crate::protocol::make::IdGen;
use crate::span::Span;
use crate::tape::{Node, Tape};
use std::collections::BTreeMap;
use std::ops::Range;

/// The maximum depth of a line.
const DEPTH: u32 = 1000;
/// Texts longer than this are shortened to it, in bytes.
const MAX_TEXT: usize = 16;
/// Keys of a line that hold for the unchanged bytes only.
const OLD_KEYS: [&str; 4] = ["raw", "fault", "faults", "findings"];

/// A way to make a message smaller: what a range of its line becomes.
type Cut = (Range<usize>, Vec<u8>);

/// What can be cut from the message of a line at a depth: members and elements, or long texts. Each is one choice.
pub(super) fn cuts(line: &[u8], depth: Option<usize>) -> Vec<Cut> {
    let mut tape = Tape::new();
    let Some(root) = parse(line, &mut tape) else {
        return Vec::new();
    };
    // Bytes that no structured form writes cannot be changed.
    let is_fixed = root
        .get("wire")
        .is_some_and(|wire| wire.get("hex").is_some());
    let Some(message) = root.get("message").filter(|_| !is_fixed) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    match depth {
        Some(depth) => children_at(message, depth, &mut found),
        None => message.each(&mut |node| found.extend(shortened(node))),
    }
    found
}

/// Adds the members and elements at a depth below a value.
fn children_at(node: Node<'_>, depth: usize, found: &mut Vec<Cut>) {
    let children: Vec<(Node<'_>, Span)> = if node.is_map() {
        let members = node.members();
        members
            .map(|(key, value)| (value, Span::new(key.span().at(), value.span().end())))
            .collect()
    } else if node.is_array() {
        node.children().map(|child| (child, child.span())).collect()
    } else {
        return;
    };
    for (child, span) in children {
        if depth == 0 {
            found.push((span.at()..span.end(), Vec::new()));
        } else {
            children_at(child, depth - 1, found);
        }
    }
}

/// Returns the cut that shortens a long text.
fn shortened(node: Node<'_>) -> Option<Cut> {
    let text = node.text().filter(|text| text.len() > MAX_TEXT)?;
    let end = (0..=MAX_TEXT)
        .rev()
        .find(|end| text.is_char_boundary(*end))?;
    let short = serde_json::to_vec(text.get(..end)?).ok()?;
    Some((node.span().at()..node.span().end(), short))
}

/// Returns the line with these cuts.
pub(super) fn cut(line: &[u8], cuts: &[&Cut]) -> Option<Vec<u8>> {
    let mut tape = Tape::new();
    let root = parse(line, &mut tape)?;
    let cuts = cuts
        .iter()
        .map(|(range, new)| (range.start, new.as_slice()));
    let cuts: BTreeMap<usize, &[u8]> = cuts.collect();
    let mut out = Vec::with_capacity(line.len());
    let mut members = Vec::new();
    for (key, value) in root.members() {
        let is_old = OLD_KEYS.iter().any(|old| key.is_text(old));
        let mut text = Vec::new();
        if !is_old && write(value, line, &cuts, &mut text) {
            members.push([key.span().of(line), b":", &text].concat());
        }
    }
    out.push(b'{');
    out.extend_from_slice(&members.join(&b','));
    out.push(b'}');
    Some(out)
}

/// Writes a value without what is cut. Returns false if the value itself is cut.
fn write(node: Node<'_>, line: &[u8], cuts: &BTreeMap<usize, &[u8]>, out: &mut Vec<u8>) -> bool {
    match cuts.get(&node.span().at()) {
        Some([]) => return false,
        Some(new) => out.extend_from_slice(new),
        None if node.is_map() => {
            out.push(b'{');
            let mut is_first = true;
            for (key, value) in node.members() {
                let mut text = Vec::new();
                if cuts.contains_key(&key.span().at()) || !write(value, line, cuts, &mut text) {
                    continue;
                }
                if !std::mem::take(&mut is_first) {
                    out.push(b',');
                }
                out.extend_from_slice(key.span().of(line));
                out.push(b':');
                out.extend_from_slice(&text);
            }
            out.push(b'}');
        }
        None if node.is_array() => {
            out.push(b'[');
            let mut is_first = true;
            for child in node.children() {
                let mut text = Vec::new();
                if !write(child, line, cuts, &mut text) {
                    continue;
                }
                if !std::mem::take(&mut is_first) {
                    out.push(b',');
                }
                out.extend_from_slice(&text);
            }
            out.push(b']');
        }
        None => out.extend_from_slice(node.span().of(line)),
    }
    true
}

/// Encodes a line.
pub(super) fn encode(line: &[u8], options: &EncodeOptions<'_>) -> Option<Vec<u8>> {
    let mut tape = Tape::new();
    let root = parse(line, &mut tape)?;
    let mut encoder = Encoder::new(options.clone(), IdGen::new(0));
    let mut bytes = encoder.encode(root).ok()?.bytes;
    for more in encoder.finish() {
        bytes.extend(more.bytes);
    }
    Some(bytes)
}

fn parse<'t>(line: &'t [u8], tape: &'t mut Tape) -> Option<Node<'t>> {
    json::root(line, DEPTH, tape).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(line: &[u8], depth: Option<usize>, chosen: &[usize]) -> String {
        let all = cuts(line, depth);
        let chosen: Vec<&Cut> = chosen.iter().map(|n| &all[*n]).collect();
        String::from_utf8(cut(line, &chosen).unwrap()).unwrap()
    }

    #[test]
    fn members_elements_and_long_texts_are_cut() {
        let line = br#"{"v":1,"message":{"a":[1,2,{"b":3}],"c":"a text of more than 16 bytes"},"raw":"x"}"#;
        let rows: [(Option<usize>, &[usize], &str); 6] = [
            (
                Some(0),
                &[0],
                r#"{"v":1,"message":{"c":"a text of more than 16 bytes"}}"#,
            ),
            (Some(0), &[0, 1], r#"{"v":1,"message":{}}"#),
            (
                Some(1),
                &[1],
                r#"{"v":1,"message":{"a":[1,{"b":3}],"c":"a text of more than 16 bytes"}}"#,
            ),
            (
                Some(2),
                &[0],
                r#"{"v":1,"message":{"a":[1,2,{}],"c":"a text of more than 16 bytes"}}"#,
            ),
            (
                None,
                &[0],
                r#"{"v":1,"message":{"a":[1,2,{"b":3}],"c":"a text of more t"}}"#,
            ),
            (
                None,
                &[],
                r#"{"v":1,"message":{"a":[1,2,{"b":3}],"c":"a text of more than 16 bytes"}}"#,
            ),
        ];
        for (depth, chosen, wanted) in rows {
            assert_eq!(text(line, depth, chosen), wanted);
        }
        assert!(cuts(line, Some(3)).is_empty());
        assert!(cuts(br#"{"message":[1],"wire":{"hex":"00"}}"#, Some(0)).is_empty());
    }
}
