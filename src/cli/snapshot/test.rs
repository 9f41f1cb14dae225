//! `snapshot test`: decodes every fixture and compares it with its snapshot.

use super::file::{read_stored, remove, write};
use super::find::{FixtureState, FoundFixture, find_with_others};
use super::show::{fixture_json, write_difference};
use super::{EXAMPLES, EXIT_CODES, MORE};
use crate::cli::config::FixtureConfigs;
use crate::cli::descriptions::protocol;
use crate::cli::options::{self, SharedArgs};
use crate::cli::output::CommandOutput;
use crate::cli::report::{FilePlace, LineColumn, ReportArgs, ReportWriter, ReportedProblem};
use crate::cli::{Exit, count_text, print_message};
use crate::render::DisplayOptions;
use crate::render::style::Highlight;
use crate::snapshot::{Error, LeftOut, SnapshotSummary, Stored, render_as, snapshot_beside};
use anyhow::Result;
use clap::ValueEnum;
use std::path::PathBuf;

/// Decode every fixture and compare it with its snapshot
#[derive(clap::Args)]
#[command(before_help = EXAMPLES, after_help = EXIT_CODES, after_long_help = MORE, help_template = options::HELP)]
pub struct Args {
    /// Fixtures, or folders with fixtures
    #[arg(value_name = "PATH", default_value = ".", value_parser = options::capture())]
    paths: Vec<PathBuf>,
    /// Protocol, or FILE.toml that describes it, of fixtures that name none
    #[arg(short, long, value_name = "PROTOCOL", value_parser = protocol(), help_heading = "Protocol")]
    pub protocol: Option<String>,
    /// Action for snapshots without a fixture
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = Unreferenced::Warn, help_heading = "Comparison")]
    unreferenced: Unreferenced,
    /// Show ids, times and other values that each run generates as `[volatile]`
    #[arg(long, help_heading = "Comparison")]
    redact_volatile: bool,
    /// Show the complete text of fixtures without a snapshot
    #[arg(long, help_heading = "Output")]
    show_new: bool,
    /// Format of the outcome
    #[arg(short, long, value_name = "FORMAT", default_value = "text", value_parser = options::text_or_json("One line per fixture", "One JSON object per fixture"), help_heading = "Output")]
    format: options::OutputFormat,
    #[command(flatten)]
    report: ReportArgs,
    /// Write to this file, completely or not at all
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,
}

/// The action for snapshots without a fixture; the names are those of `insta`.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Unreferenced {
    /// Same as delete
    Auto,
    /// Exit 1
    Reject,
    /// Delete those that wiretool wrote; in CI: exit 1
    Delete,
    /// Print a warning
    Warn,
    /// Nothing
    Ignore,
}

/// The maximum number of fixtures and snapshots that are compared to detect renamed fixtures.
const MAX_MOVED: usize = 1 << 8;

/// The difference between a fixture and its snapshot.
struct Difference {
    text: String,
    /// The reason why the snapshot cannot be read.
    broken: Option<String>,
    summary: SnapshotSummary,
    /// The line of the first message that differs.
    line: Option<LineColumn>,
}

impl Difference {
    /// Returns a sentence without the changes.
    fn sentence(&self) -> String {
        match (&self.broken, self.summary.first) {
            (Some(broken), _) => format!("its snapshot cannot be read: {broken}"),
            (None, Some(first)) => format!(
                "differs from its snapshot: {}; the first is #{first}",
                self.summary
            ),
            (None, None) => format!("differs from its snapshot: {}", self.summary),
        }
    }
}

enum FixtureOutcome {
    Equal,
    /// Its snapshot differs, or cannot be read.
    Differs(Difference),
    New(String),
    /// It cannot be decoded.
    Undecodable(String),
    /// It cannot be read, or its options are invalid.
    Unusable(String),
    /// There is no fixture: the message, and true if that is an error.
    Removed(&'static str, bool),
    /// There is no fixture, and no message.
    Ignored,
}

/// The number of fixtures with each outcome.
#[derive(Default)]
struct TestCounts {
    equal: usize,
    differ: usize,
    new: usize,
    failed: usize,
    gone: usize,
    left_out: LeftOut,
    trouble: bool,
    rejected: bool,
}

struct SnapshotTest<'r> {
    args: &'r Args,
    shared: &'r SharedArgs,
    display: DisplayOptions,
    /// No file is written.
    ci: bool,
    json: bool,
    report: Option<ReportWriter>,
    output: CommandOutput,
    counts: TestCounts,
    /// Texts of fixtures without a snapshot, and of snapshots without a fixture.
    new: Vec<(PathBuf, String)>,
    gone: Vec<(PathBuf, String)>,
}

