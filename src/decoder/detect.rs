//! Detects protocol and framing of a stream. The decision depends on bytes, never on time.
//!
//! Every likely pair of protocol and framing reads the stream in parallel. The pair whose first
//! certain message ends earliest wins. A message that fits several protocols decides nothing: the
//! stream is held until a later message decides, until three requests that no other protocol knows, until
//! 64 KiB, or until the end. Then the pair with the best score wins, in the registry's order. If no pair understood a message, the pair to which
//! the malformed messages surely belong wins. A protocol is never chosen for properties that other
//! protocols have too: without a message that only it can have, the protocol stays unknown.

mod candidate;

use super::DecodeOptions;
use super::recovery::START_UNKNOWN;
use crate::encoding::{Parsed, Want};
use crate::framing::{Framing, header_framings, starts_http3};
use crate::protocol::{Direction, Lane, Protocol};
use candidate::{Candidate, is_single_value};

/// The number of bytes held while several pairs are equally likely.
const MAX_HELD: usize = 64 << 10;

/// The detected protocol, with the evidence.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Guess {
    /// The protocol.
    pub protocol: String,
    /// Its framing.
    pub framing: Framing,
    /// The evidence for it.
    pub evidence: String,
    /// The second best pair, if there is one.
    pub runner_up: Option<String>,
    /// `true` if the bytes fit another protocol too.
    pub tie: bool,
}

pub(super) enum ProtocolVerdict<'p> {
    /// More bytes are needed.
    Wait,
    /// No pair understands anything.
    Nothing,
    Decided(&'p dyn Protocol, Framing, Guess),
}

pub(super) struct Detector<'p> {
    candidates: Vec<Candidate<'p>>,
    /// All bytes received so far.
    pub(super) bytes: Vec<u8>,
    parsed: Parsed,
    direction: Option<Direction>,
    /// The stream of QUIC, until it is known if HTTP/3 is on it.
    stream: Option<u64>,
    /// There is only one protocol.
    is_named: bool,
    limit: usize,
    /// The number of bytes to examine before a choice without certainty.
    stop: usize,
    /// The protocol is known, and only the framing is detected.
    framing_only: bool,
    /// The first line may still show the framing.
    is_first_line: bool,
}

