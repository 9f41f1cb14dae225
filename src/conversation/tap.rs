//! Turns the traffic of a proxy into a recording and into messages.
//!
//! ```text
//!   open 1        -> {"t":0,"conn":1,"event":"open"}
//!   c2s 1 "{…}\n" -> {"t":120000,"conn":1,"dir":"c2s","text":"{…}\n"}   -> a message
//!   lost 1 s2c 9  -> {"t":450000,"conn":1,"event":"lost","dir":"s2c","len":9}
//! ```
//!
//! A [`Tap`] receives events with their times; it reads no clock, writes no file, and uses no socket.

use super::continued::ContinuedMessages;
use super::guard::Guard;
use super::{Finding, Output, RuleSettings, Run, Sink, Source, Verdict};
use crate::capture::recording::RecordingPart;
use crate::capture::recording::continued::PART;
use crate::capture::recording::{chunk_item, datagram_item, fin_item};
use crate::capture::{
    ChunkSource, Event, EventKind, EventRecord, Header, Item, RecordingWriter, Time,
};
use crate::decoder::DecodeOptions;
use crate::protocol::Channel;
use crate::protocol::session::Severity;
use std::convert::Infallible;
use std::ops::ControlFlow;

/// Maximum number of bytes that are held while no protocol recognises them.
const MAX_UNRECOGNISED: usize = 4 << 20;

/// The settings of a tap.
pub struct TapConfig<'p> {
    /// The first line of the recording.
    pub header: Header,
    /// A recording is made.
    pub record: bool,
    /// The options for decoding, if messages are needed.
    pub decode: Option<DecodeOptions<'p>>,
    /// The rules, if they are checked.
    pub rules: Option<RuleSettings>,
    /// The guard of a child's stdout.
    pub guard: Option<Guard<'p>>,
}

/// Something that passed: when, and on which connection and stream.
#[derive(Clone, Copy, Debug)]
pub struct Passed<'a> {
    /// The time in nanoseconds since the start.
    pub t: i64,
    /// The connection, and the stream if it has several.
    pub channel: Channel,
    /// What passed.
    pub what: &'a PassedKind,
    /// The bytes of a chunk or a datagram.
    pub bytes: &'a [u8],
}

/// The content of [`Passed`], without its bytes.
#[derive(Debug)]
pub enum PassedKind {
    /// The bytes of one read.
    Chunk(ChunkSource),
    /// A datagram of QUIC.
    Datagram(ChunkSource),
    /// A number of bytes that were not inspected.
    Lost(ChunkSource, u64),
    /// The end of one direction of the stream.
    Fin(ChunkSource),
    /// Any other event, which has its own time and connection.
    Event(Box<EventRecord>),
}

impl Passed<'_> {
    /// Returns the event that says how many bytes were lost.
    fn lost(&self, dir: ChunkSource, len: u64) -> EventRecord {
        let mut event = EventRecord::new(EventKind::Lost, self.t, self.channel.conn);
        event.stream = self.channel.stream;
        event.more.insert("dir".into(), dir.name().into());
        event.more.insert("len".into(), len.into());
        event
    }
}

/// Takes what passes; nothing stops it.
pub type TapSink<'s> = dyn Sink<Break = Infallible> + 's;

/// Counts of the traffic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TapCounts {
    /// Connections, or children.
    pub connections: u64,
    /// Messages, also those of role control.
    pub messages: u64,
    /// Those with a fault.
    pub faulty: u64,
    /// Broken rules of any severity.
    pub findings: u64,
    /// The highest severity.
    pub worst: Option<Severity>,
    /// Directions that ended without `close_notify` of TLS.
    pub without_close_notify: u64,
}

impl TapCounts {
    fn add(&mut self, findings: &[Finding]) {
        self.findings += findings.len() as u64;
        self.worst = self.worst.max(findings.iter().map(|f| f.severity).max());
    }
}

/// Observes traffic.
pub struct Tap<'p> {
    started: Time,
    writer: Option<RecordingWriter>,
    run: Option<Run<'p>>,
    guard: Option<Guard<'p>>,
    counts: TapCounts,
    /// The header of the recording, and what its next file needs, if it has several.
    parts: Option<(Header, ContinuedMessages)>,
    /// Remarks for the user. Settings in them are in backticks, as in hints.
    pub remarks: Vec<String>,
    /// The remark about messages that wait for their protocol is made.
    says_undecided: bool,
}

/// Counts what a run reads, and passes it on.
struct Counting<'a, 's> {
    counts: &'a mut TapCounts,
    parts: Option<&'a mut ContinuedMessages>,
    sink: &'a mut TapSink<'s>,
}

