//! Objects as programming languages print them, as JSON.
//!
//! ```text
//!   {'id': 1, 'ok': True, 'next': None}          Python; also OrderedDict, dataclasses, models of pydantic
//!   { id: 1, name: 'a', next: undefined }        JavaScript
//!   Request { id: Number(1), next: None }        Rust
//!   {"id"=>1, :ok=>true, next: nil}              Ruby
//!   ['id' => 1], ["id": 1], { id = 1 }           PHP, Swift, Lua
//!   {'ok' => bless( do{\(my $o = 1)}, 'JSON::PP::Boolean' )}    Perl
//! ```
//!
//! A member without a value is left out where a class has it: `None` of a Python object or a Rust struct, and `undefined`.

mod classes;

use super::escapes::{Escapes, read_string};
use crate::encoding::lossless::write_bytes;
use classes::{boolean_of_perl, pairs_as_members};

/// The maximum depth of values.
const MAX_DEPTH: u32 = 128;

/// The result of reading a text.
pub(super) enum Literal {
    /// A value of this length.
    Value { len: usize, lost: Lost },
    /// The text ends inside a value.
    Open,
    /// The text is no value.
    None,
}

/// What JSON does not have of a printed value.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Lost {
    /// Its writer left out a part of it.
    pub parts: bool,
    /// It has NaN or infinity, which JSON cannot write.
    pub numbers: bool,
}

/// The reason why a text is no complete value.
#[derive(Clone, Copy)]
enum Failure {
    Open,
    Other,
}

/// Reads the value that a text begins with, and appends it as JSON.
pub(super) fn read(text: &[u8], out: &mut Vec<u8>) -> Literal {
    read_as(text, false, out)
}

/// Reads the value that a text begins with, and appends it as JSON, in which bytes are `{"$bin":"hex"}`.
pub(super) fn read_with_bytes(text: &[u8], out: &mut Vec<u8>) -> Literal {
    read_as(text, true, out)
}

fn read_as(text: &[u8], keeps_bytes: bool, out: &mut Vec<u8>) -> Literal {
    let mut reader = Reader {
        rest: text,
        lost: Lost::default(),
        keeps_bytes,
    };
    match reader.value(out, 0) {
        Ok(_) => Literal::Value {
            len: text.len() - reader.rest.len(),
            lost: reader.lost,
        },
        Err(Failure::Open) => Literal::Open,
        Err(Failure::Other) => Literal::None,
    }
}

/// The key of a member.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Key {
    Quoted,
    Bare,
    /// An element of a list.
    None,
}

/// A value that may stand for none.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Presence {
    Value,
    /// `None` and `nil`: a class has the member, a message does not.
    Empty,
    /// `undefined`.
    Undefined,
}

/// Ends a list that begins at `start`. `presence`: that of its last value. A comma behind the only value of brackets makes
/// them a list in Python.
fn end_list(
    (open, is_class, has_comma): (u8, bool, bool),
    count: u32,
    start: usize,
    presence: Presence,
    out: &mut Vec<u8>,
) -> Presence {
    // `Some(1)`, `JSONRPCMessage(..)`: a class around one value; brackets around one value in Python.
    if open == b'(' && count == 1 && (is_class || !has_comma) {
        out.remove(start);
        return presence;
    }
    if count == 0 {
        out.truncate(start);
        // A class without members, `JSONRPCMessage()`.
        let empty: &[u8] = if is_class && open == b'(' {
            b"{}"
        } else {
            b"[]"
        };
        out.extend_from_slice(empty);
    } else {
        out.push(b']');
    }
    Presence::Value
}

struct Reader<'a> {
    rest: &'a [u8],
    lost: Lost,
    /// Bytes are not read as text.
    keeps_bytes: bool,
}

impl<'a> Reader<'a> {
    /// Skips blanks and comments.
    fn blanks(&mut self) {
        loop {
            self.rest = self.rest.trim_ascii_start();
            let end = if self.rest.starts_with(b"//") {
                memchr::memchr(b'\n', self.rest)
            } else if self.rest.starts_with(b"/*") {
                memchr::memmem::find(self.rest, b"*/").map(|at| at + 2)
            } else {
                return;
            };
            self.rest = end.and_then(|end| self.rest.get(end..)).unwrap_or_default();
        }
    }

