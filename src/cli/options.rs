//! Options that several commands share: same flag, same meaning.

mod wire;

use crate::capture::Form;
use crate::conversation::{Dialect, Judge, full_name, rules_of};
use crate::protocol::correlation::MOST;
use crate::protocol::rules::COMMON;
use crate::protocol::session::{SessionConfig, Severity};
use crate::protocol::{Descriptor, Direction, Protocol, Setting, registry};
use crate::render::Look;
use crate::render::style::Style;
use crate::select::{Expr, Filter, Select, glob};
use crate::words::nearest;
use clap::{Args, ValueEnum};
use std::io::IsTerminal as _;
use std::path::PathBuf;

pub use super::values::{
    dialect, direction, duration, form, framing_names, length_mode, names, protocol_names,
    read_secret, size,
};
pub use wire::{Wire, protocols_for_writing};

/// Examples first.
pub const HELP: &str =
    "{about}\n\n{before-help}\n\n{usage-heading} {usage}\n\n{all-args}{after-help}\n";

/// Flags that every command has.
#[derive(Args)]
pub struct Shared {
    /// When to colour; `NO_COLOR` and `CLICOLOR_FORCE` are heeded
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto, value_name = "WHEN")]
    pub color: Color,
    /// Leave out remarks and summaries; as text, lint and snapshot test show nothing, and the status tells
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Say on stderr what was detected, and why
    #[arg(short, long, global = true)]
    pub verbose: bool,
    /// Settings to use instead of the project's wiretool.toml; also `WIRETOOL_CONFIG` (wiretool config --help)
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
}

/// When to colour.
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

/// How stdout looks: the flag beats the environment, the environment beats the terminal.
pub fn look(shared: &Shared) -> Look {
    look_on(shared, stdout_is_terminal())
}

/// How something looks that is a terminal or is none.
pub fn look_on(shared: &Shared, terminal: bool) -> Look {
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
        terminal_size::terminal_size().map(|(w, _)| w.0 as usize)
    } else {
        None
    };
    Look {
        style: Style { color },
        show_secrets: false,
        width,
        terminal,
        unplaced: false,
    }
}

/// What the input is.
#[derive(Args)]
#[command(next_help_heading = "Input")]
pub struct Input {
    /// Captures to read, several or none; `-` is stdin
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// What form the input has
    #[arg(long, value_name = "FORM", default_value = "auto", value_parser = form())]
    pub from: Form,
    /// Which way the bytes go, where the input does not say; on a recording, only this way is shown
    #[arg(long, value_name = "c2s|s2c", value_parser = direction())]
    pub dir: Option<Direction>,
    /// One way of a conversation, to be merged with its --s2c file (repeatable, one pair a connection)
    #[arg(long, value_name = "FILE", conflicts_with = "files")]
    pub c2s: Vec<PathBuf>,
    /// The other way of it
    #[arg(long, value_name = "FILE", conflicts_with = "files")]
    pub s2c: Vec<PathBuf>,
    /// Go on reading as the file grows
    #[arg(long)]
    pub follow: bool,
}

/// Which messages count.
#[derive(Args)]
#[command(next_help_heading = "Selection")]
pub struct Where {
    /// Only messages of which this holds: `kind=call subject~"math.*" latency>10ms` (repeatable; --help tells the language)
    #[arg(long = "where", value_name = "EXPR", long_help = WHERE)]
    pub conditions: Vec<Expr>,
}

impl Where {
    /// Ready to be asked.
    pub fn filter(&self) -> Filter {
        Select {
            conditions: self.conditions.clone(),
            ..Select::default()
        }
        .filter()
    }
}

const WHERE: &str = "\
Only messages of which this holds (repeatable: all must hold)
  kind=call,cast subject~\"math.*\"     one of these, and like this
  latency>10ms or fault               answered late, or at fault
  not dir=s2c and len>=64K            and, or, not, parentheses
  .params.calldata[0]=0x1             a place in the message; odd names in quotes: .\"a b\"
