//! What each direction is in the middle of.

use super::detect::{Detector, Verdict};
use super::run::Stream;
use super::{Decoder, Key, Origin, doctor};
use crate::error::DecodeError;
use crate::framing::{Framer, Framing, Step};
use crate::protocol::Protocol;

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
    pub fn halves(&self) -> Vec<Half> {
        let known = self.streams.iter().filter_map(|(key, stream)| {
            let offset = stream.framer.begun().unwrap_or(stream.base);
            let have = stream.base + stream.buffer.len() as u64 - offset;
            let live = have > 0 && !stream.stopped;
            live.then(|| self.half(*key, offset, have, stream))
        });
        let waiting = self.detecting.iter().filter_map(|(key, detector)| {
            let have = detector.bytes.len() as u64;
            (have > 0).then(|| self.undecided(*key, &detector.bytes))
        });
        known.chain(waiting).collect()
    }

    /// The bytes of one direction that are no whole frame yet, where it is known how they are delimited.
    pub fn begun(&self, origin: Origin) -> &[u8] {
        let stream = self.streams.get(&(origin.conn, origin.direction));
        stream.map_or(&[], |stream| stream.buffer.bytes())
    }

    fn half(&self, key: Key, offset: u64, have: u64, stream: &Stream) -> Half {
        // Looked at with a framer of its own, so that the stream can go on.
        let framing = if stream.framer.is_websocket() {
            Framing::WebSocket
        } else {
            stream.framer.framing()
        };
        let framer = || self.framer(framing);
        // A fragment in the middle of a message says nothing to one that knows nothing of the first.
        let (missing, fault) = if offset < stream.base {
            (None, None)
        } else {
            look(framer, self.protocol, stream.buffer.bytes(), stream.base)
        };
        Half {
            origin: origin(key),
            offset,
            have,
            missing,
            fault,
            held: false,
        }
    }

    /// Bytes of which it is not known how they are delimited: half a frame, if the likeliest reading says so.
    fn undecided(&self, key: Key, bytes: &[u8]) -> Half {
        let own = self.protocol.map(|p| [p]);
        let protocols = own
            .as_ref()
            .map_or(self.options.protocols.as_slice(), |own| own.as_slice());
        let mut detector = Detector::new(protocols, &self.options, key.1, own.is_some());
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
            return held;
        };
        let framer = || {
            let options = &self.options;
            let (limits, mode) = (options.limits, options.length_mode);
            Framer::new(framing, limits, protocol.hints(), mode, options.resync)
        };
        match framer().next(bytes, 0, false) {
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
        }
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
