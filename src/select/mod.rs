//! Selects messages: a small language over the keys of JSON output.
//!
//! ```text
//!   kind=call,cast  subject~"math.*"  latency>10ms  (fault or not .params.calldata[0]=0x1)
//!        '- one of           '- like       '- and        '- a path in the message
//! ```
//!
//! An [`Expr`] is parsed from text ([`str::parse`]), and prints as text that reads back as the same
//! condition. It reports the details that it needs ([`Expr::want`], [`Expr::needs_session`]), and
//! is evaluated by [`Expr::holds`].
//!
//! - **Keys** ([`Key`]) are those of JSON output, with `latency`, `faults` (any fault's code) and `findings` (names of rules, with or
//!   without the protocol before them). `.params.selector` and `message.params.calldata[0]` are paths in the message; other names
//!   need quotes, `.params["a b"]` or `.params."a b"`; of a repeated key, the last is used.
//! - A key alone is true if it is present, and neither null nor false.
//! - `=` and `!=`: exactly one of a list, or none of it. `a!=b` is `not a=b`, so it is also true if `a` is absent.
//! - `~` and `!~`: contains one of a list, or none of it. In a pattern with `*`, that matches any run of characters, and
//!   the pattern covers the whole text. Subjects contain points, which a regular expression would take for any character; `/^math\./` is one.
//! - `<` `<=` `>` `>=`: numbers, never rounded; `latency` in `ns us ms s m h`, `len` and offsets with `K M G`,
//!   `time` as RFC 3339, as a time of the first message's day (`10:04:24`), or after the first message (`0.5s`).
//! - `and`, `&&`, or no operator; `or`, `||`; `not`, `!`; parentheses.
//! - For a path in the message, a token without quotes is text, number, `true`, `false` or `null`, depending on the value;
//!   in quotes it is text. Bytes are compared as hex, arrays and maps as their JSON.

mod error;
mod escapes;
mod evaluate;
mod expr;
mod key;
pub(crate) mod literal;
pub(crate) mod number;
mod parse;

use crate::conversation::Verdict;
use crate::decoder::Decoded;
use crate::encoding::Want;
pub use crate::path::{Path, PathError, PathStep};
use crate::protocol::Direction;
use crate::render::line::shown;
pub(crate) use crate::words::glob;
pub use error::ParseError;
use escapes::without_escapes;
pub use expr::{Expr, KeyTest, Operand, Order, Test, TextPattern};
pub use key::{Key, KeySort};
#[cfg(feature = "described")]
pub(crate) use literal::duration;
#[cfg(feature = "described")]
pub(crate) use number::{Decimal, with_number};
use regex::bytes::Regex;
use std::sync::OnceLock;

/// A selection of frames by flags; an empty field selects everything.
#[derive(Clone, Debug, Default)]
pub struct Select {
    /// One of these kinds; `*` matches any run of characters.
    pub kinds: Vec<String>,
    /// One of these ids, as displayed; a JSON string with or without its quotes.
    pub ids: Vec<String>,
    /// One of these subjects; `*` matches any run of characters.
    pub subjects: Vec<String>,
    /// This direction.
    pub direction: Option<Direction>,
    /// All of these conditions are true.
    pub conditions: Vec<Expr>,
    /// It contains this text: in the message as JSON, in its bytes, or as screens show it.
    pub grep: Option<String>,
    /// It contains a match of this expression, in the same places.
    pub grep_pattern: Option<Regex>,
}

impl Select {
    /// Returns the selection as a condition, without [`Select::grep`].
    pub fn expr(&self) -> Expr {
        let texts = |key, texts: Vec<&str>| {
            let list: Vec<_> = texts.into_iter().map(|t| Operand::Text(t.into())).collect();
            (!list.is_empty()).then(|| Expr::test(key, KeyTest::Is(list)))
        };
        let globs = |key: Key, globs: &[String]| {
            let (globs, words): (Vec<_>, Vec<_>) =
                globs.iter().partition(|glob| glob.contains('*'));
            let globs: Vec<_> = globs.into_iter().cloned().map(TextPattern::Glob).collect();
            let like = (!globs.is_empty()).then(|| Expr::test(key.clone(), KeyTest::Like(globs)));
            let is = texts(key, words.into_iter().map(String::as_str).collect());
            let parts: Vec<_> = is.into_iter().chain(like).collect();
            (!parts.is_empty()).then(|| Expr::any(parts))
        };
        let flags = [
            globs(Key::Kind, &self.kinds),
            texts(Key::Id, self.ids.iter().map(String::as_str).collect()),
            globs(Key::Subject, &self.subjects),
            texts(Key::Dir, self.direction.iter().map(|d| d.name()).collect()),
        ];
        Expr::all(
            flags
                .into_iter()
                .flatten()
                .chain(self.conditions.iter().cloned()),
        )
    }

