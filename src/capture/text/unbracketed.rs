//! Objects without brackets, as `str()` of a pydantic model and some loggers print them.
//!
//! ```text
//!   DEBUG Sending: jsonrpc='2.0' id=1 method='initialize' params={'a': None}
//! ```

use super::literal::{self, Literal};

/// The members that make an object.
const LEAST: usize = 2;
/// The most places of a line where members may begin.
const MAX_STARTS: usize = 8;

/// Returns a line with the first such members as an object in JSON; `None` if it has none. `is_message` judges the object.
pub(super) fn with_brackets(
    line: &[u8],
    mut is_message: impl FnMut(&[u8]) -> bool,
) -> Option<Vec<u8>> {
    let mut from = 0;
    for _ in 0..MAX_STARTS {
        let sign = from + memchr::memchr(b'=', line.get(from..)?)?;
        from = sign + 1;
        let name = name_before(line.get(..sign)?)?;
        let start = sign - name.len();
        let Some((object, rest)) = members(line.get(start..)?) else {
            continue;
        };
        if is_message(&object) {
            return Some([line.get(..start)?, &object, rest].concat());
        }
        from = line.len() - rest.len();
    }
    None
}

/// Returns the name that a text ends with.
fn name_before(text: &[u8]) -> Option<&[u8]> {
    let is_name = |c: &u8| c.is_ascii_alphanumeric() || *c == b'_';
    let start = text
        .iter()
        .rposition(|c| !is_name(c))
        .map_or(0, |at| at + 1);
    text.get(start..)
}

/// Reads members with blanks between them; returns the object, and the text after it.
fn members(text: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let mut object = b"{".to_vec();
    let (mut rest, mut count) = (text, 0);
    loop {
        let sign = memchr::memchr(b'=', rest);
        let name = sign.and_then(|sign| rest.get(..sign));
        let name = name.filter(|name| !name.is_empty() && name_before(name) == Some(name));
        let Some((name, value)) = name.and_then(|name| Some((name, rest.get(name.len() + 1..)?)))
        else {
            break;
        };
        let mut json = Vec::new();
        let Literal::Value { len, .. } = literal::read(value, &mut json) else {
            break;
        };
        // A model has a member without a value, a message does not.
        if !value.starts_with(b"None") {
            if object.len() > 1 {
                object.push(b',');
            }
            object.extend([b"\"", name, b"\":", &json].concat());
        }
        count += 1;
        let shown = value.get(..len)?.trim_ascii_end();
        rest = value.get(shown.len()..)?;
        match rest.strip_prefix(b" ") {
            Some(next) => rest = next,
            None => break,
        }
    }
    object.push(b'}');
    (count >= LEAST).then_some((object, rest))
}
