//! `wiretool snapshot review`: reviews new snapshots one by one, on a terminal.
//!
//! ```text
//!   1 of 3  captures/session.jsonl  changed
//!     - old line
//!     + new line
//!   a accept   r reject   s skip   d whole   q quit ?
//! ```

use super::interrupt::Stop;
use super::options::{self, SharedArgs};
use super::snapshot::{
    FoundFixture, ReviewDecision, decide, read_stored, write_difference, write_whole,
};
use super::terminal_input::{RawMode, has_event};
use super::{Exit, print_message};
use crate::render::DisplayOptions;
use crate::render::style::Highlight;
use anyhow::{Context as _, Result, bail};
use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, read};
use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The maximum time that a wait for a key delays a signal.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// The help of the keys.
const HELP: &str = "help\n
    a  accept: the new text becomes the snapshot
    A  accept this one and all that follow
    r  reject: the new text is removed, the snapshot stays
    s  skip: it waits for the next review
    b  back to the last skipped one
    d  the difference, or the whole new text
    q  quit; also Esc, and Ctrl-C with exit code 130

";

/// The action of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReviewAction {
    Accept,
    Reject,
    AcceptAll,
    Skip,
    Back,
    Toggle,
    Help,
    Quit,
    Interrupt,
}

impl ReviewAction {
    /// Returns the action of a key; most keys have none.
    fn of(key: KeyEvent) -> Option<Self> {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            _ if key.kind == KeyEventKind::Release => None,
            KeyCode::Char('c') if control => Some(Self::Interrupt),
            _ if control => None,
            KeyCode::Char('a') => Some(Self::Accept),
            KeyCode::Char('A') => Some(Self::AcceptAll),
            KeyCode::Char('b') => Some(Self::Back),
            KeyCode::Char('?' | 'h') => Some(Self::Help),
            KeyCode::Char('r') => Some(Self::Reject),
            KeyCode::Char('s') => Some(Self::Skip),
            KeyCode::Char('d') => Some(Self::Toggle),
            KeyCode::Char('q') | KeyCode::Esc => Some(Self::Quit),
            _ => None,
        }
    }
}

/// The state of a review; uses no terminal and no file.
#[derive(Debug, Default)]
struct Review {
    at: usize,
    of: usize,
    /// The whole new snapshot is shown instead of the differences.
    whole: bool,
    /// All remaining snapshots are accepted.
    all: bool,
    /// For each snapshot: true if it was decided.
    decided: Vec<bool>,
    accepted: usize,
    rejected: usize,
    failed: usize,
}

impl Review {
    fn new(of: usize) -> Self {
        Self {
            of,
            decided: vec![false; of],
            ..Self::default()
        }
    }

    /// Moves to the next undecided snapshot.
    fn advance(&mut self) {
        let rest = (self.at + 1..self.of).find(|at| self.decided.get(*at) == Some(&false));
        self.at = rest.unwrap_or(self.of);
    }

    /// Applies an action. Returns the decision about the snapshot that was current, which the caller carries out.
    fn apply(&mut self, action: ReviewAction) -> Option<ReviewDecision> {
        let decision = match action {
            ReviewAction::Toggle => {
                self.whole = !self.whole;
                return None;
            }
            ReviewAction::Back => {
                let before = (0..self.at).rfind(|at| self.decided.get(*at) == Some(&false));
                self.at = before.unwrap_or(self.at);
                return None;
            }
            ReviewAction::Quit => {
                self.at = self.of;
                return None;
            }
            ReviewAction::Help | ReviewAction::Interrupt => return None,
            ReviewAction::Accept | ReviewAction::AcceptAll => Some(ReviewDecision::Accept),
            ReviewAction::Reject => Some(ReviewDecision::Reject),
            ReviewAction::Skip => None,
        };
        self.all |= action == ReviewAction::AcceptAll;
        if let (Some(_), Some(decided)) = (decision, self.decided.get_mut(self.at)) {
            *decided = true;
        }
        self.advance();
        decision
    }

    /// Records that a decision was carried out, or failed.
    fn record_decision(&mut self, decision: ReviewDecision, done: bool) {
        *match (decision, done) {
            (_, false) => &mut self.failed,
            (ReviewDecision::Accept, true) => &mut self.accepted,
            (ReviewDecision::Reject, true) => &mut self.rejected,
        } += 1;
    }

    fn is_over(&self) -> bool {
        self.at >= self.of
    }

