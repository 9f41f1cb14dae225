//! The TCP connections of a capture, numbered in the order of their first packet.
//!
//! ```text
//!   segment -> connection (addresses, ports; a new SYN starts a new one)
//!           -> stream of its direction, in order -> chunk, lost, eof
//!           -> both ended: close; RST: reset
//! ```

use super::super::chunk::{EventKind, ItemSink};
use super::ip::TcpSegment;
use super::opener::OwnedPart;
use super::output::{FlowKey, FlowKind, FlowOutput};
use super::stream::{CapturedAt, SegmentStream};
use std::collections::{BTreeSet, HashMap, VecDeque};

/// The maximum number of ports that a note names.
const MAX_PORTS: usize = 16;

/// The maximum number of closed connections that are known, so that a late packet starts none.
const MAX_CLOSED: usize = 1 << 15;
/// The maximum number of connections at a time; beyond it the oldest are given up.
const MAX_FLOWS: usize = 1 << 16;
/// The maximum memory of bytes that wait until it is known which side is the client.
const MAX_UNDECIDED: usize = 8 << 20;

/// The two streams of a connection.
struct Flow {
    streams: [SegmentStream; 2],
    output: FlowOutput,
    /// Everything up to both ends was passed on.
    is_closed: bool,
    /// A reset that waits for holes.
    reset: Option<(usize, CapturedAt)>,
}

/// All connections.
#[derive(Default)]
pub(super) struct Connections {
    flows: HashMap<FlowKey, Flow>,
    closed: VecDeque<FlowKey>,
    /// All in the order of their first packet; some have ended.
    order: VecDeque<(u32, FlowKey)>,
    /// The memory of bytes that wait until the client is known.
    undecided: usize,
    /// Their number.
    pub count: u32,
    /// Those that are encrypted with TLS: their number, and the first one's.
    pub tls: u32,
    pub first_tls: Option<u32>,
    /// Connections with bytes that were passed on.
    pub plain: u32,
    /// Holes that were given up because of the limit.
    pub given_up: u64,
    /// The ports to read; all if empty.
    pub(super) ports: Vec<u16>,
    /// A connection has one of these ports.
    pub(super) has_chosen: bool,
    /// The first ports of connections that are not read.
    pub(super) other_ports: BTreeSet<u16>,
    /// The memory of segments that wait.
    held: usize,
    limit: usize,
}

impl Connections {
    pub(super) fn new(ports: Vec<u16>, limit: usize) -> Self {
        Self {
            ports,
            has_chosen: false,
            other_ports: BTreeSet::new(),
            limit,
            ..Self::default()
        }
    }

    /// Adds a segment.
    pub(super) fn segment(
        &mut self,
        segment: &TcpSegment<'_>,
        at: CapturedAt,
        sink: &mut ItemSink<'_>,
    ) {
        let (key, side) = if segment.from <= segment.to {
            ([segment.from, segment.to], 0)
        } else {
            ([segment.to, segment.from], 1)
        };
        let is_other = segment.syn
            && self.flows.get_mut(&key).is_some_and(|flow| {
                let stream = flow.streams.get_mut(side);
                stream.is_some_and(|s| !s.syn(segment.sequence))
            });
        if is_other && let Some(flow) = self.flows.remove(&key) {
            self.finish_flow(flow, Some(at), sink);
        }
        if !self.flows.contains_key(&key) {
            self.make_room(sink);
            self.order.push_back((self.count, key));
        }
        let flow = match self.flows.entry(key) {
            std::collections::hash_map::Entry::Occupied(entry) => entry.into_mut(),
            std::collections::hash_map::Entry::Vacant(entry) => {
                let is_wanted =
                    self.ports.is_empty() || key.iter().any(|end| self.ports.contains(&end.port()));
                let number = self.count;
                self.count = self.count.saturating_add(1);
                self.has_chosen |= is_wanted;
                if !is_wanted && self.other_ports.len() < MAX_PORTS {
                    self.other_ports.extend(key.map(|end| end.port()));
                }
                let flow = entry.insert(Flow::new(number, key, at, is_wanted));
                if segment.syn
                    && let Some(stream) = flow.streams.get_mut(side)
                {
                    stream.syn(segment.sequence);
                }
                flow
            }
        };
        if flow.is_closed {
            return;
        }
        let (held, undecided) = (flow.held(), flow.output.waiting_memory());
        let was_reset = flow.output.is_reset;
        let before = flow.output.kind;
        let had_bytes = flow.output.has_bytes != [false; 2];
        flow.segment(side, segment, at, sink);
        self.held = (self.held + flow.held()).saturating_sub(held);
        self.undecided = (self.undecided + flow.output.waiting_memory()).saturating_sub(undecided);
        if self.undecided > MAX_UNDECIDED {
            self.undecided = self.undecided.saturating_sub(flow.output.waiting_memory());
            flow.output.choose_client(None, sink);
        }
        let output = &flow.output;
        if output.kind == FlowKind::Tls && before != FlowKind::Tls {
            self.tls += 1;
            self.first_tls.get_or_insert(output.number);
        } else if output.kind == FlowKind::Plain && !had_bytes {
            self.plain += u32::from(output.has_bytes != [false; 2]);
        }
        if flow.is_closed || (flow.output.is_reset && !was_reset) {
            self.forget(key);
        }
        if self.held > self.limit {
            self.give_up_holes(sink);
        }
    }

