//! Escapes texts for a diagram of mermaid, whose lines have no quotes: `#59;` is a semicolon.

use std::fmt::Write as _;

/// The maximum size of a text in a diagram, in bytes: mermaid draws no diagram of more than 50,000 characters.
pub(super) const MAX_TEXT: usize = 280;

/// Returns `true` if a character may have a meaning in mermaid's grammar, its entities and directives, or in HTML.
const fn has_meaning(c: char) -> bool {
    // mermaid itself writes entities with the last three.
    matches!(
        c,
        '#' | ';' | '<' | '>' | '&' | '%' | '$' | '`' | '\\' | 'ﬂ' | '°' | '¶'
    )
}

/// Words that some version of mermaid reads inside of a text, and whether only a whole word is read.
const WORDS: [(&str, bool); 3] = [("end", true), ("style", false), ("classdef", false)];
/// Words that are read at the start of a text.
const FIRST_WORDS: [&str; 2] = ["wrap:", "nowrap:"];

/// Returns a text without active characters as mermaid shows it unchanged. A mark says how much is left out of a text
/// that is too long.
pub(super) fn encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    let mut before = None;
    for (at, c) in text.char_indices() {
        let rest = text.get(at..).unwrap_or_default();
        if out.len() >= MAX_TEXT {
            let _ = write!(out, "… ({} more characters)", rest.chars().count());
            break;
        }
        if has_meaning(c) || is_word(rest, before) {
            let _ = write!(out, "#{};", c as u32);
        } else {
            out.push(c);
        }
        before = Some(c);
    }
    out
}

/// Returns `true` if a text starts with a word that mermaid reads.
fn is_word(text: &str, before: Option<char>) -> bool {
    let starts = |word: &str| {
        let start = text.get(..word.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(word))
    };
    let is_inner = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let is_alone = |word: &str| {
        let after = text.get(word.len()..).and_then(|rest| rest.chars().next());
        !is_inner(before) && !is_inner(after)
    };
    WORDS
        .iter()
        .any(|(word, alone)| starts(word) && (!alone || is_alone(word)))
        || before.is_none() && FIRST_WORDS.iter().any(|word| starts(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_have_no_meaning_in_the_grammar() {
        for (text, wanted) in [
            (
                "tools/call echo {\"a\": [1]}, 3.4 ms",
                "tools/call echo {\"a\": [1]}, 3.4 ms",
            ),
            ("a;b#c:d", "a#59;b#35;c:d"),
            ("END. bend ender", "#69;ND. bend ender"),
            (
                "%%{init}%% <b> `y` $$z$$",
                "#37;#37;{init}#37;#37; #60;b#62; #96;y#96; #36;#36;z#36;#36;",
            ),
            ("lifestyle:#", "life#115;tyle:#35;"),
            ("nowrap: wrap:", "#110;owrap: wrap:"),
            ("ﬂ°°35¶ß", "#64258;#176;#176;35#182;ß"),
            ("été", "été"),
        ] {
            assert_eq!(encode(text), wanted);
        }
        let long = encode(&";".repeat(400));
        assert!(long.ends_with("#59;… (330 more characters)"), "{long}");
    }
}
