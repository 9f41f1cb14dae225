//! Types and their text form.

use num_bigint::{BigInt, Sign};
use std::fmt;
use std::sync::Arc;

/// The interpretation of a scalar's felt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScalarSort {
    /// A felt, shown in hex.
    Felt,
    /// An unsigned number.
    Unsigned,
    /// A signed number; -x is P - x.
    Signed,
}

/// A type whose values are one felt each, below a power of two.
#[derive(Debug, PartialEq, Eq)]
pub struct CairoScalar {
    /// The name in Cairo.
    pub name: &'static str,
    pub(super) sort: ScalarSort,
    /// The number of bits of the largest value.
    pub bits: u32,
}

impl CairoScalar {
    /// Returns true if a number is one of its values.
    pub(super) fn holds(&self, number: &BigInt) -> bool {
        match self.sort {
            ScalarSort::Felt | ScalarSort::Unsigned => {
                number.sign() != Sign::Minus && number.bits() <= u64::from(self.bits)
            }
            ScalarSort::Signed => {
                let bound = BigInt::from(1) << (self.bits - 1);
                *number < bound && *number >= -bound
            }
        }
    }

    /// Describes its range.
    pub(super) fn range(&self) -> String {
        let bits = match self.sort {
            ScalarSort::Felt => return format!("below 2^{}", self.bits),
            ScalarSort::Unsigned => self.bits,
            ScalarSort::Signed => self.bits - 1,
        };
        let most = match bits {
            0..=32 => ((1u64 << bits) - 1).to_string(),
            _ => format!("2^{bits} - 1"),
        };
        match self.sort {
            ScalarSort::Signed if bits <= 32 => format!("-{} to {most}", 1u64 << bits),
            ScalarSort::Signed => format!("-2^{bits} to {most}"),
            _ => format!("0 to {most}"),
        }
    }
}

const fn scalar(name: &'static str, sort: ScalarSort, bits: u32) -> CairoScalar {
    CairoScalar { name, sort, bits }
}

pub(super) const SCALARS: &[CairoScalar] = &[
    scalar("felt252", ScalarSort::Felt, 252),
    scalar("bytes31", ScalarSort::Felt, 248),
    scalar("ContractAddress", ScalarSort::Felt, 251),
    scalar("ClassHash", ScalarSort::Felt, 251),
    scalar("EthAddress", ScalarSort::Felt, 160),
    scalar("u8", ScalarSort::Unsigned, 8),
    scalar("u16", ScalarSort::Unsigned, 16),
    scalar("u32", ScalarSort::Unsigned, 32),
    scalar("usize", ScalarSort::Unsigned, 32),
    scalar("u64", ScalarSort::Unsigned, 64),
    scalar("u128", ScalarSort::Unsigned, 128),
    scalar("i8", ScalarSort::Signed, 8),
    scalar("i16", ScalarSort::Signed, 16),
    scalar("i32", ScalarSort::Signed, 32),
    scalar("i64", ScalarSort::Signed, 64),
    scalar("i128", ScalarSort::Signed, 128),
];