    fn summary(&self) -> String {
        let skipped = self.decided.iter().filter(|decided| !**decided).count();
        let (a, r, s) = (self.accepted, self.rejected, skipped);
        let text = format!("{a} accepted, {r} rejected, {s} skipped");
        match self.failed {
            0 => text,
            n => format!("{text}, {n} failed"),
        }
    }
}

/// Returns an error with a hint if stdin or stdout is not a terminal.
pub fn ensure_terminal(paths: &[PathBuf]) -> Result<()> {
    if std::io::stdin().is_terminal() && std::io::stdout().is_terminal() {
        return Ok(());
    }
    let paths: Vec<String> = paths
        .iter()
        .filter(|path| path.as_os_str() != ".")
        .map(|path| format!(" {}", shell_words::quote(&path.to_string_lossy())))
        .collect();
    let paths = paths.concat();
    bail!(
        "review needs a terminal; without one, use: \
         `wiretool snapshot list{paths}`, `wiretool snapshot accept{paths}`, `wiretool snapshot reject{paths}`"
    )
}

/// Shows the pending snapshots and carries out the decisions.
pub fn run(pending: &[FoundFixture], shared: &SharedArgs) -> Result<Exit> {
    if pending.is_empty() {
        print_message("no new snapshots");
        return Ok(Exit::Clean);
    }
    let display = options::display_options(shared, true);
    let stop = Stop::on_signals()?;
    let mut review = Review::new(pending.len());
    // From before the first question to after the last answer, so that early keys are not lost.
    let raw = RawMode::begin()?;
    while let Some(found) = pending.get(review.at) {
        let action = if review.all {
            Some(ReviewAction::Accept).filter(|_| stop.exit().is_none())
        } else {
            print_raw(&render_screen(found, &review, display))?;
            wait_for_action(&stop)?
        };
        let Some(action) = action else {
            print_raw("\n")?;
            drop(raw);
            print_message(&review.summary());
            return Ok(stop.exit().unwrap_or(Exit::Status(130)));
        };
        let all_before = review.all;
        let decision = review.apply(action);
        print_raw(match action {
            ReviewAction::Accept if all_before => "",
            ReviewAction::Accept | ReviewAction::AcceptAll => "accept\n\n",
            ReviewAction::Reject => "reject\n\n",
            ReviewAction::Skip => "skip\n\n",
            ReviewAction::Toggle | ReviewAction::Back => "\n\n",
            ReviewAction::Help => HELP,
            ReviewAction::Quit => "quit\n",
            ReviewAction::Interrupt => "\n",
        })?;
        if action == ReviewAction::Interrupt {
            drop(raw);
            print_message(&review.summary());
            return Ok(Exit::Status(130));
        }
        if let Some(decision) = decision {
            let result = decide(found, decision);
            review.record_decision(decision, result.is_ok());
            if let Err(error) = result {
                let (mut text, style) = (String::new(), display.style);
                style.push_wire(&mut text, Highlight::Error, &format!("{error:#}"));
                print_raw(&format!("{text}\n\n"))?;
            }
        }
        if review.is_over() {
            break;
        }
    }
    drop(raw);
    print_message(&review.summary());
    let failed = review.failed > 0;
    Ok(if failed { Exit::Error } else { Exit::Clean })
}

/// Returns the screen of the current snapshot, with the keys.
fn render_screen(found: &FoundFixture, review: &Review, display: DisplayOptions) -> String {
    let mut out = String::new();
    let style = display.style;
    let count = format!("{} of {}  ", review.at + 1, review.of);
    style.push(&mut out, Highlight::Dim, &count);
    let fixture = found.fixture.display().to_string();
    style.push_wire(&mut out, Highlight::Kind, &fixture);
    let state = format!("  {}\n", found.state.name());
    style.push(&mut out, Highlight::Note, &state);
    match contents(&found.pending()) {
        Err(error) => {
            let text = format!("    it cannot be read: {error}");
            style.push_wire(&mut out, Highlight::Error, &text);
            out.push('\n');
        }
        Ok(new) if review.whole => write_whole(&new, display, &mut out),
        Ok(new) => {
            let old = contents(&found.snapshot()).unwrap_or_default();
            write_difference(&old, &new, display, &mut out);
        }
    }
    let other = if review.whole { "difference" } else { "whole" };
    for (key, what) in [
        ("a", "accept"),
        ("A", "all"),
        ("r", "reject"),
        ("s", "skip"),
        ("b", "back"),
        ("d", other),
        ("q", "quit"),
        ("?", "help"),
    ] {
        style.push(&mut out, Highlight::Key, key);
        out.push_str(&format!(" {what}   "));
    }
    out.push_str("> ");
    out
}

