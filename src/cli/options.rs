//! Options that several commands share: the same flag has the same meaning.

mod wire;

use crate::capture::{Form, PacketOptions};
use crate::conversation::{Judge, RuleDialect, RuleSettings};
use crate::protocol::exchange::MAX_ENTRIES;
use crate::protocol::session::{SessionConfig, Severity};
use crate::protocol::{Descriptor, Direction, Protocol, registry};
use crate::render::DisplayOptions;
use crate::render::style::Style;
use crate::select::{Expr, Filter, Select};
use crate::settings::{MAX_JOBS, is_rule, nearest_rule, setting};
use crate::transport::Address;
use clap::builder::{PathBufValueParser, TypedValueParser};
use clap::{Args, ValueEnum};
use std::io::IsTerminal as _;
use std::num::NonZeroUsize;
use std::path::PathBuf;

pub use super::descriptions::protocol;
pub use super::values::{
    OutputFormat, default_of, dialect, direction, form, format, framing, help_of, length_mode,
    names, parse_duration, parse_pattern, read_secret, size, text_or_json, words,
    written_length_mode,
};
pub use wire::{WireArgs, protocols_for_writing};

/// The template of help: examples first.
pub const HELP: &str =
    "{about}\n\n{before-help}\n\n{usage-heading} {usage}\n\n{all-args}{after-help}\n";

/// Flags that every command has.
#[derive(Args)]
pub struct SharedArgs {
    #[arg(long, help = help_of("color"), global = true, value_enum, default_value_t = Color::Auto, value_name = "WHEN", hide_short_help = true)]
    pub color: Color,
    /// Print no notes and no summary; of lint, diff, snapshot test, and decode with a condition, only the exit code tells the result
    #[arg(short, long, global = true, hide_short_help = true)]
    pub quiet: bool,
    /// Explain on stderr what was detected, and why
    #[arg(short, long, global = true, hide_short_help = true)]
    pub verbose: bool,
    /// Read this file instead of the project's wiretool.toml; also `WIRETOOL_CONFIG`
    #[arg(long, global = true, value_name = "FILE", hide_short_help = true)]
    pub config: Option<PathBuf>,
}

impl SharedArgs {
    /// Prints a note to stderr, without `--quiet`.
    pub fn note(&self, text: &str) {
        if !self.quiet {
            super::print_message(text);
        }
    }
}

/// The modes of color.
#[derive(Clone, Copy, ValueEnum, PartialEq, Eq)]
pub enum Color {
    /// On a terminal
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

pub fn stdout_is_terminal() -> bool {
    std::io::stdout().is_terminal()
}

/// Returns the number of columns of the terminal.
pub(super) fn terminal_width() -> Option<usize> {
    crate::system::columns()
}

/// Returns the style of stdout: the flag overrides the environment, the environment overrides the terminal.
pub fn display_of_stdout(shared: &SharedArgs) -> DisplayOptions {
    display_options(shared, stdout_is_terminal())
}

/// Returns the style of an output that is or is not a terminal.
pub fn display_options(shared: &SharedArgs, terminal: bool) -> DisplayOptions {
    let set = |name: &str| std::env::var_os(name).is_some_and(|v| !v.is_empty());
    let color = match shared.color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto if set("NO_COLOR") => false,
        Color::Auto
            if std::env::var_os("CLICOLOR_FORCE").is_some_and(|v| !v.is_empty() && v != "0") =>
        {
            true
        }
        Color::Auto => terminal && std::env::var_os("TERM").is_none_or(|t| t != "dumb"),
    };
    let width = if terminal {
        terminal_width()
    } else {
        // A pager shows a terminal's lines.
        let columns = std::env::var("COLUMNS").ok();
        columns
            .and_then(|columns| columns.parse().ok())
            .filter(|width| *width > 0)
    };
    DisplayOptions {
        style: Style { color },
        show_secrets: false,
        width,
        terminal,
        without_positions: false,
        context: false,
        sources: None,
        source: None,
    }
}

/// Returns the parser of the path of a capture, which can be the name of a recording in the state folder.
pub fn capture() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(super::state::find)
}

