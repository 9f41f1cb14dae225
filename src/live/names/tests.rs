use super::generate::{current_time, replace_digits};
use super::values::RunValues;
use super::*;
use crate::diff::Val;
use std::collections::HashSet;

const NOW: i64 = 1_800_000_000_123_456_789;

fn names(generated: &[(&'static str, &'static str, Fresh)]) -> Names {
    Names {
        generated: generated
            .iter()
            .map(|(path, group, fresh)| GeneratedPath {
                pattern: PathPattern::new(path),
                group: generated.iter().position(|one| one.1 == *group).unwrap() as u32,
                fresh: *fresh,
                maker: None,
            })
            .collect(),
        groups: generated.iter().map(|one| one.1.to_owned()).collect(),
        all: Vec::new(),
        unique: HashMap::new(),
        short: HashMap::new(),
        by_digest: HashMap::new(),
        digests: RandomState::new(),
    }
}

fn about(
    direction: Direction,
    role: Role,
    request_direction: Option<Direction>,
) -> MessageInfo<'static> {
    MessageInfo {
        name: MessageName {
            kind: "k",
            subject: None,
            parts: &[],
        },
        role: Some(role),
        direction,
        request_direction,
    }
}

const C2S: Direction = Direction::ToServer;
const S2C: Direction = Direction::ToClient;

#[test]
fn values_of_the_peer_are_stored_and_replaced_at_every_position() {
    let mut names = names(&[
        ("id", "call", Fresh::Id),
        ("**.session", "session", Fresh::Id),
    ]);
    let ask = r#"{"id":7,"session":null}"#;
    let ours = about(C2S, Role::Request, None);
    let first = names.read(ask, &ours);
    let answer = r#"{"id":7,"result":{"session":"ses_0123456789"}}"#;
    let expected = names.read(answer, &about(S2C, Role::Response, Some(C2S)));
    let later = r#"{"id":9,"args":["x",{"ses_0123456789":1},"ses_0123456789"],"text":"ses_0"}"#;
    let second = names.read(later, &ours);

    let mut live = RunValues::new(C2S, false, None, 1);
    assert_eq!(
        live.rewrite(&names, ask, &first, NOW),
        ask,
        "the first number stays"
    );
    live.receive(
        &names,
        &expected,
        None,
        r#"{"id":7,"result":{"session":"ses_ABCDEFGHIJ"}}"#,
    );
    assert_eq!(
        live.rewrite(&names, later, &second, NOW),
        r#"{"id":8,"args":["x",{"ses_ABCDEFGHIJ":1},"ses_ABCDEFGHIJ"],"text":"ses_0"}"#
    );
    let same = |a: &str, b: &str| live.corresponds(&names, &Val::text(a), &Val::text(b));
    assert!(same("ses_0123456789", "ses_ABCDEFGHIJ"));
    assert!(!same("ses_0123456789", "ses_0123456789"));
    assert!(!same("x", "y"));
    assert!(same("no ses_0123456789, x", "no ses_ABCDEFGHIJ, x"));
    assert!(!same("no ses_0123456789, x", "no ses_ABCDEFGHIJ; x"));
    assert!(!same("no ses_0123456789, x", "no ses_ABCDEFGHIJ"));
    assert!(!same("no ses_0123456789, x", "no ses_ABCDEFGHIK, x"));
    assert!(!same("no ses_0123456789, x", "no ses_0123456789, x"));
}

