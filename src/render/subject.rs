//! Shows what a message is about.

use crate::decoder::Decoded;
use crate::framing::Head;
use crate::framing::fields::{masked, text_secrets, without};
use crate::protocol::session::{Answer, name_of};
use crate::protocol::with_name;
use std::borrow::Cow;

/// The maximum length of a path or an address; of a longer one, the end is shown.
const MAX_NAME: usize = 24;
/// The maximum length of that end, unless its last part is longer.
const MAX_END: usize = 14;

/// Returns the subject of a message and its name: `tools/call echo`. Without `show_secrets`, secrets are removed: a
/// request is named by its target.
pub fn subject<'a>(
    decoded: &Decoded<'a>,
    answer: Option<&'a Answer>,
    show_secrets: bool,
) -> Option<Cow<'a, str>> {
    let (subject, name) = parts(decoded, answer, show_secrets);
    let Some(name) = name else {
        return subject;
    };
    let name = end_of(&name);
    let both = with_name(subject.as_deref(), Some(&name));
    Some(Cow::Owned(both.into_owned()))
}

/// Returns the subject of a message, and its name within the subject. Without `show_secrets`, secrets are removed.
pub(crate) fn parts<'a>(
    decoded: &Decoded<'a>,
    answer: Option<&'a Answer>,
    show_secrets: bool,
) -> (Option<Cow<'a, str>>, Option<Cow<'a, str>>) {
    let name = name_of(decoded.message, answer);
    let name = name.map(|name| masked_subject(name, show_secrets));
    (plain_subject(decoded, show_secrets), name)
}

/// Returns the end of a long path or address: `…/src/main.rs`.
fn end_of(name: &str) -> Cow<'_, str> {
    if name.len() <= MAX_NAME {
        return Cow::Borrowed(name);
    }
    let parts = name.trim_end_matches('/').match_indices('/');
    let mut end = None;
    for (at, _) in parts {
        end = Some(at);
        if name.len() - at <= MAX_END {
            break;
        }
    }
    match end.and_then(|at| name.get(at..)) {
        Some(end) if end.len() > 1 => Cow::Owned(format!("…{end}")),
        _ => Cow::Borrowed(name),
    }
}

/// Returns what an answer is about: the subject of its request, and its own name.
pub(super) fn of_answer<'s>(
    decoded: &Decoded<'_>,
    own: Option<Cow<'s, str>>,
    asked: Option<Cow<'s, str>>,
) -> Option<Cow<'s, str>> {
    match (own, asked) {
        (Some(name), Some(asked)) if decoded.message.subject.is_none() => Some(Cow::Owned(
            with_name(Some(&asked), Some(&name)).into_owned(),
        )),
        (own, asked) => own.or(asked),
    }
}

/// Returns a subject without secrets, or as it is.
pub(crate) fn masked_subject(subject: &str, show_secrets: bool) -> Cow<'_, str> {
    if show_secrets {
        return Cow::Borrowed(subject);
    }
    without(subject, &text_secrets(subject.as_bytes()))
}

fn plain_subject<'a>(decoded: &Decoded<'a>, show_secrets: bool) -> Option<Cow<'a, str>> {
    let subject = decoded.message.subject.as_deref()?;
    Some(match decoded.frame.head {
        Head::Http { .. } if !show_secrets => masked(subject),
        _ => masked_subject(subject, show_secrets),
    })
}
