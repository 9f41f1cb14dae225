//! Types, and how they are written.

// Long: what types there are, their measure, and their one parser.

use num_bigint::{BigInt, Sign};
use std::fmt;
use std::sync::Arc;

/// Levels of nesting that a type may have.
const DEPTH: usize = 128;

/// What a scalar's felt is taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    /// A felt, shown in hex.
    Felt,
    /// A number.
    Unsigned,
    /// A number; -x is P - x.
    Signed,
}

/// A type whose values are one felt each, below a power of two.
#[derive(Debug, PartialEq, Eq)]
pub struct Scalar {
    /// As Cairo calls it.
    pub name: &'static str,
    pub(super) sort: Sort,
    /// Bits of the largest value.
    pub bits: u32,
}

impl Scalar {
    /// Whether a number is one of its values.
    pub(super) fn holds(&self, number: &BigInt) -> bool {
        match self.sort {
            Sort::Felt | Sort::Unsigned => {
                number.sign() != Sign::Minus && number.bits() <= u64::from(self.bits)
            }
            Sort::Signed => {
                let bound = BigInt::from(1) << (self.bits - 1);
                *number < bound && *number >= -bound
            }
        }
    }

    /// Its values, in words.
    pub(super) fn range(&self) -> String {
        let bits = match self.sort {
            Sort::Felt => return format!("below 2^{}", self.bits),
            Sort::Unsigned => self.bits,
            Sort::Signed => self.bits - 1,
        };
        let most = match bits {
            0..=32 => ((1u64 << bits) - 1).to_string(),
            _ => format!("2^{bits} - 1"),
        };
        match self.sort {
            Sort::Signed if bits <= 32 => format!("-{} to {most}", 1u64 << bits),
            Sort::Signed => format!("-2^{bits} to {most}"),
            _ => format!("0 to {most}"),
        }
    }
}

const fn scalar(name: &'static str, sort: Sort, bits: u32) -> Scalar {
    Scalar { name, sort, bits }
}

const SCALARS: &[Scalar] = &[
    scalar("felt252", Sort::Felt, 252),
    scalar("bytes31", Sort::Felt, 248),
    scalar("ContractAddress", Sort::Felt, 251),
    scalar("ClassHash", Sort::Felt, 251),
    scalar("EthAddress", Sort::Felt, 160),
    scalar("u8", Sort::Unsigned, 8),
    scalar("u16", Sort::Unsigned, 16),
    scalar("u32", Sort::Unsigned, 32),
    scalar("usize", Sort::Unsigned, 32),
    scalar("u64", Sort::Unsigned, 64),
    scalar("u128", Sort::Unsigned, 128),
    scalar("i8", Sort::Signed, 8),
    scalar("i16", Sort::Signed, 16),
    scalar("i32", Sort::Signed, 32),
    scalar("i64", Sort::Signed, 64),
    scalar("i128", Sort::Signed, 128),
];