Keys are those of -f json: index conn dir time offset len body_offset body_len framing protocol kind role id subject \
message raw fault, and faults (any of them), findings (names of rules), reply_to, latency.
A key alone: it is there, and neither null nor false. = and != take lists; ~ and !~ globs, or /regular expressions/; \
< <= > >= numbers, exactly: with ns us ms s m h for latency, K M G for len and offsets, RFC 3339 for time. a!=b also \
holds where there is no a.
In a message a word is text, a number, true, false or null, whichever is there, and in quotes only text; of a repeated \
key the last counts";

/// The rule whose name is most like this one, as a question.
pub fn nearest_rule(name: &str) -> String {
    let all: Vec<String> = registry::all()
        .iter()
        .copied()
        .flat_map(|protocol| rules_of(protocol).map(|rule| full_name(protocol.name(), rule)))
        .collect();
    // The protocol is easily forgotten.
    let bare = all
        .iter()
        .find(|full| full.rsplit('/').next() == Some(name));
    let near = bare
        .map(String::as_str)
        .or_else(|| nearest(name, all.iter().map(String::as_str)));
    match near {
        Some(near) => format!("; did you mean {near}?"),
        None => "; lint --rules lists them".to_owned(),
    }
}

/// By which rules conversations are judged.
#[derive(Args)]
#[command(next_help_heading = "Rules")]
pub struct Judging {
    /// Whose rules count; with both, what makes a real peer fail is an error, all else at most a warning
    #[arg(long, value_name = "DIALECT", default_value = "both", value_parser = dialect())]
    pub dialect: Dialect,
    /// Let this rule be broken; `*` stands for any run of characters (repeatable)
    #[arg(long, value_name = "RULE", value_delimiter = ',')]
    pub allow: Vec<String>,
    /// Make this rule an error; `*` stands for any run of characters (repeatable)
    #[arg(long, value_name = "RULE", value_delimiter = ',')]
    pub deny: Vec<String>,
    /// What sael tokens are signed with, to check signatures: a file, without its last line end
    #[arg(long, value_name = "FILE")]
    pub secret_file: Option<PathBuf>,
    /// Most unanswered requests that are followed at a time
    #[arg(long, value_name = "N", default_value_t = MOST)]
    pub max_open: usize,
}

impl Judging {
    /// How severe rules are; names that no rule has are refused.
    pub fn judge(&self) -> anyhow::Result<Judge> {
        let mut judge = Judge {
            dialect: self.dialect,
            levels: super::config::settings().rules().collect(),
        };
        for (names, severity) in [(&self.allow, Severity::Off), (&self.deny, Severity::Error)] {
            for name in names {
                let known = registry::all().iter().copied().any(|protocol| {
                    rules_of(protocol).any(|rule| glob(name, &full_name(protocol.name(), rule)))
                });
                // Input that no protocol recognises may have HTTP.
                let mut http = COMMON.iter().map(|rule| full_name("http", rule));
                let known = known || http.any(|rule| glob(name, &rule));
                anyhow::ensure!(known, "no rule is called {name}{}", nearest_rule(name));
                judge.levels.push((name.clone(), severity));
            }
        }
        Ok(judge)
    }

    /// What is known beside the messages.
    pub fn session_config(&self) -> anyhow::Result<SessionConfig> {
        let secret = self.secret_file.as_deref().map(read_secret).transpose()?;
        Ok(SessionConfig {
            secret,
            most_open: self.max_open,
            ..SessionConfig::default()
        })
    }
}

/// The usual ports, each after the name of its protocol.
pub fn usual_ports() -> String {
    let ports = registry::all().iter().filter_map(|protocol| {
        let port = protocol.descriptor().port?;
        Some(format!("{}: {port}", protocol.name()))
    });
    ports.collect::<Vec<_>>().join(", ")
}

/// The names of the protocols that have a fact.
pub fn those(has: impl Fn(&Descriptor) -> bool) -> Vec<&'static str> {
    let all = registry::all().iter().filter(|p| has(p.descriptor()));
    all.map(|protocol| protocol.name()).collect()
}

/// Whose a setting is, where a protocol does not have it.
pub fn others(setting: Setting, protocol: &dyn Protocol) -> Option<String> {
    let has = |descriptor: &Descriptor| descriptor.settings.contains(&setting);
    (!has(protocol.descriptor())).then(|| those(has).join(" and "))
}
