//! A session that knows nothing but facts: which pairs the engine finds for each way in which protocols pair.

use super::*;
use crate::protocol::session::Place;
use Direction::{ToClient, ToServer};

/// How a protocol pairs.
#[derive(Clone, Copy)]
struct Way {
    /// Answers repeat the id; otherwise they come in order.
    by_id: bool,
    /// An answer may use another connection.
    over_connections: bool,
    /// Both sides ask, each with its own ids.
    both_ask: bool,
    ids: Ids,
}

const BY_ID: Way = Way {
    by_id: true,
    over_connections: false,
    both_ask: false,
    ids: Ids::Once,
};
const AGAIN: Way = Way {
    ids: Ids::Again,
    ..BY_ID
};
const SHARED: Way = Way {
    over_connections: true,
    ..BY_ID
};
const BOTH: Way = Way {
    both_ask: true,
    ..BY_ID
};
const ORDER: Way = Way {
    by_id: false,
    ..BY_ID
};

/// Runs a script of lines such as `1 > ask a`: connection, direction, word, id. Returns the result of each.
fn run(way: Way, script: &str) -> String {
    let mut exchange: Exchange<u32, &str, (), u64> = Exchange::new(way.ids, 3, 8);
    let mut out = Vec::new();
    for (index, line) in (0..).zip(script.split(", ")) {
        let mut words = line.split(' ');
        let conn = words.next().unwrap().parse().unwrap();
        let from = match words.next().unwrap() {
            ">" => ToServer,
            _ => ToClient,
        };
        let (word, id) = (words.next().unwrap(), words.next().unwrap_or_default());
        let requester = if word == "ask" { from } else { from.other() };
        let key = Key {
            scope: if way.over_connections { 0 } else { conn },
            requester: way.both_ask.then_some(requester),
            id: if way.by_id { id } else { "" },
        };
        out.push(match word {
            "ask" => {
                let place = Place {
                    index,
                    ..Place::default()
                };
                let asked = OpenRequest::call(place, id);
                let added = if way.by_id {
                    exchange.open.add(key, asked, ())
                } else {
                    exchange.open.queue(key, asked, ())
                };
                match added {
                    Added::Replaced(old, ()) => format!("for #{}", old.index()),
                    Added::Untracked => "full".to_owned(),
                    _ => {
                        let found = exchange.open.at(index).map(|(found, ..)| *found);
                        assert_eq!(found, Some(key));
                        "open".to_owned()
                    }
                }
            }
            "item" | "answer" => match exchange.find(&key) {
                Found::Open if word == "item" => {
                    format!("of #{}", exchange.open.get(&key).unwrap().0.index())
                }
                Found::Open => {
                    let (asked, ()) = exchange.open.close(&key).unwrap();
                    assert!(exchange.open.at(asked.index()).is_none());
                    exchange.ended.insert(key, index);
                    format!("of #{}", asked.index())
                }
                Found::Ended => format!("after #{}", exchange.ended.get(&key).unwrap()),
                Found::Untracked => "of a missing one".to_owned(),
                Found::Never => "of none".to_owned(),
            },
            "lose" => {
                exchange.lose(key.scope, Some(from));
                "lost".to_owned()
            }
            "reopen" => {
                exchange.reopen(key.scope);
                "known".to_owned()
            }
            "end" => {
                let left = if way.both_ask {
                    exchange.open.end_side(key.scope, Some(from))
                } else {
                    exchange.open.end(key.scope)
                };
                let left: Vec<_> = left.iter().map(|(_, asked, ())| asked.index()).collect();
                format!("left {left:?}")
            }
            _ => unreachable!("{line}"),
        });
    }
    out.join(", ")
}

#[test]
fn requests_and_answers_are_paired_by_facts() {
    let cases = [
        // By id: any order, items, ends.
        (
            BY_ID,
            "1 > ask a, 1 > ask b, 1 < answer b, 1 < item a, 1 < answer a",
            "open, open, of #1, of #0, of #0",
        ),
        (
            BY_ID,
            "1 > ask a, 1 < answer a, 1 < answer a, 1 < answer b",
            "open, of #0, after #1, of none",
        ),
        (
            BY_ID,
            "1 > ask a, 1 > ask a, 1 < answer a, 1 < answer a",
            "open, for #0, of #1, after #2",
        ),
        (
            BY_ID,
            "1 > ask a, 1 > ask b, 2 > ask c, 1 < end",
            "open, open, open, left [0, 1]",
        ),
        // A connection has its own ids, or shares them with all.
        (BY_ID, "1 > ask a, 2 < answer a", "open, of none"),
        (SHARED, "1 > ask a, 2 < answer a", "open, of #0"),
        // Each side has its own ids.
        (
            BOTH,
            "1 > ask a, 1 < ask a, 1 > answer a, 1 < answer a",
            "open, open, of #1, of #0",
        ),
        (
            BOTH,
            "1 > ask a, 1 < ask a, 1 < end, 1 > answer a",
            "open, open, left [0], of #1",
        ),
        (BOTH, "1 > ask a, 1 > answer a", "open, of none"),
        // In order.
        (
            ORDER,
            "1 > ask, 1 > ask, 1 < answer, 1 < answer, 1 < answer",
            "open, open, of #0, of #1, after #3",
        ),
        (
            ORDER,
            "1 > ask, 1 > ask, 1 < answer, 1 > ask, 1 < answer, 1 < end",
            "open, open, of #0, open, of #1, left [3]",
        ),
        (
            ORDER,
            "1 > ask, 2 > ask, 2 < answer, 1 > ask, 1 < end",
            "open, open, of #1, open, left [0, 3]",
        ),
        // Lost bytes of the requester, and only of its connection.
        (
            BOTH,
            "1 > lose, 1 < answer a, 2 < answer a, 1 > answer a",
            "lost, of a missing one, of none, of none",
        ),
        (
            BOTH,
            "1 > lose, 1 > reopen, 1 < answer a",
            "lost, known, of none",
        ),
        // After a gap an id that was used may belong to another request.
        (
            BY_ID,
            "1 > ask a, 1 < answer a, 1 > lose, 1 < answer a",
            "open, of #0, lost, after #1",
        ),
        (
            AGAIN,
            "1 > ask a, 1 < answer a, 1 > lose, 1 < answer a",
            "open, of #0, lost, of a missing one",
        ),
        // A full table.
        (
            BY_ID,
            "1 > ask a, 1 > ask b, 1 > ask c, 1 > ask d, 1 < answer d, 1 < answer a",
            "open, open, open, full, of a missing one, of #0",
        ),
        (
            ORDER,
            "1 > ask, 1 > ask, 1 > ask, 1 > ask, 1 < answer, 1 > ask",
            "open, open, open, full, of #0, open",
        ),
    ];
    for (way, script, expected) in cases {
        assert_eq!(run(way, script), expected, "{script}");
    }
}
