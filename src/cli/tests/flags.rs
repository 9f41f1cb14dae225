//! Tests that a flag has the same meaning in all commands.
//!
//! Flags are compared by their long name over all commands: short name, name of the value, and the first sentence
//! of the help.

use crate::cli::Cli;
use clap::{Arg, Command};
use std::collections::{BTreeMap, BTreeSet};

/// Flags whose help depends on the command, with the reason. Short name and value must be
/// the same.
const COMMAND_SPECIFIC: &[(&str, &str)] = &[(
    "format",
    "it names the output: messages, findings or numbers",
)];

/// Flags with another meaning in some commands, with the reason.
const DIFFERENT: &[(&str, &str)] = &[
    (
        "explain",
        "lint takes the name of a rule; sael filter explains its filter",
    ),
    (
        "key",
        "a proxy takes the file of a private key, redact the name of a member; both are common terms",
    ),
    (
        "report",
        "lint takes the name of a format, stub the file of the report",
    ),
];

/// The meanings of each flag, with the commands that use them.
type Meanings = BTreeMap<String, BTreeMap<(String, String, String), Vec<String>>>;

fn walk(command: &Command, meanings: &mut Meanings) {
    let place = command.get_bin_name().unwrap_or_default();
    for arg in command.get_arguments() {
        if let Some(long) = arg.get_long() {
            let same = meanings.entry(long.to_owned()).or_default();
            same.entry(meaning(arg)).or_default().push(place.to_owned());
        }
    }
    command.get_subcommands().for_each(|c| walk(c, meanings));
}

fn meaning(arg: &Arg) -> (String, String, String) {
    let short = arg.get_short().map(String::from).unwrap_or_default();
    let value = if arg.get_action().takes_values() {
        arg.get_value_names().unwrap_or_default().join(" ")
    } else {
        String::new()
    };
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    // The rest of the sentence depends on the command.
    let first = help.split([';', ',', ':', '(']).next().unwrap_or_default();
    (short, value, first.trim().to_owned())
}

#[test]
fn same_flag_has_the_same_meaning_in_all_commands() {
    let mut command = Cli::command();
    command.build();
    command.clone().debug_assert();
    let mut meanings = Meanings::new();
    walk(&command, &mut meanings);
    let mut clashes = String::new();
    let is_in = |list: &[(&str, &str)], flag: &str| list.iter().any(|row| row.0 == flag);
    for (flag, same) in &meanings {
        let values: BTreeSet<_> = same
            .keys()
            .map(|(short, value, _)| (short, value))
            .collect();
        let (about, other) = (is_in(COMMAND_SPECIFIC, flag), is_in(DIFFERENT, flag));
        if same.len() == 1 || other || (about && values.len() == 1) {
            continue;
        }
        clashes += &format!("--{flag}:\n");
        for ((short, value, help), places) in same {
            clashes += &format!("    -{short} <{value}> {help:?} in {}\n", places.join(", "));
        }
    }
    assert!(
        clashes.is_empty(),
        "the same flag must take the same value and start its help with the same words, up to the first of , ; : (\n{clashes}\
         use the same words, rename one of them, or give a reason in COMMAND_SPECIFIC or DIFFERENT"
    );
    for (flag, _) in COMMAND_SPECIFIC.iter().chain(DIFFERENT) {
        let kinds = meanings.get(*flag).map_or(0, BTreeMap::len);
        assert!(kinds > 1, "--{flag} needs no exception any more");
    }
}

/// Short flags too: `-f` always is `--format`.
#[test]
fn same_letter_is_the_same_flag_in_all_commands() {
    let mut command = Cli::command();
    command.build();
    let mut meanings = Meanings::new();
    walk(&command, &mut meanings);
    let mut letters: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (flag, same) in &meanings {
        for (short, ..) in same.keys().filter(|(short, ..)| !short.is_empty()) {
            letters.entry(short).or_default().insert(flag);
        }
    }
    letters.retain(|_, flags| flags.len() > 1);
    assert!(letters.is_empty(), "{letters:?}");
}
