//! One-way files, two of which make a conversation.

use super::super::config::settings;
use super::super::progress::Progress;
use super::doubt::Doubt;
use super::{Args, Feed, READ, Show, open, pipeline, readable_unless};
use crate::capture::{Form, Input, Item, Severity};
use crate::decoder::{Options, Origin, interleave};
use crate::protocol::Direction;
use anyhow::{Context as _, Result};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

/// One-way files in pairs: each pair is a connection, put in the order of a conversation.
pub(super) fn pairs(args: &Args, options: &Options<'_>, show: &mut dyn Show) -> Result<()> {
    let first = args.c2s.first().map_or(Path::new(""), PathBuf::as_path);
    let (options, _) = &settings().narrowed(options, None, first);
    let mut pipeline = pipeline(options, false, show);
    let mut total = 0;
    let stop = show.stop();
    let is_stopped = || stop.as_ref().is_some_and(|s| s.load(Ordering::Relaxed));
    let name = &name(args);
    show.begin(name);
    for (c2s, s2c) in args.c2s.iter().zip(&args.s2c) {
        show.pair([&c2s.display().to_string(), &s2c.display().to_string()]);
    }
    let mut feed = Feed {
        doubts: args.c2s.iter().map(|_| Doubt::new(options)).collect(),
        is_recording: false,
        show,
        name,
    };
    for (n, (c2s, s2c)) in args.c2s.iter().zip(&args.s2c).enumerate() {
        let streams = [
            (Direction::ToServer, whole(c2s, args.from, feed.show)?),
            (Direction::ToClient, whole(s2c, args.from, feed.show)?),
        ];
        let [(_, to_server), (_, to_client)] = &streams;
        let len = to_server.len() + to_client.len();
        total += len as u64;
        let mut progress = Progress::of(len as u64, feed.show.progress());
        let mut done = 0;
        for piece in interleave(options, to_server, to_client) {
            if is_stopped() {
                break;
            }
            let bytes = if piece.direction == Direction::ToServer {
                to_server
            } else {
                to_client
            };
            let bytes = bytes.get(piece.start..piece.end).unwrap_or_default();
            done += bytes.len() as u64;
            if let Some(progress) = &mut progress {
                progress.at(done);
            }
            let conn = (args.c2s.len() > 1).then_some(n as u32);
            let origin = Origin {
                conn,
                direction: Some(piece.direction),
                time: None,
            };
            pipeline.push(origin, bytes, &mut feed)?;
        }
    }
    pipeline.finish(!is_stopped(), &mut feed)?;
    let doubts = feed.doubts;
    let mut others = doubts.iter();
    if let Some(text) = others.find_map(|doubt| doubt.other(&pipeline.decoder)) {
        show.note(name, &text, false);
    }
    for (doubt, (c2s, s2c)) in doubts.iter().zip(args.c2s.iter().zip(&args.s2c)) {
        if doubt.is_turned_round() {
            let (c2s, s2c) = (c2s.display(), s2c.display());
            let text = format!(
                "the two files seem to be the wrong way round: --c2s {s2c} --s2c {c2s} would put them right"
            );
            show.note(name, &text, false);
        }
    }
    show.end(name, total, &mut pipeline)
}

/// `a.bin + b.bin`, and how many pairs there are besides.
fn name(args: &Args) -> String {
    let (Some(c2s), Some(s2c)) = (args.c2s.first(), args.s2c.first()) else {
        return String::new();
    };
    let first = format!("{} + {}", c2s.display(), s2c.display());
    match args.c2s.len() {
        1 => first,
        2 => format!("{first} and 1 more pair"),
        n => format!("{first} and {} more pairs", n - 1),
    }
}

/// All bytes of a one-way file, whatever form it has.
fn whole(path: &Path, form: Form, show: &mut dyn Show) -> Result<Vec<u8>> {
    /// Both streams are held to be put in order.
    const MOST: usize = 1 << 30;
    let mut source = open(path)?;
    let mut input = Input::new(form);
    let mut bytes = Vec::new();
    let mut problems = Vec::new();
    let mut collect = |item: Item<'_>| match item {
        Item::Chunk(chunk) => bytes.extend_from_slice(chunk.bytes),
        Item::Problem(problem) => problems.push(problem),
        _ => {}
    };
    let mut buffer = vec![0; READ];
    let mut total = 0;
    let stop = show.stop();
    let is_stopped = || stop.as_ref().is_some_and(|s| s.load(Ordering::Relaxed));
    loop {
        // A signal ends this wait; it would not end a read.
        if !source.plain && stop.is_some() {
            readable_unless(&source.file, None, &is_stopped);
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
            total <= MOST,
            "{} is larger than 1 GiB: too large to be put in order with another",
            source.name
        );
        input.push(buffer.get(..n).unwrap_or_default(), &mut collect);
    }
    input.finish(&mut collect);
    for problem in problems {
        show.note(
            &source.name,
            &problem.to_string(),
            problem.severity == Severity::Error,
        );
    }
    Ok(bytes)
}
