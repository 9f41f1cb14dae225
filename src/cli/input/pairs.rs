//! Reads pairs of one-way files as conversations.

use super::super::config::settings;
use super::super::poll::wait_readable_unless;
use super::feed::Feed;
use super::source::{ReadEnd, end_run};
use super::{Args, Flow, InputState, Inputs, READ_SIZE, open, unless_failed};
use crate::capture::{CaptureInput, Chunk, Item};
use crate::conversation::{Run, Source};
use crate::decoder::{DecodeOptions, OneWay, interleave};
use crate::protocol::Direction;
use anyhow::{Context as _, Result};
use std::io::Read as _;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

impl Inputs<'_, '_, '_> {
    /// Reads pairs of one-way files: each pair is a connection, put in the order of a conversation.
    pub(super) fn read_pairs(
        &mut self,
        pairs: &[(&PathBuf, &PathBuf)],
        source: &Source,
    ) -> Result<ReadEnd> {
        if let Some((file, _)) = pairs.iter().find(|(c2s, s2c)| c2s == s2c) {
            anyhow::bail!(
                "--c2s and --s2c name the same file, {file}; each is one direction: wiretool {file} reads a capture of both",
                file = file.display()
            );
        }
        let first = pairs.first().map_or(Path::new(""), |(c2s, _)| c2s);
        let (options, _) = settings().options_for_path(self.options, None, first);
        let names = pairs.iter();
        let names = names.map(|(c2s, s2c)| [c2s, s2c].map(|path| path.display().to_string()));
        let source = Source {
            name: pair_name(pairs),
            pairs: names.collect(),
            first_index: self.next_index,
            ..source.clone()
        };
        let rules = self.screen.rules();
        let mut run = Run::of_source(source, None, options.clone(), rules);
        let feed = &mut Feed::new(&options, pairs.len(), false, self.state, self.screen);
        let end = match read_pieces(pairs, self.args, &options, &mut run, feed) {
            ControlFlow::Continue(end) => Ok(end),
            ControlFlow::Break(unneeded) => unneeded.map(|()| ReadEnd::Unneeded),
        };
        self.next_index = run.decoder().index();
        end
    }
}

/// Reads the pieces of all files, in the order of a conversation.
fn read_pieces<'p>(
    pairs: &[(&PathBuf, &PathBuf)],
    args: &Args,
    options: &DecodeOptions<'p>,
    run: &mut Run<'p>,
    feed: &mut Feed<'_, 'p, '_>,
) -> Flow<ReadEnd> {
    run.read(&mut &[][..], feed)?;
    let mut streams = Vec::with_capacity(pairs.len());
    for (c2s, s2c) in pairs {
        let to_server = unless_failed(read_all(c2s, args, feed.state))?;
        streams.push([to_server, unless_failed(read_all(s2c, args, feed.state))?]);
    }
    let total: usize = streams.iter().flatten().map(|one| one.bytes.len()).sum();
    let mut progress = feed.state.progress(total as u64, true);
    let mut gaps: Vec<[_; 2]> = streams
        .iter()
        .map(|pair| pair.each_ref().map(|one| one.gaps().iter().peekable()))
        .collect();
    for (n, piece) in interleave(options, &streams) {
        if feed.state.is_stopped() {
            break;
        }
        let side = usize::from(piece.direction == Direction::ToClient);
        let stream = streams.get(n).and_then(|pair| pair.get(side));
        let gaps = gaps.get_mut(n).and_then(|pair| pair.get_mut(side));
        let (Some(stream), Some(gaps)) = (stream, gaps) else {
            continue;
        };
        if let Some(progress) = &mut progress {
            progress.set_done(run.bytes() + (piece.end - piece.start) as u64);
        }
        let chunk = |range| {
            let bytes = stream.bytes.get(range).unwrap_or_default();
            Chunk::on(n as u32, piece.direction, bytes)
        };
        let mut start = piece.start;
        let mut give = || {
            while let Some(gap) = gaps.next_if(|gap| gap.index <= piece.end) {
                let before = chunk(start..gap.index);
                run.item(&Item::Chunk(before), feed)?;
                run.gap(&before, gap.len, feed)?;
                start = gap.index;
            }
            run.item(&Item::Chunk(chunk(start..piece.end)), feed)
        };
        if let ControlFlow::Break(unneeded) = give() {
            unless_failed(unneeded)?;
            run.drop_waiting();
            return end_run(run, feed, ReadEnd::Unneeded);
        }
    }
    drop(progress);
    feed.is_cut = feed.state.is_stopped();
    end_run(run, feed, ReadEnd::Done)
}

/// Returns `x.{c2s,s2c}.bin`, or `a.bin + b.bin` if the names differ in something else.
fn both_names(c2s: &str, s2c: &str) -> String {
    let mut sides = c2s.match_indices("c2s").filter_map(|(at, side)| {
        let (before, after) = (c2s.get(..at)?, c2s.get(at + side.len()..)?);
        let is_same = s2c == [before, "s2c", after].concat();
        is_same.then(|| [before, "{c2s,s2c}", after].concat())
    });
    sides.next().unwrap_or_else(|| format!("{c2s} + {s2c}"))
}

/// Returns the names of the first pair, and the number of other pairs.
fn pair_name(pairs: &[(&PathBuf, &PathBuf)]) -> String {
    let Some((c2s, s2c)) = pairs.first() else {
        return String::new();
    };
    let first = both_names(&c2s.display().to_string(), &s2c.display().to_string());
    match pairs.len() {
        1 => first,
        2 => format!("{first} and 1 more pair"),
        n => format!("{first} and {} more pairs", n - 1),
    }
}

/// Returns all bytes of a one-way file, in any form.
fn read_all(path: &Path, args: &Args, state: &mut InputState) -> Result<OneWay> {
    /// Both streams are stored to be put in order.
    const MAX_BYTES: usize = 1 << 30;
    let mut source = open(path)?;
    let mut input = CaptureInput::new(args.from)
        .with_packet_options(args.packets.options())
        .of_exact_bytes(true);
    let mut stream = OneWay::default();
    let mut gaps = Vec::new();
    let mut problems = Vec::new();
    let mut collect = |item: Item<'_>| match item {
        Item::Chunk(chunk) => stream.bytes.extend_from_slice(chunk.bytes),
        Item::Gap(gap) => {
            stream.push_gap(gap.to.saturating_sub(gap.from));
            gaps.push(gap.to_string());
        }
        Item::Event(event) => {
            if let Some((_, len)) = event.lost() {
                stream.push_gap(len);
            }
        }
        Item::Problem(problem) => problems.push(problem),
        _ => {}
    };
    let mut buffer = vec![0; READ_SIZE];
    let mut total = 0;
    loop {
        // A signal ends this wait; it would not end a read.
        if !source.plain && state.stop.is_some() {
            wait_readable_unless(&source.file, None, &|| state.is_stopped());
        }
        if state.is_stopped() {
            break;
        }
        let n = source
            .file
            .read(&mut buffer)
            .with_context(|| format!("cannot read {}", source.name))?;
        if n == 0 {
            break;
        }
        total += n;
        anyhow::ensure!(
            total <= MAX_BYTES,
            "{} is larger than 1 GiB: the limit for files that are merged is 1 GiB",
            source.name
        );
        input.push(buffer.get(..n).unwrap_or_default(), &mut collect);
    }
    input.finish(&mut collect);
    for gap in gaps {
        state.note(&source.name, &gap);
    }
    for problem in problems {
        state.report(&source.name, &problem);
    }
    Ok(stream)
}
