//! How much, how fast, how often: what a conversation comes to in numbers.
//!
//! ```text
//!   Decoded, Verdict ---> Stat { kinds, latencies by subject, slowest, errors, streams, reads }
//! ```
//!
//! Memory is bounded: subjects, kinds and codes beyond [`MOST`] are counted together under [`OTHER`].

#![allow(clippy::cast_precision_loss, clippy::cast_sign_loss)] // ratios for people, of numbers that are kept exact

use crate::conversation::{Consequences, Conversation, Verdict};
use crate::decoder::Decoded;
use crate::protocol::{Direction, Role};
use hdrhistogram::Histogram;
use std::collections::{BTreeMap, HashMap};

/// Names that are counted each on its own.
pub const MOST: usize = 1 << 12;
/// What all other names are counted under.
pub const OTHER: &str = "(others)";
/// Subjects whose times are kept apart: each takes some KiB.
const TIMED: usize = 1 << 9;
/// Slowest calls that are kept.
const SLOWEST: usize = 10;
/// Streams that are followed at a time.
const STREAMS: usize = 1 << 12;
/// Bars of a small histogram.
pub const BARS: usize = 12;

/// Messages and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// How many.
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

/// Which way, and what kind.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sort {
    /// Which way, where known.
    pub direction: Option<Direction>,
    /// The kind; empty where a message could not be read that far.
    pub kind: String,
}

/// A call and its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The message that asked.
    pub asked: u64,
    /// The message that answered.
    pub answered: u64,
    /// Kind, and subject where there is one.
    pub what: String,
    /// Nanoseconds between the two.
    pub latency: i64,
}

/// Times of one subject: the slowest exactly, all others to two digits.
#[derive(Clone, Debug)]
pub struct Latency {
    histogram: Histogram<u32>,
    max: u64,
}

impl Latency {
    fn new() -> Option<Self> {
        // From a nanosecond up; the range grows as it must.
        let histogram = Histogram::new(2).ok()?;
        Some(Self { histogram, max: 0 })
    }

    /// How many answers.
    pub fn count(&self) -> u64 {
        self.histogram.len()
    }

    /// Nanoseconds that so many percent of the answers took at most.
    pub fn percentile(&self, percent: f64) -> u64 {
        self.histogram.value_at_percentile(percent).min(self.max())
    }

    /// Nanoseconds that the slowest answer took.
    pub fn max(&self) -> u64 {
        self.max
    }

    fn record(&mut self, ns: u64) {
        // Within its range, which grows, nothing is refused.
        if self.histogram.record(ns).is_ok() {
            self.max = self.max.max(ns);
        }
    }

    /// How many answers fall into each of [`BARS`] steps, which grow by the same factor from the quickest to the slowest.
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
    /// How many streams.
    pub count: u64,
    /// Their items.
    pub items: u64,
    /// Bytes of the items' frames.
    pub bytes: u64,
    /// Nanoseconds from each one's first item to its last, all together.
    pub lasted: i64,
}

impl Streams {
    /// Items a second, where times are known and a stream has more than one.
    pub fn rate(&self) -> Option<f64> {
        let steps = self.items.saturating_sub(self.count);
        (self.lasted > 0 && steps > 0).then(|| steps as f64 / (self.lasted as f64 / 1e9))
    }
}

/// A stream that runs.
struct Running {
    subject: String,
    last: Option<i64>,
}

/// The numbers of one conversation.
#[derive(Default)]
pub struct Stat {
    /// All messages.
    pub all: Count,
    /// Messages at fault.
    pub faulty: u64,
    /// Messages that wiretool dropped on purpose: no peer received them.
    pub dropped: u64,
    /// Requests whose last answer is one of these.
    pub unreceived: u64,
    /// Answers whose id has another form than that of the request: some clients do not match them.
    pub id_form_differs: u64,
    /// Findings that only follow from a message, by that message.
    pub follow: Vec<Consequences>,
    /// Rules broken, by name.
    pub findings: BTreeMap<String, u64>,
    /// Messages by direction and kind.
    pub kinds: BTreeMap<Sort, Count>,
    /// Answer times by what was asked: up to the first answer.
    pub latencies: BTreeMap<String, Latency>,
    /// The slowest calls, the slowest first.
    pub slowest: Vec<Call>,
    /// Answers that say no, by code.
    pub errors: BTreeMap<String, u64>,
    /// Streams by what was asked.
    pub streams: BTreeMap<String, Streams>,
    /// Reads by how many messages each completed; of recordings only.
    pub reads: BTreeMap<u64, u64>,
    /// First and last time, in ns since 1970, where known.
    pub times: Option<(i64, i64)>,
    running: HashMap<u64, Running>,
    in_read: Option<u64>,
}

