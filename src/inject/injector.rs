//! All connections of a run: selects the messages of each fault, and returns the bytes to send.

use super::apply::FaultTarget;
use super::edit::EditKind;
use super::queue::{DirectionQueue, Out};
use super::{Action, CorruptSpot, InjectedFault};
use crate::capture::{Event, EventKind};
use crate::conversation::{Output, RuleSettings, Run, Verdict};
use crate::decoder::{DecodeOptions, Decoded, Decoder, FrameSink, Origin};
use crate::encoding::Want;
use crate::framing::Framing;
use crate::protocol::{Direction, Lane};
use crate::select::Expr;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::ops::ControlFlow;

/// The name of an added message in events, where other events name their fault.
const SENT: &str = "sent";
/// The number of bytes held while their framing is unknown; detection needs fewer.
const MAX_UNDETECTED: usize = 128 << 10;

/// The faults of a run.
#[derive(Clone, Debug, Default)]
pub struct FaultPlan {
    /// The faults, in the order in which they apply to one message.
    pub faults: Vec<InjectedFault>,
    /// The seed of all random choices.
    pub seed: u64,
    /// The new Host field of every HTTP request.
    pub host: Option<String>,
    /// Messages can be added ([`Injector::insert`]).
    pub inserts: bool,
}

impl FaultPlan {
    /// Returns `true` if nothing is to be changed.
    pub fn is_empty(&self) -> bool {
        self.faults.is_empty() && self.host.is_none() && !self.inserts
    }

    /// Returns `true` if messages in this direction can be affected; the other direction passes
    /// unchanged.
    pub fn affects(&self, direction: Direction) -> bool {
        self.host.is_some() && direction == Direction::ToServer || self.matches_direction(direction)
    }

    /// Returns `true` if a fault can match messages in this direction.
    fn matches_direction(&self, direction: Direction) -> bool {
        self.faults.iter().any(|f| f.condition.allows(direction))
    }

    /// Returns `true` if a fault has a code, which only QUIC can send.
    pub fn has_codes(&self) -> bool {
        let code = |fault: &InjectedFault| match fault.action {
            Action::Close(code) | Action::Reset(code) => code,
            _ => None,
        };
        self.faults.iter().any(|fault| code(fault).is_some())
    }

    /// Returns `true` if a condition depends on the conversation.
    pub fn needs_session(&self) -> bool {
        self.faults.iter().any(|f| f.condition.needs_session())
    }

    /// Returns the details that it needs of a message.
    pub fn want(&self) -> Want {
        let needs_positions = |fault: &InjectedFault| {
            fault.condition.want() == Want::Places
                || matches!(fault.action, Action::Corrupt(CorruptSpot::At(_)))
        };
        if self.faults.iter().any(needs_positions) {
            Want::Places
        } else {
            Want::Head
        }
    }

    /// Returns the entries of a recording before any traffic: the keys of `inject` events.
    pub fn planned_events(&self) -> Vec<Map<String, Value>> {
        let fault = |fault: &InjectedFault| {
            let mut details = Map::new();
            details.insert("fault".into(), fault.to_string().into());
            details.insert("seed".into(), self.seed.into());
            details
        };
        let host = self.host.iter().map(|host| {
            let mut details = Map::new();
            details.insert("rewrite".into(), "host".into());
            details.insert("is".into(), host.as_str().into());
            details
        });
        self.faults.iter().map(fault).chain(host).collect()
    }
}

/// The reason why a message cannot be added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InsertError {
    /// Part of another message was sent.
    InsideMessage,
    /// The ends of messages of this direction are not known.
    Unknown,
}

/// Takes the bytes that were read, and returns those to send.
pub struct Injector<'p> {
    plan: FaultPlan,
    affects: [bool; 2],
    run: Run<'p>,
    queues: BTreeMap<Lane, DirectionQueue>,
    /// The number of bytes of each direction, if messages can be added.
    lengths: BTreeMap<Lane, u64>,
    /// The number of messages that each fault has matched.
    counts: Vec<u64>,
    scratch: Vec<u8>,
    /// The maximum number of bytes held for one direction.
    most: usize,
}

