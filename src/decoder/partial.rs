//! The partial frame of each direction.

use super::chunk::Stream;
use super::detect::{Detector, ProtocolVerdict};
use super::{Decoder, Origin, diagnose};
use crate::error::DecodeError;
use crate::framing::{EventStream, Framer, Step};
use crate::protocol::{Lane, Protocol};

/// A frame whose end has not arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partial {
    /// Its connection and direction.
    pub origin: Origin,
    /// The first byte, from the start of the direction's stream.
    pub offset: u64,
    /// The number of bytes present.
    pub have: u64,
    /// The minimum number of missing bytes, if known.
    pub missing: Option<u64>,
    /// The fault if no more bytes arrive: the missing part and the likely cause.
    pub fault: Option<DecodeError>,
    /// `true` if these are not one frame but all held bytes, because their framing is not certain
    /// yet.
    pub held: bool,
}

impl Decoder<'_> {
    /// Returns the partial frame of each direction, also for streams whose protocol is not known
    /// yet.
    pub(crate) fn partials(&self) -> Vec<Partial> {
        let known = self.streams.iter();
        let known = known.filter_map(|(key, stream)| self.partial(*key, stream));
        let waiting = self.detecting.iter();
        let waiting = waiting.filter_map(|(key, detector)| self.undecided(*key, &detector.bytes));
        known.chain(waiting).collect()
    }

    /// Returns the bytes of one direction that are not a complete frame, if its framing is known.
    pub(crate) fn partial_bytes(&self, origin: Origin) -> &[u8] {
        let stream = self.streams.get(&origin.lane());
        stream.map_or(&[], |stream| stream.buffer.bytes())
    }

    /// Returns the state of the last stream of server-sent events in one direction.
    pub(crate) fn event_stream(&self, origin: Origin) -> EventStream<'_> {
        let stream = self.streams.get(&origin.lane());
        stream.map_or_else(EventStream::default, |stream| stream.framer.event_stream())
    }

    /// Returns the partial frame of a lane.
    pub(crate) fn partial_of(&self, key: Lane) -> Option<Partial> {
        match (self.streams.get(&key), self.detecting.get(&key)) {
            (Some(stream), _) => self.partial(key, stream),
            (None, waiting) => self.undecided(key, &waiting?.bytes),
        }
    }

    fn partial(&self, key: Lane, stream: &Stream<'_>) -> Option<Partial> {
        let offset = stream.framer.pending_start().unwrap_or(stream.base);
        let have = stream.base + stream.buffer.len() as u64 - offset;
        if have == 0 || stream.stopped {
            return None;
        }
        // A separate framer examines the bytes, so that the stream can continue. It gets an end of
        // stream that is not real; bytes after the frame may still be inside it, so it does not
        // resynchronise.
        let (bytes, base) = (stream.buffer.bytes(), stream.base);
        let protocol = stream.protocol;
        let look = |framing| {
            let framer = || self.framer(protocol, framing, false);
            look(framer, (protocol, self.options.flags), bytes, base)
        };
        let (missing, fault) = stream
            .framer
            .restart_framing()
            .map(look)
            .unwrap_or_default();
        Some(Partial {
            origin: key.at(None),
            offset,
            have,
            missing,
            fault,
            held: false,
        })
    }

    /// Examines bytes with unknown framing: a partial frame, if the most likely reading gives one.
    fn undecided(&self, key: Lane, bytes: &[u8]) -> Option<Partial> {
        if bytes.is_empty() {
            return None;
        }
        let own = self.protocol_of(key).map(|p| [p]);
        let protocols = own
            .as_ref()
            .map_or(self.options.protocols.as_slice(), |own| own.as_slice());
        let detector = Detector::new(protocols, &self.options, key, own.is_some());
        let mut detector = detector.after(self.gaps.get(&key));
        detector.bytes = bytes.to_vec();
        let held = Partial {
            origin: key.at(None),
            offset: 0,
            have: bytes.len() as u64,
            missing: None,
            fault: None,
            held: true,
        };
        let ProtocolVerdict::Decided(protocol, framing, _) = detector.settle(true) else {
            return Some(held);
        };
        let framer = || {
            let options = &self.options;
            let (limits, mode) = (options.limits, options.length_mode);
            protocol.framer(framing, limits, mode, false)
        };
        Some(match framer().step(bytes, 0, false) {
            Step::Incomplete(_) => {
                let (missing, fault) = look(framer, (protocol, self.options.flags), bytes, 0);
                Partial {
                    missing,
                    fault,
                    held: false,
                    ..held
                }
            }
            Step::Took(_) | Step::Frame(..) => held,
        })
    }
}

