//! Statistics of a conversation: sizes, rates, latencies.
//!
//! ```text
//!   Decoded, Verdict ---> Stat { kinds, latencies by subject, slowest, errors, streams, reads }
//! ```
//!
//! Memory is bounded: subjects, kinds and codes beyond [`MAX_NAMES`] are counted together under [`OTHER`].

#![allow(clippy::cast_precision_loss, clippy::cast_sign_loss)] // ratios for display; the stored numbers are exact

mod cost;
mod rate;

use crate::conversation::{Consequences, Operation, OperationState, ProtocolConversation, Verdict};
use crate::decoder::Decoded;
use crate::protocol::{Direction, Role, with_name};
pub use cost::{Cost, OtherForm, SubjectCost};
use hdrhistogram::Histogram;
pub use rate::Rate;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

/// The maximum number of names that are counted separately.
pub const MAX_NAMES: usize = 1 << 12;
/// The name under which all other names are counted.
pub const OTHER: &str = "(others)";
/// The maximum number of subjects with separate latencies: each takes some KiB.
const MAX_TIMED: usize = 1 << 9;
/// The number of slowest calls that are stored.
const MAX_SLOWEST: usize = 10;
/// The maximum number of streams that are followed at a time.
const MAX_STREAMS: usize = 1 << 12;
/// The number of bars of a small histogram.
pub const BARS: usize = 12;

/// Messages and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// The number of messages.
    pub messages: u64,
    /// Bytes of their frames, headers included.
    pub bytes: u64,
}

impl Count {
    fn add(&mut self, bytes: u64) {
        self.messages += 1;
        self.bytes += bytes;
    }
}

/// A direction and a kind.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StatGroup {
    /// The direction, if known.
    pub direction: Option<Direction>,
    /// The kind; empty if it could not be read.
    pub kind: String,
}

/// A request and its response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallStat {
    /// The index of the request.
    pub asked: u64,
    /// The index of the response.
    pub answered: u64,
    /// The kind, and subject and name if there are any.
    pub what: String,
    /// The latency in nanoseconds.
    pub latency: i64,
}

/// Latencies of one subject: the maximum exactly, all others to two digits.
#[derive(Clone, Debug)]
pub struct Latency {
    histogram: Histogram<u32>,
    max: u64,
}

impl Latency {
    fn new() -> Option<Self> {
        // From one nanosecond; the range grows as needed.
        let histogram = Histogram::new(2).ok()?;
        Some(Self { histogram, max: 0 })
    }

    /// Returns the number of responses.
    pub fn count(&self) -> u64 {
        self.histogram.len()
    }

    /// Returns the latency in nanoseconds that this percentage of the responses does not exceed.
    pub fn percentile(&self, percent: f64) -> u64 {
        self.histogram.value_at_percentile(percent).min(self.max())
    }

    /// Returns the maximum latency in nanoseconds.
    pub fn max(&self) -> u64 {
        self.max
    }

    fn record(&mut self, ns: u64) {
        // The range grows, so no value is refused.
        if self.histogram.record(ns).is_ok() {
            self.max = self.max.max(ns);
        }
    }

    /// Returns the number of responses in each of [`BARS`] steps, which grow by the same factor
    /// from the minimum to the maximum.
    pub fn bars(&self) -> [u64; BARS] {
        let mut bars = [0; BARS];
        let (least, most) = (self.histogram.min(), self.histogram.max());
        if self.histogram.equivalent(least, most) {
            bars[0] = self.count();
            return bars;
        }
        let low = (self.histogram.min().max(1) as f64).ln();
        let high = (self.max().max(1) as f64).ln();
        let step = ((high - low) / BARS as f64).max(f64::EPSILON);
        for value in self.histogram.iter_recorded() {
            let at = ((value.value_iterated_to().max(1) as f64).ln() - low) / step;
            if let Some(bar) = bars.get_mut((at as usize).min(BARS - 1)) {
                *bar += value.count_since_last_iteration();
            }
        }
        bars
    }
}

/// Items of streams of one subject.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Streams {
    /// The number of streams.
    pub count: u64,
    /// The number of their items.
    pub items: u64,
    /// Bytes of the items' frames.
    pub bytes: u64,
    /// The sum of the durations in nanoseconds, each from the first item to the last.
    pub lasted: i64,
}

impl Streams {
    /// Returns the items per second, if times are known and a stream has more than one item.
    pub fn rate(&self) -> Option<f64> {
        let steps = self.items.saturating_sub(self.count);
        (self.lasted > 0 && steps > 0).then(|| steps as f64 / (self.lasted as f64 / 1e9))
    }
}

/// Operations of one subject.
#[derive(Clone, Debug, Default)]
pub struct OperationStat {
    /// The number of operations.
    pub count: u64,
    /// Those that failed.
    pub failed: u64,
    /// Those that were cancelled.
    pub cancelled: u64,
    /// Those that did not end.
    pub open: u64,
    /// Their durations, if times are known.
    pub durations: Option<Latency>,
    /// The nanoseconds of each owner, by the name of the owner and, if it is in another capture, of the capture.
    pub shares: BTreeMap<String, u64>,
    /// Their messages, with those of operations inside.
    pub messages: u64,
    /// The bytes of their frames.
    pub bytes: u64,
    /// The largest number of items of one of them that were not acknowledged at a time, and the sum of those at the ends.
    pub unacknowledged: Option<(u32, u64)>,
}