impl<'p> Injector<'p> {
    /// Creates an injector at the start of all streams. The decoder reads the details that the plan
    /// needs.
    pub fn new(plan: FaultPlan, options: DecodeOptions<'p>) -> Self {
        let limit = options.limits.message as usize;
        let options = DecodeOptions {
            want: plan.want(),
            ..options
        };
        let mut conditions = plan.faults.iter().map(|fault| &fault.condition);
        let operations = conditions.any(Expr::needs_operations);
        let rules = plan.needs_session().then(|| RuleSettings {
            operations,
            ..RuleSettings::default()
        });
        let ways = [Direction::ToServer, Direction::ToClient];
        Self {
            affects: ways.map(|way| plan.affects(way)),
            run: Run::of_items(options, rules),
            queues: BTreeMap::new(),
            lengths: BTreeMap::new(),
            counts: vec![0; plan.faults.len()],
            plan,
            scratch: Vec::new(),
            // Bytes between those of a message need space too.
            most: limit + limit / 4 + (2 << 20),
        }
    }

    /// Returns `true` if bytes in this direction can be held or changed; others need not wait for
    /// [`Injector::push`].
    pub fn affects(&self, direction: Direction) -> bool {
        match direction {
            Direction::ToServer => self.affects[0],
            Direction::ToClient => self.affects[1],
        }
    }

    /// Takes bytes as they were read, and appends the resulting actions to `out`.
    pub fn push(&mut self, origin: Origin, bytes: &[u8], out: &mut Vec<Out>) {
        let direction = origin.direction.unwrap_or(Direction::ToServer);
        let touched = self.affects(direction);
        if !touched {
            out.push(Out::Bytes(bytes.to_vec()));
            if self.run.conversation().is_none() && !self.plan.inserts {
                return;
            }
        }
        if self.plan.inserts {
            *self.lengths.entry(origin.lane()).or_default() += bytes.len() as u64;
        }
        let mut held = 0;
        if touched {
            held = self.queues.entry(origin.lane()).or_default().add(bytes);
        }
        self.look(|decoder, sink| decoder.push(origin, bytes, sink));
        let Some(queue) = self.queues.get_mut(&origin.lane()) else {
            return;
        };
        match self.run.decoder().progress(origin) {
            Some((begun, taken)) => queue.release(begun, taken),
            // The end of its messages is not known.
            None if held > MAX_UNDETECTED || queue.start_offset() > 0 => queue.flush_all(),
            None => {}
        }
        // If only hosts are rewritten, nothing remains to do after the end of HTTP.
        let done =
            !self.plan.matches_direction(direction) && self.run.decoder().is_websocket(origin);
        if held > self.most || done {
            queue.flush_all();
        }
        queue.take_actions(out);
    }

    /// Adds a message between two messages of its direction, and appends the resulting actions to `out`: the event first.
    /// `bytes` are a whole frame.
    ///
    /// # Errors
    ///
    /// Fails if the direction is inside a message, or if its framing is not known.
    pub fn insert(
        &mut self,
        origin: Origin,
        bytes: &[u8],
        out: &mut Vec<Out>,
    ) -> Result<(), InsertError> {
        let length = self.lengths.get(&origin.lane()).copied();
        match (length, self.run.decoder().progress(origin)) {
            (Some(length), Some((begun, _))) if begun == length => {}
            (_, Some((begun, _))) if begun != u64::MAX => return Err(InsertError::InsideMessage),
            _ => return Err(InsertError::Unknown),
        }
        let direction = origin.direction.unwrap_or(Direction::ToServer);
        let mut event = Map::new();
        event.insert("dir".into(), direction.name().into());
        event.insert("offset".into(), length.into());
        event.insert("len".into(), bytes.len().into());
        event.insert("fault".into(), SENT.into());
        out.push(Out::Event(event));
        self.push(origin, bytes, out);
        Ok(())
    }