impl Sink for Counting<'_, '_> {
    type Break = Infallible;

    fn take(&mut self, output: Output<'_>) -> ControlFlow<Infallible> {
        if let Output::Message(decoded, verdict) = output {
            self.counts.messages += 1;
            self.counts.faulty += u64::from(decoded.is_faulty());
            if let Some(parts) = &mut self.parts {
                parts.see(decoded, verdict);
            }
        }
        self.counts.add(output.findings());
        self.sink.take(output)
    }
}

impl<'p> Tap<'p> {
    /// Returns a tap without input; the header of the recording is written to `out`.
    pub fn new(settings: TapConfig<'p>, out: &mut Vec<u8>) -> Self {
        let header = &settings.header;
        let rules = settings.rules;
        let run = settings.decode.map(|options| {
            let source = Source {
                removes_ended: true,
                ..Source::default()
            };
            let mut run = Run::of_source(source, None, options, rules);
            run.item_without_sink(&Item::Header(header));
            run
        });
        Self {
            started: header.started.unwrap_or_default(),
            writer: settings.record.then(|| RecordingWriter::new(header, out)),
            run,
            guard: settings.guard,
            counts: TapCounts::default(),
            parts: RecordingPart::of(header)
                .map(|_| (header.clone(), ContinuedMessages::new(header.started))),
            remarks: Vec::new(),
            says_undecided: false,
        }
    }

    /// Writes what passed to the recording: `out` receives its lines. Call it before [`Tap::read`], so that the recording has
    /// also what decoding would take long for.
    pub fn record(&mut self, passed: &Passed<'_>, out: &mut Vec<u8>) {
        let Passed {
            t,
            channel: Channel { conn, stream },
            what,
            bytes,
        } = *passed;
        let Some(writer) = &mut self.writer else {
            return;
        };
        match *what {
            PassedKind::Chunk(dir) => writer.chunk(t, conn, stream, dir, bytes, out),
            PassedKind::Datagram(dir) => writer.datagram(t, conn, dir, bytes, out),
            PassedKind::Lost(dir, len) => writer.event(&passed.lost(dir, len), out),
            PassedKind::Fin(dir) => {
                RecordingWriter::fin(t, conn, stream.unwrap_or_default(), dir, out);
            }
            PassedKind::Event(ref event) => writer.event(event, out),
        }
    }

    /// Decodes what passed.
    pub fn read(&mut self, passed: &Passed<'_>, sink: &mut TapSink<'_>) {
        let Passed {
            t,
            channel: Channel { conn, stream },
            what,
            bytes,
        } = *passed;
        let time = Some(self.started + Time::from(t));
        match *what {
            PassedKind::Chunk(dir) => {
                self.guard_chunk(t, dir, bytes);
                self.item(&chunk_item(conn, stream, dir, time, bytes), sink);
                self.drop_unrecognised();
                self.remark_undecided();
            }
            // No protocol uses datagrams.
            PassedKind::Datagram(dir) => {
                self.item(&datagram_item(conn, dir, time, bytes), sink);
            }
            PassedKind::Lost(dir, len) => self.event(&passed.lost(dir, len), sink),
            PassedKind::Fin(dir) => {
                let stream = stream.unwrap_or_default();
                self.item(&fin_item(conn, stream, dir, time), sink);
            }
            PassedKind::Event(ref event) => self.event(event, sink),
        }
    }

    fn guard_chunk(&mut self, t: i64, dir: ChunkSource, bytes: &[u8]) {
        let remark = match (&mut self.guard, dir) {
            (Some(guard), ChunkSource::S2c) => guard.stdout(t, bytes),
            (Some(guard), ChunkSource::Stderr) => {
                guard.stderr(bytes);
                None
            }
            _ => None,
        };
        self.remarks.extend(remark);
    }

    /// Stops decoding if no protocol recognises the bytes so far.
    fn drop_unrecognised(&mut self) {
        let held = self
            .run
            .as_ref()
            .map_or(0, |run| run.decoder().undetected());
        if held > MAX_UNRECOGNISED {
            self.run = None;
            let text = "the traffic is not recognised: name the protocol with `protocol`, and the framing with `framing`";
            self.remarks.push(text.to_owned());
        }
    }

    /// Says once that messages wait: nobody would know why nothing is shown.
    fn remark_undecided(&mut self) {
        let run = self.run.as_ref().filter(|_| !self.says_undecided);
        if run.is_some_and(|run| run.decoder().is_undecided()) {
            self.says_undecided = true;
            let text = "the first messages fit several protocols: they are shown as soon as a later one decides, or at once with `protocol NAME`";
            self.remarks.push(text.to_owned());
        }
    }

