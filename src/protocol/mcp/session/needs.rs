//! Capabilities that methods need.

use crate::protocol::Direction;
use crate::protocol::schema::MessageSchema;
use crate::protocol::session::Severity;

/// The capability that a method needs, by the start of its name. The receiver of a request declares it, and the sender
/// of a notification.
const NEEDS: &[(&str, &str)] = &[
    ("completion/", "completions"),
    ("elicitation/", "elicitation"),
    ("logging/", "logging"),
    ("notifications/message", "logging"),
    ("notifications/prompts/list_changed", "prompts.listChanged"),
    (
        "notifications/resources/list_changed",
        "resources.listChanged",
    ),
    ("notifications/resources/updated", "resources.subscribe"),
    ("notifications/roots/list_changed", "roots.listChanged"),
    ("notifications/tools/list_changed", "tools.listChanged"),
    ("prompts/", "prompts"),
    ("resources/subscribe", "resources.subscribe"),
    ("resources/unsubscribe", "resources.subscribe"),
    ("resources/", "resources"),
    ("roots/", "roots"),
    ("sampling/", "sampling"),
    ("tasks/cancel", "tasks.cancel"),
    ("tasks/list", "tasks.list"),
    ("tasks/", "tasks"),
    ("tools/", "tools"),
];

/// Returns the capability that a method needs, the direction in which its owner sends, and the severity of a lack.
pub(super) fn need(
    method: &MessageSchema,
    direction: Direction,
) -> Option<(&'static str, Direction, Severity)> {
    let (_, path) = NEEDS
        .iter()
        .find(|(start, _)| method.name.starts_with(start))?;
    Some(if method.answered {
        (path, direction.other(), Severity::Error)
    } else {
        // The receiver ignores what it does not expect.
        (path, direction, Severity::Info)
    })
}
