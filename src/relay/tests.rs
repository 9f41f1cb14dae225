//! Simulations: connections whose peers send, end and reset, and a recorder that is late, all by the numbers of a seed.

use super::journal::CAPACITY;
use super::*;
use crate::conversation::tap::PassedKind;
use crate::protocol::registry;
use fastrand::Rng;
use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write as _;

const DIRECTIONS: [ChunkSource; 2] = [ChunkSource::C2s, ChunkSource::S2c];
/// A part of each added message.
const ADDED: &[u8] = b"\"added\"";

/// What peers send, and what faults do to it.
#[derive(Clone, Copy)]
struct Traffic {
    faults: &'static [&'static str],
    inserts: bool,
    /// The largest number of bytes of one read.
    read: usize,
    /// The largest number of bytes in one message.
    message: usize,
    policy: Policy,
    /// The recorder works at every Nth chance.
    laziness: u32,
}

const SMALL: Traffic = Traffic {
    faults: &[],
    inserts: false,
    read: 300,
    message: 40,
    policy: Policy::Wait,
    laziness: 1,
};

fn line(subject: &str, size: usize) -> Vec<u8> {
    let fill = "0".repeat(size);
    let text = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"invoke","params":{{"selector":"{subject}","calldata":["0x{fill}"]}}}}"#
    );
    [text.as_bytes(), b"\n"].concat()
}

/// One direction of a simulated connection.
struct Lane {
    /// What the sender sends and was not read yet.
    unread: VecDeque<u8>,
    /// What was read, with the added messages.
    read: Vec<u8>,
    /// What the receiver should get of the messages of the sender, and whether a fault ends the direction after it.
    expected: Vec<u8>,
    received: Vec<u8>,
    /// The number of messages that a fault matches, and of recorded faults.
    faulted: [u32; 2],
    /// The recorder has these bytes; a loss is zeros.
    recorded: Vec<u8>,
    /// The receiver knows the end.
    is_ended: bool,
}

impl Lane {
    fn new(traffic: &Traffic, rng: &mut Rng) -> Self {
        let (mut unread, mut expected) = (VecDeque::new(), Vec::new());
        let (mut goes_on, mut faulted) = (true, 0);
        for _ in 0..rng.usize(0..30) {
            let subject = ["usual", "usual", "usual", "gone", "twice", "late", "last"];
            let subject = rng.choice(subject).unwrap();
            let line = line(subject, rng.usize(0..traffic.message));
            unread.extend(&line);
            let fault = traffic.faults.iter().find(|f| f.contains(subject));
            faulted += u32::from(goes_on && fault.is_some());
            let copies = match fault.and_then(|fault| fault.rsplit_once(": ")) {
                Some((_, "drop")) => 0,
                Some((_, "dup")) => 2,
                Some((_, "stall" | "close" | "reset")) => {
                    goes_on = false;
                    0
                }
                _ => 1,
            };
            if goes_on {
                expected.extend(line.repeat(copies));
            }
        }
        Self {
            unread,
            read: Vec::new(),
            expected,
            received: Vec::new(),
            faulted: [faulted, 0],
            recorded: Vec::new(),
            is_ended: false,
        }
    }

    /// Returns what the receiver got, without the added messages.
    fn received(&self, traffic: &Traffic) -> Cow<'_, [u8]> {
        if !traffic.inserts {
            return Cow::Borrowed(&self.received);
        }
        let lines = self.received.split_inclusive(|byte| *byte == b'\n');
        let is_own = |line: &&[u8]| !line.windows(ADDED.len()).any(|part| part == ADDED);
        lines.filter(is_own).flatten().copied().collect()
    }
}

struct Peers {
    lanes: [Lane; 2],
    ends: Ends,
    end: Option<ConnectionEnd>,
    /// The recorder has its end.
    is_recorded: bool,
}

struct Simulation {
    traffic: Traffic,
    rng: Rng,
    relay: Option<Relay>,
    journal: Journal,
    peers: BTreeMap<u32, Peers>,
    now: i64,
    /// Everything that happens, to compare two runs.
    trace: String,
}

