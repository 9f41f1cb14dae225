//! Flags that other flags have replaced. They still work; help does not list them, and each use prints a note.

use clap::ArgMatches;
use clap::parser::ValueSource;

/// The command, the flag, and the replacement.
const REPLACED: &[(&str, &str, &str)] = &[
    ("decode", "role", "--where role=ROLE"),
    ("decode", "conn", "--where conn=N"),
    ("decode", "faults", "--where fault"),
    ("replay", "first", "--where 'index>=N'"),
    ("replay", "last", "--where 'index<=N'"),
    ("test", "json", "-f json"),
    ("list", "json", "-f json"),
];

/// Returns a note for each replaced flag on the command line.
pub fn notes(matches: &ArgMatches) -> Vec<String> {
    let mut notes = Vec::new();
    let mut at = matches.subcommand();
    while let Some((command, matches)) = at {
        for (name, flag, now) in REPLACED {
            if *name == command && is_given(matches, flag) {
                notes.push(format!("--{flag} is replaced by {now}"));
            }
        }
        at = matches.subcommand();
    }
    notes
}

/// Returns true if a flag is on the command line; settings do not count.
pub fn is_given(matches: &ArgMatches, flag: &str) -> bool {
    let is_known = matches.try_contains_id(flag).is_ok();
    is_known && matches.value_source(flag) == Some(ValueSource::CommandLine)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::command;

    #[test]
    fn replaced_flags_are_hidden_and_known() {
        let mut root = command();
        root.build();
        for (name, flag, _) in REPLACED {
            let snapshot = root.find_subcommand("snapshot").unwrap();
            let command = snapshot.find_subcommand(name);
            let command = command.or(root.find_subcommand(name)).unwrap();
            let arg = command.get_arguments().find(|arg| arg.get_id() == flag);
            assert!(arg.unwrap().is_hide_set(), "{name} --{flag}");
        }
    }

    #[test]
    fn each_use_is_noted() {
        for (words, wanted) in [
            (
                &["decode", "--faults", "--conn", "1", "x"][..],
                &[
                    "--conn is replaced by --where conn=N",
                    "--faults is replaced by --where fault",
                ][..],
            ),
            (
                &["snapshot", "list", "--json"],
                &["--json is replaced by -f json"],
            ),
            (&["send", "oracle", "--json", "x"], &[]),
            (&["decode", "--where", "fault", "x"], &[]),
        ] {
            let words = std::iter::once(&"wiretool").chain(words);
            let matches = command().try_get_matches_from(words).unwrap();
            assert_eq!(notes(&matches), wanted);
        }
    }
}
