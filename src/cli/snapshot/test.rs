//! `snapshot test`: every fixture decoded and compared.

use super::file::{remove, stored_at, write};
use super::find::{Found, State, find_with_others};
use super::show::{difference, object};
use super::{EXAMPLES, EXIT_CODES, MORE};
use crate::cli::config::Folders;
use crate::cli::options::{self, Shared};
use crate::cli::output::Output;
use crate::cli::{Exit, complain};
use crate::render::Look;
use crate::render::style::Tone;
use crate::snapshot::{Error, Stored, render_as, snapshot_beside};
use anyhow::Result;
use clap::ValueEnum;
use std::path::PathBuf;

/// Decode every fixture and compare it with its snapshot; what differs waits for a review
#[derive(clap::Args)]
#[command(before_help = EXAMPLES, after_help = EXIT_CODES, after_long_help = MORE, help_template = options::HELP)]
pub struct Args {
    /// Fixtures, or folders of them
    #[arg(value_name = "PATH", default_value = ".")]
    paths: Vec<PathBuf>,
    /// What becomes of snapshots without a fixture; only those that wiretool wrote
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = Unreferenced::Warn, help_heading = "Comparison")]
    unreferenced: Unreferenced,
    /// Show `[volatile]` for ids, times and whatever else every run makes anew, in all fixtures
    #[arg(long, help_heading = "Comparison")]
    redact_volatile: bool,
    /// Show the whole text of fixtures that have no snapshot yet
    #[arg(long, help_heading = "Output")]
    show_new: bool,
    /// A JSON object a fixture
    #[arg(long, help_heading = "Output")]
    json: bool,
}

/// What becomes of snapshots without a fixture; `insta`'s words.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Unreferenced {
    /// As delete
    Auto,
    /// Exit 1
    Reject,
    /// Remove them; in CI, where nothing is written, exit 1
    Delete,
    /// Say so
    Warn,
    /// Nothing
    Ignore,
}

/// Fixtures and snapshots that are compared to find out which were renamed.
const MOVED: usize = 1 << 8;

/// What became of a fixture.
enum Outcome {
    Equal,
    /// Its snapshot says something else, or cannot be read.
    Differs(String, Option<String>),
    New(String),
    /// It cannot be decoded.
    No(String),
    /// It cannot be read, or said how in words that mean nothing.
    Trouble(String),
    /// There is no fixture; what is said of that, and whether that makes it an error.
    Gone(String, bool),
    /// There is none, and nothing is to be said of it.
    Ignored,
}

/// How many of each.
#[derive(Default)]
struct Counts {
    equal: usize,
    differ: usize,
    new: usize,
    failed: usize,
    gone: usize,
    /// Values that are not shown.
    hidden: usize,
    trouble: bool,
    rejected: bool,
}

struct Run<'r> {
    args: &'r Args,
    shared: &'r Shared,
    look: Look,
    /// Nothing is written.
    ci: bool,
    output: Output,
    counts: Counts,
    /// Texts of fixtures without a snapshot, and of snapshots without a fixture.
    new: Vec<(PathBuf, String)>,
    gone: Vec<(PathBuf, String)>,
}

pub fn run(args: &Args, shared: &Shared, look: Look, folders: &mut Folders) -> Result<Exit> {
    let (found, others) = find_with_others(&args.paths, folders)?;
    let mut run = Run {
        args,
        shared,
        look,
        ci: is_ci(),
        output: Output::open(None, &[])?,
        counts: Counts::default(),
        new: Vec::new(),
        gone: Vec::new(),
    };
    run.output.is_json = args.json;
    for one in &found {
        // What is wrong with one is no reason not to look at the next.
        let mut hidden = 0;
        run.remember_gone(one);
        let outcome = run.judge(one, folders, &mut hidden);
        let outcome = outcome.unwrap_or_else(|error| Outcome::Trouble(format!("{error:#}")));
        run.counts.hidden += hidden;
        run.tell(one, &outcome, hidden)?;
    }
    run.moved()?;
    run.finish(found.is_empty(), &others)
}

/// As CI services say it, and `insta` reads it.
fn is_ci() -> bool {
    let value = std::env::var_os("CI").unwrap_or_default();
    !value.is_empty() && value != "false" && value != "0"
}

