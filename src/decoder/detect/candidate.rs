//! A pair of protocol and framing that [`super::detect`] tries, and its score.

use crate::encoding::Parsed;
use crate::framing::{Fault, Frame, Framer, Framing, Head, Step};
use crate::protocol::{Context, Direction, Evidence, Message, Protocol, Role};
use crate::span::Span;

/// The number of requests and notifications that make the fallback protocol likely enough. Answers look the same in every
/// protocol of the family.
const LIKELY: u32 = 3;

/// A protocol and a framing that read the stream on trial.
pub(super) struct Candidate<'p> {
    pub(super) protocol: &'p dyn Protocol,
    pub(super) framing: Framing,
    pub(super) framer: Framer,
    pub(super) at: usize,
    pub(super) score: Score,
    /// The number of bytes before gaps in which it understood nothing.
    pub(super) unread: usize,
    /// Another pair of the protocol reads lines.
    pub(super) yields_to_lines: bool,
    /// Peers of the protocol use the framing.
    pub(super) is_usual: bool,
    /// It understood nothing so far, and others may: it reads on if they do not.
    pub(super) is_paused: bool,
}

/// What a pair has understood.
#[derive(Default)]
pub(super) struct Score {
    pub(super) certain: u32,
    pub(super) possible: u32,
    /// Possible messages that are requests or notifications.
    pub(super) asked: u32,
    pub(super) faults: u32,
    /// Complete messages of other protocols.
    pub(super) foreign: u32,
    /// Messages that are evidence only together, and those of them that ask for an answer and that are one.
    pub(super) weak: u32,
    pub(super) weak_requests: u32,
    pub(super) weak_answers: u32,
    /// Such requests and answers of the other direction.
    pub(super) weak_beside: u32,
    /// One of them is a request.
    pub(super) has_request_beside: bool,
    /// Malformed messages that surely belong to the protocol.
    pub(super) broken: u32,
    /// Frames without the header of their framing.
    pub(super) headless: u32,
    /// The first frame is a message without a fault.
    pub(super) begins_with_message: bool,
    /// Frames between messages: pings, HTTP without a message.
    pub(super) controls: u32,
    /// Frames of any kind.
    pub(super) frames: u32,
    /// Runs of bytes that are no frames, and texts between values.
    pub(super) skipped: u32,
    /// The end of the message that made the pair certain.
    pub(super) certain_at: Option<usize>,
    /// The end of the first malformed message that surely belongs to the protocol.
    pub(super) broken_at: Option<usize>,
    /// The end of the last of several possible requests of the fallback protocol.
    pub(super) likely_at: Option<usize>,
    pub(super) what: String,
    /// The description of the first message that is one of another protocol, which wiretool does not read.
    pub(super) resembles: Option<String>,
}

impl<'p> Candidate<'p> {
    /// Creates a pair that has read nothing.
    pub(super) fn new(protocol: &'p dyn Protocol, framing: Framing, framer: Framer) -> Self {
        Self {
            protocol,
            framing,
            framer,
            at: 0,
            score: Score::default(),
            unread: 0,
            yields_to_lines: false,
            is_usual: protocol.descriptor().framings.contains(&framing),
            is_paused: false,
        }
    }

    pub(super) fn rank(&self) -> (i64, i64) {
        let (certain, possible) = (self.score.certain as i64, self.score.all_possible() as i64);
        let against = self.score.faults as i64 + self.score.all_foreign() as i64;
        (certain - against, possible + certain - against)
    }

    /// The score of a pair that understood no message.
    pub(super) fn rank_broken(&self) -> i64 {
        self.score.broken as i64 + self.score.controls as i64
            - self.score.faults as i64
            - self.score.all_foreign() as i64
    }

    /// Returns `true` if it understood more than chance allows. `named`: the protocol is known.
    pub(super) fn understands(&self, named: bool) -> bool {
        let foreign = self.score.all_foreign();
        let own = self.score.certain > foreign;
        let fits =
            self.score.certain > 0 || self.score.all_possible() > self.score.faults + foreign;
        own || ((named || self.is_fallback()) && fits)
    }

    /// Returns `true` if it understood a message that other protocols have, too.
    pub(super) fn is_undecided(&self) -> bool {
        self.score.all_possible() > 0 && self.score.certain_at.is_none()
    }

