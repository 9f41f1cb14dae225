//! A peer that changes one message is detected by a replay and by a comparison of the two recordings. A peer that sends
//! the same messages with its own values is not.

use super::files;
use super::recorded_peer::{MessageChange, RecordedPeer, all, chosen, play, settings};
use crate::capture::{CaptureInput, Form};
use crate::conversation::{Output, RuleSettings, Run};
use crate::decoder::DecodeOptions;
use crate::diff::{CompareDepth, Diff, DiffSide, Difference, Ignore};
use crate::live::names::Binding;
use crate::live::plan::{Expected, Plan};
use crate::path::Path;
use crate::protocol::{Direction, Protocol, Role, registry};
use serde_json::Value;
use std::convert::Infallible;
use std::ops::ControlFlow;

/// Recordings with more messages are skipped, and so are further values of a message.
const MAX_MESSAGES: usize = 24;

pub(super) fn side(recording: &[u8]) -> DiffSide {
    let mut side = DiffSide::default();
    let options = DecodeOptions::new(registry::all().to_vec());
    let input = CaptureInput::new(Form::Recording);
    let mut run = Run::new(input, options, Some(RuleSettings::default()));
    let mut sink = |output: Output<'_>| -> ControlFlow<Infallible> {
        if let Output::Message(decoded, verdict) = output {
            side.see(decoded, verdict.unwrap_or_default());
        }
        ControlFlow::Continue(())
    };
    let ControlFlow::Continue(()) = run.read_all(recording, &mut sink);
    side
}

/// Returns the differences. Checks that the reverse comparison has the same ones.
pub(super) fn differences(protocol: &dyn Protocol, a: &DiffSide, b: &DiffSide) -> Vec<Difference> {
    let ignore = Ignore::default().and_generated(protocol, true);
    let [forward_differences, backward_differences] = [(a, b), (b, a)].map(|(a, b)| {
        let mut found = Vec::new();
        Diff::new(protocol, &ignore, a, b, 128).run(&mut |mut one| {
            if let Difference::Fields(_, _, fields) = &mut one {
                for field in &mut *fields {
                    field.wanted = None;
                }
            }
            found.push(one);
        });
        found
    });
    let mut mirrored: Vec<String> = backward_differences
        .iter()
        .map(|one| format!("{:?}", mirror(one)))
        .collect();
    let mut forward: Vec<String> = forward_differences
        .iter()
        .map(|one| format!("{one:?}"))
        .collect();
    mirrored.sort_unstable();
    forward.sort_unstable();
    assert_eq!(forward, mirrored, "A against B is B against A");
    forward_differences
}

fn mirror(difference: &Difference) -> Difference {
    match difference.clone() {
        Difference::OnlyLeft(which, n) => Difference::OnlyRight(which, n),
        Difference::OnlyRight(which, n) => Difference::OnlyLeft(which, n),
        Difference::Fields(a, b, mut fields) => {
            for field in &mut fields {
                std::mem::swap(&mut field.left, &mut field.right);
            }
            Difference::Fields(b, a, fields)
        }
    }
}

