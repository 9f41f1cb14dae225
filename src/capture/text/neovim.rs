//! The log of Neovim's language client, which prints messages as Lua tables.
//!
//! ```text
//!   [DEBUG][2026-11-23 11:15:43] .../vim/lsp/rpc.lua:347  "rpc.send"  {  id = 1,  jsonrpc = "2.0",  method = "shutdown"}
//!   [DEBUG][2026-11-23 11:15:43] .../vim/lsp/rpc.lua:454  "rpc.receive"  {  id = 1,  jsonrpc = "2.0",  result = vim.NIL}
//!   {"id":1,"jsonrpc":"2.0","method":"shutdown"}        the message, with members in the order of the log
//! ```

use super::escapes::Escapes;
use super::line::{Common, with_header};
use super::marks::Mark;
use crate::capture::chunk::{InputPlace, ItemSink, Problem};
use crate::capture::lines::{Line, LineForm};
use crate::protocol::Direction;
use std::collections::HashMap;

/// The maximum depth of tables.
const MAX_DEPTH: u32 = 1000;
/// The most bytes of a message; a table that is printed once may be in it several times.
const MAX_BYTES: usize = 64 << 20;

const ESCAPES: Escapes = Escapes {
    latin1: false,
    is_text: false,
    radix: 10,
};

#[derive(Default)]
pub(super) struct Neovim {
    common: Common,
}

impl Neovim {
    pub(super) fn new(quoted: bool) -> Self {
        Self {
            common: Common::new(quoted),
        }
    }
}

/// Returns the direction, the text before the message, and the message of a line.
fn split(line: &[u8]) -> Option<(Direction, &[u8], &[u8])> {
    let marks = [
        (&b"\"rpc.send\""[..], Direction::ToServer),
        (&b"\"rpc.receive\""[..], Direction::ToClient),
    ];
    let head = line.get(..400).unwrap_or(line);
    marks.into_iter().find_map(|(mark, direction)| {
        let at = memchr::memmem::find(head, mark)?;
        let table = line.get(at + mark.len()..)?.trim_ascii();
        let before = line.get(..at)?;
        table
            .starts_with(b"{")
            .then_some((direction, before, table))
    })
}

impl LineForm for Neovim {
    fn line(&mut self, line: Line<'_>, sink: &mut ItemSink<'_>) {
        let text = self.common.uncoloured(line.text).into_owned();
        let Some((direction, before, table)) = split(&text) else {
            return self.common.other(&text);
        };
        let Some(mut json) = Table::new(table).json() else {
            let text = "the Lua table is not complete; it is not read";
            let place = InputPlace::Line(line.number);
            return Problem::error(place, text.to_owned()).report(sink);
        };
        // Neovim leaves out the result null of an answer.
        let has = |key: &str| memchr::memmem::find(&json, key.as_bytes()).is_some();
        if !["\"method\":", "\"result\":", "\"error\":"]
            .into_iter()
            .any(has)
        {
            json.pop();
            json.extend_from_slice(b",\"result\":null}");
        }
        let mark = Mark {
            direction: Some(direction),
            ..self.common.marks.of(&text, before, b"")
        };
        self.common.emit(mark, &with_header(&json), sink);
    }

    fn ignored(&self) -> u64 {
        self.common.ignored
    }
}

/// A reader of Lua tables as `vim.inspect` prints them.
struct Table<'a> {
    rest: &'a [u8],
    out: Vec<u8>,
    /// Tables that are printed once, by number: `<1>{…}` and later `<table 1>`.
    known: HashMap<u64, Vec<u8>>,
    known_bytes: usize,
}

impl<'a> Table<'a> {
    fn new(text: &'a [u8]) -> Self {
        Self {
            rest: text,
            out: Vec::new(),
            known: HashMap::new(),
            known_bytes: 0,
        }
    }

    /// Returns the table as JSON; `None` if it is not a whole table.
    fn json(mut self) -> Option<Vec<u8>> {
        self.value(0)?;
        Some(self.out)
    }

    fn blanks(&mut self) {
        self.rest = self.rest.trim_ascii_start();
    }

