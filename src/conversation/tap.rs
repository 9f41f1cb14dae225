//! Turns the traffic of a proxy into a recording and into frames.
//!
//! ```text
//!   open 1        -> {"t":0,"conn":1,"event":"open"}
//!   c2s 1 "{…}\n" -> {"t":120000,"conn":1,"dir":"c2s","text":"{…}\n"}   -> a frame
//!   lost 1 s2c 9  -> {"t":450000,"conn":1,"event":"lost","dir":"s2c","len":9}
//! ```
//!
//! A [`Tap`] receives events with their times; it reads no clock, writes no file, and uses no socket.

use super::guard::Guard;
use super::{Finding, Output, RuleSettings, Run, Sink, Source, Verdict};
use crate::capture::recording::items::{chunk_item, datagram_item, fin_item};
use crate::capture::{
    ChunkSource, Event, EventKind, EventRecord, Header, Item, RecordingWriter, Time,
};
use crate::decoder::DecodeOptions;
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
    /// The options for decoding, if frames are needed.
    pub decode: Option<DecodeOptions<'p>>,
    /// The rules, if they are checked.
    pub rules: Option<RuleSettings>,
    /// The guard of a child's stdout.
    pub guard: Option<Guard<'p>>,
}

/// Takes what passes; nothing stops it.
pub type TapSink<'s> = dyn Sink<Break = Infallible> + 's;

/// Counts of the traffic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TapCounts {
    /// Connections, or children.
    pub connections: u64,
    /// Frames.
    pub frames: u64,
    /// Frames with a fault.
    pub faulty: u64,
    /// Broken rules of any severity.
    pub findings: u64,
    /// The highest severity.
    pub worst: Option<Severity>,
    /// Directions that ended without `close_notify` of TLS.
    pub torn: u64,
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
    /// Remarks for the user.
    pub remarks: Vec<String>,
}

/// Counts what a run reads, and passes it on.
struct Counting<'a, 's> {
    counts: &'a mut TapCounts,
    sink: &'a mut TapSink<'s>,
}

impl Sink for Counting<'_, '_> {
    type Break = Infallible;