    fn event(&mut self, event: &EventRecord, sink: &mut TapSink<'_>) {
        let seen = event.event(Some(self.started));
        let ends = [EventKind::Close, EventKind::Reset, EventKind::Exit];
        let is_end = seen.stream.is_none() && ends.contains(&seen.what);
        match seen.what {
            EventKind::Open => self.counts.connections += 1,
            EventKind::Eof if event.stream.is_none() => {
                self.counts.without_close_notify +=
                    u64::from(event.more.contains_key("close_notify"));
            }
            _ => {}
        }
        if is_end && let Some((_, parts)) = &mut self.parts {
            parts.end(seen.conn);
        }
        if is_end && let Some(guard) = &mut self.guard {
            self.remarks.extend(guard.end(event.t));
        }
        self.item(&Item::Event(seen), sink);
    }

    fn item(&mut self, item: &Item<'_>, sink: &mut TapSink<'_>) {
        let counts = &mut self.counts;
        let parts = self.parts.as_mut().map(|(_, parts)| parts);
        let mut sink = Counting {
            counts,
            parts,
            sink,
        };
        let ControlFlow::Continue(()) = match (&mut self.run, item) {
            (Some(run), _) => run.item(item, &mut sink),
            // Connections are shown also if nothing is decoded.
            (None, Item::Event(event)) => sink.sink.take(Output::Event(event, Verdict::default())),
            (None, _) => ControlFlow::Continue(()),
        };
        if let Some((_, parts)) = &mut self.parts {
            parts.prune(self.run.as_ref().and_then(Run::conversation));
        }
    }

    /// Ends the file of the recording, and begins the next one: their lines are appended to `end` and `start`. Call it when
    /// everything that was recorded is decoded.
    pub fn begin_part(&mut self, t: i64, end: &mut Vec<u8>, start: &mut Vec<u8>) {
        let (Some(writer), Some((header, parts))) = (self.writer.take(), &mut self.parts) else {
            return;
        };
        writer.end_part(t, end);
        let number = header.more.get(PART).and_then(serde_json::Value::as_u64);
        let number = number.unwrap_or_default() + 1;
        header.more.insert(PART.to_owned(), number.into());
        let mut writer = RecordingWriter::new(header, start);
        let continued = self
            .run
            .as_ref()
            .map(|run| parts.continued(run.decoder(), run.conversation()));
        writer.event(&continued.unwrap_or_default().event(t), start);
        self.writer = Some(writer);
    }

    /// Stops the recording.
    pub fn stop_recording(&mut self) {
        self.writer = None;
    }

    /// Ends the recording; call it once.
    pub fn finish(&mut self, t: i64, out: &mut Vec<u8>, sink: &mut TapSink<'_>) {
        let end = Event {
            time: Some(self.started + Time::from(t)),
            ..Event::new(0, EventKind::End)
        };
        self.item(&Item::Event(end), sink);
        if let Some(run) = &mut self.run {
            let counts = &mut self.counts;
            let mut sink = Counting {
                counts,
                parts: None,
                sink,
            };
            let ControlFlow::Continue(()) = run.finish(&mut sink);
        }
        if let Some(writer) = self.writer.take() {
            writer.end(t, out);
        }
    }

    /// Returns the counts so far.
    pub fn counts(&self) -> TapCounts {
        self.counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoding::Want;
    use crate::protocol::registry;

    fn settings(protocol: &str) -> TapConfig<'static> {
        TapConfig {
            header: Header {
                transport: Some("tcp".into()),
                ..Header::new(1_000_000_000)
            },
            record: true,
            decode: Some(DecodeOptions {
                want: Want::Head,
                ..DecodeOptions::new(vec![registry::find(protocol).unwrap()])
            }),
            rules: Some(RuleSettings::default()),
            guard: None,
        }
    }

