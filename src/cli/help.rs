//! `wiretool help NAME`, and help in two lengths.
//!
//! ```text
//!   -h       the first examples and the flags that are used most: one screen of 80 columns and 40 lines
//!   --help   all of it
//! ```

use super::suggestions::command_tip;
use super::topics::{self, TOPICS, markdown};
use super::{Exit, WIDTH, options, pager};
use crate::protocol::registry;
use crate::render::DisplayOptions;
use crate::words::nearest;
use anyhow::Result;
use clap::{Arg, Command};

const EXAMPLES: &str = "\
Examples:
  wiretool help              commands and topics
  wiretool help decode       the same as wiretool decode --help
  wiretool help where        a topic: conditions that select messages
  wiretool help sael token   a command below a command";

const EXIT_CODES: &str = "\
Exit codes:
  0  the text was printed
  2  no command and no topic has this name, or stdout cannot be written";

/// Words for the list of commands and topics.
const LIST: [&str; 5] = ["topics", "topic", "commands", "list", "all"];

/// Words, in the singular, and the topic or the command that is about them.
const SUBJECTS: &[(&str, &str)] = &[
    (
        "filter filtering condition select query expression regex grep",
        "where",
    ),
    ("exit-code exit_code code return-code status", "exit"),
    (
        "format input capture dump har wireshark tshark strace paste import",
        "inputs",
    ),
    (
        "column color colour output sign symbol legend arrow",
        "lines",
    ),
    ("jq ndjson", "json"),
    (
        "proxying tunnel address port network http https sse websocket tcp unix tls quic socket",
        "live",
    ),
    (
        "claude cursor vscode editor zed windsurf desktop mcp.json",
        "clients",
    ),
    ("agent ai llm copilot claude-code", "agents"),
    ("env environment setting variable option", "config"),
    ("key keybinding shortcut tui ui screen", "watch"),
    ("github gitlab jenkins action junit sarif annotation", "ci"),
    ("pytest assertion", "test"),
    ("otel otlp mermaid diagram", "export"),
    ("sql csv duckdb clickhouse parquet database table", "scale"),
    ("finding check severity", "rules"),
    ("inject chaos", "faults"),
    ("custom plugin own", "describe"),
    ("glossary term vocabulary", "words"),
    ("mock script", "scripts"),
    ("secret security privacy mask", "redact"),
    ("memory size", "limits"),
    ("span tracing", "operations"),
];

/// Explain a command or a topic
#[derive(clap::Args)]
#[command(before_help = EXAMPLES, after_help = EXIT_CODES, help_template = options::HELP)]
pub struct Args {
    /// A command, or a topic: `wiretool help` lists both
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Do not use a pager; on a terminal that is `PAGER`, or less
    #[arg(long)]
    no_pager: bool,
}

/// Runs the command.
pub fn run(args: &Args, display: DisplayOptions) -> Result<Exit> {
    let mut command = super::command();
    command.build();
    let mut found = Some(&mut command);
    let is_list =
        matches!(args.names.as_slice(), [name] if LIST.contains(&name.to_lowercase().as_str()));
    for name in args.names.iter().filter(|_| !is_list) {
        found = found.and_then(|command| command.find_subcommand_mut(name));
    }
    let topic = match args.names.as_slice() {
        [name] => topics::find(name),
        _ => None,
    };
    let mut text = String::new();
    match found {
        Some(command) => text = super::shown(&command.render_long_help()),
        None if topic.is_none() => {
            let names = args.names.join(" ");
            super::print_message(&format!(
                "no command or topic is called {names}{}",
                hint(&names)
            ));
            return Ok(Exit::Error);
        }
        None => {}
    }
    if let Some(topic) = topic {
        let width = display.width.unwrap_or(WIDTH).min(WIDTH);
        let mut page = String::new();
        markdown::write(&topic.text(), width, display.style, &mut page);
        if !text.is_empty() {
            text.truncate(text.trim_end().len());
            text.push_str("\n\n");
        }
        text += &page;
    }
    pager::print(&text, !args.no_pager)
}