    fn take(&mut self, output: Output<'_>) -> ControlFlow<Infallible> {
        if let Output::Message(decoded, _) = output {
            self.counts.frames += 1;
            self.counts.faulty += u64::from(decoded.is_faulty());
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
            let mut nobody =
                |_: Output<'_>| -> ControlFlow<Infallible> { ControlFlow::Continue(()) };
            let ControlFlow::Continue(()) = run.item(&Item::Header(header), &mut nobody);
            run
        });
        Self {
            started: header.started.unwrap_or_default(),
            writer: settings.record.then(|| RecordingWriter::new(header, out)),
            run,
            guard: settings.guard,
            counts: TapCounts::default(),
            remarks: Vec::new(),
        }
    }

    /// Handles the bytes of one read, `t` nanoseconds after the start, of a connection and, if it has several, one of
    /// its streams. Lines of the recording are written to `out`.
    pub fn chunk(
        &mut self,
        t: i64,
        (conn, stream): (u32, Option<u64>),
        dir: ChunkSource,
        bytes: &[u8],
        out: &mut Vec<u8>,
        sink: &mut TapSink<'_>,
    ) {
        if let Some(writer) = &mut self.writer {
            writer.chunk(t, conn, stream, dir, bytes, out);
        }
        let remark = match (&mut self.guard, dir) {
            (Some(guard), ChunkSource::S2c) => guard.stdout(t, bytes),
            (Some(guard), ChunkSource::Stderr) => {
                guard.stderr(bytes);
                None
            }
            _ => None,
        };
        self.remarks.extend(remark);
        let time = Some(self.started + Time::from(t));
        self.read(&chunk_item(conn, stream, dir, time, bytes), sink);
        let held = self
            .run
            .as_ref()
            .map_or(0, |run| run.decoder().undetected());
        if held > MAX_UNRECOGNISED {
            self.run = None;
            let text = "the traffic is not recognised: name the protocol with -p, and the framing with --framing";
            self.remarks.push(text.to_owned());
        }
    }

    /// A datagram of QUIC. Datagrams are recorded, and no protocol uses them.
    pub fn datagram(
        &mut self,
        t: i64,
        conn: u32,
        dir: ChunkSource,
        bytes: &[u8],
        out: &mut Vec<u8>,
        sink: &mut TapSink<'_>,
    ) {
        if let Some(writer) = &mut self.writer {
            writer.datagram(t, conn, dir, bytes, out);
        }
        let time = Some(self.started + Time::from(t));
        self.read(&datagram_item(conn, dir, time, bytes), sink);
    }

    /// Bytes that passed without being inspected.
    pub fn lost(
        &mut self,
        t: i64,
        (conn, stream): (u32, Option<u64>),
        dir: ChunkSource,
        bytes: u64,
        out: &mut Vec<u8>,
        sink: &mut TapSink<'_>,
    ) {
        let mut event = event(EventKind::Lost, t, conn);
        event.stream = stream;
        event.more.insert("dir".into(), dir.name().into());
        event.more.insert("len".into(), bytes.into());
        self.event(&event, out, sink);
    }

    /// The end of one direction of a stream.
    pub fn fin(
        &mut self,
        t: i64,
        (conn, stream): (u32, u64),
        dir: ChunkSource,
        out: &mut Vec<u8>,
        sink: &mut TapSink<'_>,
    ) {
        if self.writer.is_some() {
            RecordingWriter::fin(t, conn, stream, dir, out);
        }
        let time = Some(self.started + Time::from(t));
        self.read(&fin_item(conn, stream, dir, time), sink);
    }

    /// Handles any other event.
    pub fn event(&mut self, event: &EventRecord, out: &mut Vec<u8>, sink: &mut TapSink<'_>) {
        if let Some(writer) = &mut self.writer {
            writer.event(event, out);
        }
        let seen = event.event(Some(self.started));
        let ends = [EventKind::Close, EventKind::Reset, EventKind::Exit];
        let is_end = seen.stream.is_none() && ends.contains(&seen.what);
        match seen.what {
            EventKind::Open => self.counts.connections += 1,
            EventKind::Eof if event.stream.is_none() => {
                self.counts.torn += u64::from(event.more.contains_key("close_notify"));
            }
            _ => {}
        }
        if is_end && let Some(guard) = &mut self.guard {
            self.remarks.extend(guard.end(event.t));
        }
        self.read(&Item::Event(seen), sink);
    }

    fn read(&mut self, item: &Item<'_>, sink: &mut TapSink<'_>) {
        let counts = &mut self.counts;
        let ControlFlow::Continue(()) = match (&mut self.run, item) {
            (Some(run), _) => run.item(item, &mut Counting { counts, sink }),
            // Connections are shown also if nothing is decoded.
            (None, Item::Event(event)) => sink.take(Output::Event(event, Verdict::default())),
            (None, _) => ControlFlow::Continue(()),
        };
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
        self.read(&Item::Event(end), sink);
        if let Some(run) = &mut self.run {
            let counts = &mut self.counts;
            let ControlFlow::Continue(()) = run.finish(&mut Counting { counts, sink });
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

/// Returns an event of one connection without further keys.
pub fn event(what: EventKind<'_>, t: i64, conn: u32) -> EventRecord {
    EventRecord {
        t,
        conn: Some(conn),
        event: what.name().to_owned(),
        ..EventRecord::default()
    }
}

/// Returns the end of one direction. `torn`: TLS ended without `close_notify`, so bytes may be missing.
pub fn eof(t: i64, conn: u32, dir: ChunkSource, torn: bool) -> EventRecord {
    let mut eof = event(EventKind::Eof, t, conn);
    eof.more.insert("dir".into(), dir.name().into());
    if torn {
        eof.more.insert("close_notify".into(), false.into());
    }
    eof
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
                    let waiting = run.conversation().map(|all| all.unanswered(true));
                    for one in waiting.into_iter().flatten() {
                        seen += &format!("waits: {}\n", one.what);
                    }
                }
                _ => {}
            }
            ControlFlow::Continue(())
        };
        let mut tap = Tap::new(settings("oracle"), &mut out);
        tap.event(&event(EventKind::Open, 0, 1), &mut out, &mut show);
        let ask = br#"{"jsonrpc":"2.0","id":7,"method":"invoke","params":{"selector":"f","calldata":[]}}"#;
        let answer = br#"{"jsonrpc":"2.0","id":7,"result":[]}"#;
        tap.chunk(5, (1, None), ChunkSource::C2s, ask, &mut out, &mut show);
        tap.chunk(6, (1, None), ChunkSource::C2s, b"\n", &mut out, &mut show);
        tap.chunk(
            7,
            (1, None),
            ChunkSource::Stderr,
            b"recv\n",
            &mut out,
            &mut show,
        );
        tap.chunk(9, (1, None), ChunkSource::S2c, answer, &mut out, &mut show);
        tap.chunk(
            11,
            (1, None),
            ChunkSource::S2c,
            b"\n{\"json",
            &mut out,
            &mut show,
        );
        tap.lost(12, (1, None), ChunkSource::S2c, 40, &mut out, &mut show);
        tap.event(&event(EventKind::Close, 13, 1), &mut out, &mut show);
        assert_eq!(
            tap.counts(),
            TapCounts {
                connections: 1,
                frames: 3,
                faulty: 1,
                ..tap.counts()
            }
        );
        tap.finish(14, &mut out, &mut show);
        let wanted = "open\ninvoke Some(1000000006) None false\nstderr\n\
            result Some(1000000011) Some(5) false\n\
            - Some(1000000012) None true\nlost\nclose\nend\n";
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
            tap.chunk(t, (1, None), ChunkSource::C2s, &chunk, &mut out, &mut show);
        }
        let held = tap.run.as_ref().map_or(0, |run| run.decoder().undetected());
        assert!(held <= MAX_UNRECOGNISED, "{held} bytes are held");
        assert!(tap.remarks.len() <= 1);
        assert!(out.is_empty());
    }
}
