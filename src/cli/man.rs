//! `wiretool man`: the manual, from what `--help` says.
//!
//! ```text
//!   NAME  SYNOPSIS  DESCRIPTION  EXAMPLES  OPTIONS, INPUT, ...  COMMANDS  EXIT STATUS  SEE ALSO
//! ```
//!
//! `clap_mangen` knows titles and escapes; its pages leave out what stands before the options, and run lines together.
//! Help texts are written for a terminal: lines that begin with spaces stand alone there, and two spaces or more part
//! what is explained from its explanation. Here that becomes paragraphs.

use super::output::Output;
use super::{Cli, Exit, options};
use anyhow::{Context as _, Result};
use clap::builder::StyledStr;
use clap::{Arg, Command, CommandFactory as _};
use clap_mangen::Man;
use clap_mangen::roff::{Inline, Roff, bold, italic, roman};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  wiretool man | man -l -                          the page of wiretool itself
  wiretool man --out ~/.local/share/man/man1       a page a command, where man finds them
  wiretool man --out man && man -l man/wiretool-decode.1";

const EXIT_CODES: &str = "\
Exit codes:
  0  written
  2  usage, or a file or folder that cannot be written";

/// Write the manual: a page a command
#[derive(clap::Args)]
#[command(before_help = EXAMPLES, after_help = EXIT_CODES, help_template = options::HELP)]
pub struct Args {
    /// Write every page into this folder, made where there is none; without it the main page goes to stdout
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    out: Option<PathBuf>,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<Exit> {
    let mut command = Cli::command();
    command.build();
    let Some(folder) = &args.out else {
        let mut output = Output::open(None, &[])?;
        output
            .room()
            .extend_from_slice(page(&command, None)?.as_bytes());
        output.finish()?;
        return Ok(Exit::Clean);
    };
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot make the folder {}", folder.display()))?;
    let mut pages = Vec::new();
    collect(&command, None, &mut pages)?;
    for (name, text) in pages {
        let mut output = Output::open(Some(&folder.join(format!("{name}.1"))), &[])?;
        output.room().extend_from_slice(text.as_bytes());
        output.finish()?;
    }
    Ok(Exit::Clean)
}

/// The pages of a command and of those below it.
fn collect(
    command: &Command,
    above: Option<&Command>,
    pages: &mut Vec<(String, String)>,
) -> Result<()> {
    pages.push((name(command), page(command, above)?));
    for below in command.get_subcommands().filter(|c| !c.is_hide_set()) {
        collect(below, Some(command), pages)?;
    }
    Ok(())
}

/// `wiretool-sael-token`.
fn name(command: &Command) -> String {
    let bin = command.get_bin_name().unwrap_or(command.get_name());
    bin.replace(' ', "-")
}

fn page(command: &Command, above: Option<&Command>) -> Result<String> {
    let version = concat!("wiretool ", env!("CARGO_PKG_VERSION"));
    let mut text = Vec::new();
    // Without a date the page stays the same until what it says changes; an empty word stands in its place.
    let man = Man::new(command.clone().display_name(name(command)))
        .title(name(command))
        .date("\"\"")
        .source(version)
        .manual("wiretool");
    man.render_title(&mut text)?;
    // Commands are to be copied as they stand: no word is divided, no line stretched.
    text.extend_from_slice(b".nh\n.ad l\n");
    man.render_name_section(&mut text)?;
    let mut rest = Roff::new();
    synopsis(command, &mut rest);
    rest.control("SH", ["DESCRIPTION"]);
    let about = command.get_long_about().or(command.get_about());
    let about = plain(about);
    let stop = if about.ends_with('.') { "" } else { "." };
    rest.text(spans(&format!("{about}{stop}")));
    if let Some(examples) = command.get_before_help() {
        sections(&examples.to_string(), &mut rest);
    }
    arguments(command, &mut rest);
    commands(command, &mut rest);
    if let Some(after) = command.get_after_help() {
        sections(&after.to_string(), &mut rest);
    }
    see_also(command, above, &mut rest);
    rest.to_writer(&mut text)?;
    let text = String::from_utf8(text).context("the manual is not UTF-8")?;
    // Typesetters make accents and quotes of these; what is shown is to be copied.
    Ok(text
        .replace('~', "\\(ti")
        .replace('^', "\\(ha")
        .replace('`', "\\(ga"))
}

fn plain(text: Option<&StyledStr>) -> String {
    text.map(ToString::to_string).unwrap_or_default()
}

fn synopsis(command: &Command, out: &mut Roff) {
    out.control("SH", ["SYNOPSIS"]);
    let usage = command.clone().render_usage().to_string();
    for (i, line) in usage.lines().enumerate() {
        let line = line.trim().trim_start_matches("Usage: ");
        if i > 0 {
            out.control("br", []);
        }
        let bin = command.get_bin_name().unwrap_or_default();
        match line.strip_prefix(bin) {
            Some(rest) => out.text([bold(bin), roman(rest)]),
            None => out.text([roman(line)]),
        };
    }
}

/// Options and positionals, by the headings they have in `--help`.
fn arguments(command: &Command, out: &mut Roff) {
    let all: Vec<&Arg> = command
        .get_arguments()
        .filter(|a| !a.is_hide_set())
        .collect();
    let mut headings: Vec<Option<&str>> = Vec::new();
    for arg in &all {
        if !headings.contains(&arg.get_help_heading()) {
            headings.push(arg.get_help_heading());
        }
    }
    // What has no heading comes first, as in `--help`.
    headings.sort_by_key(Option::is_some);
    for heading in headings {
        let title = heading.unwrap_or("Options").to_uppercase();
        out.control("SH", [title.as_str()]);
        let (named, places): (Vec<&Arg>, Vec<&Arg>) = all
            .iter()
            .filter(|arg| arg.get_help_heading() == heading)
            .partition(|arg| !arg.is_positional());
        for arg in places.into_iter().chain(named) {
            argument(arg, out);
        }
    }
}

fn argument(arg: &Arg, out: &mut Roff) {
    out.control("TP", []);
    let mut head = Vec::new();
    if let Some(short) = arg.get_short() {
        head.push(bold(format!("-{short}")));
    }
    if let Some(long) = arg.get_long() {
        if !head.is_empty() {
            head.push(roman(", "));
        }
        head.push(bold(format!("--{long}")));
    }
    if arg.get_action().takes_values() {
        let names = arg.get_value_names().unwrap_or_default();
        for name in names {
            if !head.is_empty() {
                head.push(roman(" "));
            }
            head.push(italic(name.as_str()));
        }
        if arg.is_positional() && arg.get_num_args().is_some_and(|n| n.max_values() > 1) {
            head.push(roman("..."));
        }
    }
    out.text(head);
    let help = plain(arg.get_long_help().or(arg.get_help()));
    let more = |line: &&str| line.is_empty() || line.starts_with(' ');
    for line in help.lines().take_while(|line| !more(line)) {
        out.text(spans(line));
    }
    out.control("RS", []);
    prose(help.lines().skip_while(|line| !more(line)), out);
    let values = arg.get_possible_values();
    let values: Vec<_> = values.iter().filter(|v| !v.is_hide_set()).collect();
    let takes = arg.get_action().takes_values() && !arg.is_hide_possible_values_set();
    let defaults = arg.get_default_values();
    if takes && !values.is_empty() {
        if values.iter().any(|value| value.get_help().is_some()) {
            for value in values {
                out.control("TP", ["10"]);
                out.text([bold(value.get_name())]);
                out.text(spans(&plain(value.get_help())));
            }
        } else {
            let names: Vec<&str> = values.iter().map(|value| value.get_name()).collect();
            out.control("PP", []);
            out.text([roman(format!("One of {}.", names.join(", ")))]);
        }
    }
    if arg.get_action().takes_values() && !defaults.is_empty() && !arg.is_hide_default_value_set() {
        let defaults: Vec<_> = defaults.iter().map(|d| d.to_string_lossy()).collect();
        out.control("PP", []);
        out.text([roman("Default: "), bold(defaults.join(", "))]);
    }
    out.control("RE", []);
}

fn commands(command: &Command, out: &mut Roff) {
    let mut below = command
        .get_subcommands()
        .filter(|c| !c.is_hide_set())
        .peekable();
    if below.peek().is_none() {
        return;
    }
    out.control("SH", ["COMMANDS"]);
    for command in below {
        out.control("TP", []);
        out.text([bold(name(command)), roman("(1)")]);
        out.text(spans(&plain(command.get_about())));
    }
}

/// What stands before and after the options in `--help`: `Title:` and what is below it, a section each.
fn sections(text: &str, out: &mut Roff) {
    for block in text.split("\n\n") {
        let (title, body) = block.split_once('\n').unwrap_or((block, ""));
        let (section, body) = match title.strip_suffix(':') {
            Some("Exit codes") => ("EXIT STATUS".to_owned(), body),
            Some(title) if !title.contains(['.', ',']) && body.starts_with(' ') => {
                (title.to_uppercase(), body)
            }
            _ => ("NOTES".to_owned(), block),
        };
        out.control("SH", [section.as_str()]);
        prose(body.lines(), out);
    }
}

fn see_also(command: &Command, above: Option<&Command>, out: &mut Roff) {
    let below = command.get_subcommands().filter(|c| !c.is_hide_set());
    let pages: Vec<String> = above.into_iter().chain(below).map(name).collect();
    if pages.is_empty() {
        return;
    }
    out.control("SH", ["SEE ALSO"]);
    let mut line = Vec::new();
    for (i, page) in pages.iter().enumerate() {
        if i > 0 {
            line.push(roman(", "));
        }
        line.push(bold(page.as_str()));
        line.push(roman("(1)"));
    }
    out.text(line);
}

/// Paragraphs, and lines that stand alone.
fn prose<'t>(lines: impl Iterator<Item = &'t str>, out: &mut Roff) {
    let mut breaks = true;
    for line in lines {
        let indented = line.starts_with(' ');
        let line = line.trim();
        if line.is_empty() {
            breaks = true;
        } else if indented {
            out.control("TP", []);
            let (what, about) = parts(line).unwrap_or((line, ""));
            out.text([bold(what)]);
            if !about.is_empty() {
                out.text(spans(about));
            }
            breaks = true;
        } else {
            if std::mem::take(&mut breaks) {
                out.control("PP", []);
            }
            out.text(spans(line));
        }
    }
}

/// What is explained, and its explanation: two spaces or more lie between them, outside of quotes.
fn parts(line: &str) -> Option<(&str, &str)> {
    let mut quote = None;
    let mut before = '\0';
    for (at, c) in line.char_indices() {
        match quote {
            Some(open) if c == open => quote = None,
            None if matches!(c, '\'' | '"') && !before.is_alphanumeric() => quote = Some(c),
            None if c == ' ' && before == ' ' => {
                let (what, about) = line.split_at(at);
                return Some((what.trim_end(), about.trim_start()));
            }
            _ => {}
        }
        before = c;
    }
    None
}

/// Text with its `code` in bold.
fn spans(text: &str) -> Vec<Inline> {
    if text.matches('`').count() % 2 == 1 {
        return vec![roman(text)];
    }
    let parts = text.split('`').enumerate();
    parts
        .filter(|(_, part)| !part.is_empty())
        .map(|(i, part)| if i % 2 == 1 { bold(part) } else { roman(part) })
        .collect()
}
