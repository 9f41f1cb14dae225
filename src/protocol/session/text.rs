//! What the wire holds, in the texts of findings: no more than a line of it.

use crate::encoding::lossless;
use crate::tape::Node;

/// Most characters of a text that are shown.
const LONGEST: usize = 60;

/// The beginning of a text.
pub fn short(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// A value as JSON; of a long array or object, only that it is one.
pub fn quote(node: Node<'_>) -> String {
    if node.span().len as usize > LONGEST {
        let text = node.text().filter(|_| node.is_string());
        return text.map_or_else(|| node.describe().to_owned(), |text| quote_text(&text));
    }
    let mut json = Vec::new();
    lossless::write(node, &mut json);
    short(&String::from_utf8_lossy(&json))
}

/// A text in quotes.
pub fn quote_text(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{:?}…", text.get(..at).unwrap_or_default()),
        None => format!("{text:?}"),
    }
}
