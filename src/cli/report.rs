//! Reports for other programs: `JUnit` and TAP for CI services, SARIF for code review tools, annotations for GitHub, a page for
//! browsers.

mod cases;
mod github;
mod junit;
mod sarif;
mod tap;

use super::output::without_nulls;
pub use crate::capture::line_table::LineColumn;
use crate::conversation::{Consequences, Finding};
use crate::export::Form as _;
use crate::export::html::Page;
use crate::protocol::session::Severity;
use crate::render::DisplayOptions;
use anyhow::Result;
use cases::Cases;
use clap::ValueEnum;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use github::Github;
use sarif::Sarif;
use std::borrow::Cow;
use std::path::Path;

/// The formats of `--report`.
#[derive(Clone, Copy, ValueEnum, PartialEq, Eq)]
pub enum ReportKind {
    /// `JUnit` XML: one test case per input
    Junit,
    /// The Test Anything Protocol: one test per input
    Tap,
    /// SARIF 2.1.0: one result per finding
    Sarif,
    /// Annotations of GitHub Actions: one line per finding
    Github,
    /// A page that shows the messages with their findings
    Html,
}

/// Reads the name of a kind; only a command that has the messages can write a page.
pub fn kinds(with_page: bool) -> impl TypedValueParser<Value = ReportKind> {
    let all = ReportKind::value_variants().iter();
    let some = all.filter(move |kind| with_page || **kind != ReportKind::Html);
    let names = some.filter_map(ValueEnum::to_possible_value);
    PossibleValuesParser::new(names).try_map(|name| ReportKind::from_str(&name, false))
}

/// The option of commands that write reports.
#[derive(clap::Args)]
pub struct ReportArgs {
    /// Write a report for CI services (junit, tap, github) or code review tools (sarif)
    #[arg(
        long,
        value_parser = kinds(false),
        value_name = "KIND",
        help_heading = "Output",
        conflicts_with = "format"
    )]
    pub report: Option<ReportKind>,
}

impl ReportArgs {
    /// Returns the file of the text, from that of `-o`: a report takes it.
    pub fn text_path<'a>(&self, output: Option<&'a Path>) -> Option<&'a Path> {
        output.filter(|_| self.report.is_none())
    }

    /// Creates the requested report of a command.
    pub fn new_report(&self, command: &'static str) -> Option<ReportWriter> {
        let display = DisplayOptions::default();
        self.report
            .map(|kind| ReportWriter::new(kind, command, display))
    }
}

/// A report that is being collected.
pub enum ReportWriter {
    Junit(Cases),
    Tap(Cases),
    Sarif(Sarif),
    Github(Github),
    Html(Box<Page>),
}

/// The position of a finding in a file.
#[derive(Clone, Copy)]
pub struct FilePlace<'a> {
    pub file: &'a str,
    /// The test case in it; empty: the whole file.
    pub case: &'a str,
    /// The line and the column, if the file is text.
    pub line: Option<LineColumn>,
    /// Offsets count within a direction, not within the file.
    pub is_recording: bool,
}

impl<'a> FilePlace<'a> {
    /// Returns a whole file.
    pub const fn of(file: &'a str) -> Self {
        Self {
            file,
            case: "",
            line: None,
            is_recording: false,
        }
    }

    /// Returns the name of the case, after that of its file.
    pub fn name(self) -> Cow<'a, str> {
        match self.case {
            "" => self.file.into(),
            case => format!("{}: {case}", self.file).into(),
        }
    }

    /// Returns the position as a line of text starts with it. Editors jump to `FILE:LINE:COLUMN`.
    pub fn text(self, offset: u64) -> String {
        match self.line {
            Some(at) => format!("{}:{}:{}", self.file, at.line, at.column),
            None => format!("{}: offset {offset}", self.file),
        }
    }
}

/// A problem of an input that is not a finding of lint.
pub struct ReportedProblem<'p> {
    /// The rule, such as `snapshot/changed`.
    pub rule: &'p str,
    /// A sentence about all problems of this rule.
    pub about: &'p str,
    /// A description of this problem; the first line is its summary.
    pub text: &'p str,
}

impl ReportWriter {
    /// Creates an empty report of a command.
    pub fn new(kind: ReportKind, command: &'static str, display: DisplayOptions) -> Self {
        match kind {
            ReportKind::Html => Self::Html(Box::new(Page::new(display))),
            ReportKind::Junit => Self::Junit(Cases::new(command)),
            ReportKind::Tap => Self::Tap(Cases::new(command)),
            ReportKind::Sarif => Self::Sarif(Sarif::default()),
            ReportKind::Github => Self::Github(Github::default()),
        }
    }

    /// Adds an input, with or without problems.
    pub fn add_input(&mut self, file: &str) {
        if let Self::Junit(cases) | Self::Tap(cases) = self {
            cases.case(file);
        }
    }

    /// Adds a note about a case or a file.
    pub fn add_note(&mut self, at: FilePlace<'_>, text: &str) {
        if let Self::Junit(cases) | Self::Tap(cases) = self {
            cases.case(&at.name()).notes.push(text.to_owned());
        }
    }

    /// Adds a finding in a file. Those of the severity `fail_on` or worse are failures.
    pub fn add_finding(&mut self, finding: &Finding, at: FilePlace<'_>, fail_on: Option<Severity>) {
        match self {
            Self::Junit(cases) | Self::Tap(cases) => {
                let fails = fail_on.is_some_and(|least| finding.severity >= least);
                cases.add_finding(finding, &at.name(), fails);
            }
            Self::Sarif(sarif) => sarif.add_finding(finding, at),
            Self::Github(github) => github.add_finding(finding, at),
            // It came with its message.
            Self::Html(_) => {}
        }
    }

    pub fn add_problem(&mut self, problem: &ReportedProblem<'_>, at: FilePlace<'_>) {
        match self {
            Self::Junit(cases) | Self::Tap(cases) => {
                cases.add_failure(&at.name(), problem.rule, problem.text);
            }
            Self::Sarif(sarif) => sarif.add_problem(problem, at),
            Self::Github(github) => github.add_problem(problem, at),
            Self::Html(_) => {}
        }
    }

    /// Adds the number of findings that only follow from a message of a file.
    pub fn add_consequences(&mut self, one: Consequences, file: &str) {
        if let Self::Sarif(sarif) = self {
            sarif.add_consequences(one, file);
        }
    }

    /// Returns what the report lacks, in sentences.
    pub fn left_out(&self) -> Vec<String> {
        match self {
            Self::Html(page) => page.left_out(),
            _ => Vec::new(),
        }
    }

    /// Returns the whole report, with its line end; of a page, the part after its messages.
    pub fn text(self) -> Result<String> {
        Ok(match self {
            Self::Junit(cases) => junit::text(&cases),
            Self::Tap(cases) => tap::text(&cases),
            Self::Sarif(sarif) => serde_json::to_string_pretty(&sarif.report())? + "\n",
            Self::Github(github) => github.text(),
            Self::Html(mut page) => {
                let mut out = Vec::new();
                page.finish(&mut out).map_err(anyhow::Error::msg)?;
                String::from_utf8(out)?
            }
        })
    }
}
