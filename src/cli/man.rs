//! `wiretool man`: writes the manual, from `--help` and from the topics of `wiretool help`.
//!
//! ```text
//!   NAME  SYNOPSIS  DESCRIPTION  EXAMPLES  OPTIONS, INPUT, ...  COMMANDS  EXIT STATUS  SEE ALSO
//! ```
//!
//! `clap_mangen` handles titles and escapes; its pages omit the text before the options, and join lines.
//! Help texts are written for a terminal: lines that start with spaces stay separate, and two spaces or more separate
//! a term from its explanation. Here these become paragraphs.

use super::output::{CommandOutput, print};
use super::topics::markdown::{self, Block};
use super::topics::{TOPICS, Topic};
use super::{Exit, options};
use anyhow::{Context as _, Result};
use clap::builder::StyledStr;
use clap::{Arg, Command};
use clap_mangen::Man;
use clap_mangen::roff::{Inline, Roff, bold, italic, roman};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  wiretool man | man -l -                     read the main page
  wiretool man --out ~/.local/share/man/man1  install all pages
  wiretool man --out man && man -l man/wiretool-decode.1";

const EXIT_CODES: &str = "\
Exit codes:
  0  the pages were written
  2  usage, or a file or folder that cannot be written";

/// Write manual pages
#[derive(clap::Args)]
#[command(before_help = EXAMPLES, after_help = EXIT_CODES, help_template = options::HELP)]
pub struct Args {
    /// Write all pages to this folder [default: the main page to stdout]
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    out: Option<PathBuf>,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<Exit> {
    let mut command = super::command();
    command.build();
    let Some(folder) = &args.out else {
        return print(&page(&command, None)?);
    };
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot make the folder {}", folder.display()))?;
    let mut pages = Vec::new();
    collect(&command, None, &mut pages)?;
    for topic in TOPICS {
        pages.push((topic_page_name(topic), topic_page(topic)?));
    }
    for (name, text) in pages {
        let mut output = CommandOutput::create(&folder.join(format!("{name}.1")), &[])?;
        output.push(&text);
        output.finish()?;
    }
    Ok(Exit::Clean)
}

/// Collects the pages of a command and its subcommands.
fn collect(
    command: &Command,
    above: Option<&Command>,
    pages: &mut Vec<(String, String)>,
) -> Result<()> {
    pages.push((page_name(command), page(command, above)?));
    for below in command.get_subcommands().filter(|c| !c.is_hide_set()) {
        collect(below, Some(command), pages)?;
    }
    Ok(())
}

/// Returns `wiretool-sael-token`.
fn page_name(command: &Command) -> String {
    let bin = command.get_bin_name().unwrap_or(command.get_name());
    bin.replace(' ', "-")
}

/// Returns `wiretool-help-json`.
fn topic_page_name(topic: &Topic) -> String {
    format!("wiretool-help-{}", topic.name)
}

fn topic_page(topic: &Topic) -> Result<String> {
    let mut rest = Roff::new();
    for block in markdown::blocks(&topic.text()).into_iter().skip(1) {
        match block {
            Block::Heading(title) => {
                rest.control("SH", [title.to_uppercase().as_str()]);
            }
            Block::Paragraph(text) => {
                rest.control("PP", []).text(spans(&text));
            }
            Block::Item(depth, text) => {
                let indent = (4 * depth + 2).to_string();
                rest.control("IP", ["-", indent.as_str()])
                    .text(spans(&text));
            }
            Block::Code(lines) => {
                rest.control("PP", []).control("nf", []);
                for line in &lines {
                    rest.text([roman(line.as_str())]);
                }
                rest.control("fi", []);
            }
        }
    }
    let name = topic_page_name(topic);
    finish_page(&Command::new(topic.name).about(topic.about), name, &rest)
}

fn page(command: &Command, above: Option<&Command>) -> Result<String> {
    let mut rest = Roff::new();
    write_synopsis(command, &mut rest);
    rest.control("SH", ["DESCRIPTION"]);
    let about = command.get_long_about().or(command.get_about());
    let about = plain(about);
    let stop = if about.ends_with('.') { "" } else { "." };
    rest.text(spans(&format!("{about}{stop}")));
    if let Some(examples) = command.get_before_long_help() {
        write_sections(&examples.to_string(), &mut rest);
    }
    write_arguments(command, &mut rest);
    write_commands(command, &mut rest);
    if let Some(after) = command.get_after_long_help() {
        write_sections(&after.to_string(), &mut rest);
    }
    write_see_also(command, above, &mut rest);
    finish_page(command, page_name(command), &rest)
}

/// Returns a whole page: title, name and the rest.
fn finish_page(command: &Command, name: String, rest: &Roff) -> Result<String> {
    let version = concat!("wiretool ", env!("CARGO_PKG_VERSION"));
    let mut text = Vec::new();
    // Without a date, the page changes only with its text; an empty argument takes the place of the date.
    let man = Man::new(command.clone().display_name(name.clone()))
        .title(name)
        .date("\"\"")
        .source(version)
        .manual("wiretool");
    man.render_title(&mut text)?;
    // Commands must be copied unchanged: no hyphenation, no justified lines.
    text.extend_from_slice(b".nh\n.ad l\n");
    man.render_name_section(&mut text)?;
    rest.to_writer(&mut text)?;
    let text = String::from_utf8(text).context("the manual is not UTF-8")?;
    // Typesetters replace these by accents and quotes, but examples must be copied unchanged.
    Ok(text
        .replace('~', "\\(ti")
        .replace('^', "\\(ha")
        .replace('`', "\\(ga"))
}

fn plain(text: Option<&StyledStr>) -> String {
    text.map(ToString::to_string).unwrap_or_default()
}

fn write_synopsis(command: &Command, out: &mut Roff) {
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

/// Writes options and positionals under their headings in `--help`.
fn write_arguments(command: &Command, out: &mut Roff) {
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
    // Options without a heading come first, as in `--help`.
    headings.sort_by_key(Option::is_some);
    for heading in headings {
        let title = heading.unwrap_or("Options").to_uppercase();
        out.control("SH", [title.as_str()]);
        let (named, places): (Vec<&Arg>, Vec<&Arg>) = all
            .iter()
            .filter(|arg| arg.get_help_heading() == heading)
            .partition(|arg| !arg.is_positional());
        for arg in places.into_iter().chain(named) {
            write_argument(arg, out);
        }
    }
}

fn write_argument(arg: &Arg, out: &mut Roff) {
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
    write_prose(help.lines().skip_while(|line| !more(line)), out);
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

fn write_commands(command: &Command, out: &mut Roff) {
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
        out.text([bold(page_name(command)), roman("(1)")]);
        out.text(spans(&plain(command.get_about())));
    }
}

/// Writes the text before and after the options in `--help`: a section for each `Title:`.
fn write_sections(text: &str, out: &mut Roff) {
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
        write_prose(body.lines(), out);
    }
}

fn write_see_also(command: &Command, above: Option<&Command>, out: &mut Roff) {
    let below = command.get_subcommands().filter(|c| !c.is_hide_set());
    let mut pages: Vec<String> = above.into_iter().chain(below).map(page_name).collect();
    if command.get_name() == "help" {
        pages.extend(TOPICS.iter().map(topic_page_name));
    }
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

/// Writes paragraphs, and indented lines as separate lines.
fn write_prose<'t>(lines: impl Iterator<Item = &'t str>, out: &mut Roff) {
    let mut breaks = true;
    for line in lines {
        let indented = line.starts_with(' ');
        let line = line.trim();
        if line.is_empty() {
            breaks = true;
        } else if indented {
            out.control("TP", []);
            let (what, about) = split_term(line).unwrap_or((line, ""));
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

/// Splits a line into a term and its explanation, which two spaces or more separate outside of quotes.
fn split_term(line: &str) -> Option<(&str, &str)> {
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

/// Returns text with its `code` in bold.
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