    fn take(&mut self, text: &[u8]) -> bool {
        match self.rest.strip_prefix(text) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// Returns the next byte after blanks.
    fn peek(&mut self) -> Result<u8, Failure> {
        self.blanks();
        self.rest.first().copied().ok_or(Failure::Open)
    }

    /// Takes a word: a name, a number, or a keyword.
    fn word(&mut self) -> &'a [u8] {
        let is_word = |c: &u8| c.is_ascii_alphanumeric() || b"_.$-+".contains(c) || *c >= 0x80;
        let mut end = self
            .rest
            .iter()
            .position(|c| !is_word(c))
            .unwrap_or(self.rest.len());
        // The path of a type in Rust or C++.
        while let Some(after) = self
            .rest
            .get(end..)
            .and_then(|rest| rest.strip_prefix(b"::"))
        {
            end = self.rest.len() - after.len()
                + after
                    .iter()
                    .position(|c| !is_word(c))
                    .unwrap_or(after.len());
        }
        let (word, rest) = self.rest.split_at_checked(end).unwrap_or_default();
        self.rest = rest;
        word
    }

    fn value(&mut self, out: &mut Vec<u8>, depth: u32) -> Result<Presence, Failure> {
        if depth > MAX_DEPTH {
            return Err(Failure::Other);
        }
        match self.peek()? {
            b'%' if self.rest.starts_with(b"%{") => {
                self.take(b"%");
                self.value(out, depth)
            }
            open @ (b'{' | b'[' | b'(') => {
                self.take(&[open]);
                // What the console of Chrome prints in place of an object.
                if open == b'{' && self.take("…}".as_bytes()) {
                    self.lost.parts = true;
                    push_string("{…}".as_bytes(), out);
                    return Ok(Presence::Value);
                }
                self.group(open, false, out, depth)
            }
            b'"' | b'\'' | b'`' => self.string(false, out).map(|()| Presence::Value),
            b'<' => self.tagged(out, depth),
            c if c.is_ascii_alphanumeric() || b"-_$+.".contains(&c) => self.named(out, depth),
            _ => Err(Failure::Other),
        }
    }

    /// Reads a string, and further ones that follow it: Python and Node break long strings.
    fn string(&mut self, is_bytes: bool, out: &mut Vec<u8>) -> Result<(), Failure> {
        let start = self.rest;
        // Ruby does not say that a string in its quotes is no text.
        let may_be_bytes = self.keeps_bytes && (is_bytes || start.starts_with(b"\""));
        let (parts, text) = read_string(is_bytes || may_be_bytes, |escapes, text| {
            self.rest = start;
            self.parts(escapes, text)
        });
        if may_be_bytes && (is_bytes || std::str::from_utf8(&text).is_err()) {
            write_bytes(&text, out);
        } else {
            push_string(&text, out);
        }
        parts
    }

    /// Reads the parts of a string.
    fn parts(&mut self, escapes: Escapes, text: &mut Vec<u8>) -> Result<(), Failure> {
        loop {
            let (&quote, body) = self.rest.split_first().ok_or(Failure::Open)?;
            let literal = escapes.read(body, Some(quote), text);
            self.rest = literal.rest.ok_or(Failure::Open)?;
            self.blanks();
            let after_plus = self.rest.strip_prefix(b"+").map(<[u8]>::trim_ascii_start);
            let next = after_plus.unwrap_or(self.rest);
            let next = next
                .strip_prefix(b"b")
                .filter(|string| matches!(string.first(), Some(b'"' | b'\'')))
                .unwrap_or(next);
            if !matches!(next.first(), Some(b'"' | b'\'' | b'`')) {
                return Ok(());
            }
            self.rest = next;
        }
    }

