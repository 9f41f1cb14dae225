//! Which protocol, and how is it delimited? Bytes decide, never time.
//!
//! Every likely pair of protocol and framing reads the stream at once. The pair whose first certain message ends
//! earliest wins; a message that could be another's decides nothing, and the stream is held until a later one does,
//! until 64 KiB were seen, or until the end. Then the pair that understood most wins, in the registry's order; and where
//! none understood anything, the pair to which the broken messages surely belong. A protocol is never chosen for what
//! other protocols have as well: without a message of its own it stays unknown.

use super::{Key, Options};
use crate::encoding::{Parsed, Want};
use crate::framing::{Framer, Framing, Head, Step};
use crate::protocol::{Context, Direction, Evidence, Protocol, Role};

/// How much is held while several pairs are as likely.
const HOLD: usize = 64 << 10;

/// How the protocol was found out.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Guess {
    /// The protocol.
    pub protocol: String,
    /// Its framing.
    pub framing: Framing,
    /// What speaks for it.
    pub evidence: String,
    /// The pair that would have been next, where there is one.
    pub runner_up: Option<String>,
    /// Whether the bytes fit another protocol as well.
    pub tie: bool,
}

pub(super) enum Verdict<'p> {
    /// More bytes are needed.
    Wait,
    /// No pair understands anything.
    Nothing,
    Decided(&'p dyn Protocol, Framing, Guess),
}

struct Candidate<'p> {
    protocol: &'p dyn Protocol,
    framing: Framing,
    framer: Framer,
    at: usize,
    certain: u32,
    possible: u32,
    faults: u32,
    /// Whole messages that are not its own.
    foreign: u32,
    /// Messages that are surely its own, and broken.
    broken: u32,
    /// What stands between messages: pings, HTTP without a message.
    controls: u32,
    /// Frames of any kind.
    frames: u32,
    /// Where the message ended that made it sure.
    sure_at: Option<usize>,
    what: String,
}

impl Candidate<'_> {
    fn rank(&self) -> (i64, i64) {
        let (certain, possible) = (self.certain as i64, self.possible as i64);
        let against = self.faults as i64 + self.foreign as i64;
        (certain - against, possible + certain - against)
    }

    /// How well it does where it understood nothing.
    fn rank_broken(&self) -> i64 {
        self.broken as i64 + self.controls as i64 - self.faults as i64 - self.foreign as i64
    }

    /// Whether it understood more than it could by chance. `named`: the protocol is known.
    fn understands(&self, named: bool) -> bool {
        let own = self.certain > self.foreign;
        let fits = self.certain > 0 || self.possible > self.faults + self.foreign;
        own || (named && fits)
    }

    fn name(&self) -> String {
        format!("{} ({})", self.protocol.name(), self.framing.name())
    }
}

pub(super) struct Detector<'p> {
    candidates: Vec<Candidate<'p>>,
    /// All that came.
    pub(super) bytes: Vec<u8>,
    parsed: Parsed,
    direction: Option<Direction>,
    limit: usize,
    /// How many bytes are looked at before a choice is made without certainty.
    stop: usize,
    /// The protocol is known, only the framing is not.
    framing_only: bool,
}

impl<'p> Detector<'p> {
    pub(super) fn new(
        protocols: &[&'p dyn Protocol],
        options: &Options<'p>,
        (conn, direction): Key,
        framing_only: bool,
    ) -> Self {
        let mut candidates = Vec::new();
        for protocol in protocols {
            let framings = match &options.framing {
                Some(framing) => std::slice::from_ref(framing),
                None => protocol.descriptor().framings,
            };
            // What passed on a connection is as the peers delimit it; a file may hold JSON in any layout. A protocol that
            // was named and has no framing but lines names the framing as well.
            let fixed = framing_only && framings.len() == 1;
            let lines = options.framing.is_none() && framings.contains(&Framing::Lines) && !fixed;
            let values = (lines && conn.is_none()).then_some(&Framing::Values);
            for &framing in framings.iter().chain(values) {
                let framer = Framer::new(
                    framing,
                    options.limits,
                    protocol.descriptor().hints,
                    options.length_mode,
                    options.resync,
                );
                candidates.push(Candidate {
                    protocol: *protocol,
                    framing,
                    framer,
                    at: 0,
                    certain: 0,
                    possible: 0,
                    faults: 0,
                    foreign: 0,
                    broken: 0,
                    controls: 0,
                    frames: 0,
                    sure_at: None,
                    what: String::new(),
                });
            }
        }
        let parsed = Parsed::new(Want::Head, options.limits.depth);
        let limit = options.limits.message as usize;
        Self {
            candidates,
            bytes: Vec::new(),
            parsed,
            direction,
            limit,
            stop: HOLD.min(limit) + 1,
            framing_only,
        }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) -> Verdict<'p> {
        self.bytes.extend_from_slice(bytes);
        if let [only] = self.candidates.as_slice() {
            return Verdict::Decided(only.protocol, only.framing, guess(only, None, false));
        }
        // What is decided for want of certainty is decided at fixed places, however the bytes were split.
        loop {
            let seen = self.bytes.len().min(self.stop);
            self.run(seen, false);
            if let Some(winner) = self.sure() {
                return self.verdict(winner, false);
            }
            if seen < self.stop {
                return Verdict::Wait;
            }
            let framed = self
                .candidates
                .iter()
                .any(|c| c.frames > c.faults + c.foreign);
            if framed || self.stop > self.limit {
                let best = self.best();
                if !matches!(best, Verdict::Nothing) {
                    return best;
                }
            }
            self.stop = self.stop.saturating_mul(2);
        }
    }

