//! Shortens wire values for the texts of findings.

use crate::encoding::lossless;
use crate::escape::shorten;
use crate::tape::Node;

/// The largest number of characters that are shown.
const LONGEST: usize = 60;

/// Returns the start of a text.
pub fn short(text: &str) -> String {
    shorten(text, LONGEST + 1).into_owned()
}

/// Writes a value as JSON; of a long array or object, only its type.
pub fn quote(node: Node<'_>) -> String {
    if node.span().len as usize > LONGEST {
        let text = node.text().filter(|_| node.is_string());
        return text.map_or_else(|| node.describe().to_owned(), |text| quote_text(&text));
    }
    let mut json = Vec::new();
    lossless::write(node, &mut json);
    short(&String::from_utf8_lossy(&json))
}

/// Returns the start of a text in quotes.
pub fn quote_text(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{:?}…", text.get(..at).unwrap_or_default()),
        None => format!("{text:?}"),
    }
}
