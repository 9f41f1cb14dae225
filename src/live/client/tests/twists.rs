//! Another side that says one thing otherwise is noticed, by a replay and by a comparison of the two recordings; and one
//! that says the same with values of its own is not.

use super::echo::{Echo, Twist, all, chosen, play, settings};
use super::files;
use crate::conversation::{Judge, follow};
use crate::decoder::Options;
use crate::diff::{Counts, Diff, Difference, Ignore, Side};
use crate::live::names::Binding;
use crate::live::plan::{Expected, Plan};
use crate::path::Path;
use crate::protocol::session::SessionConfig;
use crate::protocol::{Direction, Protocol, Role, registry};
use serde_json::Value;
use std::convert::Infallible;

/// Recordings with more messages are left out, and so are more values of one.
const MOST: usize = 24;

fn side(recording: &[u8]) -> Side {
    let mut side = Side::default();
    let options = Options::new(registry::all().to_vec());
    let session_config = SessionConfig::default();
    let Ok(_) = follow::<Infallible>(
        recording,
        &options,
        &Judge::default(),
        session_config,
        &mut |decoded, verdict| {
            if let Some(decoded) = decoded {
                side.see(decoded, verdict);
            }
            Ok(())
        },
    );
    side
}

/// What differs; and the same seen from the other side.
fn differences(protocol: &dyn Protocol, a: &Side, b: &Side) -> Vec<Difference> {
    let ignore = Ignore::default().and_anew(protocol, true);
    let [there, back] = [(a, b), (b, a)].map(|(a, b)| {
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
    let mut mirrored: Vec<String> = back
        .iter()
        .map(|one| format!("{:?}", mirror(one)))
        .collect();
    let mut told: Vec<String> = there.iter().map(|one| format!("{one:?}")).collect();
    mirrored.sort_unstable();
    told.sort_unstable();
    assert_eq!(told, mirrored, "A against B is B against A");
    there
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

/// Every healthy recording that is small, with its plan.
fn each(visit: &mut dyn FnMut(&str, &[u8], &Plan<'static>)) {
    for path in files() {
        let recording = std::fs::read(&path).unwrap();
        let Ok(plan) = chosen(&recording, all()) else {
            continue;
        };
        if (1..MOST).contains(&plan.expected.len()) {
            visit(&path.to_string_lossy(), &recording, &plan);
        }
    }
}

#[test]
fn other_ids_and_times_are_no_difference() {
    let mut compared = 0;
    let mut failed = Vec::new();
    each(&mut |name, recording, plan| {
        let ran = play(plan, &settings(plan.protocol), &mut Echo::of(plan));
        let before = side(recording);
        assert!(
            differences(plan.protocol, &before, &before).is_empty(),
            "{name}"
        );
        // What the recording opens without, the player says of its own; what it ends without, too.
        if !plan.has_hello || !plan.has_end {
            return;
        }
        compared += 1;
        let found = differences(plan.protocol, &before, &side(ran.recording.as_bytes()));
        if !found.is_empty() {
            failed.push(format!("{name}: {found:?}"));
        }
    });
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    assert!(compared > 50, "{compared}");
}

/// Whether a message is an item of a call that was given up: whether such come is a matter of time.
fn is_late(plan: &Plan<'_>, at: usize) -> bool {
    let told = &plan.expected[at];
    let asked = told.answers.map(|step| &plan.steps[step]);
    let given_up = asked.is_some_and(|asked| {
        let mut later = asked.spoken_of.iter().map(|later| &plan.steps[*later]);
        later.any(|l| l.role == Some(Role::Notification) && l.heard <= at)
    });
    given_up && told.kept.role == Some(Role::Item)
}

#[test]
fn a_message_that_does_not_come_is_noticed() {
    let (mut dropped, mut failed) = (0, Vec::new());
    each(&mut |name, _, plan| {
        for (at, told) in plan.expected.iter().enumerate() {
            if is_late(plan, at) {
                continue;
            }
            let mut echo = Echo::of(plan);
            echo.twist = Some((at, Twist::Dropped));
            let ran = play(plan, &settings(plan.protocol), &mut echo);
            dropped += 1;
            if ran.outcome.is_clean() {
                failed.push(format!("{name}: {} #{}", told.kept.what(), told.kept.index));
            }
        }
    });
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    assert!(dropped > 500, "{dropped}");
}

/// The values of a message, by their JSON pointers and paths.
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

/// Whether the other side makes the value of an id in this message, and does not repeat it.
fn is_made(plan: &Plan<'_>, at: usize, path: &Path) -> bool {
    let name = |told: &Expected, which: &dyn Fn(&Path, usize) -> bool| {
        told.places.iter().find_map(|place| match place.binding {
            Binding::Name(number) => which(&place.path, number).then_some(number),
            Binding::Time | Binding::Given => None,
        })
    };
    let told = &plan.expected[at];
    let Some(number) = name(told, &|place, _| place == path) else {
        return told.answers.is_none();
    };
    let is_theirs = plan.names.name(number).unwrap().owner == Direction::ToClient;
    let mut before = plan.expected[..at].iter();
    is_theirs && before.all(|told| name(told, &|_, one| one == number).is_none())
}

/// Another value of the same type.
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
fn a_value_that_is_another_or_missing_is_noticed() {
    let (mut twisted, mut failed) = (0, Vec::new());
    each(&mut |name, recording, plan| {
        let ignore = Ignore::default().and_anew(plan.protocol, true);
        let settings = settings(plan.protocol);
        let before = side(recording);
        let is_whole = plan.has_hello && plan.has_end;
        for (at, told) in plan.expected.iter().enumerate() {
            if is_late(plan, at) {
                continue;
            }
            let message: Value =
                serde_json::from_str(&super::echo::exact(plan.protocol, told)).unwrap_or_default();
            let mut echo = Echo::of(plan);
            echo.twist = Some((at, Twist::none()));
            let sound = play(plan, &settings, &mut echo);
            let mut all = Vec::new();
            leaves(&message, "", "", &mut all);
            for (pointer, path, value) in all.into_iter().take(MOST) {
                let path: Path = path.parse().unwrap();
                for twist in [None, Some(other(&value))] {
                    let is_removed = twist.is_none();
                    let says_nothing = match ignore.counts(&told.kept.kind, &path) {
                        Counts::Presence => !is_removed,
                        // What the other side makes may have any value; what it refers to may not.
                        Counts::Id(_) => !is_removed && is_made(plan, at, &path),
                        _ => false,
                    };
                    if says_nothing {
                        continue;
                    }
                    let mut echo = Echo::of(plan);
                    echo.twist = Some((at, Twist::At(pointer.clone(), twist)));
                    let ran = play(plan, &settings, &mut echo);
                    // Not all that JSON shows is written.
                    if ran.recording == sound.recording {
                        continue;
                    }
                    twisted += 1;
                    let is_same = || {
                        let after = side(ran.recording.as_bytes());
                        is_whole && differences(plan.protocol, &before, &after).is_empty()
                    };
                    let what = told.kept.what();
                    if ran.outcome.is_clean() {
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
        "{} of {twisted}\n{}",
        failed.len(),
        failed.join("\n")
    );
    assert!(twisted > 3000, "{twisted}");
}
