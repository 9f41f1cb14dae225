//! Parses types and signatures.

use super::types::{CairoType, Definition, SCALARS, Signature};
use std::fmt;
use std::sync::Arc;

/// The deepest nesting of a type.
const DEPTH: usize = 128;

impl CairoType {
    /// Parses a type, after any definitions: `struct P { x: u8 }; Array<P>`. Only the last part of a path counts.
    pub fn parse(text: &str) -> Result<Self, TypeError> {
        let mut parser = TypeParser::new(text);
        let last = parser.definitions()?;
        let ty = match last {
            Some(ty) if parser.is_over() => ty,
            _ => parser.ty(1)?,
        };
        parser.end()?;
        Ok(ty)
    }
}

impl Signature {
    /// Parses `pow(u256) -> u256`. Definitions may precede it; `fn` and names of arguments are optional.
    pub fn parse(text: &str) -> Result<Self, TypeError> {
        let mut parser = TypeParser::new(text);
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
            CairoType::Tuple(Vec::new())
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

/// The reason why a text is not a type.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TypeError {
    /// The byte offset in the text.
    pub at: usize,
    /// The expected text.
    pub wanted: String,
    /// The actual text.
    pub got: String,
}

impl fmt::Display for TypeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at, wanted, got } = self;
        write!(f, "at byte {at}: wanted {wanted}, got {got}")
    }
}

impl std::error::Error for TypeError {}

/// A parser with its tokens, and the definitions so far.
struct TypeParser<'t> {
    text: &'t str,
    tokens: Vec<(usize, &'t str)>,
    at: usize,
    known: Vec<CairoType>,
}

/// Splits text into words, `::`, `->` and single signs.
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

impl<'t> TypeParser<'t> {
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

    /// Returns an error for the next token.
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

    /// Consumes a comma, or checks for the end of the list without consuming it.
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

    /// Parses all definitions; returns the last one.
    fn definitions(&mut self) -> Result<Option<CairoType>, TypeError> {
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

    fn definition(&mut self, is_enum: bool) -> Result<CairoType, TypeError> {
        let name = self.name("a name")?;
        self.want("{")?;
        let mut members: Vec<(Arc<str>, CairoType)> = Vec::new();
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
                CairoType::Tuple(Vec::new())
            } else {
                self.want(":")?;
                self.ty(2)?
            };
            members.push((member.into(), ty));
            self.separator("}")?;
        }
        let definition = Definition::new(name, members, is_enum);
        Ok(if is_enum {
            CairoType::Enum(definition)
        } else {
            CairoType::Struct(definition)
        })
    }

    /// Parses a type at nesting `depth`.
    fn ty(&mut self, depth: usize) -> Result<CairoType, TypeError> {
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
                    CairoType::Tuple(items)
                }
            }
        } else if self.takes("[") {
            let item = self.ty(inner)?;
            self.want(";")?;
            let count = self.peek().and_then(|n| n.parse().ok());
            let count = count.ok_or_else(|| self.error("a number of items"))?;
            self.at += 1;
            self.want("]")?;
            CairoType::Fixed(Box::new(item), count)
        } else {
            self.named(inner)?
        };
        // A defined type may be deep too.
        if depth + ty.depth() > DEPTH + 1 {
            self.at = start;
            return Err(self.error(format!("at most {DEPTH} levels of nesting")));
        }
        Ok(ty)
    }

    fn named(&mut self, inner: usize) -> Result<CairoType, TypeError> {
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
            return Ok(CairoType::Scalar(scalar));
        }
        let is_it = |ty: &&CairoType| matches!(ty, CairoType::Struct(definition) | CairoType::Enum(definition) if definition.name == name);
        // A later definition replaces an earlier one with the same name.
        if let Some(ty) = self.known.iter().rev().find(is_it) {
            return Ok(ty.clone());
        }
        match name.as_str() {
            "bool" => Ok(CairoType::Bool),
            "shortstring" => Ok(CairoType::ShortString),
            "u256" => Ok(CairoType::Wide(2)),
            "u512" => Ok(CairoType::Wide(4)),
            "ByteArray" => Ok(CairoType::ByteArray),
            "Array" => Ok(CairoType::List("Array", Box::new(self.parameter(inner)?))),
            "Span" => Ok(CairoType::List("Span", Box::new(self.parameter(inner)?))),
            "NonZero" => {
                self.want("<")?;
                let before = self.at;
                let ty = self.ty(inner)?;
                if !matches!(ty, CairoType::Scalar(_) | CairoType::Wide(_)) {
                    self.at = before;
                    return Err(self.error("a number"));
                }
                self.want(">")?;
                Ok(CairoType::NonZero(Box::new(ty)))
            }
            "Option" => {
                let some = self.parameter(inner + 1)?;
                let name = format!("Option<{some}>");
                let unit = CairoType::Tuple(Vec::new());
                let members = vec![("Some".into(), some), ("None".into(), unit)];
                Ok(CairoType::Enum(Definition::new(name, members, true)))
            }
            "Result" => {
                self.want("<")?;
                let ok = self.ty(inner + 1)?;
                self.want(",")?;
                let err = self.ty(inner + 1)?;
                self.want(">")?;
                let name = format!("Result<{ok}, {err}>");
                let members = vec![("Ok".into(), ok), ("Err".into(), err)];
                Ok(CairoType::Enum(Definition::new(name, members, true)))
            }
            _ => {
                self.at = start;
                Err(self.error("a type (a struct or an enum is defined before it is used)"))
            }
        }
    }

    /// Parses the parameter of a generic type.
    fn parameter(&mut self, inner: usize) -> Result<CairoType, TypeError> {
        self.want("<")?;
        let ty = self.ty(inner)?;
        self.want(">")?;
        Ok(ty)
    }
}