/// A type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    /// One felt below a bound: integers, addresses, `felt252`.
    Scalar(&'static Scalar),
    /// One felt, 0 or 1.
    Bool,
    /// One felt that spells up to 31 ASCII characters.
    ShortString,
    /// `u256`, `u512`: limbs of 128 bits, the lowest first.
    Wide(u8),
    /// A count, full words of 31 bytes, the bytes after them, and how many those are.
    ByteArray,
    /// As what it holds, but not 0.
    NonZero(Box<Type>),
    /// A count, then items. `Array` or `Span`.
    List(&'static str, Box<Type>),
    /// Its items one after another; `()` has none.
    Tuple(Vec<Type>),
    /// So many items.
    Fixed(Box<Type>, usize),
    /// Its members one after another.
    Struct(Arc<Definition>),
    /// Which variant, then what it holds. `Option` and `Result` are enums, too.
    Enum(Arc<Definition>),
}

/// What a struct or an enum is made of.
#[derive(Debug, PartialEq, Eq)]
pub struct Definition {
    /// Its name; with its parameters where it has any.
    pub name: String,
    /// Members or variants, in order; a variant that holds nothing holds `()`.
    pub members: Vec<(Arc<str>, Type)>,
    least: usize,
    depth: usize,
}

impl Definition {
    fn new(name: String, members: Vec<(Arc<str>, Type)>, is_enum: bool) -> Arc<Self> {
        let types = || members.iter().map(|(_, ty)| ty);
        let least = if is_enum {
            types()
                .map(Type::least)
                .min()
                .unwrap_or(0)
                .saturating_add(1)
        } else {
            sum(types().map(Type::least))
        };
        let depth = 1 + types().map(Type::depth).max().unwrap_or(0);
        Arc::new(Self {
            name,
            members,
            least,
            depth,
        })
    }

    /// The variant of that name: its number and what it holds.
    pub(super) fn find(&self, name: &str) -> Option<(usize, &(Arc<str>, Type))> {
        let mut members = self.members.iter().enumerate();
        members.find(|(_, (n, _))| n.as_ref() == name)
    }
}

fn sum(mut counts: impl Iterator<Item = usize>) -> usize {
    counts.try_fold(0, usize::checked_add).unwrap_or(usize::MAX)
}

impl Type {
    /// The type that text names, after any definitions: `struct P { x: u8 }; Array<P>`. Paths count by their last part.
    pub fn parse(text: &str) -> Result<Self, TypeError> {
        let mut parser = Parser::new(text);
        let last = parser.definitions()?;
        let ty = match last {
            Some(ty) if parser.is_over() => ty,
            _ => parser.ty(1)?,
        };
        parser.end()?;
        Ok(ty)
    }

    /// Whether it has no values but one, which takes no felt.
    pub fn is_unit(&self) -> bool {
        matches!(self, Self::Tuple(items) if items.is_empty())
    }

    /// Felts that a value takes at least.
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

    /// Levels of nesting.
    fn depth(&self) -> usize {
        1 + match self {
            Self::NonZero(ty) | Self::List(_, ty) | Self::Fixed(ty, _) => ty.depth(),
            Self::Tuple(items) => items.iter().map(Self::depth).max().unwrap_or(0),
            Self::Struct(definition) | Self::Enum(definition) => definition.depth,
            _ => 0,
        }
    }
}

impl fmt::Display for Type {
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

/// What a selector takes and gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// The selector.
    pub name: String,
    /// The arguments: their names, where given, and their types.
    pub arguments: Vec<(Option<String>, Type)>,
    /// The result; `()` where none is named.
    pub result: Type,
}

impl Signature {
    /// Reads `pow(u256) -> u256`; definitions may stand before it, `fn` and names of arguments may be there.
    pub fn parse(text: &str) -> Result<Self, TypeError> {
        let mut parser = Parser::new(text);
        parser.definitions()?;
        if parser.peek() == Some("fn") {
            parser.next();
        }
        let name = parser.name("the name of a selector")?;
        parser.want("(")?;
        let mut arguments = Vec::new();
        while !parser.takes(")") {
            let named = parser.second() == Some(":");
            let name = if named {
                let name = parser.name("the name of an argument")?;
                parser.want(":")?;
                Some(name)
            } else {
                None
            };
            arguments.push((name, parser.ty(1)?));
            parser.separator(")")?;
        }
        let result = if parser.takes("->") {
            parser.ty(1)?
        } else {
            Type::Tuple(Vec::new())
        };
        parser.takes(";");
        parser.end()?;
        Ok(Self {
            name,
            arguments,
            result,
        })
    }
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

/// Why text names no type.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TypeError {
    /// Byte in the text.
    pub at: usize,
    /// What would have been right.
    pub wanted: String,
    /// What was there.
    pub got: String,
}

impl fmt::Display for TypeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at, wanted, got } = self;
        write!(f, "at byte {at}: wanted {wanted}, got {got}")
    }
}

impl std::error::Error for TypeError {}

/// Words and signs in turn, and what was defined so far.
struct Parser<'t> {
    text: &'t str,
    tokens: Vec<(usize, &'t str)>,
    at: usize,
    known: Vec<Type>,
}

