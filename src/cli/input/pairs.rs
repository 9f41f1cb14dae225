//! Reads pairs of one-way files as conversations.

use super::super::config::settings;
use super::super::poll::wait_readable_unless;
use super::super::progress::ReadProgress;
use super::plausibility::FlagPlausibility;
use super::{FrameDisplay, PipelineFeed, READ_SIZE, new_pipeline, open};
use crate::capture::{CaptureInput, Chunk, Form, Item, ProblemSeverity};
use crate::decoder::{DecodeOptions, Origin, interleave};
use crate::protocol::Direction;
use anyhow::{Context as _, Result};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

/// Reads pairs of one-way files: each pair is a connection, put in the order of a conversation. Messages are counted from
/// `index`; returns the index after the last one. `conn` is the number of the connection for one pair of several inputs.
pub(super) fn read_pairs(
    pairs: &[(&PathBuf, &PathBuf)],
    from: Form,
    conn: Option<u32>,
    index: u64,
    options: &DecodeOptions<'_>,
    show: &mut dyn FrameDisplay,
) -> Result<u64> {
    let first = pairs.first().map_or(Path::new(""), |(c2s, _)| c2s);
    let (options, _) = &settings().options_for_path(options, None, first);
    let mut pipeline = new_pipeline(options, false, show)?;
    pipeline.decoder = pipeline.decoder.starting_at(index);
    let stop = show.stop();
    let is_stopped = || stop.as_ref().is_some_and(|s| s.load(Ordering::Relaxed));
    let name = &pair_name(pairs);
    show.begin(name);
    for (c2s, s2c) in pairs {
        show.pair([&c2s.display().to_string(), &s2c.display().to_string()]);
    }
    let mut feed = PipelineFeed {
        plausibilities: pairs
            .iter()
            .map(|_| FlagPlausibility::new(options))
            .collect(),
        is_recording: false,
        has_bytes: false,
        unreadable: None,
        show,
        name,
    };
    let mut streams = Vec::with_capacity(pairs.len());
    for (c2s, s2c) in pairs {
        let to_server = read_all(c2s, from, feed.show)?;
        streams.push([to_server, read_all(s2c, from, feed.show)?]);
    }
    let total = streams.iter().flatten().map(Vec::len).sum::<usize>() as u64;
    let mut progress = ReadProgress::new(total, feed.show.progress());
    let mut done = 0;
    let borrowed: Vec<[&[u8]; 2]> = streams.iter().map(|[a, b]| [&a[..], &b[..]]).collect();
    for (n, piece) in interleave(options, &borrowed) {
        if is_stopped() {
            break;
        }
        let [to_server, to_client] = borrowed.get(n).copied().unwrap_or_default();
        let bytes = if piece.direction == Direction::ToServer {
            to_server
        } else {
            to_client
        };
        let bytes = bytes.get(piece.start..piece.end).unwrap_or_default();
        done += bytes.len() as u64;
        if let Some(progress) = &mut progress {
            progress.set_done(done);
        }
        let origin = Origin {
            conn: (pairs.len() > 1).then_some(n as u32).or(conn),
            direction: Some(piece.direction),
            ..Origin::default()
        };
        let chunk = Chunk::on(n as u32, piece.direction, bytes);
        feed.show.item(&Item::Chunk(chunk), None)?;
        pipeline.push(origin, bytes, &mut feed)?;
    }
    pipeline.finish(!is_stopped(), &mut feed)?;
    let plausibilities = feed.plausibilities;
    let mut others = plausibilities.iter();
    if let Some(text) =
        others.find_map(|plausibility| plausibility.detected_protocol(&pipeline.decoder))
    {
        show.note(name, &text, false);
    }
    for (plausibility, (c2s, s2c)) in plausibilities.iter().zip(pairs) {
        if plausibility.is_direction_reversed() {
            let (c2s, s2c) = (c2s.display(), s2c.display());
            let text = format!("the two files seem to be swapped: use --c2s {s2c} --s2c {c2s}");
            show.note(name, &text, false);
        }
    }
    show.end_source(name, total, &mut pipeline)?;
    Ok(pipeline.decoder.index())
}

/// Returns `a.bin + b.bin`, and the number of other pairs.
fn pair_name(pairs: &[(&PathBuf, &PathBuf)]) -> String {
    let Some((c2s, s2c)) = pairs.first() else {
        return String::new();
    };
    let first = format!("{} + {}", c2s.display(), s2c.display());
    match pairs.len() {
        1 => first,
        2 => format!("{first} and 1 more pair"),
        n => format!("{first} and {} more pairs", n - 1),
    }
}

/// Returns all bytes of a one-way file, in any form.
fn read_all(path: &Path, form: Form, show: &mut dyn FrameDisplay) -> Result<Vec<u8>> {
    /// Both streams are stored to be put in order.
    const MAX_BYTES: usize = 1 << 30;
    let mut source = open(path)?;
    let mut input = CaptureInput::new(form);
    let mut bytes = Vec::new();
    let mut problems = Vec::new();
    let mut collect = |item: Item<'_>| match item {
        Item::Chunk(chunk) => bytes.extend_from_slice(chunk.bytes),
        Item::Problem(problem) => problems.push(problem),
        _ => {}
    };
    let mut buffer = vec![0; READ_SIZE];
    let mut total = 0;
    let stop = show.stop();
    let is_stopped = || stop.as_ref().is_some_and(|s| s.load(Ordering::Relaxed));
    loop {
        // A signal ends this wait; it would not end a read.
        if !source.plain && stop.is_some() {
            wait_readable_unless(&source.file, None, &is_stopped);
        }
        if is_stopped() {
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
    for problem in problems {
        show.note(
            &source.name,
            &problem.to_string(),
            problem.severity != ProblemSeverity::Note,
        );
    }
    Ok(bytes)
}