/// The input files and their form.
#[derive(Args, Clone)]
#[command(next_help_heading = "Input")]
pub struct InputArgs {
    /// Captures, or folders of them; `-` or none: stdin; `@last`
    #[arg(value_name = "FILE", value_parser = capture())]
    pub files: Vec<PathBuf>,
    #[arg(long, help = help_of("from"), value_name = "FORM", default_value = default_of("from"), value_parser = form(), hide_possible_values = true, hide_default_value = true)]
    pub from: Form,
    /// Direction of the bytes, if the input has none; with a recording: show only this direction
    #[arg(long, value_name = "c2s|s2c", value_parser = direction())]
    pub dir: Option<Direction>,
    /// Client-to-server bytes; read together with --s2c (repeatable: one pair per connection)
    #[arg(long, value_name = "FILE", value_parser = capture(), conflicts_with = "files")]
    pub c2s: Vec<PathBuf>,
    /// Server-to-client bytes
    #[arg(long, value_name = "FILE", value_parser = capture(), conflicts_with = "files")]
    pub s2c: Vec<PathBuf>,
    /// Continue to read while the file grows
    #[arg(long)]
    pub follow: bool,
    /// Several FILEs with times are one conversation on one clock (watch: always)
    #[arg(long, conflicts_with_all = ["c2s", "follow"])]
    pub merge: bool,
    /// Add this to the times of a merged FILE: `server=-1.5s` (repeatable)
    #[arg(long, value_name = "NAME=TIME", value_parser = parse_clock, allow_hyphen_values = true)]
    pub clock: Vec<ClockOffset>,
    #[arg(long, help = help_of("jobs"), value_name = "N", default_value = default_of("jobs"), value_parser = jobs)]
    pub jobs: NonZeroUsize,
    /// Read files of any size with several threads, in parts of so many bytes
    #[arg(long, hide = true, value_name = "SIZE", value_parser = clap::value_parser!(u32).range(1..))]
    pub part_size: Option<u32>,
    #[command(flatten)]
    pub packets: PacketArgs,
}

/// Parses a number of threads.
fn jobs(text: &str) -> Result<NonZeroUsize, String> {
    setting("jobs").map_or(Ok(()), |jobs| jobs.check(text))?;
    let given = text.parse().ok();
    Ok(given.map_or_else(all_jobs, |n: NonZeroUsize| n.min(MAX_JOBS)))
}

/// Returns a thread for each core, up to a limit.
pub fn all_jobs() -> NonZeroUsize {
    let cores = std::thread::available_parallelism();
    cores.map_or(NonZeroUsize::MIN, |n| n.min(MAX_JOBS))
}

/// The offset of the clock of a capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClockOffset {
    /// The short name of the capture.
    pub name: String,
    /// Nanoseconds that are added to its times.
    pub ns: i64,
}

/// Parses `NAME=TIME`, with a sign before the time if it is negative.
fn parse_clock(text: &str) -> Result<ClockOffset, String> {
    let wanted = || "wanted NAME=TIME, such as server=-1.5s".to_owned();
    let (name, time) = text.rsplit_once('=').ok_or_else(wanted)?;
    let (is_negative, time) = match time.strip_prefix('-') {
        Some(time) => (true, time),
        None => (false, time.strip_prefix('+').unwrap_or(time)),
    };
    let time = parse_duration(time)?;
    let ns = i64::try_from(time.as_nanos()).map_err(|_| wanted())?;
    Ok(ClockOffset {
        name: name.to_owned(),
        ns: if is_negative { -ns } else { ns },
    })
}

/// Options for packet captures.
#[derive(Args, Clone, Default)]
#[command(next_help_heading = "Input")]
pub struct PacketArgs {
    /// Only connections with this port, of a packet capture (repeatable)
    #[arg(long, value_name = "PORT", value_delimiter = ',')]
    pub port: Vec<u16>,
    /// Memory for segments of packet captures that wait for earlier ones; beyond it the oldest gaps are given up
    #[arg(long, value_name = "SIZE", default_value = "64M", value_parser = size, hide_short_help = true)]
    pub reassembly_limit: u32,
}

impl PacketArgs {
    /// Returns the options of the reader.
    pub fn options(&self) -> PacketOptions {
        let mut options = PacketOptions::default();
        options.ports.clone_from(&self.port);
        if self.reassembly_limit > 0 {
            options.reassembly_limit = self.reassembly_limit as usize;
        }
        options
    }
}

impl InputArgs {
    /// Returns the options for one file.
    pub fn of_file(path: PathBuf) -> Self {
        Self {
            files: vec![path],
            from: Form::Auto,
            dir: None,
            c2s: Vec::new(),
            s2c: Vec::new(),
            follow: false,
            merge: false,
            clock: Vec::new(),
            jobs: NonZeroUsize::MIN,
            part_size: None,
            packets: PacketArgs::default(),
        }
    }

    /// Returns all files.
    pub fn paths(&self) -> Vec<PathBuf> {
        [&self.files[..], &self.c2s, &self.s2c].concat()
    }
}

