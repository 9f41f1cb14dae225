//! Measures a frame, and recognises the start of a frame.
//!
//! ```text
//!   L u32 | method_id u32 | version u8 | compat u8 | payload_size i32 | fields
//!   L = 4 + 6 + payload_size   exclusive: the document, audio, events, every reader of a server's streams
//!   L = 8 + 6 + payload_size   inclusive: the requests of every SDK
//! ```

use super::schema::Schema;
use crate::encoding::serde_envelope::HEADER;
use crate::error::DecodeError;
use crate::framing::{Framing, LengthMode, Measured};
use crate::span::Span;

/// The size of length and method id, in bytes.
const HEAD: u64 = 8;
/// The number of bytes that decide the length mode: up to and including `payload_size`.
const MODE_BYTES: u64 = HEAD + HEADER as u64;
/// The search for a frame ignores larger lengths.
const PLAUSIBLE_LENGTH: u32 = 16 << 20;
/// The search for a frame ignores higher schema versions.
const PLAUSIBLE_VERSION: u8 = 16;

/// Telequick's [`crate::framing::Hints::measure`].
pub(super) fn measure(bytes: &[u8], framing: Framing, mode: LengthMode) -> Measured {
    if framing == Framing::Bare {
        return bare(bytes);
    }
    let Some(length) = u32_at(bytes, 0) else {
        return Measured::Incomplete(MODE_BYTES);
    };
    let least = if mode == LengthMode::Inclusive { 8 } else { 4 };
    if length < least {
        let wanted = format!("at least {}, method id and envelope header", least + 6);
        return Measured::Bad(bad_length(bytes, wanted, length.to_string()));
    }
    let size = u32_at(bytes, 10).map(u32::cast_signed);
    let Some(size) = size else {
        // A length that is too short for any envelope; the frame may end before the 14 bytes that decide the mode.
        return match u32_at(bytes, 4) {
            Some(id) if (length as u64) < MODE_BYTES - 4 => {
                length_mismatch(bytes, length, id, 0, LengthMode::Exclusive)
            }
            _ => Measured::Incomplete(MODE_BYTES),
        };
    };
    let detected = detect_mode(length, size);
    let mode = match (mode, detected) {
        (LengthMode::Auto, Some(detected)) => detected,
        (LengthMode::Auto, None) => return Measured::Undecided,
        (mode, _) => mode,
    };
    let len = if mode == LengthMode::Inclusive {
        length as u64
    } else {
        4 + length as u64
    };
    match u64::try_from(size) {
        // A length that exceeds its envelope in the selected mode may fit in the other.
        Ok(size) if MODE_BYTES + size > len || (detected.is_none() && MODE_BYTES + size < len) => {
            let id = u32_at(bytes, 4).unwrap_or_default();
            length_mismatch(bytes, length, id, size, mode)
        }
        _ => Measured::Frame {
            len,
            mode: Some(mode),
        },
    }
}

/// Telequick's [`crate::framing::Hints::plausible`].
pub(super) fn plausible(bytes: &[u8]) -> bool {
    let (Some(length), Some(id)) = (u32_at(bytes, 0), u32_at(bytes, 4)) else {
        return false;
    };
    if !(10..PLAUSIBLE_LENGTH).contains(&length) {
        return false;
    }
    let consistent = || {
        let versions = bytes.get(8..10)?;
        let size = u32_at(bytes, 10)?.cast_signed();
        let small = versions.iter().all(|v| *v < PLAUSIBLE_VERSION);
        Some(small && detect_mode(length, size).is_some())
    };
    Schema::builtin().method(id).is_some() || consistent() == Some(true)
}

/// Returns the mode in which length and `payload_size` agree.
fn detect_mode(length: u32, payload_size: i32) -> Option<LengthMode> {
    let size = u64::try_from(payload_size).ok()?;
    match (length as u64).checked_sub(size)? {
        10 => Some(LengthMode::Exclusive),
        14 => Some(LengthMode::Inclusive),
        _ => None,
    }
}

fn bare(bytes: &[u8]) -> Measured {
    let size = u32_at(bytes, 2).map(u32::cast_signed);
    match size.map(u64::try_from) {
        None => Measured::Incomplete(HEADER as u64),
        Some(Ok(size)) => Measured::Frame {
            len: HEADER as u64 + size,
            mode: None,
        },
        // `payload_size` is signed, and a bare envelope has no other length.
        Some(Err(_)) => Measured::Bad(DecodeError::new(
            "bad-length",
            Span::new(2, HEADER),
            "payload_size",
            "0 or more",
            size.unwrap_or_default().to_string(),
        )),
    }
}

/// Reports a length that is smaller or larger than the envelope.
fn length_mismatch(bytes: &[u8], length: u32, id: u32, size: u64, mode: LengthMode) -> Measured {
    let needs = MODE_BYTES + size;
    let len = match mode {
        LengthMode::Inclusive => length as u64,
        _ => 4 + length as u64,
    };
    let wrong = needs.abs_diff(len);
    let plural = if wrong == 1 { "byte" } else { "bytes" };
    let wanted = format!(
        "{} for payload_size {size}, or {needs} if the length counts itself",
        needs - 4
    );
    let got = if needs > len {
        format!("{length}, which cuts off the last {wrong} {plural} of the envelope")
    } else {
        format!("{length}, which includes {wrong} {plural} after the envelope")
    };
    let mut error = bad_length(bytes, wanted, got);
    // Bytes with another length than frames have are no frame, so their id means nothing.
    let is_frame = length < PLAUSIBLE_LENGTH;
    if let Some(meant) = is_frame.then(|| Schema::builtin().near_miss(id)).flatten() {
        error = error.hint(format!(
            "the method id is wrong, too: 0x{id:08x} is unknown, and {meant}"
        ));
    }
    Measured::Mismatch {
        len,
        needs,
        mode,
        error,
    }
}

fn bad_length(bytes: &[u8], wanted: String, got: String) -> DecodeError {
    let span = Span::new(0, 4.min(bytes.len()));
    DecodeError::new("bad-length", span, "length", wanted, got)
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    let word = bytes.get(at..)?.first_chunk::<4>()?;
    Some(u32::from_le_bytes(*word))
}
