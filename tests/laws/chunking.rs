//! Any split of a stream into reads gives the same output.

use crate::common::{Setup, assert_same, cut, json_of};
use crate::seeds::{Seed, built, captured, prefixed};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use wiretool::framing::Framing;

/// A runner that generates the same cases every time, and writes no files.
pub fn runner(cases: u32) -> TestRunner {
    let config = Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    };
    TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha))
}

fn check(seed: &Seed, setup: &Setup, pieces: &[&[u8]], whole: &str) {
    let split = json_of(setup, pieces.iter().copied());
    assert_same(whole, &split, || {
        let sizes: Vec<usize> = pieces.iter().take(40).map(|p| p.len()).collect();
        format!("{} with {setup:?} in pieces of {sizes:?}", seed.name)
    });
}

fn fixed(seed: &Seed, sizes: &[usize]) {
    for setup in seed.setups() {
        let whole = json_of(&setup, [&seed.bytes[..]]);
        for size in sizes {
            let pieces: Vec<&[u8]> = seed.bytes.chunks(*size).collect();
            check(seed, &setup, &pieces, &whole);
        }
    }
}

fn random(seed: &Seed, cases: u32) {
    for setup in seed.setups() {
        let whole = json_of(&setup, [&seed.bytes[..]]);
        let places = prop::collection::vec(0..=seed.bytes.len(), 1..6);
        runner(cases)
            .run(&places, |places| {
                check(seed, &setup, &cut(&seed.bytes, &places), &whole);
                Ok(())
            })
            .unwrap_or_else(|e| panic!("{e}"));
    }
}

#[test]
fn reads_of_one_and_seven_bytes_give_same_output() {
    for seed in built() {
        fixed(&seed, &[1, 7]);
    }
}

#[test]
fn every_cut_in_two_gives_same_output() {
    for seed in built() {
        for setup in seed.setups() {
            let whole = json_of(&setup, [&seed.bytes[..]]);
            for at in 0..=seed.bytes.len() {
                check(&seed, &setup, &cut(&seed.bytes, &[at]), &whole);
            }
        }
    }
}

#[test]
fn random_cuts_give_same_output() {
    for seed in built() {
        random(&seed, 48);
    }
}

#[test]
fn cuts_under_small_limit_give_same_output() {
    for seed in built() {
        for setup in seed.setups() {
            for limit in [16, 40, 64, 100] {
                let setup = setup.limited(limit);
                let whole = json_of(&setup, [&seed.bytes[..]]);
                for size in [1, 7, 50] {
                    let pieces: Vec<&[u8]> = seed.bytes.chunks(size).collect();
                    check(&seed, &setup, &pieces, &whole);
                }
            }
        }
    }
}

#[test]
fn cuts_of_captures_give_same_output() {
    for seed in captured(64 << 10) {
        // With reads of one byte, a framing that starts again each time needs time quadratic in the length of the
        // frame.
        fixed(
            &seed,
            if seed.bytes.len() > 16 << 10 {
                &[7][..]
            } else {
                &[1, 7]
            },
        );
        random(&seed, 4);
    }
}

/// The rest of one read is examined together with as little of the next read as necessary.
#[test]
fn random_cuts_of_long_frames_give_same_output() {
    let sizes = [1, 3000, 4096, 9000, 1, 40_000, 200, 70_000, 1];
    let text = |size: usize| "a".repeat(size);
    let line = |size| {
        format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":\"{}\"}}\n",
            text(size)
        )
    };
    let call = |size| {
        let target = text(size);
        let value = serde_json::json!({"version": 1, "type": "call", "id": "a", "target": target, "args": []});
        prefixed(&rmp_serde::to_vec(&value).expect("writing to memory"))
    };
    let seed = |protocol, framing, bytes| Seed {
        name: format!("long frames of {protocol}"),
        protocol,
        framing: Some(framing),
        bytes,
    };
    let lines = sizes.map(line).concat().into_bytes();
    random(&seed("oracle", Framing::Lines, lines), 32);
    let calls = sizes.map(call).concat();
    random(&seed("saikuro", Framing::Prefix, calls), 32);
}

/// Malformed values that delimit themselves and are longer than a read, with detection and without.
#[test]
fn cuts_of_long_malformed_values_give_same_output() {
    let text = "a\\\"}]".repeat(400);
    let list = "[1,{}],".repeat(200);
    let kinds = [
        (
            "unclosed text",
            format!("{{\"v\":1,\"kind\":\"INV\",\"seq\":1,\"x\":\"{text}"),
        ),
        (
            "bad literal",
            format!("{{\"v\":1,\"kind\":\"INV\",\"list\":[{list}xyz],\"t\":\"{text}\"}}"),
        ),
        (
            "too many brackets",
            format!("{{\"v\":1,\"list\":[{list}1]]]]}},\"t\":\"{text}\"}}"),
        ),
        (
            "late line end",
            format!("{{\"v\":1,\"list\":[{list}\n\n{list},,],\"t\":\"{text}\"}}"),
        ),
    ];
    for (name, bad) in kinds {
        let good = crate::seeds::SAEL.concat();
        let bytes = format!("{good}{bad}\n{good}{bad}").into_bytes();
        let seed = Seed {
            name: name.to_owned(),
            protocol: "sael",
            framing: Some(Framing::Values),
            bytes,
        };
        fixed(&seed, &[7, 997]);
        random(&seed, 24);
    }
}

/// The position where detection gives up does not depend on the reads.
#[test]
fn detection_limit_is_independent_of_reads() {
    let setup = Setup::default().limited(4 << 10);
    let seed = |junk: usize| {
        let mut bytes = vec![b'.'; junk];
        let ready = "\n{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"ready\"}";
        bytes.extend_from_slice(ready.repeat(3).as_bytes());
        Seed {
            name: format!("{junk} bytes of junk before messages"),
            protocol: "oracle",
            framing: None,
            bytes,
        }
    };
    let decode = |seed: &Seed| json_of(&setup, [&seed.bytes[..]]);
    let is_late = |junk: usize| decode(&seed(junk)).starts_with("undetected: ");
    let (mut early, mut late) = (1 << 20, 4 << 20);
    assert!(!is_late(early) && is_late(late));
    while late - early > 1 {
        let middle = usize::midpoint(early, late);
        *(if is_late(middle) {
            &mut late
        } else {
            &mut early
        }) = middle;
    }
    for junk in [early, late] {
        let seed = seed(junk);
        let whole = decode(&seed);
        let end = seed.bytes.len();
        for size in [1009, 64 << 10, 1 << 20] {
            let pieces: Vec<&[u8]> = seed.bytes.chunks(size).collect();
            check(&seed, &setup, &pieces, &whole);
        }
        for at in (junk..end).step_by(11) {
            check(&seed, &setup, &cut(&seed.bytes, &[at, at + 1]), &whole);
        }
    }
}
