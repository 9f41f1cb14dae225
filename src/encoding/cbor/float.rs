//! Floats of 16, 32 and 64 bits, without loss: bits of a NaN are kept.

/// Returns the bits of a float of 64 bits, from those of a half.
pub(super) fn of_half(half: u16) -> u64 {
    let sign = u64::from(half >> 15) << 63;
    let (exponent, fraction) = (u64::from(half >> 10 & 31), u64::from(half & 0x3ff));
    sign | match exponent {
        // Zero, and numbers without a leading 1: multiples of 2^-24.
        0 => (f64::from(fraction as u16) / f64::from(1_u32 << 24)).to_bits(),
        31 => 0x7ff << 52 | fraction << 42,
        _ => (exponent + 1023 - 15) << 52 | fraction << 42,
    }
}

/// Returns the bits of a float of 64 bits, from those of a single.
pub(super) fn of_single(single: u32) -> u64 {
    let value = f32::from_bits(single);
    if value.is_nan() {
        let sign = u64::from(single >> 31) << 63;
        return sign | 0x7ff << 52 | u64::from(single & 0x7f_ffff) << 29;
    }
    f64::from(value).to_bits()
}

/// Returns the bits of the half that is this float; `None` if there is none.
pub(super) fn half(bits: u64) -> Option<u16> {
    let sign = (bits >> 48 & 0x8000) as u16;
    let (exponent, fraction) = (bits >> 52 & 0x7ff, bits & 0xf_ffff_ffff_ffff);
    let short = match exponent {
        0 => 0,
        0x7ff => 0x7c00 | (fraction >> 42) as u16,
        // 2^-14 to 2^15
        1009..=1038 => ((exponent - 1008) << 10 | fraction >> 42) as u16,
        // 2^-24 to 2^-15: the leading 1 becomes a digit of the fraction.
        999..=1008 => ((1 << 52 | fraction) >> (42 + 1009 - exponent)) as u16,
        _ => return None,
    };
    let half = sign | short;
    (of_half(half) == bits).then_some(half)
}

/// Returns the bits of the single that is this float; `None` if there is none.
pub(super) fn single(bits: u64) -> Option<u32> {
    let value = f64::from_bits(bits);
    let single = if value.is_nan() {
        (bits >> 32 & 0x8000_0000) as u32 | 0x7f80_0000 | (bits >> 29 & 0x7f_ffff) as u32
    } else {
        (value as f32).to_bits()
    };
    (of_single(single) == bits).then_some(single)
}
