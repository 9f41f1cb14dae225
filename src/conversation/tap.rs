//! What a proxy sees, made into a recording and into frames.
//!
//! ```text
//!   open 1        -> {"t":0,"conn":1,"event":"open"}
//!   c2s 1 "{…}\n" -> {"t":120000,"conn":1,"dir":"c2s","text":"{…}\n"}   -> a frame
//!   lost 1 s2c 9  -> {"t":450000,"conn":1,"event":"lost","dir":"s2c","len":9}
//! ```
//!
//! A [`Tap`] is told what happened and when; it reads no clock, writes no file, and touches no socket.

use super::guard::Guard;
use super::{Consequences, Conversation, Finding, Judge, Verdict};
use crate::capture::{Event, EventRecord, Header, RecordingWriter, Stream, Time, What};
use crate::decoder::{Decoded, Decoder, Options, Origin};
use crate::protocol::Direction;
use crate::protocol::session::{SessionConfig, Severity, Waiting};

/// Bytes that are held while no protocol recognises them.
const UNRECOGNISED: usize = 4 << 20;

/// What is done with what is seen.
pub struct Settings<'p> {
    /// The first line of the recording.
    pub header: Header,
    /// Whether there is a recording.
    pub record: bool,
    /// How bytes are understood, where anybody wants to know.
    pub decode: Option<Options<'p>>,
    /// By which rules what is said is judged, and what is known beside it; where anybody wants to know.
    pub judge: Option<(Judge, SessionConfig)>,
    /// Who watches a child's stdout.
    pub guard: Option<Guard<'p>>,
}

/// What the tap makes of what it sees, beside the recording.
pub enum Shown<'a> {
    /// A frame, what it answers, and which rules it breaks.
    Frame(&'a Decoded<'a>, Option<Verdict<'a>>),
    /// A rule that was broken otherwise than by a frame: by an end.
    Finding(&'a Finding),
    /// The number of findings that were not shown because they only follow from a message, at the end.
    Follow(Consequences),
    /// What is waited for at the end, the names of the two sides, and the time.
    Waiting(&'a [Waiting], [&'static str; 2], Option<i64>),
    /// Something that people should know.
    Remark(&'a str),
}

/// Told of everything that is shown.
pub type Show<'s> = dyn FnMut(Shown<'_>) + 's;

/// What went by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Connections, or children.
    pub connections: u64,
    /// Frames.
    pub frames: u64,
    /// Frames at fault.
    pub faulty: u64,
    /// Rules that were broken, whatever their severity.
    pub findings: u64,
    /// The worst of them.
    pub worst: Option<Severity>,
    /// Directions that ended without TLS's word for it.
    pub torn: u64,
}

impl Counts {
    fn found(&mut self, findings: &[Finding]) {
        self.findings += findings.len() as u64;
        self.worst = self.worst.max(findings.iter().map(|f| f.severity).max());
    }
}

/// Sees what passes.
pub struct Tap<'p> {
    started: Time,
    writer: Option<RecordingWriter>,
    decoder: Option<Decoder<'p>>,
    conversation: Option<Conversation<'p>>,
    guard: Option<Guard<'p>>,
    counts: Counts,
}

impl<'p> Tap<'p> {
    /// A tap that has seen nothing; a recording's header goes to `out`.
    pub fn new(settings: Settings<'p>, out: &mut Vec<u8>) -> Self {
        let header = &settings.header;
        let conversation = settings.judge.zip(settings.decode.as_ref());
        let conversation = conversation.map(|((judge, config), options)| {
            let mut conversation = Conversation::new(&options.protocols, &judge, config, true);
            conversation.expect_header(header);
            conversation
        });
        Self {
            started: header.started.unwrap_or_default(),
            writer: settings.record.then(|| RecordingWriter::new(header, out)),
            decoder: settings.decode.map(Decoder::new),
            conversation,
            guard: settings.guard,
            counts: Counts::default(),
        }
    }

    /// Bytes as one read returned them, `t` nanoseconds after the start. Lines of the recording go to `out`.
    pub fn chunk(
        &mut self,
        t: i64,
        conn: u32,
        stream: Stream,
        bytes: &[u8],
        out: &mut Vec<u8>,
        show: &mut Show<'_>,
    ) {
        if let Some(writer) = &mut self.writer {
            writer.chunk(t, conn, stream, bytes, out);
        }
        let remark = match (&mut self.guard, stream) {
            (Some(guard), Stream::S2c) => guard.stdout(t, bytes),
            (Some(guard), Stream::Stderr) => {
                guard.stderr(bytes);
                None
            }
            _ => None,
        };
        if let Some(remark) = remark {
            show(Shown::Remark(&remark));
        }
        let direction = match stream {
            Stream::C2s => Direction::ToServer,
            Stream::S2c => Direction::ToClient,
            Stream::Stderr => return,
        };
        let origin = Origin {
            conn: Some(conn),
            direction: Some(direction),
            time: i64::try_from(self.started + Time::from(t)).ok(),
        };
        self.frames(show, |decoder, sink| decoder.push(origin, bytes, sink));
        let held = self.decoder.as_ref().map_or(0, Decoder::undetected);
        if held > UNRECOGNISED {
            self.decoder = None;
            let text = "what passes is not recognised: name the protocol with -p, and the framing with --framing";
            show(Shown::Remark(text));
        }
    }

