//! `wiretool test`: runs the cases of files: servers, clients and stubs, and what their messages must fulfil.
//!
//! ```text
//!   FILE.toml --> read --> suite --> case_run: stubs, then send, replay or a client --> recording
//!                                      check: conditions, rules, budgets                  |
//!                                      offers, changes: the baseline        <-------------'
//! ```

mod case_run;
mod changes;
mod check;
mod limited;
mod offers;
mod programs;
mod read;
mod suite;

use super::interrupt::Stop;
use super::options::{self, SharedArgs};
use super::output::{CommandOutput, without_nulls};
use super::recording::has_header;
use super::report::{FilePlace, ReportArgs, ReportWriter, ReportedProblem};
use super::{Exit, count_text, print_lines, print_message};
use crate::own_rules;
use crate::render::DisplayOptions;
use crate::render::findings::{duration, millis};
use crate::render::style::Highlight;
use crate::transport::now;
use crate::words::glob;
use anyhow::{Result, anyhow};
use case_run::{CaseOptions, CaseResult};
use check::CaseProblem;
use std::path::{Path, PathBuf};
use suite::{Case, Suite};

const EXAMPLES: &str = "\
Examples:
  wiretool test server.toml                        run the cases of a file
  wiretool test --update server.toml               write what the server offers to its baseline
  wiretool test --case 'adds*' server.toml         only some cases
  wiretool test --report junit -o out.xml server.toml   for CI; tap, github, sarif, too
  wiretool test --keep recordings server.toml      keep the recording of each case
  wiretool help test                               the keys of the file";

const EXIT_CODES: &str = "\
Exit codes:
  0         every case passed
  1         a case failed, or there is none
  2         usage, a wrong file, or a case that could not run: a program, connection or stub
            did not start
  130, 143  interrupted, terminated; all programs are ended";

/// Test servers and clients by their messages
#[derive(clap::Args)]
#[command(before_help = EXAMPLES, after_help = EXIT_CODES, help_template = options::HELP)]
pub struct Args {
    /// Files with cases (see wiretool help test)
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Only cases with this name; `*` matches any text (repeatable)
    #[arg(long, value_name = "NAME", help_heading = "Selection")]
    case: Vec<String>,
    /// Write what servers offer to the baselines of the cases
    #[arg(long, help_heading = "Output")]
    update: bool,
    /// Keep the recording of each case in this folder
    #[arg(long, value_name = "FOLDER", help_heading = "Output")]
    keep: Option<PathBuf>,
    /// Format of the results
    #[arg(short, long, value_name = "FORMAT", default_value = "text", value_parser = options::text_or_json("One block per case", "One JSON object per case"), help_heading = "Output")]
    format: options::OutputFormat,
    #[command(flatten)]
    report: ReportArgs,
    /// Write to this file, completely or not at all
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,
}

/// Runs the command.
pub fn run(args: &Args, shared: &SharedArgs, display: DisplayOptions) -> Result<Exit> {
    let mut suites = Vec::new();
    for file in &args.files {
        match read_suite(file)? {
            Ok(suite) => suites.push(suite),
            Err(text) => {
                print_lines(&text);
                return Ok(Exit::Error);
            }
        }
    }
    let options = CaseOptions {
        update: args.update,
        keep: args.keep.as_deref().map(std::path::absolute).transpose()?,
        stop: Stop::on_signals()?,
    };
    let mut run = TestRun {
        args,
        shared,
        display,
        report: args.report.new_report("wiretool test"),
        output: CommandOutput::open(args.report.text_path(args.output.as_deref()), &args.files)?,
        passed: 0,
        failed: 0,
        broken: 0,
    };
    run.output.is_json = args.format.is_json();
    for suite in &mut suites {
        own_rules::set_tests(std::mem::take(&mut suite.rules));
        for case in suite.cases.iter().filter(|case| is_chosen(args, case)) {
            let start = now();
            let result = case_run::run(suite, case, &options);
            if let Some(exit) = result.interrupted.or_else(|| options.stop.exit()) {
                run.output.finish_incomplete()?;
                return Ok(exit);
            }
            let took = i64::try_from(now() - start).unwrap_or_default();
            run.add(suite, case, &result, took)?;
        }
    }
    run.finish()
}

