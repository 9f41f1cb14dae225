//! Values that one side makes up and both then use: what they were in the recording, and what they are this time.
//!
//! ```text
//!   recorded   → id "a1…"       ← session_id "ses_x"      → session_id "ses_x"
//!   Book       ours: name 0     theirs: name 1            name 1
//!   Live       0 = "c7…" made   1 = "ses_k" learnt        "ses_k" goes out
//! ```
//!
//! Whoever says a value first made it. Text and bytes that tell are the same thing wherever they stand; short text and
//! numbers only at paths of one group, and there each side counts for itself.

use super::walk::{Form, Spot, Val, uuid_like, walk};
use crate::diff::Pattern;
use crate::encoding::json::write_str;
use crate::protocol::make::Mint;
use crate::protocol::peer::Fresh;
use crate::protocol::{Direction, Protocol, Role};
use std::collections::HashMap;

/// A value that was made up.
#[derive(Clone, Debug)]
pub struct Name {
    /// What sort of thing it names.
    pub group: &'static str,
    /// Who made it.
    pub owner: Direction,
    /// What it was.
    pub recorded: Val,
    fresh: Fresh,
}

/// What a value in a message stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stands {
    /// A name, by its number.
    Name(usize),
    /// The time at which it is said.
    Time,
    /// What whoever plays is given for it.
    Given,
}

/// A value that stands for something.
#[derive(Clone, Debug)]
pub struct Place {
    /// The steps of its path.
    pub path: Vec<String>,
    /// Where and how it is written.
    pub spot: Spot,
    /// What it stands for.
    pub stands: Stands,
}

/// What there is to know of a message before its values are read.
#[derive(Clone, Copy)]
pub struct About<'a> {
    /// Its kind.
    pub kind: &'a str,
    /// Its role.
    pub role: Option<Role>,
    /// Which way it went.
    pub direction: Direction,
    /// Which way the message went that it answers.
    pub asked: Option<Direction>,
}