/// The conditions for messages.
#[derive(Args, Clone)]
#[command(next_help_heading = "Selection")]
pub struct WhereArgs {
    /// Only messages that match (see wiretool help where)
    #[arg(long = "where", value_name = "EXPR")]
    pub conditions: Vec<Expr>,
}

impl WhereArgs {
    pub fn filter(&self) -> Filter {
        Select {
            conditions: self.conditions.clone(),
            ..Select::default()
        }
        .filter()
    }

    /// Returns the filter of a command that counts or compares calls: an answer also has the subject of its request.
    pub fn filter_of_calls(&self) -> Filter {
        Select {
            conditions: self.conditions.iter().map(Expr::of_calls).collect(),
            ..Select::default()
        }
        .filter()
    }
}

/// Parses an address to listen on; a port alone is one of loopback.
pub fn parse_listen(text: &str) -> Result<Address, String> {
    let port = text.strip_prefix(':').unwrap_or(text);
    match port.parse::<u16>() {
        Ok(port) => Address::parse(&format!("tcp://127.0.0.1:{port}")),
        Err(_) => Address::parse(text),
    }
}

/// Returns a question that suggests the most similar rule.
pub fn nearest_rule_hint(name: &str) -> String {
    match nearest_rule(name) {
        Some(near) => format!("; did you mean {near}?"),
        None => "; lint --rules lists them".to_owned(),
    }
}

/// The rules for conversations.
#[derive(Args)]
#[command(next_help_heading = "Rules")]
pub struct RuleArgs {
    #[arg(long, help = help_of("dialect"), value_name = "DIALECT", default_value = default_of("dialect"), value_parser = dialect())]
    pub dialect: RuleDialect,
    #[arg(long, help = help_of("allow"), value_name = "RULE", value_delimiter = ',')]
    pub allow: Vec<String>,
    #[arg(long, help = help_of("deny"), value_name = "RULE", value_delimiter = ',')]
    pub deny: Vec<String>,
    /// File with the key that signs sael tokens, to check signatures; a final line end is ignored
    #[arg(long, value_name = "FILE")]
    pub secret_file: Option<PathBuf>,
    /// Limit of open requests that are tracked
    #[arg(long, value_name = "N", default_value_t = MAX_ENTRIES)]
    pub max_open: usize,
}

impl RuleArgs {
    /// Returns the severities of rules; unknown names are refused.
    fn judge(&self) -> anyhow::Result<Judge> {
        let mut judge = Judge {
            dialect: self.dialect,
            levels: super::config::settings().rules().collect(),
        };
        for (names, severity) in [(&self.allow, Severity::Off), (&self.deny, Severity::Error)] {
            for name in names {
                let hint = || match name.as_str() {
                    "warning" | "warnings" => "; --fail-on warning fails on warnings, too".into(),
                    name => nearest_rule_hint(name),
                };
                anyhow::ensure!(is_rule(name), "no rule is called {name}{}", hint());
                judge.levels.push((name.clone(), severity));
            }
        }
        Ok(judge)
    }

    /// Returns how rules are checked.
    pub fn rules(&self) -> anyhow::Result<RuleSettings> {
        Ok(RuleSettings {
            judge: self.judge()?,
            session: self.session_config()?,
            operations: false,
        })
    }

    /// Returns the facts that messages do not contain.
    fn session_config(&self) -> anyhow::Result<SessionConfig> {
        let secret = self.secret_file.as_deref().map(read_secret).transpose()?;
        Ok(SessionConfig {
            secret,
            max_open: self.max_open,
            ..SessionConfig::default()
        })
    }
}

/// Returns the usual ports, each after the name of its protocol.
pub fn usual_ports() -> String {
    let ports = registry::all().iter().filter_map(|protocol| {
        let port = protocol.descriptor().port?;
        Some(format!("{}: {port}", protocol.name()))
    });
    ports.collect::<Vec<_>>().join(", ")
}

/// Returns the names of the protocols with a property.
pub fn protocols_with(has: impl Fn(&Descriptor) -> bool) -> Vec<&'static str> {
    let all = registry::all().iter().filter(|p| has(&p.descriptor()));
    all.map(|protocol| protocol.name()).collect()
}

/// Returns the protocols that have a setting, if this protocol does not.
pub fn protocols_with_setting(setting: &str, protocol: &dyn Protocol) -> Option<String> {
    let has = |descriptor: &Descriptor| descriptor.settings.contains(&setting);
    (!has(&protocol.descriptor())).then(|| protocols_with(has).join(" and "))
}