/// Visits every small recording without errors, with its plan.
fn each(visit: &mut dyn FnMut(&str, &[u8], &Plan<'static>)) {
    for path in files() {
        let recording = std::fs::read(&path).unwrap();
        let Ok(plan) = chosen(&recording, all()) else {
            continue;
        };
        // The recorded peer has no event streams.
        if (1..MAX_MESSAGES).contains(&plan.expected.len()) && !plan.has_event_streams() {
            visit(&path.to_string_lossy(), &recording, &plan);
        }
    }
}

#[test]
fn generated_ids_and_times_are_not_differences() {
    let mut compared = 0;
    let mut failed = Vec::new();
    each(&mut |name, recording, plan| {
        let run = play(plan, &settings(plan.protocol), &mut RecordedPeer::of(plan));
        let before = side(recording);
        assert!(
            differences(plan.protocol, &before, &before).is_empty(),
            "{name}"
        );
        // The client adds messages that the recording lacks at its start and end.
        if !plan.has_hello || !plan.has_end {
            return;
        }
        compared += 1;
        let found = differences(plan.protocol, &before, &side(run.recording.as_bytes()));
        if !found.is_empty() {
            failed.push(format!("{name}: {found:?}"));
        }
    });
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    assert!(compared > 50, "{compared}");
}

/// Returns `true` if a message is an item of a cancelled call: such items depend on timing.
fn is_late(plan: &Plan<'_>, at: usize) -> bool {
    let expected = &plan.expected[at];
    let request = expected.answers.map(|step| &plan.steps[step]);
    let is_cancelled = request.is_some_and(|request| {
        let mut later = request
            .referenced_by
            .iter()
            .map(|later| &plan.steps[*later]);
        later.any(|l| l.role == Some(Role::Notification) && l.received_before <= at)
    });
    is_cancelled && expected.stored.role == Some(Role::Item)
}

#[test]
fn a_missing_message_is_a_difference() {
    let (mut dropped, mut failed) = (0, Vec::new());
    each(&mut |name, _, plan| {
        for (at, expected) in plan.expected.iter().enumerate() {
            if is_late(plan, at) {
                continue;
            }
            let mut peer = RecordedPeer::of(plan);
            peer.change = Some((at, MessageChange::Dropped));
            let run = play(plan, &settings(plan.protocol), &mut peer);
            dropped += 1;
            if run.outcome.is_clean() {
                failed.push(format!(
                    "{name}: {} #{}",
                    expected.stored.what(),
                    expected.stored.index
                ));
            }
        }
    });
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    assert!(dropped > 500, "{dropped}");
}

/// Collects the values of a message, with JSON pointer and path.
fn leaves(value: &Value, pointer: &str, path: &str, out: &mut Vec<(String, String, Value)>) {
    let key = |key: &str| key.replace('~', "~0").replace('/', "~1");
    match value {
        Value::Object(map) if map.keys().any(|name| name.starts_with('$')) => {}
        Value::Object(map) => {
            for (name, value) in map {
                let inner = format!("{path}[{}]", Value::from(name.as_str()));
                leaves(value, &format!("{pointer}/{}", key(name)), &inner, out);
            }
        }
        Value::Array(items) => {
            for (n, value) in items.iter().enumerate() {
                leaves(
                    value,
                    &format!("{pointer}/{n}"),
                    &format!("{path}[{n}]"),
                    out,
                );
            }
        }
        Value::Null => {}
        _ => out.push((pointer.to_owned(), path.to_owned(), value.clone())),
    }
}

/// Returns `true` if the value at this path is an id that the peer generates in this message.
fn is_made(plan: &Plan<'_>, at: usize, path: &Path) -> bool {
    let name = |expected: &Expected, which: &dyn Fn(&Path, usize) -> bool| {
        expected
            .places
            .iter()
            .find_map(|place| match place.binding {
                Binding::Name(number) => which(&place.path, number).then_some(number),
                Binding::Time | Binding::Process | Binding::Given => None,
            })
    };
    let expected = &plan.expected[at];
    let Some(number) = name(expected, &|place, _| place == path) else {
        return expected.answers.is_none();
    };
    let is_theirs = plan.names.name(number).unwrap().owner == Direction::ToClient;
    let mut before = plan.expected[..at].iter();
    is_theirs && before.all(|expected| name(expected, &|_, one| one == number).is_none())
}

/// Returns another value of the same type.
fn other(value: &Value) -> Value {
    match value {
        Value::Bool(b) => Value::Bool(!b),
        Value::Number(n) => n.as_u64().map_or(Value::from(7), |n| Value::from(n ^ 1)),
        Value::String(text) => match text.pop_last() {
            (rest, Some('0')) => Value::from(format!("{rest}1")),
            (rest, Some(_)) => Value::from(format!("{rest}0")),
            _ => Value::from("x"),
        },
        _ => Value::Null,
    }
}

trait PopLast {
    fn pop_last(&self) -> (&str, Option<char>);
}

impl PopLast for String {
    fn pop_last(&self) -> (&str, Option<char>) {
        let mut chars = self.chars();
        let last = chars.next_back();
        (chars.as_str(), last)
    }
}

#[test]
fn a_changed_or_missing_value_is_a_difference() {
    let (mut changed, mut failed) = (0, Vec::new());
    each(&mut |name, recording, plan| {
        let ignore = Ignore::default().and_generated(plan.protocol, true);
        let settings = settings(plan.protocol);
        let marks = plan.protocol.marks();
        let volatile = marks.generated.iter().filter(|mark| mark.volatile);
        let volatile = Ignore::new(volatile.map(|mark| mark.path.as_ref()));
        let before = side(recording);
        let is_whole = plan.has_hello && plan.has_end;
        for (at, expected) in plan.expected.iter().enumerate() {
            if is_late(plan, at) {
                continue;
            }
            let message: Value =
                serde_json::from_str(&super::recorded_peer::exact(plan.protocol, expected))
                    .unwrap_or_default();
            let mut peer = RecordedPeer::of(plan);
            peer.change = Some((at, MessageChange::none()));
            let sound = play(plan, &settings, &mut peer);
            let mut all = Vec::new();
            leaves(&message, "", "", &mut all);
            for (pointer, path, value) in all.into_iter().take(MAX_MESSAGES) {
                let path: Path = path.parse().unwrap();
                for change in [None, Some(other(&value))] {
                    let is_removed = change.is_none();
                    let counts = |path: &[_]| ignore.counts(expected.stored.name(), path);
                    let mut above = (1..path.len()).filter_map(|n| path.get(..n));
                    let is_inside = above.any(|path| counts(path) == CompareDepth::Presence);
                    let is_not_compared = is_inside
                        || match counts(&path) {
                            CompareDepth::Presence => !is_removed,
                            // A value that the peer generates is free; a value to which it refers is not.
                            CompareDepth::Id(_) => {
                                let is_free = volatile.covers(expected.stored.name(), &path);
                                !is_removed && (is_free || is_made(plan, at, &path))
                            }
                            _ => false,
                        };
                    if is_not_compared {
                        continue;
                    }
                    let mut peer = RecordedPeer::of(plan);
                    peer.change = Some((at, MessageChange::At(pointer.clone(), change)));
                    let run = play(plan, &settings, &mut peer);
                    // Some JSON fields are not encoded.
                    if run.recording == sound.recording {
                        continue;
                    }
                    changed += 1;
                    let is_same = || {
                        let after = side(run.recording.as_bytes());
                        is_whole && differences(plan.protocol, &before, &after).is_empty()
                    };
                    let what = expected.stored.what();
                    if run.outcome.is_clean() {
                        failed.push(format!("replay: {name}: {what} {path} {is_removed}"));
                    } else if is_same() {
                        failed.push(format!("diff: {name}: {what} {path} {is_removed}"));
                    }
                }
            }
        }
    });
    assert!(
        failed.is_empty(),
        "{} of {changed}\n{}",
        failed.len(),
        failed.join("\n")
    );
    assert!(changed > 3000, "{changed}");
}