/// Every name of a recording.
pub struct Book {
    minted: Vec<(Pattern, &'static str, Fresh)>,
    names: Vec<Name>,
    anywhere: HashMap<Val, usize>,
    placed: HashMap<(&'static str, Direction, Val), usize>,
}

impl Book {
    /// A book without a name, for a protocol.
    pub fn new(protocol: &dyn Protocol) -> Self {
        let minted = protocol.minted().iter();
        Self {
            minted: minted
                .map(|m| (Pattern::new(m.path), m.group, m.fresh))
                .collect(),
            names: Vec::new(),
            anywhere: HashMap::new(),
            placed: HashMap::new(),
        }
    }

    /// A name by its number.
    pub fn name(&self, number: usize) -> Option<&Name> {
        self.names.get(number)
    }

    /// How many names there are.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Reads the next message of the recording: its values that stand for something.
    pub fn read(&mut self, message: &str, about: &About<'_>) -> Vec<Place> {
        let mut places = Vec::new();
        walk(message, &mut |path, spot| {
            let stands = self.stands(path, &spot, about);
            places.extend(stands.map(|stands| Place {
                path: path.to_vec(),
                spot,
                stands,
            }));
        });
        places
    }

    fn stands(&mut self, path: &[String], spot: &Spot, about: &About<'_>) -> Option<Stands> {
        let minted = self.minted.iter();
        let minted = minted
            .filter(|_| !spot.is_key)
            .find(|(pattern, ..)| pattern.fits(about.kind, path));
        let Some(&(_, group, fresh)) = minted else {
            return self.anywhere.get(&spot.val).copied().map(Stands::Name);
        };
        match fresh {
            Fresh::Time => return Some(Stands::Time),
            Fresh::Given => return Some(Stands::Given),
            Fresh::Id | Fresh::Same => {}
        }
        let known = self.known(group, &spot.val, about);
        Some(Stands::Name(known.unwrap_or_else(|| {
            self.add(Name {
                group,
                owner: about.direction,
                recorded: spot.val.clone(),
                fresh,
            })
        })))
    }

    /// The name that a value at a path of a group is, if it was said before.
    fn known(&self, group: &'static str, val: &Val, about: &About<'_>) -> Option<usize> {
        if let Some(number) = self.anywhere.get(val) {
            return Some(*number);
        }
        let of = |owner: Direction| self.placed.get(&(group, owner, val.clone())).copied();
        let (own, other) = (about.direction, about.direction.other());
        match (about.asked, about.role) {
            // An answer goes by what its request said.
            (Some(asked), _) => of(asked).or_else(|| of(asked.other())),
            // Both sides count their requests, each from its own beginning.
            (None, Some(Role::Request | Role::Hello)) => of(own),
            (None, _) => of(own).or_else(|| of(other)),
        }
    }

    fn add(&mut self, name: Name) -> usize {
        let number = self.names.len();
        if name.recorded.is_telling() {
            self.anywhere.insert(name.recorded.clone(), number);
        }
        let key = (name.group, name.owner, name.recorded.clone());
        self.placed.insert(key, number);
        self.names.push(name);
        number
    }
}

/// What the names are in one run.
pub struct Live {
    side: Direction,
    keep: bool,
    given: Option<String>,
    mint: Mint,
    values: Vec<Option<Val>>,
    /// The last number that was given out, by group.
    last: HashMap<&'static str, i128>,
}

impl Live {
    /// A run of which nothing is known: the side that is played, whether its own ids and times are kept, what it was given,
    /// and where fresh ids come from.
    pub fn new(side: Direction, keep: bool, given: Option<String>, seed: u64) -> Self {
        Self {
            side,
            keep,
            given,
            mint: Mint::new(seed ^ 0x6964),
            values: Vec::new(),
            last: HashMap::new(),
        }
    }

    /// What a name is this time.
    pub fn value(&self, number: usize) -> Option<&Val> {
        self.values.get(number)?.as_ref()
    }

    /// Learns what a name is this time; the first to say it counts.
    pub fn learn(&mut self, number: usize, val: Val) {
        if self.values.len() <= number {
            self.values.resize(number + 1, None);
        }
        if let Some(slot) = self.values.get_mut(number) {
            slot.get_or_insert(val);
        }
    }

    /// Learns what a message of the other side says, in place of the recorded one.
    pub fn hear(&mut self, book: &Book, recorded: &[Place], message: &str) {
        let side = self.side;
        let wanted: HashMap<&[String], usize> = recorded
            .iter()
            .filter_map(|place| match place.stands {
                Stands::Name(number) if book.name(number)?.owner != side => {
                    Some((place.path.as_slice(), number))
                }
                _ => None,
            })
            .collect();
        if wanted.is_empty() {
            return;
        }
        walk(message, &mut |path, spot| {
            if let Some(number) = wanted.get(path).filter(|_| !spot.is_key) {
                self.learn(*number, spot.val);
            }
        });
        // What was to be told and was not will not be told any more.
        for number in wanted.into_values() {
            if let Some(name) = book.name(number) {
                self.learn(number, name.recorded.clone());
            }
        }
    }

    /// Whether a value of the recording stands for this one.
    pub fn is_same(&self, book: &Book, recorded: &Val, live: &Val) -> bool {
        let known = book.anywhere.get(recorded);
        known.is_some_and(|number| self.value(*number) == Some(live))
    }

    /// A message of the side that is played, as it is to be said now.
    pub fn rewrite(&mut self, book: &Book, message: &str, places: &[Place], now: i64) -> String {
        let mut out = String::with_capacity(message.len());
        let mut from = 0;
        for Place { spot, stands, .. } in places {
            let (start, end) = (spot.span.at(), spot.span.end());
            let old = message.get(start..end).unwrap_or_default();
            let new = match stands {
                Stands::Name(number) => self.name(book, *number, spot, old),
                Stands::Time if self.keep => None,
                Stands::Time => time(&spot.val, old, now),
                Stands::Given => self.given.as_deref().map(text),
            };
            if let Some(new) = new.filter(|_| start >= from) {
                out.push_str(message.get(from..start).unwrap_or_default());
                out.push_str(&new);
                from = end;
            }
        }
        out.push_str(message.get(from..).unwrap_or_default());
        out
    }

    fn name(&mut self, book: &Book, number: usize, spot: &Spot, old: &str) -> Option<String> {
        let name = book.name(number)?;
        if self.value(number).is_none() {
            let own = name.owner == self.side;
            let val = if own && name.fresh == Fresh::Id && !self.keep {
                self.make(name)
            } else {
                name.recorded.clone()
            };
            self.learn(number, val);
        }
        let val = self.value(number)?;
        (*val != spot.val).then(|| write(val, spot.form, old))
    }

    /// A value of the same form that was never used.
    fn make(&mut self, name: &Name) -> Val {
        match &name.recorded {
            Val::Uuid(_) => Val::Uuid(self.mint.uuid()),
            Val::Bin(bytes) => {
                let fresh = std::iter::repeat_with(|| self.mint.uuid()).flatten();
                Val::Bin(fresh.take(bytes.len()).collect())
            }
            Val::Number(text) => match text.parse::<i128>() {
                Ok(first) => {
                    let last = self.last.entry(name.group);
                    let last = last
                        .and_modify(|n| *n = n.saturating_add(1))
                        .or_insert(first);
                    Val::Number(last.to_string())
                }
                Err(_) => name.recorded.clone(),
            },
            Val::Text(old) if name.recorded.is_telling() => {
                let mut fresh = std::iter::repeat_with(|| self.mint.uuid()).flatten();
                Val::text(&other_digits(old, &mut fresh))
            }
            Val::Text(_) => name.recorded.clone(),
        }
    }
}

/// The same text with other digits, hexadecimal ones where it has no other letters between its separators.
fn other_digits(old: &str, fresh: &mut impl Iterator<Item = u8>) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut out = String::with_capacity(old.len());
    for part in old.split_inclusive(|c: char| !c.is_ascii_alphanumeric()) {
        let word = part.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
        let is_hex = word.len() >= 8 && word.bytes().all(|b| b.is_ascii_hexdigit());
        for c in part.chars() {
            let base = match c {
                '0'..='9' if is_hex => 16,
                '0'..='9' => 10,
                'a'..='f' if is_hex => 16,
                _ => {
                    out.push(c);
                    continue;
                }
            };
            let digit = usize::from(fresh.next().unwrap_or_default()) % base;
            out.push(DIGITS.get(digit).copied().map_or(c, char::from));
        }
    }
    out
}

fn text(text: &str) -> String {
    let mut out = Vec::new();
    write_str(text, &mut out);
    String::from_utf8(out).unwrap_or_default()
}

/// A value in the form that its place has.
fn write(val: &Val, form: Form, old: &str) -> String {
    match (val, form) {
        (Val::Uuid(uuid), Form::Text) => {
            let was = old.trim_matches('"');
            let was = match Val::text(was) {
                Val::Uuid(_) => was,
                _ => "00000000-0000-0000-0000-000000000000",
            };
            text(&uuid_like(was, uuid))
        }
        (Val::Uuid(uuid), _) => format!("{{\"$bin\":\"{}\"}}", hex::encode(uuid)),
        (Val::Bin(bytes), _) => format!("{{\"$bin\":\"{}\"}}", hex::encode(bytes)),
        (Val::Text(plain), _) => text(plain),
        (Val::Number(digits), Form::Text) => text(digits),
        (Val::Number(digits), _) => digits.clone(),
    }
}

/// Now, in the unit and form of a recorded time.
fn time(val: &Val, old: &str, now: i64) -> Option<String> {
    match val {
        Val::Number(_) => {
            let whole = old.split(['.', 'e', 'E']).next()?.parse::<i64>().ok()?;
            let unit = match whole.unsigned_abs() {
                // No time since 1970.
                0..100_000_000 => return None,
                100_000_000..100_000_000_000 => 1_000_000_000,
                100_000_000_000..100_000_000_000_000 => 1_000_000,
                100_000_000_000_000..100_000_000_000_000_000 => 1000,
                _ => 1,
            };
            let fraction = old.split_once('.').map_or("", |(_, rest)| rest);
            let digits = fraction.bytes().take_while(u8::is_ascii_digit).count();
            let below = format!("{:09}", now.rem_euclid(unit) * (1_000_000_000 / unit));
            let below = below.get(..digits.min(9)).unwrap_or_default();
            let dot = if below.is_empty() { "" } else { "." };
            Some(format!("{}{dot}{below}", now.div_euclid(unit)))
        }
        Val::Text(old) if old.parse::<jiff::Timestamp>().is_ok() => {
            let fraction = old.split_once('.').map_or("", |(_, rest)| rest);
            let digits = fraction
                .bytes()
                .take_while(u8::is_ascii_digit)
                .count()
                .min(9);
            let stamp = jiff::Timestamp::from_nanosecond(now.into()).ok()?;
            let whole = stamp.strftime("%Y-%m-%dT%H:%M:%S");
            let below = format!("{:09}", stamp.subsec_nanosecond());
            let below = below.get(..digits).unwrap_or_default();
            let dot = if below.is_empty() { "" } else { "." };
            let zone = if old.ends_with('Z') { "Z" } else { "+00:00" };
            Some(text(&format!("{whole}{dot}{below}{zone}")))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_800_000_000_123_456_789;

    fn book(minted: &[(&'static str, &'static str, Fresh)]) -> Book {
        Book {
            minted: minted
                .iter()
                .map(|(path, group, fresh)| (Pattern::new(path), *group, *fresh))
                .collect(),
            names: Vec::new(),
            anywhere: HashMap::new(),
            placed: HashMap::new(),
        }
    }

    fn about(direction: Direction, role: Role, asked: Option<Direction>) -> About<'static> {
        About {
            kind: "k",
            role: Some(role),
            direction,
            asked,
        }
    }

    const C2S: Direction = Direction::ToServer;
    const S2C: Direction = Direction::ToClient;

    #[test]
    fn what_the_other_side_made_is_learnt_and_replaced_wherever_it_recurs() {
        let mut book = book(&[
            ("id", "call", Fresh::Id),
            ("**.session", "session", Fresh::Id),
        ]);
        let ask = r#"{"id":7,"session":null}"#;
        let ours = about(C2S, Role::Request, None);
        let first = book.read(ask, &ours);
        let answer = r#"{"id":7,"result":{"session":"ses_0123456789"}}"#;
        let told = book.read(answer, &about(S2C, Role::Response, Some(C2S)));
        let later = r#"{"id":9,"args":["x",{"ses_0123456789":1},"ses_0123456789"],"text":"ses_0"}"#;
        let second = book.read(later, &ours);

        let mut live = Live::new(C2S, false, None, 1);
        assert_eq!(
            live.rewrite(&book, ask, &first, NOW),
            ask,
            "the first number stays"
        );
        live.hear(
            &book,
            &told,
            r#"{"id":7,"result":{"session":"ses_ABCDEFGHIJ"}}"#,
        );
        assert_eq!(
            live.rewrite(&book, later, &second, NOW),
            r#"{"id":8,"args":["x",{"ses_ABCDEFGHIJ":1},"ses_ABCDEFGHIJ"],"text":"ses_0"}"#
        );
        let same = |a: &str, b: &str| live.is_same(&book, &Val::text(a), &Val::text(b));
        assert!(same("ses_0123456789", "ses_ABCDEFGHIJ"));
        assert!(!same("ses_0123456789", "ses_0123456789"));
        assert!(!same("x", "y"));
    }

    #[test]
    fn both_sides_count_their_requests_for_themselves() {
        let mut book = book(&[("id", "call", Fresh::Id)]);
        let one = |book: &mut Book, direction, role, asked| {
            let places = book.read(r#"{"id":0}"#, &about(direction, role, asked));
            places[0].stands
        };
        let ours = one(&mut book, C2S, Role::Request, None);
        let theirs = one(&mut book, S2C, Role::Request, None);
        assert_ne!(ours, theirs);
        assert_eq!(one(&mut book, S2C, Role::Response, Some(C2S)), ours);
        assert_eq!(one(&mut book, C2S, Role::Response, Some(S2C)), theirs);
        assert_eq!(one(&mut book, C2S, Role::Notification, None), ours);
    }

    #[test]
    fn own_values_are_fresh_and_of_the_same_form() {
        let minted = [
            ("id", "call", Fresh::Id),
            ("ts", "time", Fresh::Time),
            ("t", "token", Fresh::Given),
        ];
        let message = r#"{"id":{"$bin":"00112233445566778899aabbccddeeff"},"ts":1700000000000,"t":"old","again":"00112233-4455-6677-8899-aabbccddeeff"}"#;
        let mut b = book(&minted);
        let places = b.read(message, &about(C2S, Role::Request, None));
        let mut live = Live::new(C2S, false, Some("new".into()), 1);
        insta::assert_snapshot!(
            live.rewrite(&b, message, &places, NOW),
            @r#"{"id":{"$bin":"a51bb2ef910f4fdfaa9d31f0fbc55442"},"ts":1800000000123,"t":"new","again":"a51bb2ef-910f-4fdf-aa9d-31f0fbc55442"}"#
        );
        let mut kept = Live::new(C2S, true, None, 1);
        assert_eq!(kept.rewrite(&b, message, &places, NOW), message);
    }

    #[test]
    fn text_ids_get_other_digits() {
        let mut fresh = [7u8, 250, 33, 99].into_iter().cycle();
        let mut other = |old: &str| other_digits(old, &mut fresh);
        assert_eq!(other("ses_deadbeef01"), "ses_7a137a137a");
        assert_eq!(other("request-17"), "request-39");
        assert_eq!(other("nothing-here"), "nothing-here");
    }

    #[test]
    fn times_keep_their_unit_and_form() {
        for (old, want) in [
            ("1700000000", Some("1800000000")),
            ("1700000000.25", Some("1800000000.12")),
            ("1700000000000", Some("1800000000123")),
            ("1700000000000.5", Some("1800000000123.4")),
            ("1700000000000000", Some("1800000000123456")),
            ("1700000000000000000", Some("1800000000123456789")),
            ("12", None),
        ] {
            let val = Val::Number(old.into());
            assert_eq!(time(&val, old, NOW).as_deref(), want, "{old}");
        }
        for (old, want) in [
            (
                "2026-01-01T00:00:00.000Z",
                Some("\"2027-01-15T08:00:00.123Z\""),
            ),
            (
                "2026-01-01T00:00:00+00:00",
                Some("\"2027-01-15T08:00:00+00:00\""),
            ),
            ("yesterday", None),
        ] {
            assert_eq!(time(&Val::text(old), old, NOW).as_deref(), want, "{old}");
        }
    }
}