/// Reads a file of tests. Fails with a text if it is wrong.
fn read_suite(file: &Path) -> Result<Result<Suite, String>> {
    let name = file.display().to_string();
    let text = super::values::read_string(file);
    let text = text.map_err(|error| {
        let is_toml = file.extension().is_some_and(|end| end == "toml");
        let tip =
            (!is_toml).then_some("; a TOML file of cases is wanted: wiretool help test shows one");
        anyhow!("{error:#}{}", tip.unwrap_or_default())
    })?;
    let bytes = text.as_bytes();
    let suite = read::read(&name, &text);
    Ok(suite.map_err(|errors| {
        let errors: Vec<_> = errors.iter().map(ToString::to_string).collect();
        let text = errors.join("\n");
        if has_header(bytes) {
            let file = shell_words::quote(&name);
            return format!(
                "{name} is a recording, not a file of cases: wiretool replay {file} -- COMMAND compares a server with it"
            );
        }
        if file.extension().is_some_and(|end| end == "toml") {
            return text;
        }
        format!("{text}\ncases are written in TOML; in one, command = \"…\" starts a program (wiretool help test)")
    }))
}

fn is_chosen(args: &Args, case: &Case) -> bool {
    args.case.is_empty() || args.case.iter().any(|pattern| glob(pattern, &case.name))
}

struct TestRun<'a> {
    args: &'a Args,
    shared: &'a SharedArgs,
    display: DisplayOptions,
    report: Option<ReportWriter>,
    output: CommandOutput,
    passed: usize,
    failed: usize,
    broken: usize,
}

impl TestRun<'_> {
    /// Counts and shows a case.
    fn add(&mut self, suite: &Suite, case: &Case, result: &CaseResult, took: i64) -> Result<()> {
        match (result.is_broken, result.problems.is_empty()) {
            (true, _) => self.broken += 1,
            (false, false) => self.failed += 1,
            (false, true) => self.passed += 1,
        }
        if let Some(report) = &mut self.report {
            add_to_report(report, suite, case, result);
        }
        if self.args.format.is_json() {
            self.output
                .push_line(&case_json(suite, case, result, took).to_string());
            return self.output.flush();
        }
        if self.shared.quiet {
            return Ok(());
        }
        let mut text = String::new();
        self.write_case(suite, case, result, took, &mut text);
        if self.report.is_some() && self.args.output.is_none() {
            text.lines().for_each(print_message);
            return Ok(());
        }
        self.output.push(&text);
        self.output.flush()
    }

    fn write_case(
        &self,
        suite: &Suite,
        case: &Case,
        result: &CaseResult,
        took: i64,
        out: &mut String,
    ) {
        // Output for programs is plain text.
        let style = match self.report {
            Some(_) => DisplayOptions::default().style,
            None => self.display.style,
        };
        let has_failed = !result.problems.is_empty();
        let (sign, highlight, place) = if has_failed {
            let place = format!("{}:{}", suite.name, case.at.line);
            ("✗", Highlight::Error, place)
        } else {
            ("✓", Highlight::ToClient, suite.name.clone())
        };
        style.push(out, highlight, sign);
        style.push_wire(out, Highlight::Kind, &format!(" {place}: {}", case.name));
        let messages = count_text(result.messages, "message", "messages");
        let summary = format!("  {messages}, {}\n", duration(took));
        style.push(out, Highlight::Dim, &summary);
        let mut block = |lead: &str, highlight, text: &str| {
            for (line, n) in text.lines().zip(0..) {
                out.push_str(if n == 0 { lead } else { "      " });
                style.push_wire(out, highlight, line);
                out.push('\n');
            }
        };
        for problem in &result.problems {
            let at = problem
                .at
                .map(|at| format!("{}:{}:{}: ", suite.name, at.line, at.column));
            let text = format!(
                "{}{}: {}",
                at.unwrap_or_default(),
                problem.rule,
                problem.text
            );
            block("    ", Highlight::Plain, &text);
        }
        if result.more > 0 {
            block("    ", Highlight::Dim, &format!("and {} more", result.more));
        }
        for change in &result.compatible {
            block(
                "    ",
                Highlight::Note,
                &format!("compatible: {}", change.text),
            );
        }
        for note in &result.notes {
            block("    ", Highlight::Note, note);
        }
        if !has_failed {
            return;
        }
        for (title, lines) in [
            ("the last messages:", &result.lines),
            ("the last lines of its output:", &result.output),
        ] {
            if !lines.is_empty() {
                block("    ", Highlight::Dim, title);
            }
            for line in lines {
                block("      ", Highlight::Dim, line);
            }
        }
    }

    fn finish(mut self) -> Result<Exit> {
        if let Some(report) = self.report.take() {
            let mut output = CommandOutput::open(self.args.output.as_deref(), &[])?;
            output.is_json = true;
            output.push(&report.text()?);
            output.finish()?;
        }
        let all = self.passed + self.failed + self.broken;
        let summary = match all {
            0 => "no case has this name".to_owned(),
            _ => self.summary(all),
        };
        self.output.finish()?;
        if !self.shared.quiet {
            print_message(&summary);
        }
        Ok(match (self.broken, self.failed, all) {
            (1.., ..) => Exit::Error,
            (0, 1.., _) | (0, 0, 0) => Exit::Negative,
            (0, 0, _) => Exit::Clean,
        })
    }

    /// Returns `4 cases: 2 passed, 1 failed, 1 could not run`.
    fn summary(&self, all: usize) -> String {
        let cases = count_text(all as u64, "case", "cases");
        let mut text = format!("{cases}: {} passed", self.passed);
        for (n, what) in [(self.failed, "failed"), (self.broken, "could not run")] {
            if n > 0 {
                text.push_str(&format!(", {n} {what}"));
            }
        }
        text
    }
}