impl Run<'_> {
    fn judge(
        &mut self,
        found: &Found,
        folders: &mut Folders,
        hidden: &mut usize,
    ) -> Result<Outcome> {
        if found.state == State::Unreferenced {
            return self.gone(found);
        }
        let mut how = match folders.how(&found.fixture) {
            Ok(how) => how,
            Err(error) => return Ok(Outcome::Trouble(format!("{error:#}"))),
        };
        how.redact_volatile |= self.args.redact_volatile;
        let rendering = match render_as(&found.fixture, &how) {
            Ok(rendering) => rendering,
            Err(Error::Undecodable(text)) => return Ok(Outcome::No(text)),
            Err(error) => return Ok(Outcome::Trouble(error.to_string())),
        };
        *hidden = rendering.hidden;
        if self.shared.verbose {
            for note in &rendering.notes {
                complain(&format!("{}: {note}", found.fixture.display()));
            }
        }
        let new = Stored::new(&found.fixture, &rendering.text);
        let (old, broken) = match found.state {
            State::Stored | State::Changed => match stored_at(&found.snapshot())? {
                Ok(stored) => (Some(stored), None),
                Err(error) => (None, Some(error)),
            },
            _ => (None, None),
        };
        if old.as_ref().is_some_and(|old| old.holds(&rendering.text)) {
            if !self.ci {
                remove(&found.pending())?;
            }
            return Ok(Outcome::Equal);
        }
        if !self.ci {
            write(&found.pending(), &new)?;
        }
        let before = old.as_ref().map_or("", |old| &old.contents);
        let mut text = String::new();
        // For programs, as plain text.
        let look = if self.args.json {
            Look::default()
        } else {
            self.look
        };
        difference(before, &new.contents, look, &mut text);
        Ok(if old.is_some() || broken.is_some() {
            Outcome::Differs(text, broken)
        } else {
            if self.new.len() < MOVED {
                self.new.push((found.fixture.clone(), new.contents));
            }
            Outcome::New(text)
        })
    }

    /// What a snapshot says whose fixture is gone.
    fn remember_gone(&mut self, found: &Found) {
        let is_gone = found.state == State::Unreferenced && self.gone.len() < MOVED;
        let path = found.snapshot();
        if is_gone && let Ok(Ok(stored)) = stored_at(&path) {
            self.gone.push((path, stored.contents));
        }
    }

    /// Tells of new fixtures that are what a snapshot without one says: they were renamed.
    fn moved(&mut self) -> Result<()> {
        for (fixture, new) in &self.new {
            let gone = self.gone.iter().find(|(_, gone)| gone == new);
            let Some((path, _)) = gone.filter(|_| !self.args.json && !self.shared.quiet) else {
                continue;
            };
            let to = snapshot_beside(fixture);
            let [from, to] = [path, &to].map(|path| path.display().to_string());
            let words = shell_words::join(["mv", &from, &to]);
            let text = format!(
                "{} is what {from} holds; if it was renamed: {words}",
                fixture.display()
            );
            let mut line = String::from("? ");
            self.look.style.wire(&mut line, Tone::Note, &text);
            line.push('\n');
            self.output.room().extend_from_slice(line.as_bytes());
            self.output.written()?;
        }
        Ok(())
    }

    fn tell(&mut self, found: &Found, outcome: &Outcome, hidden: usize) -> Result<()> {
        let counts = &mut self.counts;
        let (sign, tone, word, what, more) = match outcome {
            Outcome::Equal => {
                counts.equal += 1;
                ("", Tone::Plain, "equal", String::new(), "")
            }
            Outcome::Differs(text, broken) => {
                counts.differ += 1;
                let what = match broken {
                    Some(broken) => format!("its snapshot cannot be read: {broken}"),
                    None => "differs from its snapshot".to_owned(),
                };
                ("~", Tone::Note, "changed", what, text.as_str())
            }
            Outcome::New(text) => {
                counts.new += 1;
                let what = "has no snapshot yet".to_owned();
                let text = if self.args.show_new { text } else { "" };
                ("+", Tone::Back, "new", what, text)
            }
            Outcome::No(text) => {
                counts.failed += 1;
                ("✗", Tone::Bad, "failed", text.clone(), "")
            }
            Outcome::Trouble(text) => {
                counts.failed += 1;
                counts.trouble = true;
                ("✗", Tone::Bad, "failed", text.clone(), "")
            }
            Outcome::Gone(text, rejected) => {
                counts.gone += 1;
                counts.rejected |= rejected;
                ("?", Tone::Note, "unreferenced", text.clone(), "")
            }
            Outcome::Ignored => return Ok(()),
        };
        let failed = matches!(outcome, Outcome::No(_) | Outcome::Trouble(_));
        if self.args.json {
            let broken = matches!(outcome, Outcome::Differs(_, Some(_)));
            let error = Some(what.as_str()).filter(|_| failed || broken);
            let mut object = object(found, Some(word), error);
            if let (Outcome::Differs(text, _), Some(object)) = (outcome, object.as_object_mut()) {
                object.insert("difference".into(), text.as_str().into());
            }
            if let Some(object) = object.as_object_mut().filter(|_| hidden > 0) {
                object.insert("hidden".into(), hidden.into());
            }
            let text = object.to_string();
            self.output.room().extend_from_slice(text.as_bytes());
            self.output.room().push(b'\n');
            return self.output.written();
        }
        if what.is_empty() || self.shared.quiet {
            return Ok(());
        }
        let mut text = String::new();
        let style = self.look.style;
        let path = match outcome {
            Outcome::Gone(..) => found.snapshot(),
            _ => found.fixture.clone(),
        };
        style.put(&mut text, tone, sign);
        style.wire(&mut text, Tone::Kind, &format!(" {}", path.display()));
        style.wire(&mut text, Tone::Plain, &format!(": {what}"));
        text.push('\n');
        text.push_str(more);
        self.output.room().extend_from_slice(text.as_bytes());
        self.output.written()
    }

    /// A snapshot without a fixture: what becomes of it.
    fn gone(&self, found: &Found) -> Result<Outcome> {
        let rejected = match (self.args.unreferenced, self.ci) {
            (Unreferenced::Ignore, _) => return Ok(Outcome::Ignored),
            (Unreferenced::Delete | Unreferenced::Auto, false) => {
                // One that was named may be anybody's.
                let own = found.own();
                own.iter().try_for_each(|path| remove(path))?;
                let text = if own.is_empty() {
                    "its fixture is gone; wiretool did not write it, and leaves it"
                } else {
                    "its fixture is gone: removed"
                };
                return Ok(Outcome::Gone(text.to_owned(), false));
            }
            (Unreferenced::Warn, _) => false,
            (Unreferenced::Reject | Unreferenced::Delete | Unreferenced::Auto, _) => true,
        };
        Ok(Outcome::Gone("its fixture is gone".to_owned(), rejected))
    }

    fn finish(self, none: bool, others: &[PathBuf]) -> Result<Exit> {
        self.output.finish()?;
        let counts = &self.counts;
        if self.shared.verbose {
            for path in others {
                complain(&format!("{}: no capture: not looked at", path.display()));
            }
        }
        if !self.shared.quiet {
            if none {
                complain(
                    "there are no fixtures here (wiretool snapshot --help tells which files are)",
                );
            } else {
                complain(&counts.summary());
            }
            if counts.differ + counts.new > 0 {
                complain(if self.ci {
                    "nothing is written in CI: run `wiretool snapshot test` at home, then `wiretool snapshot review`"
                } else {
                    "look at them with `wiretool snapshot review`, or take them over with `wiretool snapshot accept`"
                });
            }
        }
        let no = counts.differ + counts.new + counts.failed > 0 || counts.rejected || none;
        Ok(match (counts.trouble, no) {
            (true, _) => Exit::Trouble,
            (false, true) => Exit::No,
            (false, false) => Exit::Clean,
        })
    }
}

impl Counts {
    fn summary(&self) -> String {
        let fixtures = self.equal + self.differ + self.new + self.failed;
        let noun = if fixtures == 1 { "fixture" } else { "fixtures" };
        let mut text = format!("{fixtures} {noun}: {} equal", self.equal);
        let differ = if self.differ == 1 {
            "differs"
        } else {
            "differ"
        };
        for (n, what) in [
            (self.differ, differ),
            (self.new, "new"),
            (self.failed, "failed"),
        ] {
            if n > 0 {
                text.push_str(&format!(", {n} {what}"));
            }
        }
        if self.hidden > 0 {
            text.push_str(&format!("; {} values are not shown", self.hidden));
        }
        match self.gone {
            0 => {}
            1 => text.push_str("; 1 snapshot without a fixture"),
            n => text.push_str(&format!("; {n} snapshots without a fixture")),
        }
        text
    }
}
