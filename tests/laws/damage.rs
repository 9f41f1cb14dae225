//! Damage never panics, always ends, and loses nothing; and a damaged stream, too, reads the same in any split.

use crate::common::{Setup, assert_same, examine, json_of};
use crate::seeds::{Seed, built, captured};
use std::panic::{AssertUnwindSafe, catch_unwind};

const PROTOCOLS: [&str; 5] = ["saikuro", "oracle", "sael", "stepflow", "telequick"];

/// Every so many bytes, so that at most `most` places are hit, not always the same within a word.
fn places(len: usize, most: usize) -> Vec<usize> {
    let step = len.div_ceil(most).max(1);
    (0..len)
        .step_by(step)
        .enumerate()
        .map(|(i, at)| (at + i % step).min(len - 1))
        .collect()
}

/// What can happen to a stream, one thing at a time.
fn damaged(bytes: &[u8], most: usize, mut visit: impl FnMut(&str, usize, &[u8])) {
    visit("nothing", 0, bytes);
    let mut copy = bytes.to_vec();
    for at in places(bytes.len(), most) {
        visit("cut", at, &bytes[..at]);
        for (what, value) in [("00", 0), ("ff", 0xff)] {
            copy[at] = value;
            visit(what, at, &copy);
        }
        for bit in 0..8 {
            copy[at] = bytes[at] ^ (1 << bit);
            visit("bit", at, &copy);
        }
        copy[at] = bytes[at];
        // A byte more and a byte less move all that follows.
        let (before, after) = bytes.split_at(at);
        visit("one more", at, &[before, b"\n", after].concat());
        visit("one less", at, &[before, &after[1..]].concat());
    }
}

fn survives(seed: &Seed, setup: &Setup, most: usize) {
    damaged(&seed.bytes, most, |what, at, bytes| {
        let run = || {
            let whole = examine(setup, bytes);
            let split = json_of(setup, bytes.chunks(1));
            let text = json_of(setup, [bytes]);
            assert_same(&text, &split, || "split".into());
            assert_eq!(
                whole.lines().count(),
                text.lines().filter(|l| l.starts_with('{')).count(),
                "as many frames whatever the output needs"
            );
        };
        if catch_unwind(AssertUnwindSafe(run)).is_err() {
            panic!(
                "{} with {setup:?}, {what} at {at}: {}",
                seed.name,
                hex::encode(bytes)
            );
        }
    });
}

#[test]
fn built_streams_as_what_they_are() {
    for seed in built() {
        for setup in seed.setups() {
            survives(&seed, &setup, 120);
        }
    }
}

#[test]
fn built_streams_as_what_they_are_not() {
    for seed in built() {
        for protocol in PROTOCOLS.into_iter().filter(|p| *p != seed.protocol) {
            survives(&seed, &Setup::of(protocol), 6);
            if let Some(framing) = seed.framing {
                survives(&seed, &Setup::framed(protocol, framing), 6);
            }
        }
        for framing in wiretool::framing::Framing::ALL {
            survives(&seed, &Setup::framed(seed.protocol, framing), 8);
        }
    }
}

#[test]
fn captured_streams() {
    for seed in captured(16 << 10) {
        let most = (4 << 10) / (seed.bytes.len() + 1);
        for setup in seed.setups() {
            survives(&seed, &setup, most.clamp(1, 24));
        }
    }
}

#[test]
fn captured_streams_undamaged() {
    for seed in captured(64 << 10) {
        for setup in seed.setups() {
            examine(&setup, &seed.bytes);
        }
    }
}