/// Returns the place of a problem, or of the case that it is about.
fn place_of<'s>(suite: &'s Suite, case: &'s Case, problem: Option<&CaseProblem>) -> FilePlace<'s> {
    FilePlace {
        case: &case.name,
        line: Some(problem.and_then(|problem| problem.at).unwrap_or(case.at)),
        ..FilePlace::of(&suite.name)
    }
}

fn add_to_report(report: &mut ReportWriter, suite: &Suite, case: &Case, result: &CaseResult) {
    let at = place_of(suite, case, None);
    report.add_input(&at.name());
    for problem in &result.problems {
        let about = "The messages of a case are not as its file says";
        let (rule, text) = (problem.rule.as_str(), problem.text.as_str());
        let at = place_of(suite, case, Some(problem));
        report.add_problem(&ReportedProblem { rule, about, text }, at);
    }
    for change in &result.compatible {
        report.add_note(at, &format!("compatible: {}", change.text));
    }
    for note in &result.notes {
        report.add_note(at, note);
    }
}

/// Returns the JSON line of a case.
fn case_json(suite: &Suite, case: &Case, result: &CaseResult, took: i64) -> serde_json::Value {
    let outcome = match (result.is_broken, result.problems.is_empty()) {
        (true, _) => "broken",
        (false, false) => "failed",
        (false, true) => "passed",
    };
    let problems = result.problems.iter().map(|problem| {
        serde_json::json!({
            "rule": problem.rule,
            "line": problem.at.map(|at| at.line),
            "column": problem.at.map(|at| at.column),
            "text": problem.text,
        })
    });
    let compatible = result.compatible.iter().map(|change| &change.text);
    let ms: serde_json::Value = serde_json::from_str(&millis(took)).unwrap_or_default();
    without_nulls(serde_json::json!({
        "v": 1,
        "file": suite.name,
        "case": case.name,
        "line": case.at.line,
        "outcome": outcome,
        "messages": result.messages,
        "ms": ms,
        "problems": problems.collect::<Vec<_>>(),
        "more": (result.more > 0).then_some(result.more),
        "compatible": compatible.collect::<Vec<_>>(),
        "notes": result.notes,
    }))
}
