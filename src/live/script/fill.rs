//! The sources of the open values of a script.

use crate::encoding::json;
use crate::tape::{Node, Tape};

/// The maximum depth of a value.
const DEPTH: u32 = 128;

/// The sources of open values.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fill<'f> {
    /// The request, as JSON.
    pub request: &'f str,
    /// The answer to the last request of the rule, as JSON.
    pub answer: Option<&'f str>,
    /// The calls of the rule so far, and their answers.
    pub calls: &'f [MadeCall],
    /// The number of uses of the rule, from 1.
    pub count: u64,
}

/// A call.
#[derive(Clone, Debug, Default)]
pub struct MadeCall {
    /// The index of its message, if it has an answer.
    pub index: Option<u64>,
    /// Its message, as JSON.
    pub sent: String,
    /// Its answer, as JSON.
    pub answer: Option<String>,
}

/// Parses JSON text and passes its root to `look`.
pub fn with_json<T>(text: &str, look: impl FnOnce(Node<'_>) -> T) -> Result<T, String> {
    let mut tape = Tape::new();
    let root = json::root(text.as_bytes(), DEPTH, &mut tape);
    root.map(look).map_err(|error| error.to_string())
}

/// Returns the method and the params of a call, if it has a method.
pub fn call(message: &str) -> Result<Option<(String, String)>, String> {
    with_json(message, |root| {
        let params = root
            .get("params")
            .map_or(&b"{}"[..], |params| params.span().of(params.bytes()));
        let params = String::from_utf8(params.to_vec());
        Some((root.get("method")?.text()?.into_owned(), params.ok()?))
    })
}