/// Returns a suggestion for an unknown name.
fn hint(given: &str) -> String {
    let command = super::command();
    let commands = command.get_subcommands().map(Command::get_name);
    let topics = TOPICS.iter().map(|topic| topic.name);
    let lower = given.to_lowercase();
    let singular = lower.trim_end_matches('s');
    let is_about = |(words, _): &&(&str, &str)| {
        words
            .split(' ')
            .any(|word| word.trim_end_matches('s') == singular)
    };
    if let Some((_, name)) = SUBJECTS.iter().find(is_about) {
        return format!("; wiretool help {name} is about that");
    }
    if let Some(tip) = command_tip(&lower) {
        return format!("; {tip}");
    }
    if registry::names().any(|name| name.eq_ignore_ascii_case(given)) {
        return "; wiretool help protocols describes the protocols".to_owned();
    }
    if let Some((first, _)) = given.split_once(' ')
        && command.find_subcommand(first).is_some()
    {
        return format!("; help takes one name: wiretool help {first}");
    }
    if let Some(tip) = command_tip(singular) {
        return format!("; {tip}");
    }
    let longer = TOPICS.iter().find(|topic| given.starts_with(topic.name));
    let found = longer.map(|topic| topic.name);
    match found.or_else(|| nearest(given, commands.chain(topics))) {
        Some(name) => format!("; did you mean {name}?"),
        None => "; wiretool help lists them".to_owned(),
    }
}

/// The flags that are used most: `-h` of a command with more than [`MAX_FLAGS`] flags shows these.
const USUAL: &[&str] = &[
    "claims",
    "connect",
    "fault",
    "filter",
    "follow",
    "format",
    "from",
    "from-recording",
    "grep",
    "head",
    "ignore",
    "kind",
    "lint",
    "list",
    "listen",
    "once",
    "output",
    "protocol",
    "scope",
    "script",
    "selector",
    "sub",
    "timeout",
    "to",
    "tool",
    "ttl",
    "value",
    "where",
    "write",
];

/// `-h` of a command with at most this number of flags shows all of them.
const MAX_FLAGS: usize = 11;

/// Columns of the screen that `-h` fits on.
const MAX_COLUMNS: usize = 80;

/// Examples that `-h` of a command shows. That of wiretool itself has the list of commands, and one example.
const MOST_EXAMPLES: usize = 4;

/// Commands that `wiretool -h` only names.
const LESS_USUAL: [&str; 8] = [
    "unwrap",
    "mcp",
    "oracle",
    "sael",
    "telequick",
    "config",
    "completions",
    "man",
];

/// Leaves commands out of the list, so that `wiretool -h` fits on a screen.
pub fn without_less_usual(command: Command) -> Command {
    LESS_USUAL.into_iter().fold(command, |command, name| {
        command.mut_subcommand(name, |below| below.hide(true))
    })
}

/// Splits the help of a command, and of the commands below it, into `-h` and `--help`.
pub fn split_help(command: Command, path: &str) -> Command {
    let path = format!("{path}{} ", command.get_name());
    let long = command.get_before_help().cloned().unwrap_or_default();
    let examples = long.to_string();
    let lines = examples.lines().enumerate();
    let fitting = lines.filter_map(|(n, line)| fitting_example(line, n == 1));
    let is_root = path == "wiretool ";
    let most = if is_root { 1 } else { MOST_EXAMPLES };
    let short: Vec<&str> = fitting.take(1 + most).collect();
    let after = command.get_after_help().cloned().unwrap_or_default();
    let has_many = command.get_opts().count() > MAX_FLAGS;
    let names: Vec<String> = command
        .get_subcommands()
        .map(|command| command.get_name().to_owned())
        .collect();
    let more = if is_root {
        let protocols = list_of_protocols();
        let more = LESS_USUAL.join(", ");
        format!(
            "More commands: {more}\n{protocols}\nTopics (wiretool help where), all flags and exit codes"
        )
    } else {
        "All flags and exit codes".to_owned()
    };
    let mut command = command
        .before_help(short.join("\n"))
        .before_long_help(long)
        .after_help(format!("{more}: {path}--help"))
        .after_long_help(after)
        .mut_args(|arg| if has_many { choose(arg) } else { arg });
    for name in names {
        command = command.mut_subcommand(name, |below| split_help(below, &path));
    }
    command
}

/// Returns a line of examples if it fits on the screen; the first example, also without its description.
fn fitting_example(line: &str, is_first: bool) -> Option<&str> {
    let bare = || {
        let indent = line.len() - line.trim_start().len();
        let end = line.get(indent..)?.find("  ")?;
        line.get(..indent + end)
    };
    let fits = |line: &&str| line.len() <= MAX_COLUMNS;
    Some(line)
        .filter(fits)
        .or_else(|| bare().filter(|_| is_first).filter(fits))
}

fn choose(arg: Arg) -> Arg {
    let is_usual = arg.get_long().is_none_or(|long| USUAL.contains(&long));
    arg.hide_short_help(!is_usual)
}

