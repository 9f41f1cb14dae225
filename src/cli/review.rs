//! `wiretool snapshot review`: what waits, one by one, on a terminal.
//!
//! ```text
//!   1 of 3  captures/session.jsonl  changed
//!     - old line
//!     + new line
//!   a accept   r reject   s skip   d whole   q quit ?
//! ```

use super::interrupt::Stop;
use super::options::{self, Shared};
use super::snapshot::{Decision, Found, decide, difference, stored_at, whole};
use super::{Exit, complain};
use crate::render::Look;
use crate::render::style::Tone;
use anyhow::{Context as _, Result, bail};
use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, poll, read};
use crossterm::terminal::{disable_raw_mode, enable_raw_mode};
use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a wait for a key may keep a signal waiting.
const STEP: Duration = Duration::from_millis(100);

/// What each key does.
const HELP: &str = "help\n
    a  accept: the new text is the snapshot from now on
    A  accept this one and all that follow
    r  reject: the new text is removed, the snapshot stays
    s  skip: it waits for the next review
    b  back to the one before that was skipped
    d  the difference, or the whole new text
    q  quit, as Esc; Ctrl-C: the same, with exit code 130

";

/// What a key asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ask {
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

impl Ask {
    /// What a key means; most mean nothing.
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

/// What is to be done next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    /// This becomes of the one at hand.
    Decide(Decision),
    /// The one at hand is shown again, or another one.
    Show,
    /// What each key does.
    Help,
    /// It is over.
    End,
    /// It was broken off.
    Break,
}

/// Where a review is; touches no terminal and no file.
#[derive(Debug)]
struct Review {
    at: usize,
    of: usize,
    /// The whole new snapshot instead of what differs.
    whole: bool,
    /// All that follow are accepted.
    all: bool,
    /// Those about which something was decided.
    decided: Vec<bool>,
    accepted: usize,
    rejected: usize,
    failed: usize,
}

impl Review {
    fn new(of: usize) -> Self {
        Self {
            at: 0,
            of,
            whole: false,
            all: false,
            decided: vec![false; of],
            accepted: 0,
            rejected: 0,
            failed: 0,
        }
    }

    /// Goes to the next one about which nothing was decided.
    fn advance(&mut self) {
        let rest = (self.at + 1..self.of).find(|at| self.decided.get(*at) == Some(&false));
        self.at = rest.unwrap_or(self.of);
    }

    /// The next step; a decision is carried out before the next key.
    fn key(&mut self, ask: Ask) -> Next {
        let next = match ask {
            Ask::Toggle => {
                self.whole = !self.whole;
                return Next::Show;
            }
            Ask::Help => return Next::Help,
            Ask::Back => {
                let before = (0..self.at).rfind(|at| self.decided.get(*at) == Some(&false));
                self.at = before.unwrap_or(self.at);
                return Next::Show;
            }
            Ask::Interrupt => return Next::Break,
            Ask::Quit => {
                self.at = self.of;
                return Next::End;
            }
            Ask::Accept => Next::Decide(Decision::Accept),
            Ask::AcceptAll => {
                self.all = true;
                Next::Decide(Decision::Accept)
            }
            Ask::Reject => Next::Decide(Decision::Reject),
            Ask::Skip => Next::Show,
        };
        if let (Next::Decide(_), Some(decided)) = (next, self.decided.get_mut(self.at)) {
            *decided = true;
        }
        self.advance();
        next
    }