pub fn run(
    args: &Args,
    shared: &SharedArgs,
    display: DisplayOptions,
    configs: &mut FixtureConfigs,
) -> Result<Exit> {
    let (found, others) = find_with_others(&args.paths, configs)?;
    let mut run = SnapshotTest {
        args,
        shared,
        display,
        ci: is_ci(),
        json: args.format.is_json(),
        report: args.report.new_report("wiretool snapshot test"),
        // With a report, the text is on stdout and the report in the file.
        output: CommandOutput::open(args.report.text_path(args.output.as_deref()), &[])?,
        counts: TestCounts::default(),
        new: Vec::new(),
        gone: Vec::new(),
    };
    run.output.is_json = run.json;
    for one in &found {
        // After an error in one fixture, the next one is tested.
        let mut left_out = LeftOut::default();
        run.store_removed(one);
        let outcome = run.test_fixture(one, configs, &mut left_out);
        let unusable = |error| FixtureOutcome::Unusable(format!("{error:#}"));
        let outcome = outcome.unwrap_or_else(unusable);
        run.counts.left_out.hidden += left_out.hidden;
        run.counts.left_out.secrets += left_out.secrets;
        run.report(one, &outcome, left_out)?;
    }
    run.report_moved()?;
    run.finish(found.is_empty(), &others)
}

/// Returns true in a CI service, by the same variable that `insta` reads.
fn is_ci() -> bool {
    let value = std::env::var_os("CI").unwrap_or_default();
    !value.is_empty() && value != "false" && value != "0"
}