    /// Bounds the number of connections.
    fn make_room(&mut self, sink: &mut ItemSink<'_>) {
        while self.flows.len() >= MAX_FLOWS || self.order.len() >= 2 * MAX_FLOWS {
            let Some((number, key)) = self.order.pop_front() else {
                return;
            };
            let is_this = self
                .flows
                .get(&key)
                .is_some_and(|flow| flow.output.number == number);
            if is_this && let Some(flow) = self.flows.remove(&key) {
                self.finish_flow(flow, None, sink);
            }
        }
    }

    /// Bounds the number of closed connections that are known.
    fn forget(&mut self, key: FlowKey) {
        self.closed.push_back(key);
        if self.closed.len() > MAX_CLOSED
            && let Some(oldest) = self.closed.pop_front()
            && self
                .flows
                .get(&oldest)
                .is_some_and(|flow| flow.is_closed || flow.output.is_reset)
        {
            self.flows.remove(&oldest);
        }
    }

    /// Gives up the oldest holes until an eighth of the memory is free.
    fn give_up_holes(&mut self, sink: &mut ItemSink<'_>) {
        let mut holes: Vec<(u64, FlowKey, usize)> = Vec::new();
        for (key, flow) in &self.flows {
            let with_holes = flow
                .streams
                .iter()
                .enumerate()
                .filter(|(_, s)| s.has_hole());
            holes.extend(with_holes.map(|(side, s)| (s.hole_since, *key, side)));
        }
        holes.sort_unstable();
        for (_, key, side) in holes {
            let Some(flow) = self.flows.get_mut(&key) else {
                continue;
            };
            while self.held > self.limit - self.limit / 8 && flow.has_hole(side) {
                let held = flow.held();
                flow.give_up_hole(side, sink);
                self.held = (self.held + flow.held()).saturating_sub(held);
                self.given_up += 1;
            }
        }
    }

    /// Ends the capture.
    pub(super) fn finish(&mut self, sink: &mut ItemSink<'_>) {
        let mut flows: Vec<Flow> = self.flows.drain().map(|(_, flow)| flow).collect();
        flows.sort_unstable_by_key(|flow| flow.output.number);
        for flow in flows {
            self.finish_flow(flow, None, sink);
        }
    }

    /// Ends a connection; `replaced_at`: another one with the same addresses begins.
    fn finish_flow(
        &mut self,
        mut flow: Flow,
        replaced_at: Option<CapturedAt>,
        sink: &mut ItemSink<'_>,
    ) {
        self.held = self.held.saturating_sub(flow.held());
        self.undecided = self.undecided.saturating_sub(flow.output.waiting_memory());
        while let Some(side) = flow.oldest_hole() {
            flow.give_up_hole(side, sink);
        }
        flow.finish_reset(sink);
        flow.output.choose_client(None, sink);
        if let Some(at) = replaced_at
            && !flow.is_closed
            && !flow.output.is_reset
        {
            flow.output.event(EventKind::Close, None, at, None, sink);
        }
    }
}

impl Flow {
    fn new(number: u32, ends: FlowKey, at: CapturedAt, is_wanted: bool) -> Self {
        Self {
            streams: Default::default(),
            output: FlowOutput::new(number, ends, at, is_wanted),
            is_closed: false,
            reset: None,
        }
    }

    fn held(&self) -> usize {
        self.streams.iter().map(|stream| stream.held).sum()
    }

    fn has_hole(&self, side: usize) -> bool {
        self.streams.get(side).is_some_and(SegmentStream::has_hole)
    }

    /// Returns the side with the oldest hole.
    fn oldest_hole(&self) -> Option<usize> {
        let holes = self
            .streams
            .iter()
            .enumerate()
            .filter(|(_, s)| s.has_hole());
        holes
            .min_by_key(|(_, s)| s.hole_since)
            .map(|(side, _)| side)
    }

    fn segment(
        &mut self,
        side: usize,
        segment: &TcpSegment<'_>,
        at: CapturedAt,
        sink: &mut ItemSink<'_>,
    ) {
        if segment.syn {
            let client = if segment.ack { 1 - side } else { side };
            self.output.choose_client(Some(client), sink);
        }
        let Self {
            streams, output, ..
        } = self;
        let Some(stream) = streams.get_mut(side) else {
            return;
        };
        if let Some(start) = output.has_start.get_mut(side) {
            *start = stream.has_start();
        }
        // A SYN takes a sequence number; the payload begins after it.
        let sequence = segment.sequence.wrapping_add(u32::from(segment.syn));
        let len = segment.payload.len() as u32 + segment.missing;
        let fin = segment.fin.then_some(len);
        stream.segment(sequence, segment.payload, fin, at, &mut |at, part| {
            output.part(side, at, part, sink);
        });
        if stream.is_complete() && !stream.has_hole() {
            output.end(side, at, sink);
        }
        if segment.rst && self.reset.is_none() {
            self.reset = Some((side, at));
        }
        if !self.has_hole(0) && !self.has_hole(1) {
            self.finish_reset(sink);
            if self.output.has_ended == [true; 2] {
                self.output.choose_client(None, sink);
                self.output.event(EventKind::Close, None, at, None, sink);
                self.is_closed = true;
            }
        }
    }

    fn give_up_hole(&mut self, side: usize, sink: &mut ItemSink<'_>) {
        let Self {
            streams, output, ..
        } = self;
        if let Some(stream) = streams.get_mut(side) {
            stream.give_up_hole(&mut |at, part| output.part(side, at, part, sink));
        }
    }

    /// Reports a reset, once everything before it was passed on.
    fn finish_reset(&mut self, sink: &mut ItemSink<'_>) {
        if let Some((side, at)) = self.reset
            && !self.output.is_reset
        {
            self.output.is_reset = true;
            self.output.owned(side, at, OwnedPart::Reset, sink);
        }
    }
}
