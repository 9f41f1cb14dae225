//! The command that spawned the oracle, as a recording's head tells it.
//!
//! The executor splits the connection string as a shell does and expands nothing, so that what was meant for a shell
//! reaches the program as an argument.

use crate::protocol::session::{Place, Report};

/// Rules for the words of the command.
pub(super) fn check(argv: &[String], place: Place, report: &mut Report) {
    let mut words = argv.iter().enumerate();
    let odd = words.find(|(n, word)| {
        // What follows -c is read by a shell, or another interpreter.
        let before = n.checked_sub(1).and_then(|n| argv.get(n));
        let is_script = before.is_some_and(|word| matches!(word.as_str(), "-c" | "-e"));
        !is_script && is_for_a_shell(word)
    });
    if let Some((n, word)) = odd {
        let text = format!("word {n} of the command is {word:?}: no shell reads it");
        report.broken("connection-shell", place, text);
    }
    if let Some((n, word)) = argv.iter().enumerate().find(|(_, w)| w.contains('\r')) {
        let text =
            format!("word {n} of the command is {word:?}: the CR in it is no blank between words");
        report.broken("connection-cr", place, text);
    }
}

/// Whether a word does something in a shell: it pipes, redirects, ends a command or expands. What has blanks was quoted.
fn is_for_a_shell(word: &str) -> bool {
    if word.contains([' ', '\t', '\n']) {
        return false;
    }
    let operator = word.trim_start_matches(|c: char| c.is_ascii_digit());
    let redirects = operator.starts_with(['>', '<']) || word.starts_with("&>");
    let expands = word.split('$').skip(1).any(|rest| {
        let first = rest.chars().next();
        first.is_some_and(|c| c.is_ascii_alphabetic() || matches!(c, '_' | '{' | '('))
    });
    let is_home = word == "~" || word.starts_with("~/");
    matches!(word, "|" | "||" | "&" | "&&" | ";") || redirects || expands || is_home
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_a_shell_would_take_otherwise() {
        for word in [
            "|", "&&", ";", ">", ">>log", "2>", "2>&1", "&>log", "<in", "$HOME/x", "a${B}c",
            "$(pwd)", "~/x",
        ] {
            assert!(is_for_a_shell(word), "{word}");
        }
        for word in [
            "python3",
            "--price=5$",
            "^a$",
            "a|b",
            "a>b",
            "*.py",
            "a b > c",
            "x~",
            "-",
            "10",
            "",
        ] {
            assert!(!is_for_a_shell(word), "{word}");
        }
    }
}
