//! Formats types for error messages.

use super::Type;
use std::fmt;

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("a value"),
            Self::Never(why) => write!(f, "nothing: {why}"),
            Self::Null => f.write_str("null"),
            Self::Bool => f.write_str("true or false"),
            Self::Text => f.write_str("a string"),
            Self::Number => f.write_str("a number"),
            Self::Integer(first, last) | Self::Whole(first, last) => {
                let is_open = *last >= i128::from(u64::MAX) && *first >= 0;
                if first == last {
                    write!(f, "{first}")
                } else if is_open {
                    write!(f, "an integer of {first} or more")
                } else {
                    let (first, last) = (IntegerBound(*first), IntegerBound(*last));
                    write!(f, "an integer of {first} to {last}")
                }
            }
            Self::OneOf(words) => list(f, words.iter().map(|word| format!("{word:?}"))),
            Self::Array(Self::Any) | Self::Tuple(_) => f.write_str("an array"),
            Self::Array(Self::Object(_)) => f.write_str("an array of objects"),
            Self::Array(ty) => write!(f, "an array, each element {ty}"),
            Self::Object(_) => f.write_str("an object"),
            Self::Record(members) => {
                let names = members.iter().map(|member| member.name);
                f.write_str("an object with ")?;
                f.write_str(&names.collect::<Vec<_>>().join(" and "))
            }
            Self::Either(types) => list(f, types.iter().map(ToString::to_string)),
            Self::Code(code) => f.write_str(code.name),
            Self::Form(ty, form) if form.refused && matches!(ty, Self::Any) => {
                f.write_str(form.wanted)
            }
            Self::Form(ty, _) => ty.fmt(f),
        }
    }
}

/// Writes `a, b or c`.
fn list(f: &mut fmt::Formatter<'_>, words: impl Iterator<Item = String>) -> fmt::Result {
    let mut words: Vec<String> = words.collect();
    words.dedup();
    match words.split_last() {
        Some((last, [])) => f.write_str(last),
        Some((last, first)) => write!(f, "{} or {last}", first.join(", ")),
        None => f.write_str("nothing"),
    }
}

/// The bound of an integer. A large power of two is written as a power.
struct IntegerBound(i128);

impl fmt::Display for IntegerBound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const LARGE: u32 = 32;
        let size = self.0.unsigned_abs();
        if size.is_power_of_two() && size.ilog2() >= LARGE {
            let sign = if self.0 < 0 { "-" } else { "" };
            write!(f, "{sign}2^{}", size.ilog2())
        } else if self.0 > 0 && (size + 1).is_power_of_two() && size.ilog2() >= LARGE {
            write!(f, "2^{}-1", size.ilog2() + 1)
        } else {
            self.0.fmt(f)
        }
    }
}
