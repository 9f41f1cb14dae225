//! Checks a whole recording in one call.
//!
//! ```text
//!   recording ---> Run ---> sink(message, verdict), at the end sink(none, verdict)
//!                   '-----> Summary
//! ```

use super::{Conversation, Judge, Output, Run, Verdict};
use crate::capture::{CaptureInput, Form, Problem, ProblemSeverity};
use crate::decoder::{DecodeOptions, Decoded, Decoder};
use crate::protocol::Protocol;
use crate::protocol::session::SessionConfig;
use std::ops::ControlFlow;

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

    fn add(&mut self, problem: &Problem) {
        self.errors += u64::from(problem.severity == ProblemSeverity::Error);
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(problem.clone());
        }
    }
}

/// Receives each message and the end, with the verdict.
pub type MessageSink<'t, E> = dyn FnMut(Option<&Decoded<'_>>, Verdict<'_>) -> Result<(), E> + 't;

/// Follows a complete recording. Calls `sink` with each message and, last, with the end. An error of `sink` ends the
/// run and is returned.
///
/// ```
/// use std::convert::Infallible;
/// use wiretool::conversation::{Judge, find_rule, follow};
/// use wiretool::decoder::DecodeOptions;
/// use wiretool::protocol::registry;
/// use wiretool::protocol::session::SessionConfig;
///
/// let (_, rule) = find_rule("saikuro/seq-gap").unwrap();
/// let recording = rule.example().unwrap().fires;
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
    let input = CaptureInput::new(Form::Recording);
    let mut run = Run::new(input, decoder, Some(conversation));
    let mut summary = Summary::default();
    let mut take = |output: Output<'_>| {
        let result = match output {
            Output::Message(message, verdict) => sink(Some(message), verdict),
            Output::Event(_, findings) if !findings.is_empty() => sink(
                None,
                Verdict {
                    findings,
                    ..Verdict::default()
                },
            ),
            Output::End(verdict) => sink(None, verdict),
            Output::Problem(problem) => {
                summary.add(problem);
                Ok(())
            }
            _ => Ok(()),
        };
        result.map_or_else(ControlFlow::Break, ControlFlow::Continue)
    };
    let mut rest = recording;
    if let ControlFlow::Break(error) = run.read(&mut rest, &mut take) {
        return Err(error);
    }
    if let ControlFlow::Break(error) = run.finish(&mut take) {
        return Err(error);
    }
    summary.protocol = run
        .conversation()
        .and_then(Conversation::protocol)
        .map(Protocol::name);
    summary.messages = run.decoder().index();
    summary.undetected = run.decoder().undetected();
    Ok(summary)
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
