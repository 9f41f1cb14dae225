//! Checks of header blocks (LSP 3.17, "Header Part").

use crate::framing::fields::fields;
use crate::framing::{Framing, Head};
use crate::protocol::rule_names::lsp as rule;
use crate::protocol::session::{Current, broken};
use crate::span::Span;

/// Checks the header block of a frame.
pub(super) fn check(seen: Current<'_, '_>) {
    let frame = seen.frame;
    if frame.framing != Framing::ContentLength || !matches!(frame.head, Head::Length(_)) {
        return;
    }
    let block = frame
        .view
        .bytes
        .get(..frame.view.body.at())
        .unwrap_or_default();
    if memchr::memmem::find(block, b"\r\n").is_none() {
        broken!(seen, rule::HEADER_LINE_END, seen.whole();
            "the lines of the header end in LF; they should end in CR LF");
    }
    let mut lengths = 0;
    for field in fields(block) {
        let value = block.get(field.value.clone()).unwrap_or_default();
        let place = seen.span(Span::new(field.range.start, field.value.end));
        if field.is("content-length") {
            lengths += 1;
            if lengths == 2 {
                broken!(seen, rule::LENGTH_REPEATED, place;
                    "Content-Length is there twice; some readers take the first, others take the \
                    last");
            }
            let usual = block
                .get(field.range.start..)
                .is_some_and(|line| line.starts_with(b"Content-Length: "));
            if !usual {
                broken!(seen, rule::HEADER_SPELLING, place;
                    "the field is not written as \"Content-Length: \"; some readers need exactly \
                    that");
            }
        } else if field.is("content-type") {
            let value = value.to_ascii_lowercase();
            let charset =
                memchr::memmem::find(&value, b"charset=").and_then(|at| value.get(at + 8..));
            let is_utf8 = |set: &[u8]| set.starts_with(b"utf-8") || set.starts_with(b"utf8");
            if charset.is_some_and(|set| !is_utf8(set)) {
                broken!(seen, rule::CHARSET, place;
                    "the charset is not utf-8; readers read the body as UTF-8 anyway");
            }
        }
    }
}