/// Returns the content of a snapshot file.
fn contents(path: &Path) -> Result<String, String> {
    match read_stored(path) {
        Ok(stored) => stored.map(|stored| stored.contents),
        Err(error) => Err(format!("{error:#}")),
    }
}

/// Prints to a terminal in raw mode, where each line needs a carriage return.
fn print_raw(text: &str) -> Result<()> {
    let text = text.replace('\n', "\r\n");
    let mut stdout = std::io::stdout().lock();
    stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush())
        .context("cannot write to stdout")
}

/// Waits for a key with an action; `None` after a signal.
fn wait_for_action(stop: &Stop) -> Result<Option<ReviewAction>> {
    loop {
        if stop.exit().is_some() {
            return Ok(None);
        }
        if !has_event(&std::io::stdin(), POLL_INTERVAL)? {
            continue;
        }
        let event = read().context("cannot read from the terminal")?;
        if let Event::Key(key) = event
            && let Some(action) = ReviewAction::of(key)
        {
            return Ok(Some(action));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn action_of(text: &str) -> Option<ReviewAction> {
        let (code, modifiers) = match text {
            "esc" => (KeyCode::Esc, KeyModifiers::NONE),
            "^c" => (KeyCode::Char('c'), KeyModifiers::CONTROL),
            "^a" => (KeyCode::Char('a'), KeyModifiers::CONTROL),
            one => (
                KeyCode::Char(one.chars().next().unwrap_or(' ')),
                KeyModifiers::NONE,
            ),
        };
        ReviewAction::of(KeyEvent::new(code, modifiers))
    }

    #[test]
    fn keys_select_actions() {
        for (key, want) in [
            ("a", Some(ReviewAction::Accept)),
            ("A", Some(ReviewAction::AcceptAll)),
            ("b", Some(ReviewAction::Back)),
            ("?", Some(ReviewAction::Help)),
            ("r", Some(ReviewAction::Reject)),
            ("s", Some(ReviewAction::Skip)),
            ("d", Some(ReviewAction::Toggle)),
            ("q", Some(ReviewAction::Quit)),
            ("esc", Some(ReviewAction::Quit)),
            ("^c", Some(ReviewAction::Interrupt)),
            ("^a", None),
            ("c", None),
            ("x", None),
        ] {
            assert_eq!(action_of(key), want, "{key}");
        }
    }

    #[test]
    fn actions_lead_to_the_apply() {
        let mut review = Review::new(4);
        assert_eq!(review.apply(ReviewAction::Toggle), None);
        assert_eq!((review.at, review.whole), (0, true));
        assert_eq!(
            review.apply(ReviewAction::Accept),
            Some(ReviewDecision::Accept)
        );
        review.record_decision(ReviewDecision::Accept, true);
        assert_eq!(
            review.apply(ReviewAction::Reject),
            Some(ReviewDecision::Reject)
        );
        review.record_decision(ReviewDecision::Reject, true);
        assert_eq!(review.apply(ReviewAction::Skip), None);
        assert!(!review.is_over());
        assert_eq!(review.apply(ReviewAction::Interrupt), None);
        assert_eq!(review.apply(ReviewAction::Quit), None);
        assert!(review.is_over());
        assert_eq!(review.summary(), "1 accepted, 1 rejected, 2 skipped");
        review.record_decision(ReviewDecision::Accept, false);
        assert_eq!(
            review.summary(),
            "1 accepted, 1 rejected, 2 skipped, 1 failed"
        );
    }

    #[test]
    fn back_returns_to_a_skipped_snapshot() {
        let mut review = Review::new(4);
        assert_eq!(review.apply(ReviewAction::Back), None);
        assert_eq!(review.at, 0);
        review.apply(ReviewAction::Skip);
        review.apply(ReviewAction::Accept);
        review.record_decision(ReviewDecision::Accept, true);
        assert_eq!(review.apply(ReviewAction::Help), None);
        assert_eq!(review.apply(ReviewAction::Back), None);
        assert_eq!(review.at, 0);
        review.apply(ReviewAction::Reject);
        review.record_decision(ReviewDecision::Reject, true);
        // The decided one is not shown again.
        assert_eq!(review.at, 2);
        assert_eq!(
            review.apply(ReviewAction::AcceptAll),
            Some(ReviewDecision::Accept)
        );
        assert!(review.all && !review.is_over());
        review.apply(ReviewAction::Accept);
        assert!(review.is_over());
    }
}
