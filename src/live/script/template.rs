//! A recorded message, in which values of this run replace those of the recording.
//!
//! ```text
//!   recorded   -> {"id":4,...}      <- {"id":4,"result":1}        slot: at `id`, from the request at `id`
//!   this run   -> {"id":7,...}      <- {"id":7,"result":1}
//! ```

use super::fill::{Fill, with_json};
use crate::diff::{WalkedValue, walk};
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
    /// Over HTTP it is an event of the stream that the client has opened, and is in no response.
    pub is_event: bool,
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
    /// The value is written in its recorded form, not in that of the source.
    pub keeps_form: bool,
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

/// A value of a message that a script replaces.
#[derive(Clone, Debug)]
pub struct Replacement {
    /// Its path; of a key, the path of its map.
    pub at: Path,
    /// Its text, if it is a key.
    pub key: Option<String>,
    /// The source of its value.
    pub source: ValueSource,
    /// The value is written in its recorded form, not in that of the source.
    pub keeps_form: bool,
}

impl Template {
    /// Finds the values of a message that are replaced. The error names a value that the message does not have.
    pub fn new(text: String, replaced: Vec<Replacement>) -> Result<Self, String> {
        let replaced = replaced.into_iter().map(|one| {
            let value = (one.source, one.keeps_form);
            ((one.at, one.key), value)
        });
        let mut replaced: HashMap<_, _> = replaced.collect();
        let mut slots = Vec::new();
        walk(&text, &mut |path, spot| {
            let own = text.get(spot.span.at()..spot.span.end());
            let key = own.filter(|_| spot.is_key).map(str::to_owned);
            if let Some((source, keeps_form)) = replaced.remove(&(path.clone(), key)) {
                slots.push(Slot {
                    path: path.clone(),
                    spot,
                    source,
                    keeps_form,
                });
            }
        });
        if let Some((path, _)) = replaced.into_keys().next() {
            return Err(format!("the message has no value to replace at {path}"));
        }
        let is_event = false;
        Ok(Self {
            text,
            slots,
            is_event,
        })
    }

    /// Returns `false` if all that ties the message to its request are values that this request does not have, such as the
    /// token of progress that nobody asked for.
    pub fn is_of(&self, from: &Fill<'_>) -> bool {
        let is_found = |slot: &Slot| match &slot.source {
            ValueSource::Request(path) => {
                with_json(from.request, |root| path.find(root).is_some()).unwrap_or_default()
            }
            ValueSource::Call(..) | ValueSource::Sent(..) => true,
        };
        self.slots.is_empty() || self.slots.iter().any(is_found)
    }

    /// Returns the message with the values of this run. A value that this run does not have stays as recorded.
    pub fn fill(&self, from: &Fill<'_>) -> String {
        // The value, and its text in the message.
        let value = |text: &str, path: &Path| {
            let found = with_json(text, |root| WalkedValue::of(path.find(root)?));
            let found = found.ok().flatten()?;
            let own = text.get(found.span.at()..found.span.end())?;
            Some((found.val, own.to_owned()))
        };
        let mut out = String::with_capacity(self.text.len());
        let mut done = 0;
        for slot in &self.slots {
            let spot = &slot.spot;
            let now = match &slot.source {
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
            if let Some((now, own)) = now.filter(|_| start >= done) {
                let old = self.text.get(start..end).unwrap_or_default();
                out.push_str(self.text.get(done..start).unwrap_or_default());
                if slot.keeps_form || spot.is_key {
                    out.push_str(&write(&now, spot.form, old));
                } else {
                    out.push_str(&own);
                }
                done = end;
            }
        }
        out.push_str(self.text.get(done..).unwrap_or_default());
        out
    }
}

#[cfg(test)]
mod tests {
    use super::{Fill, Replacement, Template, ValueSource};

    /// A peer may write one UUID as bytes in one place and as text in another.
    #[test]
    fn a_uuid_has_the_form_of_its_source_or_the_recorded_one() {
        let bytes = r#"{"$bin":"0198c1c000007000800000000000abcd"}"#;
        let text = r#""0198c1c0-0000-7000-8000-00000000abcd""#;
        let old = r#"{"$bin":"0000000000000000000000000000000f"}"#;
        for (keeps_form, recorded, source, want) in [
            (false, old, bytes, bytes),
            (false, old, text, text),
            (false, "7", text, text),
            (true, old, text, bytes),
            (true, old, bytes, bytes),
        ] {
            let replaced = vec![Replacement {
                at: "id".parse().unwrap(),
                key: None,
                source: ValueSource::Request("id".parse().unwrap()),
                keeps_form,
            }];
            let message = |id: &str| format!(r#"{{"id":{id}}}"#);
            let template = Template::new(message(recorded), replaced).unwrap();
            let from = Fill {
                request: &message(source),
                ..Fill::default()
            };
            assert_eq!(template.fill(&from), message(want), "{keeps_form} {source}");
        }
    }
}
