//! The head of a value: initial byte and argument.

/// The head of a value.
#[derive(Clone, Copy)]
pub(super) struct Head {
    /// The major type, 0 to 7.
    pub(super) major: u8,
    /// The additional information.
    pub(super) info: u8,
    /// The argument; `None` for a value without a length, and for the byte that ends one.
    pub(super) argument: Option<u64>,
}

impl Head {
    /// Reads a head and returns its length; `None` if it is not complete, or not well-formed.
    #[inline]
    pub(super) fn read(bytes: &[u8]) -> Option<(Self, usize)> {
        let (initial, rest) = bytes.split_first()?;
        let (major, info) = (initial >> 5, initial & 31);
        let (argument, size) = match info {
            0..=23 => (Some(info.into()), 1),
            24 => (Some(rest.first().copied()?.into()), 2),
            25 => (Some(u16::from_be_bytes(*rest.first_chunk()?).into()), 3),
            26 => (Some(u32::from_be_bytes(*rest.first_chunk()?).into()), 5),
            27 => (Some(u64::from_be_bytes(*rest.first_chunk()?)), 9),
            31 if !matches!(major, 0 | 1 | 6) => (None, 1),
            _ => return None,
        };
        let head = Self {
            major,
            info,
            argument,
        };
        Some((head, size))
    }

    /// Returns the additional information of the shortest head with this argument.
    pub(super) fn shortest(argument: u64) -> u8 {
        match argument {
            0..=23 => argument as u8,
            24..=0xff => 24,
            0x100..=0xffff => 25,
            0x1_0000..=0xffff_ffff => 26,
            _ => 27,
        }
    }

    /// Writes a head. `info` is that of [`Head::shortest`], or of a longer form.
    pub(super) fn write(major: u8, info: u8, argument: u64, out: &mut Vec<u8>) {
        out.push(major << 5 | info);
        let size = match info {
            24..=27 => 1 << (info - 24),
            _ => 0,
        };
        let digits = argument.to_be_bytes();
        out.extend_from_slice(digits.get(digits.len() - size..).unwrap_or_default());
    }
}

/// The values below a head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Inside {
    /// This number of values, one after another.
    Values(u64),
    /// Values up to a break.
    Open,
    /// The head is the break.
    Break,
}

/// Returns the length of the value that starts here without the values inside it, and what is inside; `None` if its
/// head is not complete, or not well-formed.
pub(crate) fn head_size(bytes: &[u8]) -> Option<(u64, Inside)> {
    let (head, size) = Head::read(bytes)?;
    let size = size as u64;
    Some(match (head.major, head.argument) {
        (7, None) => (size, Inside::Break),
        (_, None) => (size, Inside::Open),
        (2 | 3, Some(len)) => (size.saturating_add(len), Inside::Values(0)),
        (4, Some(count)) => (size, Inside::Values(count)),
        (5, Some(count)) => (size, Inside::Values(count.saturating_mul(2))),
        (6, Some(_)) => (size, Inside::Values(1)),
        _ => (size, Inside::Values(0)),
    })
}