    /// Bytes went by that nobody looked at.
    pub fn lost(
        &mut self,
        t: i64,
        conn: u32,
        stream: Stream,
        bytes: u64,
        out: &mut Vec<u8>,
        show: &mut Show<'_>,
    ) {
        let mut event = event(What::Lost, t, conn);
        event.more.insert("dir".into(), stream.name().into());
        event.more.insert("len".into(), bytes.into());
        if let Some(writer) = &mut self.writer {
            writer.event(&event, out);
        }
        let direction = direction_of(&event);
        if direction.is_some() {
            let origin = Origin {
                conn: Some(conn),
                direction,
                time: i64::try_from(self.started + Time::from(t)).ok(),
            };
            self.frames(show, |decoder, sink| decoder.gap(origin, bytes, sink));
        }
        // What seems to be missing from here on may have been in them.
        if let Some(conversation) = &mut self.conversation {
            conversation.happened(&Event {
                conn,
                direction: direction_of(&event),
                time: Some(self.started + Time::from(t)),
                what: What::Lost,
                more: None,
            });
        }
    }

    /// Anything else.
    pub fn event(&mut self, event: &EventRecord, out: &mut Vec<u8>, show: &mut Show<'_>) {
        if let Some(writer) = &mut self.writer {
            writer.event(event, out);
        }
        let seen = Event {
            conn: event.conn.unwrap_or_default(),
            direction: direction_of(event),
            time: Some(self.started + Time::from(event.t)),
            what: What::from_name(&event.event),
            more: Some(&event.more),
        };
        if let (Some(decoder), Some((origin, beside))) = (&mut self.decoder, seen.fault()) {
            decoder.beside(origin, beside);
        }
        let guard = &mut self.guard;
        match What::from_name(&event.event) {
            What::Open => self.counts.connections += 1,
            What::Close | What::Reset | What::Exit => {
                if let Some(remark) = guard.as_mut().and_then(|guard| guard.end(event.t)) {
                    show(Shown::Remark(&remark));
                }
                self.frames(show, |decoder, sink| decoder.close(event.conn, sink));
            }
            What::Eof => {
                self.counts.torn += u64::from(event.more.contains_key("close_notify"));
                let origin = Origin {
                    conn: event.conn,
                    direction: direction_of(event),
                    time: i64::try_from(self.started + Time::from(event.t)).ok(),
                };
                self.frames(show, |decoder, sink| decoder.end(origin, sink));
            }
            _ => {}
        }
        self.judge(show, |conversation| conversation.happened(&seen));
    }

    /// From here on there is no recording.
    pub fn stop_recording(&mut self) {
        self.writer = None;
    }

    /// The end of the recording goes to `out`; call it once.
    pub fn finish(&mut self, t: i64, out: &mut Vec<u8>, show: &mut Show<'_>) {
        if let Some(conversation) = &self.conversation {
            let waiting = conversation.waiting();
            let sides = conversation.protocol().map(|p| p.descriptor().sides);
            if let (Some(sides), false) = (sides, waiting.is_empty()) {
                let now = i64::try_from(self.started + Time::from(t)).ok();
                show(Shown::Waiting(&waiting, sides, now));
            }
        }
        self.frames(show, |decoder, sink| decoder.finish(sink));
        self.judge(show, Conversation::finish);
        if let Some(conversation) = &self.conversation {
            for one in conversation.consequences() {
                show(Shown::Follow(one));
            }
        }
        if let Some(writer) = self.writer.take() {
            writer.end(t, out);
        }
    }

    /// What went by so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    fn frames(
        &mut self,
        show: &mut Show<'_>,
        run: impl FnOnce(&mut Decoder<'p>, &mut dyn FnMut(&Decoded<'_>)),
    ) {
        let Some(decoder) = &mut self.decoder else {
            return;
        };
        let (counts, conversation) = (&mut self.counts, &mut self.conversation);
        run(decoder, &mut |decoded| {
            counts.frames += 1;
            counts.faulty += u64::from(decoded.is_faulty());
            let verdict = conversation.as_mut().map(|c| c.see(decoded));
            counts.found(verdict.map_or(&[], |v| v.findings));
            show(Shown::Frame(decoded, verdict));
        });
    }

    /// What a connection's event, or the end, breaks.
    fn judge(
        &mut self,
        show: &mut Show<'_>,
        ask: impl for<'c> FnOnce(&'c mut Conversation<'p>) -> Verdict<'c>,
    ) {
        if let Some(conversation) = &mut self.conversation {
            let findings = ask(conversation).findings;
            self.counts.found(findings);
            for finding in findings {
                show(Shown::Finding(finding));
            }
        }
    }
}

