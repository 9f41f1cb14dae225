//! What values of a script are filled in from.

use crate::encoding::json;
use crate::span::Span;
use crate::tape::{Node, Tape};

/// Deepest value that is read.
const DEPTH: u32 = 128;

/// What open places are filled in from.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fill<'f> {
    /// The request, as JSON.
    pub request: &'f str,
    /// The answer to what was asked last, as JSON.
    pub answer: Option<&'f str>,
    /// Calls of a recording that were made meanwhile, and their answers.
    pub calls: &'f [Call],
    /// How often the rule has been used, from 1.
    pub count: u64,
}

/// A call that was made: its index, and its answer as JSON.
pub type Call = (Option<u64>, Option<String>);

/// Shows a JSON text's root.
pub fn with_json<T>(text: &str, look: impl FnOnce(Node<'_>) -> T) -> Result<T, String> {
    let mut tape = Tape::new();
    let whole = Span::new(0, text.len());
    json::parse(text.as_bytes(), whole, DEPTH, &mut tape).map_err(|error| error.to_string())?;
    let root = tape.root(text.as_bytes());
    root.map(look).ok_or_else(|| "nothing".to_owned())
}

/// The method and the params of a call, where it has them.
pub fn call(message: &str) -> Result<Option<(String, String)>, String> {
    with_json(message, |root| {
        let params = root.get("params")?;
        let params = String::from_utf8(params.span().of(params.bytes()).to_vec());
        Some((root.get("method")?.text()?.into_owned(), params.ok()?))
    })
}