/// Returns the number of missing bytes of a window, and the fault if no more arrive.
fn look(
    framer: impl Fn() -> Framer,
    (protocol, flags): (&dyn Protocol, bool),
    window: &[u8],
    base: u64,
) -> (Option<u64>, Option<DecodeError>) {
    let missing = match framer().step(window, base, false) {
        Step::Incomplete(missing) => missing,
        _ => None,
    };
    let fault = match framer().step(window, base, true) {
        Step::Frame(frame, _) => frame.fault.as_ref().map(|fault| {
            let mut error = (*fault.error).clone();
            let cause = diagnose::diagnose(&frame, error.code, protocol);
            error.hint = cause.map(Into::into).or(error.hint);
            if flags {
                error.name_flags();
            }
            // The stream has not ended.
            if let Some(got) = error.got.strip_suffix(" before the end of the stream") {
                error.got = format!("{got} so far").into();
            }
            error
        }),
        _ => None,
    };
    (missing, fault)
}

#[cfg(test)]
mod tests {
    use crate::decoder::{DecodeOptions, Decoder, Origin};
    use crate::encoding::Want;
    use crate::framing::Framing;
    use crate::protocol::{Direction, Lane, registry};

    /// The report names the missing part of a partial frame, after any earlier frames of the
    /// connection.
    #[test]
    fn partial_frame_reports_missing_bytes() {
        const UPGRADE: &[u8] =
            b"GET / HTTP/1.1\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n";
        const PING: &[u8] = b"\x89\x80\0\0\0\0";
        const START: &[u8] = b"\x01\x81\0\0\0\0{";
        const EVENTS: &[u8] =
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 99\r\n\r\n";
        let protocol = registry::find("sael").expect("sael");
        for (before, half, missing, code) in [
            (vec![UPGRADE], &b"\x81\xfe"[..], Some(2), "truncated"),
            (vec![UPGRADE], b"\x81\x85\0\0\0\0{", Some(4), "truncated"),
            (
                vec![UPGRADE, PING],
                b"\x81\x85\0\0\0\0{",
                Some(4),
                "truncated",
            ),
            // A continuation frame only shows how its own frame continues.
            (vec![UPGRADE, START], b"\x80\x85\0\0\0\0{", None, ""),
            (vec![EVENTS], b"data: {", None, ""),
            (vec![EVENTS, b"data: {}\n\n"], b"dat", None, ""),
            (vec![], b"GET / HTTP/1.1\r\nho", None, "truncated"),
            (vec![], b"\x01INV{", None, "bad-http"),
        ] {
            let mut decoder = Decoder::new(DecodeOptions {
                want: Want::Head,
                framing: Some(Framing::Http),
                ..DecodeOptions::new(vec![protocol])
            });
            let origin = Origin {
                conn: Some(1),
                direction: Some(Direction::ToServer),
                ..Origin::default()
            };
            for bytes in before.iter().chain([&half]) {
                decoder.push(origin, bytes, &mut |decoded| {
                    assert!(decoded.frame.fault.is_none(), "{:?}", decoded.frame);
                });
            }
            let found = decoder.partial_of(origin.lane()).expect("a half");
            assert_eq!(decoder.partials().first(), Some(&found));
            let fault = found.fault.map_or("", |fault| fault.code);
            assert_eq!(
                (found.missing, fault),
                (missing, code),
                "{before:?} {half:?}"
            );
        }
    }

    /// A frame inside a partial message does not start a new one.
    #[test]
    fn inner_bytes_start_no_partial_frame() {
        const CALL: &str = "0000004185a776657273696f6e01a474797065a463616c6ca26964c410a1b2c3d4e5f67890abcdef1234567890a6746172676574a86d6174682e616464a461726773920203";
        let protocol = registry::find("saikuro").expect("saikuro");
        let mut decoder = Decoder::new(DecodeOptions {
            want: Want::Head,
            framing: Some(Framing::Prefix),
            ..DecodeOptions::new(vec![protocol])
        });
        let call = hex::decode(CALL).expect("hex");
        // A length of 512, and bytes that contain the call only as a part.
        let bytes = [&b"\0\0\x02\0\xc5\x01\xfd"[..], &call, &[0; 40]].concat();
        let mut frames = 0;
        decoder.push(Origin::default(), &bytes, &mut |_| frames += 1);
        let half = decoder.partial_of(Lane::default()).expect("a half");
        let missing = 4 + 512 - bytes.len() as u64;
        assert_eq!((frames, half.missing), (0, Some(missing)));
        assert_eq!(half.fault.map(|fault| fault.code), Some("truncated"));
    }
}
