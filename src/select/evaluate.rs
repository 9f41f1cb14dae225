//! Evaluates a condition on a message.

use super::escapes::without_escapes;
use super::expr::{Expr, KeyTest, Operand, Order, Test, TextPattern};
use super::key::Key;
use super::number::{Decimal, with_number};
use crate::conversation::Verdict;
use crate::decoder::Decoded;
use crate::encoding::json::lone_surrogate;
use crate::encoding::lossless;
use crate::protocol::session::{Answer, Link, name_of};
use crate::protocol::{Direction, Id, Role};
use crate::tape::{Node, Scalar, Value, unescape};
use std::borrow::Cow;
use std::cmp::Ordering;

/// The data for the evaluation of one message.
struct Case<'c, 'a> {
    decoded: &'c Decoded<'a>,
    verdict: Option<Verdict<'c>>,
    /// A buffer for values.
    scratch: &'c mut Vec<u8>,
}

impl Expr {
    /// Returns `true` if a message fulfils the condition. Without a verdict, keys of the
    /// conversation are absent; values inside the message are absent if it was not parsed as
    /// [`Expr::want`] requires. `scratch` is a buffer that is reused.
    pub fn holds(
        &self,
        decoded: &Decoded<'_>,
        verdict: Option<Verdict<'_>>,
        scratch: &mut Vec<u8>,
    ) -> bool {
        self.evaluate(&mut Case {
            decoded,
            verdict,
            scratch,
        })
    }

    /// Returns `true` if a message fulfils the condition, with the request that it answers.
    #[cfg(feature = "described")]
    pub(crate) fn holds_with(
        &self,
        decoded: &Decoded<'_>,
        answer: Option<&Answer>,
        scratch: &mut Vec<u8>,
    ) -> bool {
        let verdict = Verdict {
            answer,
            ..Verdict::default()
        };
        self.holds(decoded, Some(verdict), scratch)
    }

    fn evaluate(&self, case: &mut Case<'_, '_>) -> bool {
        match self {
            Self::All(parts) => parts.iter().all(|part| part.evaluate(case)),
            Self::Any(parts) => parts.iter().any(|part| part.evaluate(case)),
            Self::Not(part) => !part.evaluate(case),
            Self::Test(test) => case.test(test),
        }
    }
}

impl Case<'_, '_> {
    fn test(&mut self, test: &Test) -> bool {
        let Test { key, what } = test;
        let (frame, message, origin) = (
            self.decoded.frame,
            self.decoded.message,
            self.decoded.origin,
        );
        let body = || {
            let has = message.role != Some(Role::Control) || message.value.is_some();
            frame.view.run(message.body).filter(|_| has)
        };
        let answer = self.verdict.and_then(|v| v.answer);
        let operation = self.verdict.and_then(|v| v.operation);
        match key {
            Key::Index => number(Some(self.decoded.index), what),
            Key::Conn => number(origin.conn, what),
            Key::Stream => number(origin.stream, what),
            Key::Time => number(origin.time, what),
            Key::Offset => number(Some(frame.offset), what),
            Key::Len => number(Some(frame.len), what),
            Key::BodyOffset => number(body(), what),
            Key::BodyLen => number(body().map(|_| message.body.len), what),
            Key::ReplyTo => number(answer.map(|a| a.to), what),
            Key::Latency => number(answer.and_then(|a| a.latency), what),
            Key::Of => text(answer.and_then(|a| a.subject.as_deref()), what),
            Key::Op => number(operation.map(|o| o.index), what),
            Key::Parent => number(operation.and_then(|o| o.parent), what),
            Key::Link => text(operation.and_then(|o| o.link).map(Link::name), what),
            Key::Who => text(self.verdict.and_then(|v| v.client), what),
            Key::Src => text(self.verdict.and_then(|v| v.source), what),
            Key::Dir => text(origin.direction.map(Direction::name), what),
            Key::Framing => text(Some(frame.framing.name()), what),
            Key::Protocol => text(Some(self.decoded.protocol.name()), what),
            Key::Kind if *what == KeyTest::There => !message.kind.is_empty(),
            Key::Kind => text(Some(&message.kind), what),
            Key::Role => text(message.role.map(Role::name), what),
            Key::Id => id(&message.id, what),
            Key::Subject => text(message.subject.as_deref(), what),
            Key::Name => text(name_of(message, answer), what),
            Key::Outcome => text(message.failed.then_some("error"), what),
            Key::Guess => text(message.guess.then_some("true"), what),
            Key::Raw if message.value_is_complete() => false,
            Key::Raw => text(Some(&raw(message.body.of(frame.view.bytes))), what),
            Key::Fault => {
                let first = self.decoded.faults().next();
                text(first.map(|(_, fault)| fault.code), what)
            }
            Key::Faults => {
                let mut faults = self.decoded.faults();
                faults.any(|(_, fault)| text(Some(fault.code), what))
            }
            Key::Findings => {
                let index = self.decoded.index;
                let findings = self.verdict.map_or(&[][..], |v| v.findings);
                let mut mine = findings.iter().filter(|f| f.place.index == index);
                mine.any(|f| text(Some(&f.rule.name), what) || text(Some(&f.name()), what))
            }
            Key::Message(path) => {
                let root = self.decoded.root();
                let node = root.and_then(|root| path.find(root));
                node.is_some_and(|node| what.fits(node, self.scratch))
            }
        }
    }
}

