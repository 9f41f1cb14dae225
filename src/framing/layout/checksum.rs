//! Checksums of frames.

use super::NumberForm;

/// The algorithm of a checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChecksumAlgorithm {
    /// The sum of all bytes, modulo 256.
    Sum8,
    /// All bytes, combined by exclusive or.
    Xor8,
    /// CRC-16/CCITT-FALSE, also called CRC-16/IBM-3740: polynomial 1021, start ffff.
    Crc16CcittFalse,
    /// CRC-16/MODBUS: polynomial 8005 reflected, start ffff. Modbus sends it with the least significant byte first.
    Crc16Modbus,
    /// CRC-32 of Ethernet, gzip and PNG.
    Crc32,
    /// Adler-32 of zlib (RFC 1950).
    Adler32,
}

impl ChecksumAlgorithm {
    /// All algorithms.
    pub const ALL: [Self; 6] = [
        Self::Sum8,
        Self::Xor8,
        Self::Crc16CcittFalse,
        Self::Crc16Modbus,
        Self::Crc32,
        Self::Adler32,
    ];

    /// The name in descriptions.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sum8 => "sum8",
            Self::Xor8 => "xor8",
            Self::Crc16CcittFalse => "crc16-ccitt-false",
            Self::Crc16Modbus => "crc16-modbus",
            Self::Crc32 => "crc32",
            Self::Adler32 => "adler32",
        }
    }

    /// Returns the algorithm with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|a| a.name() == name)
    }

    /// Returns the number of bytes.
    pub(super) const fn len(self) -> usize {
        match self {
            Self::Sum8 | Self::Xor8 => 1,
            Self::Crc16CcittFalse | Self::Crc16Modbus => 2,
            Self::Crc32 | Self::Adler32 => 4,
        }
    }

    /// Computes the checksum of some runs of bytes, one after another.
    pub(super) fn of(self, runs: &[&[u8]]) -> u32 {
        let bytes = || runs.iter().copied().flatten().copied();
        match self {
            Self::Sum8 => bytes().fold(0_u8, u8::wrapping_add).into(),
            Self::Xor8 => bytes().fold(0_u8, |sum, byte| sum ^ byte).into(),
            Self::Crc16CcittFalse => {
                let step =
                    |crc: u16, byte: u8| crc << 8 ^ CCITT[usize::from((crc >> 8) as u8 ^ byte)];
                bytes().fold(0xffff_u16, step).into()
            }
            Self::Crc16Modbus => {
                let step = |crc: u16, byte: u8| crc >> 8 ^ MODBUS[usize::from(crc as u8 ^ byte)];
                bytes().fold(0xffff_u16, step).into()
            }
            Self::Crc32 => {
                let mut crc = crc32fast::Hasher::new();
                for run in runs {
                    crc.update(run);
                }
                crc.finalize()
            }
            Self::Adler32 => {
                let (mut low, mut high) = (1_u32, 0_u32);
                // So many sums do not exceed 32 bits (RFC 1950 section 9).
                for chunk in runs.iter().flat_map(|run| run.chunks(5552)) {
                    for byte in chunk {
                        low += u32::from(*byte);
                        high += low;
                    }
                    low %= 65_521;
                    high %= 65_521;
                }
                high << 16 | low
            }
        }
    }
}

/// The bytes that a checksum covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChecksumRange {
    /// The body.
    Body,
    /// Header and body.
    Frame,
}

/// A checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checksum {
    /// The algorithm.
    pub algorithm: ChecksumAlgorithm,
    /// The covered bytes.
    pub range: ChecksumRange,
    /// The least significant byte is the first.
    pub little: bool,
}

impl Checksum {
    /// Returns the form of its number.
    pub(super) fn form(self) -> NumberForm {
        NumberForm::Fixed {
            bytes: self.algorithm.len() as u8,
            signed: false,
            little: self.little,
        }
    }

    /// Computes the checksum of a frame. `own` is its place, if it is in the header.
    pub(super) fn of(self, header: &[u8], body: &[u8], own: Option<(usize, usize)>) -> u32 {
        const ZEROS: [u8; 4] = [0; 4];
        if self.range == ChecksumRange::Body {
            return self.algorithm.of(&[body]);
        }
        let (start, end) = own.unwrap_or((header.len(), header.len()));
        let before = header.get(..start).unwrap_or(header);
        let after = header.get(end..).unwrap_or_default();
        let zeros = ZEROS.get(..end - start).unwrap_or_default();
        self.algorithm.of(&[before, zeros, after, body])
    }
}

static CCITT: [u16; 256] = {
    let mut table = [0; 256];
    let mut n = 0;
    while n < 256 {
        let mut crc = (n as u16) << 8;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 0x8000 == 0 {
                crc << 1
            } else {
                crc << 1 ^ 0x1021
            };
            bit += 1;
        }
        table[n] = crc;
        n += 1;
    }
    table
};

static MODBUS: [u16; 256] = {
    let mut table = [0; 256];
    let mut n = 0;
    while n < 256 {
        let mut crc = n as u16;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 == 0 {
                crc >> 1
            } else {
                crc >> 1 ^ 0xa001
            };
            bit += 1;
        }
        table[n] = crc;
        n += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::ChecksumAlgorithm as Algorithm;

    /// The check values of the catalogue of CRC algorithms (reveng), of `123456789`; Adler-32 of RFC 1950's authors.
    #[test]
    fn check_values_are_those_of_the_catalogue() {
        for (algorithm, want) in [
            (Algorithm::Sum8, 0xdd),
            (Algorithm::Xor8, 0x31),
            (Algorithm::Crc16CcittFalse, 0x29b1),
            (Algorithm::Crc16Modbus, 0x4b37),
            (Algorithm::Crc32, 0xcbf4_3926),
            (Algorithm::Adler32, 0x091e_01de),
        ] {
            let name = algorithm.name();
            assert_eq!(algorithm.of(&[b"123456789"]), want, "{name}");
            assert_eq!(algorithm.of(&[b"1234", b"", b"56789"]), want, "{name}");
            assert_eq!(Algorithm::from_name(name), Some(algorithm));
        }
        let long = vec![0xff; 100_000];
        let (a, b) = long.split_at(33_333);
        assert_eq!(
            Algorithm::Adler32.of(&[&long]),
            Algorithm::Adler32.of(&[a, b])
        );
    }
}
