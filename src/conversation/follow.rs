//! A whole recording, followed at once.
//!
//! ```text
//!   recording ---> Input ---> Pipeline ---> tell(message, verdict), at the end tell(none, verdict)
//!                    '------> Summary
//! ```

use super::pipeline::{Pipeline, Sink};
use super::{Conversation, Finding, Judge, Verdict};
use crate::capture::{Event, Form, Input, Item, Problem, Severity};
use crate::decoder::{Decoded, Decoder, Options};
use crate::protocol::Protocol;
use crate::protocol::session::SessionConfig;

/// How a recording could be read.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Summary {
    /// Messages, with faulty ones and those of the transport.
    pub messages: u64,
    /// The protocol, named by the recording or recognised.
    pub protocol: Option<&'static str>,
    /// Bytes that no protocol recognises.
    pub undetected: usize,
    /// Lines that cannot be read, a missing end, and whatever else is to be said of the recording itself: the first 1,000.
    pub problems: Vec<Problem>,
    /// Errors among all problems.
    pub errors: u64,
}

/// Problems that a summary lists.
const LISTED: usize = 1000;

impl Summary {
    /// Whether all of the recording was read: no unreadable line, no unrecognised bytes. A torn end is no error.
    pub fn is_whole(&self) -> bool {
        self.undetected == 0 && self.errors == 0
    }
}

/// Is told of each message, and of the end, with what there is to say of it.
pub type Tell<'t, E> = dyn FnMut(Option<&Decoded<'_>>, Verdict<'_>) -> Result<(), E> + 't;

/// Follows a recording that is at hand as a whole, and tells of each message and, last, of the end. An error of `tell` ends
/// it and is returned.
///
/// ```
/// use std::convert::Infallible;
/// use wiretool::conversation::{Judge, find_rule, follow};
/// use wiretool::decoder::Options;
/// use wiretool::protocol::registry;
/// use wiretool::protocol::session::SessionConfig;
///
/// let (_, rule) = find_rule("saikuro/seq-gap").unwrap();
/// let recording = rule.example.unwrap().fires;
/// let options = Options::new(registry::all().to_vec());
/// let mut found = Vec::new();
/// let Ok(summary) = follow::<Infallible>(recording.as_bytes(), &options, &Judge::default(), SessionConfig::default(), &mut |_, verdict| {
///     found.extend(verdict.findings.iter().map(|f| format!("{}: {}", f.name(), f.text)));
///     Ok(())
/// });
/// assert!(summary.is_whole());
/// assert_eq!(found, ["saikuro/seq-gap: seq is 2, 1 should follow #1"]);
/// ```
pub fn follow<E>(
    recording: &[u8],
    options: &Options<'_>,
    judge: &Judge,
    config: SessionConfig,
    tell: &mut Tell<'_, E>,
) -> Result<Summary, E> {
    let decoder = Decoder::new(options.clone());
    let conversation = Conversation::new(&options.protocols, judge, config, true);
    let mut pipeline = Pipeline::new(decoder, Some(conversation));
    let mut follower = Follower {
        tell,
        summary: Summary::default(),
    };
    pipeline.is_recording = true;
    let mut input = Input::new(Form::Recording);
    let mut result = Ok(());
    for part in recording.chunks(PART).map(Some).chain([None]) {
        let mut item = |item: Item<'_>| {
            if result.is_ok() {
                result = pipeline.item(&item, &mut follower);
            }
        };
        match part {
            Some(part) => input.push(part, &mut item),
            None => input.finish(&mut item),
        }
        std::mem::replace(&mut result, Ok(()))?;
    }
    pipeline.finish(true, &mut follower)?;
    let Follower { tell, mut summary } = follower;
    if let Some(mut conversation) = pipeline.conversation {
        tell(None, conversation.finish())?;
        summary.protocol = conversation.protocol().map(Protocol::name);
    }
    summary.messages = pipeline.decoder.index();
    summary.undetected = pipeline.decoder.undetected();
    Ok(summary)
}

/// Bytes of the recording that are read at most after an error.
const PART: usize = 1 << 20;

struct Follower<'f, 't, E> {
    tell: &'f mut Tell<'t, E>,
    summary: Summary,
}

impl<E> Sink for Follower<'_, '_, E> {
    type Error = E;

    fn message(&mut self, decoded: &Decoded<'_>, verdict: Option<Verdict<'_>>) -> Result<(), E> {
        (self.tell)(Some(decoded), verdict.unwrap_or_default())
    }

    fn event(&mut self, _: &Event<'_>, findings: &[Finding]) -> Result<(), E> {
        if findings.is_empty() {
            return Ok(());
        }
        (self.tell)(
            None,
            Verdict {
                findings,
                ..Verdict::default()
            },
        )
    }

    fn problem(&mut self, problem: &Problem) {
        let summary = &mut self.summary;
        summary.errors += u64::from(problem.severity == Severity::Error);
        if summary.problems.len() < LISTED {
            summary.problems.push(problem.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::registry;
    use std::convert::Infallible;

    fn summary(recording: &str) -> Summary {
        let options = Options::new(registry::all().to_vec());
        let judge = Judge::default();
        let mut tell = |_: Option<&Decoded<'_>>, _: Verdict<'_>| Ok(());
        let Ok(summary) = follow::<Infallible>(
            recording.as_bytes(),
            &options,
            &judge,
            SessionConfig::default(),
            &mut tell,
        );
        summary
    }

    #[test]
    fn a_summary_says_what_could_not_be_read() {
        let head = "{\"wiretool\":1,\"started\":\"2026-01-01T00:00:00Z\",\"transport\":\"tcp\"}\n";
        let unreadable = summary(&format!("{head}{}", "x\n".repeat(3000)));
        assert_eq!((unreadable.errors, unreadable.is_whole()), (3000, false));
        assert_eq!(unreadable.problems.len(), LISTED);

        let chunk = "{\"t\":0,\"conn\":1,\"dir\":\"c2s\",\"text\":\"no protocol\\n\"}\n";
        let unknown = summary(&format!("{head}{chunk}"));
        assert_eq!(
            (unknown.undetected, unknown.errors, unknown.is_whole()),
            (12, 0, false)
        );
    }
}
