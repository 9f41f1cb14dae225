//! A recorded message, in which values of this run replace those of the recording.
//!
//! ```text
//!   recorded   -> {"id":4,...}      <- {"id":4,"result":1}        slot: at `id`, from the request at `id`
//!   this run   -> {"id":7,...}      <- {"id":7,"result":1}
//! ```

use super::fill::{Fill, with_json};
use crate::diff::{Val, WalkedValue, walk};
use crate::live::names::write;
use crate::path::Path;
use std::collections::HashMap;

/// A recorded message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    /// The message, as `decode -f json` shows it.
    pub text: String,
    /// The values that differ in each run, in the order of the text.
    pub slots: Vec<Slot>,
}

/// A value that differs in each run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Its path; of a key, the path of its map.
    pub path: Path,
    /// Its position, and its recorded value.
    pub spot: WalkedValue,
    /// The source of its value.
    pub source: ValueSource,
}

/// The source of a value of this run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueSource {
    /// The request.
    Request(Path),
    /// The answer to the n-th call of the rule, counted from 0.
    Call(usize, Path),
    /// The n-th call itself, such as its id.
    Sent(usize, Path),
}

/// A value of a message that a script replaces: its path, its text if it is a key, and the source.
pub type Replacement = (Path, Option<String>, ValueSource);

impl Template {
    /// Finds the values of a message that are replaced. The error names a value that the message does not have.
    pub fn new(text: String, replaced: Vec<Replacement>) -> Result<Self, String> {
        let replaced = replaced
            .into_iter()
            .map(|(path, key, source)| ((path, key), source));
        let mut replaced: HashMap<_, _> = replaced.collect();
        let mut slots = Vec::new();
        walk(&text, &mut |path, spot| {
            let own = text.get(spot.span.at()..spot.span.end());
            let key = own.filter(|_| spot.is_key).map(str::to_owned);
            if let Some(source) = replaced.remove(&(path.clone(), key)) {
                slots.push(Slot {
                    path: path.clone(),
                    spot,
                    source,
                });
            }
        });
        if let Some((path, _)) = replaced.into_keys().next() {
            return Err(format!("the message has no value to replace at {path}"));
        }
        Ok(Self { text, slots })
    }

    /// Returns the message with the values of this run. A value that this run does not have stays as recorded.
    pub fn fill(&self, from: &Fill<'_>) -> String {
        let value = |text: &str, path: &Path| {
            let found = with_json(text, |root| Val::of(path.find(root)?));
            found.ok().flatten()
        };
        let mut out = String::with_capacity(self.text.len());
        let mut done = 0;
        for Slot { spot, source, .. } in &self.slots {
            let now = match source {
                ValueSource::Request(path) => value(from.request, path),
                ValueSource::Call(n, path) => {
                    let call = from.calls.get(*n).and_then(|call| call.answer.as_ref());
                    call.and_then(|answer| value(answer, path))
                }
                ValueSource::Sent(n, path) => {
                    let call = from.calls.get(*n);
                    call.and_then(|call| value(&call.sent, path))
                }
            };
            let (start, end) = (spot.span.at(), spot.span.end());
            if let Some(now) = now.filter(|now| *now != spot.val && start >= done) {
                let old = self.text.get(start..end).unwrap_or_default();
                out.push_str(self.text.get(done..start).unwrap_or_default());
                out.push_str(&write(&now, spot.form, old));
                done = end;
            }
        }
        out.push_str(self.text.get(done..).unwrap_or_default());
        out
    }
}
