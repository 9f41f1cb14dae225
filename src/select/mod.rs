//! Which messages are wanted: a small language over the keys of JSON output.
//!
//! ```text
//!   kind=call,cast  subject~"math.*"  latency>10ms  (fault or not .params.calldata[0]=0x1)
//!        '- one of           '- like       '- and        '- a place in the message
//! ```
//!
//! An [`Expr`] is parsed from text ([`str::parse`]), prints as text that reads back as the same, says what it needs of a
//! message ([`Expr::want`], [`Expr::needs_session`]), and is asked with [`Expr::holds`].
//!
//! - **Keys** are those of JSON output: `index conn dir time offset len body_offset body_len framing protocol kind role id
//!   subject message raw fault`, and `faults` (any fault's code), `findings` (names of rules, with or without the
//!   protocol before them), `reply_to` and `latency`. `.params.selector` and `message.params.calldata[0]` are places in
//!   the message; odd names stand in quotes, `.params["a b"]` or `.params."a b"`; of a key that is repeated, the last counts.
//! - A key alone asks whether it is there, and neither null nor false.
//! - `=` and `!=`: exactly one of a list, or none of it. `a!=b` is `not a=b`, so it also holds where `a` is absent.
//! - `~` and `!~`: like one of a list. `*` stands for any run of characters and the whole text is meant, as subjects are
//!   names with points in them, which a regular expression would take for any character; `/^math\./` is one.
//! - `<` `<=` `>` `>=`: numbers, never rounded; `latency` in `ns us ms s m h` (ms without), `len` and offsets with `K M G`,
//!   `time` as RFC 3339.
//! - `and`, `&&`, or nothing between them; `or`, `||`; `not`, `!`; parentheses.
//! - In a message a bare word is text, number, `true`, `false` or `null`, whichever is there; in quotes it is text. Bytes
//!   are compared as hex, arrays and maps as their JSON.

mod error;
mod evaluate;
mod expr;
mod key;
pub(crate) mod literal;
pub(crate) mod number;
mod parse;

use crate::conversation::Verdict;
use crate::decoder::Decoded;
use crate::encoding::Want;
pub use crate::path::{Path, Step};
use crate::protocol::{Direction, Role};
pub(crate) use crate::words::glob;
pub use error::ParseError;
pub use expr::{Expr, Operand, Order, Pattern, Test, What};
pub use key::{Key, Sort};

/// What a frame must be like, in the words of flags; what is left empty does not matter.
#[derive(Clone, Debug, Default)]
pub struct Select {
    /// One of these kinds; `*` stands for any run of characters.
    pub kinds: Vec<String>,
    /// One of these roles.
    pub roles: Vec<Role>,
    /// One of these ids, as shown; a JSON string with or without its quotes.
    pub ids: Vec<String>,
    /// One of these subjects; `*` stands for any run of characters.
    pub subjects: Vec<String>,
    /// This direction.
    pub direction: Option<Direction>,
    /// One of these connections.
    pub conns: Vec<u32>,
    /// Something is wrong with it.
    pub faults: bool,
    /// All of these hold.
    pub conditions: Vec<Expr>,
    /// This text stands in it: in the message as JSON, or in its bytes.
    pub grep: Option<String>,
}

impl Select {
    /// The same in the language of conditions; all but [`Select::grep`].
    pub fn expr(&self) -> Expr {
        let texts = |key, texts: Vec<&str>| {
            let list: Vec<_> = texts.into_iter().map(|t| Operand::Text(t.into())).collect();
            (!list.is_empty()).then(|| Expr::test(key, What::Is(list)))
        };
        let globs = |key, globs: &[String]| {
            let list: Vec<_> = globs.iter().cloned().map(Pattern::Glob).collect();
            (!list.is_empty()).then(|| Expr::test(key, What::Like(list)))
        };
        let conns = self.conns.iter().map(|n| Operand::Number(i128::from(*n)));
        let conns: Vec<_> = conns.collect();
        let flags = [
            globs(Key::Kind, &self.kinds),
            texts(Key::Role, self.roles.iter().map(|r| r.name()).collect()),
            texts(Key::Id, self.ids.iter().map(String::as_str).collect()),
            globs(Key::Subject, &self.subjects),
            texts(Key::Dir, self.direction.iter().map(|d| d.name()).collect()),
            (!conns.is_empty()).then(|| Expr::test(Key::Conn, What::Is(conns))),
            self.faults.then(|| Expr::test(Key::Fault, What::There)),
        ];
        Expr::all(
            flags
                .into_iter()
                .flatten()
                .chain(self.conditions.iter().cloned()),
        )
    }

    /// Ready to be asked.
    pub fn filter(&self) -> Filter {
        Filter {
            expr: self.expr(),
            grep: self.grep.clone(),
        }
    }
}

/// Which messages are wanted.
#[derive(Clone, Debug)]
pub struct Filter {
    expr: Expr,
    grep: Option<String>,
}

impl Default for Filter {
    /// All of them.
    fn default() -> Self {
        Select::default().filter()
    }
}

impl Filter {
    /// Whether nothing is asked.
    pub fn is_open(&self) -> bool {
        matches!(&self.expr, Expr::All(parts) if parts.is_empty()) && self.grep.is_none()
    }

    /// What it needs of a message.
    pub fn want(&self) -> Want {
        match self.expr.want() {
            Want::Head if self.grep.is_some() => Want::Text,
            want => want,
        }
    }

    /// Whether it asks what only a conversation knows.
    pub fn needs_session(&self) -> bool {
        self.expr.needs_session()
    }

    /// Whether a message is wanted. `scratch` is room to search in, kept from message to message.
    #[inline]
    pub fn matches(
        &self,
        decoded: &Decoded<'_>,
        verdict: Option<Verdict<'_>>,
        scratch: &mut Vec<u8>,
    ) -> bool {
        self.is_open()
            || self.expr.holds(decoded, verdict, scratch)
                && self
                    .grep
                    .as_deref()
                    .is_none_or(|text| contains(decoded, text, scratch))
    }
}

fn contains(decoded: &Decoded<'_>, text: &str, scratch: &mut Vec<u8>) -> bool {
    scratch.clear();
    decoded.write_message(scratch);
    let bytes = decoded.frame.view.bytes;
    [scratch.as_slice(), bytes]
        .into_iter()
        .any(|hay| memchr::memmem::find(hay, text.as_bytes()).is_some())
}

#[cfg(test)]
mod tests;
