use super::fresh::{other_digits, time};
use super::values::Values;
use super::*;
use crate::diff::Val;
use std::collections::HashSet;

const NOW: i64 = 1_800_000_000_123_456_789;

fn book(minted: &[(&'static str, &'static str, Fresh)]) -> Names {
    Names {
        minted: minted
            .iter()
            .map(|(path, group, fresh)| (Pattern::new(path), *group, *fresh))
            .collect(),
        all: Vec::new(),
        anywhere: HashMap::new(),
        short: HashMap::new(),
        placed: HashMap::new(),
    }
}

fn about(direction: Direction, role: Role, asked: Option<Direction>) -> MessageInfo<'static> {
    MessageInfo {
        kind: "k",
        role: Some(role),
        direction,
        asked,
    }
}

const C2S: Direction = Direction::ToServer;
const S2C: Direction = Direction::ToClient;

#[test]
fn what_the_other_side_made_is_learnt_and_replaced_wherever_it_recurs() {
    let mut book = book(&[
        ("id", "call", Fresh::Id),
        ("**.session", "session", Fresh::Id),
    ]);
    let ask = r#"{"id":7,"session":null}"#;
    let ours = about(C2S, Role::Request, None);
    let first = book.read(ask, &ours);
    let answer = r#"{"id":7,"result":{"session":"ses_0123456789"}}"#;
    let told = book.read(answer, &about(S2C, Role::Response, Some(C2S)));
    let later = r#"{"id":9,"args":["x",{"ses_0123456789":1},"ses_0123456789"],"text":"ses_0"}"#;
    let second = book.read(later, &ours);

    let mut live = Values::new(C2S, false, None, 1);
    assert_eq!(
        live.rewrite(&book, ask, &first, NOW),
        ask,
        "the first number stays"
    );
    live.hear(
        &book,
        &told,
        None,
        r#"{"id":7,"result":{"session":"ses_ABCDEFGHIJ"}}"#,
    );
    assert_eq!(
        live.rewrite(&book, later, &second, NOW),
        r#"{"id":8,"args":["x",{"ses_ABCDEFGHIJ":1},"ses_ABCDEFGHIJ"],"text":"ses_0"}"#
    );
    let same = |a: &str, b: &str| live.is_same(&book, &Val::text(a), &Val::text(b));
    assert!(same("ses_0123456789", "ses_ABCDEFGHIJ"));
    assert!(!same("ses_0123456789", "ses_0123456789"));
    assert!(!same("x", "y"));
}