#[cfg(feature = "described")]
impl Key {
    /// Returns the value of a message as text; `None` if it has none.
    pub(crate) fn text(&self, decoded: &Decoded<'_>, answer: Option<&Answer>) -> Option<String> {
        let (frame, message, origin) = (decoded.frame, decoded.message, decoded.origin);
        let span = frame.view.run(message.body);
        Some(match self {
            Self::Index => decoded.index.to_string(),
            Self::Conn => origin.conn?.to_string(),
            Self::Stream => origin.stream?.to_string(),
            Self::Time => origin.time?.to_string(),
            Self::Offset => frame.offset.to_string(),
            Self::Len => frame.len.to_string(),
            Self::BodyOffset => span?.to_string(),
            Self::BodyLen => message.body.len.to_string(),
            Self::ReplyTo => answer?.to.to_string(),
            Self::Latency => format!("{} ms", answer?.latency? / 1_000_000),
            Self::Of => answer?.subject.as_deref()?.to_owned(),
            Self::Dir => origin.direction?.name().to_owned(),
            Self::Framing => frame.framing.name().to_owned(),
            Self::Protocol => decoded.protocol.name().to_owned(),
            Self::Kind => message.kind.to_string(),
            Self::Role => message.role?.name().to_owned(),
            Self::Id => Some(message.id.text().into_owned()).filter(|id| !id.is_empty())?,
            Self::Subject => message.subject.as_deref()?.to_owned(),
            Self::Name => name_of(message, answer)?.to_owned(),
            Self::Outcome => message.outcome.as_deref()?.to_owned(),
            Self::Fault | Self::Faults => decoded.faults().next()?.1.code.to_owned(),
            Self::Message(path) => {
                let node = path.find(decoded.root()?)?;
                text_of(node, &mut Vec::new()).into_owned()
            }
            Self::Guess
            | Self::Raw
            | Self::Findings
            | Self::Op
            | Self::Parent
            | Self::Link
            | Self::Who
            | Self::Src => {
                return None;
            }
        })
    }
}

impl KeyTest {
    /// Returns `true` if a value fulfils it. `scratch` is a buffer that is reused.
    pub(crate) fn fits(&self, node: Node<'_>, scratch: &mut Vec<u8>) -> bool {
        match self {
            Self::There => !node.is_null() && node.as_bool() != Some(false),
            Self::Is(operands) => operands.iter().any(|o| o.is(node, scratch)),
            Self::Like(patterns) => {
                let text = text_of(node, scratch);
                let readable = || without_escapes(text.as_bytes());
                patterns.iter().any(|p| p.fits(&text))
                    || readable().is_some_and(|readable| {
                        let readable = String::from_utf8_lossy(&readable);
                        patterns.iter().any(|p| p.fits(&readable))
                    })
            }
            Self::Order(order, Operand::Word(word)) => {
                compare(node, word).is_some_and(|o| order.allows(o))
            }
            Self::Order(..) => false,
        }
    }
}

impl Operand {
    fn is(&self, node: Node<'_>, scratch: &mut Vec<u8>) -> bool {
        let (text, bare) = match self {
            Self::Text(text) => (text, false),
            Self::Word(text) => (text, true),
            Self::Number(_) | Self::SinceStart(_) | Self::OfDay(_) => return false,
        };
        match node.value() {
            // Half of a surrogate pair is not text: such a value is compared in its escaped form.
            Value::Scalar(Scalar::Json(raw, true)) if lone_surrogate(raw).is_some() => {
                raw == text.as_bytes()
            }
            Value::Scalar(Scalar::Str(_) | Scalar::Json(..)) => node.is_text(text),
            Value::Scalar(Scalar::Bin(bytes)) => is_hex(bytes, text),
            Value::Scalar(Scalar::Name(_, _, name)) if name == text => true,
            Value::Scalar(Scalar::Null) => bare && text == "null",
            Value::Scalar(Scalar::Bool(v)) => bare && text == if v { "true" } else { "false" },
            Value::Scalar(
                Scalar::Uint(_)
                | Scalar::Int(_)
                | Scalar::Negative(_)
                | Scalar::F32(_)
                | Scalar::F64(_)
                | Scalar::Number(_)
                | Scalar::Name(..),
            ) => bare && compare(node, text) == Some(Ordering::Equal),
            _ => json(node, scratch) == text.as_str(),
        }
    }
}