/// The list of protocols for the help of wiretool itself.
pub fn list_of_protocols() -> String {
    let names: Vec<&str> = registry::names().collect();
    format!("Protocols: {}", names.join(", "))
}

/// The list of topics for the help of wiretool itself.
pub fn list_of_topics() -> String {
    let mut text = "Topics (wiretool help TOPIC):".to_owned();
    for topic in TOPICS {
        text += &format!("\n  {:<11}  {}", topic.name, topic.about);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::style::Style;

    fn check(command: &mut Command, wrong: &mut Vec<String>) {
        let text = super::super::remove_blank_lines(&command.render_help().to_string());
        let (lines, columns) = (
            text.lines().count(),
            text.lines().map(|line| line.chars().count()).max(),
        );
        if lines > 40 || columns > Some(MAX_COLUMNS) {
            wrong.push(format!("{lines} lines, {columns:?} columns:\n{text}"));
        }
        command
            .get_subcommands_mut()
            .for_each(|below| check(below, wrong));
    }

    #[test]
    fn words_lead_to_topics() {
        for (word, wanted) in [
            ("filters", "help where"),
            ("Conditions", "help where"),
            ("exit-codes", "help exit"),
            ("formats", "help inputs"),
            ("https", "help live"),
            ("secrets", "help redact"),
            ("examples", "--help has examples"),
            ("recordings", "recording?"),
            ("mcp-server", "lists them"),
        ] {
            let got = hint(word);
            assert!(got.contains(wanted), "{word}: {got}");
        }
        let command = super::super::command();
        let is_known =
            |name: &str| topics::find(name).is_some() || command.find_subcommand(name).is_some();
        let unknown: Vec<_> = SUBJECTS
            .iter()
            .filter(|(_, name)| !is_known(name))
            .collect();
        assert!(unknown.is_empty(), "{unknown:?}");
    }

    #[test]
    fn short_help_of_every_command_fits_on_a_screen() {
        let command = without_less_usual(super::super::command());
        let mut command = command.term_width(MAX_COLUMNS);
        command.build();
        let mut wrong = Vec::new();
        check(&mut command, &mut wrong);
        assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    }

    fn first_example(help: &str) -> Option<String> {
        let mut lines = help.lines().skip_while(|line| *line != "Examples:");
        lines.nth(1).map(str::to_owned)
    }

    fn check_first(command: &mut Command, wrong: &mut Vec<String>) {
        let [short, long] = [command.render_help(), command.render_long_help()];
        let [short, long] = [short, long].map(|text| first_example(&text.to_string()));
        // The plain example is the first one, so that it is in both.
        let is_same = short
            .as_ref()
            .zip(long.as_ref())
            .is_some_and(|(short, long)| !short.is_empty() && long.starts_with(short.as_str()));
        let is_too_long = long
            .as_ref()
            .is_some_and(|long| fitting_example(long, true).is_none());
        if !is_same && !is_too_long {
            wrong.push(format!("{}: {short:?}, {long:?}", command.get_name()));
        }
        command
            .get_subcommands_mut()
            .for_each(|below| check_first(below, wrong));
    }

    #[test]
    fn first_example_of_every_command_is_in_short_help() {
        let mut command = super::super::command();
        command.build();
        let mut wrong = Vec::new();
        check_first(&mut command, &mut wrong);
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn short_help_lists_all_protocols() {
        let text = super::super::command().render_help().to_string();
        assert!(text.contains(&list_of_protocols()), "{text}");
    }

    #[test]
    fn topics_have_at_most_100_columns() {
        let mut wide = Vec::new();
        for topic in TOPICS {
            let mut page = String::new();
            markdown::write(&topic.text(), WIDTH, Style::default(), &mut page);
            let lines = page.lines().filter(|line| line.chars().count() > WIDTH);
            wide.extend(lines.map(|line| format!("{}: {line}", topic.name)));
        }
        assert!(wide.is_empty(), "{}", wide.join("\n"));
    }

    #[test]
    fn topics_use_only_supported_markdown() {
        for topic in TOPICS {
            let text = topic.text();
            assert!(text.starts_with("# "), "{}", topic.name);
            assert!(!text.contains("]("), "{} has a link", topic.name);
            assert!(!text.contains("\n|"), "{} has a table", topic.name);
            let is_list = |line: &str| line.starts_with("{{") && line.ends_with("}}");
            assert!(!text.lines().any(is_list), "{}", topic.name);
        }
    }
}