    /// Reads bytes as Node and Elixir print them: `<Buffer ee f7>`, `<<238, 247>>`.
    fn bytes(&mut self, out: &mut Vec<u8>) -> Result<Presence, Failure> {
        let (end, radix) = if self.take(b"<Buffer") {
            (&b">"[..], 16)
        } else {
            self.take(b"<<");
            (&b">>"[..], 10)
        };
        let len = memchr::memmem::find(self.rest, end).ok_or(Failure::Open)?;
        let (numbers, rest) = self.rest.split_at_checked(len).unwrap_or_default();
        self.rest = rest.get(end.len()..).unwrap_or_default();
        let numbers = numbers.split(|c| c.is_ascii_whitespace() || *c == b',');
        let numbers = numbers.filter(|number| !number.is_empty());
        let byte =
            |number: &[u8]| u8::from_str_radix(std::str::from_utf8(number).ok()?, radix).ok();
        let bytes: Option<Vec<u8>> = numbers.map(byte).collect();
        write_bytes(&bytes.ok_or(Failure::Other)?, out);
        Ok(Presence::Value)
    }

    /// Reads the elements of `Uint8Array(2) [ 238, 247 ]` behind its name.
    fn array_of_bytes(&mut self, out: &mut Vec<u8>, depth: u32) -> Result<Presence, Failure> {
        let end = memchr::memchr(b')', self.rest).ok_or(Failure::Open)?;
        self.rest = self.rest.get(end + 1..).unwrap_or_default();
        let mut list = Vec::new();
        self.peek()?;
        self.value(&mut list, depth + 1)?;
        let bytes: Vec<u8> = serde_json::from_slice(&list).map_err(|_| Failure::Other)?;
        write_bytes(&bytes, out);
        Ok(Presence::Value)
    }

    /// Reads `<Level.INFO: 'info'>`, an enum of Python, and `<ref *1> {..}` of Node.
    fn tagged(&mut self, out: &mut Vec<u8>, depth: u32) -> Result<Presence, Failure> {
        if self.keeps_bytes && (self.rest.starts_with(b"<Buffer") || self.rest.starts_with(b"<<")) {
            return self.bytes(out);
        }
        self.take(b"<");
        let is_ref = self.rest.starts_with(b"ref ");
        let end = if is_ref { b'>' } else { b':' };
        let at = self
            .rest
            .iter()
            .take(80)
            .position(|c| *c == end)
            .ok_or(Failure::Other)?;
        self.rest = self.rest.get(at + 1..).unwrap_or_default();
        let presence = self.value(out, depth + 1)?;
        if is_ref || self.peek()? == b'>' && self.take(b">") {
            return Ok(presence);
        }
        Err(Failure::Other)
    }