impl OperationStat {
    /// Returns the owners, each with its part of the time in percent, those with the largest parts first. The sum of all is
    /// 100: the parts with the largest fractions are rounded up.
    pub fn percents(&self) -> Vec<(&str, u8)> {
        let all: u128 = self.shares.values().map(|ns| u128::from(*ns)).sum();
        let shares = self.shares.iter().filter(|(_, ns)| **ns > 0);
        let mut parts: Vec<(&str, u64, u8, u128)> = shares
            .map(|(owner, ns)| {
                let hundredfold = u128::from(*ns) * 100;
                let whole = u8::try_from(hundredfold / all).unwrap_or(100);
                (owner.as_str(), *ns, whole, hundredfold % all)
            })
            .collect();
        let sum: usize = parts
            .iter()
            .map(|(_, _, whole, _)| usize::from(*whole))
            .sum();
        parts.sort_by_key(|(.., rest)| Reverse(*rest));
        for (_, _, whole, _) in parts.iter_mut().take(100_usize.saturating_sub(sum)) {
            *whole += 1;
        }
        parts.sort_by_key(|(owner, ns, ..)| (Reverse(*ns), *owner));
        parts
            .into_iter()
            .map(|(owner, _, whole, _)| (owner, whole))
            .collect()
    }

    fn add(&mut self, operation: &Operation) {
        self.count += 1;
        match operation.state {
            OperationState::Failed => self.failed += 1,
            OperationState::Cancelled => self.cancelled += 1,
            OperationState::Open => self.open += 1,
            OperationState::Answered => {}
        }
        if let Some(lasted) = operation.duration {
            if self.durations.is_none() {
                self.durations = Latency::new();
            }
            if let Some(durations) = &mut self.durations {
                durations.record(lasted.unsigned_abs());
            }
        }
        for (owner, share) in operation.named_shares() {
            let sum = entry(&mut self.shares, &owner);
            *sum = u64::saturating_add(*sum, share.unsigned_abs());
        }
        self.messages += operation.messages;
        self.bytes += operation.bytes;
        if let Some(items) = operation.unacknowledged {
            let (most, last) = self.unacknowledged.get_or_insert_default();
            *most = items.most.max(*most);
            *last += u64::from(items.last);
        }
    }
}

/// A stream that has not ended.
struct RunningStream {
    subject: String,
    last: Option<i64>,
}

/// The statistics of one conversation.
#[derive(Default)]
pub struct Stat {
    /// All messages.
    pub all: Count,
    /// Messages with a fault.
    pub faulty: u64,
    /// Messages that wiretool dropped as a fault: no peer received them.
    pub dropped: u64,
    /// Messages that wiretool sent, and no peer.
    pub sent: u64,
    /// Responses whose id has another form than that of the request: some clients do not match
    /// them.
    pub id_form_differs: u64,
    /// Findings that only follow from a message, by that message.
    pub follow: Vec<Consequences>,
    /// Findings by rule.
    pub findings: BTreeMap<String, u64>,
    /// Messages by direction and kind.
    pub kinds: BTreeMap<StatGroup, Count>,
    /// Latencies by request: up to the first response.
    pub latencies: BTreeMap<String, Latency>,
    /// The number of answers without a latency: they, or their requests, have no times.
    pub untimed: u64,
    /// The slowest calls, the slowest first.
    pub slowest: Vec<CallStat>,
    /// Error responses by code, and results that say that the call failed.
    pub errors: BTreeMap<String, u64>,
    /// Streams by request.
    pub streams: BTreeMap<String, Streams>,
    /// Operations by subject, if they are asked for.
    pub operations: BTreeMap<String, OperationStat>,
    /// What it costs, if that is asked for.
    pub cost: Option<Box<Cost>>,
    /// Reads by the number of messages that each completed; only for recordings.
    pub reads: BTreeMap<u64, u64>,
    /// First and last time, in ns since 1970, where known.
    pub times: Option<(i64, i64)>,
    /// Messages over time, where times are known.
    pub rate: Option<Rate>,
    running: HashMap<u64, RunningStream>,
    in_read: Option<u64>,
}

/// Returns the entry of a name, or that of all others if there are too many.
fn entry<'m, V: Default>(map: &'m mut BTreeMap<String, V>, name: &str) -> &'m mut V {
    let known = map.len() < MAX_NAMES || map.contains_key(name);
    map.entry(if known { name } else { OTHER }.to_owned())
        .or_default()
}