    /// Returns `true` if it understood a message.
    pub(super) fn has_message(&self) -> bool {
        self.score.certain + self.score.all_possible() > 0
    }

    /// Returns `true` if it read bytes, and understood none of them.
    pub(super) fn is_futile(&self) -> bool {
        let score = &self.score;
        let understood = score.certain + score.possible + score.broken + score.controls;
        score.frames + score.skipped > 0 && understood + score.foreign == 0
    }

    /// Returns `true` if the bytes may be the beginning of a long frame.
    pub(super) fn awaits_frame(&self, bytes: &[u8]) -> bool {
        let begins_json = || matches!(bytes.trim_ascii_start().first(), Some(b'{' | b'['));
        let is_untouched = self.score.frames + self.score.skipped == 0;
        is_untouched && (self.framing != Framing::Lines || begins_json())
    }

    /// Returns `true` if a frame has the header of the framing.
    pub(super) fn has_header(&self) -> bool {
        self.score.frames > self.score.headless
    }

    /// Returns `true` if any other protocol that understands the bytes comes first.
    pub(super) fn is_fallback(&self) -> bool {
        self.protocol.descriptor().is_fallback
    }

    pub(super) fn name(&self) -> String {
        format!("{} ({})", self.protocol.name(), self.framing.name())
    }
}

/// Returns `true` if a file may hold one message in any layout, without the header that streams have.
pub(super) fn is_single_value(framings: &[Framing]) -> bool {
    framings.contains(&Framing::ContentLength) && !framings.contains(&Framing::Lines)
}

/// Returns `true` if the bytes are one JSON value.
fn is_value(bytes: &[u8], parsed: &mut Parsed) -> bool {
    let start = bytes.len() - bytes.trim_ascii_start().len();
    let end = bytes.trim_ascii_end().len();
    start < end && parsed.json(bytes, Span::new(start, end)).is_ok()
}

impl Candidate<'_> {
    pub(super) fn run(
        &mut self,
        bytes: &[u8],
        eof: bool,
        direction: Option<Direction>,
        framing_only: bool,
        parsed: &mut Parsed,
    ) {
        let is_fallback = self.is_fallback();
        if self.framing == Framing::Values
            && is_single_value(self.protocol.descriptor().framings)
            && !(eof && is_value(bytes, parsed))
        {
            return;
        }
        while self.score.certain_at.is_none() {
            let rest = bytes.get(self.at..).unwrap_or_default();
            match self.framer.step(rest, self.at as u64, eof) {
                Step::Incomplete(_) | Step::Took(0) => return,
                Step::Took(n) => self.at += n,
                Step::Frame(frame, n) => {
                    self.at += n;
                    let body = frame.view.body();
                    // Skipped bytes are no evidence, nor is text between values.
                    let skipped = frame.control == Some("skipped");
                    let is_text =
                        self.yields_to_lines && !matches!(body.first(), Some(b'{' | b'['));
                    self.score.skipped += u32::from(skipped || is_text);
                    // A value on one line belongs to the framing `lines`, unless another value is directly before it.
                    let start = (body.as_ptr() as usize).checked_sub(bytes.as_ptr() as usize);
                    let before = start.and_then(|at| bytes.get(at.checked_sub(1)?));
                    let follows = self.is_usual
                        && self.score.skipped == 0
                        && matches!(before, Some(b'}' | b']'));
                    let is_line =
                        self.yields_to_lines && !follows && memchr::memchr(b'\n', body).is_none();
                    if skipped || is_line {
                        continue;
                    }
                    self.score.frames += 1;
                    // If the protocol is known, an HTTP head decides the framing, for any bytes
                    // after it.
                    let http = matches!(frame.head, Head::Http { start, .. } if !start.is_empty());
                    if http && framing_only && self.score.frames == 1 {
                        self.score.certain_at = Some(self.at);
                        return;
                    }
                    if frame.control.is_some() {
                        let faulty = frame.fault.is_some();
                        self.score.faults += u32::from(faulty);
                        self.score.controls += u32::from(!faulty);
                        continue;
                    }
                    let context = Context {
                        direction,
                        ..Context::default()
                    };
                    let message = self.protocol.read(&frame, &context, parsed);
                    if frame.fault.is_some() || !message.faults.is_empty() {
                        self.score
                            .count_faulty(&frame, &message, self.at, is_fallback);
                    } else {
                        let is_line = frame.framing == Framing::Lines;
                        self.score
                            .count(&message, self.protocol, self.at, framing_only, is_line);
                    }
                }
            }
        }
    }
}

