//! Operations of made conversations, with the facts that a session may state.

use crate::capture::{CaptureInput, Form};
use crate::conversation::operations::{Judged, Operations};
use crate::conversation::{Operation, Output, RuleSettings, Run};
use crate::decoder::DecodeOptions;
use crate::encoding::Want;
use crate::protocol::exchange::MAX_ENTRIES;
use crate::protocol::registry;
use crate::protocol::session::{Link, OperationFacts, Owner};
use std::convert::Infallible;
use std::fmt::Write as _;
use std::ops::ControlFlow;

/// A message: its time in ms, `>` or `<`, its text, and what the session states about it.
type Row = (u64, char, &'static str, OperationFacts);

const NONE: OperationFacts = OperationFacts {
    leaves: None,
    part_of: None,
    inside: None,
    ends: None,
    owner: None,
    cancels: false,
    fails: false,
    is_item: false,
    unacknowledged: None,
    may_retry: false,
};

const fn part_of(index: u64, link: Link) -> OperationFacts {
    OperationFacts {
        part_of: Some((index, link)),
        ..NONE
    }
}

const fn inside(index: u64, link: Link) -> OperationFacts {
    OperationFacts {
        inside: Some((index, link)),
        ..NONE
    }
}

fn recording(rows: impl IntoIterator<Item = Row>, end: u64) -> String {
    let mut text = "{\"wiretool\":1,\"started\":\"2026-01-01T00:00:00.000000000Z\",\"protocol\":\"jsonrpc\"}\n".to_owned();
    let mut last = end;
    for (ms, way, message, _) in rows {
        let dir = if way == '>' { "c2s" } else { "s2c" };
        let message = serde_json::to_string(&format!("{message}\n")).unwrap();
        let t = ms * 1_000_000;
        text += &format!("{{\"t\":{t},\"conn\":1,\"dir\":\"{dir}\",\"text\":{message}}}\n");
        last = last.max(ms);
    }
    text + &format!(
        "{{\"t\":{},\"conn\":1,\"event\":\"close\"}}\n",
        last * 1_000_000
    )
}

fn line(operation: &Operation) -> String {
    let ms = |ns: i64| ns / 1_000_000;
    let parent = operation.parent.map(|parent| format!(" in #{parent}"));
    let link = operation.link.map(|link| format!(" {}", link.name()));
    let mut text = format!(
        "#{}{}{} {}",
        operation.index,
        parent.unwrap_or_default(),
        link.unwrap_or_default(),
        operation.state.name()
    );
    if let Some(duration) = operation.duration {
        let sum: i64 = operation.shares.iter().sum();
        assert_eq!(sum, duration);
        let shares = operation.shares();
        let shares: Vec<_> = shares
            .map(|(o, ns)| format!("{} {}", o.name(), ms(ns)))
            .collect();
        write!(text, " {} = {}", ms(duration), shares.join(" + ")).unwrap();
    }
    write!(text, ", {} messages", operation.messages).unwrap();
    for part in &operation.parts {
        let sign = if part.is_inferred { "~" } else { "" };
        write!(text, ", {sign}{} {}", part.count, part.kind).unwrap();
    }
    text + "\n"
}

/// Returns the operations of messages, and what ended when.
fn operations_of(rows: &[Row], end: u64) -> String {
    let options = DecodeOptions {
        want: Want::Places,
        ..DecodeOptions::new(vec![registry::find("jsonrpc").unwrap()])
    };
    let input = CaptureInput::new(Form::Recording);
    let mut run = Run::new(input, options, Some(RuleSettings::default()));
    let (mut operations, mut out) = (Operations::new(None), String::new());
    let mut sink = |output: Output<'_>| -> ControlFlow<Infallible> {
        match output {
            Output::Message(decoded, Some(verdict)) => {
                let found = operations.see(&Judged {
                    decoded,
                    answer: verdict.answer,
                    facts: rows[usize::try_from(decoded.index).unwrap()].3,
                    is_partial: false,
                });
                if let Some(found) = found {
                    let parent = found.parent.map(|parent| format!(" in #{parent}"));
                    let link = found.link.map(|link| format!(" {}", link.name()));
                    let (parent, link) = (parent.unwrap_or_default(), link.unwrap_or_default());
                    let (index, of) = (decoded.index, found.index);
                    assert!(of <= index && found.parent.is_none_or(|parent| parent < of));
                    writeln!(out, "{index}: #{of}{parent}{link}").unwrap();
                }
            }
            Output::Event(event, _) => {
                operations.leave(&[], &[], event.origin());
                operations.end_connection(event.origin());
            }
            Output::End(..) => operations.finish(),
            _ => return ControlFlow::Continue(()),
        }
        for ended in operations.ended() {
            write!(out, "   {}", line(ended)).unwrap();
        }
        ControlFlow::Continue(())
    };
    let text = recording(rows.iter().copied(), end);
    let ControlFlow::Continue(()) = run.read_all(text.as_bytes(), &mut sink);
    out
}