/// A type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CairoType {
    /// One felt below a bound: integers, addresses, `felt252`.
    Scalar(&'static CairoScalar),
    /// One felt, 0 or 1.
    Bool,
    /// One felt with up to 31 ASCII characters.
    ShortString,
    /// `u256`, `u512`: limbs of 128 bits, the lowest first.
    Wide(u8),
    /// A count, full words of 31 bytes, the pending bytes, and their number.
    ByteArray,
    /// The inner type without 0.
    NonZero(Box<CairoType>),
    /// A count, then items: `Array` or `Span`.
    List(&'static str, Box<CairoType>),
    /// Its items one after another; `()` has none.
    Tuple(Vec<CairoType>),
    /// A fixed number of items.
    Fixed(Box<CairoType>, usize),
    /// Its members one after another.
    Struct(Arc<Definition>),
    /// The index of the variant, then its content. `Option` and `Result` are enums too.
    Enum(Arc<Definition>),
}

/// The definition of a struct or an enum.
#[derive(Debug, PartialEq, Eq)]
pub struct Definition {
    /// The name, with parameters if there are any.
    pub name: String,
    /// The members or variants, in order; a variant without content has `()`.
    pub members: Vec<(Arc<str>, CairoType)>,
    least: usize,
    depth: usize,
}

impl Definition {
    pub(super) fn new(
        name: String,
        members: Vec<(Arc<str>, CairoType)>,
        is_enum: bool,
    ) -> Arc<Self> {
        let types = || members.iter().map(|(_, ty)| ty);
        let least = if is_enum {
            types()
                .map(CairoType::least)
                .min()
                .unwrap_or(0)
                .saturating_add(1)
        } else {
            sum(types().map(CairoType::least))
        };
        let depth = 1 + types().map(CairoType::depth).max().unwrap_or(0);
        Arc::new(Self {
            name,
            members,
            least,
            depth,
        })
    }

    /// Returns the index and the content of a variant.
    pub(super) fn find(&self, name: &str) -> Option<(usize, &(Arc<str>, CairoType))> {
        let mut members = self.members.iter().enumerate();
        members.find(|(_, (n, _))| n.as_ref() == name)
    }
}

fn sum(mut counts: impl Iterator<Item = usize>) -> usize {
    counts.try_fold(0, usize::checked_add).unwrap_or(usize::MAX)
}

impl CairoType {
    /// Returns `true` if the type has a single value, which takes no felt.
    pub fn is_unit(&self) -> bool {
        matches!(self, Self::Tuple(items) if items.is_empty())
    }

    /// Returns the smallest number of felts of a value.
    pub fn least(&self) -> usize {
        match self {
            Self::Scalar(_) | Self::Bool | Self::ShortString | Self::List(..) => 1,
            Self::Wide(limbs) => *limbs as usize,
            Self::ByteArray => 3,
            Self::NonZero(ty) => ty.least(),
            Self::Tuple(items) => sum(items.iter().map(Self::least)),
            Self::Fixed(ty, count) => ty.least().saturating_mul(*count),
            Self::Struct(definition) | Self::Enum(definition) => definition.least,
        }
    }

    /// Returns the depth of nesting.
    pub(super) fn depth(&self) -> usize {
        1 + match self {
            Self::NonZero(ty) | Self::List(_, ty) | Self::Fixed(ty, _) => ty.depth(),
            Self::Tuple(items) => items.iter().map(Self::depth).max().unwrap_or(0),
            Self::Struct(definition) | Self::Enum(definition) => definition.depth,
            _ => 0,
        }
    }
}

impl fmt::Display for CairoType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scalar(scalar) => f.write_str(scalar.name),
            Self::Bool => f.write_str("bool"),
            Self::ShortString => f.write_str("shortstring"),
            Self::Wide(limbs) => write!(f, "u{}", u32::from(*limbs) * super::LIMB),
            Self::ByteArray => f.write_str("ByteArray"),
            Self::NonZero(ty) => write!(f, "NonZero<{ty}>"),
            Self::List(name, ty) => write!(f, "{name}<{ty}>"),
            Self::Tuple(items) => {
                f.write_str("(")?;
                for (i, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", if i > 0 { ", " } else { "" })?;
                }
                f.write_str(if items.len() == 1 { ",)" } else { ")" })
            }
            Self::Fixed(ty, count) => write!(f, "[{ty}; {count}]"),
            Self::Struct(definition) | Self::Enum(definition) => f.write_str(&definition.name),
        }
    }
}

/// The argument and result types of a selector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// The selector.
    pub name: String,
    /// The arguments: names, if present, and types.
    pub arguments: Vec<(Option<String>, CairoType)>,
    /// The result; `()` by default.
    pub result: CairoType,
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}(", self.name)?;
        for (i, (name, ty)) in self.arguments.iter().enumerate() {
            f.write_str(if i > 0 { ", " } else { "" })?;
            if let Some(name) = name {
                write!(f, "{name}: ")?;
            }
            write!(f, "{ty}")?;
        }
        write!(f, ") -> {}", self.result)
    }
}
