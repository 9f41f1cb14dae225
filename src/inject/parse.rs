//! A fault read from text.
//!
//! ```text
//!   fault  := which ":" blank action
//!   which  := [condition] ("nth" N | "every" N | "chance" P)...
//!   action := "delay" TIME | "drop" | "dup" | "corrupt" (PATH | "byte") | "truncate" N | "length" (+|-)N
//!           | "close" | "reset" | "stall" | "inject" FILE
//! ```

use super::{Action, Fault, File, Often, Spot};
use crate::select::literal::{bytes, duration};
use crate::select::{Expr, Key, ParseError, Test, What};
use crate::words::nearest;
use std::ops::Range;
use std::str::FromStr;

/// Every action, and what is wanted behind its name; nothing where that is empty.
const ACTIONS: [(&str, &str); 10] = [
    ("delay", "a span of time, such as 10ms, 2s or 1.5us"),
    ("drop", ""),
    ("dup", ""),
    (
        "corrupt",
        "byte, or a place in the message, such as .params.selector",
    ),
    ("truncate", "how many bytes of the frame are left"),
    ("length", "by how much the length lies, such as +4 or -1"),
    ("close", ""),
    ("reset", ""),
    ("stall", ""),
    ("inject", "the name of a file"),
];

const OFTEN: [&str; 3] = ["nth", "every", "chance"];

impl FromStr for Fault {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let colon = colon(text).ok_or_else(|| {
            let end = text.len()..text.len();
            ParseError::new(text, end, "a colon and an action").hint(all_actions())
        })?;
        let (which, what) = (0..colon, colon + 1..text.len());
        let (condition, often) = self::which(text, which)?;
        Ok(Self {
            condition,
            often,
            action: action(text, what)?,
            text: text.trim().to_owned(),
        })
    }
}

impl Fault {
    /// A fault whose condition and action stand apart. Errors show each by itself.
    ///
    /// # Errors
    ///
    /// One of them is none.
    pub fn of(condition: &str, often: Often, does: &str) -> Result<Self, ParseError> {
        let (expr, mut told) = which(condition, 0..condition.len())?;
        told.nth = often.nth.or(told.nth);
        told.every = often.every.or(told.every);
        told.chance = often.chance.or(told.chance);
        let action = action(does, 0..does.len())?;
        let mut text = condition.trim().to_owned();
        let numbers = [("nth", often.nth), ("every", often.every)];
        for (name, n) in numbers.into_iter().filter_map(|(name, n)| Some((name, n?))) {
            text += &format!(" {name} {n}");
        }
        if let Some(chance) = often.chance {
            text += &format!(" chance {chance}");
        }
        Ok(Self {
            condition: expr,
            often: told,
            action,
            text: format!("{}: {}", text.trim(), does.trim()),
        })
    }
}

fn all_actions() -> String {
    let names = ACTIONS.map(|(name, _)| name);
    format!("actions are {}", names.join(" "))
}

/// Where the colon stands between condition and action: the first outside quotes and regular expressions that a blank,
/// the end, or the name of an action follows. Values of conditions have colons too.
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
        // What is open to the end is told when the condition is read.
        at += c.len_utf8() + closes.map_or(0, |n| n + 1);
        if !c.is_whitespace() {
            before = c;
        }
    }
    None
}

/// Where what is open closes. A backslash keeps the character behind it, but not in single quotes.
fn closing(rest: &str, with: char) -> Option<usize> {
    let mut kept = false;
    for (at, c) in rest.char_indices() {
        match c {
            _ if kept => kept = false,
            '\\' if with != '\'' => kept = true,
            c if c == with => return Some(at),
            _ => {}
        }
    }
    None
}

/// The part of a text without the blanks around it.
fn trimmed(text: &str, part: Range<usize>) -> (Range<usize>, &str) {
    let whole = text.get(part.clone()).unwrap_or_default();
    let start = part.start + whole.len() - whole.trim_start().len();
    let inside = whole.trim();
    (start..start + inside.len(), inside)
}

/// The condition, and how often. Words about that stand behind the condition.
fn which(text: &str, part: Range<usize>) -> Result<(Expr, Often), ParseError> {
    let mut often = Often::default();
    let (mut part, mut inside) = trimmed(text, part);
    while let Some((name, at, value)) = last_two(inside) {
        let place = part.start + value..part.end;
        let word = inside.get(value..).unwrap_or_default();
        let wrong = |wanted| Err(ParseError::new(text, place.clone(), wanted));
        let whole = || word.parse().ok().filter(|n| *n > 0);
        let twice = match name {
            "nth" => {
                let Some(n) = whole() else {
                    return wrong("a whole number, from 1 on");
                };
                often.nth.replace(n).is_some()
            }
            "every" => {
                let Some(n) = whole() else {
                    return wrong("a whole number, from 1 on");
                };
                often.every.replace(n).is_some()
            }
            _ => {
                let Some(chance) = chance(word) else {
                    return wrong("a chance from 0 to 1, or 0% to 100%");
                };
                often.chance.replace(chance).is_some()
            }
        };
        if twice {
            let again = part.start + at..part.start + at + name.len();
            return Err(ParseError::new(text, again, format!("{name} once")));
        }
        (part, inside) = trimmed(text, part.start..part.start + at);
    }
    if inside.is_empty() || inside == "*" {
        return Ok((Expr::All(Vec::new()), often));
    }
    let expr = inside.parse().map_err(|e: ParseError| {
        let lone = OFTEN.contains(&inside.rsplit(' ').next().unwrap_or_default());
        let e = e.inside(text, part.start);
        if lone {
            e.hint("how often stands last: nth 2, every 3, chance 10%")
        } else {
            e
        }
    })?;
    Ok((expr, often))
}

/// `nth`, `every` or `chance` as the last word but one: the word, where it stands, and where the last one does.
fn last_two(text: &str) -> Option<(&'static str, usize, usize)> {
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
    let (place, word) = trimmed(text, here.end..part.end);
    let wrong = || ParseError::new(text, place.clone(), wanted);
    if wanted.is_empty() && !word.is_empty() {
        return Err(ParseError::new(
            text,
            place,
            format!("nothing behind {name}"),
        ));
    }
    Ok(match name {
        "delay" => {
            let ns = duration(word).and_then(|ns| u64::try_from(ns).ok());
            Action::Delay(ns.ok_or_else(wrong)?)
        }
        "drop" => Action::Drop,
        "dup" => Action::Dup,
        "corrupt" => Action::Corrupt(spot(text, place.clone(), word, wrong)?),
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
        "close" => Action::Close,
        "reset" => Action::Reset,
        "stall" => Action::Stall,
        _ if word.is_empty() => return Err(wrong()),
        _ => Action::Inject(File {
            name: word.to_owned(),
            bytes: [].into(),
        }),
    })
}

fn spot(
    text: &str,
    place: Range<usize>,
    word: &str,
    wrong: impl Fn() -> ParseError,
) -> Result<Spot, ParseError> {
    if word == "byte" {
        return Ok(Spot::Byte);
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
            what: What::There,
        })) => Ok(Spot::At(path)),
        Ok(_) => Err(wrong()),
        Err(error) => {
            let ParseError { at, wanted, .. } = error;
            let at = at.start.saturating_sub(added)..at.end.saturating_sub(added);
            Err(ParseError::new(word, at, wanted).inside(text, place.start))
        }
    }
}
