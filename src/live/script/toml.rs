//! Text as values of TOML, each on one line, that read back as the same text.

use crate::render::style::is_active;

/// Formats text in single quotes if possible.
pub fn literal_quote(text: &str) -> String {
    if text.contains('\'') || text.contains(is_active) {
        quote(text)
    } else {
        format!("'{text}'")
    }
}

/// Formats text in double quotes. Characters that can change a terminal are escaped.
pub fn quote(text: &str) -> String {
    if text.contains(['"', '\\']) && !text.contains('\'') && !text.contains(is_active) {
        return format!("'{text}'");
    }
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if is_active(c) => out.push_str(&match c as u32 {
                code @ ..=0xFFFF => format!("\\u{code:04X}"),
                code => format!("\\U{code:08X}"),
            }),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
