//! The last line of the screen: counts, and what matters most now.

use super::Theme;
use super::fit::fit;
use crate::cli::count_text;
use crate::cli::watch::entry::Entry;
use crate::cli::watch::model::Model;
use crate::render::style::{Highlight, escape};
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr as _;

/// The number of messages over which the rate is measured.
const RATE_MESSAGES: usize = 100;

/// The rank from which on a count always shows.
const KEPT: u8 = 3;
/// The keys. Only the answer to a key replaces them.
const KEYS: &str = "? help  q quit";

/// Returns the line. If it is too long, the least important counts are left out first.
pub(super) fn line(model: &Model, theme: Theme, width: usize) -> Line<'static> {
    let (highlight, more) = important(model);
    let more = escape(&more).into_owned();
    let mut counts = counts(model);
    let keys = if model.answer.is_empty() { KEYS } else { "" };
    let width = width.saturating_sub(keys.len());
    let space = width.saturating_sub(more.width() + 2);
    let is_long = |counts: &[(u8, String)]| {
        let wide = counts.iter().map(|(_, text)| text.width() + 2);
        wide.sum::<usize>() > space
    };
    while is_long(&counts) {
        if counts.iter().all(|(rank, _)| *rank >= KEPT) {
            break;
        }
        let least = counts.iter().map(|(rank, _)| *rank).min();
        counts.retain(|(rank, _)| Some(*rank) != least);
    }
    let mut before = String::new();
    for (_, text) in &counts {
        before.push_str(text);
        before.push_str("  ");
    }
    let mut spans = vec![Span::raw(before)];
    if !more.is_empty() {
        let gap = if keys.is_empty() { "" } else { "  " };
        let used = spans.iter().map(Span::width).sum::<usize>() + gap.len();
        let more = fit(&more, width.saturating_sub(used));
        spans.push(Span::styled(more + gap, theme.style(highlight)));
    }
    spans.push(Span::styled(keys, theme.style(Highlight::Dim)));
    Line::from(spans)
}

/// Returns the answer to a key, who must send next, or a note until the next key.
fn important(model: &Model) -> (Highlight, String) {
    let store = model.shared.store();
    let status = &store.status;
    let is_seen = |note: &String| model.seen_note.as_ref() == Some(note);
    if !model.answer.is_empty() {
        (Highlight::Note, model.answer.clone())
    } else if let Some(waiting) = status.waiting.first() {
        (Highlight::Error, waiting.clone())
    } else if let Some(note) = status.notes.last().filter(|note| !is_seen(note)) {
        (Highlight::Note, note.clone())
    } else {
        (Highlight::Dim, String::new())
    }
}

/// Returns the counts with their ranks; a higher one is more important.
fn counts(model: &Model) -> Vec<(u8, String)> {
    let store = model.shared.store();
    let (count, status) = (store.entries.len(), &store.status);
    let mut all = vec![(3, count_text(count as u64, "message", "messages"))];
    let first = store.entries.get(count.saturating_sub(RATE_MESSAGES));
    let last = store.entries.get(count.saturating_sub(1));
    let times = first.and_then(Entry::time).zip(last.and_then(Entry::time));
    // A file that was read has no rate now.
    if let Some((from, to)) = times.filter(|(from, to)| to > from && !status.ended) {
        #[allow(clippy::cast_precision_loss)] // a rate for display
        let rate = (RATE_MESSAGES.min(count) - 1) as f64 / ((to - from) as f64 / 1e9);
        all.push((0, format!("{rate:.1}/s")));
    }
    all.push((1, format!("{} open", store.open)));
    all.push((2, count_text(store.finding_count, "finding", "findings")));
    if model.is_paused() {
        all.push((5, "paused".to_owned()));
    }
    if !status.ended {
        all.push((4, "reading".to_owned()));
    } else if store.judged < count {
        let percent = store.judged as u64 * 100 / count as u64;
        all.push((4, format!("rules {percent}%")));
    }
    all
}