impl Simulation {
    fn new(traffic: Traffic, seed: u64) -> Self {
        let plan = FaultPlan {
            faults: traffic.faults.iter().map(|f| f.parse().unwrap()).collect(),
            inserts: traffic.inserts,
            seed,
            ..FaultPlan::default()
        };
        let options = DecodeOptions::new(vec![registry::find("oracle").unwrap()]);
        let mut rng = Rng::with_seed(seed);
        let mut journal = Journal::new(traffic.policy);
        let peers = (1..=rng.u32(1..5)).map(|conn| {
            journal.event(conn, EventRecord::new(EventKind::Open, 0, conn));
            let lanes = [(); 2].map(|()| Lane::new(&traffic, &mut rng));
            let (ends, end) = (Ends::default(), None);
            let peers = Peers {
                lanes,
                ends,
                end,
                is_recorded: false,
            };
            (conn, peers)
        });
        Self {
            peers: peers.collect(),
            traffic,
            relay: Relay::new(plan, options, 0),
            journal,
            rng,
            now: 0,
            trace: String::new(),
        }
    }

    /// Runs until all connections have ended.
    fn run(mut self) -> String {
        let mut steps = 0;
        while let Some(conn) = self.open_connection() {
            steps += 1;
            assert!(steps < 100_000, "it does not end");
            self.now += 1;
            match self.rng.u32(0..200) {
                0..150 => self.read(conn),
                150..190 if self.rng.u32(0..self.traffic.laziness) == 0 => self.work(),
                190..197 => self.add(conn),
                197 => self.end(conn, DirectionEnd::Refused),
                198 => self.end(conn, DirectionEnd::Reset),
                _ => {}
            }
        }
        self.journal.record_losses(self.now);
        self.work();
        self.check();
        self.trace
    }

    fn open_connection(&mut self) -> Option<u32> {
        let open = self.peers.iter().filter(|(_, peers)| peers.end.is_none());
        let open: Vec<u32> = open.map(|(conn, _)| *conn).collect();
        self.rng.choice(open)
    }

    fn open_direction(&mut self, conn: u32) -> usize {
        let ends = self.peers[&conn].ends;
        let open = [0, 1].into_iter().filter(|n| ends.is_open(DIRECTIONS[*n]));
        self.rng.choice(open.collect::<Vec<_>>()).unwrap()
    }

    /// A direction is read, as a pump does it.
    fn read(&mut self, conn: u32) {
        let n = self.open_direction(conn);
        let (lane, size) = ((conn.into(), DIRECTIONS[n]), self.traffic.read);
        // After a time, the recorder is not waited for.
        let gives_up = self.rng.u32(0..4) == 0;
        if !self.journal.has_space(lane, size, || gives_up) {
            return;
        }
        let now = self.now;
        let all = &mut self.peers.get_mut(&conn).unwrap().lanes[n];
        let size = self.rng.usize(1..=size).min(all.unread.len());
        let bytes: Vec<u8> = all.unread.drain(..size).collect();
        if bytes.is_empty() {
            return self.end(conn, DirectionEnd::Eof);
        }
        all.read.extend(&bytes);
        let relayed = self.relay.as_mut().map(|r| r.read(now, lane, &bytes));
        let relayed = relayed.unwrap_or_else(|| Relayed {
            sends: vec![Out::Bytes(bytes.clone())],
            ..Relayed::default()
        });
        self.relayed(conn, n, relayed, &bytes);
    }

    fn add(&mut self, conn: u32) {
        let n = self.open_direction(conn);
        let lane = (conn.into(), DIRECTIONS[n]);
        let message = line("added", 3);
        let Some(relay) = self.relay.as_mut().filter(|_| self.traffic.inserts) else {
            return;
        };
        if let Ok(added) = relay.add(self.now, lane, &message) {
            let all = &mut self.peers.get_mut(&conn).unwrap().lanes[n];
            assert!(
                matches!(all.read.last(), None | Some(b'\n')),
                "inside of a message"
            );
            all.read.extend(&message);
            self.relayed(conn, n, added, &message);
        }
    }

    /// Records, then sends.
    fn relayed(&mut self, conn: u32, n: usize, relayed: Relayed, bytes: &[u8]) {
        let lane = (conn.into(), DIRECTIONS[n]);
        for event in relayed.events {
            self.journal.event(conn, event);
        }
        if !bytes.is_empty() {
            let result = self.journal.offer(self.now, lane, bytes, || true);
            let is_waited_for = self.traffic.policy == Policy::Wait;
            // A pump with this policy has waited for space.
            if result == OfferResult::Full {
                assert!(is_waited_for);
                self.work();
                let result = self.journal.offer(self.now, lane, bytes, || true);
                assert_eq!(result, OfferResult::Done);
            }
        }
        for out in relayed.sends {
            let _ = writeln!(self.trace, "{} c{conn} {} {out:?}", self.now, lane.1.name());
            let end = match out {
                Out::Bytes(bytes) => {
                    let all = &mut self.peers.get_mut(&conn).unwrap().lanes[n];
                    all.received.extend(&bytes);
                    continue;
                }
                Out::Wait(_) => continue,
                Out::Close(_) => FaultEnd::Close,
                Out::Reset(_) => FaultEnd::Reset,
                Out::Event(_) | Out::Stall => panic!("not for the receiver: {out:?}"),
            };
            return self.ended(conn, n, DirectionEnd::Fault(end));
        }
    }

