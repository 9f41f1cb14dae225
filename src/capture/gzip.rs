//! Inflates a gzipped input as it arrives.
//!
//! ```text
//!   1f 8b 08 flags mtime(4) xfl os | extra? name? comment? crc16? | deflate data | crc32 size | next member ...
//! ```
//!
//! RFC 1952, with any number of members.

use super::chunk::{InputPlace, Problem};
use flate2::{Decompress, FlushDecompress, Status};

/// The maximum number of bytes that are inflated at a time; the size of the buffer.
const BUFFER_SIZE: usize = 32 << 10;

/// Returns true if the first bytes are those of gzip, or `None` if there are too few of them.
///
/// The method byte is part of the test: the two magic bytes alone also start a frame of 35615 bytes.
pub(super) fn is_gzip(bytes: &[u8]) -> Option<bool> {
    const MAGIC: [u8; 3] = [0x1f, 0x8b, 8];
    if MAGIC.starts_with(bytes) && bytes.len() < MAGIC.len() {
        return None;
    }
    Some(bytes.starts_with(&MAGIC))
}

/// Receives the inflated bytes and the problems.
pub(super) type InflateSink<'s> = dyn FnMut(Result<&[u8], Problem>) + 's;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GzipState {
    Member,
    /// After a member.
    BetweenMembers,
    /// Nothing more can be read.
    Ended,
}

pub(super) struct Gunzip {
    state: GzipState,
    inflate: Decompress,
    buffer: Vec<u8>,
    /// The number of compressed bytes read so far.
    read: u64,
    /// The number of inflated bytes.
    total: u64,
}

impl Gunzip {
    pub(super) fn new() -> Self {
        Self {
            state: GzipState::Member,
            inflate: new_member(),
            buffer: vec![0; BUFFER_SIZE],
            read: 0,
            total: 0,
        }
    }

    pub(super) fn push(&mut self, bytes: &[u8], out: &mut InflateSink<'_>) {
        let mut rest = bytes;
        while let Some(first) = rest.first() {
            let used = match (self.state, first) {
                (GzipState::Member, _) => self.inflate(rest, out),
                // Archives on tape are padded with zeros.
                (GzipState::BetweenMembers, 0) => 1,
                (GzipState::BetweenMembers, 0x1f) => {
                    self.inflate = new_member();
                    self.state = GzipState::Member;
                    continue;
                }
                (GzipState::BetweenMembers, _) => {
                    let text = "the bytes after the gzip data are ignored";
                    out(Err(Problem::note(InputPlace::Byte(self.read), text)));
                    self.state = GzipState::Ended;
                    return;
                }
                (GzipState::Ended, _) => return,
            };
            self.read += used as u64;
            rest = rest.get(used..).unwrap_or_default();
        }
    }

    pub(super) fn finish(&mut self, out: &mut InflateSink<'_>) {
        if self.state == GzipState::Member {
            let text = format!(
                "gzip data is cut off; the {} bytes inflated so far are kept",
                self.total
            );
            out(Err(Problem::error(InputPlace::Byte(self.read), text)));
        }
    }

    /// Inflates until the buffer is full. Returns the number of bytes of `input` that it consumed.
    fn inflate(&mut self, input: &[u8], out: &mut InflateSink<'_>) -> usize {
        let (taken, given) = (self.inflate.total_in(), self.inflate.total_out());
        let status = self
            .inflate
            .decompress(input, &mut self.buffer, FlushDecompress::None);
        let taken = (self.inflate.total_in() - taken) as usize;
        let given = (self.inflate.total_out() - given) as usize;
        self.total += given as u64;
        if given > 0 {
            out(Ok(self.buffer.get(..given).unwrap_or_default()));
        }
        match status {
            Ok(Status::StreamEnd) => self.state = GzipState::BetweenMembers,
            Ok(_) if taken > 0 || given > 0 => {}
            _ => {
                self.state = GzipState::Ended;
                let text = format!(
                    "gzip data is damaged; the {} bytes before are kept",
                    self.total
                );
                out(Err(Problem::error(
                    InputPlace::Byte(self.read + taken as u64),
                    text,
                )));
            }
        }
        taken
    }
}

/// Creates a decompressor for one member: header, data, checksum and size.
fn new_member() -> Decompress {
    Decompress::new_gzip(15)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::{Compression, GzBuilder};
    use std::io::Write;

    fn gzip(bytes: &[u8], builder: GzBuilder) -> Vec<u8> {
        let mut writer = builder.write(Vec::new(), Compression::default());
        writer.write_all(bytes).unwrap();
        writer.finish().unwrap()
    }

    fn gunzip(bytes: &[u8], step: usize) -> (Vec<u8>, Vec<String>) {
        let (mut inflated, mut problems) = (Vec::new(), Vec::new());
        let mut gunzip = Gunzip::new();
        let out: &mut InflateSink<'_> = &mut |result| match result {
            Ok(bytes) => inflated.extend_from_slice(bytes),
            Err(problem) => problems.push(problem.to_string()),
        };
        for piece in bytes.chunks(step) {
            gunzip.push(piece, out);
        }
        gunzip.finish(out);
        (inflated, problems)
    }

    #[test]
    fn members_with_all_header_fields_are_inflated() {
        let full = GzBuilder::new()
            .filename("a.bin")
            .comment("why")
            .extra(b"xyz".to_vec());
        let text: Vec<u8> = (0..100_000_u32)
            .flat_map(|n| (n / 7).to_le_bytes())
            .collect();
        let mut file = gzip(&text, full);
        file.extend(gzip(b"and more", GzBuilder::new().extra(Vec::new())));
        let want: Vec<u8> = text.iter().chain(b"and more").copied().collect();
        for step in [1, 7, 4096, file.len()] {
            assert_eq!(gunzip(&file, step), (want.clone(), vec![]), "step {step}");
        }
        file.extend([0; 20]);
        assert_eq!(gunzip(&file, 5).1, [""; 0]);
        file.extend(b"junk");
        assert_eq!(gunzip(&file, 5).1.len(), 1);
        assert_eq!(gunzip(&file, 5).0, want);
    }

    #[test]
    fn truncated_or_damaged_data_is_inflated_up_to_the_error() {
        let text: Vec<u8> = (0..5000_u32).flat_map(|n| (n * n).to_le_bytes()).collect();
        let file = gzip(&text, GzBuilder::new());
        for end in 1..file.len() {
            let (inflated, problems) = gunzip(&file[..end], end);
            assert!(text.starts_with(&inflated), "{end}");
            assert_eq!(problems.len(), 1, "{end}");
        }
        for at in (0..file.len()).step_by(97) {
            let mut file = file.clone();
            file[at] ^= 0x55;
            let whole = gunzip(&file, file.len());
            for step in [1, 100] {
                assert_eq!(gunzip(&file, step), whole, "byte {at}, step {step}");
            }
        }
    }

    #[test]
    fn a_frame_of_35615_bytes_is_not_gzip() {
        for (bytes, want) in [
            (&b""[..], None),
            (b"\x1f", None),
            (b"\x1f\x8b", None),
            (b"\x1f\x8b\x08", Some(true)),
            (b"\x1f\x8b\x00", Some(false)),
            (b"\x1e", Some(false)),
        ] {
            assert_eq!(is_gzip(bytes), want, "{bytes:02x?}");
        }
    }
}
