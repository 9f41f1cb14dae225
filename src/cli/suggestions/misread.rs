//! Words that the parser takes for something else.
//!
//! ```text
//!   -where EXPR           a flag with a long name and one dash: `-w here` writes a file
//!   lint -- ./server      a command to start: `lint ./server` reads a file
//! ```

use super::complete::is_command as is_program;
use super::shapes::is_file_name;
use super::{Situation, has_word, words};
use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::ffi::OsString;
use std::path::Path;

/// The commands that read files, and start no command.
const READERS: [&str; 7] = [
    "decode", "diff", "lint", "redact", "snapshot", "stat", "test",
];

/// Returns the error for a command to start behind a command that reads files.
pub fn misread_command(root: &Command, args: &[OsString]) -> Option<clap::Error> {
    let at = args.iter().position(|word| *word == "--")?;
    let reader = commands_of(root, args).get(1)?.get_name();
    let is_child = args.get(at + 1).is_some_and(is_program);
    (READERS.contains(&reader) && is_child).then(|| unknown_argument(root, "--"))
}

fn unknown_argument(root: &Command, word: &str) -> clap::Error {
    let mut error = clap::Error::new(ErrorKind::UnknownArgument).with_cmd(root);
    let word = ContextValue::String(word.to_owned());
    error.insert(ContextKind::InvalidArg, word);
    error
}

/// Returns the error for a flag with a long name and one dash. `error` is that of the parser, if it has one.
pub fn misread_flag(
    root: &Command,
    args: &[OsString],
    error: Option<&clap::Error>,
    is_command: impl Fn(&str) -> bool,
) -> Option<clap::Error> {
    let own = args.iter().skip(1).take_while(|word| *word != "--");
    let own = own.filter_map(|word| word.to_str());
    let mut flags = own.filter_map(|word| Some((word, long_name(word)?)));
    let commands = commands_of(root, args);
    let (flag, name) = flags.find(|(_, name)| {
        *name != "help"
            && (is_long_flag(&commands, name)
                || row_of(&commands, name).is_some()
                || short_flag_before_file(&commands, name).is_some()
                || is_command(name))
    })?;
    let is_file = short_flag_before_file(&commands, name).is_some()
        && error.is_none_or(|error| is_before(flag, args, error));
    if !is_file && error.is_some_and(|error| !is_about_flags(error, &commands)) {
        return None;
    }
    let flag = flag.split('=').next().unwrap_or(flag);
    Some(unknown_argument(root, flag))
}

/// Returns true if a flag is before the argument of an error.
fn is_before(flag: &str, args: &[OsString], error: &clap::Error) -> bool {
    let word = error.get(ContextKind::InvalidArg).map(ToString::to_string);
    let place = |word: &str| args.iter().position(|arg| *arg == *word);
    place(flag) < word.and_then(|word| place(&word))
}

/// Returns the short flag with a file as a value that a name begins with, and the rest: `-w here` of `-where`.
fn short_flag_before_file<'n>(commands: &[&Command], name: &'n str) -> Option<(char, &'n str)> {
    const LEAST: usize = 3;
    let short = name
        .chars()
        .next()
        .filter(|short| matches!(short, 'w' | 'o'))?;
    let mut all = commands.iter().flat_map(|command| command.get_arguments());
    let is_own = name.len() >= LEAST && all.any(|arg| arg.get_short() == Some(short));
    is_own.then(|| (short, name.get(1..).unwrap_or_default()))
}

/// Returns false if the error is not about a flag, or if the flag may be one of a program to start: `proxy ./server -port 1`.
fn is_about_flags(error: &clap::Error, commands: &[&Command]) -> bool {
    let mut all = commands.iter().flat_map(|command| command.get_arguments());
    let word = error.get(ContextKind::InvalidArg).map(ToString::to_string);
    match error.kind() {
        ErrorKind::UnknownArgument if word.is_some_and(|word| !word.starts_with('-')) => {
            !all.any(clap::Arg::is_last_set)
        }
        ErrorKind::UnknownArgument
        | ErrorKind::InvalidValue
        | ErrorKind::ValueValidation
        | ErrorKind::ArgumentConflict => true,
        _ => false,
    }
}

/// Returns `where` for `-where` and `-where=EXPR`.
fn long_name(flag: &str) -> Option<&str> {
    let name = flag.strip_prefix('-')?.split('=').next()?;
    let is_name = name.len() > 1
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'-');
    is_name.then_some(name)
}

