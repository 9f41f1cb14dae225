//! The smallest recording that still shows a failure.
//!
//! ```text
//!   recording --decode--> parts       connections, operations, messages, values
//!   parts --leave some out--> trial   the bytes of a message leave their stream, all others stay
//!   trial --test of the caller--> holds, or does not hold
//! ```
//!
//! Messages that open a connection or a session stay as long as they do. A trial that decodes to other messages, or to more
//! faults, is not tested: it would be another recording, not a smaller one.

mod minimize;
mod parts;
#[cfg(test)]
mod tests;
mod values;

use crate::capture::recording::{Record, read_records};
use crate::decoder::{DecodeOptions, Decoded};
use crate::encode::EncodeOptions;
use crate::encoding::Want;
use crate::render::{DisplayOptions, json};
use minimize::minimize;
use parts::{Edits, Parts, connections, write};
use std::collections::{BTreeSet, HashSet};
use std::hash::BuildHasher as _;
use std::ops::ControlFlow;

/// What is left out, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Whole connections.
    Connections,
    /// Operations: a request with all that belongs to it.
    Operations,
    /// Single messages.
    Messages,
    /// Members, elements and long texts of messages.
    Values,
}

impl Stage {
    /// Returns its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Connections => "connections",
            Self::Operations => "operations",
            Self::Messages => "messages",
            Self::Values => "values",
        }
    }
}

/// The settings.
pub struct ShrinkConfig<'p> {
    /// How the recording is decoded.
    pub decode: DecodeOptions<'p>,
    /// How changed messages are encoded.
    pub encode: EncodeOptions<'p>,
    /// Messages are made smaller, too.
    pub values: bool,
}

/// The size of a recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// The number of connections.
    pub connections: usize,
    /// The number of messages and control frames.
    pub messages: usize,
    /// The number of bytes of the recording.
    pub bytes: usize,
}

/// The result.
#[derive(Debug)]
pub struct Shrunk<B> {
    /// The recording.
    pub out: Vec<u8>,
    /// Its size before.
    pub before: Size,
    /// Its size now.
    pub after: Size,
    /// Why the test ended the search, if it did.
    pub stopped: Option<B>,
}

/// Tests a trial: true if it still shows the failure. A break ends the search.
pub type Test<'t, B> = dyn FnMut(Stage, &[u8]) -> ControlFlow<B, bool> + 't;

/// Makes a recording smaller while `test` holds. The whole recording is not tested.
///
/// # Errors
/// It is not a recording, or no protocol recognises its traffic.
pub fn shrink<B>(
    recording: &[u8],
    config: &ShrinkConfig<'_>,
    notes: &mut Vec<String>,
    test: &mut Test<'_, B>,
) -> Result<Shrunk<B>, String> {
    let mut records = read_records(recording, notes)?;
    let parts = config.read(&records);
    if parts.all.is_empty() {
        return Err("no protocol recognises the traffic: name it with -p".into());
    }
    name_protocol(&mut records, &parts);
    let mut shrinker = Shrinker {
        config,
        test,
        records,
        parts,
        tested: HashSet::new(),
        stopped: None,
    };
    let before = shrinker.size();
    shrinker.run();
    Ok(Shrunk {
        before,
        after: shrinker.size(),
        out: write(&shrinker.records),
        stopped: shrinker.stopped,
    })
}

impl ShrinkConfig<'_> {
    fn read(&self, records: &[Record]) -> Parts {
        Parts::read(records, self.decode.clone(), &|_, _| {})
    }

    /// Decodes records with a line for each message.
    fn read_lines(&self, records: &[Record]) -> Parts {
        let options = DecodeOptions {
            want: Want::Exact,
            ..self.decode.clone()
        };
        let line = |decoded: &Decoded<'_>, out: &mut Vec<u8>| {
            json::write(decoded, None, DisplayOptions::default(), out);
        };
        Parts::read(records, options, &line)
    }
}

/// Names the protocol in the header: a few messages may fit several.
fn name_protocol(records: &mut [Record], parts: &Parts) {
    let names: BTreeSet<&str> = parts
        .all
        .iter()
        .map(|part| part.protocol.as_str())
        .collect();
    if let (Some(Record::Header(header)), [name]) =
        (records.first_mut(), Vec::from_iter(names).as_slice())
    {
        header.protocol.get_or_insert_with(|| (*name).to_owned());
    }
}

/// Returns what a choice of parts changes, and which messages stay.
type EditsOf<'e> = dyn Fn(&[bool], &Parts) -> (Edits, Vec<bool>) + 'e;

struct Shrinker<'s, 't, 'p, B> {
    config: &'s ShrinkConfig<'p>,
    test: &'s mut Test<'t, B>,
    /// The smallest records so far, and their parts.
    records: Vec<Record>,
    parts: Parts,
    /// Hashes of trials that did not hold.
    tested: HashSet<u64>,
    stopped: Option<B>,
}