#[test]
fn both_sides_count_their_requests_for_themselves() {
    let mut book = book(&[("id", "call", Fresh::Id)]);
    let one = |book: &mut Names, direction, role, asked| {
        let places = book.read(r#"{"id":0}"#, &about(direction, role, asked));
        places[0].binding
    };
    let ours = one(&mut book, C2S, Role::Request, None);
    let theirs = one(&mut book, S2C, Role::Request, None);
    assert_ne!(ours, theirs);
    assert_eq!(one(&mut book, S2C, Role::Response, Some(C2S)), ours);
    assert_eq!(one(&mut book, C2S, Role::Response, Some(S2C)), theirs);
    assert_eq!(one(&mut book, C2S, Role::Notification, None), ours);
}

#[test]
fn own_values_are_fresh_and_of_the_same_form() {
    let minted = [
        ("id", "call", Fresh::Id),
        ("ts", "time", Fresh::Time),
        ("t", "token", Fresh::Given),
    ];
    let message = r#"{"id":{"$bin":"00112233445566778899aabbccddeeff"},"ts":1700000000000,"t":"old","again":"00112233-4455-6677-8899-aabbccddeeff"}"#;
    let mut b = book(&minted);
    let places = b.read(message, &about(C2S, Role::Request, None));
    let mut live = Values::new(C2S, false, Some("new".into()), 1);
    insta::assert_snapshot!(
        live.rewrite(&b, message, &places, NOW),
        @r#"{"id":{"$bin":"a51bb2ef910f4fdfaa9d31f0fbc55442"},"ts":1800000000123,"t":"new","again":"a51bb2ef-910f-4fdf-aa9d-31f0fbc55442"}"#
    );
    let mut kept = Values::new(C2S, true, None, 1);
    assert_eq!(kept.rewrite(&b, message, &places, NOW), message);
}

/// What a run says in place of these ids, one after another.
fn fresh_ids(ids: &[String], seed: u64) -> Vec<String> {
    let mut book = book(&[("id", "call", Fresh::Id)]);
    let ours = about(C2S, Role::Request, None);
    let messages: Vec<_> = ids.iter().map(|id| format!("{{\"id\":{id}}}")).collect();
    let places: Vec<_> = messages.iter().map(|m| book.read(m, &ours)).collect();
    let mut live = Values::new(C2S, false, None, seed);
    let said = messages.iter().zip(&places);
    let said: Vec<_> = said
        .map(|(message, places)| live.rewrite(&book, message, places, NOW))
        .collect();
    // Whoever is asked for one again is told the same.
    for ((message, places), said) in messages.iter().zip(&places).zip(&said) {
        assert_eq!(live.rewrite(&book, message, places, NOW), *said);
    }
    said
}

#[test]
fn no_two_ids_are_made_alike() {
    let many = |n: u32, form: &dyn Fn(u32) -> String| (0..n).map(form).collect::<Vec<_>>();
    for (what, ids) in [
        ("one digit", many(10, &|n| format!("\"request-{n}\""))),
        ("six of ten", many(6, &|n| format!("\"request-{}\"", n + 1))),
        ("two digits", many(100, &|n| format!("\"request-{n:02}\""))),
        ("short", many(10, &|n| format!("\"r{n}\""))),
        ("a digit alone", many(10, &|n| format!("\"{n}\""))),
        ("no digit", vec!["\"nothing-here\"".into()]),
        ("no digit, short", vec!["\"a\"".into(), "\"b\"".into()]),
        ("bytes", many(256, &|n| format!("{{\"$bin\":\"{n:02x}\"}}"))),
        (
            "uuids",
            many(3, &|n| {
                format!("\"00112233-4455-6677-8899-aabbccddee{n:02}\"")
            }),
        ),
    ] {
        let before: HashSet<_> = ids.iter().map(|id| format!("{{\"id\":{id}}}")).collect();
        for seed in 0..20 {
            let said = fresh_ids(&ids, seed);
            let all: HashSet<_> = said.iter().cloned().collect();
            assert_eq!(all.len(), ids.len(), "{what}, seed {seed}: {said:?}");
            // What was recorded may still stand for what it stood for then.
            assert!(all.is_disjoint(&before), "{what}, seed {seed}: {said:?}");
            assert_eq!(said, fresh_ids(&ids, seed), "{what}");
        }
        assert_ne!(fresh_ids(&ids, 1), fresh_ids(&ids, 2), "{what}");
    }
}

#[test]
fn an_id_is_none_that_the_other_side_made() {
    let mut book = book(&[("id", "call", Fresh::Id)]);
    let ours = about(C2S, Role::Request, None);
    let theirs = book.read(r#"{"id":"request-1"}"#, &about(S2C, Role::Request, None));
    let places = book.read(r#"{"id":"request-2"}"#, &ours);
    for seed in 0..20 {
        let mut live = Values::new(C2S, false, None, seed);
        // Only one id of that form is left.
        for n in (3..10).chain([0]) {
            live.learn(100 + n, Val::text(&format!("request-{n}")));
        }
        live.hear(&book, &theirs, None, r#"{"id":"request-2"}"#);
        let said = live.rewrite(&book, r#"{"id":"request-2"}"#, &places, NOW);
        assert_eq!(said.len(), r#"{"id":"request-10"}"#.len(), "{said}");
    }
}

/// What the other side made is asked about by its live value, however short it is; a number of its own is not.
#[test]
fn a_request_names_what_the_other_side_gave_out() {
    let mut book = book(&[("call", "call", Fresh::Id), ("id", "id", Fresh::Id)]);
    let made = book.read(
        r#"{"call":"c-0","id":5}"#,
        &about(S2C, Role::Notification, None),
    );
    let ask = r#"{"call":"c-0","id":5}"#;
    let asks = book.read(ask, &about(C2S, Role::Request, None));
    let mut live = Values::new(C2S, false, None, 1);
    live.hear(&book, &made, None, r#"{"call":"c-9","id":6}"#);
    assert_eq!(
        live.rewrite(&book, ask, &asks, NOW),
        r#"{"call":"c-9","id":5}"#
    );
}

#[test]
fn an_empty_id_stays_empty() {
    let mut book = book(&[("session", "session", Fresh::Id)]);
    let ask = r#"{"session":"","n":1}"#;
    let places = book.read(ask, &about(C2S, Role::Request, None));
    let mut live = Values::new(C2S, false, None, 1);
    assert_eq!(live.rewrite(&book, ask, &places, NOW), ask);
}

#[test]
fn short_ids_stand_for_what_they_were() {
    let mut book = book(&[("id", "call", Fresh::Id)]);
    let places = book.read(r#"{"id":"r1"}"#, &about(C2S, Role::Request, None));
    let mut live = Values::new(C2S, false, None, 1);
    let said = live.rewrite(&book, r#"{"id":"r1"}"#, &places, NOW);
    let fresh = Val::text(
        said.trim_start_matches("{\"id\":\"")
            .trim_end_matches("\"}"),
    );
    assert!(live.is_same(&book, &Val::text("r1"), &fresh));
    assert!(!live.is_same(&book, &Val::text("r1"), &Val::text("r")));
}

#[test]
fn text_ids_get_other_digits() {
    let mut fresh = [7u8, 250, 33, 99].into_iter().cycle();
    let mut other = |old: &str| other_digits(old, &mut fresh);
    assert_eq!(other("ses_deadbeef01"), "ses_7a137a137a");
    assert_eq!(other("request-17"), "request-39");
    assert_eq!(other("nothing-here"), "nothing-here");
}

#[test]
fn times_keep_their_unit_and_form() {
    for (old, want) in [
        ("1700000000", Some("1800000000")),
        ("1700000000.25", Some("1800000000.12")),
        ("1700000000000", Some("1800000000123")),
        ("1700000000000.5", Some("1800000000123.4")),
        ("1700000000000000", Some("1800000000123456")),
        ("1700000000000000000", Some("1800000000123456789")),
        ("12", None),
    ] {
        let val = Val::Number(old.into());
        assert_eq!(time(&val, old, NOW).as_deref(), want, "{old}");
    }
    for (old, want) in [
        (
            "2026-01-01T00:00:00.000Z",
            Some("\"2027-01-15T08:00:00.123Z\""),
        ),
        (
            "2026-01-01T00:00:00+00:00",
            Some("\"2027-01-15T08:00:00+00:00\""),
        ),
        ("yesterday", None),
    ] {
        assert_eq!(time(&Val::text(old), old, NOW).as_deref(), want, "{old}");
    }
}
