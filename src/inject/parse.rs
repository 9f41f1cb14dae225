//! Parses a fault.
//!
//! ```text
//!   fault  := which ":" blank action
//!   which  := [condition] ("nth" N | "every" N | "chance" P)...
//!   action := "delay" TIME | "drop" | "dup" | "corrupt" (PATH | "byte") | "truncate" N | "length" (+|-)N
//!           | "close" | "reset" | "stall" | "inject" FILE
//! ```

use super::{Action, CorruptSpot, Frequency, InjectedFault, InjectedFile};
use crate::select::literal::{bytes, duration};
use crate::select::{Expr, Key, KeyTest, ParseError, Test};
use crate::words::nearest;
use std::ops::Range;
use std::str::FromStr;

/// The optional code at the end of a connection: a code of QUIC (RFC 9000 section 16).
const CODE: &str = "nothing, or a code below 2^62, such as 7 or 0x10c";

/// Every action, and a description of its argument; empty if it has none.
const ACTIONS: [(&str, &str); 10] = [
    ("delay", "a time, such as 10ms, 2s or 1.5us"),
    ("drop", ""),
    ("dup", ""),
    (
        "corrupt",
        "byte, or a place in the message, such as .params.selector",
    ),
    (
        "truncate",
        "the number of bytes of the frame that are forwarded",
    ),
    (
        "length",
        "the difference to the correct length, such as +4 or -1",
    ),
    ("close", CODE),
    ("reset", CODE),
    ("stall", ""),
    ("inject", "the name of a file"),
];

const OFTEN: [&str; 3] = ["nth", "every", "chance"];

impl FromStr for InjectedFault {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let colon = colon(text).ok_or_else(|| {
            let end = text.len()..text.len();
            ParseError::new(text, end, "a colon and an action").hint(all_actions())
        })?;
        let (selection, what) = (0..colon, colon + 1..text.len());
        let (condition, frequency) = self::condition(text, selection)?;
        Ok(Self {
            condition,
            frequency,
            action: action(text, what)?,
            text: text.trim().to_owned(),
        })
    }
}

impl InjectedFault {
    /// Creates a fault from separate condition and action. Errors refer to each of them separately.
    ///
    /// # Errors
    ///
    /// The condition or the action is invalid.
    pub fn of(condition: &str, frequency: Frequency, does: &str) -> Result<Self, ParseError> {
        let (expr, mut written) = self::condition(condition, 0..condition.len())?;
        written.nth = frequency.nth.or(written.nth);
        written.every = frequency.every.or(written.every);
        written.chance = frequency.chance.or(written.chance);
        let action = action(does, 0..does.len())?;
        let mut text = condition.trim().to_owned();
        let numbers = [("nth", frequency.nth), ("every", frequency.every)];
        for (name, n) in numbers.into_iter().filter_map(|(name, n)| Some((name, n?))) {
            text += &format!(" {name} {n}");
        }
        if let Some(chance) = frequency.chance {
            text += &format!(" chance {chance}");
        }
        Ok(Self {
            condition: expr,
            frequency: written,
            action,
            text: format!("{}: {}", text.trim(), does.trim()),
        })
    }
}

fn all_actions() -> String {
    let names = ACTIONS.map(|(name, _)| name);
    format!("actions are {}", names.join(" "))
}

/// Returns the position of the colon between condition and action: the first one outside quotes and
/// regular expressions before a blank, the end, or the name of an action. Values of conditions
/// contain colons too.
fn colon(text: &str) -> Option<usize> {
    let mut at = 0;
    let mut before = ' ';
    while let Some(c) = text.get(at..)?.chars().next() {
        let rest = text.get(at + c.len_utf8()..)?;
        let closes = match c {
            '"' | '\'' => closing(rest, c),
            '/' if matches!(before, '~' | ',') => closing(rest, c),
            ':' if rest.is_empty() || rest.starts_with(char::is_whitespace) => return Some(at),
            ':' => {
                let word = rest.split(|c: char| !c.is_ascii_alphabetic()).next()?;
                if ACTIONS.iter().any(|(name, _)| *name == word) {
                    return Some(at);
                }
                None
            }
            _ => None,
        };
        // Text that is not closed is reported when the condition is parsed.
        at += c.len_utf8() + closes.map_or(0, |n| n + 1);
        if !c.is_whitespace() {
            before = c;
        }
    }
    None
}

/// Returns the position of the closing character. A backslash escapes the next character, but not
/// in single quotes.
fn closing(rest: &str, with: char) -> Option<usize> {
    let mut escaped = false;
    for (at, c) in rest.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if with != '\'' => escaped = true,
            c if c == with => return Some(at),
            _ => {}
        }
    }
    None
}

/// Returns a part of a text without the blanks around it.
fn trimmed(text: &str, part: Range<usize>) -> (Range<usize>, &str) {
    let whole = text.get(part.clone()).unwrap_or_default();
    let start = part.start + whole.len() - whole.trim_start().len();
    let inside = whole.trim();
    (start..start + inside.len(), inside)
}