    /// A direction ends.
    fn end(&mut self, conn: u32, how: DirectionEnd) {
        let n = self.open_direction(conn);
        let lane = (conn.into(), DIRECTIONS[n]);
        if how == DirectionEnd::Eof {
            // Only what was read to its end has ended.
            if !self.peers[&conn].lanes[n].unread.is_empty() {
                return;
            }
            let last = self.relay.as_mut().map(|r| r.end(self.now, lane));
            let last = last.unwrap_or_default();
            let eof = EventRecord::eof(self.now, conn, lane.1, false);
            let hides_end = last.hides_end;
            self.relayed(conn, n, last, &[]);
            self.journal.event(conn, eof);
            self.peers.get_mut(&conn).unwrap().lanes[n].is_ended = !hides_end;
        }
        if self.peers[&conn].end.is_none() {
            self.ended(conn, n, how);
        }
    }

    fn ended(&mut self, conn: u32, n: usize, how: DirectionEnd) {
        let peers = self.peers.get_mut(&conn).unwrap();
        let _ = writeln!(
            self.trace,
            "{} c{conn} {} {how:?}",
            self.now,
            DIRECTIONS[n].name()
        );
        peers.end = peers.ends.end(DIRECTIONS[n], how);
        if let Some(end) = peers.end {
            if let Some(relay) = &mut self.relay {
                relay.close(conn);
            }
            self.journal.event(conn, end.event(self.now, conn));
        }
    }

    /// The recorder takes what passed.
    fn work(&mut self) {
        let mut batch = EntryBatch::default();
        self.journal.swap(&mut batch);
        for passed in batch.entries() {
            let conn = passed.channel.conn;
            let peers = self.peers.get_mut(&conn).unwrap();
            assert!(!peers.is_recorded, "c{conn} has ended: {passed:?}");
            let _ = writeln!(self.trace, "{passed:?}");
            let lane = |dir| usize::from(dir == ChunkSource::S2c);
            match passed.what {
                PassedKind::Chunk(dir) => peers.lanes[lane(*dir)].recorded.extend(passed.bytes),
                PassedKind::Lost(dir, len) => {
                    let recorded = &mut peers.lanes[lane(*dir)].recorded;
                    recorded.resize(recorded.len() + *len as usize, 0);
                }
                PassedKind::Event(event) if event.event == "inject" => {
                    let number = |key| event.more[key].as_u64().unwrap();
                    let n = lane(match event.more["dir"].as_str() {
                        Some("s2c") => ChunkSource::S2c,
                        _ => ChunkSource::C2s,
                    });
                    peers.lanes[n].faulted[1] += u32::from(event.more["fault"] != "sent");
                    let end = number("offset") + number("len");
                    let recorded = peers.lanes[n].recorded.len() as u64;
                    // The end of a line is not part of it.
                    assert!(recorded <= end, "a fault follows its message: {event:?}");
                }
                PassedKind::Event(event) => {
                    peers.is_recorded = matches!(&*event.event, "close" | "reset");
                }
                PassedKind::Datagram(..) | PassedKind::Fin(..) => panic!("not of a socket"),
            }
        }
    }

    fn check(&self) {
        assert!(self.journal.is_empty());
        if let Some(relay) = &self.relay {
            assert!(
                relay.injector.is_idle() && relay.stalled.is_empty(),
                "state is left"
            );
        }
        let mut lost = 0;
        for (conn, peers) in &self.peers {
            assert!(peers.is_recorded, "the end of c{conn}");
            for (lane, dir) in peers.lanes.iter().zip(DIRECTIONS) {
                let name = format!("c{conn} {}", dir.name());
                assert_eq!(lane.recorded.len(), lane.read.len(), "{name}");
                if lane.recorded != lane.read {
                    let is_same = |(one, other): (&u8, &u8)| one == other || *one == 0;
                    assert!(lane.recorded.iter().zip(&lane.read).all(is_same), "{name}");
                    lost += lane.recorded.split(|byte| *byte == 0).count() as u64 - 1;
                }
                let received = lane.received(&self.traffic);
                assert!(lane.expected.starts_with(&received), "{name}");
                if lane.is_ended {
                    assert_eq!(*received, *lane.expected, "{name}: bytes are held");
                    assert_eq!(lane.faulted[0], lane.faulted[1], "{name}: recorded faults");
                }
            }
        }
        assert_eq!(self.journal.lost(), lost);
        assert!(lost == 0 || self.traffic.policy == Policy::Drop);
    }
}

