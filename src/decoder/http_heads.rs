//! HTTP heads of connections whose protocol is not known.
//!
//! ```text
//!   GET /ws HTTP/1.1 ...         no message follows, so that no protocol recognises the bytes
//!   HTTP/1.1 401 Unauthorized    but they say why
//! ```

use super::Decoder;
use super::message::control;
use crate::framing::{Framer, Framing, Hints, LengthMode, Step};
use crate::protocol::{Place, Seen};

impl Decoder<'_> {
    /// Emits the frames before the first one that is not HTTP, for each direction of a connection
    /// without a recognised protocol. The directions are emitted one after the other.
    pub(crate) fn each_http_head(&self, tell: &mut dyn FnMut(&Seen<'_>)) {
        for (lane, detector) in &self.detecting {
            let mut framer = Framer::new(
                Framing::Http,
                self.options.limits,
                Hints::default(),
                LengthMode::Auto,
                false,
            );
            let (mut rest, mut offset) = (detector.bytes.as_slice(), 0);
            loop {
                let (frame, took) = match framer.step(rest, offset, true) {
                    Step::Took(took) if took > 0 => (None, took),
                    Step::Frame(frame, took) if frame.fault.is_none() && took > 0 => {
                        (Some(frame), took)
                    }
                    _ => break,
                };
                if let Some(frame) = frame {
                    tell(&Seen {
                        index: Place::NO_MESSAGE,
                        origin: lane.at(None),
                        frame: &frame,
                        message: &control("http", &frame),
                    });
                }
                rest = rest.get(took..).unwrap_or_default();
                offset += took as u64;
            }
        }
    }
}