impl<'p> Detector<'p> {
    pub(super) fn new(
        protocols: &[&'p dyn Protocol],
        options: &DecodeOptions<'p>,
        lane: Lane,
        framing_only: bool,
    ) -> Self {
        let mut candidates = Vec::new();
        // In another framing, messages lack the header that says what they are.
        let has_header = |protocol: &dyn Protocol| {
            let mut own = protocol.descriptor().framings.iter();
            own.all(|framing| matches!(framing, Framing::Custom(_)))
        };
        let is_other = |protocol: &dyn Protocol| {
            let own = protocol.descriptor().framings;
            let given = options.framing.as_ref();
            // WebSocket begins with an upgrade of HTTP.
            let is_of_http = own.contains(&Framing::Http) || own.contains(&Framing::WebSocket);
            given.is_some_and(|given| {
                let is_http = *given == Framing::Http;
                !own.contains(given) && (has_header(protocol) || is_http && !is_of_http)
            })
        };
        let is_named = protocols.len() == 1;
        for protocol in protocols {
            if !is_named && is_other(*protocol) {
                continue;
            }
            let framings = match &options.framing {
                Some(framing) => std::slice::from_ref(framing),
                None => protocol.descriptor().framings,
            };
            // A connection carries the framing of its peers; a file can hold JSON in any layout. If
            // the chosen protocol has no framing except lines, the framing is fixed too.
            let fixed = framing_only && framings.len() == 1;
            let lines = options.framing.is_none() && framings.contains(&Framing::Lines) && !fixed;
            let is_open = options.framing.is_none();
            let any_layout = lines
                || is_open
                    && (is_single_value(framings) || protocol.descriptor().is_carried_json());
            let is_own = framings.contains(&Framing::Values);
            let values = (any_layout && lane.conn.is_none() && !is_own).then_some(&Framing::Values);
            for &framing in framings.iter().chain(values) {
                let (limits, mode) = (options.limits, options.length_mode);
                let mut framer = protocol.framer(framing, limits, mode, options.resync);
                framer.set_stream(lane.stream);
                let mut candidate = Candidate::new(*protocol, framing, framer);
                candidate.yields_to_lines =
                    framing == Framing::Values && framings.contains(&Framing::Lines);
                candidates.push(candidate);
            }
        }
        let parsed = Parsed::new(Want::Head, options.limits.depth);
        let limit = options.limits.message as usize;
        let is_open = options.framing.is_none();
        if is_open && lane.stream.is_none() {
            candidates.retain(|c| c.framing != Framing::Http3);
        }
        Self {
            candidates,
            bytes: Vec::new(),
            parsed,
            direction: lane.direction,
            stream: lane.stream.filter(|_| is_open),
            is_named: protocols.len() == 1,
            limit,
            stop: MAX_HELD.min(limit) + 1,
            framing_only,
            is_first_line: is_open,
        }
    }

    /// Returns what the bytes look like: a message of a protocol that no candidate reads.
    pub(super) fn resembles(&self) -> Option<&str> {
        self.candidates
            .iter()
            .find_map(|c| c.score.resembles.as_deref())
    }

    /// Returns `true` if complete messages wait, since they fit several protocols.
    pub(super) fn is_undecided(&self) -> bool {
        self.candidates.iter().any(Candidate::is_undecided)
    }

    /// Returns the pairs that understood messages which are evidence only together: framing, requests and answers.
    pub(super) fn weak(&self) -> Vec<(Framing, [u32; 2])> {
        let pairs = self.candidates.iter().filter(|c| c.score.weak > 0);
        pairs
            .map(|c| (c.framing, [c.score.weak_requests, c.score.weak_answers]))
            .collect()
    }

    /// Adds such messages of the other direction.
    pub(super) fn add_weak(&mut self, beside: &[(Framing, [u32; 2])]) {
        for candidate in self.candidates.iter_mut().filter(|c| c.is_fallback()) {
            let same = beside
                .iter()
                .find(|(framing, _)| *framing == candidate.framing);
            if let Some((_, [requests, answers])) = same {
                candidate.score.weak_beside = requests + answers;
                candidate.score.has_request_beside = *requests > 0;
            }
        }
    }

    /// Leaves out the framings that the first line rules out. Returns false if more bytes are needed.
    fn read_first_line(&mut self) -> bool {
        if !self.is_first_line {
            return true;
        }
        let Some(named) = header_framings(&self.bytes) else {
            return false;
        };
        self.is_first_line = false;
        if self.candidates.iter().any(|c| named.contains(&c.framing)) {
            self.candidates.retain(|c| named.contains(&c.framing));
        }
        true
    }

    /// Reads from the middle of a stream if bytes are missing before it.
    pub(super) fn after(mut self, gap: Option<&(u64, u64)>) -> Self {
        for candidate in self.candidates.iter_mut().filter(|_| gap.is_some()) {
            candidate.framer.seek();
        }
        // Where the start is not known, a start line of HTTP shows it.
        self.is_first_line &= gap.is_none_or(|gap| *gap == START_UNKNOWN);
        self
    }

    pub(super) fn push(&mut self, bytes: &[u8]) -> ProtocolVerdict<'p> {
        self.bytes.extend_from_slice(bytes);
        if self.may_be_http3(false) {
            return ProtocolVerdict::Wait;
        }
        if !self.read_first_line() {
            return ProtocolVerdict::Wait;
        }
        if let ([only], true) = (self.candidates.as_slice(), self.is_named) {
            return ProtocolVerdict::Decided(only.protocol, only.framing, guess(only, None, false));
        }
        // A decision without certainty is made at fixed positions, for any split of the bytes.
        loop {
            let seen = self.bytes.len().min(self.stop);
            self.run(seen, false);
            if let Some(winner) = self.first_certain() {
                return self.verdict(winner, false);
            }
            if seen < self.stop {
                return ProtocolVerdict::Wait;
            }
            let framed = self
                .candidates
                .iter()
                .any(|c| c.score.frames > c.score.faults + c.score.foreign);
            if framed || self.stop > self.limit {
                let best = self.best();
                if !matches!(best, ProtocolVerdict::Nothing) {
                    return best;
                }
            }
            self.stop = self.stop.saturating_mul(2);
            self.pause_futile();
        }
    }