#[test]
fn simulated_traffic_arrives_and_is_recorded() {
    let faults: &[&[&str]] = &[
        &[],
        &[
            "subject=gone: drop",
            "subject=twice: dup",
            "subject=late: delay 5ms",
        ],
        &["subject=gone: drop", "subject=last: stall"],
        &["subject=twice: dup", "subject=last: close"],
        &["subject=late: delay 1ns", "subject=last: reset"],
        &["reply_to>=0 nth 90000: drop", "subject=gone: drop"],
    ];
    for (seed, faults) in (0..120).zip(faults.iter().cycle()) {
        let traffic = Traffic {
            faults,
            inserts: seed % 4 == 1,
            policy: [Policy::Drop, Policy::Wait][seed as usize / 6 % 2],
            ..SMALL
        };
        let run = || Simulation::new(traffic, seed).run();
        assert_eq!(run(), run(), "seed {seed}: two runs differ");
    }
}

#[test]
fn simulated_recorder_is_too_slow() {
    let mut lost = 0;
    for seed in 0..4 {
        let policy = [Policy::Drop, Policy::Wait][seed as usize % 2];
        let traffic = Traffic {
            read: CAPACITY / 3,
            message: CAPACITY / 4,
            policy,
            laziness: 8,
            ..SMALL
        };
        lost += Simulation::new(traffic, seed).run().matches("Lost").count();
    }
    assert!(lost > 0, "the recorder was never too slow");
}

const HALF: usize = CAPACITY / 2;

fn taken(journal: &mut Journal) -> Vec<String> {
    let mut batch = EntryBatch::default();
    journal.swap(&mut batch);
    let entries = batch.entries().map(|passed| {
        let conn = passed.channel.conn;
        match passed.what {
            PassedKind::Chunk(dir) => format!("{conn} {} {}", dir.name(), passed.bytes.len()),
            PassedKind::Lost(dir, n) => format!("{conn} lost {} {n}", dir.name()),
            other => format!("{conn} {other:?}"),
        }
    });
    entries.collect()
}

#[test]
fn bytes_over_capacity_are_reported_as_lost_in_order() {
    let mut journal = Journal::new(Policy::Drop);
    let half = vec![0; HALF];
    let lane = |conn: u32| (conn.into(), ChunkSource::C2s);
    for (bytes, gives_up, want, why) in [
        (&half[..], false, OfferResult::Done, "there is space"),
        (
            &half,
            false,
            OfferResult::Full,
            "a recorder at work is waited for",
        ),
        (&half, true, OfferResult::Done, "but not for ever"),
        (&half, false, OfferResult::Done, "nothing waits twice"),
    ] {
        assert_eq!(journal.offer(0, lane(1), bytes, || gives_up), want, "{why}");
    }
    assert_eq!(journal.lost(), 2 * HALF as u64);
    assert_eq!(taken(&mut journal), [format!("1 c2s {HALF}")]);
    journal.offer(0, lane(2), b"x", || false);
    journal.offer(0, lane(1), b"yz", || false);
    let lost = format!("1 lost c2s {}", 2 * HALF);
    assert_eq!(taken(&mut journal), ["2 c2s 1", &lost, "1 c2s 2"]);
}

#[test]
fn wait_policy_loses_nothing() {
    let mut journal = Journal::new(Policy::Wait);
    let (lane, half) = ((1.into(), ChunkSource::C2s), vec![0; HALF]);
    journal.offer(0, lane, &half, || false);
    for gives_up in [false, true] {
        let offered = journal.offer(0, lane, &half, || gives_up);
        assert_eq!(offered, OfferResult::Full);
    }
    assert_eq!(taken(&mut journal).len(), 1);
    assert_eq!(journal.offer(0, lane, &half, || true), OfferResult::Done);
    assert_eq!(journal.lost(), 0);
}

#[test]
fn read_larger_than_batch_passes() {
    let mut journal = Journal::new(Policy::Wait);
    let lane = (1.into(), ChunkSource::C2s);
    let much = vec![0; 2 * CAPACITY];
    assert_eq!(journal.offer(0, lane, &much, || false), OfferResult::Done);
    assert_eq!(journal.offer(0, lane, b"x", || false), OfferResult::Full);
}