const ASK: &str = r#"{"jsonrpc":"2.0","id":1,"method":"book","params":[]}"#;
const ASK_2: &str = r#"{"jsonrpc":"2.0","id":2,"method":"book","params":[]}"#;
const ASK_BACK: &str = r#"{"jsonrpc":"2.0","id":7,"method":"elicit","params":[]}"#;
const DONE: &str = r#"{"jsonrpc":"2.0","id":1,"result":0}"#;
const DONE_2: &str = r#"{"jsonrpc":"2.0","id":2,"result":0}"#;
const DONE_BACK: &str = r#"{"jsonrpc":"2.0","id":7,"result":0}"#;
const REFUSED: &str = r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"no"}}"#;
const REFUSED_BACK: &str = r#"{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":"no"}}"#;
const NOTE: &str = r#"{"jsonrpc":"2.0","method":"progress","params":[]}"#;

#[test]
fn a_request_and_its_answer_are_an_operation() {
    insta::assert_snapshot!(operations_of(&[
        (0, '>', ASK, NONE),
        (5, '<', NOTE, NONE),
        (7, '<', ASK_BACK, NONE),
        (8, '>', DONE_BACK, NONE),
        (10, '<', DONE, NONE),
        (20, '>', ASK, NONE),
        (21, '<', REFUSED, NONE),
        (22, '>', ASK, NONE),
    ], 50), @"
    0: #0
    2: #2
    3: #2
       #2 answered 1 = client 1, 2 messages
    4: #0
       #0 answered 10 = server 10, 2 messages
    5: #5
    6: #5
       #5 failed 1 = server 1, 2 messages
    7: #7
       #7 open 28 = server 28, 1 messages
    ");
}

#[test]
fn time_belongs_to_the_operation_inside_that_began_last() {
    let person = OperationFacts {
        owner: Some(Owner::Person),
        ..inside(0, Link::Inferred)
    };
    insta::assert_snapshot!(operations_of(&[
        (0, '>', ASK, NONE),
        (10, '<', ASK_BACK, person),
        (6000, '>', DONE_BACK, NONE),
        (6010, '<', NOTE, part_of(0, Link::Recorded)),
        (6020, '<', DONE, NONE),
        (6030, '<', NOTE, part_of(0, Link::Recorded)),
    ], 0), @"
    0: #0
    1: #1 in #0 inferred
    2: #1 in #0 inferred
       #1 in #0 inferred answered 5990 = person 5990, 2 messages
    3: #0 recorded
    4: #0
       #0 recorded answered 6020 = server 30 + person 5990, 5 messages, ~1 elicit, 1 progress
    5: #0 recorded
    ");
}

#[test]
fn a_retry_continues_its_operation() {
    let required = OperationFacts {
        ends: Some(false),
        owner: Some(Owner::Retry),
        ..NONE
    };
    insta::assert_snapshot!(operations_of(&[
        (0, '>', ASK, NONE),
        (10, '<', DONE, required),
        (40, '>', ASK_2, part_of(1, Link::Inferred)),
        (60, '<', DONE_2, NONE),
    ], 0), @"
    0: #0
    1: #0
    2: #0 inferred
    3: #0 inferred
       #0 inferred answered 60 = server 30 + retry 30, 4 messages, ~1 retry
    ");
    // Without a fact there is no link, and what waits for it stays open.
    insta::assert_snapshot!(operations_of(&[
        (0, '>', ASK, NONE),
        (10, '<', DONE, required),
        (40, '>', ASK_2, NONE),
        (60, '<', DONE_2, NONE),
    ], 100), @"
    0: #0
    1: #0
    2: #2
    3: #2
       #2 answered 20 = server 20, 2 messages
       #0 open 100 = server 10 + retry 90, 2 messages
    ");
    // A link to a later message, or to one without an operation, is none.
    insta::assert_snapshot!(operations_of(&[
        (0, '>', NOTE, NONE),
        (10, '>', ASK, part_of(0, Link::Recorded)),
        (20, '<', ASK_BACK, inside(2, Link::Recorded)),
        (40, '<', NOTE, part_of(9, Link::Recorded)),
    ], 0), @"
    1: #1
    2: #2
       #1 open 30 = server 30, 1 messages
       #2 open 20 = client 20, 1 messages
    ");
}

#[test]
fn an_operation_that_failed_is_one_with_its_retry() {
    let attempt = OperationFacts {
        may_retry: true,
        ..NONE
    };
    let again = OperationFacts {
        may_retry: true,
        ..part_of(0, Link::Recorded)
    };
    insta::assert_snapshot!(operations_of(&[
        (0, '>', ASK, attempt),
        (10, '<', REFUSED, NONE),
        (40, '>', ASK_2, again),
        (60, '<', DONE_2, NONE),
    ], 0), @"
    0: #0
    1: #0
    2: #0 recorded
    3: #0 recorded
       #0 recorded answered 60 = server 30 + retry 30, 4 messages, 1 retry
    ");
    // The retry fails as well; each operation ends as it was when it failed.
    insta::assert_snapshot!(operations_of(&[
        (0, '>', ASK, attempt),
        (10, '<', REFUSED, NONE),
        (40, '>', ASK, again),
        (60, '<', REFUSED, NONE),
        (70, '>', ASK, attempt),
        (80, '<', REFUSED, NONE),
        (85, '<', ASK_BACK, inside(4, Link::Recorded)),
        (86, '>', DONE_BACK, NONE),
        (90, '<', NOTE, part_of(4, Link::Recorded)),
    ], 500), @"
    0: #0
    1: #0
    2: #0 recorded
    3: #0 recorded
    4: #4
    5: #4
    6: #6 in #4 recorded
    7: #6 in #4 recorded
       #6 in #4 recorded answered 1 = client 1, 2 messages
    8: #4 recorded
       #0 recorded failed 60 = server 30 + retry 30, 4 messages, 1 retry
       #4 recorded failed 10 = server 10, 5 messages, 1 elicit, 1 progress
    ");
    // The operation around it does not wait for it while it waits for a retry.
    insta::assert_snapshot!(operations_of(&[
        (0, '>', ASK, NONE),
        (10, '<', ASK_BACK, OperationFacts { may_retry: true, ..inside(0, Link::Recorded) }),
        (20, '>', REFUSED_BACK, NONE),
        (50, '<', ASK_BACK, OperationFacts { may_retry: true, ..part_of(1, Link::Recorded) }),
        (60, '>', DONE_BACK, NONE),
        (70, '<', DONE, NONE),
    ], 0), @"
    0: #0
    1: #1 in #0 recorded
    2: #1 in #0 recorded
    3: #1 in #0 recorded
    4: #1 in #0 recorded
       #1 in #0 recorded answered 50 = client 20 + retry 30, 4 messages, 1 retry
    5: #0
       #0 answered 70 = server 50 + client 20, 6 messages, 1 elicit
    ");
    // An answer ends it, and cancelled ones are not retried.
    insta::assert_snapshot!(operations_of(&[
        (0, '>', ASK, attempt),
        (10, '<', DONE, NONE),
        (20, '>', ASK, attempt),
        (30, '>', NOTE, OperationFacts { cancels: true, ..part_of(2, Link::Recorded) }),
        (40, '<', REFUSED, NONE),
    ], 0), @"
    0: #0
    1: #0
       #0 answered 10 = server 10, 2 messages
    2: #2
    3: #2 recorded
    4: #2
       #2 recorded cancelled 20 = server 20, 3 messages, 1 progress
    ");
}

#[test]
fn operations_that_wait_for_a_retry_are_bounded() {
    let attempt = OperationFacts {
        may_retry: true,
        ..NONE
    };
    let pair = [(0, '>', ASK, attempt), (1, '<', REFUSED, NONE)];
    let rows: Vec<Row> = (0..300).flat_map(|_| pair).collect();
    let text = operations_of(&rows, 5);
    let ended = |line: &&str| line.starts_with("   ");
    let before_the_end = text.lines().take_while(|line| !line.starts_with("599:"));
    assert_eq!(before_the_end.filter(ended).count(), 43);
    assert_eq!(text.lines().filter(ended).count(), 300);
    assert_eq!(text.matches(" failed ").count(), 300);
}

#[test]
fn a_session_can_end_an_operation() {
    let cancel = OperationFacts {
        cancels: true,
        ..part_of(0, Link::Recorded)
    };
    let ends = OperationFacts {
        ends: Some(true),
        ..part_of(0, Link::Recorded)
    };
    let goes_on = OperationFacts {
        ends: Some(false),
        ..NONE
    };
    // A cancelled request with an error as answer, with a result, and without an answer.
    insta::assert_snapshot!(operations_of(&[
        (0, '>', ASK, NONE),
        (10, '>', NOTE, cancel),
        (30, '<', REFUSED, NONE),
    ], 0), @"
    0: #0
    1: #0 recorded
    2: #0
       #0 recorded cancelled 30 = server 30, 3 messages, 1 progress
    ");
    insta::assert_snapshot!(operations_of(&[
        (0, '>', ASK, NONE),
        (10, '>', NOTE, cancel),
        (30, '<', DONE, NONE),
    ], 0), @"
    0: #0
    1: #0 recorded
    2: #0
       #0 recorded answered 30 = server 30, 3 messages, 1 progress
    ");
    insta::assert_snapshot!(operations_of(&[
        (0, '>', ASK, NONE),
        (10, '>', NOTE, OperationFacts { ends: Some(true), ..cancel }),
        (30, '<', DONE, NONE),
    ], 0), @"
    0: #0
    1: #0 recorded
       #0 recorded cancelled 10 = server 10, 2 messages, 1 progress
    2: #0
    ");
    // An answer and a notification say how it ended.
    insta::assert_snapshot!(operations_of(&[
        (0, '>', ASK, NONE),
        (10, '<', DONE, OperationFacts { cancels: true, ..NONE }),
        (20, '>', ASK, NONE),
        (30, '<', DONE, OperationFacts { fails: true, ..NONE }),
        (40, '>', ASK, NONE),
        (50, '<', NOTE, OperationFacts { fails: true, ends: Some(true), ..part_of(4, Link::Recorded) }),
    ], 0), @"
    0: #0
    1: #0
       #0 cancelled 10 = server 10, 2 messages
    2: #2
    3: #2
       #2 failed 10 = server 10, 2 messages
    4: #4
    5: #4 recorded
       #4 recorded failed 10 = server 10, 2 messages, 1 progress
    ");
    // A notification begins and another one ends it.
    insta::assert_snapshot!(operations_of(&[
        (0, '<', NOTE, goes_on),
        (10, '<', NOTE, inside(0, Link::Recorded)),
        (30, '<', NOTE, ends),
    ], 0), @"
    0: #0
    1: #0 recorded
    2: #0 recorded
       #0 recorded answered 30 = unknown 30, 3 messages, 2 progress
    ");
    // A second request keeps it open until its answer.
    insta::assert_snapshot!(operations_of(&[
        (0, '>', ASK, NONE),
        (10, '>', ASK_2, part_of(0, Link::Recorded)),
        (20, '<', DONE, NONE),
        (30, '<', DONE_2, NONE),
    ], 0), @"
    0: #0
    1: #0 recorded
    2: #0
    3: #0 recorded
       #0 recorded answered 30 = server 30, 4 messages, 1 retry
    ");
}

#[test]
fn clocks_that_step_back_take_no_time() {
    insta::assert_snapshot!(operations_of(&[
        (50, '>', ASK, NONE),
        (10, '<', ASK_BACK, inside(0, Link::Recorded)),
        (60, '>', DONE_BACK, NONE),
        (20, '<', DONE, NONE),
    ], 0), @"
    0: #0
    1: #1 in #0 recorded
    2: #1 in #0 recorded
       #1 in #0 recorded answered 10 = client 10, 2 messages
    3: #0
       #0 answered 10 = client 10, 4 messages, 1 elicit
    ");
}

#[test]
fn parts_and_open_operations_are_bounded() {
    let row = |method: usize| {
        let text = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{method},\"method\":\"m{}\"}}",
            method % 20
        );
        let text: &'static str = Box::leak(text.into_boxed_str());
        let facts = match method {
            0 => NONE,
            _ => inside(0, Link::Recorded),
        };
        (0, '>', text, facts)
    };
    let rows: Vec<Row> = (0..MAX_ENTRIES + 100).map(row).collect();
    let text = operations_of(&rows, 5);
    assert_eq!(
        text.lines().filter(|line| line.starts_with("   ")).count(),
        MAX_ENTRIES
    );
    let last = text
        .lines()
        .find(|line| line.starts_with("   #0 "))
        .unwrap();
    let parts = last.split(", ").skip(2).count();
    assert_eq!(parts, 9, "{last}");
}