    /// Ends one direction of a connection or a stream: all held bytes are sent.
    pub fn end(&mut self, origin: Origin, out: &mut Vec<Out>) {
        self.look(|decoder, sink| decoder.end(origin, sink));
        let what = match origin.stream {
            None => EventKind::Eof,
            Some(_) => EventKind::Fin,
        };
        self.record_event(origin, what);
        if let Some(queue) = self.queues.get_mut(&origin.lane()) {
            queue.flush_all();
            queue.take_actions(out);
        }
        // A connection can have any number of streams.
        if origin.stream.is_some() {
            self.queues.remove(&origin.lane());
            self.lengths.remove(&origin.lane());
        }
    }

    /// Closes a connection and drops its state.
    pub fn close(&mut self, conn: u32) {
        self.look(|decoder, sink| decoder.close(Some(conn), sink));
        let origin = Origin {
            conn: Some(conn),
            ..Origin::default()
        };
        self.record_event(origin, EventKind::Close);
        self.queues.retain(|lane, _| lane.conn != Some(conn));
        self.lengths.retain(|lane, _| lane.conn != Some(conn));
    }

    /// Returns `true` if there is no state of a direction.
    #[cfg(test)]
    pub fn is_idle(&self) -> bool {
        self.queues.is_empty() && self.lengths.is_empty()
    }

    /// Passes an event to the run, so that it drops state for responses that cannot come any more.
    fn record_event(&mut self, origin: Origin, what: EventKind<'_>) {
        let event = Event {
            stream: origin.stream,
            direction: origin.direction,
            ..Event::new(origin.conn.unwrap_or_default(), what)
        };
        self.run.event_without_sink(&event);
    }

    /// Applies faults to the messages that a step of the decoder yields.
    fn look(&mut self, step: impl FnOnce(&mut Decoder<'p>, &mut FrameSink<'_>)) {
        let Self {
            plan,
            run,
            queues,
            counts,
            scratch,
            ..
        } = self;
        let mut sink = |output: Output<'_>| -> ControlFlow<Infallible> {
            if let Output::Message(decoded, verdict) = output {
                let lane = decoded.origin.lane();
                if let Some(queue) = queues.get_mut(&lane)
                    && !queue.is_over()
                {
                    frame(plan, counts, lane, queue, decoded, verdict, scratch);
                }
            }
            ControlFlow::Continue(())
        };
        let ControlFlow::Continue(()) = run.decode(step, &mut sink);
    }
}

/// Applies the matching faults to one message.
fn frame(
    plan: &FaultPlan,
    counts: &mut [u64],
    lane: Lane,
    queue: &mut DirectionQueue,
    decoded: &Decoded<'_>,
    verdict: Option<Verdict<'_>>,
    scratch: &mut Vec<u8>,
) {
    let (offset, len) = (decoded.frame.offset, decoded.frame.len);
    // The line end belongs to the line.
    let end = match decoded.frame.framing {
        Framing::Lines => decoded.next,
        _ => offset + len,
    };
    let target = FaultTarget {
        decoded,
        own: queue.frame(offset..end),
        end,
    };
    if target.opens_chunks(queue) {
        queue.edit(offset + len..offset + len, EditKind::Chunks);
    }
    let direction = lane.direction.unwrap_or(Direction::ToServer);
    let mut details = Map::new();
    if direction == Direction::ToServer
        && let Some(host) = &plan.host
    {
        for (run, was) in target.rewrite_host(host, queue) {
            let mut event = about(decoded, direction);
            event.insert("rewrite".into(), "host".into());
            event.insert("was".into(), was.into());
            event.insert("is".into(), host.as_str().into());
            queue.edit(offset..offset, EditKind::Event(event));
            queue.edit(run, EditKind::Put(host.as_bytes().to_vec()));
        }
    }
    for (n, (fault, count)) in plan.faults.iter().zip(counts).enumerate() {
        if !fault.condition.holds(decoded, verdict, scratch) {
            continue;
        }
        *count += 1;
        let frequency = fault.frequency;
        let is_nth = frequency.nth.is_none_or(|nth| *count == nth);
        let is_one_of = frequency.every.is_none_or(|every| *count % every == 0);
        let mut rng = queue.rng(n, plan.seed, lane).clone();
        let falls = frequency.chance.is_none_or(|chance| rng.f64() < chance);
        if is_nth && is_one_of && falls {
            details.clear();
            let edits = target.apply(&fault.action, queue, &mut rng, &mut details);
            let mut event = about(decoded, direction);
            event.insert("fault".into(), fault.to_string().into());
            event.append(&mut details);
            queue.edit(offset..offset, EditKind::Event(event));
            for (run, operation) in edits {
                queue.edit(run, operation);
            }
        }
        *queue.rng(n, plan.seed, lane) = rng;
    }
}