impl<B> Shrinker<'_, '_, '_, B> {
    fn size(&self) -> Size {
        Size {
            connections: connections(&self.records).len(),
            messages: self.parts.all.len(),
            bytes: write(&self.records).len(),
        }
    }

    fn run(&mut self) {
        loop {
            let before = self.parts.all.len();
            self.drop_connections();
            self.drop_operations();
            self.drop_messages();
            if self.stopped.is_some() || self.parts.all.len() == before {
                break;
            }
        }
        if self.config.values && self.stopped.is_none() {
            self.cut_values();
        }
    }

    fn drop_connections(&mut self) {
        let all = connections(&self.records);
        let dropped = |kept: &[bool]| {
            let dropped = all.iter().zip(kept).filter(|(_, is_kept)| !**is_kept);
            dropped.map(|(conn, _)| *conn).collect::<BTreeSet<u32>>()
        };
        self.drop_parts(Stage::Connections, all.len(), &|kept, parts| {
            let dropped = dropped(kept);
            let is_kept = |conn: Option<u32>| conn.is_none_or(|conn| !dropped.contains(&conn));
            let stays = parts.all.iter().map(|part| is_kept(part.lane.conn));
            let stays = stays.collect();
            let edits = Edits {
                dropped,
                ..Edits::default()
            };
            (edits, stays)
        });
    }

    fn drop_operations(&mut self) {
        let free = self.parts.all.iter().filter(|part| !part.opens);
        let operations: BTreeSet<u64> = free.map(|part| part.operation).collect();
        let operations = Vec::from_iter(operations);
        self.drop_parts(Stage::Operations, operations.len(), &|kept, parts| {
            let is_kept = |operation: &u64| {
                let at = operations.binary_search(operation).ok();
                at.is_none_or(|at| kept.get(at).copied().unwrap_or(true))
            };
            let stays = parts.all.iter();
            without(
                parts,
                stays
                    .map(|part| part.opens || is_kept(&part.operation))
                    .collect(),
            )
        });
    }

    fn drop_messages(&mut self) {
        let free = self.parts.all.iter().enumerate();
        let free: Vec<usize> = free
            .filter(|(_, part)| !part.opens)
            .map(|(at, _)| at)
            .collect();
        self.drop_parts(Stage::Messages, free.len(), &|kept, parts| {
            let mut stays = vec![true; parts.all.len()];
            for (at, is_kept) in free.iter().zip(kept) {
                stays
                    .iter_mut()
                    .skip(*at)
                    .take(1)
                    .for_each(|stays| *stays = *is_kept);
            }
            without(parts, stays)
        });
    }

    /// Leaves out as many of `count` parts as possible. `edits` says what a choice changes, and which messages stay.
    fn drop_parts(&mut self, stage: Stage, count: usize, edits: &EditsOf<'_>) {
        if self.stopped.is_some() {
            return;
        }
        let Self {
            config,
            test,
            records,
            parts,
            tested,
            ..
        } = self;
        let (kept, stopped) = minimize(count, &mut |kept| {
            let (edits, stays) = edits(kept, parts);
            let trial = edits.apply(records);
            let wanted = parts.only(&stays);
            holds(stage, &trial, &wanted, config, tested, &mut **test)
        });
        self.stopped = stopped;
        let (edits, _) = edits(&kept, &self.parts);
        self.records = edits.apply(&self.records);
        self.parts = self.config.read(&self.records);
    }

    /// Makes each message smaller, later ones first.
    fn cut_values(&mut self) {
        let mut lines = self.config.read_lines(&self.records);
        for at in (0..lines.all.len()).rev() {
            let mut depth = Some(0);
            while let Some(line) = lines.all.get(at).map(|part| part.line.clone()) {
                let cuts = values::cuts(&line, depth);
                if cuts.is_empty() && depth.is_some() {
                    // Then the texts of what is left.
                    depth = None;
                    continue;
                }
                self.cut_at(at, &line, &cuts);
                if self.stopped.is_some() {
                    return;
                }
                lines = self.config.read_lines(&self.records);
                match depth {
                    Some(level) => depth = Some(level + 1),
                    None => break,
                }
            }
        }
    }

    /// Makes as many of these cuts as possible in a message.
    fn cut_at(&mut self, at: usize, line: &[u8], cuts: &[(std::ops::Range<usize>, Vec<u8>)]) {
        let Self {
            config,
            test,
            records,
            parts,
            tested,
            ..
        } = self;
        let edited = |kept: &[bool]| {
            let chosen = cuts.iter().zip(kept).filter(|(_, is_kept)| !**is_kept);
            let chosen: Vec<_> = chosen.map(|(cut, _)| cut).collect();
            let line = values::cut(line, &chosen)?;
            let mut edits = Edits::default();
            edits.replace(parts.all.get(at)?, values::encode(&line, &config.encode)?);
            Some(edits.apply(records))
        };
        let (kept, stopped) = minimize(cuts.len(), &mut |kept| match edited(kept) {
            Some(trial) => holds(Stage::Values, &trial, parts, config, tested, &mut **test),
            None => ControlFlow::Continue(false),
        });
        let changed = kept.contains(&false).then(|| edited(&kept)).flatten();
        self.stopped = stopped;
        if let Some(changed) = changed {
            self.records = changed;
            self.parts = self.config.read(&self.records);
        }
    }
}

/// Returns the edits that leave out the messages that do not stay.
fn without(parts: &Parts, stays: Vec<bool>) -> (Edits, Vec<bool>) {
    let mut edits = Edits::default();
    for (part, _) in parts.all.iter().zip(&stays).filter(|(_, stays)| !**stays) {
        edits.replace(part, Vec::new());
    }
    (edits, stays)
}

/// Returns true if a trial has the wanted messages, and the test holds.
fn holds<B>(
    stage: Stage,
    trial: &[Record],
    wanted: &Parts,
    config: &ShrinkConfig<'_>,
    tested: &mut HashSet<u64>,
    test: &mut Test<'_, B>,
) -> ControlFlow<B, bool> {
    let bytes = write(trial);
    let hash = foldhash::fast::FixedState::default().hash_one(&bytes);
    if tested.contains(&hash) || !config.read(trial).fits(wanted) {
        return ControlFlow::Continue(false);
    }
    let holds = test(stage, &bytes)?;
    if !holds {
        tested.insert(hash);
    }
    ControlFlow::Continue(holds)
}
