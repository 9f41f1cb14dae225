//! Messages that are refused before writing.

use super::KINDS;
use super::{MESSAGES, form, forms};
use crate::protocol::Direction;
use crate::protocol::sael::message::role;
use crate::protocol::schema::check::fits;
use crate::protocol::tests::heads::each_fixture;
use crate::protocol::tests::{of, refusals, written};
use crate::protocol::{MessageForm, Role, WriteOptions};
use crate::tape::Node;

#[test]
fn the_header_form_writes_the_kind_in_the_header() {
    let form = |kind: &[u8; 3], packed| WriteOptions {
        form: MessageForm::Header {
            version: 1,
            kind: *kind,
            packed,
        },
        ..WriteOptions::default()
    };
    for (kind, packed, text, want) in [
        (b"BYE", false, "null", Ok("01425945")),
        (b"BYE", false, "{}", Ok("01425945")),
        (
            b"LST",
            false,
            r#"{"seq":1}"#,
            Ok("014c53547b22736571223a317d"),
        ),
        (b"LST", true, r#"{"seq":1}"#, Ok("014c535481a373657101")),
        (
            b"LST",
            false,
            "null",
            Err("seq: wanted an integer of 1 to 2^53-1, got nothing"),
        ),
        (
            b"BYE",
            false,
            r#"{"kind":"HEY"}"#,
            Err(r#"kind: wanted "BYE", as the header says, got "HEY""#),
        ),
        (b"LST", false, "5", Err("message: wanted an object, got 5")),
    ] {
        let got = written(of("sael"), text, &form(kind, packed));
        let got = got.map(|(body, _)| hex::encode(body));
        assert_eq!(got.as_deref().map_err(|e| &e[..]), want, "{text}");
    }
}

#[test]
fn wrong_messages_are_refused() {
    let texts = [
        "[]",
        "{}",
        r#"{"kind":"XYZ"}"#,
        r#"{"kind":5}"#,
        r#"{"kind":"HEY"}"#,
        r#"{"kind":"HEY","agent":"a"}"#,
        r#"{"kind":"HEY","agent":{}}"#,
        r#"{"kind":"HEY","agent":{"id":"a"},"auth":{"token":"t"}}"#,
        r#"{"kind":"HEY","server":{"name":"s"}}"#,
        r#"{"kind":"HEY","resumed":true,"session_id":"s"}"#,
        r#"{"kind":"RSM","session_id":"s"}"#,
        r#"{"kind":"LST"}"#,
        r#"{"kind":"LST","seq":0}"#,
        r#"{"kind":"INV","seq":"1","tool":"t"}"#,
        r#"{"kind":"INV","seq":9007199254740992,"tool":"t"}"#,
        r#"{"kind":"INV","seq":1}"#,
        r#"{"kind":"INV","seq":1,"tool":"t","input":[]}"#,
        r#"{"kind":"INV","seq":1,"tool":"t","pipeline":[{"tool":"t"}]}"#,
        r#"{"kind":"INV","seq":1,"pipeline":[{"tool":"t"},{"filter":"a","map":[]}]}"#,
        r#"{"kind":"INV","seq":1,"pipeline":[{"parallel":[[{"map":[]}],[5]]}]}"#,
        r#"{"kind":"SUB","seq":1}"#,
        r#"{"kind":"HBT","ts":"now"}"#,
        r#"{"kind":"RES","seq":1}"#,
        r#"{"kind":"STR","seq":1,"data":1,"delta":{}}"#,
        r#"{"kind":"ERR","seq":0}"#,
        r#"{"kind":"EVT","seq":1}"#,
        r#"{"kind":"WIN","window":-1}"#,
        r#"{"v":"1","kind":"BYE"}"#,
    ];
    let table = refusals(of("sael"), &WriteOptions::default(), &texts);
    insta::assert_snapshot!(table, @r#"
    []
      message: wanted an object, got []
    {}
      kind: wanted one of HEY RSM LST INV SUB UNS CAN ACK HBT BYE RES STR END ERR EVT WIN HBA, got nothing
    {"kind":"XYZ"}
      kind: wanted one of HEY RSM LST INV SUB UNS CAN ACK HBT BYE RES STR END ERR EVT WIN HBA, got "XYZ"
    {"kind":5}
      kind: wanted one of HEY RSM LST INV SUB UNS CAN ACK HBT BYE RES STR END ERR EVT WIN HBA, got 5
    {"kind":"HEY"}
      agent: wanted an object, got nothing
    {"kind":"HEY","agent":"a"}
      agent: wanted an object, got "a"
    {"kind":"HEY","agent":{}}
      agent.id: wanted a string, got nothing
    {"kind":"HEY","agent":{"id":"a"},"auth":{"token":"t"}}
      auth.type: wanted a string, got nothing
    {"kind":"HEY","server":{"name":"s"}}
      server.id: wanted a string, got nothing
    {"kind":"HEY","resumed":true,"session_id":"s"}
      replayed: wanted an integer of 0 or more, got nothing
    {"kind":"RSM","session_id":"s"}
      last_seq_received: wanted an integer of 0 or more, got nothing
    {"kind":"LST"}
      seq: wanted an integer of 1 to 2^53-1, got nothing
    {"kind":"LST","seq":0}
      seq: wanted an integer of 1 to 2^53-1, got 0
    {"kind":"INV","seq":"1","tool":"t"}
      seq: wanted an integer of 1 to 2^53-1, got "1"
    {"kind":"INV","seq":9007199254740992,"tool":"t"}
      seq: wanted an integer of 1 to 2^53-1, got 9007199254740992
    {"kind":"INV","seq":1}
      tool: wanted a string, got nothing
    {"kind":"INV","seq":1,"tool":"t","input":[]}
      input: wanted an object, got []
    {"kind":"INV","seq":1,"tool":"t","pipeline":[{"tool":"t"}]}
      tool: wanted nothing: a pipeline is present, got "t"
    {"kind":"INV","seq":1,"pipeline":[{"tool":"t"},{"filter":"a","map":[]}]}
      pipeline[1].map: wanted nothing beside filter, got one
    {"kind":"INV","seq":1,"pipeline":[{"parallel":[[{"map":[]}],[5]]}]}
      pipeline[0].parallel[1][0]: wanted an object, got 5
    {"kind":"SUB","seq":1}
      topic: wanted a string, got nothing
    {"kind":"HBT","ts":"now"}
      ts: wanted a number, got "now"
    {"kind":"RES","seq":1}
      output: wanted a value, or subscriptionId, got nothing
    {"kind":"STR","seq":1,"data":1,"delta":{}}
      delta: wanted nothing beside data, got one
    {"kind":"ERR","seq":0}
      code: wanted a string, got nothing
    {"kind":"EVT","seq":1}
      data: wanted a value, got nothing
    {"kind":"WIN","window":-1}
      window: wanted an integer of 0 or more, got -1
    {"v":"1","kind":"BYE"}
      v: wanted an integer of 0 or more, got "1"
    "#);
}

/// The head reader finds the kinds, ids and subjects of the schema.
#[test]
fn the_head_reader_agrees_with_the_schema() {
    for message in MESSAGES {
        let known = KINDS.iter().any(|kind| kind.name == message.name);
        assert!(known, "{}", message.name);
    }
    each_fixture("sael", 100, &mut |line, root| {
        let kind = line["kind"].as_str().unwrap_or_default();
        let Some(form) = form(forms(kind).iter().copied(), root) else {
            assert!(KINDS.iter().all(|known| known.name != kind), "{line}");
            return;
        };
        let member = |name: &str| root.get(name).and_then(Node::text);
        let subject = match form.recipe.unwrap_or(kind) {
            "PIPELINE" => Some("pipeline".into()),
            "INV" => member("tool"),
            "SUB" => member("topic"),
            _ => None,
        };
        if matches!(kind, "INV" | "SUB") {
            assert_eq!(line["subject"].as_str(), subject.as_deref(), "{line}");
        }
        let answers = form.direction == Direction::ToClient && kind == "LST";
        assert_eq!(
            line["role"] == "response",
            kind == "RES" || answers,
            "{line}"
        );
        let id = root.get("seq").and_then(Node::as_i128);
        let reported = line["id"].as_i64().map(i128::from);
        assert!(id == reported || reported.is_none(), "{line}");
        assert!(id == reported || !fits(root, &form.ty), "{line}");
    });
}

#[test]
fn roles_equal_those_of_the_schema() {
    for kind in KINDS.iter() {
        // The role of LST depends on its content.
        let wanted = kind.role.unwrap_or(Role::Request);
        assert_eq!(role(&kind.name), Some(wanted), "{}", kind.name);
    }
    for name in ["", "HE", "HEYS", "hey", "XXX"] {
        assert_eq!(role(name), None, "{name}");
    }
}
