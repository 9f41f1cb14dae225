//! The shape of an output: what an input made the program do, without its values.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hasher as _};

/// The members of JSON lines that tell one behaviour from another.
const MEMBERS: [&str; 6] = [
    "\"framing\":\"",
    "\"kind\":\"",
    "\"code\":\"",
    "\"role\":\"",
    "\"wanted\":\"",
    "\"outcome\":\"",
];

/// Returns a number for the set of values of these members.
pub fn of_lines(lines: &str) -> u64 {
    let mut seen = BTreeSet::new();
    for (n, member) in MEMBERS.iter().enumerate() {
        for (at, _) in lines.match_indices(member) {
            let rest = &lines[at + member.len()..];
            let value = rest.split('"').next().unwrap_or_default();
            // Values of the input are not behaviour.
            let is_name =
                value.len() < 40 && !value.bytes().any(|b| b.is_ascii_digit() || b == b'\\');
            seen.insert((n, if is_name { value } else { "" }));
        }
    }
    of(&seen)
}

/// Returns a number for a value.
pub fn of(value: &(impl std::hash::Hash + ?Sized)) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish() | 1
}