    #[test]
    fn traffic_becomes_recording_lines_and_frames() {
        let mut out = Vec::new();
        let mut seen = String::new();
        let mut show = |output: Output<'_>| -> ControlFlow<Infallible> {
            let is_message = matches!(output, Output::Message(..));
            for finding in output.findings().iter().filter(|_| !is_message) {
                seen += &format!("{}\n", finding.name());
            }
            match output {
                Output::Message(decoded, verdict) => {
                    let latency = verdict.and_then(|v| v.answer).and_then(|a| a.latency);
                    let (message, time) = (decoded.message, decoded.origin.time);
                    let kind = if message.kind.is_empty() {
                        "-"
                    } else {
                        &message.kind
                    };
                    let faulty = decoded.is_faulty();
                    seen += &format!("{kind} {time:?} {latency:?} {faulty}\n");
                }
                Output::Event(event, _) => seen += &format!("{}\n", event.what.name()),
                Output::Pause(run, _) | Output::BeforeEnd(run) => {
                    let waiting = run.conversation().map(|all| all.unanswered(true, 9).first);
                    for one in waiting.into_iter().flatten() {
                        seen += &format!("waits: {}\n", one.what);
                    }
                }
                _ => {}
            }
            ControlFlow::Continue(())
        };
        let mut tap = Tap::new(settings("oracle"), &mut out);
        let ask = br#"{"jsonrpc":"2.0","id":7,"method":"invoke","params":{"selector":"f","calldata":[]}}"#;
        let answer = br#"{"jsonrpc":"2.0","id":7,"result":[]}"#;
        let (open, close) = (
            EventRecord::new(EventKind::Open, 0, 1),
            EventRecord::new(EventKind::Close, 13, 1),
        );
        let (c2s, s2c) = (ChunkSource::C2s, ChunkSource::S2c);
        for (t, what, bytes) in [
            (0, PassedKind::Event(open.into()), &b""[..]),
            (5, PassedKind::Chunk(c2s), ask),
            (6, PassedKind::Chunk(c2s), b"\n"),
            (7, PassedKind::Chunk(ChunkSource::Stderr), b"recv\n"),
            (9, PassedKind::Chunk(s2c), answer),
            (11, PassedKind::Chunk(s2c), b"\n{\"json"),
            (12, PassedKind::Lost(s2c, 40), b""),
            (13, PassedKind::Event(close.into()), b""),
        ] {
            let passed = Passed {
                t,
                channel: 1.into(),
                what: &what,
                bytes,
            };
            tap.record(&passed, &mut out);
            tap.read(&passed, &mut show);
        }
        assert_eq!(
            tap.counts(),
            TapCounts {
                connections: 1,
                messages: 3,
                faulty: 1,
                ..tap.counts()
            }
        );
        tap.finish(14, &mut out, &mut show);
        let wanted = "open\ninvoke Some(1000000006) None false\nstderr\n\
            result Some(1000000011) Some(5) false\n\
            - Some(1000000011) None true\nlost\nclose\nend\n";
        assert_eq!(seen, wanted);
        insta::assert_snapshot!(String::from_utf8(out).unwrap(), @r#"
        {"wiretool":1,"started":"1970-01-01T00:00:01.000000000Z","transport":"tcp"}
        {"t":0,"conn":1,"event":"open"}
        {"t":5,"conn":1,"dir":"c2s","text":"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"invoke\",\"params\":{\"selector\":\"f\",\"calldata\":[]}}"}
        {"t":6,"conn":1,"dir":"c2s","text":"\n"}
        {"t":7,"conn":1,"dir":"stderr","text":"recv\n"}
        {"t":9,"conn":1,"dir":"s2c","text":"{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":[]}"}
        {"t":11,"conn":1,"dir":"s2c","text":"\n{\"json"}
        {"t":12,"conn":1,"event":"lost","dir":"s2c","len":40}
        {"t":13,"conn":1,"event":"close"}
        {"t":14,"event":"end","chunks":5,"bytes":{"c2s":83,"s2c":43,"stderr":5}}
        "#);
    }

    #[test]
    fn unrecognised_bytes_are_held_up_to_a_limit() {
        let mut out = Vec::new();
        let mut show = |_: Output<'_>| -> ControlFlow<Infallible> { ControlFlow::Continue(()) };
        let mut settings = settings("oracle");
        settings.record = false;
        if let Some(options) = &mut settings.decode {
            options.protocols = registry::all().to_vec();
        }
        let mut tap = Tap::new(settings, &mut out);
        let chunk = vec![0xee; 256 << 10];
        for t in 0..64 {
            let passed = Passed {
                t,
                channel: 1.into(),
                what: &PassedKind::Chunk(ChunkSource::C2s),
                bytes: &chunk,
            };
            tap.record(&passed, &mut out);
            tap.read(&passed, &mut show);
        }
        let held = tap.run.as_ref().map_or(0, |run| run.decoder().undetected());
        assert!(held <= MAX_UNRECOGNISED, "{held} bytes are held");
        assert!(tap.remarks.len() <= 1);
        assert!(out.is_empty());
    }
}
