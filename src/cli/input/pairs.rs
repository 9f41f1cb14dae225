//! One-way files, two of which make a conversation.

use super::super::config::settings;
use super::super::progress::Progress;
use super::doubt::Doubt;
use super::{Args, READ, Show, open, readable_unless};
use crate::capture::{Form, Input, Item, Severity};
use crate::decoder::{Decoded, Decoder, Options, Origin, interleave};
use crate::protocol::Direction;
use anyhow::{Context as _, Result};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

/// One-way files in pairs: each pair is a connection, put in the order of a conversation.
pub(super) fn pairs(args: &Args, options: &Options<'_>, show: &mut dyn Show) -> Result<()> {
    let first = args.c2s.first().map_or(Path::new(""), PathBuf::as_path);
    let (options, _) = &settings().narrowed(options, None, first);
    let mut decoder = Decoder::new(options.clone());
    let mut total = 0;
    let mut doubts: Vec<Doubt<'_>> = args.c2s.iter().map(|_| Doubt::new(options)).collect();
    let stop = show.stop();
    let is_stopped = || stop.as_ref().is_some_and(|s| s.load(Ordering::Relaxed));
    let name = &name(args);
    show.begin(name, false);
    for (c2s, s2c) in args.c2s.iter().zip(&args.s2c) {
        show.pair([&c2s.display().to_string(), &s2c.display().to_string()]);
    }
    for (n, (c2s, s2c)) in args.c2s.iter().zip(&args.s2c).enumerate() {
        let streams = [
            (Direction::ToServer, whole(c2s, args.from, show)?),
            (Direction::ToClient, whole(s2c, args.from, show)?),
        ];
        let [(_, to_server), (_, to_client)] = &streams;
        let len = to_server.len() + to_client.len();
        total += len as u64;
        let mut progress = Progress::of(len as u64, show.progress());
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
            let mut failed = None;
            if let Some(doubt) = doubts.get_mut(n) {
                doubt.push(origin, bytes);
            }
            decoder.push(origin, bytes, &mut |decoded| {
                see(&mut doubts, decoded);
                if failed.is_none() {
                    failed = show.frame(decoded).err();
                }
            });
            decoder.set_want(show.want());
            if let Some(error) = failed {
                return Err(error);
            }
        }
    }
    let mut failed = None;
    let left = is_stopped();
    decoder.finish(&mut |decoded| {
        see(&mut doubts, decoded);
        if failed.is_none() && !(left && decoded.is_faulty()) {
            failed = show.frame(decoded).err();
        }
    });
    failed.map_or(Ok(()), Err)?;
    if let Some(text) = doubts.iter().find_map(|doubt| doubt.other(&decoder)) {
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
    show.end(name, total, &decoder)
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

/// Pairs are told apart by their connection, where there are several.
fn see(doubts: &mut [Doubt<'_>], decoded: &Decoded<'_>) {
    let conn = decoded.origin.conn.unwrap_or_default();
    if let Some(doubt) = doubts.get_mut(conn as usize) {
        doubt.see(decoded);
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
