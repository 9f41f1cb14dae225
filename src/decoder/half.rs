//! What each direction is in the middle of.

use super::run::Stream;
use super::{Decoder, Key, Origin, doctor};
use crate::error::DecodeError;
use crate::framing::Step;

/// A frame of which the beginning is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Half {
    /// Its connection and direction.
    pub origin: Origin,
    /// First byte, from the start of the direction's stream.
    pub offset: u64,
    /// How many bytes are there.
    pub have: u64,
    /// What would be said of it if nothing more came: what is missing, and the likely cause.
    pub fault: Option<DecodeError>,
}

impl Decoder<'_> {
    /// Frames of which only the beginning is there: what each direction is in the middle of.
    pub fn halves(&self) -> Vec<Half> {
        let half = |(key, stream): (&Key, &Stream)| {
            let offset = stream.framer.begun().unwrap_or(stream.base);
            let have = stream.base + stream.buffer.len() as u64 - offset;
            // Looked at with a framer of its own, so that the stream can go on.
            let mut framer = self.framer(stream.framer.framing());
            let fault = match framer.next(&stream.buffer, stream.base, true) {
                Step::Frame(frame, _) => frame.fault.as_ref().map(|fault| {
                    let mut error = (*fault.error).clone();
                    if let Some(protocol) = self.protocol {
                        let cause = doctor::diagnose(&frame, error.code, protocol);
                        error.hint = cause.map(Into::into).or(error.hint);
                    }
                    error
                }),
                _ => None,
            };
            let origin = Origin {
                conn: key.0,
                direction: key.1,
                time: None,
            };
            (have > 0 && !stream.stopped).then_some(Half {
                origin,
                offset,
                have,
                fault,
            })
        };
        self.streams.iter().filter_map(half).collect()
    }
}