#[test]
fn each_side_counts_its_requests_separately() {
    let mut names = names(&[("id", "call", Fresh::Id)]);
    let one = |names: &mut Names, direction, role, request_direction| {
        let places = names.read(r#"{"id":0}"#, &about(direction, role, request_direction));
        places[0].binding
    };
    let ours = one(&mut names, C2S, Role::Request, None);
    let theirs = one(&mut names, S2C, Role::Request, None);
    assert_ne!(ours, theirs);
    assert_eq!(one(&mut names, S2C, Role::Response, Some(C2S)), ours);
    assert_eq!(one(&mut names, C2S, Role::Response, Some(S2C)), theirs);
    assert_eq!(one(&mut names, C2S, Role::Notification, None), ours);
}

#[test]
fn own_values_are_generated_in_the_same_form() {
    let generated = [
        ("id", "call", Fresh::Id),
        ("ts", "time", Fresh::Time),
        ("t", "token", Fresh::Given),
    ];
    let message = r#"{"id":{"$bin":"00112233445566778899aabbccddeeff"},"ts":1700000000000,"t":"old","again":"00112233-4455-6677-8899-aabbccddeeff"}"#;
    let mut b = names(&generated);
    let places = b.read(message, &about(C2S, Role::Request, None));
    let mut live = RunValues::new(C2S, false, Some("new".into()), 1);
    insta::assert_snapshot!(
        live.rewrite(&b, message, &places, NOW),
        @r#"{"id":{"$bin":"a51bb2ef910f4fdfaa9d31f0fbc55442"},"ts":1800000000123,"t":"new","again":"a51bb2ef-910f-4fdf-aa9d-31f0fbc55442"}"#
    );
    let mut kept = RunValues::new(C2S, true, None, 1);
    assert_eq!(kept.rewrite(&b, message, &places, NOW), message);
}

/// Servers end if the process that a client names has ended.
#[test]
fn the_sending_process_is_named() {
    let mut b = names(&[("pid", "process", Fresh::Process)]);
    for (pid, want) in [
        ("4000000000", std::process::id().to_string()),
        ("null", "null".to_owned()),
    ] {
        let message = format!(r#"{{"pid":{pid}}}"#);
        let places = b.read(&message, &about(C2S, Role::Request, None));
        let mut live = RunValues::new(C2S, false, None, 1);
        let sent = live.rewrite(&b, &message, &places, NOW);
        assert_eq!(sent, format!(r#"{{"pid":{want}}}"#));
        let mut kept = RunValues::new(C2S, true, None, 1);
        assert_eq!(kept.rewrite(&b, &message, &places, NOW), message);
    }
}

/// The ids that a run sends instead of these ids.
fn generated_ids(ids: &[String], seed: u64) -> Vec<String> {
    let mut names = names(&[("id", "call", Fresh::Id)]);
    let ours = about(C2S, Role::Request, None);
    let messages: Vec<_> = ids.iter().map(|id| format!("{{\"id\":{id}}}")).collect();
    let places: Vec<_> = messages.iter().map(|m| names.read(m, &ours)).collect();
    let mut live = RunValues::new(C2S, false, None, seed);
    let sent = messages.iter().zip(&places);
    let sent: Vec<_> = sent
        .map(|(message, places)| live.rewrite(&names, message, places, NOW))
        .collect();
    // A second request for the same name returns the same value.
    for ((message, places), sent) in messages.iter().zip(&places).zip(&sent) {
        assert_eq!(live.rewrite(&names, message, places, NOW), *sent);
    }
    sent
}

#[test]
fn generated_ids_are_unique() {
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
            let sent = generated_ids(&ids, seed);
            let all: HashSet<_> = sent.iter().cloned().collect();
            assert_eq!(all.len(), ids.len(), "{what}, seed {seed}: {sent:?}");
            // A recorded id may still be in use with its recorded meaning.
            assert!(all.is_disjoint(&before), "{what}, seed {seed}: {sent:?}");
            assert_eq!(sent, generated_ids(&ids, seed), "{what}");
        }
        assert_ne!(generated_ids(&ids, 1), generated_ids(&ids, 2), "{what}");
    }
}

#[test]
fn generated_ids_differ_from_ids_of_the_peer() {
    let mut names = names(&[("id", "call", Fresh::Id)]);
    let ours = about(C2S, Role::Request, None);
    let theirs = names.read(r#"{"id":"request-1"}"#, &about(S2C, Role::Request, None));
    let places = names.read(r#"{"id":"request-2"}"#, &ours);
    for seed in 0..20 {
        let mut live = RunValues::new(C2S, false, None, seed);
        // Only one id of that form is left.
        for n in (3..10).chain([0]) {
            live.store(100 + n, Val::text(&format!("request-{n}")));
        }
        live.receive(&names, &theirs, None, r#"{"id":"request-2"}"#);
        let sent = live.rewrite(&names, r#"{"id":"request-2"}"#, &places, NOW);
        assert_eq!(sent.len(), r#"{"id":"request-10"}"#.len(), "{sent}");
    }
}

/// A request uses the live value of a text that the peer generated, even a short one, but keeps its own numbers.
#[test]
fn a_request_uses_text_ids_of_the_peer() {
    let mut names = names(&[("call", "call", Fresh::Id), ("id", "id", Fresh::Id)]);
    let made = names.read(
        r#"{"call":"c-0","id":5}"#,
        &about(S2C, Role::Notification, None),
    );
    let ask = r#"{"call":"c-0","id":5}"#;
    let asks = names.read(ask, &about(C2S, Role::Request, None));
    let mut live = RunValues::new(C2S, false, None, 1);
    live.receive(&names, &made, None, r#"{"call":"c-9","id":6}"#);
    assert_eq!(
        live.rewrite(&names, ask, &asks, NOW),
        r#"{"call":"c-9","id":5}"#
    );
}

#[test]
fn an_empty_id_stays_empty() {
    let mut names = names(&[("session", "session", Fresh::Id)]);
    let ask = r#"{"session":"","n":1}"#;
    let places = names.read(ask, &about(C2S, Role::Request, None));
    let mut live = RunValues::new(C2S, false, None, 1);
    assert_eq!(live.rewrite(&names, ask, &places, NOW), ask);
}

#[test]
fn short_ids_correspond_to_recorded_ones() {
    let mut names = names(&[("id", "call", Fresh::Id)]);
    let places = names.read(r#"{"id":"r1"}"#, &about(C2S, Role::Request, None));
    let mut live = RunValues::new(C2S, false, None, 1);
    let sent = live.rewrite(&names, r#"{"id":"r1"}"#, &places, NOW);
    let fresh = Val::text(
        sent.trim_start_matches("{\"id\":\"")
            .trim_end_matches("\"}"),
    );
    assert!(live.corresponds(&names, &Val::text("r1"), &fresh));
    assert!(!live.corresponds(&names, &Val::text("r1"), &Val::text("r")));
}

#[test]
fn text_ids_get_other_digits() {
    let mut fresh = [7u8, 250, 33, 99].into_iter().cycle();
    let mut other = |old: &str| replace_digits(old, &mut fresh);
    assert_eq!(other("ses_deadbeef01"), "ses_7a137a137a");
    assert_eq!(other("request-17"), "request-39");
    assert_eq!(other("nothing-here"), "nothing-here");
}

#[test]
fn generated_times_have_the_recorded_unit_and_form() {
    for (old, want) in [
        ("1700000000", Some("1800000000")),
        ("1700000000.25", Some("1800000000.12")),
        ("1700000000000", Some("1800000000123")),
        ("1700000000000.5", Some("1800000000123.4")),
        ("1700000000000000", Some("1800000000123456")),
        ("1700000000000000000", Some("1800000000123456789")),
        ("12", None),
    ] {
        let mut val = None;
        walk(old, &mut |_, spot| val = Some(spot.val));
        let val = val.expect("a number");
        assert_eq!(current_time(&val, old, NOW).as_deref(), want, "{old}");
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
        assert_eq!(
            current_time(&Val::text(old), old, NOW).as_deref(),
            want,
            "{old}"
        );
    }
}

/// The data of an item of lsp may have numbers, which the client does not generate.
#[test]
fn data_of_items_goes_back_as_it_came() {
    let lsp = crate::protocol::registry::find("lsp").unwrap();
    let mut names = Names::new(lsp);
    let about = |kind, subject, role, direction, request_direction| MessageInfo {
        name: MessageName {
            kind,
            subject,
            parts: &[],
        },
        role: Some(role),
        direction,
        request_direction,
    };
    let items = r#"{"jsonrpc":"2.0","id":2,"result":{"items":[{"label":"x","data":{"line":5,"character":7}}]}}"#;
    let answer = about("response", None, Role::Response, S2C, Some(C2S));
    let expected = names.read(items, &answer);
    let resolve = r#"{"jsonrpc":"2.0","id":3,"method":"completionItem/resolve","params":{"label":"x","data":{"line":5,"character":7}}}"#;
    let subject = Some("completionItem/resolve");
    let places = names.read(
        resolve,
        &about("request", subject, Role::Request, C2S, None),
    );
    for (live, wanted) in [
        (items.to_owned(), resolve.to_owned()),
        (items.replace(":7", ":9"), resolve.replace(":7", ":9")),
    ] {
        let mut values = RunValues::new(C2S, false, None, 1);
        values.receive(&names, &expected, None, &live);
        assert_eq!(values.rewrite(&names, resolve, &places, NOW), wanted);
    }
}