    /// While one pair awaits the end of a long frame, those that understood nothing do not search all its bytes.
    fn pause_futile(&mut self) {
        let is_awaited =
            self.stop <= self.limit && self.candidates.iter().any(|c| c.awaits_frame(&self.bytes));
        for candidate in &mut self.candidates {
            candidate.is_paused = is_awaited && candidate.is_futile();
        }
    }

    /// Adds bytes of a direction whose other direction has a framing already.
    pub(super) fn push_beside(
        &mut self,
        bytes: &[u8],
        protocol: &'p dyn Protocol,
        other: Framing,
    ) -> ProtocolVerdict<'p> {
        self.bytes.extend_from_slice(bytes);
        let Some(framing) = self.framing_beside(other) else {
            return ProtocolVerdict::Wait;
        };
        let guess = Guess {
            protocol: protocol.name().to_owned(),
            framing,
            evidence: "the framing of the other direction".to_owned(),
            runner_up: None,
            tie: false,
        };
        ProtocolVerdict::Decided(protocol, framing, guess)
    }

    /// Returns the framing of this direction, if that of the other is known. Only one of them may have its first line.
    /// `None` if more bytes are needed.
    pub(super) fn framing_beside(&self, other: Framing) -> Option<Framing> {
        let named = header_framings(&self.bytes)?;
        Some(match named {
            [first, ..] if named.contains(&other) => *first,
            _ => other,
        })
    }

    /// Returns `true` if this direction may have the framing of the other one: no other framing of the protocol reads it
    /// with fewer faults.
    pub(super) fn fits(&mut self, protocol: &dyn Protocol, framing: Framing) -> bool {
        self.run(self.bytes.len(), false);
        let is_value = matches!(self.bytes.trim_ascii_start().first(), Some(b'{' | b'['));
        // A value over several lines may not be complete.
        let reads = |c: &Candidate<'_>| c.has_message() || is_value && c.framing == Framing::Values;
        let own = self.candidates.iter();
        let mut own = own.filter(|c| c.protocol.name() == protocol.name());
        let same = own.clone().find(|c| c.framing == framing);
        same.is_some_and(|same| {
            own.all(|c| c.framing == framing || !reads(c) || c.score.faults >= same.score.faults)
        })
    }

    /// Handles missing bytes. A message that they cut is no fault of a pair, but can show its protocol.
    pub(super) fn gap(&mut self) -> ProtocolVerdict<'p> {
        self.is_first_line = false;
        let faults: Vec<u32> = self.candidates.iter().map(|c| c.score.faults).collect();
        self.run(self.bytes.len(), true);
        if let Some(winner) = self.first_certain() {
            return self.verdict(winner, false);
        }
        for (candidate, faults) in self.candidates.iter_mut().zip(faults) {
            candidate.score.faults = faults;
            if candidate.score.certain
                + candidate.score.possible
                + candidate.score.broken
                + candidate.score.controls
                == 0
            {
                candidate.unread = self.bytes.len();
            }
            candidate.at = self.bytes.len();
            candidate.framer.seek();
        }
        ProtocolVerdict::Wait
    }

    /// Returns the number of bytes before gaps in which a pair understood nothing.
    pub(super) fn unread(&self, protocol: &dyn Protocol, framing: Framing) -> usize {
        let is_pair =
            |c: &&Candidate<'_>| c.framing == framing && c.protocol.name() == protocol.name();
        let pair = self.candidates.iter().find(is_pair);
        pair.map_or(0, |pair| pair.unread)
    }

    /// Decides with the bytes received so far; `eof` if no more bytes follow.
    pub(super) fn settle(&mut self, eof: bool) -> ProtocolVerdict<'p> {
        self.may_be_http3(true);
        self.run(self.bytes.len(), eof);
        match self.first_certain() {
            Some(winner) => self.verdict(winner, false),
            None => self.best(),
        }
    }

    /// Decides without more bytes for a protocol that is likely, if one of its framings understands the bytes.
    pub(super) fn settle_likely(&mut self) -> Option<ProtocolVerdict<'p>> {
        self.may_be_http3(true);
        self.run(self.bytes.len(), true);
        let understood = self.candidates.iter().filter(|c| c.understands(true));
        let winner = understood.rev().max_by_key(|c| c.rank())?;
        Some(self.verdict(winner, false))
    }

    /// Leaves out HTTP/3, or everything else, as soon as the first bytes of a stream decide that. Returns `true` before.
    fn may_be_http3(&mut self, eof: bool) -> bool {
        let Some(stream) = self.stream else {
            return false;
        };
        // The lowest bit names the side that opens the stream (RFC 9000 section 2.1).
        let from_opener = match self.direction {
            Some(Direction::ToClient) => stream & 1 != 0,
            Some(Direction::ToServer) | None => stream & 1 == 0,
        };
        let hints = || {
            self.candidates
                .iter()
                .map(|c| c.protocol.descriptor().hints)
        };
        let plausible =
            |bytes: &[u8]| hints().any(|hints| hints.plausible.is_some_and(|p| p(bytes)));
        let starts = starts_http3(stream, from_opener, &self.bytes, eof, plausible);
        let is_offered = self.candidates.iter().any(|c| c.framing == Framing::Http3);
        match starts {
            None => return is_offered,
            Some(is) => {
                let is = is && is_offered;
                self.candidates
                    .retain(|c| (c.framing == Framing::Http3) == is);
            }
        }
        self.stream = None;
        false
    }

    /// Returns the pair that was certain first; the fallback protocol is, after several requests that no other protocol
    /// knows or may have malformed.
    fn first_certain(&self) -> Option<&Candidate<'p>> {
        let broken = self.candidates.iter().filter(|c| !c.is_fallback());
        let broken = broken.filter_map(|c| c.score.broken_at).min();
        let others = self.candidates.iter().filter(|c| !c.is_fallback());
        let others = others.map(|c| c.score.certain + c.score.possible).max();
        // Messages that are evidence only together may be those of another protocol.
        let is_of_other =
            |c: &Candidate<'p>| c.score.possible == 0 && others >= Some(c.score.all_possible());
        let certain_at = |c: &Candidate<'p>| {
            let likely = c
                .score
                .likely_at
                .filter(|at| broken.is_none_or(|broken| broken > *at));
            c.score
                .certain_at
                .or(likely.filter(|_| c.understands(true) && !is_of_other(c)))
        };
        let sure = self
            .candidates
            .iter()
            .filter_map(|c| Some((certain_at(c)?, c)));
        sure.min_by_key(|(at, _)| *at).map(|(_, c)| c)
    }

    /// Lets every pair read the first `seen` bytes.
    fn run(&mut self, seen: usize, eof: bool) {
        let bytes = self.bytes.get(..seen).unwrap_or(&self.bytes);
        for candidate in self.candidates.iter_mut().filter(|c| eof || !c.is_paused) {
            candidate.run(
                bytes,
                eof,
                self.direction,
                self.framing_only,
                &mut self.parsed,
            );
        }
    }

    /// Returns the pair with the best score; on a tie, the first. The fallback protocol comes after all others.
    fn best(&self) -> ProtocolVerdict<'p> {
        let named = self.framing_only;
        let is_header = |c: &Candidate<'_>| c.framing == Framing::ContentLength && c.has_header();
        let has_header = self.candidates.iter().any(is_header);
        let is_line = |c: &Candidate<'_>| {
            c.framing == Framing::Lines && c.score.begins_with_message && !has_header
        };
        let has_line = self.candidates.iter().any(is_line);
        for fallback in [false, true] {
            let counts = |c: &&Candidate<'_>| named || c.is_fallback() == fallback;
            let understood = self.candidates.iter().filter(counts);
            let understood = understood.filter(|c| c.understands(named));
            if let Some(winner) = understood.rev().max_by_key(|c| c.rank()) {
                let tie = self.candidates.iter().any(|c| {
                    c.protocol.name() != winner.protocol.name()
                        && c.is_fallback() == fallback
                        && c.understands(named)
                        && c.rank() == winner.rank()
                });
                return self.verdict(winner, tie);
            }
            // Lines that are no messages are faults among those that are.
            let mut lines = self.candidates.iter().filter(counts);
            if let Some(lines) = lines.find(|c| fallback && is_line(c)) {
                return self.verdict(lines, false);
            }
            // No message is complete. Malformed ones may still show their protocol. If the protocol was
            // chosen, its most likely framing gives faults that explain the problem.
            let broken = self.candidates.iter().filter(counts);
            let broken = broken
                .filter(|c| c.score.broken > 0 || (named && c.score.controls > c.score.faults));
            // Where a line is a message, no header is missing.
            let broken = broken.filter(|c| !has_line || c.framing != Framing::ContentLength);
            if let Some(likeliest) = broken.rev().max_by_key(|c| c.rank_broken()) {
                return self.verdict(likeliest, false);
            }
        }
        // A complete message of another protocol is better than none.
        let whole = self
            .candidates
            .iter()
            .find(|c| c.score.foreign > 0 && c.score.faults == 0);
        let chosen = whole.or(self.candidates.first());
        match chosen.filter(|_| named) {
            Some(likeliest) => self.verdict(likeliest, false),
            None => ProtocolVerdict::Nothing,
        }
    }

    fn verdict(&self, winner: &Candidate<'p>, tie: bool) -> ProtocolVerdict<'p> {
        let second = self
            .candidates
            .iter()
            .filter(|c| c.protocol.name() != winner.protocol.name())
            .filter(|c| c.understands(self.framing_only))
            .rev()
            .max_by_key(|c| (!c.is_fallback(), c.rank()));
        ProtocolVerdict::Decided(winner.protocol, winner.framing, guess(winner, second, tie))
    }
}

