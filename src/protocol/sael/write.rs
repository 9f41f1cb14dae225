//! One message, checked and written in any of its three forms.

use crate::encoding::lossless::quote;
use crate::error::Refusal;
use crate::protocol::check::{
    self, ANY, ARRAY, BOOL, Member, OBJECT, Sort, TEXT, each, may, must, object, or_null, sort,
};
use crate::protocol::{Form, WriteOptions, Written};
use crate::tape::{Node, Scalar, Value};

/// Writes a message.
pub(super) fn write(
    message: Node<'_>,
    options: &WriteOptions,
    out: &mut Vec<u8>,
) -> Result<Written, Refusal> {
    let force = options.force;
    let start = out.len();
    let Form::Header {
        version,
        kind,
        packed,
    } = options.form
    else {
        let check = |root: Node<'_>| check(root, None);
        return if options.form == Form::MessagePack {
            check::write_msgpack(message, force, check, out)
        } else {
            check::write_json(message, force, check, out)
        };
    };
    let name = String::from_utf8_lossy(&kind).into_owned();
    let check = |root: Node<'_>| check(root, Some(&name));
    out.push(version);
    out.extend_from_slice(&kind);
    let empty = message.is_null() || message.is_map() && message.children().next().is_none();
    let written = if empty {
        // Nothing is spelled as nothing; what the kind asks for may still be missing.
        let checked = if force { Ok(()) } else { check(message) };
        checked.map(|()| Written::default())
    } else if packed {
        check::write_msgpack(message, force, check, out)
    } else {
        check::write_json(message, force, check, out)
    };
    if written.is_err() {
        out.truncate(start);
    }
    written
}

/// Numbers beyond 2^53 do not survive the readers, which take every number as a float.
const SAFE: i128 = (1 << 53) - 1;

const SEQ: Sort = sort("an integer of 1 to 2^53-1", |n| {
    n.as_i128().is_some_and(|v| (1..=SAFE).contains(&v))
});
/// What answers no request, or one without a number, has 0.
const SEQ_OR_0: Sort = sort("an integer of 0 to 2^53-1", |n| {
    n.as_i128().is_some_and(|v| (0..=SAFE).contains(&v))
});
const COUNT: Sort = sort("an integer of 0 or more", |n| {
    n.as_i128().is_some_and(|v| v >= 0)
});
const NUMBER: Sort = sort("a number", |n| {
    let value = n.value();
    let float = matches!(value, Value::Scalar(Scalar::F32(_) | Scalar::F64(_)));
    float || n.number_text().is_some() || n.as_i128().is_some()
});

/// What every message may have.
const COMMON: &[Member] = &[
    may("v", COUNT),
    or_null("trace_id", TEXT),
    or_null("span_id", TEXT),
    or_null("parent_span_id", TEXT),
];
const HEY_CLIENT: &[Member] = &[
    must("agent", OBJECT),
    or_null("supports", ARRAY),
    or_null("auth", OBJECT),
    or_null("capabilities", ARRAY),
];
const AGENT: &[Member] = &[
    must("id", TEXT),
    or_null("kind", TEXT),
    or_null("name", TEXT),
];
const AUTH: &[Member] = &[must("type", TEXT), or_null("token", TEXT)];
const HEY_SERVER: &[Member] = &[
    must("server", OBJECT),
    or_null("session_id", TEXT),
    or_null("granted_capabilities", ARRAY),
];
const SERVER: &[Member] = &[must("id", TEXT)];
const HEY_RESUMED: &[Member] = &[
    must("resumed", BOOL),
    must("session_id", TEXT),
    must("replayed", COUNT),
];
/// The members of each kind; HEY and what is in a pipeline have rules of their own.
const KINDS: &[(&str, &[Member])] = &[
    (
        "RSM",
        &[must("session_id", TEXT), must("last_seq_received", COUNT)],
    ),
    (
        "LST",
        &[
            must("seq", SEQ),
            or_null("tools", ARRAY),
            may("types", OBJECT),
        ],
    ),
    (
        "INV",
        &[
            must("seq", SEQ),
            may("tool", TEXT),
            or_null("input", OBJECT),
            may("pipeline", ARRAY),
            may("via", TEXT),
        ],
    ),
    (
        "SUB",
        &[
            must("seq", SEQ),
            must("topic", TEXT),
            or_null("filter", OBJECT),
        ],
    ),
    ("UNS", &[must("seq", SEQ)]),
    ("CAN", &[must("seq", SEQ)]),
    ("ACK", &[]),
    ("HBT", &[must("ts", NUMBER)]),
    ("BYE", &[]),
    ("RES", &[must("seq", SEQ_OR_0), or_null("cost", OBJECT)]),
    ("STR", &[must("seq", SEQ_OR_0)]),
    ("END", &[must("seq", SEQ_OR_0), or_null("cost", OBJECT)]),
    (
        "ERR",
        &[
            must("seq", SEQ_OR_0),
            must("code", TEXT),
            or_null("message", TEXT),
            or_null("stage", COUNT),
            or_null("retry_after_ms", COUNT),
        ],
    ),
    ("EVT", &[must("seq", SEQ), must("data", ANY)]),
    (
        "WIN",
        &[must("window", COUNT), or_null("retry_after_ms", COUNT)],
    ),
    ("HBA", &[may("ts", ANY)]),
];
/// What a stage of a pipeline does, one of these.
const STAGES: [&str; 5] = ["tool", "filter", "map", "reduce", "parallel"];