impl Score {
    /// Returns true if messages that are evidence only together are enough: two requests, or a request and an answer.
    fn is_weak_enough(&self) -> bool {
        let has_request = self.weak_requests > 0 || self.has_request_beside;
        let count = self.weak_requests + self.weak_answers + self.weak_beside;
        self.possible > 0 || self.weak > 0 && has_request && count > 1
    }

    /// Returns the number of messages that may belong to the protocol.
    pub(super) fn all_possible(&self) -> u32 {
        self.possible + if self.is_weak_enough() { self.weak } else { 0 }
    }

    /// Returns the number of complete messages of other protocols.
    pub(super) fn all_foreign(&self) -> u32 {
        self.foreign + if self.is_weak_enough() { 0 } else { self.weak }
    }

    /// Counts a message with a fault.
    fn count_faulty(
        &mut self,
        frame: &Frame<'_>,
        message: &Message<'_>,
        at: usize,
        is_fallback: bool,
    ) {
        self.faults += 1;
        let is_headless = |fault: &Fault| fault.error.code == "missing-header";
        self.headless += u32::from(frame.fault.as_ref().is_some_and(is_headless));
        let passed_over = matches!(frame.head, Head::None)
            && matches!(frame.framing, Framing::Http | Framing::WebSocket);
        // Of the fallback protocol no message is certain. Its first frame shows that the framing fits.
        let least = if is_fallback && self.frames == 1 {
            Evidence::Possible
        } else {
            Evidence::Certain
        };
        let own = message.evidence >= least && !passed_over;
        self.broken += u32::from(own);
        if own {
            self.broken_at.get_or_insert(at);
        }
        if let (None, [error, ..]) = (&frame.fault, message.faults.as_slice())
            && error.code == "not-a-message"
            && error.hint.is_some()
        {
            self.resembles.get_or_insert_with(|| error.got.to_string());
        }
    }

    /// Counts a message without a fault.
    fn count(
        &mut self,
        message: &Message<'_>,
        protocol: &dyn Protocol,
        at: usize,
        framing_only: bool,
        is_line: bool,
    ) {
        self.begins_with_message |= self.frames == 1 && message.evidence > Evidence::Weak;
        match message.evidence {
            Evidence::Certain => self.certain += 1,
            Evidence::Possible => {
                self.possible += 1;
                let asks = [Role::Request, Role::Notification];
                let is_asking = message.role.is_some_and(|role| asks.contains(&role));
                self.asked += u32::from(is_asking);
            }
            Evidence::Weak => {
                self.weak += 1;
                let is_request = message.role == Some(Role::Request);
                self.weak_requests += u32::from(is_request);
                let answers = [Role::Response, Role::Error];
                let is_answer = message.role.is_some_and(|role| answers.contains(&role));
                self.weak_answers += u32::from(is_answer);
            }
            // HTTP between messages is neither evidence nor a fault.
            Evidence::None if message.role == Some(Role::Control) => self.controls += 1,
            Evidence::None => self.foreign += 1,
        }
        if self.what.is_empty() && message.evidence > Evidence::None {
            self.what = format!(
                "frame {} reads as {} {}",
                self.frames - 1,
                protocol.name(),
                message.kind
            );
        }
        if protocol.descriptor().is_fallback && self.asked + self.weak_requests == LIKELY {
            self.likely_at.get_or_insert(at);
        }
        // If the protocol is known, a possible message counts as its own, and any message shows that it is on a line.
        let (own, foreign) = match framing_only {
            true if is_line => (self.certain + self.possible + self.weak + self.foreign, 0),
            true => (self.certain + self.possible + self.weak, self.foreign),
            false => (self.certain, self.foreign),
        };
        if own > self.faults + foreign {
            self.certain_at = Some(at);
        }
    }
}