/// Describes the message of an event.
fn about(decoded: &Decoded<'_>, direction: Direction) -> Map<String, Value> {
    let mut event = Map::new();
    event.insert("dir".into(), direction.name().into());
    event.insert("offset".into(), decoded.frame.offset.into());
    event.insert("len".into(), decoded.frame.len.into());
    let message = decoded.message;
    if !message.kind.is_empty() {
        event.insert("kind".into(), message.kind.as_ref().into());
    }
    let id = message.id.text();
    if !id.is_empty() {
        event.insert("id".into(), id.into());
    }
    event
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::protocol::registry;

    #[test]
    fn closed_connection_leaves_no_state() {
        for condition in ["kind=ready", "reply_to>=0"] {
            leaves_nothing(condition);
        }
    }

    fn from_client(conn: u32) -> Origin {
        Origin {
            conn: Some(conn),
            direction: Some(Direction::ToServer),
            ..Origin::default()
        }
    }

    fn leaves_nothing(condition: &str) {
        let fault = format!("{condition} nth 900000: drop").parse().unwrap();
        let plan = FaultPlan {
            faults: vec![fault],
            ..FaultPlan::default()
        };
        let asked = br#"{"jsonrpc":"2.0","id":1,"method":"invoke","params":{"selector":"f","calldata":[]}}"#;
        let options = DecodeOptions {
            want: Want::Head,
            ..DecodeOptions::new(vec![registry::find("oracle").unwrap()])
        };
        let mut injector = Injector::new(plan, options);
        let mut out = Vec::new();
        for conn in 0..100 {
            injector.push(from_client(conn), asked, &mut out);
            injector.push(from_client(conn), b"\n{\"half", &mut out);
            assert_eq!(injector.queues.len(), 1);
            let waiting = |injector: &Injector<'_>| {
                let all = injector.run.conversation();
                all.map_or(0, |all| all.waiting().len())
            };
            assert_eq!(waiting(&injector), usize::from(condition != "kind=ready"));
            assert!(injector.run.decoder().progress(from_client(conn)).is_some());
            injector.close(conn);
            assert!(injector.is_idle());
            assert_eq!(waiting(&injector), 0);
            assert!(injector.run.decoder().progress(from_client(conn)).is_none());
        }
    }

    #[test]
    fn streams_do_not_wait_for_each_other() {
        let on = |stream| Origin {
            stream: Some(stream),
            ..from_client(1)
        };
        let frame = b"\x0a\0\0\0\x12\xfa\xbb\xe5\0\0\0\0\0\0";
        let (half, rest) = frame.split_at(9);
        let plan = FaultPlan {
            faults: vec!["nth 2: reset 7".parse().unwrap()],
            ..FaultPlan::default()
        };
        let telequick = registry::find("telequick").unwrap();
        let mut injector = Injector::new(plan, DecodeOptions::new(vec![telequick]));
        let mut out = Vec::new();
        injector.push(on(0), half, &mut out);
        assert_eq!(out, []);
        injector.push(on(4), frame, &mut out);
        assert_eq!(out, [Out::Bytes(frame.to_vec())]);
        out.clear();
        injector.push(on(0), rest, &mut out);
        assert!(
            matches!(out[..], [Out::Event(_), Out::Reset(Some(7))]),
            "{out:?}"
        );
        for stream in [0, 4] {
            injector.end(on(stream), &mut out);
        }
        assert!(injector.queues.is_empty());
    }
}
