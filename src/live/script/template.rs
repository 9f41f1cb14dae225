//! A recorded message, in which values of this run stand for those of the recording.
//!
//! ```text
//!   recorded   → {"id":4,…}      ← {"id":4,"result":1}        slot: at `4`, from the request at `id`
//!   this run   → {"id":7,…}      ← {"id":7,"result":1}
//! ```

use super::fill::{Fill, with_json};
use crate::diff::{Spot, Val};
use crate::live::names::write;
use crate::path::Path;

/// A recorded message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    /// As `decode -f json` shows it.
    pub text: String,
    /// Its kind.
    pub kind: String,
    /// Values that are others in each run, in order.
    pub slots: Vec<Slot>,
}

/// A value that is another one in each run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Where it stands, and what it was.
    pub spot: Spot,
    /// Where it comes from.
    pub source: Source,
}

/// Where a value of this run comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// From the request.
    Request(Path),
    /// From the answer to this one of the calls that were made meanwhile.
    Call(usize, Path),
}

impl Template {
    /// The message with the values of this run; what this run does not have is as it was.
    pub fn fill(&self, from: &Fill<'_>) -> String {
        let value = |text: &str, path: &Path| {
            let found = with_json(text, |root| Val::of(path.find(root)?));
            found.ok().flatten()
        };
        let mut out = String::with_capacity(self.text.len());
        let mut done = 0;
        for Slot { spot, source } in &self.slots {
            let now = match source {
                Source::Request(path) => value(from.request, path),
                Source::Call(n, path) => {
                    let call = from.calls.get(*n).and_then(|(_, answer)| answer.as_ref());
                    call.and_then(|answer| value(answer, path))
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
