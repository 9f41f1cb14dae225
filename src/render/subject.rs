//! Shows what a message is about.

use crate::decoder::Decoded;
use crate::framing::Head;
use crate::framing::fields::{masked, text_secrets, without};
use crate::protocol::session::{Answer, name_of};
use crate::protocol::with_name;
use std::borrow::Cow;

/// The maximum length of the name of a place; of a longer one, the end is shown.
const MAX_NAME: usize = 32;

/// Returns the subject of a message and its name: `tools/call echo`. Without `show_secrets`, secrets are removed: a
/// request is named by its target.
pub fn subject<'a>(
    decoded: &Decoded<'a>,
    answer: Option<&'a Answer>,
    show_secrets: bool,
) -> Option<Cow<'a, str>> {
    let name = name_of(decoded.message, answer).map(|name| match name {
        _ if show_secrets => Cow::Borrowed(name),
        _ => without(name, &text_secrets(name.as_bytes())),
    });
    let subject = plain_subject(decoded, show_secrets);
    let Some(name) = name else {
        return subject;
    };
    let both = with_name(subject.as_deref(), Some(end_of(&name)));
    Some(Cow::Owned(both.into_owned()))
}

/// Returns the end of a long path or address: `…/src/main.rs`.
fn end_of(name: &str) -> &str {
    let start = name.len().saturating_sub(MAX_NAME);
    let mut slashes = name.match_indices('/').map(|(at, _)| at + 1);
    let end = slashes.find(|at| start > 0 && *at >= start && *at < name.len());
    end.and_then(|at| name.get(at..)).unwrap_or(name)
}

fn plain_subject<'a>(decoded: &Decoded<'a>, show_secrets: bool) -> Option<Cow<'a, str>> {
    let subject = decoded.message.subject.as_deref()?;
    Some(match decoded.frame.head {
        _ if show_secrets => Cow::Borrowed(subject),
        Head::Http { .. } => masked(subject),
        _ => without(subject, &text_secrets(subject.as_bytes())),
    })
}