/// The direction that an event is about, where it is about one.
fn direction_of(event: &EventRecord) -> Option<Direction> {
    event
        .more
        .get("dir")
        .and_then(|dir| dir.as_str())
        .and_then(Direction::from_name)
}

/// An event of one connection, without more.
pub fn event(what: What<'_>, t: i64, conn: u32) -> EventRecord {
    EventRecord {
        t,
        conn: Some(conn),
        event: what.name().to_owned(),
        ..EventRecord::default()
    }
}

/// The end of one direction; `torn` where TLS ended without `close_notify`, so that bytes may be missing.
pub fn eof(t: i64, conn: u32, stream: Stream, torn: bool) -> EventRecord {
    let mut eof = event(What::Eof, t, conn);
    eof.more.insert("dir".into(), stream.name().into());
    if torn {
        eof.more.insert("close_notify".into(), false.into());
    }
    eof
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoding::Want;
    use crate::framing::{LengthMode, Limits};
    use crate::protocol::registry;

    fn settings(protocol: &str) -> Settings<'static> {
        Settings {
            header: Header {
                transport: Some("tcp".into()),
                ..Header::new(1_000_000_000)
            },
            record: true,
            decode: Some(Options {
                protocols: vec![registry::find(protocol).unwrap()],
                framing: None,
                length_mode: LengthMode::Auto,
                limits: Limits::default(),
                resync: true,
                want: Want::Head,
            }),
            judge: Some((Judge::default(), SessionConfig::default())),
            guard: None,
        }
    }

    #[test]
    fn a_conversation_becomes_lines_and_frames() {
        let mut out = Vec::new();
        let mut seen = String::new();
        let mut show = |shown: Shown<'_>| match shown {
            Shown::Finding(finding) => seen += &format!("{}\n", finding.name()),
            Shown::Frame(decoded, verdict) => {
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
            Shown::Remark(text) => seen += &format!("{text}\n"),
            Shown::Follow(one) => seen += &format!("{} follow from #{}\n", one.count, one.index),
            Shown::Waiting(all, ..) => {
                for one in all {
                    seen += &format!("waits: {}\n", one.what);
                }
            }
        };
        let mut tap = Tap::new(settings("oracle"), &mut out);
        tap.event(&event(What::Open, 0, 1), &mut out, &mut show);
        let ask = br#"{"jsonrpc":"2.0","id":7,"method":"invoke","params":{"selector":"f","calldata":[]}}"#;
        let answer = br#"{"jsonrpc":"2.0","id":7,"result":[]}"#;
        tap.chunk(5, 1, Stream::C2s, ask, &mut out, &mut show);
        tap.chunk(6, 1, Stream::C2s, b"\n", &mut out, &mut show);
        tap.chunk(7, 1, Stream::Stderr, b"recv\n", &mut out, &mut show);
        tap.chunk(9, 1, Stream::S2c, answer, &mut out, &mut show);
        tap.chunk(11, 1, Stream::S2c, b"\n{\"json", &mut out, &mut show);
        tap.lost(12, 1, Stream::S2c, 40, &mut out, &mut show);
        tap.event(&event(What::Close, 13, 1), &mut out, &mut show);
        assert_eq!(
            tap.counts(),
            Counts {
                connections: 1,
                frames: 3,
                faulty: 1,
                ..tap.counts()
            }
        );
        tap.finish(14, &mut out, &mut show);
        let wanted = "invoke Some(1000000006) None false\n\
            result Some(1000000011) Some(5) false\n\
            - Some(1000000012) None true\n";
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
    fn what_nobody_recognises_is_not_held_for_ever() {
        let (mut out, mut remarks) = (Vec::new(), 0);
        let mut show = |shown: Shown<'_>| remarks += usize::from(matches!(shown, Shown::Remark(_)));
        let mut settings = settings("oracle");
        settings.record = false;
        if let Some(options) = &mut settings.decode {
            options.protocols = registry::all().to_vec();
        }
        let mut tap = Tap::new(settings, &mut out);
        let chunk = vec![0xee; 256 << 10];
        for t in 0..64 {
            tap.chunk(t, 1, Stream::C2s, &chunk, &mut out, &mut show);
        }
        let held = tap.decoder.as_ref().map_or(0, Decoder::undetected);
        assert!(held <= UNRECOGNISED, "{held} bytes are held");
        assert!(remarks <= 1);
        assert!(out.is_empty());
    }
}
