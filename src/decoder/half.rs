//! What each direction is in the middle of.

use super::detect::{Detector, Verdict};
use super::run::Stream;
use super::{Decoder, Key, Origin, doctor};
use crate::error::DecodeError;
use crate::framing::{Framer, Step};
use crate::protocol::{Direction, Protocol};

/// A frame of which the beginning is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Half {
    /// Its connection and direction.
    pub origin: Origin,
    /// First byte, from the start of the direction's stream.
    pub offset: u64,
    /// How many bytes are there.
    pub have: u64,
    /// How many are missing at least, where that is known.
    pub missing: Option<u64>,
    /// What would be said of it if nothing more came: what is missing, and the likely cause.
    pub fault: Option<DecodeError>,
    /// Whether this is not one frame, but all that is held because it is not certain yet how it is to be read.
    pub held: bool,
}

impl Decoder<'_> {
    /// Frames of which only the beginning is there: what each direction is in the middle of. What waits for the protocol
    /// to be known is told as well.
    pub(crate) fn halves(&self) -> Vec<Half> {
        let known = self.streams.iter();
        let known = known.filter_map(|(key, stream)| self.half(*key, stream));
        let waiting = self.detecting.iter();
        let waiting = waiting.filter_map(|(key, detector)| self.undecided(*key, &detector.bytes));
        known.chain(waiting).collect()
    }

    /// The bytes of one direction that are no whole frame yet, where it is known how they are delimited.
    pub fn begun(&self, origin: Origin) -> &[u8] {
        let stream = self.streams.get(&(origin.conn, origin.direction));
        stream.map_or(&[], |stream| stream.buffer.bytes())
    }

    /// The one of a connection and direction.
    pub(crate) fn half_of(&self, conn: Option<u32>, direction: Option<Direction>) -> Option<Half> {
        let key = (conn, direction);
        match (self.streams.get(&key), self.detecting.get(&key)) {
            (Some(stream), _) => self.half(key, stream),
            (None, waiting) => self.undecided(key, &waiting?.bytes),
        }
    }

    fn half(&self, key: Key, stream: &Stream) -> Option<Half> {
        let offset = stream.framer.begun().unwrap_or(stream.base);
        let have = stream.base + stream.buffer.len() as u64 - offset;
        if have == 0 || stream.stopped {
            return None;
        }
        // Looked at with a framer of its own, so that the stream can go on. The end that it is told of has not come: what
        // would be looked for behind the frame then may still be inside it.
        let (bytes, base) = (stream.buffer.bytes(), stream.base);
        let look = |framing| look(|| self.framer(framing, false), self.protocol, bytes, base);
        let (missing, fault) = stream.framer.anew().map(look).unwrap_or_default();
        Some(Half {
            origin: origin(key),
            offset,
            have,
            missing,
            fault,
            held: false,
        })
    }

    /// Bytes of which it is not known how they are delimited: half a frame, if the likeliest reading says so.
    fn undecided(&self, key: Key, bytes: &[u8]) -> Option<Half> {
        if bytes.is_empty() {
            return None;
        }
        let own = self.protocol.map(|p| [p]);
        let protocols = own
            .as_ref()
            .map_or(self.options.protocols.as_slice(), |own| own.as_slice());
        let mut detector = Detector::new(protocols, &self.options, key, own.is_some());
        detector.bytes = bytes.to_vec();
        let held = Half {
            origin: origin(key),
            offset: 0,
            have: bytes.len() as u64,
            missing: None,
            fault: None,
            held: true,
        };
        let Verdict::Decided(protocol, framing, _) = detector.settle(true) else {
            return Some(held);
        };
        let framer = || {
            let options = &self.options;
            let (limits, mode) = (options.limits, options.length_mode);
            Framer::new(framing, limits, protocol.descriptor().hints, mode, false)
        };
        Some(match framer().next(bytes, 0, false) {
            Step::Incomplete(_) => {
                let (missing, fault) = look(framer, Some(protocol), bytes, 0);
                Half {
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

fn origin(key: Key) -> Origin {
    Origin {
        conn: key.0,
        direction: key.1,
        time: None,
    }
}

/// How many bytes a window lacks, and what would be said if no more came.
fn look(
    framer: impl Fn() -> Framer,
    protocol: Option<&dyn Protocol>,
    window: &[u8],
    base: u64,
) -> (Option<u64>, Option<DecodeError>) {
    let missing = match framer().next(window, base, false) {
        Step::Incomplete(missing) => missing,
        _ => None,
    };
    let fault = match framer().next(window, base, true) {
        Step::Frame(frame, _) => frame.fault.as_ref().map(|fault| {
            let mut error = (*fault.error).clone();
            if let Some(protocol) = protocol {
                let cause = doctor::diagnose(&frame, error.code, protocol);
                error.hint = cause.map(Into::into).or(error.hint);
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
    use crate::decoder::{Decoder, Options, Origin};
    use crate::encoding::Want;
    use crate::framing::Framing;
    use crate::protocol::{Direction, registry};

    /// Of half a frame it is said what is missing, whatever came before it on its connection.
    #[test]
    fn what_is_missing_of_the_half_that_is_there() {
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
            // What continues a message only says how its frame goes on.
            (vec![UPGRADE, START], b"\x80\x85\0\0\0\0{", None, ""),
            (vec![EVENTS], b"data: {", None, ""),
            (vec![EVENTS, b"data: {}\n\n"], b"dat", None, ""),
            (vec![], b"GET / HTTP/1.1\r\nho", None, "truncated"),
            (vec![], b"\x01INV{", None, "bad-http"),
        ] {
            let mut decoder = Decoder::new(Options {
                want: Want::Head,
                framing: Some(Framing::Http),
                ..Options::new(vec![protocol])
            });
            let origin = Origin {
                conn: Some(1),
                direction: Some(Direction::ToServer),
                time: None,
            };
            for bytes in before.iter().chain([&half]) {
                decoder.push(origin, bytes, &mut |decoded| {
                    assert!(decoded.frame.fault.is_none(), "{:?}", decoded.frame);
                });
            }
            let found = decoder.half_of(Some(1), origin.direction).expect("a half");
            assert_eq!(decoder.halves().first(), Some(&found));
            let fault = found.fault.map_or("", |fault| fault.code);
            assert_eq!(
                (found.missing, fault),
                (missing, code),
                "{before:?} {half:?}"
            );
        }
    }

    /// Another frame may stand inside a message of which only the beginning is there.
    #[test]
    fn what_stands_inside_a_half_begins_nothing() {
        const CALL: &str = "0000004185a776657273696f6e01a474797065a463616c6ca26964c410a1b2c3d4e5f67890abcdef1234567890a6746172676574a86d6174682e616464a461726773920203";
        let protocol = registry::find("saikuro").expect("saikuro");
        let mut decoder = Decoder::new(Options {
            want: Want::Head,
            framing: Some(Framing::Prefix),
            ..Options::new(vec![protocol])
        });
        let call = hex::decode(CALL).expect("hex");
        // A length of 512, and bytes of which the call is no more than a part.
        let bytes = [&b"\0\0\x02\0\xc5\x01\xfd"[..], &call, &[0; 40]].concat();
        let mut frames = 0;
        decoder.push(Origin::default(), &bytes, &mut |_| frames += 1);
        let half = decoder.half_of(None, None).expect("a half");
        let missing = 4 + 512 - bytes.len() as u64;
        assert_eq!((frames, half.missing), (0, Some(missing)));
        assert_eq!(half.fault.map(|fault| fault.code), Some("truncated"));
    }
}
