//! Damage never panics, always ends, and loses nothing; and a damaged stream, too, reads the same in any split.

use crate::common::{Setup, assert_same, examine, json_of};
use crate::seeds::{Seed, built, captured, prefixed};
use std::panic::{AssertUnwindSafe, catch_unwind};
use wiretool::framing::Framing;
use wiretool::protocol::registry;

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
        assert!(
            catch_unwind(AssertUnwindSafe(run)).is_ok(),
            "{} with {setup:?}, {what} at {at}: {}",
            seed.name,
            hex::encode(bytes)
        );
    });
}

#[test]
fn built_streams_as_what_they_are() {
    for seed in built() {
        for setup in seed.setups() {
            survives(&seed, &setup, 64);
        }
    }
}

#[test]
fn built_streams_as_what_they_are_not() {
    for seed in built() {
        for protocol in registry::names().filter(|p| *p != seed.protocol) {
            survives(&seed, &Setup::of(protocol), 6);
            if let Some(framing) = seed.framing {
                survives(&seed, &Setup::framed(protocol, framing), 6);
            }
        }
        for framing in Framing::ALL {
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

/// As deep as the command line lets it go, decoded and shown on the stack of a thread.
#[test]
fn a_thousand_levels() {
    let limits = wiretool::framing::Limits {
        depth: 1000,
        ..wiretool::framing::Limits::default()
    };
    for levels in [999, 1000, 1001, 100_000] {
        let json = [
            r#"{"jsonrpc":"2.0","id":1,"result":"#.into(),
            "[".repeat(levels - 1),
            "]".repeat(levels - 1),
            "}\n".into(),
        ];
        let packed = [
            vec![0x83, 0xa2, b'i', b'd', 0x01, 0xa2, b'o', b'k', 0xc3],
            vec![0xa6, b'r', b'e', b's', b'u', b'l', b't'],
            vec![0x91; levels - 1],
            vec![0xc0],
        ];
        let mut envelopes = vec![0; 6];
        for n in 1..levels {
            let size = u32::try_from(6 * n).expect("few levels").to_le_bytes();
            envelopes.splice(0..0, [&[0, 0][..], &size].concat());
        }
        for (protocol, framing, bytes) in [
            ("oracle", Framing::Lines, json.concat().into_bytes()),
            ("stepflow", Framing::Lines, json.concat().into_bytes()),
            ("saikuro", Framing::Prefix, prefixed(&packed.concat())),
            ("telequick", Framing::Bare, envelopes),
        ] {
            if levels > 2000 && framing == Framing::Bare {
                continue; // Its levels are bounded by the schema's.
            }
            let setup = Setup {
                limits,
                ..Setup::framed(protocol, framing)
            };
            let shown = examine(&setup, &bytes);
            // Oracle's real peers stop at 127, telequick's schema says how deep it goes.
            let deep = shown.contains("at most 1000 levels");
            let told = framing != Framing::Bare && levels > 1000;
            assert_eq!(deep, told, "{protocol}, {levels} levels");
        }
    }
}
