//! What a proxy sees, made into a recording and into frames.
//!
//! ```text
//!   open 1        -> {"t":0,"conn":1,"event":"open"}
//!   c2s 1 "{…}\n" -> {"t":120000,"conn":1,"dir":"c2s","text":"{…}\n"}   -> a frame
//!   lost 1 s2c 9  -> {"t":450000,"conn":1,"event":"lost","dir":"s2c","bytes":9}
//! ```
//!
//! A [`Tap`] is told what happened and when; it reads no clock, writes no file, and touches no socket.

use super::guard::Guard;
use super::latency::Latency;
use crate::capture::{EventRecord, Header, RecordingWriter, Stream, Time, What};
use crate::decoder::{Decoded, Decoder, Options, Origin};
use crate::protocol::Direction;

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
    /// Whether answers are timed.
    pub latency: bool,
    /// Who watches a child's stdout.
    pub guard: Option<Guard<'p>>,
}

/// What the tap makes of what it sees, beside the recording.
pub enum Shown<'a> {
    /// A frame, and, where it answers one, how many nanoseconds after it.
    Frame(&'a Decoded<'a>, Option<i64>),
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
}

/// Sees what passes.
pub struct Tap<'p> {
    started: Time,
    writer: Option<RecordingWriter>,
    decoder: Option<Decoder<'p>>,
    latency: Option<Latency>,
    guard: Option<Guard<'p>>,
    counts: Counts,
}

impl<'p> Tap<'p> {
    /// A tap that has seen nothing; a recording's header goes to `out`.
    pub fn new(settings: Settings<'p>, out: &mut Vec<u8>) -> Self {
        let header = &settings.header;
        Self {
            started: header.started.unwrap_or_default(),
            writer: settings.record.then(|| RecordingWriter::new(header, out)),
            decoder: settings.decode.map(Decoder::new),
            latency: settings.latency.then(Latency::default),
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
    pub fn lost(&mut self, t: i64, conn: u32, stream: Stream, bytes: u64, out: &mut Vec<u8>) {
        let mut event = event(What::Lost, t, conn);
        event.more.insert("dir".into(), stream.name().into());
        event.more.insert("bytes".into(), bytes.into());
        if let Some(writer) = &mut self.writer {
            writer.event(&event, out);
        }
    }

    /// Anything else.
    pub fn event(&mut self, event: &EventRecord, out: &mut Vec<u8>, show: &mut Show<'_>) {
        if let Some(writer) = &mut self.writer {
            writer.event(event, out);
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
            _ => {}
        }
    }

    /// From here on there is no recording.
    pub fn stop_recording(&mut self) {
        self.writer = None;
    }

    /// The end of the recording goes to `out`; call it once.
    pub fn finish(&mut self, t: i64, out: &mut Vec<u8>, show: &mut Show<'_>) {
        self.frames(show, |decoder, sink| decoder.finish(sink));
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
        let (counts, latency) = (&mut self.counts, &mut self.latency);
        run(decoder, &mut |decoded| {
            let latency = look(decoded, counts, latency.as_mut());
            show(Shown::Frame(decoded, latency));
        });
    }
}

/// Looks at one frame: everything that is to be said of it, beside what stands in it, is found here.
fn look(decoded: &Decoded<'_>, counts: &mut Counts, latency: Option<&mut Latency>) -> Option<i64> {
    counts.frames += 1;
    counts.faulty += u64::from(decoded.is_faulty());
    latency.and_then(|latency| latency.see(decoded))
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
            latency: true,
            guard: None,
        }
    }

    #[test]
    fn a_conversation_becomes_lines_and_frames() {
        let mut out = Vec::new();
        let mut seen = String::new();
        let mut show = |shown: Shown<'_>| match shown {
            Shown::Frame(decoded, latency) => {
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
        tap.lost(12, 1, Stream::S2c, 40, &mut out);
        tap.event(&event(What::Close, 13, 1), &mut out, &mut show);
        assert_eq!(
            tap.counts(),
            Counts {
                connections: 1,
                frames: 3,
                faulty: 1
            }
        );
        tap.finish(14, &mut out, &mut show);
        let wanted = "invoke Some(1000000006) None false\n\
            result Some(1000000011) Some(5) false\n\
            - None None true\n";
        assert_eq!(seen, wanted);
        insta::assert_snapshot!(String::from_utf8(out).unwrap(), @r#"
        {"wiretool":1,"started":"1970-01-01T00:00:01.000000000Z","transport":"tcp"}
        {"t":0,"conn":1,"event":"open"}
        {"t":5,"conn":1,"dir":"c2s","text":"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"invoke\",\"params\":{\"selector\":\"f\",\"calldata\":[]}}"}
        {"t":6,"conn":1,"dir":"c2s","text":"\n"}
        {"t":7,"conn":1,"dir":"stderr","text":"recv\n"}
        {"t":9,"conn":1,"dir":"s2c","text":"{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":[]}"}
        {"t":11,"conn":1,"dir":"s2c","text":"\n{\"json"}
        {"t":12,"conn":1,"event":"lost","bytes":40,"dir":"s2c"}
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
