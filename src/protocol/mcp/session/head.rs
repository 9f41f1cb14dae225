//! Checks of the heads of HTTP responses.

use crate::framing::Head;
use crate::protocol::Role;
use crate::protocol::rule_names::mcp as rule;
use crate::protocol::session::text::short;
use crate::protocol::session::{Current, broken, http};

/// Checks the head of a response that has a message.
pub(super) fn check_response(seen: Current<'_, '_>) {
    let (Head::Http { status, .. }, Some(head)) = (seen.frame.head, http::head(&seen)) else {
        return;
    };
    if status == 0 {
        return;
    }
    if memchr::memmem::find(head, b"\r\n").is_none() {
        broken!(seen, rule::HEADER_LINE_END, seen.whole();
            "the lines of the head end in LF; they should end in CR LF");
    }
    let is_answer = matches!(seen.message.role, Some(Role::Response | Role::Error));
    if is_answer && (200..300).contains(&status) {
        let (kind, place) = http::field(head, "content-type");
        let is_json = |kind: &str| kind.to_ascii_lowercase().contains("json");
        if !kind.as_deref().is_some_and(is_json) {
            let kind = kind.map_or("missing".into(), |kind| short(&kind));
            broken!(seen, rule::CONTENT_TYPE, seen.span(place);
                "Content-Type is {kind}; it should be application/json");
        }
    }
}