/// A word, `::`, `->`, or one sign.
fn tokens(text: &str) -> Vec<(usize, &str)> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut tokens = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        let Some(first) = rest.chars().next() else {
            return tokens;
        };
        let len = if is_word(first) {
            rest.find(|c| !is_word(c)).unwrap_or(rest.len())
        } else if rest.starts_with("::") || rest.starts_with("->") {
            2
        } else {
            first.len_utf8()
        };
        let (token, after) = rest.split_at(len);
        tokens.push((text.len() - rest.len(), token));
        rest = after;
    }
}

impl<'t> Parser<'t> {
    fn new(text: &'t str) -> Self {
        Self {
            text,
            tokens: tokens(text),
            at: 0,
            known: Vec::new(),
        }
    }

    fn peek(&self) -> Option<&'t str> {
        self.tokens.get(self.at).map(|(_, token)| *token)
    }

    fn second(&self) -> Option<&'t str> {
        self.tokens.get(self.at + 1).map(|(_, token)| *token)
    }

    fn next(&mut self) -> Option<&'t str> {
        let token = self.peek();
        self.at += usize::from(token.is_some());
        token
    }

    fn is_over(&self) -> bool {
        self.peek().is_none()
    }

    /// What is wrong with the token that comes next.
    fn error(&self, wanted: impl Into<String>) -> TypeError {
        let end = (self.text.len(), "the end");
        let (at, token) = self.tokens.get(self.at).copied().unwrap_or(end);
        let got = if self.is_over() {
            token.to_owned()
        } else {
            let short: String = token.chars().take(40).collect();
            format!("`{short}`")
        };
        TypeError {
            at,
            wanted: wanted.into(),
            got,
        }
    }

    fn takes(&mut self, sign: &str) -> bool {
        let there = self.peek() == Some(sign);
        self.at += usize::from(there);
        there
    }

    fn want(&mut self, sign: &str) -> Result<(), TypeError> {
        if self.takes(sign) {
            Ok(())
        } else {
            Err(self.error(format!("`{sign}`")))
        }
    }

    /// A comma, or the end of the list, which stays.
    fn separator(&mut self, end: &str) -> Result<(), TypeError> {
        if self.takes(",") || self.peek() == Some(end) {
            Ok(())
        } else {
            Err(self.error(format!("`,` or `{end}`")))
        }
    }

    fn end(&self) -> Result<(), TypeError> {
        if self.is_over() {
            Ok(())
        } else {
            Err(self.error("the end"))
        }
    }

    fn name(&mut self, what: &str) -> Result<String, TypeError> {
        let is_name = |t: &&str| t.starts_with(|c: char| c.is_alphabetic() || c == '_');
        match self.peek().filter(is_name) {
            Some(name) => {
                self.at += 1;
                Ok(name.to_owned())
            }
            None => Err(self.error(what)),
        }
    }

    /// All definitions that stand here; the last one.
    fn definitions(&mut self) -> Result<Option<Type>, TypeError> {
        let mut last = None;
        while let Some(word @ ("struct" | "enum")) = self.peek() {
            self.at += 1;
            let ty = self.definition(word == "enum")?;
            self.takes(";");
            self.known.push(ty.clone());
            last = Some(ty);
        }
        Ok(last)
    }

    fn definition(&mut self, is_enum: bool) -> Result<Type, TypeError> {
        let name = self.name("a name")?;
        self.want("{")?;
        let mut members: Vec<(Arc<str>, Type)> = Vec::new();
        while !self.takes("}") {
            if self.peek() == Some("pub") {
                self.at += 1;
            }
            let before = self.at;
            let member = self.name("the name of a member, or `}`")?;
            if members.iter().any(|(n, _)| n.as_ref() == member) {
                self.at = before;
                return Err(self.error("another name: this one is taken"));
            }
            let ty = if is_enum && self.peek() != Some(":") {
                Type::Tuple(Vec::new())
            } else {
                self.want(":")?;
                self.ty(2)?
            };
            members.push((member.into(), ty));
            self.separator("}")?;
        }
        let definition = Definition::new(name, members, is_enum);
        Ok(if is_enum {
            Type::Enum(definition)
        } else {
            Type::Struct(definition)
        })
    }

    /// A type, `depth` levels down.
    fn ty(&mut self, depth: usize) -> Result<Type, TypeError> {
        let start = self.at;
        let inner = depth + 1;
        let ty = if depth > DEPTH {
            return Err(self.error(format!("at most {DEPTH} levels of nesting")));
        } else if self.takes("@") {
            self.ty(inner)?
        } else if self.takes("(") {
            let mut items = Vec::new();
            let mut comma = false;
            while !self.takes(")") {
                items.push(self.ty(inner)?);
                comma = self.peek() == Some(",");
                self.separator(")")?;
            }
            match items.pop() {
                Some(only) if items.is_empty() && !comma => only,
                last => {
                    items.extend(last);
                    Type::Tuple(items)
                }
            }
        } else if self.takes("[") {
            let item = self.ty(inner)?;
            self.want(";")?;
            let count = self.peek().and_then(|n| n.parse().ok());
            let count = count.ok_or_else(|| self.error("a number of items"))?;
            self.at += 1;
            self.want("]")?;
            Type::Fixed(Box::new(item), count)
        } else {
            self.named(inner)?
        };
        // What a name stands for may be deep, too.
        if depth + ty.depth() > DEPTH + 1 {
            self.at = start;
            return Err(self.error(format!("at most {DEPTH} levels of nesting")));
        }
        Ok(ty)
    }

    fn named(&mut self, inner: usize) -> Result<Type, TypeError> {
        let mut start = self.at;
        let mut name = self.name("a type")?;
        while self.takes("::") {
            if self.peek() == Some("<") {
                break;
            }
            start = self.at;
            name = self.name("a type")?;
        }
        if let Some(scalar) = SCALARS.iter().find(|s| s.name == name) {
            return Ok(Type::Scalar(scalar));
        }
        let is_it = |ty: &&Type| matches!(ty, Type::Struct(definition) | Type::Enum(definition) if definition.name == name);
        // A later definition of the same name hides the earlier one.
        if let Some(ty) = self.known.iter().rev().find(is_it) {
            return Ok(ty.clone());
        }
        match name.as_str() {
            "bool" => Ok(Type::Bool),
            "shortstring" => Ok(Type::ShortString),
            "u256" => Ok(Type::Wide(2)),
            "u512" => Ok(Type::Wide(4)),
            "ByteArray" => Ok(Type::ByteArray),
            "Array" => Ok(Type::List("Array", Box::new(self.parameter(inner)?))),
            "Span" => Ok(Type::List("Span", Box::new(self.parameter(inner)?))),
            "NonZero" => {
                self.want("<")?;
                let before = self.at;
                let ty = self.ty(inner)?;
                if !matches!(ty, Type::Scalar(_) | Type::Wide(_)) {
                    self.at = before;
                    return Err(self.error("a number"));
                }
                self.want(">")?;
                Ok(Type::NonZero(Box::new(ty)))
            }
            "Option" => {
                let some = self.parameter(inner + 1)?;
                let name = format!("Option<{some}>");
                let unit = Type::Tuple(Vec::new());
                let members = vec![("Some".into(), some), ("None".into(), unit)];
                Ok(Type::Enum(Definition::new(name, members, true)))
            }
            "Result" => {
                self.want("<")?;
                let ok = self.ty(inner + 1)?;
                self.want(",")?;
                let err = self.ty(inner + 1)?;
                self.want(">")?;
                let name = format!("Result<{ok}, {err}>");
                let members = vec![("Ok".into(), ok), ("Err".into(), err)];
                Ok(Type::Enum(Definition::new(name, members, true)))
            }
            _ => {
                self.at = start;
                Err(self.error("a type (a struct or an enum is defined before it is used)"))
            }
        }
    }

    /// The one parameter of a generic type.
    fn parameter(&mut self, inner: usize) -> Result<Type, TypeError> {
        self.want("<")?;
        let ty = self.ty(inner)?;
        self.want(">")?;
        Ok(ty)
    }
}
