//! Estimates the offsets of the clocks of captures from several hosts.
//!
//! ```text
//!   a  |---- call ------------|     the same call, or the same trace, on both sides of a relay: the shorter one lies inside
//!   b     |-- call --|              the longer one; so the offset of b is in a range, and each further call makes it smaller
//! ```
//!
//! Headers must say that they are the sides of a relay: equal calls may also be those of one program to several servers.

use super::files::open;
use super::{InputState, READ_SIZE};
use crate::capture::{CaptureInput, Relation, Sources};
use crate::cli::count_text;
use crate::cli::options::InputArgs;
use crate::conversation::{Output, RuleSettings, Run, Source, trace_id};
use crate::decoder::{DecodeOptions, Decoded};
use crate::protocol::Role;
use crate::render::findings::duration;
use anyhow::{Context as _, Result};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::Read as _;
use std::ops::ControlFlow;
use std::path::Path;

/// The number of calls of a capture that are compared.
const MAX_CALLS: usize = 1 << 14;

/// A capture whose clock is compared.
pub(super) struct ClockFile<'f> {
    pub number: u16,
    pub path: &'f Path,
    pub name: &'f str,
    pub host: Option<&'f str>,
    /// Nanoseconds to be added, if they are given or known.
    pub offset: Option<i64>,
}

/// The times of the request and of the answer of a call; `None` if several calls have the same key.
type Calls = HashMap<u64, Option<(i64, i64)>>;