    /// Reads a keyword, a number, or a value with the name of its class.
    fn named(&mut self, out: &mut Vec<u8>, depth: u32) -> Result<Presence, Failure> {
        let word = self.word();
        let keyword: &[u8] = match word {
            b"true" | b"True" => b"true",
            b"false" | b"False" => b"false",
            b"null" | b"NULL" | b"Null" | b"vim.NIL" => b"null",
            b"vim.empty_dict" if self.take(b"()") => b"{}",
            b"None" | b"nil" | b"undef" => {
                out.extend_from_slice(b"null");
                return Ok(Presence::Empty);
            }
            b"undefined" => {
                out.extend_from_slice(b"null");
                return Ok(Presence::Undefined);
            }
            b"NaN" | b"nan" | b"Infinity" | b"-Infinity" | b"inf" | b"-inf" => {
                self.lost.numbers = true;
                b"null"
            }
            _ => b"",
        };
        if !keyword.is_empty() {
            out.extend_from_slice(keyword);
            return Ok(Presence::Value);
        }
        let number = word.strip_suffix(b"n").unwrap_or(word);
        if serde_json::from_slice::<serde_json::Number>(number).is_ok() {
            out.extend_from_slice(number);
            return Ok(Presence::Value);
        }
        // Prefixes of strings in Python and Rust.
        if matches!(word, b"b" | b"u" | b"r" | b"B")
            && matches!(self.rest.first(), Some(b'"' | b'\''))
        {
            let is_bytes = word.eq_ignore_ascii_case(b"b");
            return self.string(is_bytes, out).map(|()| Presence::Value);
        }
        // The console of Chrome prints the number of elements in place of them.
        if word == b"Array" && self.rest.starts_with(b"(") {
            let end = memchr::memchr(b')', self.rest).ok_or(Failure::Open)?;
            let (count, rest) = self.rest.split_at_checked(end + 1).unwrap_or_default();
            if !rest.trim_ascii_start().starts_with(b"[") {
                (self.lost.parts, self.rest) = (true, rest);
                push_string(&[b"Array", count].concat(), out);
                return Ok(Presence::Value);
            }
        }
        if word == b"bless"
            && let Some((value, rest)) = boolean_of_perl(self.rest)
        {
            self.rest = rest;
            out.extend_from_slice(value);
            return Ok(Presence::Value);
        }
        if self.keeps_bytes && word == b"Uint8Array" && self.rest.starts_with(b"(") {
            return self.array_of_bytes(out, depth);
        }
        if self.rest.trim_ascii_start().is_empty() {
            return Err(Failure::Open);
        }
        let is_class = word
            .first()
            .is_some_and(|c| c.is_ascii_alphabetic() || b"_$".contains(c));
        self.take(b" ");
        match self.rest.first() {
            Some(open @ (b'{' | b'[' | b'(')) if is_class => {
                self.rest = self.rest.get(1..).unwrap_or_default();
                let start = out.len();
                let presence = self.group(*open, true, out, depth)?;
                // Before Python 3.12.
                if word.ends_with(b"OrderedDict") {
                    pairs_as_members(out, start);
                }
                Ok(presence)
            }
            _ => Err(Failure::Other),
        }
    }

    /// Reads members or elements up to the closing bracket. `is_class`: a name is before the opening one.
    fn group(
        &mut self,
        open: u8,
        is_class: bool,
        out: &mut Vec<u8>,
        depth: u32,
    ) -> Result<Presence, Failure> {
        let close = closing(open);
        let start = out.len();
        // The first member tells an object from a list, which Lua writes in the same brackets.
        let mut is_object = (open == b'{' && (is_class || depth == 0)).then_some(true);
        let mut count = 0;
        let mut presence = Presence::Value;
        let mut has_comma = false;
        out.push(b'{');
        loop {
            if self.peek()? == close {
                self.take(&[close]);
                break;
            }
            if open == b'[' && self.skip_property(depth)? {
                continue;
            }
            if open == b'[' && self.is_left_out(count) {
                return self.end_left_out(count == 0, start, out);
            }
            let before = out.len();
            if count > 0 {
                out.push(b',');
            }
            if open == b'[' && count == 0 && self.take(b":]") {
                // An empty dictionary of Swift.
                out.push(b'}');
                return Ok(Presence::Value);
            }
            let key = if is_object == Some(false) {
                Key::None
            } else {
                self.key(out)?
            };
            let has_key = key != Key::None;
            if is_object.is_none()
                && !has_key
                && let Some(first) = out.get_mut(start)
            {
                *first = b'[';
            }
            if *is_object.get_or_insert(has_key) != has_key {
                return Err(Failure::Other);
            }
            presence = self.value(out, depth + 1)?;
            let is_absent = match presence {
                Presence::Undefined => true,
                Presence::Empty => is_class && key == Key::Bare,
                Presence::Value => false,
            };
            if has_key && is_absent {
                out.truncate(before);
            } else {
                count += 1;
            }
            has_comma = matches!(self.peek()?, b',' | b';');
            match self.peek()? {
                b',' | b';' => self.rest = self.rest.get(1..).unwrap_or_default(),
                c if c == close => {}
                _ => return Err(Failure::Other),
            }
        }
        if is_object == Some(true) || open == b'{' && count == 0 {
            out.push(b'}');
            return Ok(Presence::Value);
        }
        Ok(end_list(
            (open, is_class, has_comma),
            count,
            start,
            presence,
            out,
        ))
    }

