//! Lines of a text that are messages and nothing else, as in a stream.

use super::cut;
use super::finder::Finder;

/// Returns true if a line is a whole message, or the header of one: the text is a stream of messages, and other lines
/// are errors in it.
pub(super) fn has_bare_message(text: &[u8]) -> bool {
    let mut finder = Finder::default();
    text.split(|&c| c == b'\n').any(|line| {
        // No peer indents its messages.
        if line.starts_with(INDENT) {
            return false;
        }
        let line = line.trim_ascii();
        let mut messages = Vec::new();
        if matches!(line.first(), Some(b'{' | b'[')) {
            finder.in_text(line, 0, &mut messages);
        }
        line.starts_with(b"Content-Length:") && !line.ends_with(b"^M$")
            || matches!(&*messages, [found] if found.is_alone())
    })
}

/// What is before a message that belongs to the line above it.
const INDENT: &[u8] = b"    ";

/// Returns true if all messages of a text are indented, as below the name of a logger.
pub(super) fn has_only_indented_messages(text: &[u8]) -> bool {
    let is_indented = |line: &[u8]| {
        let inner = line.strip_prefix(INDENT).map(<[u8]>::trim_ascii_start);
        inner.is_some_and(|inner| inner.starts_with(b"{"))
    };
    text.split(|&c| c == b'\n').any(is_indented) && !has_bare_message(text)
}

/// Returns true if no line of a text is a message, and some are beginnings of messages behind other text.
pub(super) fn has_only_cut_messages(text: &[u8]) -> bool {
    const MAX_LINES: usize = 256;
    let mut finder = Finder::default();
    let mut lines = text.split(|&c| c == b'\n').take(MAX_LINES);
    lines.any(|line| {
        let line = line.trim_ascii();
        let is_bare = line.starts_with(b"{") || line.starts_with(b"[{");
        let has_longer = |finder: &mut Finder| {
            let found = finder.find(line).messages;
            found
                .iter()
                .any(|one| cut::is_longer(&one.message, &one.after))
        };
        !is_bare
            && (cut::is_cut_frame(line)
                || finder.cut_message(line).is_some()
                || has_longer(&mut finder))
    }) && !has_bare_message(text)
}