impl SnapshotTest<'_> {
    fn test_fixture(
        &mut self,
        found: &FoundFixture,
        configs: &mut FixtureConfigs,
        left_out: &mut LeftOut,
    ) -> Result<FixtureOutcome> {
        if found.state == FixtureState::Unreferenced {
            return self.removed_outcome(found);
        }
        let mut how = configs.options(&found.fixture)?;
        how.redact_volatile |= self.args.redact_volatile;
        let rendering = match render_as(&found.fixture, &how) {
            Ok(rendering) => rendering,
            Err(Error::Undecodable(text)) => return Ok(FixtureOutcome::Undecodable(text)),
            Err(error) => return Ok(FixtureOutcome::Unusable(error.to_string())),
        };
        *left_out = rendering.left_out;
        if self.shared.verbose {
            for note in &rendering.notes {
                print_message(&format!("{}: {note}", found.fixture.display()));
            }
        }
        let new = Stored::new(&found.fixture, &rendering.text);
        let (old, broken) = match found.state {
            FixtureState::Stored | FixtureState::Changed => match read_stored(&found.snapshot())? {
                Ok(stored) => (Some(stored), None),
                Err(error) => (None, Some(error)),
            },
            _ => (None, None),
        };
        if old.as_ref().is_some_and(|old| old.holds(&rendering.text)) {
            if !self.ci {
                remove(&found.pending())?;
            }
            return Ok(FixtureOutcome::Equal);
        }
        if !self.ci {
            write(&found.pending(), &new)?;
        }
        let before = old.as_ref().map_or("", |old| &old.contents);
        let mut text = String::new();
        // Output for programs is plain text.
        let display = if self.json || self.report.is_some() {
            DisplayOptions::default()
        } else {
            self.display
        };
        write_difference(before, &new.contents, display, &mut text);
        Ok(if old.is_some() || broken.is_some() {
            let summary = SnapshotSummary::of(before, &new.contents);
            let line = summary.first.and_then(|first| rendering.line_of(first));
            FixtureOutcome::Differs(Difference {
                text,
                broken,
                summary,
                line,
            })
        } else {
            if self.new.len() < MAX_MOVED {
                self.new.push((found.fixture.clone(), new.contents));
            }
            FixtureOutcome::New(text)
        })
    }

    /// Stores the text of a snapshot without a fixture.
    fn store_removed(&mut self, found: &FoundFixture) {
        let is_gone = found.state == FixtureState::Unreferenced && self.gone.len() < MAX_MOVED;
        let path = found.snapshot();
        if is_gone && let Ok(Ok(stored)) = read_stored(&path) {
            self.gone.push((path, stored.contents));
        }
    }

    /// Reports new fixtures that equal a snapshot without a fixture: they were renamed.
    fn report_moved(&mut self) -> Result<()> {
        let is_reported = !self.json && self.report.is_none() && !self.shared.quiet;
        for (fixture, new) in &self.new {
            let gone = self.gone.iter().find(|(_, gone)| gone == new);
            let Some((path, _)) = gone.filter(|_| is_reported) else {
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
            self.display
                .style
                .push_wire(&mut line, Highlight::Note, &text);
            line.push('\n');
            self.output.push(&line);
            self.output.written()?;
        }
        Ok(())
    }

    fn report(
        &mut self,
        found: &FoundFixture,
        outcome: &FixtureOutcome,
        left_out: LeftOut,
    ) -> Result<()> {
        self.count(outcome);
        let Some(result) = self.result(outcome) else {
            return Ok(());
        };
        self.add_to_report(found, outcome, &result);
        if self.json {
            let text = result_json(found, outcome, &result, left_out).to_string();
            self.output.push_line(&text);
            return self.output.written();
        }
        if result.what.is_empty() || self.shared.quiet {
            return Ok(());
        }
        let mut text = String::new();
        let style = self.display.style;
        let path = match outcome {
            FixtureOutcome::Removed(..) => found.snapshot(),
            _ => found.fixture.clone(),
        };
        style.push(&mut text, result.highlight, result.sign);
        style.push_wire(&mut text, Highlight::Kind, &format!(" {}", path.display()));
        style.push_wire(&mut text, Highlight::Plain, &format!(": {}", result.what));
        text.push('\n');
        text.push_str(result.more);
        self.write_text(&text)
    }

    fn count(&mut self, outcome: &FixtureOutcome) {
        let counts = &mut self.counts;
        match outcome {
            FixtureOutcome::Equal => counts.equal += 1,
            FixtureOutcome::Differs(_) => counts.differ += 1,
            FixtureOutcome::New(_) => counts.new += 1,
            FixtureOutcome::Undecodable(_) => counts.failed += 1,
            FixtureOutcome::Unusable(_) => {
                counts.failed += 1;
                counts.trouble = true;
            }
            FixtureOutcome::Removed(_, rejected) => {
                counts.gone += 1;
                counts.rejected |= rejected;
            }
            FixtureOutcome::Ignored => {}
        }
    }

    /// Returns how an outcome is shown; `None` if it is ignored.
    fn result<'o>(&self, outcome: &'o FixtureOutcome) -> Option<FixtureResult<'o>> {
        let (sign, highlight, word, what, more) = match outcome {
            FixtureOutcome::Equal => ("", Highlight::Plain, "equal", String::new(), ""),
            FixtureOutcome::Differs(difference) => {
                let what = match difference.broken {
                    Some(_) => difference.sentence(),
                    None => "differs from its snapshot".to_owned(),
                };
                let text = difference.text.as_str();
                ("~", Highlight::Note, "changed", what, text)
            }
            FixtureOutcome::New(text) => {
                let what = "has no snapshot yet".to_owned();
                let text = if self.args.show_new { text } else { "" };
                ("+", Highlight::ToClient, "new", what, text)
            }
            FixtureOutcome::Undecodable(text) | FixtureOutcome::Unusable(text) => {
                ("✗", Highlight::Error, "failed", text.clone(), "")
            }
            FixtureOutcome::Removed(text, _) => {
                ("?", Highlight::Note, "unreferenced", (*text).to_owned(), "")
            }
            FixtureOutcome::Ignored => return None,
        };
        Some(FixtureResult {
            sign,
            highlight,
            word,
            what,
            more,
        })
    }

    /// Adds the fixture to the report, with its problem if it has one.
    fn add_to_report(
        &mut self,
        found: &FoundFixture,
        outcome: &FixtureOutcome,
        result: &FixtureResult<'_>,
    ) {
        let Some(report) = &mut self.report else {
            return;
        };
        let name = found.fixture.display().to_string();
        report.add_input(&name);
        let (summary, line) = match outcome {
            FixtureOutcome::Equal | FixtureOutcome::Removed(_, false) => return,
            FixtureOutcome::Differs(difference) => (difference.sentence(), difference.line),
            _ => (result.what.clone(), None),
        };
        let text = format!("{summary}\n{}", result.more);
        let problem = ReportedProblem {
            rule: &format!("snapshot/{}", result.word),
            about: "A fixture is not decoded to what its snapshot holds",
            text: text.trim_end(),
        };
        let place = FilePlace {
            line,
            ..FilePlace::of(&name)
        };
        report.add_problem(&problem, place);
    }

    /// Writes a text to the output, or to stderr if the report is on stdout.
    fn write_text(&mut self, text: &str) -> Result<()> {
        if self.report.is_some() && self.args.output.is_none() {
            text.lines().for_each(print_message);
            return Ok(());
        }
        self.output.push(text);
        self.output.written()
    }

    /// Returns the outcome for a snapshot without a fixture.
    fn removed_outcome(&self, found: &FoundFixture) -> Result<FixtureOutcome> {
        let rejected = match (self.args.unreferenced, self.ci) {
            (Unreferenced::Ignore, _) => return Ok(FixtureOutcome::Ignored),
            (Unreferenced::Delete | Unreferenced::Auto, false) => {
                // A file that the user named may belong to another program.
                let own = found.own_files();
                own.iter().try_for_each(|path| remove(path))?;
                let text = if own.is_empty() {
                    "its fixture is gone; wiretool did not write it, and leaves it"
                } else {
                    "its fixture is gone: removed"
                };
                return Ok(FixtureOutcome::Removed(text, false));
            }
            (Unreferenced::Warn, _) => false,
            (Unreferenced::Reject | Unreferenced::Delete | Unreferenced::Auto, _) => true,
        };
        Ok(FixtureOutcome::Removed("its fixture is gone", rejected))
    }

    fn finish(mut self, none: bool, others: &[PathBuf]) -> Result<Exit> {
        if let Some(report) = self.report.take() {
            let mut output = CommandOutput::open(self.args.output.as_deref(), &[])?;
            output.is_json = true;
            output.push(&report.text()?);
            output.finish()?;
        }
        self.output.finish()?;
        let counts = &self.counts;
        if self.shared.verbose {
            for path in others {
                print_message(&format!("{}: not a capture, skipped", path.display()));
            }
        }
        if !self.shared.quiet {
            if none {
                print_message(
                    "no fixture was found (wiretool snapshot --help lists the file types)",
                );
            } else {
                print_message(&counts.summary());
            }
            if counts.differ + counts.new > 0 {
                print_message(if self.ci {
                    "no file is written in CI: run `wiretool snapshot test` locally, then `wiretool snapshot review`"
                } else {
                    "compare them with `wiretool snapshot review`, or accept them with `wiretool snapshot accept`"
                });
            }
        }
        let no = counts.differ + counts.new + counts.failed > 0 || counts.rejected || none;
        Ok(match (counts.trouble, no) {
            (true, _) => Exit::Error,
            (false, true) => Exit::Negative,
            (false, false) => Exit::Clean,
        })
    }
}

