//! All connections of a run: which messages a fault means, and what goes out when.

use super::act::Target;
use super::edit::Does;
use super::lane::{Lane, Out};
use super::{Action, Fault, Spot};
use crate::capture::{Event, What};
use crate::conversation::{Conversation, Judge, Verdict};
use crate::decoder::{Decoded, Decoder, Options, Origin};
use crate::encoding::Want;
use crate::framing::Framing;
use crate::protocol::Direction;
use crate::protocol::session::SessionConfig;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Bytes that are held while nobody knows how they are delimited; detection has looked at fewer by then.
const UNKNOWN: usize = 128 << 10;

/// What is to go wrong.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// In this order where several mean one message.
    pub faults: Vec<Fault>,
    /// Decides what is left to chance.
    pub seed: u64,
    /// The Host field of every HTTP request becomes this.
    pub host: Option<String>,
}

impl Plan {
    /// Whether nothing is to be changed.
    pub fn is_empty(&self) -> bool {
        self.faults.is_empty() && self.host.is_none()
    }

    /// Whether messages that go this way may be meant: what goes the other way passes untouched.
    pub fn concerns(&self, direction: Direction) -> bool {
        self.host.is_some() && direction == Direction::ToServer || self.means(direction)
    }

    /// Whether a fault may mean messages that go this way.
    fn means(&self, direction: Direction) -> bool {
        self.faults.iter().any(|f| f.condition.allows(direction))
    }

    /// Whether a condition asks what only a conversation knows.
    pub fn needs_session(&self) -> bool {
        self.faults.iter().any(|f| f.condition.needs_session())
    }

    /// What it needs of a message.
    pub fn want(&self) -> Want {
        let places = |fault: &Fault| {
            fault.condition.want() == Want::Places
                || matches!(fault.action, Action::Corrupt(Spot::At(_)))
        };
        if self.faults.iter().any(places) {
            Want::Places
        } else {
            Want::Head
        }
    }

    /// What a recording says of it before anything has passed: the keys of `inject` events.
    pub fn told(&self) -> Vec<Map<String, Value>> {
        let fault = |fault: &Fault| {
            let mut told = Map::new();
            told.insert("fault".into(), fault.to_string().into());
            told.insert("seed".into(), self.seed.into());
            told
        };
        let host = self.host.iter().map(|host| {
            let mut told = Map::new();
            told.insert("rewrite".into(), "host".into());
            told.insert("is".into(), host.as_str().into());
            told
        });
        self.faults.iter().map(fault).chain(host).collect()
    }
}

/// Told what was read, it says what goes out.
pub struct Injector<'p> {
    plan: Plan,
    concerns: [bool; 2],
    decoder: Decoder<'p>,
    conversation: Option<Conversation<'p>>,
    lanes: BTreeMap<(u32, Direction), Lane>,
    /// How many messages each fault has meant.
    counts: Vec<u64>,
    scratch: Vec<u8>,
    /// Most bytes that are held of one direction.
    most: usize,
}

impl<'p> Injector<'p> {
    /// An injector that has seen nothing. What the plan needs of a message is asked for here.
    pub fn new(plan: Plan, options: Options<'p>) -> Self {
        let limit = options.limits.message as usize;
        let conversation = plan.needs_session().then(|| {
            let (judge, config) = (Judge::default(), SessionConfig::default());
            Conversation::new(&options.protocols, &judge, config, true)
        });
        let ways = [Direction::ToServer, Direction::ToClient];
        Self {
            concerns: ways.map(|way| plan.concerns(way)),
            decoder: Decoder::new(Options {
                want: plan.want(),
                ..options
            }),
            conversation,
            lanes: BTreeMap::new(),
            counts: vec![0; plan.faults.len()],
            plan,
            scratch: Vec::new(),
            // What stands between the bytes of a message takes room too.
            most: limit + limit / 4 + (2 << 20),
        }
    }

    /// Whether bytes that go this way may be held or changed; others need not wait for [`Injector::push`].
    pub fn concerns(&self, direction: Direction) -> bool {
        match direction {
            Direction::ToServer => self.concerns[0],
            Direction::ToClient => self.concerns[1],
        }
    }

    /// Bytes as they were read, `time` in ns since 1970; what is to be done goes to the end of `out`.
    pub fn push(
        &mut self,
        time: Option<i64>,
        conn: u32,
        direction: Direction,
        bytes: &[u8],
        out: &mut Vec<Out>,
    ) {
        let touched = self.concerns(direction);
        if !touched {
            out.push(Out::Bytes(bytes.to_vec()));
            if self.conversation.is_none() {
                return;
            }
        }
        let mut held = 0;
        if touched {
            held = self.lanes.entry((conn, direction)).or_default().take(bytes);
        }
        let origin = Origin {
            conn: Some(conn),
            direction: Some(direction),
            time,
        };
        self.look(|decoder, sink| decoder.push(origin, bytes, sink));
        let Some(lane) = self.lanes.get_mut(&(conn, direction)) else {
            return;
        };
        match self.decoder.progress(Some(conn), Some(direction)) {
            Some((begun, taken)) => lane.settle(begun, taken),
            // Nobody knows where its messages end.
            None if held > UNKNOWN || lane.begins() > 0 => lane.flush_all(),
            None => {}
        }
        // Where only hosts are rewritten, nothing is to be done any more once HTTP is over.
        let done =
            !self.plan.means(direction) && self.decoder.is_websocket(Some(conn), Some(direction));
        if held > self.most || done {
            lane.flush_all();
        }
        lane.hand_out(out);
    }