fn guess(winner: &Candidate<'_>, second: Option<&Candidate<'_>>, tie: bool) -> Guess {
    Guess {
        protocol: winner.protocol.name().to_owned(),
        framing: winner.framing,
        evidence: if winner.score.what.is_empty() {
            "no evidence for another protocol".into()
        } else {
            winner.score.what.clone()
        },
        runner_up: second.map(Candidate::name),
        tie,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decoder::Origin;
    use crate::protocol::registry;

    #[test]
    fn pairs_that_understood_nothing_pause_while_a_long_frame_is_incomplete() {
        const COUNT: u32 = 200_000;
        let mut body = b"\x85\xa7version\x01\xa4type\xa4call\xa2id\xc4\x10".to_vec();
        body.extend(1..=16);
        body.extend(b"\xa6target\xa8math.add\xa4args\xdd");
        body.extend(COUNT.to_be_bytes());
        body.extend(std::iter::repeat_n(1, COUNT as usize));
        let frame = [&(body.len() as u32).to_be_bytes()[..], &body].concat();
        let options = DecodeOptions::new(registry::all().to_vec());
        let lane = Origin::default().lane();
        let mut detector = Detector::new(&options.protocols, &options, lane, false);
        let (first, last) = frame.split_at(frame.len() - 1);
        assert!(matches!(detector.push(first), ProtocolVerdict::Wait));
        let paused: Vec<&Candidate<'_>> =
            detector.candidates.iter().filter(|c| c.is_paused).collect();
        assert!(paused.len() * 2 > detector.candidates.len());
        assert!(paused.iter().all(|c| c.at <= frame.len() / 2));
        let ProtocolVerdict::Decided(protocol, framing, _) = detector.push(last) else {
            panic!("no decision");
        };
        assert_eq!((protocol.name(), framing), ("saikuro", Framing::Prefix));
    }
}
