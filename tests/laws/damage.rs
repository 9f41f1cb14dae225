//! Damage never panics, always terminates, and loses nothing; a damaged stream also reads the same in any split.

use crate::common::{Setup, assert_same, check_all, json_of};
use crate::seeds::{Seed, built, captured, prefixed};
use std::panic::{AssertUnwindSafe, catch_unwind};
use wiretool::framing::Framing;
use wiretool::protocol::registry;

/// Positions at a distance, at most `most`, not always the same within an integer.
fn positions(len: usize, most: usize) -> Vec<usize> {
    let step = len.div_ceil(most).max(1);
    (0..len)
        .step_by(step)
        .enumerate()
        .map(|(i, at)| (at + i % step).min(len - 1))
        .collect()
}

/// All kinds of damage, one at a time.
fn damaged(bytes: &[u8], most: usize, mut visit: impl FnMut(&str, usize, &[u8])) {
    visit("nothing", 0, bytes);
    let mut copy = bytes.to_vec();
    for at in positions(bytes.len(), most) {
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
        // An inserted byte and a removed byte shift all following bytes.
        let (before, after) = bytes.split_at(at);
        visit("one more", at, &[before, b"\n", after].concat());
        visit("one less", at, &[before, &after[1..]].concat());
    }
}

fn check_damage(seed: &Seed, setup: &Setup, most: usize) {
    damaged(&seed.bytes, most, |what, at, bytes| {
        let run = || {
            let whole = check_all(setup, bytes);
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
fn damaged_streams_with_right_setup_do_not_panic() {
    for seed in built() {
        for setup in seed.setups() {
            check_damage(&seed, &setup, 64);
        }
    }
}

#[test]
fn damaged_streams_with_wrong_setup_do_not_panic() {
    for seed in built() {
        for protocol in registry::names().filter(|p| *p != seed.protocol) {
            check_damage(&seed, &Setup::of(protocol), 6);
            if let Some(framing) = seed.framing {
                check_damage(&seed, &Setup::framed(protocol, framing), 6);
            }
        }
        for framing in Framing::ALL {
            check_damage(&seed, &Setup::framed(seed.protocol, framing), 8);
        }
    }
}

#[test]
fn damaged_captures_do_not_panic() {
    for seed in captured(16 << 10) {
        let most = (4 << 10) / (seed.bytes.len() + 1);
        for setup in seed.setups() {
            check_damage(&seed, &setup, most.clamp(1, 24));
        }
    }
}

#[test]
fn undamaged_captures_do_not_panic() {
    for seed in captured(64 << 10) {
        for setup in seed.setups() {
            check_all(&setup, &seed.bytes);
        }
    }
}

/// At the nesting limit of the command line, decoded and rendered on the stack of a thread.
#[test]
fn thousand_levels_do_not_overflow_stack() {
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
                continue; // The schema bounds its levels.
            }
            let setup = Setup {
                limits,
                ..Setup::framed(protocol, framing)
            };
            let shown = check_all(&setup, &bytes);
            // Real oracle peers stop at 127, telequick's schema gives its depth.
            let deep = shown.contains("at most 1000 levels");
            let reported = framing != Framing::Bare && levels > 1000;
            assert_eq!(deep, reported, "{protocol}, {levels} levels");
        }
    }
}