    /// Creates a filter.
    pub fn filter(&self) -> Filter {
        let expr = self.expr().of_answers();
        Filter {
            is_relative: expr.is_relative(),
            since: OnceLock::new(),
            expr,
            grep: self.grep.clone(),
            grep_pattern: self.grep_pattern.clone(),
        }
    }
}

/// A filter of messages.
#[derive(Clone, Debug)]
pub struct Filter {
    expr: Expr,
    /// Its times depend on that of the first message.
    is_relative: bool,
    /// The condition, once that time is known.
    since: OnceLock<Expr>,
    grep: Option<String>,
    grep_pattern: Option<Regex>,
}

impl Default for Filter {
    /// Selects all messages.
    fn default() -> Self {
        Select::default().filter()
    }
}

impl Filter {
    /// Returns `true` if it selects all messages.
    pub(crate) fn is_open(&self) -> bool {
        matches!(&self.expr, Expr::All(parts) if parts.is_empty())
            && self.grep.is_none()
            && self.grep_pattern.is_none()
    }

    /// Returns the details that it needs of a message.
    pub fn want(&self) -> Want {
        let want = self.expr.want();
        match self.grep.as_deref() {
            _ if self.grep_pattern.is_some() => Want::Places,
            Some(text) if is_notation(text) => Want::Places,
            Some(_) if want == Want::Head => Want::Text,
            _ => want,
        }
    }

    /// Returns the condition.
    #[cfg(feature = "cli")]
    pub(crate) fn expr(&self) -> &Expr {
        &self.expr
    }

    /// Returns the text that messages must contain.
    #[cfg(feature = "cli")]
    pub(crate) fn grep(&self) -> Option<&str> {
        self.grep.as_deref()
    }

    /// Returns `true` if it depends on the conversation.
    pub fn needs_session(&self) -> bool {
        self.expr.needs_session()
    }

    /// Returns `true` if it depends on operations.
    #[cfg(feature = "cli")]
    pub(crate) fn needs_operations(&self) -> bool {
        self.expr.needs_operations()
    }

    /// Returns `true` if a message is selected. `scratch` is a buffer that is reused.
    #[inline]
    pub fn matches(
        &self,
        decoded: &Decoded<'_>,
        verdict: Option<Verdict<'_>>,
        scratch: &mut Vec<u8>,
    ) -> bool {
        if self.is_open() {
            return true;
        }
        let expr = match decoded.origin.time {
            Some(first) if self.is_relative => {
                self.since.get_or_init(|| self.expr.since(first.into()))
            }
            _ => &self.expr,
        };
        expr.holds(decoded, verdict, scratch) && self.greps(decoded, verdict, scratch)
    }

    /// Returns `true` if the texts of `grep` are in a message.
    fn greps(
        &self,
        decoded: &Decoded<'_>,
        verdict: Option<Verdict<'_>>,
        scratch: &mut Vec<u8>,
    ) -> bool {
        let text = self.grep.as_deref().is_none_or(|text| {
            let is_in = |hay: &[u8]| memchr::memmem::find(hay, text.as_bytes()).is_some();
            contains(decoded, verdict, is_notation(text), &is_in, scratch)
        });
        text && self.grep_pattern.as_ref().is_none_or(|pattern| {
            contains(
                decoded,
                verdict,
                true,
                &|hay| pattern.is_match(hay),
                scratch,
            )
        })
    }
}

/// Returns `true` if a message contains something: as JSON, in its bytes, or as screens show it.
fn contains(
    decoded: &Decoded<'_>,
    verdict: Option<Verdict<'_>>,
    is_shown: bool,
    is_in: &dyn Fn(&[u8]) -> bool,
    scratch: &mut Vec<u8>,
) -> bool {
    scratch.clear();
    decoded.write_message(scratch);
    is_in(scratch)
        || is_in(decoded.frame.view.bytes)
        || without_escapes(scratch).is_some_and(|text| is_in(&text))
        || is_shown && is_in(shown(decoded, verdict).as_bytes())
}

/// Returns true if screens may show a text that the bytes do not contain, such as `isError: true`: it is no single word.
pub(crate) fn is_notation(text: &str) -> bool {
    /// A longer text is pasted, not typed.
    const MAX_TYPED: usize = 200;
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    text.len() <= MAX_TYPED && !text.chars().all(is_word)
}

#[cfg(test)]
mod tests;
