//! The encoding of a body follows protocol and framing.

use super::*;
use crate::protocol::registry;
use serde_json::json;

/// Returns the body of a message as the protocol writes it in this framing.
fn body(protocol: &str, framing: Framing, message: &impl Serialize) -> Result<Vec<u8>, Refusal> {
    let mut options = EncodeOptions::new(registry::find(protocol).expect(protocol));
    options.framing = Some(framing);
    let mut frame = b"before".to_vec();
    let mut encoder = Encoder::new(options, IdGen::new(1));
    let written = encoder.write(message, Some(Direction::ToServer), &mut frame);
    let frame = frame
        .strip_prefix(b"before")
        .expect("output stays")
        .to_vec();
    match written {
        Ok(()) => Ok(frame),
        Err(refusal) => {
            assert_eq!(frame, b"", "{refusal}");
            Err(refusal)
        }
    }
}

#[test]
fn msgpack_protocols_take_what_rmp_serde_writes() {
    let call = |id: rmpv::Value| {
        let args = vec![
            rmpv::Value::F32(0.5),
            rmpv::Value::Ext(7, vec![1]),
            u64::MAX.into(),
            rmpv::Value::Binary(vec![0xff]),
        ];
        rmpv::Value::Map(vec![
            ("version".into(), 1.into()),
            ("type".into(), "call".into()),
            ("id".into(), id),
            ("target".into(), "math.add".into()),
            ("args".into(), args.into()),
        ])
    };
    let written = body("saikuro", Framing::Message, &call("a".into())).expect("a call");
    let mut exact = Vec::new();
    rmpv::encode::write_value(&mut exact, &call("a".into())).expect("a vector");
    assert_eq!(written, exact);

    // The binary messages of a WebSocket hold the same body.
    let frame = body("saikuro", Framing::WebSocket, &call("a".into())).expect("a call");
    assert_eq!(frame.len(), 2 + 4 + exact.len());

    let refusal = body("saikuro", Framing::Message, &call(5.into())).expect_err("a number");
    assert_eq!(refusal.path, "id");
}

#[test]
fn encodings_follow_protocol_and_framing() {
    let heartbeat = json!({"v": 1, "kind": "HBT", "ts": 5});
    let packed = body("sael", Framing::Prefix, &heartbeat).expect("MessagePack");
    assert_eq!(packed.get(4), Some(&0x83));
    let text = body("sael", Framing::Lines, &heartbeat).expect("JSON");
    assert_eq!(text.first(), Some(&b'{'));
    // A length before JSON: this protocol has no MessagePack.
    let shutdown = json!({"jsonrpc": "2.0", "method": "shutdown"});
    let text = body("oracle", Framing::Prefix, &shutdown).expect("JSON");
    assert_eq!(text.get(4), Some(&b'{'));
}

#[test]
fn bytes_are_bytes_in_each_encoding() {
    let bytes = Bytes(&[7, 255]);
    assert_eq!(rmp_serde::to_vec(&bytes).expect("bytes"), [0xc4, 2, 7, 255]);
    let text = serde_json::to_string(&bytes).expect("text");
    assert_eq!(text, r#"{"$bin":"07ff"}"#);
}
