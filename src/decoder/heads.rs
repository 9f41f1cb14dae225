//! HTTP heads of connections whose protocol is not known.
//!
//! ```text
//!   GET /ws HTTP/1.1 ...         no message follows, so that no protocol recognises the bytes
//!   HTTP/1.1 401 Unauthorized    but they say why
//! ```

use super::Decoder;
use super::control::control;
use crate::framing::{Framer, Framing, Hints, LengthMode, Step};
use crate::protocol::{Origin, Seen};

impl Decoder<'_> {
    /// The frames before the first one that is not HTTP, in each direction of a connection that no protocol recognises.
    /// Those of one direction follow those of the other.
    pub(crate) fn heads(&self, tell: &mut dyn FnMut(&Seen<'_>)) {
        let mut index = 0;
        for (&(conn, direction), detector) in &self.detecting {
            let mut framer = Framer::new(
                Framing::Http,
                self.options.limits,
                Hints::default(),
                LengthMode::Auto,
                false,
            );
            let (mut rest, mut offset) = (detector.bytes.as_slice(), 0);
            loop {
                let (frame, took) = match framer.next(rest, offset, true) {
                    Step::Took(took) if took > 0 => (None, took),
                    Step::Frame(frame, took) if frame.fault.is_none() && took > 0 => {
                        (Some(frame), took)
                    }
                    _ => break,
                };
                if let Some(frame) = frame {
                    let origin = Origin {
                        conn,
                        direction,
                        time: None,
                    };
                    tell(&Seen {
                        index,
                        origin,
                        frame: &frame,
                        message: &control("http", &frame),
                    });
                    index += 1;
                }
                rest = rest.get(took..).unwrap_or_default();
                offset += took as u64;
            }
        }
    }
}
