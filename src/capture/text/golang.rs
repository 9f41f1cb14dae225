//! Values of Go as `%#v` prints them, with their types.
//!
//! ```text
//!   map[string]interface {}{"id":1, "params":[]interface {}{1, 2}}      {"id":1, "params":[1, 2]}
//! ```

/// Types before the brackets of their values.
const MAPS: [&[u8]; 2] = [b"map[string]interface {}{", b"map[string]any{"];
const LISTS: [&[u8]; 5] = [
    b"[]interface {}{",
    b"[]any{",
    b"[]string{",
    b"[]map[string]interface {}{",
    b"[]map[string]any{",
];
const NOTHING: [&[u8]; 4] = [
    b"map[string]interface {}(nil)",
    b"[]interface {}(nil)",
    b"interface {}(nil)",
    b"<nil>",
];

/// Returns the bytes that `%v` prints as `[123 34 106]`, and the length of the list.
pub(super) fn bytes(text: &[u8]) -> Option<(Vec<u8>, usize)> {
    let numbers = text.strip_prefix(b"[")?;
    let is_number = |c: &u8| c.is_ascii_digit() || *c == b' ';
    let len = numbers.iter().position(|c| !is_number(c))?;
    let (numbers, end) = numbers.split_at_checked(len)?;
    let numbers = std::str::from_utf8(numbers).ok()?.split(' ');
    let bytes: Option<Vec<u8>> = numbers.map(|number| number.parse().ok()).collect();
    end.starts_with(b"]").then_some((bytes?, len + 2))
}

/// Returns a line as JSON writes its values; `None` if it has no such types.
pub(super) fn without_types(line: &[u8]) -> Option<Vec<u8>> {
    let has_type = |mark: &&[u8]| memchr::memmem::find(line, mark).is_some();
    if !MAPS.iter().any(has_type) {
        return None;
    }
    let mut out = Vec::with_capacity(line.len());
    let mut open = Vec::new();
    let mut rest = line;
    while let Some((&c, after)) = rest.split_first() {
        let behind = |marks: &[&[u8]]| marks.iter().find_map(|mark| rest.strip_prefix(*mark));
        if c == b'"' {
            let end = end_of_string(after);
            let (string, next) = rest.split_at_checked(end + 1).unwrap_or((rest, b""));
            out.extend_from_slice(string);
            rest = next;
        } else if let Some(next) = behind(&NOTHING) {
            out.extend_from_slice(b"null");
            rest = next;
        } else if let Some(next) = behind(&MAPS) {
            out.push(b'{');
            open.push(b'}');
            rest = next;
        } else if let Some(next) = behind(&LISTS) {
            out.push(b'[');
            open.push(b']');
            rest = next;
        } else {
            if c == b'{' {
                open.push(b'}');
            }
            out.push(if c == b'}' {
                open.pop().unwrap_or(c)
            } else {
                c
            });
            rest = after;
        }
    }
    Some(out)
}

/// The place after the quote that ends a string.
fn end_of_string(text: &[u8]) -> usize {
    let mut at = 0;
    while let Some(next) = text
        .get(at..)
        .and_then(|rest| memchr::memchr2(b'"', b'\\', rest))
    {
        at += next;
        if text.get(at) == Some(&b'"') {
            return at + 1;
        }
        at += 2;
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_of_go_are_removed() {
        for (line, want) in [
            (
                r#"send map[string]interface {}{"id":1, "p":[]interface {}{1, map[string]interface {}{"a":"}\"{"}}, "n":interface {}(nil)}"#,
                Some(r#"send {"id":1, "p":[1, {"a":"}\"{"}], "n":null}"#),
            ),
            (
                r#"map[string]any{"a":[]string{"b"}}"#,
                Some(r#"{"a":["b"]}"#),
            ),
            (r#"map[string]any{"a":"b"#, Some(r#"{"a":"b"#)),
            (r#"{"a":1}"#, None),
        ] {
            let found = without_types(line.as_bytes());
            assert_eq!(found.as_deref(), want.map(str::as_bytes), "{line}");
        }
    }
}
