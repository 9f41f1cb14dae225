//! The parts of a line of decode.

use crate::encoding::lossless::json_bytes;
use crate::error::Refusal;
use crate::framing::LengthMode;
use crate::tape::Node;

/// Returns `true` for a line of decode: it has the contract's version and a framing.
pub(crate) fn is_line(value: Node<'_>) -> bool {
    value.get("v").is_some_and(|v| v.as_i128() == Some(1))
        && value.get("index").is_some()
        && value.get("framing").is_some()
}

/// Returns `true` for a line of decode that a child wrote to stderr: there is nothing to encode.
#[cfg(feature = "cli")]
pub(crate) fn is_stderr(value: Node<'_>) -> bool {
    value.get("v").is_some_and(|v| v.as_i128() == Some(1))
        && value.get("index").is_none()
        && value.get("kind").is_some_and(|kind| kind.is_text("stderr"))
}

/// Returns the method id and the length mode of a message with them.
pub(super) fn method(message: Node<'_>) -> Option<(u32, LengthMode)> {
    let id = u32::try_from(message.get("method_id")?.as_i128()?).ok()?;
    let mode = message.get("length_mode").and_then(Node::text);
    Some((
        id,
        mode.and_then(|mode| LengthMode::from_name(&mode))
            .unwrap_or_default(),
    ))
}

/// Reads `raw` of a line: text, or bytes in hex.
pub(super) fn raw_bytes(raw: Node<'_>) -> Result<Vec<u8>, Refusal> {
    if let Some(text) = raw.text() {
        return Ok(text.into_owned().into_bytes());
    }
    json_bytes(raw)
        .ok_or_else(|| Refusal::new("raw", "text, or {\"$bin\":\"hex\"}", raw.describe()))
}
