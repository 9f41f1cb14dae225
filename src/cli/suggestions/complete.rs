//! Completes a command line without a command.

use super::shapes::is_program;
use crate::cli::output::as_file;
use crate::cli::state;
use std::ffi::{OsStr, OsString};
use std::io::Read as _;
use std::path::Path;

/// Words in place of a command that stand for a command and its flags.
const SHORT_FORMS: &[(&str, &[&str])] = &[
    ("explain", &["lint", "--explain"]),
    ("version", &["--version"]),
];

/// Returns the command line with `decode` if its first argument is a file or `-`, or if there is no command and stdin
/// has input; and with the long form of [`SHORT_FORMS`].
pub fn complete_command(
    args: &[OsString],
    is_command: impl Fn(&str) -> bool,
    stdin_has_input: impl Fn() -> bool,
) -> Option<Vec<OsString>> {
    if record_tip(args).is_some() {
        return None;
    }
    let mut words = args.iter().skip(1);
    let Some(first) = words.next() else {
        return stdin_has_input().then(|| with_decode(args));
    };
    if let Some((_, long)) = SHORT_FORMS.iter().find(|(word, _)| first == word) {
        let long = long.iter().map(OsString::from);
        return Some(
            args.iter()
                .take(1)
                .cloned()
                .chain(long)
                .chain(words.cloned())
                .collect(),
        );
    }
    // A program to start comes after `--`.
    if first == "--" || first.to_str().is_some_and(&is_command) {
        return None;
    }
    let is_stored = |word: &OsString| {
        word.to_string_lossy().starts_with('@') && state::find(word.into()).is_ok()
    };
    let is_input = |word: &OsString| word == "-" || Path::new(word).exists() || is_stored(word);
    // Flags may precede the file.
    let has_input = if is_flag(first) {
        let has_command = |word: &OsString| word.to_str().is_some_and(&is_command);
        let is_about_wiretool =
            |word: &OsString| (["-h", "--help", "-V", "--version"].iter()).any(|flag| word == flag);
        // A protocol can have the name of a command.
        let values = args.iter().map(|word| word == "-p" || word == "--protocol");
        let after = std::iter::once(false).chain(values);
        let mut own = args.iter().zip(after).filter(|(_, is_value)| !is_value);
        !own.any(|(word, _)| has_command(word))
            && (words.any(is_input) || !args.iter().any(is_about_wiretool) && stdin_has_input())
    } else {
        is_input(first)
    };
    has_input.then(|| with_decode(args))
}

fn with_decode(args: &[OsString]) -> Vec<OsString> {
    let mut all = args.to_vec();
    all.insert(1.min(all.len()), "decode".into());
    all
}

/// Returns true if stdin is a file, a pipe or a socket; not if it is a terminal or `/dev/null`.
pub fn stdin_has_input() -> bool {
    as_file(std::io::stdin()).is_ok_and(|stdin| crate::system::has_input(&stdin))
}

pub(super) fn is_flag(word: &OsString) -> bool {
    word.as_encoded_bytes().starts_with(b"-") && word != "-"
}

/// Returns the tip for a file to write and a command to start, without a command of wiretool: `-w FILE -- ./server`.
pub(super) fn record_tip(args: &[OsString]) -> Option<String> {
    let [_, flag, file, command @ ..] = args else {
        return None;
    };
    let writes = ["-w", "--write", "-o", "--output"]
        .iter()
        .any(|own| flag == own);
    let command = match command {
        [first, rest @ ..] if first == "--" => rest,
        all => all,
    };
    let program = command.first()?;
    let text =
        |words: &[OsString]| shell_words::join(words.iter().map(|word| word.to_string_lossy()));
    (writes && is_command(program)).then(|| {
        let file = std::slice::from_ref(file);
        format!("wiretool record -w {} -- {}", text(file), text(command))
    })
}

/// Returns true for the name or the file of a program.
pub fn is_command(word: impl AsRef<OsStr>) -> bool {
    let word = word.as_ref();
    word.to_str().is_some_and(is_program) || is_executable(Path::new(word))
}

/// Returns true for the file of a program: an executable, or a script with `#!`.
fn is_executable(path: &Path) -> bool {
    let mut start = [0; 4];
    let file = path.is_file().then(|| std::fs::File::open(path));
    let Some(Ok(mut file)) = file else {
        return false;
    };
    file.read_exact(&mut start).is_ok() && (start.starts_with(b"#!") || start == *b"\x7fELF")
}