    /// One direction has ended: all that is held of it goes out.
    pub fn end(&mut self, conn: u32, direction: Direction, out: &mut Vec<Out>) {
        let origin = Origin {
            conn: Some(conn),
            direction: Some(direction),
            time: None,
        };
        self.look(|decoder, sink| decoder.end(origin, sink));
        self.happened(conn, Some(direction), What::Eof);
        if let Some(lane) = self.lanes.get_mut(&(conn, direction)) {
            lane.flush_all();
            lane.hand_out(out);
        }
    }

    /// A connection is over, and is forgotten.
    pub fn close(&mut self, conn: u32) {
        self.look(|decoder, sink| decoder.close(Some(conn), sink));
        self.happened(conn, None, What::Close);
        for direction in [Direction::ToServer, Direction::ToClient] {
            self.lanes.remove(&(conn, direction));
        }
    }

    /// What waits for an answer that cannot come any more is forgotten.
    fn happened(&mut self, conn: u32, direction: Option<Direction>, what: What<'_>) {
        if let Some(conversation) = &mut self.conversation {
            conversation.happened(&Event {
                conn,
                direction,
                time: None,
                what,
                more: None,
            });
        }
    }

    fn look(&mut self, run: impl FnOnce(&mut Decoder<'p>, &mut dyn FnMut(&Decoded<'_>))) {
        let Self {
            plan,
            decoder,
            conversation,
            lanes,
            counts,
            scratch,
            ..
        } = self;
        run(decoder, &mut |decoded| {
            let verdict = conversation.as_mut().map(|all| all.see(decoded));
            let origin = decoded.origin;
            let key = origin.conn.zip(origin.direction);
            if let Some(key) = key
                && let Some(lane) = lanes.get_mut(&key)
                && !lane.is_over()
            {
                frame(plan, counts, key, lane, decoded, verdict, scratch);
            }
        });
    }
}

/// One message: the faults that mean it are done to it.
fn frame(
    plan: &Plan,
    counts: &mut [u64],
    (conn, direction): (u32, Direction),
    lane: &mut Lane,
    decoded: &Decoded<'_>,
    verdict: Option<Verdict<'_>>,
    scratch: &mut Vec<u8>,
) {
    let (offset, len) = (decoded.frame.offset, decoded.frame.len);
    // The end of a line belongs to the line when it goes.
    let end = match decoded.frame.framing {
        Framing::Lines => decoded.next,
        _ => offset + len,
    };
    let target = Target {
        decoded,
        own: lane.frame(offset..end),
        end,
    };
    if target.opens_chunks(lane) {
        lane.edit(offset + len..offset + len, Does::Chunks);
    }
    let mut told = Map::new();
    if direction == Direction::ToServer
        && let Some(host) = &plan.host
    {
        for (run, was) in target.rehost(host, lane) {
            let mut event = about(decoded, direction);
            event.insert("rewrite".into(), "host".into());
            event.insert("was".into(), was.into());
            event.insert("is".into(), host.as_str().into());
            lane.edit(offset..offset, Does::Told(event));
            lane.edit(run, Does::Put(host.as_bytes().to_vec()));
        }
    }
    for (n, (fault, count)) in plan.faults.iter().zip(counts).enumerate() {
        if !fault.condition.holds(decoded, verdict, scratch) {
            continue;
        }
        *count += 1;
        let often = fault.often;
        let is_nth = often.nth.is_none_or(|nth| *count == nth);
        let is_one_of = often.every.is_none_or(|every| *count % every == 0);
        let mut rng = lane.rng(n, plan.seed, conn, direction).clone();
        let falls = often.chance.is_none_or(|chance| rng.f64() < chance);
        if is_nth && is_one_of && falls {
            told.clear();
            let edits = target.act(&fault.action, lane, &mut rng, &mut told);
            let mut event = about(decoded, direction);
            event.insert("fault".into(), fault.to_string().into());
            event.append(&mut told);
            lane.edit(offset..offset, Does::Told(event));
            for (run, does) in edits {
                lane.edit(run, does);
            }
        }
        *lane.rng(n, plan.seed, conn, direction) = rng;
    }
}

/// Which message an event is about.
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
    fn a_connection_that_is_over_leaves_nothing_behind() {
        for condition in ["kind=ready", "reply_to>=0"] {
            leaves_nothing(condition);
        }
    }

    fn leaves_nothing(condition: &str) {
        let fault = format!("{condition} nth 900000: drop").parse().unwrap();
        let plan = Plan {
            faults: vec![fault],
            ..Plan::default()
        };
        let asked = br#"{"jsonrpc":"2.0","id":1,"method":"invoke","params":{"selector":"f","calldata":[]}}"#;
        let options = Options {
            want: Want::Head,
            ..Options::new(vec![registry::find("oracle").unwrap()])
        };
        let mut injector = Injector::new(plan, options);
        let mut out = Vec::new();
        for conn in 0..100 {
            injector.push(None, conn, Direction::ToServer, asked, &mut out);
            injector.push(None, conn, Direction::ToServer, b"\n{\"half", &mut out);
            assert_eq!(injector.lanes.len(), 1);
            let waiting = |injector: &Injector<'_>| {
                let all = injector.conversation.as_ref();
                all.map_or(0, |all| all.waiting().len())
            };
            assert_eq!(waiting(&injector), usize::from(condition != "kind=ready"));
            assert!(
                injector
                    .decoder
                    .progress(Some(conn), Some(Direction::ToServer))
                    .is_some()
            );
            injector.close(conn);
            assert!(injector.lanes.is_empty());
            assert_eq!(waiting(&injector), 0);
            assert!(
                injector
                    .decoder
                    .progress(Some(conn), Some(Direction::ToServer))
                    .is_none()
            );
        }
    }
}
