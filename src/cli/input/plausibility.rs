//! Checks if the bytes of an input contradict the flags of the user: a protocol that can read none of them, or a wrong
//! direction.

use crate::decoder::{DecodeOptions, Decoded, Decoder, Origin};
use crate::framing::{Framing, Head};
use crate::protocol::{Direction, Evidence, registry};

/// The maximum number of bytes that are stored for detection, of all directions.
const MAX_BYTES: usize = 64 << 10;
/// The maximum number of reads that they consist of.
const MAX_READS: usize = 1 << 10;

/// Counts the evidence for and against the flags.
pub(super) struct FlagPlausibility<'p> {
    options: DecodeOptions<'p>,
    head: Vec<(Origin, Vec<u8>)>,
    kept: usize,
    /// The number of messages of the named protocol, and of faulty frames.
    good: u64,
    faulty: u64,
    /// The number of frames without the header that the framing needs.
    headless: u64,
    /// The number of messages in the direction of their kind, and in the opposite direction.
    right: u64,
    wrong: u64,
}

impl<'p> FlagPlausibility<'p> {
    pub(super) fn new(options: &DecodeOptions<'p>) -> Self {
        Self {
            options: options.clone(),
            head: Vec::new(),
            kept: 0,
            good: 0,
            faulty: 0,
            headless: 0,
            right: 0,
            wrong: 0,
        }
    }

    /// Stores bytes of a read.
    pub(super) fn push(&mut self, origin: Origin, bytes: &[u8]) {
        let room = MAX_BYTES.saturating_sub(self.kept);
        if room == 0 || self.head.len() >= MAX_READS || self.good > 0 {
            return;
        }
        let bytes = bytes.get(..room).unwrap_or(bytes);
        self.kept += bytes.len();
        self.head.push((origin, bytes.to_vec()));
    }

    /// Counts a message.
    pub(super) fn count(&mut self, decoded: &Decoded<'_>) {
        // Both flags are plausible.
        if self.good > 0 && (self.right > 0 || decoded.origin.direction.is_none()) {
            return;
        }
        let (frame, message) = (decoded.frame, decoded.message);
        let is_faulty = decoded.is_faulty();
        if is_faulty {
            self.faulty += 1;
            let mut faults = decoded.faults();
            self.headless += u64::from(faults.any(|(_, fault)| fault.code == "missing-header"));
        } else if frame.control.is_none() && message.evidence > Evidence::None {
            self.good += 1;
        }
        // Either peer of an HTTP connection may have opened it; its requests show the direction.
        let goes = match frame.head {
            Head::Http {
                event: false,
                status: 0,
                ..
            } => Some(Direction::ToServer),
            Head::Http { event: false, .. } => Some(Direction::ToClient),
            Head::Http { .. } => None,
            _ => decoded.protocol.own_direction(frame, message),
        };
        if let (Some(goes), Some(direction), false) = (goes, decoded.origin.direction, is_faulty) {
            *(if goes == direction {
                &mut self.right
            } else {
                &mut self.wrong
            }) += 1;
        }
    }

    /// Returns true if all messages that have a fixed direction contradict the given one.
    pub(super) fn is_direction_reversed(&self) -> bool {
        self.wrong >= 2 && self.right == 0
    }

    /// Returns the framing that reads the bytes, if they have no headers.
    pub(super) fn other_framing(&self, decoder: &Decoder<'_>) -> Option<String> {
        let protocol = decoder.protocol()?;
        let is_given = self.options.framing.is_some();
        if is_given || self.good > 0 || self.headless == 0 {
            return None;
        }
        let framing = [Framing::Lines, Framing::Values]
            .into_iter()
            .find(|framing| {
                let (mut good, mut faulty) = (0, 0);
                let mut sink = |decoded: &Decoded<'_>| {
                    let is_good = !decoded.is_faulty() && decoded.message.evidence > Evidence::None;
                    *(if is_good { &mut good } else { &mut faulty }) += 1;
                };
                let mut other = Decoder::new(DecodeOptions {
                    protocols: vec![protocol],
                    framing: Some(*framing),
                    ..self.options.clone()
                });
                for (origin, bytes) in &self.head {
                    other.push(*origin, bytes, &mut sink);
                }
                other.finish(&mut sink);
                good > 0 && faulty == 0
            })?;
        let (name, framing) = (protocol.name(), framing.name());
        Some(format!(
            "the messages have no header: -p {name} --framing {framing} reads them"
        ))
    }

    /// Returns the detected protocol, if the named protocol reads none of the bytes.
    pub(super) fn detected_protocol(&self, decoder: &Decoder<'_>) -> Option<String> {
        let named = decoder.protocol().filter(|_| decoder.guess().is_none())?;
        if self.good > 0 || self.faulty == 0 {
            return None;
        }
        let options = DecodeOptions {
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