/// The entry of a name, or of all others once there are too many.
fn entry<'m, V: Default>(map: &'m mut BTreeMap<String, V>, name: &str) -> &'m mut V {
    let known = map.len() < MOST || map.contains_key(name);
    map.entry(if known { name } else { OTHER }.to_owned())
        .or_default()
}

impl Stat {
    /// Counts one message.
    pub fn see(&mut self, decoded: &Decoded<'_>, verdict: Verdict<'_>) {
        let (message, origin, len) = (decoded.message, decoded.origin, decoded.frame.len);
        self.all.add(len);
        if let Some(read) = &mut self.in_read {
            *read += 1;
        }
        if let Some(time) = origin.time {
            let (first, last) = self.times.unwrap_or((time, time));
            self.times = Some((first.min(time), last.max(time)));
        }
        self.faulty += u64::from(decoded.is_faulty());
        for finding in verdict.findings {
            *entry(&mut self.findings, &finding.name()) += 1;
        }
        let mut sort = Sort {
            direction: origin.direction,
            kind: message.kind.as_ref().to_owned(),
        };
        if self.kinds.len() >= MOST && !self.kinds.contains_key(&sort) {
            OTHER.clone_into(&mut sort.kind);
        }
        self.kinds.entry(sort).or_default().add(len);
        // What was dropped answered nobody.
        if decoded.is_dropped() {
            self.dropped += 1;
            let ends = verdict.answer.filter(|answer| answer.last);
            self.unreceived += u64::from(ends.is_some());
            if let Some(answer) = ends {
                self.running.remove(&answer.to);
            }
            return;
        }
        if message.role == Some(Role::Error) {
            let code = message.outcome.as_deref().unwrap_or("(no code)");
            *entry(&mut self.errors, code) += 1;
        }
        let Some(answer) = verdict.answer else {
            return;
        };
        self.id_form_differs += u64::from(answer.id_form_differs);
        let what = match answer.subject.as_deref().filter(|s| !s.is_empty()) {
            Some(subject) => format!("{} {subject}", answer.kind),
            None => answer.kind.to_string(),
        };
        let running = self.running.contains_key(&answer.to);
        if let (Some(latency), false) = (answer.latency, running) {
            self.answered(&what, answer.to, decoded.index, latency);
        }
        if message.role == Some(Role::Item) {
            self.item(&what, answer.to, origin.time, len);
        }
        if answer.last {
            self.running.remove(&answer.to);
        }
    }

    /// A recording's read begins: the messages that follow were completed by it.
    pub fn read(&mut self) {
        self.end_read();
        self.in_read = Some(0);
    }

    /// Nothing more will come.
    pub fn finish(&mut self, conversation: &Conversation<'_>) {
        self.end_read();
        self.follow = conversation.consequences().collect();
    }

    fn end_read(&mut self) {
        if let Some(completed) = self.in_read.take() {
            let known = self.reads.len() < MOST || self.reads.contains_key(&completed);
            *self
                .reads
                .entry(if known { completed } else { u64::MAX })
                .or_default() += 1;
        }
    }

    fn answered(&mut self, what: &str, asked: u64, answered: u64, latency: i64) {
        let known = self.latencies.len() < TIMED || self.latencies.contains_key(what);
        let name = if known { what } else { OTHER };
        if !self.latencies.contains_key(name)
            && let Some(new) = Latency::new()
        {
            self.latencies.insert(name.to_owned(), new);
        }
        if let Some(entry) = self.latencies.get_mut(name) {
            // Clocks may step back; a time below zero is no time.
            entry.record(latency.max(0) as u64);
        }
        let at = self.slowest.partition_point(|call| call.latency >= latency);
        if at < SLOWEST {
            let call = Call {
                asked,
                answered,
                what: what.to_owned(),
                latency,
            };
            self.slowest.insert(at, call);
            self.slowest.truncate(SLOWEST);
        }
    }

    fn item(&mut self, what: &str, asked: u64, time: Option<i64>, len: u64) {
        let new = !self.running.contains_key(&asked);
        if new && self.running.len() >= STREAMS {
            return;
        }
        let stream = self.running.entry(asked).or_insert_with(|| Running {
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