/// Checks a message; in the header form the kind stands before it.
fn check(root: Node<'_>, header: Option<&str>) -> Result<(), Refusal> {
    let inside = root.get("kind");
    let kind = match (header, inside) {
        (Some(header), Some(node)) if !node.is_text(header) => {
            let wanted = format!("\"{header}\", as the header says");
            return Err(Refusal::new("kind", wanted, quote(node)));
        }
        (Some(header), _) => header.to_owned(),
        (None, None) if root.is_map() => return Err(Refusal::new("kind", kinds(), "nothing")),
        (None, None) => return check::be(root, OBJECT),
        (None, Some(node)) => node.text().unwrap_or_default().into_owned(),
    };
    // With a header, a message without members is none.
    if !root.is_null() || header.is_none() {
        object(root, COMMON)?;
    }
    let rules = KINDS.iter().find(|(name, _)| *name == kind);
    let found = |name: &str| root.get(name);
    match (kind.as_str(), rules) {
        ("HEY", _) => return hello(root),
        (_, Some((_, rules))) => check::members(&found, rules)?,
        (_, None) => {
            let got = inside.map_or(kind, quote);
            return Err(Refusal::new("kind", kinds(), got));
        }
    }
    match kind.as_str() {
        "INV" => invoke(root),
        "RES" => one_of(root, &["output", "subscriptionId"]),
        "STR" => one_of(root, &["data", "delta"]),
        _ => Ok(()),
    }
}

fn kinds() -> String {
    let names: Vec<_> = super::KINDS.iter().map(|kind| kind.name).collect();
    format!("one of {}", names.join(" "))
}

fn hello(root: Node<'_>) -> Result<(), Refusal> {
    let inner = |name: &str, rules| match root.get(name).filter(|n| !n.is_null()) {
        Some(node) => object(node, rules).map_err(|r| r.inside(name)),
        None => Ok(()),
    };
    if root.get("server").is_some() {
        object(root, HEY_SERVER)?;
        inner("server", SERVER)
    } else if root.get("resumed").is_some() {
        object(root, HEY_RESUMED)
    } else {
        object(root, HEY_CLIENT)?;
        inner("agent", AGENT)?;
        inner("auth", AUTH)
    }
}

fn invoke(root: Node<'_>) -> Result<(), Refusal> {
    let pipeline = root.get("pipeline").filter(|p| p.at(0).is_some());
    match (root.get("tool"), pipeline) {
        (Some(_), Some(_)) => {
            let wanted = "nothing beside a pipeline";
            Err(Refusal::new("tool", wanted, "one"))
        }
        (None, None) => Err(Refusal::new("tool", "a string, or a pipeline", "nothing")),
        (Some(_), None) => Ok(()),
        (None, Some(stages)) => each(stages, stage).map_err(|r| r.inside("pipeline")),
    }
}

fn stage(stage: Node<'_>) -> Result<(), Refusal> {
    object(stage, &[may("tool", TEXT), may("filter", TEXT)])?;
    let found = STAGES.iter().filter(|name| stage.get(name).is_some());
    if found.count() != 1 {
        let wanted = format!("one of {}", STAGES.join(" "));
        return Err(Refusal::whole(wanted, quote(stage)));
    }
    let Some(branches) = stage.get("parallel") else {
        return Ok(());
    };
    let branch = |branch| each(branch, self::stage);
    each(branches, branch).map_err(|r| r.inside("parallel"))
}

/// Exactly one of two members.
fn one_of(root: Node<'_>, names: &[&str; 2]) -> Result<(), Refusal> {
    let found = names.iter().filter(|name| root.get(name).is_some());
    match found.count() {
        0 => Err(Refusal::new(
            names[0],
            format!("a value, or {}", names[1]),
            "nothing",
        )),
        1 => Ok(()),
        _ => Err(Refusal::new(
            names[1],
            format!("nothing beside {}", names[0]),
            "one",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::tests::{of, refusals, written};

    #[test]
    fn the_header_form() {
        let form = |kind: &[u8; 3], packed| WriteOptions {
            form: Form::Header {
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
    fn wrong_messages() {
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
          tool: wanted a string, or a pipeline, got nothing
        {"kind":"INV","seq":1,"tool":"t","input":[]}
          input: wanted an object, got []
        {"kind":"INV","seq":1,"tool":"t","pipeline":[{"tool":"t"}]}
          tool: wanted nothing beside a pipeline, got one
        {"kind":"INV","seq":1,"pipeline":[{"tool":"t"},{"filter":"a","map":[]}]}
          pipeline[1]: wanted one of tool filter map reduce parallel, got {"filter":"a","map":[]}
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
}
