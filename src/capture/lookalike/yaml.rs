//! Tells YAML from other text with colons.

/// The lines that are examined.
const MAX_LINES: usize = 32;

/// Returns true if each line is a key, an item or a separator, and a key has others below it. Lines of a log have none.
pub(super) fn is_yaml(text: &str) -> bool {
    let lines: Vec<&str> = text.lines().take(MAX_LINES).collect();
    let content = |line: &str| {
        let line = line.trim_start();
        line.strip_prefix("- ").unwrap_or(line).to_owned()
    };
    let indent = |line: &str| line.len() - line.trim_start().len();
    let is_line = |line: &&str| {
        let bare = line.trim();
        let is_item = bare.starts_with("- ") || bare.is_empty() || bare == "---";
        is_item || is_key(bare)
    };
    let has_inner = lines.windows(2).any(|pair| {
        let [key, inner] = pair else { return false };
        let is_parent = is_key(&content(key)) && key.ends_with(':');
        is_parent && indent(inner) > indent(key) && is_key(&content(inner))
    });
    has_inner && lines.iter().all(is_line)
}

/// Returns true for a key, and perhaps its value.
fn is_key(line: &str) -> bool {
    let key = line.split_once(':').map(|(key, _)| key);
    let is_part = |c: char| c.is_alphanumeric() || "_-./'\"".contains(c);
    let is_ended = |key: &str| {
        let after = line.get(key.len() + 1..).unwrap_or_default();
        after.is_empty() || after.starts_with(' ')
    };
    key.is_some_and(|key| !key.is_empty() && key.chars().all(is_part) && is_ended(key))
}