/// Parses the condition and the selection, whose tokens follow it.
fn condition(text: &str, part: Range<usize>) -> Result<(Expr, Frequency), ParseError> {
    let mut frequency = Frequency::default();
    let (mut part, mut inside) = trimmed(text, part);
    while let Some((name, at, value)) = trailing_frequency(inside) {
        let position = part.start + value..part.end;
        let word = inside.get(value..).unwrap_or_default();
        let wrong = |wanted| Err(ParseError::new(text, position.clone(), wanted));
        let whole = || word.parse().ok().filter(|n| *n > 0);
        let twice = match name {
            "nth" => {
                let Some(n) = whole() else {
                    return wrong("a whole number, from 1 on");
                };
                frequency.nth.replace(n).is_some()
            }
            "every" => {
                let Some(n) = whole() else {
                    return wrong("a whole number, from 1 on");
                };
                frequency.every.replace(n).is_some()
            }
            _ => {
                let Some(chance) = chance(word) else {
                    return wrong("a chance from 0 to 1, or 0% to 100%");
                };
                frequency.chance.replace(chance).is_some()
            }
        };
        if twice {
            let again = part.start + at..part.start + at + name.len();
            return Err(ParseError::new(text, again, format!("{name} once")));
        }
        (part, inside) = trimmed(text, part.start..part.start + at);
    }
    if inside.is_empty() || inside == "*" {
        return Ok((Expr::All(Vec::new()), frequency));
    }
    let expr = inside.parse().map_err(|e: ParseError| {
        let lone = OFTEN.contains(&inside.rsplit(' ').next().unwrap_or_default());
        let e = e.inside(text, part.start);
        if lone {
            e.hint("the count is last: nth 2, every 3, chance 10%")
        } else {
            e
        }
    })?;
    Ok((expr, frequency))
}

/// Finds `nth`, `every` or `chance` as the last token but one. Returns the token, its position, and
/// the position of the last token.
fn trailing_frequency(text: &str) -> Option<(&'static str, usize, usize)> {
    let value = text.rfind(char::is_whitespace)?;
    let value = value + text.get(value..)?.chars().next()?.len_utf8();
    let before = text.get(..value)?.trim_end();
    let at = before.rfind(char::is_whitespace).map_or(0, |at| at + 1);
    let name = OFTEN.into_iter().find(|n| Some(*n) == before.get(at..))?;
    Some((name, at, value))
}

fn chance(text: &str) -> Option<f64> {
    let (digits, whole) = match text.strip_suffix('%') {
        Some(digits) => (digits, 100.0),
        None => (text, 1.0),
    };
    let plain = digits.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let chance = digits.parse::<f64>().ok().filter(|_| plain)? / whole;
    (0.0..=1.0).contains(&chance).then_some(chance)
}

fn action(text: &str, part: Range<usize>) -> Result<Action, ParseError> {
    let (part, inside) = trimmed(text, part);
    let name = inside.split_whitespace().next().unwrap_or_default();
    let here = part.start..part.start + name.len();
    let Some((name, wanted)) = ACTIONS.iter().copied().find(|(n, _)| *n == name) else {
        let near = nearest(name, ACTIONS.iter().map(|(name, _)| *name));
        let hint = near.map_or_else(all_actions, |near| format!("did you mean {near}?"));
        return Err(ParseError::new(text, here, "an action").hint(hint));
    };
    let (position, word) = trimmed(text, here.end..part.end);
    let wrong = || ParseError::new(text, position.clone(), wanted);
    if wanted.is_empty() && !word.is_empty() {
        return Err(ParseError::new(
            text,
            position,
            format!("nothing after {name}"),
        ));
    }
    Ok(match name {
        "delay" => {
            let ns = duration(word).and_then(|ns| u64::try_from(ns).ok());
            Action::Delay(ns.ok_or_else(wrong)?)
        }
        "drop" => Action::Drop,
        "dup" => Action::Dup,
        "corrupt" => Action::Corrupt(spot(text, position.clone(), word, wrong)?),
        "truncate" => {
            let n = bytes(word).and_then(|n| u64::try_from(n).ok());
            Action::Truncate(n.ok_or_else(wrong)?)
        }
        "length" => {
            let digits = word.strip_prefix(['+', '-']).unwrap_or_default();
            let n = bytes(digits).and_then(|n| i64::try_from(n).ok());
            let n = n.ok_or_else(wrong)?;
            Action::Length(if word.starts_with('-') { -n } else { n })
        }
        "close" if word.is_empty() => Action::Close(None),
        "reset" if word.is_empty() => Action::Reset(None),
        "close" => Action::Close(Some(code(word).ok_or_else(wrong)?)),
        "reset" => Action::Reset(Some(code(word).ok_or_else(wrong)?)),
        "stall" => Action::Stall,
        _ if word.is_empty() => return Err(wrong()),
        _ => Action::Inject(InjectedFile {
            name: word.to_owned(),
            bytes: [].into(),
        }),
    })
}

/// Parses a code of QUIC.
fn code(word: &str) -> Option<u64> {
    let code = match word.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => word.parse().ok(),
    };
    code.filter(|code| *code < 1 << 62)
}

fn spot(
    text: &str,
    position: Range<usize>,
    word: &str,
    wrong: impl Fn() -> ParseError,
) -> Result<CorruptSpot, ParseError> {
    if word == "byte" {
        return Ok(CorruptSpot::Byte);
    }
    if word.is_empty() {
        return Err(wrong());
    }
    if let Some(near) = nearest(word, ["byte"]) {
        return Err(wrong().hint(format!("did you mean {near}?")));
    }
    let path = match word {
        _ if word.starts_with('[') => format!("message{word}"),
        _ if word.starts_with('.') || word.starts_with("message") => word.to_owned(),
        _ => format!(".{word}"),
    };
    let added = path.len() - word.len();
    match path.parse() {
        Ok(Expr::Test(Test {
            key: Key::Message(path),
            what: KeyTest::There,
        })) => Ok(CorruptSpot::At(path)),
        Ok(_) => Err(wrong()),
        Err(error) => {
            let ParseError { at, wanted, .. } = error;
            let at = at.start.saturating_sub(added)..at.end.saturating_sub(added);
            Err(ParseError::new(word, at, wanted).inside(text, position.start))
        }
    }
}