    /// Ends a list at what Node prints in place of values; alone, that is a text.
    fn end_left_out(
        &mut self,
        is_alone: bool,
        start: usize,
        out: &mut Vec<u8>,
    ) -> Result<Presence, Failure> {
        let text = self.left_out()?;
        if is_alone {
            out.truncate(start);
            push_string(&[b"[", text, b"]"].concat(), out);
        } else {
            out.push(b']');
        }
        Ok(Presence::Value)
    }

    /// Passes over what Node prints in place of values, and returns it.
    fn left_out(&mut self) -> Result<&'a [u8], Failure> {
        self.lost.parts = true;
        let end = self.rest.iter().position(|c| *c == b']');
        let end = end.ok_or(Failure::Open)?;
        let text = self.rest.get(..end).unwrap_or_default();
        self.rest = self.rest.get(end + 1..).unwrap_or_default();
        Ok(text)
    }

    /// Passes over a property of a list with the comma after it; returns false if there is none.
    fn skip_property(&mut self, depth: u32) -> Result<bool, Failure> {
        let Some(value) = shown_property(self.rest) else {
            return Ok(false);
        };
        self.rest = value;
        self.value(&mut Vec::new(), depth + 1)?;
        if self.peek()? == b']' || self.take(b",") {
            return Ok(true);
        }
        Err(Failure::Other)
    }

    /// Returns true at `[Object]` and `... 3 more items`, which Node prints in place of values.
    fn is_left_out(&self, count: u32) -> bool {
        let names = [
            &b"Object]"[..],
            b"Array]",
            b"Circular",
            b"Function",
            b"Getter",
            b"Symbol",
        ];
        self.rest.starts_with(b"... ")
            || count == 0 && names.iter().any(|name| self.rest.starts_with(name))
    }

    /// Reads the key of a member and the sign after it; reads nothing if there is none.
    fn key(&mut self, out: &mut Vec<u8>) -> Result<Key, Failure> {
        let (before, len) = (self.rest, out.len());
        self.peek()?;
        let in_brackets = self.rest.starts_with(b"[\"") && self.take(b"[");
        if self.rest.starts_with(b":") {
            // A symbol of Ruby.
            self.take(b":");
        }
        let is_quoted = matches!(self.rest.first(), Some(b'"' | b'\''));
        if is_quoted {
            self.string(false, out)?;
        } else {
            let word = self.word();
            if word.is_empty() {
                self.rest = before;
                return Ok(Key::None);
            }
            push_string(word, out);
        }
        if in_brackets {
            self.take(b"]");
        }
        self.blanks();
        let has_sign = self.take(b"=>") || self.take(b":") || self.take(b"=");
        if has_sign {
            out.push(b':');
        } else if self.rest.is_empty() {
            return Err(Failure::Open);
        } else {
            self.rest = before;
            out.truncate(len);
            return Ok(Key::None);
        }
        Ok(if is_quoted { Key::Quoted } else { Key::Bare })
    }
}

/// The bracket that closes another one.
const fn closing(open: u8) -> u8 {
    match open {
        b'{' => b'}',
        b'[' => b']',
        _ => b')',
    }
}

/// Returns the value of a property that Node shows behind the elements of a list: `[length]: 1`.
fn shown_property(text: &[u8]) -> Option<&[u8]> {
    const MAX_NAME: usize = 64;
    let name = text.strip_prefix(b"[")?;
    let end = memchr::memchr(b']', name.get(..MAX_NAME).unwrap_or(name))?;
    let is_name = |c: &u8| c.is_ascii_alphanumeric() || b"_$".contains(c);
    let is_named = end > 0 && name.get(..end)?.iter().all(is_name);
    name.get(end + 1..)?
        .strip_prefix(b": ")
        .filter(|_| is_named)
}

fn push_string(text: &[u8], out: &mut Vec<u8>) {
    let text = String::from_utf8_lossy(text);
    if let Ok(json) = serde_json::to_string(&text) {
        out.extend_from_slice(json.as_bytes());
    }
}

#[cfg(test)]
mod tests;