/// Returns a value as text: text unchanged, bytes as hex, other values as in JSON output.
fn text_of<'n>(node: Node<'n>, scratch: &'n mut Vec<u8>) -> Cow<'n, str> {
    match (node.text(), node.value()) {
        (Some(text), _) => text,
        (None, Value::Scalar(Scalar::Bin(bytes))) => Cow::Owned(hex::encode(bytes)),
        (None, _) => json(node, scratch),
    }
}

fn json<'s>(node: Node<'_>, scratch: &'s mut Vec<u8>) -> Cow<'s, str> {
    scratch.clear();
    lossless::write(node, scratch);
    String::from_utf8_lossy(scratch)
}

impl Order {
    fn allows(self, found: Ordering) -> bool {
        match self {
            Self::Less => found.is_lt(),
            Self::AtMost => found.is_le(),
            Self::More => found.is_gt(),
            Self::AtLeast => found.is_ge(),
        }
    }
}

impl TextPattern {
    /// Returns `true` if text matches the pattern.
    pub fn fits(&self, text: &str) -> bool {
        match self {
            Self::Glob(glob) if glob.contains('*') => crate::words::glob(glob, text),
            Self::Glob(part) => text.contains(part.as_str()),
            Self::Regex(regex) => regex.is_match(text),
        }
    }
}

fn number(found: Option<impl Into<i128>>, what: &KeyTest) -> bool {
    let Some(found) = found.map(Into::into) else {
        return false;
    };
    match what {
        KeyTest::There => true,
        KeyTest::Is(operands) => operands.contains(&Operand::Number(found)),
        KeyTest::Order(order, Operand::Number(n)) => order.allows(found.cmp(n)),
        KeyTest::Like(_) | KeyTest::Order(..) => false,
    }
}

fn text(found: Option<&str>, what: &KeyTest) -> bool {
    let Some(found) = found else {
        return false;
    };
    match what {
        KeyTest::There => true,
        KeyTest::Is(operands) => operands
            .iter()
            .any(|o| matches!(o, Operand::Text(t) if t == found)),
        KeyTest::Like(patterns) => patterns.iter().any(|p| p.fits(found)),
        KeyTest::Order(..) => false,
    }
}

/// Compares an id in its displayed form, a JSON string with or without its quotes.
fn id(found: &Id<'_>, what: &KeyTest) -> bool {
    if *found == Id::None {
        return false;
    }
    let shown = found.text();
    let bare = shown.strip_prefix('"').and_then(|t| t.strip_suffix('"'));
    let bare = match bare {
        Some(text) if lone_surrogate(text.as_bytes()).is_some() => Cow::Borrowed(text),
        Some(text) => unescape(text),
        None => Cow::Borrowed(&*shown),
    };
    let bare = &*bare;
    match what {
        KeyTest::There => !matches!(found, Id::Json(text) if text == "null" || text == "false"),
        KeyTest::Is(operands) => operands.iter().any(|operand| match operand {
            Operand::Text(t) | Operand::Word(t) => t == bare || t.eq_ignore_ascii_case(&shown),
            Operand::Number(_) | Operand::SinceStart(_) | Operand::OfDay(_) => false,
        }),
        KeyTest::Like(patterns) => patterns.iter().any(|p| p.fits(bare)),
        KeyTest::Order(order, Operand::Word(word)) => Decimal::parse(&shown)
            .zip(Decimal::parse(word))
            .is_some_and(|(a, b)| order.allows(a.compare(b))),
        KeyTest::Order(..) => false,
    }
}

/// Compares a number with another; `None` if one of them is not a number.
fn compare(node: Node<'_>, other: &str) -> Option<Ordering> {
    let other = Decimal::parse(other)?;
    with_number(node, |text| Some(Decimal::parse(text)?.compare(other))).flatten()
}

/// Returns `true` if hex digits, with or without `0x`, describe these bytes.
fn is_hex(bytes: &[u8], text: &str) -> bool {
    let digits = text.strip_prefix("0x").unwrap_or(text).as_bytes();
    let value = |digit: u8| (digit as char).to_digit(16);
    digits.len() == bytes.len() * 2
        && digits.chunks(2).zip(bytes).all(|(pair, byte)| match pair {
            [high, low] => {
                let both = value(*high).zip(value(*low));
                both.is_some_and(|(high, low)| high << 4 | low == u32::from(*byte))
            }
            _ => false,
        })
}

/// Formats bytes that are not valid in their encoding: as text if possible, otherwise hex.
fn raw(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(hex::encode(bytes)),
    }
}
