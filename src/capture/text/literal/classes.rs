//! Objects of classes that stand for values of JSON.
//!
//! ```text
//!   bless( do{\(my $o = 1)}, 'JSON::PP::Boolean' )     true, in Perl
//!   OrderedDict([('id', 1)])                           an object, in Python before 3.12
//! ```

use super::push_string;
use serde_json::value::RawValue;

/// Reads a boolean of `JSON::PP` behind `bless`, as Perl prints it; returns the text after it.
pub(super) fn boolean_of_perl(text: &[u8]) -> Option<(&'static [u8], &[u8])> {
    const MAX_LEN: usize = 80;
    let text = text.trim_ascii_start();
    let near = text.get(..MAX_LEN).unwrap_or(text);
    let end = memchr::memmem::find(near, b"Boolean'")? + b"Boolean'".len();
    let (shown, rest) = text.split_at_checked(end)?;
    let digit = shown.iter().find(|c| c.is_ascii_digit())?;
    let value: &[u8] = if *digit == b'0' { b"false" } else { b"true" };
    let is_bless = shown.starts_with(b"(");
    let rest = rest.trim_ascii_start().strip_prefix(b")")?;
    is_bless.then_some((value, rest))
}

/// Writes a list of pairs, which begins at `start`, as an object: `OrderedDict([('id', 1)])`.
pub(super) fn pairs_as_members(out: &mut Vec<u8>, start: usize) {
    let list = out.get(start..).unwrap_or_default();
    let Ok(pairs) = serde_json::from_slice::<Vec<(String, Box<RawValue>)>>(list) else {
        return;
    };
    out.truncate(start);
    out.push(b'{');
    for (n, (key, value)) in pairs.iter().enumerate() {
        if n > 0 {
            out.push(b',');
        }
        push_string(key.as_bytes(), out);
        out.push(b':');
        out.extend_from_slice(value.get().as_bytes());
    }
    out.push(b'}');
}
