//! Cases that a recording of a rule does not show: HTTP, batches, lost bytes and damage.

use super::JsonRpcSession;
use crate::conversation::{RuleSettings, check};
use crate::decoder::DecodeOptions;
use crate::protocol::Direction;
use crate::protocol::jsonrpc::JsonRpc;
use crate::protocol::rpc::session::RpcSession;
use crate::protocol::session::{Behavior as _, ConnectionChange};
use crate::protocol::tests::session_run::{SessionRun, at_most, on};

/// The rule and the index of each finding.
type Findings = Vec<(&'static str, u64)>;
/// The indexes of an answer and of its request.
type Pairs = Vec<(u64, u64)>;

/// Follows messages: connection, direction (`>` or `<`) and text; a text of `lost` is lost bytes. Returns the rule and
/// the index of each finding, and the pairs of answer and request.
fn found(max_open: usize, said: &[(u32, char, String)]) -> (Findings, Pairs) {
    let session = RpcSession::<JsonRpcSession>::new(&at_most(max_open));
    let mut run = SessionRun::new(&JsonRpc, session);
    for (conn, way, text) in said {
        let origin = on(
            *conn,
            match way {
                '>' => Direction::ToServer,
                _ => Direction::ToClient,
            },
        );
        if text == "lost" {
            run.event(origin, ConnectionChange::Lost);
        } else {
            run.push(origin, text);
        }
    }
    run.finish();
    (run.broken(), run.pairs())
}

fn line(conn: u32, way: char, text: &str) -> (u32, char, String) {
    (conn, way, format!("{text}\n"))
}

fn http(conn: u32, way: char, body: &str) -> (u32, char, String) {
    let start = if way == '>' {
        "POST / HTTP/1.1"
    } else {
        "HTTP/1.1 200 OK"
    };
    let length = body.len();
    let head = format!("{start}\r\ncontent-type: application/json\r\ncontent-length: {length}");
    (conn, way, format!("{head}\r\n\r\n{body}"))
}

const ASK: &str = r#"{"jsonrpc":"2.0","id":-1,"method":"a"}"#;
const ANSWER: &str = r#"{"jsonrpc":"2.0","id":-1,"result":1}"#;

#[test]
fn equal_ids_over_http_pair_on_their_connections() {
    let said = [
        http(0, '>', ASK),
        http(1, '>', ASK),
        http(1, '<', ANSWER),
        http(0, '<', ANSWER),
    ];
    assert_eq!(found(9, &said), (vec![], vec![(2, 1), (3, 0)]));
}

#[test]
fn answers_on_another_http_connection_are_paired() {
    let stream = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
    let said = [
        (0, '>', "GET / HTTP/1.1\r\nhost: a\r\n\r\n".to_owned()),
        (0, '<', stream.to_owned()),
        http(1, '>', ASK),
        (
            1,
            '<',
            "HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n".to_owned(),
        ),
        (0, '<', format!("data: {ANSWER}\n\n")),
    ];
    assert_eq!(found(9, &said), (vec![], vec![(4, 2)]));
}

/// The exchange of an answer whose id no request has shows its request.
#[test]
fn an_answer_with_another_id_is_for_the_request_of_its_exchange() {
    let get = || {
        (
            0,
            '>',
            "GET /?method=a HTTP/1.1\r\nhost: a\r\n\r\n".to_owned(),
        )
    };
    let cases = [
        // The request itself breaks a rule: it has no further finding.
        (
            http(0, '>', &ASK.replace("-1", "-1.5")),
            vec![("id-fraction", 0), ("orphan", 1)],
            vec![(1, 0)],
        ),
        (
            http(0, '>', &ASK.replace("-1", "7")),
            vec![("orphan", 1), ("unanswered", 0)],
            vec![(1, 0)],
        ),
        (get(), vec![("orphan", 1)], vec![]),
    ];
    for (asked, broken, answers) in cases {
        let found = found(9, &[asked, http(0, '<', ANSWER)]);
        assert_eq!(found, (broken, answers));
    }
}

#[test]
fn members_of_a_batch_pair_one_by_one() {
    let said = [
        line(
            0,
            '>',
            r#"[{"jsonrpc":"2.0","id":1,"method":"a"},{"jsonrpc":"2.0","id":"1","method":"b"}]"#,
        ),
        line(0, '<', r#"{"jsonrpc":"2.0","id":7,"method":"c"}"#),
        line(
            0,
            '<',
            r#"[{"jsonrpc":"2.0","id":"1","result":1},{"jsonrpc":"2.0","id":1,"result":1}]"#,
        ),
        line(0, '>', r#"{"jsonrpc":"2.0","id":7,"result":1}"#),
    ];
    assert_eq!(found(9, &said), (vec![], vec![(2, 0), (3, 1)]));
}

/// An error without an id answers a batch as a whole, if no member was answered.
#[test]
fn an_error_without_an_id_refuses_a_batch() {
    let batch = |first: u32| {
        format!(
            r#"[{{"jsonrpc":"2.0","id":{first},"method":"a"}},{{"jsonrpc":"2.0","id":{},"method":"b"}}]"#,
            first + 1
        )
    };
    let refusal = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no batches"}}"#;
    let answer = |id: u32| format!(r#"{{"jsonrpc":"2.0","id":{id},"result":1}}"#);
    let unanswered = |index| ("unanswered", index);
    let cases = [
        (
            vec![line(0, '>', &batch(1)), line(0, '<', refusal)],
            vec![],
            vec![(1, 0)],
        ),
        (
            vec![http(0, '>', &batch(1)), http(0, '<', refusal)],
            vec![],
            vec![(1, 0)],
        ),
        // Each refusal answers one batch, the oldest first.
        (
            vec![
                line(0, '>', &batch(1)),
                line(0, '>', &batch(3)),
                line(0, '<', refusal),
            ],
            vec![unanswered(1), unanswered(1)],
            vec![(2, 0)],
        ),
        // It may be about anything else.
        (
            vec![
                line(0, '>', &batch(1)),
                line(0, '<', &format!("[{}]", answer(1))),
                line(0, '<', refusal),
            ],
            vec![("batch-answer", 1), unanswered(0)],
            vec![(1, 0)],
        ),
        (
            vec![line(0, '<', &batch(1)), line(0, '<', refusal)],
            vec![unanswered(0), unanswered(0)],
            vec![],
        ),
        (
            vec![line(1, '>', &batch(1)), line(0, '<', refusal)],
            vec![unanswered(0), unanswered(0)],
            vec![],
        ),
        // The members are answered once.
        (
            vec![
                line(0, '>', &batch(1)),
                line(0, '<', refusal),
                line(0, '<', &answer(2)),
            ],
            vec![("answered-twice", 2)],
            vec![(1, 0)],
        ),
    ];
    for (said, broken, answers) in cases {
        assert_eq!(found(9, &said), (broken, answers), "{said:?}");
    }
}

/// A service that leaves the member out of all messages does not get a finding for each.
#[test]
fn a_missing_version_is_reported_once_for_each_side() {
    let ask = r#"{"id":1,"method":"a"}"#;
    let answer = r#"{"id":1,"result":1}"#;
    let said = [
        line(0, '>', ask),
        line(0, '<', answer),
        line(0, '>', ask),
        line(0, '<', answer),
        line(0, '>', &ASK.replace("2.0", "2")),
        line(1, '>', ask),
    ];
    let versions = [0, 1, 4, 5].map(|index| ("version", index));
    assert_eq!(found(9, &said), (versions.to_vec(), vec![(1, 0), (3, 2)]));
}

#[test]
fn lost_bytes_and_full_tables_cause_no_findings() {
    let lost = (0, '<', "lost".to_owned());
    let said = [
        line(0, '>', ASK),
        lost,
        line(0, '<', &ANSWER.replace("-1", "5")),
    ];
    assert_eq!(found(9, &said).0, []);
    let ask = |id: &str| line(0, '>', &ASK.replace("-1", id));
    let said = [ask("1"), ask("2"), line(0, '<', &ANSWER.replace("-1", "1"))];
    assert_eq!(found(1, &said).1, [(2, 0)]);
    // The second request is not tracked: its answer is no orphan.
    let said = [
        ask("1"),
        ask("2"),
        line(0, '<', &ANSWER.replace("-1", "1")),
        line(0, '<', &ANSWER.replace("-1", "2")),
    ];
    assert_eq!(found(1, &said), (vec![], vec![(2, 0)]));
}

fn refused(conn: u32) -> (u32, char, String) {
    let head = "HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n";
    (conn, '<', head.to_owned())
}

#[test]
fn responses_belong_to_posts_in_their_order() {
    let ask = |id: &str| http(0, '>', &ASK.replace("-1", id));
    let answer = |id: &str| http(0, '<', &ANSWER.replace("-1", id));
    let get = || (0, '>', "GET / HTTP/1.1\r\nhost: a\r\n\r\n".to_owned());
    let lost = |way| (0, way, "lost".to_owned());
    let cases = [
        // Two requests are sent before the first response.
        (
            vec![ask("1"), ask("2"), refused(0), answer("2")],
            vec![("refused", 2)],
            vec![(2, 0), (3, 1)],
        ),
        (
            vec![ask("1"), ask("2"), answer("1"), refused(0)],
            vec![("refused", 3)],
            vec![(2, 0), (3, 1)],
        ),
        // A request that is not a message has its response, too.
        (
            vec![get(), ask("1"), refused(0), answer("1")],
            vec![],
            vec![(3, 1)],
        ),
        // After lost bytes, the only request has the response, but one of several may be refused.
        (
            vec![lost('<'), ask("1"), refused(0)],
            vec![("refused", 1)],
            vec![(1, 0)],
        ),
        (
            vec![lost('<'), ask("1"), ask("2"), refused(0), answer("2")],
            vec![],
            vec![(3, 1)],
        ),
    ];
    for (said, broken, answers) in cases {
        assert_eq!(found(9, &said), (broken, answers), "{said:?}");
    }
}

#[test]
fn lost_events_may_be_answers_to_requests_of_another_connection() {
    let stream = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
    let accepted = "HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n";
    for (conn, broken) in [(0, vec![]), (2, vec![("unanswered", 2)])] {
        let said = [
            (0, '>', "GET / HTTP/1.1\r\nhost: a\r\n\r\n".to_owned()),
            (0, '<', stream.to_owned()),
            http(1, '>', ASK),
            (1, '<', accepted.to_owned()),
            // Connection 2 is not one of HTTP.
            (conn, '<', "lost".to_owned()),
        ];
        assert_eq!(found(9, &said).0, broken, "{conn}");
    }
}

/// Damages the bytes of each example one after another: nothing panics.
#[test]
fn damage_never_panics() {
    for rule in JsonRpc.rules() {
        let example = rule.example().expect("an example").fires;
        let mut bytes = example.as_bytes().to_vec();
        let first = example.find('\n').unwrap_or(0);
        for at in (first..bytes.len()).step_by(13) {
            let whole = bytes[at];
            bytes[at] = whole ^ 0x10;
            let options = DecodeOptions::new(vec![&JsonRpc]);
            check(&bytes, options, RuleSettings::default());
            bytes[at] = whole;
        }
    }
}
