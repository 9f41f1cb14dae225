//! The same flag means the same everywhere.
//!
//! Flags are compared by their long name over all commands: the short one, what value they take, and the first sentence
//! of what is said of them.

use super::Cli;
use clap::{Arg, Command, CommandFactory as _};
use std::collections::{BTreeMap, BTreeSet};

/// Flags that say in each command what they are about there, and why that is no clash. Short name and value must be the
/// same all the same.
const ABOUT: &[(&str, &str)] = &[(
    "format",
    "it names what is shown: messages, findings, numbers",
)];

/// Flags that are another thing elsewhere, and why they stay so.
const OTHER: &[(&str, &str)] = &[
    (
        "explain",
        "lint explains the rule that is named, sael filter the filter that it has anyway",
    ),
    (
        "json",
        "send is given JSON, which is the word for it; snapshot, which gives it, has one form beside text",
    ),
    (
        "key",
        "a proxy's is the file of a private key, redact's the name of a member; both are what these programs call it",
    ),
    (
        "report",
        "lint's is another form of what it tells, and has a name; the stub's stands in a file of its own",
    ),
];

/// What must not differ, and the commands in which it is so.
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
    // What follows is about the command at hand.
    let first = help.split([';', ',', ':', '(']).next().unwrap_or_default();
    (short, value, first.trim().to_owned())
}

#[test]
fn the_same_flag_means_the_same_everywhere() {
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
        let (about, other) = (is_in(ABOUT, flag), is_in(OTHER, flag));
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
        "the same flag must take the same and begin its help with the same words, up to the first of , ; : (\n{clashes}\
         say it alike, name one of them otherwise, or give a reason in ABOUT or OTHER"
    );
    for (flag, _) in ABOUT.iter().chain(OTHER) {
        let kinds = meanings.get(*flag).map_or(0, BTreeMap::len);
        assert!(kinds > 1, "--{flag} needs no exception any more");
    }
}

/// Short flags, too: `-f` is `--format` wherever it is.
#[test]
fn the_same_letter_is_the_same_flag_everywhere() {
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
