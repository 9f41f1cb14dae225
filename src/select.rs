//! Which frames are wanted.

use crate::decoder::Decoded;
use crate::protocol::{Direction, Role};

/// What a frame must be like; what is left empty does not matter.
#[derive(Clone, Debug, Default)]
pub struct Select {
    /// One of these kinds; `*` stands for any run of characters.
    pub kinds: Vec<String>,
    /// One of these roles.
    pub roles: Vec<Role>,
    /// One of these ids, as shown; a JSON string with or without its quotes.
    pub ids: Vec<String>,
    /// One of these subjects; `*` stands for any run of characters.
    pub subjects: Vec<String>,
    /// This direction.
    pub direction: Option<Direction>,
    /// One of these connections.
    pub conns: Vec<u32>,
    /// Something is wrong with it.
    pub faults: bool,
    /// This text stands in it: in the message as JSON, or in its bytes.
    pub grep: Option<String>,
}

impl Select {
    /// Whether anything is asked at all.
    pub fn is_open(&self) -> bool {
        self.kinds.is_empty()
            && self.roles.is_empty()
            && self.ids.is_empty()
            && self.subjects.is_empty()
            && self.direction.is_none()
            && self.conns.is_empty()
            && !self.faults
            && self.grep.is_none()
    }

    /// Whether a frame is wanted. `scratch` is room to search in, kept from frame to frame.
    pub fn matches(&self, decoded: &Decoded<'_>, scratch: &mut Vec<u8>) -> bool {
        let (message, origin) = (decoded.message, decoded.origin);
        let any = |patterns: &[String], text: &str| {
            patterns.is_empty() || patterns.iter().any(|p| glob(p, text))
        };
        any(&self.kinds, &message.kind)
            && (self.roles.is_empty() || message.role.is_some_and(|r| self.roles.contains(&r)))
            && (self.ids.is_empty() || self.id_matches(&message.id.text()))
            && (self.subjects.is_empty()
                || message
                    .subject
                    .as_deref()
                    .is_some_and(|s| any(&self.subjects, s)))
            && (self.direction.is_none() || origin.direction == self.direction)
            && (self.conns.is_empty() || origin.conn.is_some_and(|c| self.conns.contains(&c)))
            && (!self.faults || decoded.is_faulty())
            && self
                .grep
                .as_deref()
                .is_none_or(|text| contains(decoded, text, scratch))
    }

    fn id_matches(&self, id: &str) -> bool {
        let bare = id
            .strip_prefix('"')
            .and_then(|t| t.strip_suffix('"'))
            .unwrap_or(id);
        self.ids
            .iter()
            .any(|wanted| wanted == id || wanted == bare || wanted.eq_ignore_ascii_case(id))
    }
}

fn contains(decoded: &Decoded<'_>, text: &str, scratch: &mut Vec<u8>) -> bool {
    scratch.clear();
    decoded.write_message(scratch);
    let bytes = decoded.frame.view.bytes;
    [scratch.as_slice(), bytes]
        .into_iter()
        .any(|hay| memchr::memmem::find(hay, text.as_bytes()).is_some())
}

/// Whether text is what a pattern says; `*` stands for any run of characters.
pub fn glob(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else {
        return false;
    };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        match rest.find(part) {
            Some(at) => rest = rest.get(at + part.len()..).unwrap_or_default(),
            None => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::glob;

    #[test]
    fn patterns() {
        for (pattern, text, want) in [
            ("math.add", "math.add", true),
            ("math.*", "math.add", true),
            ("*.add", "math.add", true),
            ("m*a*d", "math.add", true),
            ("*", "", true),
            ("a*a", "a", false),
            ("math", "math.add", false),
            ("", "x", false),
        ] {
            assert_eq!(glob(pattern, text), want, "{pattern} {text}");
        }
    }
}
