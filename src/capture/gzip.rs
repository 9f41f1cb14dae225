//! Inflates a gzipped input as it arrives.
//!
//! ```text
//!   1f 8b 08 flags mtime(4) xfl os | extra? name? comment? crc16? | deflate data | crc32 size | next member ...
//! ```
//!
//! RFC 1952, with any number of members. Optional header fields are skipped; sums are checked.

use super::chunk::{Place, Problem};
use flate2::{Decompress, FlushDecompress, Status};

/// What is inflated in one go, in bytes; the buffer's size.
const STEP: usize = 32 << 10;

/// Whether an input is gzipped, by its first bytes; `None` where there are too few of them.
///
/// The method byte is part of the test: two bytes alone also begin a frame of 35615 bytes.
pub(super) fn is_gzip(bytes: &[u8]) -> Option<bool> {
    const MAGIC: [u8; 3] = [0x1f, 0x8b, 8];
    if MAGIC.starts_with(bytes) && bytes.len() < MAGIC.len() {
        return None;
    }
    Some(bytes.starts_with(&MAGIC))
}

/// Told what comes out: bytes or what is wrong.
pub(super) type Out<'s> = dyn FnMut(Result<&[u8], Problem>) + 's;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The fixed part of a header; bytes read of it.
    Head(usize),
    /// The length of the extra field; bytes read of it.
    ExtraLen(usize),
    /// Bytes of the extra field that are left.
    Extra(usize),
    Name,
    Comment,
    /// Bytes of the header's own sum that are left.
    HeadSum(usize),
    Body,
    /// Bytes read of sum and size.
    Tail(usize),
    /// After a member.
    Between,
    /// Nothing more can be read.
    Over,
}

pub(super) struct Gunzip {
    state: State,
    flags: u8,
    number: u64,
    inflate: Decompress,
    sum: crc32fast::Hasher,
    buffer: Vec<u8>,
    /// Bytes of the file read so far.
    read: u64,
    /// Bytes that came out of this member.
    size: u64,
    /// Bytes that came out at all.
    total: u64,
}

impl Gunzip {
    pub(super) fn new() -> Self {
        Self {
            state: State::Head(0),
            flags: 0,
            number: 0,
            inflate: Decompress::new(false),
            sum: crc32fast::Hasher::new(),
            buffer: vec![0; STEP],
            read: 0,
            size: 0,
            total: 0,
        }
    }

    pub(super) fn push(&mut self, bytes: &[u8], out: &mut Out<'_>) {
        let mut rest = bytes;
        while !rest.is_empty() && self.state != State::Over {
            let used = if self.state == State::Body {
                self.inflate(rest, out)
            } else {
                self.header_byte(rest.first().copied().unwrap_or_default(), out);
                self.read += 1;
                1
            };
            rest = rest.get(used..).unwrap_or_default();
        }
    }

    pub(super) fn finish(&mut self, out: &mut Out<'_>) {
        if !matches!(self.state, State::Between | State::Over) {
            out(Err(Problem::error(
                Place::Byte(self.read),
                format!(
                    "gzip data is cut off; the {} bytes inflated so far are kept",
                    self.total
                ),
            )));
        }
    }

    fn fail(&mut self, text: String, out: &mut Out<'_>) {
        self.state = State::Over;
        out(Err(Problem::error(Place::Byte(self.read), text)));
    }

