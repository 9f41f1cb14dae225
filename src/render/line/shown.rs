//! The text of a message as screens show it, for searches.

use super::super::kind_text;
use super::content::Content;
#[cfg(feature = "cli")]
use super::content::MAX_TEXT;
use crate::conversation::Verdict;
use crate::decoder::Decoded;
use crate::escape::escape;
use crate::protocol::Notes;
#[cfg(feature = "cli")]
use crate::protocol::session::Answer;
use crate::render::{findings, subject};

/// Returns what lines show of a message, without columns and without limits of length, and all its values in the same
/// notation: `{content: [], isError: true}`.
pub(crate) fn shown(decoded: &Decoded<'_>, verdict: Option<Verdict<'_>>) -> String {
    let answer = verdict.and_then(|verdict| verdict.answer);
    let mut all = shown_names(decoded, verdict);
    let mut notes = Notes::of_secrets();
    let content = Content {
        show_secrets: false,
        space: usize::MAX,
        text: usize::MAX,
        escapes: false,
    };
    let mut detail = findings::outcome(decoded, answer).into_owned();
    content.push(decoded, &mut notes, &mut detail);
    detail.push('\n');
    content.push_whole(decoded, &mut notes, &mut detail);
    for line in detail.split('\n') {
        all.push(' ');
        all.push_str(&escape(line));
    }
    all
}

/// Returns kind, subject and name of a message, as lines show them.
#[cfg(feature = "cli")]
pub(crate) fn names(decoded: &Decoded<'_>, answer: Option<&Answer>, show_secrets: bool) -> String {
    let mut all = kind_text(decoded.message, "-").into_owned();
    let own = subject::subject(decoded, answer, show_secrets);
    let asked = answer.and_then(|answer| answer.subject.as_deref());
    let asked = asked.map(|asked| subject::masked_subject(asked, show_secrets));
    if let Some(what) = subject::of_answer(decoded, own, asked) {
        all.push(' ');
        all.push_str(&what);
    }
    all
}

/// Returns the content of a message, as lines show it, without limits of length.
#[cfg(feature = "cli")]
pub(crate) fn content(decoded: &Decoded<'_>, show_secrets: bool) -> String {
    let content = Content {
        show_secrets,
        space: usize::MAX,
        text: usize::MAX,
        escapes: true,
    };
    let mut text = String::new();
    content.push(decoded, &mut Notes::of_secrets(), &mut text);
    text
}

/// Returns what lines show of a message except its values: kind, subject, name and id.
pub(crate) fn shown_names(decoded: &Decoded<'_>, verdict: Option<Verdict<'_>>) -> String {
    let answer = verdict.and_then(|verdict| verdict.answer);
    let mut all = kind_text(decoded.message, "-").into_owned();
    let own = subject::subject(decoded, answer, false);
    let asked = answer.and_then(|answer| answer.subject.as_deref());
    let asked = asked.map(|asked| subject::masked_subject(asked, false));
    let what = subject::of_answer(decoded, own, asked);
    for part in [what, Some(decoded.message.id.text())] {
        all.push(' ');
        all.push_str(&part.unwrap_or_default());
    }
    all
}

/// Returns the outcome of a message and its content in brief, as lines show them in this space.
#[cfg(feature = "cli")]
pub(crate) fn content_text(
    decoded: &Decoded<'_>,
    answer: Option<&Answer>,
    show_secrets: bool,
    space: usize,
    notes: &mut Notes,
) -> String {
    let content = Content {
        show_secrets,
        space,
        text: MAX_TEXT,
        escapes: true,
    };
    let mut text = findings::outcome(decoded, answer).into_owned();
    content.push(decoded, notes, &mut text);
    text
}
