//! How long is the frame that begins here, and does one begin here at all?
//!
//! ```text
//!   L u32 | method_id u32 | version u8 | compat u8 | payload_size i32 | fields
//!   L = 4 + 6 + payload_size   exclusive: the document, audio, events, every reader of a server's streams
//!   L = 8 + 6 + payload_size   inclusive: every SDK's requests
//! ```

use super::schema::Schema;
use crate::encoding::serde_envelope::HEADER;
use crate::error::DecodeError;
use crate::framing::{Framing, LengthMode, Measured};
use crate::span::Span;

/// Bytes of length and method id.
const HEAD: u64 = 8;
/// Bytes that tell the flavour: up to and including `payload_size`.
const TELLS: u64 = HEAD + HEADER as u64;
/// Lengths above this are not plausible in the search for a frame.
const PLAUSIBLE_LENGTH: u32 = 16 << 20;
/// Schema versions above this are not plausible either.
const PLAUSIBLE_VERSION: u8 = 16;

/// Telequick's [`crate::framing::Hints::measure`].
pub(super) fn measure(bytes: &[u8], framing: Framing, mode: LengthMode) -> Measured {
    if framing == Framing::Bare {
        return bare(bytes);
    }
    let Some(length) = u32_at(bytes, 0) else {
        return Measured::Incomplete(TELLS);
    };
    let least = if mode == LengthMode::Inclusive { 8 } else { 4 };
    if length < least {
        let wanted = format!("at least {}, method id and envelope header", least + 6);
        return Measured::Bad(bad_length(bytes, wanted, length.to_string()));
    }
    let size = u32_at(bytes, 10).map(u32::cast_signed);
    let Some(size) = size else {
        // Too short for an envelope whatever follows; the frame may end before the 14 bytes that would tell.
        return match u32_at(bytes, 4) {
            Some(id) if (length as u64) < TELLS - 4 => {
                off(bytes, length, id, 0, LengthMode::Exclusive)
            }
            _ => Measured::Incomplete(TELLS),
        };
    };
    let told = flavour(length, size);
    let mode = match (mode, told) {
        (LengthMode::Auto, Some(told)) => told,
        (LengthMode::Auto, None) => return Measured::Undecided,
        (mode, _) => mode,
    };
    let len = if mode == LengthMode::Inclusive {
        length as u64
    } else {
        4 + length as u64
    };
    match u64::try_from(size) {
        // What is longer than its envelope in the flavour that was chosen may be right in the other.
        Ok(size) if TELLS + size > len || (told.is_none() && TELLS + size < len) => {
            let id = u32_at(bytes, 4).unwrap_or_default();
            off(bytes, length, id, size, mode)
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
        Some(small && flavour(length, size).is_some())
    };
    Schema::builtin().method(id).is_some() || consistent() == Some(true)
}

/// The flavour in which length and `payload_size` agree.
fn flavour(length: u32, payload_size: i32) -> Option<LengthMode> {
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
        // payload_size is signed, and an envelope alone has no other end.
        Some(Err(_)) => Measured::Bad(DecodeError::new(
            "bad-length",
            Span::new(2, HEADER),
            "payload_size",
            "0 or more",
            size.unwrap_or_default().to_string(),
        )),
    }
}

/// The length says less than the envelope needs, or more.
fn off(bytes: &[u8], length: u32, id: u32, size: u64, mode: LengthMode) -> Measured {
    let needs = TELLS + size;
    let len = match mode {
        LengthMode::Inclusive => length as u64,
        _ => 4 + length as u64,
    };
    let wrong = needs.abs_diff(len);
    let plural = if wrong == 1 { "byte" } else { "bytes" };
    let wanted = format!(
        "{} for payload_size {size}, or {needs} where the length counts itself",
        needs - 4
    );
    let got = if needs > len {
        format!("{length}, which cuts off the last {wrong} {plural} of the envelope")
    } else {
        format!("{length}, which takes {wrong} {plural} behind the envelope")
    };
    let mut error = bad_length(bytes, wanted, got);
    if let Some(meant) = Schema::builtin().near_miss(id) {
        error = error.hint(format!(
            "the method id is wrong, too: 0x{id:08x} is unknown, and {meant}"
        ));
    }
    Measured::Off {
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