impl Stat {
    /// Counts one message.
    pub fn add_message(&mut self, decoded: &Decoded<'_>, verdict: Verdict<'_>) {
        let (message, origin, len) = (decoded.message, decoded.origin, decoded.frame.len);
        self.all.add(len);
        if let Some(read) = &mut self.in_read {
            *read += 1;
        }
        if let Some(time) = origin.time {
            let (first, last) = self.times.unwrap_or((time, time));
            self.times = Some((first.min(time), last.max(time)));
            match &mut self.rate {
                Some(rate) => rate.add(time),
                None => self.rate = Some(Rate::new(time)),
            }
        }
        if let Some(cost) = &mut self.cost {
            cost.add_message(decoded, verdict);
        }
        self.faulty += u64::from(decoded.is_faulty());
        self.sent += u64::from(decoded.is_sent());
        for finding in verdict.findings {
            *entry(&mut self.findings, &finding.name()) += 1;
        }
        let mut sort = StatGroup {
            direction: origin.direction,
            kind: message.kind.as_ref().to_owned(),
        };
        if self.kinds.len() >= MAX_NAMES && !self.kinds.contains_key(&sort) {
            OTHER.clone_into(&mut sort.kind);
        }
        self.kinds.entry(sort).or_default().add(len);
        // A dropped message is no response to its peer.
        if decoded.is_dropped() {
            self.dropped += 1;
            let ends = verdict.answer.filter(|answer| answer.last);
            if let Some(answer) = ends {
                self.running.remove(&answer.to);
            }
            return;
        }
        if message.is_error() {
            let code = message.outcome.as_deref().unwrap_or("(no code)");
            *entry(&mut self.errors, code) += 1;
        }
        let Some(answer) = verdict.answer else {
            return;
        };
        self.id_form_differs += u64::from(answer.id_form_differs);
        let is_counted = !decoded.protocol.descriptor().has_unique_names;
        let name = answer.name.as_deref().filter(|_| is_counted);
        let what = match with_name(answer.subject.as_deref(), name).as_ref() {
            "" => answer.kind.to_string(),
            about => [&answer.kind, " ", about].concat(),
        };
        let running = self.running.contains_key(&answer.to);
        match answer.latency {
            Some(latency) if !running => {
                self.add_call(&what, answer.to, decoded.index, latency);
            }
            Some(_) => {}
            None => self.untimed += 1,
        }
        if message.role == Some(Role::Item) {
            self.add_item(&what, answer.to, origin.time, len);
        }
        if answer.last {
            self.running.remove(&answer.to);
        }
    }

    /// Counts an operation that has ended. `what`: its subject and name.
    pub fn add_operation(&mut self, what: &str, operation: &Operation) {
        let is_known = self.operations.contains_key(what);
        let name = match self.operations.len() {
            MAX_TIMED.. if !is_known => OTHER,
            _ => what,
        };
        let entry = self.operations.entry(name.to_owned());
        entry.or_default().add(operation);
    }

    /// Starts a read of a recording: it completes the messages that follow.
    pub fn start_read(&mut self) {
        self.end_read();
        self.in_read = Some(0);
    }

    /// Leaves out reads: they complete messages of several protocols.
    pub(crate) fn leave_out_reads(&mut self) {
        self.in_read = None;
        self.reads.clear();
    }

    /// Ends the statistics of a conversation in the messages' protocol.
    pub fn finish(&mut self, conversation: &ProtocolConversation<'_>) {
        self.end_read();
        self.follow.extend(conversation.consequences());
    }

    fn end_read(&mut self) {
        if let Some(completed) = self.in_read.take() {
            let known = self.reads.len() < MAX_NAMES || self.reads.contains_key(&completed);
            *self
                .reads
                .entry(if known { completed } else { u64::MAX })
                .or_default() += 1;
        }
    }

    fn add_call(&mut self, what: &str, asked: u64, answered: u64, latency: i64) {
        let known = self.latencies.len() < MAX_TIMED || self.latencies.contains_key(what);
        let name = if known { what } else { OTHER };
        if !self.latencies.contains_key(name)
            && let Some(new) = Latency::new()
        {
            self.latencies.insert(name.to_owned(), new);
        }
        if let Some(entry) = self.latencies.get_mut(name) {
            // Clocks can step back; a negative latency counts as zero.
            entry.record(latency.max(0) as u64);
        }
        let at = self.slowest.partition_point(|call| call.latency >= latency);
        if at < MAX_SLOWEST {
            let call = CallStat {
                asked,
                answered,
                what: what.to_owned(),
                latency,
            };
            self.slowest.insert(at, call);
            self.slowest.truncate(MAX_SLOWEST);
        }
    }

    fn add_item(&mut self, what: &str, asked: u64, time: Option<i64>, len: u64) {
        let new = !self.running.contains_key(&asked);
        if new && self.running.len() >= MAX_STREAMS {
            return;
        }
        let stream = self.running.entry(asked).or_insert_with(|| RunningStream {
            subject: what.to_owned(),
            last: time,
        });
        let lasted = stream
            .last
            .zip(time)
            .map_or(0, |(a, b)| b.saturating_sub(a));
        stream.last = time;
        let streams = entry(&mut self.streams, &stream.subject);
        streams.count += u64::from(new);
        streams.items += 1;
        streams.bytes += len;
        streams.lasted = streams.lasted.saturating_add(lasted.max(0));
    }
}
