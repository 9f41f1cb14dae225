//! What the user said of an input, and its bytes do not bear out: that it is of a protocol that reads none of it, or which
//! way it went.

use crate::decoder::{Decoded, Decoder, Options, Origin};
use crate::framing::Head;
use crate::protocol::{Direction, Evidence, registry};

/// Bytes that are kept to be looked at once more, of all directions.
const HEAD: usize = 64 << 10;
/// Reads that they may be of.
const READS: usize = 1 << 10;

/// What speaks for and against what was said.
pub(super) struct Doubt<'p> {
    options: Options<'p>,
    head: Vec<(Origin, Vec<u8>)>,
    kept: usize,
    /// Messages of the protocol that was named, and frames that are none.
    good: u64,
    faulty: u64,
    /// Messages that go the way which all of their kind go, and such that do not.
    right: u64,
    wrong: u64,
}

impl<'p> Doubt<'p> {
    pub(super) fn new(options: &Options<'p>) -> Self {
        Self {
            options: options.clone(),
            head: Vec::new(),
            kept: 0,
            good: 0,
            faulty: 0,
            right: 0,
            wrong: 0,
        }
    }

    /// Bytes as they were read.
    pub(super) fn push(&mut self, origin: Origin, bytes: &[u8]) {
        let room = HEAD.saturating_sub(self.kept);
        if room == 0 || self.head.len() >= READS || self.good > 0 {
            return;
        }
        let bytes = bytes.get(..room).unwrap_or(bytes);
        self.kept += bytes.len();
        self.head.push((origin, bytes.to_vec()));
    }

    /// What became of them.
    pub(super) fn see(&mut self, decoded: &Decoded<'_>) {
        // Nothing is doubted any more.
        if self.good > 0 && (self.right > 0 || decoded.origin.direction.is_none()) {
            return;
        }
        let (frame, message) = (decoded.frame, decoded.message);
        let is_faulty = decoded.is_faulty();
        if is_faulty {
            self.faulty += 1;
        } else if frame.control.is_none() && message.evidence > Evidence::None {
            self.good += 1;
        }
        // Either side of a connection over HTTP may have dialled; its requests say which.
        let goes = match frame.head {
            Head::Http {
                event: false,
                status: 0,
                ..
            } => Some(Direction::ToServer),
            Head::Http { event: false, .. } => Some(Direction::ToClient),
            Head::Http { .. } => None,
            _ => decoded.protocol.goes(message),
        };
        if let (Some(goes), Some(direction), false) = (goes, decoded.origin.direction, is_faulty) {
            *(if goes == direction {
                &mut self.right
            } else {
                &mut self.wrong
            }) += 1;
        }
    }

    /// Whether directions were given that all messages contradict which have only one.
    pub(super) fn is_turned_round(&self) -> bool {
        self.wrong >= 2 && self.right == 0
    }

    /// What the bytes look like, where the protocol that was named reads none of them.
    pub(super) fn other(&self, decoder: &Decoder<'_>) -> Option<String> {
        let named = decoder.protocol().filter(|_| decoder.guess().is_none())?;
        if self.good > 0 || self.faulty == 0 {
            return None;
        }
        let options = Options {
            protocols: registry::all().to_vec(),
            framing: None,
            ..self.options.clone()
        };
        let mut sure = false;
        let mut sink = |decoded: &Decoded<'_>| {
            let is_certain = decoded.message.evidence == Evidence::Certain;
            sure |= is_certain && !decoded.is_faulty();
        };
        let mut other = Decoder::new(options);
        for (origin, bytes) in &self.head {
            other.push(*origin, bytes, &mut sink);
        }
        other.finish(&mut sink);
        let guess = other
            .guess()
            .filter(|guess| sure && !guess.tie && guess.protocol != named.name())?;
        let (name, framing) = (&guess.protocol, guess.framing.name());
        Some(format!(
            "these bytes look like {name} ({framing}): -p {name} reads them"
        ))
    }
}
