//! Texts of the wire that are too long for a form.

use crate::escape::escape;

/// Returns at most `most` characters, with active characters made visible. A mark says how much is left out.
pub(super) fn brief(text: &str, most: usize) -> String {
    let Some((cut, _)) = text.char_indices().nth(most) else {
        return escape(text).into_owned();
    };
    let (start, rest) = text.split_at_checked(cut).unwrap_or((text, ""));
    format!(
        "{}… ({} more characters)",
        escape(start),
        rest.chars().count()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_says_how_much_is_left_out() {
        assert_eq!(brief("ab\u{202e}c", 4), "ab\\u{202e}c");
        let long = "é".repeat(1 << 20);
        assert_eq!(brief(&long, 3), "ééé… (1048573 more characters)");
    }
}
