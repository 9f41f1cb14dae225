//! Interprets command lines without a command, and suggests flags: a file is decoded, a wrong flag gets a hint.

use clap::error::{ContextKind, ErrorKind};
use std::ffi::OsString;
use std::path::Path;

/// Common wrong flags, and the flags to use instead.
const TIPS: &[(&str, &str)] = &[
    ("--json", "JSON is `-f json`"),
    (
        "-n",
        "the first N messages are `--head N`, the last `--tail N`",
    ),
    (
        "--time",
        "lines show times if the input has them; -f json has `time`",
    ),
    (
        "--times",
        "lines show times if the input has them; -f json has `time`",
    ),
    (
        "--count",
        "`--head N` stops after N messages; wiretool stat counts them",
    ),
    ("--filter", "conditions are `--where EXPR`"),
    ("--role", "the role of messages is `--where role=ROLE`"),
    ("--conn", "a connection is `--where conn=N`"),
    ("--faults", "messages at fault are `--where fault`"),
    ("--sarif", "SARIF is `--report sarif`"),
    ("--junit", "JUnit is `--report junit`"),
];

/// Returns the command line with `decode` before the first argument if that is a file or `-`, and with `lint --explain` for
/// `explain`.
pub fn complete_command(
    args: &[OsString],
    is_command: impl Fn(&str) -> bool,
) -> Option<Vec<OsString>> {
    let mut words = args.iter().skip(1);
    let first = words.next()?;
    if first == "explain" {
        let all = [args.first()?, &"lint".into(), &"--explain".into()];
        return Some(all.into_iter().chain(words).cloned().collect());
    }
    if first.to_str().is_some_and(&is_command) {
        return None;
    }
    let is_input = |word: &OsString| word == "-" || Path::new(word).exists();
    // Flags may precede the file.
    let is_flag = |word: &OsString| word.as_encoded_bytes().starts_with(b"-") && word != "-";
    let has_input = if is_flag(first) {
        let has_command = |word: &OsString| word.to_str().is_some_and(&is_command);
        !args.iter().any(has_command) && words.any(is_input)
    } else {
        is_input(first)
    };
    has_input.then(|| {
        let mut all = args.to_vec();
        all.insert(1, "decode".into());
        all
    })
}

/// Returns the flag to use instead of one that the command does not have.
pub fn flag_tip(error: &clap::Error) -> Option<&'static str> {
    let unknown = error.kind() == ErrorKind::UnknownArgument;
    let word = error.get(ContextKind::InvalidArg)?.to_string();
    let (_, tip) = TIPS.iter().find(|(flag, _)| unknown && *flag == word)?;
    Some(tip)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_is_decoded_unless_it_is_a_command() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("x.bin");
        std::fs::write(&file, "").unwrap();
        let file = file.to_str().unwrap();
        let is_command = |word: &str| word == "lint";
        for (words, wanted) in [
            (&[file][..], Some(vec!["decode", file])),
            (&["-"], Some(vec!["decode", "-"])),
            (
                &["-f", "json", file],
                Some(vec!["decode", "-f", "json", file]),
            ),
            (&["lint", file], None),
            (&["-q", "lint", file], None),
            (&["no-such-file"], None),
            (&["--help"], None),
            (&[], None),
            (&["explain", "a/b"], Some(vec!["lint", "--explain", "a/b"])),
        ] {
            let args = std::iter::once(&"wiretool").chain(words);
            let args: Vec<OsString> = args.map(OsString::from).collect();
            let found = complete_command(&args, is_command);
            let found = found.map(|all| all.into_iter().skip(1).collect::<Vec<_>>());
            let wanted = wanted.map(|all| all.into_iter().map(OsString::from).collect());
            assert_eq!(found, wanted, "{words:?}");
        }
    }
}
