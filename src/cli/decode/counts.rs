//! Counts the messages and faults of a source.

use crate::decoder::Decoded;
use crate::framing::Framing;
use crate::render::DisplayOptions;
use crate::render::style::Highlight;

#[derive(Default)]
pub(super) struct SourceCounts {
    messages: u64,
    pub faulty: u64,
    /// Lines without a direction that are no JSON: a program may have printed them beside the messages.
    others: u64,
    /// The first fault.
    first: Option<String>,
    /// The heading, until something is shown below it.
    pub heading: Option<String>,
}

impl SourceCounts {
    /// Creates the counts of a source with a heading; `follows`: other output precedes it.
    pub fn with_heading(name: &str, follows: bool, display: DisplayOptions) -> Self {
        let mut heading = String::from(if follows { "\n" } else { "" });
        let text = format!("==> {name} <==");
        display.style.push_wire(&mut heading, Highlight::Key, &text);
        heading.push('\n');
        Self {
            heading: Some(heading),
            ..Self::default()
        }
    }

    /// Counts a message.
    pub fn count(&mut self, decoded: &Decoded<'_>) {
        self.messages += 1;
        let Some((offset, fault)) = decoded.faults().next() else {
            return;
        };
        self.faulty += 1;
        let is_line = decoded.frame.framing == Framing::Lines && decoded.origin.direction.is_none();
        let is_other = is_line && matches!(fault.code, "bad-json" | "trailing-bytes");
        self.others += u64::from(is_other);
        self.first.get_or_insert_with(|| {
            let hint = fault.hint.as_ref().map(|h| format!(" ({h})"));
            format!("offset {offset}: {fault}{}", hint.unwrap_or_default())
        });
    }

    /// Returns the number of faults, and the first one if it is not shown elsewhere.
    pub fn fault_text(self, source: &str, is_shown: bool) -> Option<String> {
        let first = self.first?;
        let mut count = format!("{} of {} messages with faults", self.faulty, self.messages);
        if self.others == self.faulty && self.faulty < self.messages {
            count.push_str("; if they are lines of another program, --from log leaves them out");
        }
        Some(if is_shown {
            format!("{source}: {count}")
        } else {
            format!("{source}: {first}; {count}")
        })
    }
}