impl TestCounts {
    fn summary(&self) -> String {
        let fixtures = self.equal + self.differ + self.new + self.failed;
        let count = |n: usize, one, many| count_text(n as u64, one, many);
        let fixtures = count(fixtures, "fixture", "fixtures");
        let mut text = format!("{fixtures}: {} equal", self.equal);
        for (n, one, many) in [
            (self.differ, "differs", "differ"),
            (self.new, "new", "new"),
            (self.failed, "failed", "failed"),
        ] {
            if n > 0 {
                text.push_str(&format!(", {}", count(n, one, many)));
            }
        }
        match self.left_out.hidden {
            0 => {}
            hidden => text.push_str(&format!("; {hidden} values are not shown")),
        }
        match self.left_out.secrets {
            0 => {}
            1 => text.push_str("; 1 secret is not compared"),
            secrets => text.push_str(&format!("; {secrets} secrets are not compared")),
        }
        if self.gone > 0 {
            let gone = count(self.gone, "snapshot", "snapshots");
            text.push_str(&format!("; {gone} without a fixture"));
        }
        text
    }
}

/// How the outcome of a fixture is shown.
struct FixtureResult<'o> {
    sign: &'static str,
    highlight: Highlight,
    word: &'static str,
    /// Empty: nothing is shown.
    what: String,
    /// Lines below it.
    more: &'o str,
}

/// Returns the JSON line of a fixture.
fn result_json(
    found: &FoundFixture,
    outcome: &FixtureOutcome,
    result: &FixtureResult<'_>,
    left_out: LeftOut,
) -> serde_json::Value {
    let is_error = match outcome {
        FixtureOutcome::Undecodable(_) | FixtureOutcome::Unusable(_) => true,
        FixtureOutcome::Differs(one) => one.broken.is_some(),
        _ => false,
    };
    let error = Some(result.what.as_str()).filter(|_| is_error);
    let mut object = fixture_json(found, Some(result.word), error);
    if let (FixtureOutcome::Differs(one), Some(object)) = (outcome, object.as_object_mut()) {
        object.insert("difference".into(), one.text.as_str().into());
    }
    let counts = [("hidden", left_out.hidden), ("secrets", left_out.secrets)];
    for (key, count) in counts.into_iter().filter(|(_, count)| *count > 0) {
        object[key] = count.into();
    }
    object
}
