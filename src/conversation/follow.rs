//! Checks a whole recording in one call.
//!
//! ```text
//!   recording ---> CaptureInput ---> Pipeline ---> sink(message, verdict), at the end sink(none, verdict)
//!                        '---------> Summary
//! ```

use super::pipeline::{Pipeline, PipelineSink};
use super::{Conversation, Finding, Judge, Verdict};
use crate::capture::{CaptureInput, Event, Form, Item, Problem, ProblemSeverity};
use crate::decoder::{DecodeOptions, Decoded, Decoder};
use crate::protocol::Protocol;
use crate::protocol::session::SessionConfig;

/// A summary of a recording.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Summary {
    /// Messages, including faulty ones and those of the transport.
    pub messages: u64,
    /// The protocol, named by the recording or recognised.
    pub protocol: Option<&'static str>,
    /// Bytes that no protocol recognises.
    pub undetected: usize,
    /// The first 1,000 problems of the recording itself, such as unreadable lines and a missing end.
    pub problems: Vec<Problem>,
    /// The number of errors among all problems.
    pub errors: u64,
}

/// Maximum number of problems in a summary.
const MAX_PROBLEMS: usize = 1000;

impl Summary {
    /// Returns `true` if all of the recording was read: no unreadable line, no unrecognised bytes. A truncated end is
    /// no error.
    pub fn is_whole(&self) -> bool {
        self.undetected == 0 && self.errors == 0
    }
}

/// Receives each message and the end, with the verdict.
pub type MessageSink<'t, E> = dyn FnMut(Option<&Decoded<'_>>, Verdict<'_>) -> Result<(), E> + 't;

/// Follows a complete recording. Calls `sink` with each message and, last, with the end. An error of `sink` ends the
/// run and is returned.
/// it and is returned.
///
/// ```
/// use std::convert::Infallible;
/// use wiretool::conversation::{Judge, find_rule, follow};
/// use wiretool::decoder::DecodeOptions;
/// use wiretool::protocol::registry;
/// use wiretool::protocol::session::SessionConfig;
///
/// let (_, rule) = find_rule("saikuro/seq-gap").unwrap();
/// let recording = rule.example.unwrap().fires;
/// let options = DecodeOptions::new(registry::all().to_vec());
/// let mut found = Vec::new();
/// let Ok(summary) = follow::<Infallible>(recording.as_bytes(), &options, &Judge::default(), SessionConfig::default(), &mut |_, verdict| {
///     found.extend(verdict.findings.iter().map(|f| format!("{}: {}", f.name(), f.text)));
///     Ok(())
/// });
/// assert!(summary.is_whole());
/// assert_eq!(found, ["saikuro/seq-gap: seq is 2; it should be 1, after #1"]);
/// ```
pub fn follow<E>(
    recording: &[u8],
    options: &DecodeOptions<'_>,
    judge: &Judge,
    config: SessionConfig,
    sink: &mut MessageSink<'_, E>,
) -> Result<Summary, E> {
    let decoder = Decoder::new(options.clone());
    let conversation = Conversation::new(&options.protocols, judge, config, true);
    let mut pipeline = Pipeline::new(decoder, Some(conversation));
    let mut follower = Follower {
        sink,
        summary: Summary::default(),
    };
    pipeline.is_recording = true;
    let mut input = CaptureInput::new(Form::Recording);
    let mut result = Ok(());
    for part in recording.chunks(PART_BYTES).map(Some).chain([None]) {
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
    let Follower { sink, mut summary } = follower;
    if let Some(mut conversation) = pipeline.conversation {
        sink(None, conversation.finish())?;
        summary.protocol = conversation.protocol().map(Protocol::name);
    }
    summary.messages = pipeline.decoder.index();
    summary.undetected = pipeline.decoder.undetected();
    Ok(summary)
}

/// Bytes of the recording that are read at once; at most these are read after an error.
const PART_BYTES: usize = 1 << 20;

struct Follower<'f, 't, E> {
    sink: &'f mut MessageSink<'t, E>,
    summary: Summary,
}

impl<E> PipelineSink for Follower<'_, '_, E> {
    type Error = E;

    fn message(&mut self, decoded: &Decoded<'_>, verdict: Option<Verdict<'_>>) -> Result<(), E> {
        (self.sink)(Some(decoded), verdict.unwrap_or_default())
    }

    fn event(&mut self, _: &Event<'_>, findings: &[Finding]) -> Result<(), E> {
        if findings.is_empty() {
            return Ok(());
        }
        (self.sink)(
            None,
            Verdict {
                findings,
                ..Verdict::default()
            },
        )
    }

    fn problem(&mut self, problem: &Problem) {
        let summary = &mut self.summary;
        summary.errors += u64::from(problem.severity == ProblemSeverity::Error);
        if summary.problems.len() < MAX_PROBLEMS {
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
        let options = DecodeOptions::new(registry::all().to_vec());
        let judge = Judge::default();
        let mut sink = |_: Option<&Decoded<'_>>, _: Verdict<'_>| Ok(());
        let Ok(summary) = follow::<Infallible>(
            recording.as_bytes(),
            &options,
            &judge,
            SessionConfig::default(),
            &mut sink,
        );
        summary
    }

    #[test]
    fn a_summary_counts_unreadable_input() {
        let head = "{\"wiretool\":1,\"started\":\"2026-01-01T00:00:00Z\",\"transport\":\"tcp\"}\n";
        let unreadable = summary(&format!("{head}{}", "x\n".repeat(3000)));
        assert_eq!((unreadable.errors, unreadable.is_whole()), (3000, false));
        assert_eq!(unreadable.problems.len(), MAX_PROBLEMS);

        let chunk = "{\"t\":0,\"conn\":1,\"dir\":\"c2s\",\"text\":\"no protocol\\n\"}\n";
        let unknown = summary(&format!("{head}{chunk}"));
        assert_eq!(
            (unknown.undetected, unknown.errors, unknown.is_whole()),
            (12, 0, false)
        );
    }
}
