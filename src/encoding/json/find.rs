//! Finds a member of an object whose values the tape does not hold.

use crate::span::{Span, SpannedText};
use crate::tape::{KeyName, Scalar, Shape, Sink, unescape};

/// Returns the text of a member of the object that fills `span` of `bytes`. If the key is repeated, the last text counts.
pub fn find_text<'a>(bytes: &'a [u8], span: Span, key: &str) -> Option<SpannedText<'a>> {
    let mut finder = MemberFinder {
        key,
        level: 0,
        at_key: false,
        matches: false,
        found: None,
    };
    super::parse(bytes, span, u32::MAX, &mut finder).ok()?;
    let (at, is_escaped) = finder.found?;
    let text = Span::new(at.at() + 1, at.end().saturating_sub(1)).of(bytes);
    let text = std::str::from_utf8(text).ok()?;
    Some(if is_escaped {
        SpannedText::new(unescape(text), at)
    } else {
        SpannedText::new(text, at)
    })
}

struct MemberFinder<'k> {
    key: &'k str,
    level: u32,
    at_key: bool,
    /// The next value is that of the key.
    matches: bool,
    /// The position of the text, and true if it has escapes.
    found: Option<(Span, bool)>,
}

impl Sink for MemberFinder<'_> {
    fn key(&mut self) {
        self.at_key = self.level == 1;
    }

    fn scalar(&mut self, at: Span, value: Scalar<'_>) {
        if std::mem::take(&mut self.at_key) {
            self.matches =
                matches!(value, Scalar::Json(name, false) if name == self.key.as_bytes());
        } else if std::mem::take(&mut self.matches)
            && let Scalar::Json(_, is_escaped) = value
        {
            self.found = Some((at, is_escaped));
        }
    }

    fn open(&mut self, _: usize, _: Shape) {
        self.level += 1;
        self.matches = false;
    }

    fn close(&mut self, _: usize) {
        self.level -= 1;
    }

    fn skips(&self) -> bool {
        self.level > 1
    }

    fn label(&mut self, _: usize, _: u32, _: &KeyName) {}
}