    /// No more will be looked at, and where `eof` is set, no more will come.
    pub(super) fn settle(&mut self, eof: bool) -> Verdict<'p> {
        self.run(self.bytes.len(), eof);
        match self.sure() {
            Some(winner) => self.verdict(winner, false),
            None => self.best(),
        }
    }

    /// The pair that was sure first.
    fn sure(&self) -> Option<&Candidate<'p>> {
        let sure = self.candidates.iter().filter(|c| c.sure_at.is_some());
        sure.min_by_key(|c| c.sure_at)
    }

    /// Shows every pair the first `seen` bytes.
    fn run(&mut self, seen: usize, eof: bool) {
        let bytes = self.bytes.get(..seen).unwrap_or(&self.bytes);
        for candidate in &mut self.candidates {
            candidate.run(
                bytes,
                eof,
                self.direction,
                self.framing_only,
                &mut self.parsed,
            );
        }
    }

    /// The pair that understood most; the first of those that are as good.
    fn best(&self) -> Verdict<'p> {
        let named = self.framing_only;
        let understood = self.candidates.iter().filter(|c| c.understands(named));
        if let Some(winner) = understood.rev().max_by_key(|c| c.rank()) {
            let tie = self.candidates.iter().any(|c| {
                c.protocol.name() != winner.protocol.name()
                    && c.understands(named)
                    && c.rank() == winner.rank()
            });
            return self.verdict(winner, tie);
        }
        // Nothing is whole. What is broken may still say whose it is; and where the protocol was named, its likeliest
        // framing will have faults that say what is wrong.
        let broken = self
            .candidates
            .iter()
            .filter(|c| c.broken > 0 || (self.framing_only && c.controls > c.faults));
        let broken = broken.rev().max_by_key(|c| c.rank_broken());
        // A whole message of another protocol is better than none.
        let whole = self
            .candidates
            .iter()
            .find(|c| c.foreign > 0 && c.faults == 0);
        let named = whole.or(self.candidates.first());
        match broken.or(named.filter(|_| self.framing_only)) {
            Some(likeliest) => self.verdict(likeliest, false),
            None => Verdict::Nothing,
        }
    }

    fn verdict(&self, winner: &Candidate<'p>, tie: bool) -> Verdict<'p> {
        let second = self
            .candidates
            .iter()
            .filter(|c| c.protocol.name() != winner.protocol.name())
            .filter(|c| c.understands(self.framing_only))
            .rev()
            .max_by_key(|c| c.rank());
        Verdict::Decided(winner.protocol, winner.framing, guess(winner, second, tie))
    }
}

fn guess(winner: &Candidate<'_>, second: Option<&Candidate<'_>>, tie: bool) -> Guess {
    Guess {
        protocol: winner.protocol.name().to_owned(),
        framing: winner.framing,
        evidence: if winner.what.is_empty() {
            "nothing speaks for another".into()
        } else {
            winner.what.clone()
        },
        runner_up: second.map(Candidate::name),
        tie,
    }
}

impl Candidate<'_> {
    fn run(
        &mut self,
        bytes: &[u8],
        eof: bool,
        direction: Option<Direction>,
        framing_only: bool,
        parsed: &mut Parsed,
    ) {
        let values = self.framing == Framing::Values
            && self
                .protocol
                .descriptor()
                .framings
                .contains(&Framing::Lines);
        while self.sure_at.is_none() {
            let rest = bytes.get(self.at..).unwrap_or_default();
            match self.framer.next(rest, self.at as u64, eof) {
                Step::Incomplete(_) | Step::Took(0) => return,
                Step::Took(n) => self.at += n,
                Step::Frame(frame, n) => {
                    self.at += n;
                    // Bytes that were passed over speak for nothing.
                    let skipped = frame.control == Some("skipped");
                    // A value on one line is a line.
                    let body = frame.view.body();
                    if skipped || (values && memchr::memchr(b'\n', body).is_none()) {
                        continue;
                    }
                    self.frames += 1;
                    // With the protocol known, an HTTP head settles the framing, whatever is wrong behind it.
                    let http = matches!(frame.head, Head::Http { start, .. } if !start.is_empty());
                    if http && framing_only && self.frames == 1 {
                        self.sure_at = Some(self.at);
                        return;
                    }
                    if frame.control.is_some() {
                        let faulty = frame.fault.is_some();
                        self.faults += u32::from(faulty);
                        self.controls += u32::from(!faulty);
                        continue;
                    }
                    let message = self.protocol.read(
                        &frame,
                        &Context {
                            direction,
                            ..Context::default()
                        },
                        parsed,
                    );
                    if frame.fault.is_some() || !message.faults.is_empty() {
                        self.faults += 1;
                        let passed_over = matches!(frame.head, Head::None)
                            && matches!(frame.framing, Framing::Http | Framing::WebSocket);
                        let own = message.evidence == Evidence::Certain && !passed_over;
                        self.broken += u32::from(own);
                        continue;
                    }
                    match message.evidence {
                        Evidence::Certain => self.certain += 1,
                        Evidence::Possible => self.possible += 1,
                        // What HTTP says between messages is no evidence, and no fault.
                        Evidence::None if message.role == Some(Role::Control) => self.controls += 1,
                        Evidence::None => self.foreign += 1,
                    }
                    if self.what.is_empty() && message.evidence > Evidence::None {
                        self.what = format!(
                            "frame {} reads as {} {}",
                            self.frames - 1,
                            self.protocol.name(),
                            message.kind
                        );
                    }
                    // With the protocol known, what may be its own is.
                    let own = self.certain + if framing_only { self.possible } else { 0 };
                    if own > self.faults + self.foreign {
                        self.sure_at = Some(self.at);
                    }
                }
            }
        }
    }
}