/// Sets the offsets that are not given, if the captures are of several hosts.
pub(super) fn estimate(
    files: &mut [ClockFile<'_>],
    sources: &Sources,
    args: &InputArgs,
    options: &DecodeOptions<'_>,
    state: &mut InputState,
) -> Result<()> {
    let first = files.first().and_then(|file| file.host);
    if files.iter().all(|file| file.host == first) {
        for file in files {
            file.offset.get_or_insert(0);
        }
        return Ok(());
    }
    let calls: Result<Vec<[Calls; 2]>> = files
        .iter()
        .map(|file| calls_of(file.path, args, options))
        .collect();
    let calls = calls?;
    // The others follow the clock of the first.
    if let Some(first) = files.first_mut() {
        first.offset.get_or_insert(0);
    }
    // A capture is compared with those whose offsets are known, until no more become known.
    while let Some((number, offset, text)) = next_offset(files, sources, &calls) {
        if let Some(file) = files.get_mut(number) {
            file.offset = Some(offset);
            if let Some(text) = text {
                state.note(&file.path.display().to_string(), &text);
            }
        }
    }
    for file in files.iter_mut().filter(|file| file.offset.is_none()) {
        let host = match file.host {
            Some(_) => "it is of another host",
            None => "its host is not known",
        };
        let text = format!(
            "{host}, and no call shows the offset of its clock: --clock {}=TIME sets it",
            file.name
        );
        state.note(&file.path.display().to_string(), &text);
        file.offset = Some(0);
    }
    Ok(())
}

/// Returns the next capture whose offset follows from one that is known, and a text about it.
fn next_offset(
    files: &[ClockFile<'_>],
    sources: &Sources,
    calls: &[[Calls; 2]],
) -> Option<(usize, i64, Option<String>)> {
    let unknown = files.iter().zip(calls).enumerate();
    let mut unknown = unknown.filter(|(_, (file, _))| file.offset.is_none());
    unknown.find_map(|(number, (file, own))| {
        let mut known = files.iter().zip(calls);
        let same = known.clone().find_map(|(other, _)| {
            let offset = other.offset?;
            (other.host.is_some() && other.host == file.host).then_some(offset)
        });
        if let Some(offset) = same {
            return Some((number, offset, None));
        }
        known.find_map(|(other, theirs)| {
            let base = other.offset?;
            let sides = [(other.number, file.number), (file.number, other.number)];
            let is_relay = |(outer, inner)| sources.relation(outer, inner) == Relation::Relay;
            let (least, most, count) = range(theirs, own).filter(|_| sides.into_iter().any(is_relay))?;
            let ns = least + (most - least) / 2;
            let offset = base.saturating_add(ns);
            let side = if ns > 0 { "behind" } else { "ahead of" };
            let sign = if offset > 0 { "+" } else { "-" };
            let text = format!(
                "its clock is {} s {side} that of {} (±{}, from {} in both); --clock {}={sign}{}s sets it",
                seconds(ns),
                other.name,
                duration((most - least) / 2),
                count_text(count, "call", "calls"),
                file.name,
                seconds(offset),
            );
            Some((number, offset, Some(text)))
        })
    })
}

/// Returns a time without its sign, in seconds, to the microsecond.
fn seconds(ns: i64) -> String {
    let us = ns.unsigned_abs() / 1_000;
    let text = format!("{}.{:06}", us / 1_000_000, us % 1_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Returns the range of what must be added to the times of `own`, and the number of calls that show it.
fn range(theirs: &[Calls; 2], own: &[Calls; 2]) -> Option<(i64, i64, u64)> {
    theirs.iter().zip(own).find_map(|(theirs, own)| {
        let (mut least, mut most, mut count) = (i64::MIN, i64::MAX, 0);
        for (key, call) in own {
            if let (Some((sent, answered)), Some(Some((other, until)))) = (call, theirs.get(key)) {
                let (one, two) = (other.checked_sub(*sent)?, until.checked_sub(*answered)?);
                (least, most) = (least.max(one.min(two)), most.min(one.max(two)));
                count += 1;
            }
        }
        // If no offset fits all calls, they are not the same ones.
        (count > 0 && least <= most).then_some((least, most, count))
    })
}

/// Reads the calls of a capture, by their content and by their trace. A pipe is read once only: it has none.
fn calls_of(path: &Path, args: &InputArgs, options: &DecodeOptions<'_>) -> Result<[Calls; 2]> {
    let mut calls = [Calls::new(), Calls::new()];
    let file = open(path)?;
    if !file.plain {
        return Ok(calls);
    }
    let mut waiting: HashMap<u64, ([Option<u64>; 2], i64)> = HashMap::new();
    let mut sink = |output: Output<'_>| {
        let Output::Message(decoded, Some(verdict)) = output else {
            return ControlFlow::Continue(());
        };
        let Some(time) = decoded.origin.time else {
            return ControlFlow::Continue(());
        };
        if decoded.message.role == Some(Role::Request) && waiting.len() < MAX_CALLS {
            waiting.insert(decoded.index, (hashes_of_content_and_trace(decoded), time));
        }
        let answer = verdict.answer.filter(|answer| answer.last);
        if let Some((keys, sent)) = answer.and_then(|answer| waiting.remove(&answer.to)) {
            for (calls, key) in calls.iter_mut().zip(keys) {
                match key.map(|key| calls.entry(key)) {
                    Some(Entry::Vacant(entry)) => {
                        entry.insert(Some((sent, time)));
                    }
                    Some(Entry::Occupied(mut entry)) => *entry.get_mut() = None,
                    None => {}
                }
            }
        }
        if calls.iter().any(|calls| calls.len() >= MAX_CALLS) {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    };
    let input = CaptureInput::new(args.from).with_packet_options(args.packets.options());
    let rules = Some(RuleSettings::default());
    let mut run = Run::of_source(Source::default(), Some(input), options.clone(), rules);
    let mut buffer = vec![0; READ_SIZE];
    loop {
        let n = (&file.file).read(&mut buffer);
        let n = n.with_context(|| format!("cannot read {}", file.name))?;
        let mut bytes = buffer.get(..n).unwrap_or_default();
        if n == 0 || run.read(&mut bytes, &mut sink).is_break() {
            break;
        }
    }
    Ok(calls)
}

/// Returns what is equal in the same call of another capture: its content, and its trace.
fn hashes_of_content_and_trace(decoded: &Decoded<'_>) -> [Option<u64>; 2] {
    let mut content = DefaultHasher::new();
    let body = decoded.message.body.of(decoded.frame.view.bytes);
    (decoded.protocol.name(), decoded.origin.direction, body).hash(&mut content);
    let trace = trace_id(decoded).map(|id| {
        let mut trace = DefaultHasher::new();
        id.hash(&mut trace);
        trace.finish()
    });
    [Some(content.finish()), trace]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_offset_is_in_the_range_that_all_calls_allow() {
        let calls = |calls: &[(u64, i64, i64)]| {
            let calls = calls
                .iter()
                .map(|(key, from, to)| (*key, Some((*from, *to))));
            [calls.collect(), Calls::new()]
        };
        // The clock of the second is 1000 behind, and each message takes from 1 to 9.
        let outer = calls(&[(1, 2000, 2100), (2, 3000, 3050), (3, 4000, 4001)]);
        for (inner, wanted) in [
            (calls(&[(1, 1001, 1091)]), Some((999, 1009, 1))),
            (
                calls(&[(1, 1001, 1091), (2, 2009, 2049)]),
                Some((999, 1001, 2)),
            ),
            (calls(&[(4, 1, 2)]), None),
            // These are not the same calls.
            (calls(&[(1, 1001, 1091), (2, 7000, 7001)]), None),
        ] {
            assert_eq!(range(&outer, &inner), wanted);
            // It does not matter which of the two is the outer leg.
            let back = wanted.map(|(least, most, count)| (-most, -least, count));
            assert_eq!(range(&inner, &outer), back);
        }
    }
}