    fn take(&mut self, text: &str) -> bool {
        let rest = self.rest.strip_prefix(text.as_bytes());
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn number(&mut self) -> Option<u64> {
        let len = self.rest.iter().take_while(|c| c.is_ascii_digit()).count();
        let (digits, rest) = self.rest.split_at_checked(len)?;
        self.rest = rest;
        std::str::from_utf8(digits).ok()?.parse().ok()
    }

    fn value(&mut self, depth: u32) -> Option<()> {
        if depth > MAX_DEPTH || self.out.len() > MAX_BYTES {
            return None;
        }
        self.blanks();
        if self.take("vim.empty_dict()") {
            self.out.extend_from_slice(b"{}");
        } else if self.take("vim.NIL") || self.take("nil") {
            self.out.extend_from_slice(b"null");
        } else if self.take("<table ") {
            let number = self.number()?;
            let known = self.known.get(&number).map_or(&b"null"[..], Vec::as_slice);
            self.out.extend_from_slice(known);
            return self.take(">").then_some(());
        } else if self.take("{") {
            return self.table(depth);
        } else if self.take("<") {
            let Some(number) = self.number() else {
                return self.opaque();
            };
            let start = self.out.len();
            if !self.take(">{") {
                return None;
            }
            self.table(depth)?;
            let table = self.out.get(start..)?.to_vec();
            self.known_bytes += table.len();
            if self.known_bytes <= MAX_BYTES {
                self.known.insert(number, table);
            }
        } else if matches!(self.rest.first(), Some(b'"' | b'\'')) {
            let text = self.string()?;
            self.push_string(&text);
        } else {
            self.scalar()?;
        }
        Some(())
    }

    /// Reads `<function 1>`, which JSON does not have.
    fn opaque(&mut self) -> Option<()> {
        let end = memchr::memchr(b'>', self.rest)?;
        let text = [b"<", self.rest.get(..=end)?].concat();
        self.rest = self.rest.get(end + 1..)?;
        self.push_string(&text);
        Some(())
    }

    /// Reads a number, `true` or `false`. Others, such as `inf`, become strings.
    fn scalar(&mut self) -> Option<()> {
        let ends = |c: &u8| matches!(c, b',' | b'}' | b']') || c.is_ascii_whitespace();
        let len = self.rest.iter().position(ends).unwrap_or(self.rest.len());
        let (text, rest) = self
            .rest
            .split_at_checked(len)
            .filter(|(t, _)| !t.is_empty())?;
        self.rest = rest;
        match serde_json::from_slice::<&serde_json::value::RawValue>(text) {
            Ok(_) => self.out.extend_from_slice(text),
            Err(_) => self.push_string(text),
        }
        Some(())
    }

    fn string(&mut self) -> Option<Vec<u8>> {
        let (&quote, text) = self.rest.split_first()?;
        let mut inner = Vec::new();
        self.rest = ESCAPES.read(text, Some(quote), &mut inner).rest?;
        Some(inner)
    }

    fn push_string(&mut self, text: &[u8]) {
        let text = String::from_utf8_lossy(text);
        self.out
            .extend_from_slice(serde_json::Value::from(text).to_string().as_bytes());
    }

    /// Reads the entries of a table and its end. A table with a key is an object.
    fn table(&mut self, depth: u32) -> Option<()> {
        let start = self.out.len();
        self.out.push(b'[');
        let (mut is_object, mut count) = (false, 0_u64);
        loop {
            self.blanks();
            if self.take("}") {
                break;
            }
            let (at, rest) = (self.out.len(), self.rest);
            if count > 0 {
                self.out.push(b',');
            }
            if self.key() {
                // Entries without a key come first, if there are both.
                if !is_object && count > 0 {
                    return None;
                }
                is_object = true;
                self.value(depth + 1)?;
                if rest.starts_with(b"<metatable>") {
                    self.out.truncate(at);
                    count = count.saturating_sub(1);
                }
            } else {
                self.value(depth + 1)?;
            }
            count += 1;
            self.blanks();
            if !self.take(",") && !self.rest.starts_with(b"}") {
                return None;
            }
        }
        let ends = if is_object && count > 0 {
            [b'{', b'}']
        } else {
            [b'[', b']']
        };
        *self.out.get_mut(start)? = ends[0];
        self.out.push(ends[1]);
        Some(())
    }

    /// Reads `name =`, `["name"] =` or `[1] =`, and writes the key. Returns `false` if there is no key.
    fn key(&mut self) -> bool {
        let before = self.rest;
        let key = if self.take("[") {
            let key = match self.rest.first() {
                Some(b'"' | b'\'') => self.string(),
                _ => self.number().map(|n| n.to_string().into_bytes()),
            };
            key.filter(|_| self.take("]"))
        } else {
            let is_name = |c: &u8| c.is_ascii_alphanumeric() || *c == b'_' || b"<>".contains(c);
            let len = self.rest.iter().take_while(|c| is_name(c)).count();
            let (name, rest) = self.rest.split_at_checked(len).unwrap_or_default();
            self.rest = rest;
            Some(name.to_vec()).filter(|name| !name.is_empty())
        };
        if let Some(key) = key
            && self.take(" = ")
        {
            self.push_string(&key);
            self.out.push(b':');
            return true;
        }
        self.rest = before;
        false
    }
}

#[cfg(test)]
mod tests {
    use super::Table;

    #[test]
    fn tables_become_json() {
        for (lua, json) in [
            ("{  id = 1,  ok = true}", r#"{"id":1,"ok":true}"#),
            (r#"{ "a", 'b"\n', -1.5 }"#, r#"["a","b\"\n",-1.5]"#),
            ("{}", "[]"),
            (
                "{  a = {},  b = vim.empty_dict(),  c = vim.NIL}",
                r#"{"a":[],"b":{},"c":null}"#,
            ),
            (
                r#"{  ["x-y"] = { {      end = 1    } },  [3] = "\1"}"#,
                "{\"x-y\":[{\"end\":1}],\"3\":\"\\u0001\"}",
            ),
            (
                "{  a = <1>{ 1 },  b = <table 1>,  c = <function 2>}",
                r#"{"a":[1],"b":[1],"c":"<function 2>"}"#,
            ),
            ("{  a = 1,  <metatable> = <2>{ 3 }}", r#"{"a":1}"#),
            ("{  a = inf}", r#"{"a":"inf"}"#),
        ] {
            let read = Table::new(lua.as_bytes()).json().unwrap();
            assert_eq!(String::from_utf8(read).unwrap(), json, "{lua}");
        }
        for cut in ["{  a = ", "{ 1, 2", "{  a = \"x", "{ 1  2 }", "{ <1>"] {
            assert_eq!(Table::new(cut.as_bytes()).json(), None, "{cut}");
        }
    }
}