    /// A decision was carried out, or could not be.
    fn decided(&mut self, decision: Decision, done: bool) {
        *match (decision, done) {
            (_, false) => &mut self.failed,
            (Decision::Accept, true) => &mut self.accepted,
            (Decision::Reject, true) => &mut self.rejected,
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

/// Refuses to ask where nobody can answer, and says what to do instead.
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
        "review asks on a terminal, and this is none; without one: \
         `wiretool snapshot list{paths}`, `wiretool snapshot accept{paths}`, `wiretool snapshot reject{paths}`"
    )
}

/// Single keys while it lives.
struct Raw;

impl Raw {
    fn begin() -> Result<Self> {
        enable_raw_mode().context("cannot read single keys from this terminal")?;
        Ok(Self)
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        let _ = disable_raw_mode();
    }
}

/// Shows what waits and does what is asked.
pub fn run(pending: &[Found], shared: &Shared) -> Result<Exit> {
    if pending.is_empty() {
        complain("no snapshot waits");
        return Ok(Exit::Clean);
    }
    let look = options::look_on(shared, true);
    let stop = Stop::on_signals()?;
    let mut review = Review::new(pending.len());
    // From before the first question to after the last answer: a key that comes early is no less a key.
    let raw = Raw::begin()?;
    while let Some(found) = pending.get(review.at) {
        let asked = if review.all {
            if stop.exit().is_some() {
                None
            } else {
                Some(Ask::Accept)
            }
        } else {
            put(&screen(found, &review, look))?;
            ask(&stop)?
        };
        let Some(ask) = asked else {
            put("\n")?;
            drop(raw);
            complain(&review.summary());
            return Ok(stop.exit().unwrap_or(Exit::Status(130)));
        };
        let all_before = review.all;
        let next = review.key(ask);
        put(match next {
            Next::Decide(Decision::Accept) if all_before => "",
            Next::Decide(Decision::Accept) => "accept\n\n",
            Next::Help => HELP,
            Next::Decide(Decision::Reject) => "reject\n\n",
            Next::Show if ask == Ask::Skip => "skip\n\n",
            Next::Show => "\n\n",
            Next::End => "quit\n",
            Next::Break => "\n",
        })?;
        match next {
            Next::Decide(decision) => {
                let result = decide(found, decision);
                review.decided(decision, result.is_ok());
                if let Err(error) = result {
                    let mut text = String::new();
                    look.style.wire(&mut text, Tone::Bad, &format!("{error:#}"));
                    put(&format!("{text}\n\n"))?;
                }
            }
            Next::Break => {
                drop(raw);
                complain(&review.summary());
                return Ok(Exit::Status(130));
            }
            Next::Show | Next::Help | Next::End => {}
        }
        if review.is_over() {
            break;
        }
    }
    drop(raw);
    complain(&review.summary());
    Ok(if review.failed > 0 {
        Exit::Trouble
    } else {
        Exit::Clean
    })
}

/// The one at hand, and what may be done with it.
fn screen(found: &Found, review: &Review, look: Look) -> String {
    let mut out = String::new();
    let style = look.style;
    let count = format!("{} of {}  ", review.at + 1, review.of);
    style.put(&mut out, Tone::Dim, &count);
    style.wire(&mut out, Tone::Kind, &found.fixture.display().to_string());
    style.put(&mut out, Tone::Note, &format!("  {}\n", found.state.name()));
    match contents(&found.pending()) {
        Err(error) => {
            let text = format!("    it cannot be read: {error}");
            style.wire(&mut out, Tone::Bad, &text);
            out.push('\n');
        }
        Ok(new) if review.whole => whole(&new, look, &mut out),
        Ok(new) => {
            let old = contents(&found.snapshot()).unwrap_or_default();
            difference(&old, &new, look, &mut out);
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
        style.put(&mut out, Tone::Key, key);
        out.push_str(&format!(" {what}   "));
    }
    out.push_str("> ");
    out
}

/// What a snapshot's file holds.
fn contents(path: &Path) -> Result<String, String> {
    match stored_at(path) {
        Ok(stored) => stored.map(|stored| stored.contents),
        Err(error) => Err(format!("{error:#}")),
    }
}

/// Writes to a terminal that does not make line ends of line feeds.
fn put(text: &str) -> Result<()> {
    let text = text.replace('\n', "\r\n");
    let mut stdout = std::io::stdout().lock();
    stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush())
        .context("cannot write to stdout")
}

/// Waits for a key that means something; `None` where a signal came first.
fn ask(stop: &Stop) -> Result<Option<Ask>> {
    loop {
        if stop.exit().is_some() {
            return Ok(None);
        }
        if !poll(STEP).context("cannot read from the terminal")? {
            continue;
        }
        let event = read().context("cannot read from the terminal")?;
        if let Event::Key(key) = event
            && let Some(ask) = Ask::of(key)
        {
            return Ok(Some(ask));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask_of(text: &str) -> Option<Ask> {
        let (code, modifiers) = match text {
            "esc" => (KeyCode::Esc, KeyModifiers::NONE),
            "^c" => (KeyCode::Char('c'), KeyModifiers::CONTROL),
            "^a" => (KeyCode::Char('a'), KeyModifiers::CONTROL),
            one => (
                KeyCode::Char(one.chars().next().unwrap_or(' ')),
                KeyModifiers::NONE,
            ),
        };
        Ask::of(KeyEvent::new(code, modifiers))
    }

    #[test]
    fn keys() {
        for (key, want) in [
            ("a", Some(Ask::Accept)),
            ("A", Some(Ask::AcceptAll)),
            ("b", Some(Ask::Back)),
            ("?", Some(Ask::Help)),
            ("r", Some(Ask::Reject)),
            ("s", Some(Ask::Skip)),
            ("d", Some(Ask::Toggle)),
            ("q", Some(Ask::Quit)),
            ("esc", Some(Ask::Quit)),
            ("^c", Some(Ask::Interrupt)),
            ("^a", None),
            ("c", None),
            ("x", None),
        ] {
            assert_eq!(ask_of(key), want, "{key}");
        }
    }

    #[test]
    fn steps() {
        let mut review = Review::new(4);
        assert_eq!(review.key(Ask::Toggle), Next::Show);
        assert_eq!((review.at, review.whole), (0, true));
        assert_eq!(review.key(Ask::Accept), Next::Decide(Decision::Accept));
        review.decided(Decision::Accept, true);
        assert_eq!(review.key(Ask::Reject), Next::Decide(Decision::Reject));
        review.decided(Decision::Reject, true);
        assert_eq!(review.key(Ask::Skip), Next::Show);
        assert!(!review.is_over());
        assert_eq!(review.key(Ask::Interrupt), Next::Break);
        assert_eq!(review.key(Ask::Quit), Next::End);
        assert!(review.is_over());
        assert_eq!(review.summary(), "1 accepted, 1 rejected, 2 skipped");
        review.decided(Decision::Accept, false);
        assert_eq!(
            review.summary(),
            "1 accepted, 1 rejected, 2 skipped, 1 failed"
        );
    }

    #[test]
    fn back_goes_to_what_was_skipped() {
        let mut review = Review::new(4);
        assert_eq!(review.key(Ask::Back), Next::Show);
        assert_eq!(review.at, 0);
        review.key(Ask::Skip);
        review.key(Ask::Accept);
        review.decided(Decision::Accept, true);
        assert_eq!(review.key(Ask::Help), Next::Help);
        assert_eq!(review.key(Ask::Back), Next::Show);
        assert_eq!(review.at, 0);
        review.key(Ask::Reject);
        review.decided(Decision::Reject, true);
        // What was decided is not asked again.
        assert_eq!(review.at, 2);
        assert_eq!(review.key(Ask::AcceptAll), Next::Decide(Decision::Accept));
        assert!(review.all && !review.is_over());
        review.key(Ask::Accept);
        assert!(review.is_over());
    }
}