    fn header_byte(&mut self, byte: u8, out: &mut Out<'_>) {
        self.state = match self.state {
            State::Head(at) => {
                match (at, byte) {
                    (0, 0x1f) | (1, 0x8b) | (2, 8) | (4.., _) => {}
                    (3, flags) if flags & 0xe0 == 0 => self.flags = flags,
                    _ => {
                        let shown = crate::error::show_byte(byte);
                        return self.fail(format!("gzip header: unexpected {shown}"), out);
                    }
                }
                if at < 9 {
                    State::Head(at + 1)
                } else {
                    self.number = 0;
                    self.after_header(0)
                }
            }
            State::ExtraLen(at) => {
                self.number |= (byte as u64) << (8 * at);
                match (at, self.number as usize) {
                    (0, _) => State::ExtraLen(1),
                    (_, 0) => self.after_header(1),
                    (_, len) => State::Extra(len),
                }
            }
            State::Extra(1) => self.after_header(1),
            State::Extra(left) => State::Extra(left - 1),
            State::Name if byte == 0 => self.after_header(2),
            State::Comment if byte == 0 => self.after_header(3),
            State::HeadSum(1) => self.after_header(4),
            State::HeadSum(left) => State::HeadSum(left - 1),
            State::Tail(at) => {
                self.number |= (byte as u64) << (8 * at);
                if at < 7 {
                    State::Tail(at + 1)
                } else {
                    self.check(out);
                    State::Between
                }
            }
            State::Between => match byte {
                0x1f => State::Head(1),
                // Archives on tape are filled up with zeros.
                0 => State::Between,
                _ => {
                    out(Err(Problem::note(
                        Place::Byte(self.read),
                        "what follows the gzip data is left out",
                    )));
                    State::Over
                }
            },
            same @ (State::Name | State::Comment | State::Body | State::Over) => same,
        };
    }

    /// The first part of the header that is there, from the `from`th optional one on.
    fn after_header(&mut self, from: u8) -> State {
        let parts = [
            (4, State::ExtraLen(0)),
            (8, State::Name),
            (16, State::Comment),
            (2, State::HeadSum(2)),
        ];
        let mut left = parts.into_iter().skip(from as usize);
        if let Some((_, part)) = left.find(|(flag, _)| self.flags & flag != 0) {
            return part;
        }
        self.inflate.reset(false);
        self.sum.reset();
        self.size = 0;
        State::Body
    }

    /// Inflates what fits into the buffer; says how much of `input` it took.
    fn inflate(&mut self, input: &[u8], out: &mut Out<'_>) -> usize {
        let (taken, given) = (self.inflate.total_in(), self.inflate.total_out());
        let status = self
            .inflate
            .decompress(input, &mut self.buffer, FlushDecompress::None);
        let taken = (self.inflate.total_in() - taken) as usize;
        let given = (self.inflate.total_out() - given) as usize;
        let bytes = self.buffer.get(..given).unwrap_or_default();
        self.sum.update(bytes);
        self.read += taken as u64;
        self.size += given as u64;
        self.total += given as u64;
        if given > 0 {
            out(Ok(bytes));
        }
        match status {
            Ok(Status::StreamEnd) => {
                self.number = 0;
                self.state = State::Tail(0);
            }
            Ok(_) if taken > 0 || given > 0 => {}
            _ => self.fail(
                format!(
                    "gzip data is damaged; the {} bytes before are kept",
                    self.total
                ),
                out,
            ),
        }
        taken
    }

    fn check(&mut self, out: &mut Out<'_>) {
        let (sum, size) = (self.number as u32, (self.number >> 32) as u32);
        if self.sum.clone().finalize() != sum || self.size as u32 != size {
            out(Err(Problem::error(
                Place::Byte(self.read),
                "gzip data is damaged: its sum does not fit",
            )));
        }
    }
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
        let (mut got, mut problems) = (Vec::new(), Vec::new());
        let mut gunzip = Gunzip::new();
        let out: &mut Out<'_> = &mut |result| match result {
            Ok(bytes) => got.extend_from_slice(bytes),
            Err(problem) => problems.push(problem.to_string()),
        };
        for piece in bytes.chunks(step) {
            gunzip.push(piece, out);
        }
        gunzip.finish(out);
        (got, problems)
    }

    #[test]
    fn members_with_every_header_field() {
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
    fn what_is_cut_off_or_damaged_is_kept_up_to_there() {
        let text: Vec<u8> = (0..5000_u32).flat_map(|n| (n * n).to_le_bytes()).collect();
        let file = gzip(&text, GzBuilder::new());
        for end in 1..file.len() {
            let (got, problems) = gunzip(&file[..end], end);
            assert!(text.starts_with(&got), "{end}");
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
