//! Tests: without a match nothing changes, and one fault changes one message, for any split of the
//! bytes.

use super::*;
use proptest::prelude::*;

/// A stream of messages in some framing, and the start and end of each.
fn streams() -> impl Strategy<Value = (Framing, Vec<u8>, Vec<std::ops::Range<usize>>)> {
    let wires = wires();
    let body = prop_oneof![
        Just(br#"{"jsonrpc":"2.0","id":7,"method":"ready"}"#.to_vec()),
        Just(br#"{"jsonrpc":"2.0","id":"x","result":[1,2,{"a":null}]}"#.to_vec()),
        Just(br#"{"topic":"a","payload":{}}"#.to_vec()),
        prop::collection::vec(32u8..127, 1..300),
    ];
    (0..wires.len(), prop::collection::vec(body, 1..8)).prop_map(move |(n, bodies)| {
        let (framing, wire) = &wires[n];
        let mut stream = Vec::new();
        let ranges = bodies.iter().map(|body| {
            // After a method id, bytes that are not a body are read byte by byte.
            let body = match framing {
                Framing::Method => &br#"{"jsonrpc":"2.0","id":7,"method":"ready"}"#[..],
                _ => body,
            };
            let start = stream.len();
            framing::write(*framing, body, wire, &mut stream);
            start..stream.len()
        });
        let ranges = ranges.collect();
        (*framing, stream, ranges)
    })
}

fn cut<'s>(stream: &'s [u8], cuts: &[usize]) -> Vec<&'s [u8]> {
    let mut cuts: Vec<usize> = cuts.iter().map(|c| c % (stream.len() + 1)).collect();
    cuts.extend([0, stream.len()]);
    cuts.sort_unstable();
    cuts.windows(2)
        .map(|w| &stream[w[0]..w[1]])
        .filter(|c| !c.is_empty())
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn without_a_match_nothing_changes((framing, stream, _) in streams(), cuts in prop::collection::vec(any::<usize>(), 0..12), damage in prop::collection::vec((any::<usize>(), any::<u8>()), 0..3)) {
        let mut stream = stream;
        for (at, byte) in damage {
            let at = at % stream.len();
            stream[at] = byte;
        }
        for fault in ["kind=nothing.has.this.kind: drop", "nth 1000000: reset", "chance 0: stall"] {
            let options = options(name(framing), Some(framing));
            let (out, events) = run(plan(&[fault]), options, Direction::ToServer, &mut cut(&stream, &cuts).into_iter());
            prop_assert_eq!(&out, &stream);
            prop_assert!(events.is_empty());
        }
    }

    #[test]
    fn one_fault_changes_one_message((framing, stream, ranges) in streams(), n in any::<prop::sample::Index>(), cuts in prop::collection::vec(any::<usize>(), 0..12)) {
        let n = n.index(ranges.len());
        let (before, after) = (&stream[..ranges[n].start], &stream[ranges[n].end..]);
        for action in ["drop", "dup", "corrupt byte", "truncate 3", "length +3", "delay 1ns", "inject f"] {
            let fault = format!("offset={}: {action}", ranges[n].start);
            let options = options(name(framing), Some(framing));
            let whole = run(plan(&[&fault]), options.clone(), Direction::ToServer, &mut std::iter::once(&stream[..]));
            let (out, events) = run(plan(&[&fault]), options, Direction::ToServer, &mut cut(&stream, &cuts).into_iter());
            prop_assert_eq!(&out, &whole.0, "cut or whole");
            prop_assert_eq!(events.len(), 1, "{}", fault);
            prop_assert!(out.starts_with(before) && out.ends_with(after), "{} {}", fault, out.escape_ascii());
            let middle = &out[before.len()..out.len() - after.len()];
            let was = &stream[ranges[n].clone()];
            let undone = events[0].contains("undone");
            match action {
                _ if undone => prop_assert_eq!(middle, was),
                "drop" => prop_assert_eq!(middle, b""),
                "dup" => prop_assert_eq!(middle, was.repeat(2)),
                "truncate 3" => prop_assert_eq!(middle, &was[..3]),
                "delay 1ns" => prop_assert_eq!(middle, [&b"{wait 1}"[..], was].concat()),
                "inject f" => prop_assert_eq!(middle, [&b"<file>"[..], was].concat()),
                _ => {
                    // A length can get longer than before, and move the bytes after it.
                    let pairs = middle.iter().zip(was);
                    let ahead = pairs.take_while(|(a, b)| a == b).count();
                    let pairs = middle.iter().rev().zip(was.iter().rev());
                    let behind = pairs.take_while(|(a, b)| a == b).count();
                    prop_assert!(middle != was && ahead + behind + 4 >= was.len());
                }
            }
        }
    }
}
