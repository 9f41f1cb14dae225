//! Writes a message as one frame or several: the reverse of reading.

use super::super::Wire;
use super::super::assembly::unmask;
use super::header::WebSocketHeader;

/// Describes the frames of one message beyond its payload.
pub(in super::super) fn describe(raw: &[u8], wire: &mut Wire) {
    let (mut sizes, mut masks) = (Vec::new(), Vec::new());
    for header in Headers(raw) {
        if sizes.is_empty() {
            wire.opcode = Some(header.opcode);
            wire.rsv = header.rsv;
        }
        sizes.push(header.len as usize);
        masks.extend(header.mask);
    }
    // If only some frames are masked, only their bytes can reproduce them.
    let same = masks.windows(2).all(|two| two.first() == two.last());
    if same && masks.len() == sizes.len() {
        masks.truncate(1);
    }
    wire.mask = Some(masks);
    if sizes.len() > 1 {
        wire.fragments = sizes;
    }
}

/// Returns the end of each frame.
pub(in super::super) fn ends(raw: &[u8]) -> Vec<usize> {
    let mut end = 0;
    Headers(raw)
        .map(|header| {
            end += header.size + header.len as usize;
            end
        })
        .collect()
}

/// The headers of consecutive frames; a truncated one is left out.
struct Headers<'a>(&'a [u8]);

impl Iterator for Headers<'_> {
    type Item = WebSocketHeader;

    fn next(&mut self) -> Option<WebSocketHeader> {
        let header = WebSocketHeader::read(self.0).ok()?;
        let total = usize::try_from(header.len).ok()?.checked_add(header.size)?;
        self.0 = self.0.get(total..)?;
        Some(header)
    }
}

/// Writes a message. If the sizes of fragments do not add up to the payload, the last frame takes
/// the rest.
pub(in super::super) fn write(body: &[u8], wire: &Wire, out: &mut Vec<u8>) {
    let joined;
    let payload = if wire.header.is_empty() {
        body
    } else {
        joined = [wire.header.as_slice(), body].concat();
        joined.as_slice()
    };
    let opcode = wire.opcode.unwrap_or_else(|| kind(payload));
    let masks = wire.mask.as_deref().unwrap_or_default();
    let count = wire.fragments.len().max(1);
    let mut rest = payload;
    for n in 0..count {
        let last = n + 1 == count;
        let size = wire.fragments.get(n).copied().filter(|_| !last);
        let (part, after) = rest
            .split_at_checked(size.unwrap_or(rest.len()))
            .unwrap_or((rest, &[]));
        rest = after;
        let first = if n == 0 { wire.rsv << 4 | opcode } else { 0 };
        out.push(first | if last { 0x80 } else { 0 });
        let mask = masks.get(n).or(masks.first()).copied();
        let bit = if mask.is_some() { 0x80 } else { 0 };
        // Section 5.2: "the minimal number of bytes MUST be used to encode the length".
        match part.len() {
            len @ 0..126 => out.push(bit + len as u8),
            len @ 126..=0xffff => {
                out.push(bit + 126);
                out.extend_from_slice(&(len as u16).to_be_bytes());
            }
            len => {
                out.push(bit + 127);
                out.extend_from_slice(&(len as u64).to_be_bytes());
            }
        }
        out.extend_from_slice(mask.as_ref().map_or(&[], |mask| mask.as_slice()));
        unmask(part, mask, out);
    }
}

/// Returns the opcode: text for JSON, otherwise binary.
fn kind(payload: &[u8]) -> u8 {
    let json = matches!(payload.trim_ascii_start().first(), Some(b'{' | b'['));
    if json && std::str::from_utf8(payload).is_ok() {
        1
    } else {
        2
    }
}
