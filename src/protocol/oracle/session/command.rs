//! Checks the command that spawned the oracle, from the head of a recording.
//!
//! The executor splits the connection string as a shell does but expands nothing, so shell syntax reaches the program
//! as an argument.

use crate::protocol::rule_names::oracle as rule;
use crate::protocol::session::{Place, Report, broken};

/// Checks the words of the command.
pub(super) fn check(argv: &[String], place: Place, report: &mut Report) {
    let mut words = argv.iter().enumerate();
    let odd = words.find(|(n, word)| {
        // A shell or another interpreter reads the word after -c.
        let before = n.checked_sub(1).and_then(|n| argv.get(n));
        let is_script = before.is_some_and(|word| matches!(word.as_str(), "-c" | "-e"));
        !is_script && has_shell_syntax(word)
    });
    if let Some((n, word)) = odd {
        broken!(report, rule::CONNECTION_SHELL, place;
            "word {n} of the command is {word:?}: no shell reads it");
    }
    if let Some((n, word)) = argv.iter().enumerate().find(|(_, w)| w.contains('\r')) {
        broken!(report, rule::CONNECTION_CR, place;
            "word {n} of the command is {word:?}: a CR does not separate words");
    }
}

/// Returns true if a word has an effect in a shell: it pipes, redirects, ends a command or expands. A word with blanks
/// was quoted.
fn has_shell_syntax(word: &str) -> bool {
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
    fn words_with_shell_syntax_are_reported() {
        for word in [
            "|", "&&", ";", ">", ">>log", "2>", "2>&1", "&>log", "<in", "$HOME/x", "a${B}c",
            "$(pwd)", "~/x",
        ] {
            assert!(has_shell_syntax(word), "{word}");
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
            assert!(!has_shell_syntax(word), "{word}");
        }
    }
}