/// Returns the root, and the commands that are given, from the top down.
fn commands_of<'a>(root: &'a Command, args: &[OsString]) -> Vec<&'a Command> {
    let mut commands = vec![root];
    let own = args.iter().skip(1).take_while(|word| *word != "--");
    for word in own.filter_map(|word| word.to_str()) {
        let last = commands.last().copied().unwrap_or(root);
        commands.extend(last.find_subcommand(word));
    }
    commands
}

fn is_long_flag(commands: &[&Command], name: &str) -> bool {
    let mut all = commands.iter().flat_map(|command| command.get_arguments());
    all.any(|arg| {
        let aliases = arg.get_all_aliases().unwrap_or_default();
        arg.get_long() == Some(name) || aliases.contains(&name)
    })
}

/// Returns the tip for the flag of another program that has this name.
fn row_of(commands: &[&Command], name: &str) -> Option<&'static str> {
    let command = commands
        .get(1)
        .map_or("decode", |command| command.get_name());
    let flag = format!("--{name}");
    let mut rows = words::FLAGS.iter();
    let row = rows.find(|(owners, flags, _)| {
        (owners.is_empty() || owners.contains(&command)) && has_word(flags, &flag)
    });
    row.map(|(.., tip)| *tip)
}

impl Situation<'_> {
    /// Returns the file of a command line without a command that does not exist: `-f line nofile.log`.
    pub(super) fn missing_file(&self) -> Option<&str> {
        let is_unknown = self.error.kind() == ErrorKind::UnknownArgument;
        let [.., flag, file] = self.args else {
            return None;
        };
        let (flag, file) = (flag.to_str()?, file.to_str()?);
        let decode = self.root.find_subcommand("decode")?;
        let mut flags = decode.get_arguments();
        let is_value = flags.any(|arg| {
            let long = flag.strip_prefix("--");
            let short = arg.get_short().map(|short| format!("-{short}"));
            let is_own = long.is_some() && arg.get_long() == long || short.as_deref() == Some(flag);
            is_own && arg.get_action().takes_values()
        });
        // Every flag is one of decode, so that only the file is missing.
        let mut own = self.args.iter().skip(1).filter_map(|word| word.to_str());
        let named = self.error.get(ContextKind::InvalidArg)?.to_string();
        let is_known = is_long_flag(&[decode], named.trim_start_matches('-'))
            || decode.get_arguments().any(|arg| {
                arg.get_short()
                    .is_some_and(|short| named.starts_with(&format!("-{short}")))
            });
        let has_dash = own.next()?.starts_with('-');
        let is_file = is_file_name(file) && !Path::new(file).exists() && !is_program(file);
        let is_missing = has_dash && is_known && is_file && !is_value;
        (is_unknown && self.command.is_none() && is_missing).then_some(file)
    }

    /// Returns a tip for a command to start behind a command that reads files.
    pub(super) fn tip_of_child_of_reader(&self) -> Option<String> {
        let name = self.command.map_or("decode", Command::get_name);
        let server = self.server()?;
        Some(match name {
            "test" => format!(
                "a file of cases names the server (wiretool help test); wiretool send mcp tools/list -- {server} asks it once"
            ),
            "lint" => format!(
                "wiretool proxy --lint -- {server} checks a command while it runs; lint reads captures, such as those of wiretool record -w FILE -- {server}"
            ),
            _ => format!(
                "{name} reads captures: wiretool record -w FILE -- {server} writes one, wiretool proxy -- {server} shows the messages"
            ),
        })
    }

    /// Returns a tip for a flag with a long name and one dash.
    pub(super) fn tip_of_one_dash(&self, flag: &str) -> Option<String> {
        let name = long_name(flag)?;
        let commands = commands_of(self.root, self.args);
        if is_long_flag(&commands, name) {
            return Some(format!("a long name has two dashes: --{name}"));
        }
        if let Some(tip) = row_of(&commands, name) {
            return Some(self.with_value(tip, flag));
        }
        if let Some(command) = self.root.find_subcommand(name) {
            return Some(format!(
                "{name} is a command: wiretool {} FILE",
                command.get_name()
            ));
        }
        let (short, file) = short_flag_before_file(&commands, name)?;
        let mut all = commands.iter().flat_map(|command| command.get_arguments());
        let longer = all.find_map(|arg| arg.get_long().filter(|long| long.starts_with(name)));
        Some(match longer {
            Some(long) => format!("a long name has two dashes: --{long}"),
            None => format!("there is no --{name}; a file of this name is -{short} {file}"),
        })
    }
}
