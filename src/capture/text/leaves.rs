//! The objects in the lists of JSON on one line: `{"events":[{"data":"0041"},{"data":"0042"}]}` has two.

use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// The most lists inside each other.
const MAX_DEPTH: u32 = 16;

/// Returns the objects of the innermost lists of objects, in their order; `None` if the line has no such list.
pub(super) fn leaves(line: &[u8]) -> Option<Vec<&[u8]>> {
    memchr::memmem::find(line, b"[{")?;
    let value: &RawValue = serde_json::from_slice(line).ok()?;
    let mut found = Vec::new();
    collect(value, 0, &mut found).then_some(found)
}

/// Collects the objects of the lists in a value; returns true if it has such a list.
fn collect<'t>(value: &'t RawValue, depth: u32, found: &mut Vec<&'t [u8]>) -> bool {
    let text = value.get();
    if depth > MAX_DEPTH {
        return false;
    }
    if text.starts_with("[{") {
        let elements = serde_json::from_str::<Vec<&RawValue>>(text).unwrap_or_default();
        for element in elements {
            if !collect(element, depth + 1, found) {
                found.push(element.get().as_bytes());
            }
        }
        return true;
    }
    if !text.starts_with('{') || memchr::memmem::find(text.as_bytes(), b"[{").is_none() {
        return false;
    }
    let members = serde_json::from_str::<BTreeMap<String, &RawValue>>(text).unwrap_or_default();
    let mut members: Vec<_> = members.into_values().collect();
    members.sort_by_key(|member| member.get().as_ptr() as usize);
    let mut has_list = false;
    for member in members {
        has_list |= collect(member, depth + 1, found);
    }
    has_list
}

#[cfg(test)]
mod tests {
    use super::leaves;

    #[test]
    fn objects_of_the_innermost_lists_are_found() {
        for (line, wanted) in [
            (r#"[{"a":1},{"a":2}]"#, &[r#"{"a":1}"#, r#"{"a":2}"#][..]),
            (
                r#"{"t":[{"e":[{"b":{"c":1}},{"b":2}]},{"d":3}]}"#,
                &[r#"{"b":{"c":1}}"#, r#"{"b":2}"#, r#"{"d":3}"#],
            ),
            (r#"{"a":[{}]}"#, &["{}"]),
        ] {
            let found = leaves(line.as_bytes()).unwrap();
            let found: Vec<_> = found.into_iter().map(String::from_utf8_lossy).collect();
            assert_eq!(found, wanted, "{line}");
        }
        for line in [r#"{"a":1}"#, r#"{"a":"[{"}"#, r#"{"a":[{"b""#] {
            assert!(leaves(line.as_bytes()).is_none(), "{line}");
        }
    }
}
