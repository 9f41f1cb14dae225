//! Written messages, and refused ones.

use super::*;
use crate::protocol::tests::{of, refusals, written};

#[test]
fn envelopes_are_written() {
    for (text, id, want) in [
        (
            r#"{"method":"Barge","fields":{"call_sid":"abc"}}"#,
            Some(3_854_301_714),
            "0000 07000000 03000000 616263",
        ),
        (
            r#"{"method_id":9999,"fields":{}}"#,
            Some(9999),
            "0000 00000000",
        ),
        (
            r#"{"method":"Originate","fields":{"trunk_id":""}}"#,
            Some(1_430_677_891),
            "0100 04000000 00000000",
        ),
        (
            r#"{"struct":"BargeRequest","version":7,"compat_version":1,"fields":{"call_sid":""},"tail":{"$bin":"ff"},"after":{"$bin":"0102"}}"#,
            None,
            "0701 05000000 00000000 ff 0102",
        ),
        (
            r#"{"struct":"ListBucketsResponse","fields":{"buckets":[{"bucket_id":"a"},{"version":1,"compat_version":0,"fields":{"bucket_id":"b","pending_count":7},"tail":{"$bin":"ee"}}]}}"#,
            None,
            "0000 1f000000 02000000 0000 05000000 01000000 61 0100 0a000000 01000000 62 07000000 ee",
        ),
        (
            r#"{"struct":"ExecuteDialplanResponse","fields":{"success":{"$bool":9}}}"#,
            None,
            "",
        ),
        (
            r#"{"method_id":5,"version":2,"compat_version":1,"fields":["hi",-2,{"$bin":"ff0000"}]}"#,
            Some(5),
            "0201 0d000000 02000000 6869 feffffff ff0000",
        ),
        (
            r#"{"fields":[{"version":2,"compat_version":1,"fields":[[7]]}]}"#,
            None,
            "0000 10000000 0201 0a000000 0000 04000000 07000000",
        ),
    ] {
        let Ok((body, head)) = written(of("telequick"), text, &WriteOptions::default()) else {
            assert_eq!(want, "", "{text}");
            continue;
        };
        assert_eq!(hex::encode(body), want.replace(' ', ""), "{text}");
        assert_eq!(head.method_id, id, "{text}");
    }
}

#[test]
fn the_direction_decides_the_struct() {
    for (direction, want) in [
        (Direction::ToServer, "struct Empty has no fields"),
        (Direction::ToClient, ""),
    ] {
        let options = WriteOptions {
            direction: Some(direction),
            ..WriteOptions::default()
        };
        let text = r#"{"method":"GetActiveBuckets","fields":{"buckets":[]}}"#;
        let got = written(of("telequick"), text, &options);
        assert_eq!(got.is_err(), !want.is_empty(), "{got:?}");
    }
}

#[test]
fn wrong_messages_are_refused() {
    let texts = [
        "[]",
        "{}",
        r#"{"method":"Barge"}"#,
        r#"{"method":"Bargee","fields":{}}"#,
        r#"{"method":5,"fields":{}}"#,
        r#"{"method_id":4294967296,"fields":{}}"#,
        r#"{"method":"Barge","method_id":959835745,"fields":{}}"#,
        r#"{"method":"Barge","method_id":5,"fields":{}}"#,
        r#"{"method":"Barge","struct":"Bargain","fields":{}}"#,
        r#"{"method":"Barge","struct":"AudioFrame","fields":{}}"#,
        r#"{"method":"Barge","struct":"BargeRequest","fields":[]}"#,
        r#"{"method":"Barge","fields":{"callsid":"a"}}"#,
        r#"{"method":"Barge","fields":{"call_sid":5}}"#,
        r#"{"method":"Barge","fields":{"call_sid":"a","call_sid":"b"}}"#,
        r#"{"method":"Barge","fields":{"call_sid":"\ud800"}}"#,
        r#"{"method":"Barge","fields":{},"tail":{"$bin":"00"}}"#,
        r#"{"method":"Barge","fields":{"call_sid":"a"},"tail":"00"}"#,
        r#"{"method":"Barge","fields":{"call_sid":"a"},"note":1}"#,
        r#"{"method":"Barge","version":256,"fields":{"call_sid":"a"}}"#,
        r#"{"method":"Barge","length_mode":"auto","fields":{"call_sid":"a"}}"#,
        r#"{"method":"Originate","fields":{"to":"b"}}"#,
        r#"{"struct":"BucketInfo","fields":{"bucket_id":"b","pending_count":2147483648}}"#,
        r#"{"struct":"AudioFrame","fields":{"call_sid":"a","payload":"pcm"}}"#,
        r#"{"struct":"AudioFrame","fields":{"call_sid":"a","payload":{"$bin":"00"},"codec":"PCMU","sequence_number":-1}}"#,
        r#"{"struct":"ExecuteDialplanRequest","fields":{"call_sid":"a","action":"DANCE"}}"#,
        r#"{"struct":"ListBucketsResponse","fields":{"buckets":{}}}"#,
        r#"{"struct":"ListBucketsResponse","fields":{"buckets":[{"bucket_id":"a"},{"bucket_id":1}]}}"#,
        r#"{"struct":"ListBucketsResponse","fields":{"buckets":[{"version":0,"fields":{},"rest":1}]}}"#,
        r#"{"method_id":5,"fields":{"a":1}}"#,
        r#"{"method_id":5,"fields":["a",4294967296]}"#,
        r#"{"method_id":5,"fields":[],"tail":{"$bin":"00"}}"#,
    ];
    let table = refusals(of("telequick"), &WriteOptions::default(), &texts);
    insta::assert_snapshot!(table, @r#"
    []
      message: wanted an object, got []
    {}
      fields: wanted an object, got nothing
    {"method":"Barge"}
      fields: wanted an object, got nothing
    {"method":"Bargee","fields":{}}
      method: wanted a method of the schema, or method_id alone, got "Bargee"
    {"method":5,"fields":{}}
      method: wanted a string, got 5
    {"method_id":4294967296,"fields":{}}
      method_id: wanted an integer of 0 to 4294967295, got 4294967296
    {"method":"Barge","method_id":959835745,"fields":{}}
      method: wanted StreamEvents, as method_id says, got "Barge"
    {"method":"Barge","method_id":5,"fields":{}}
      method: wanted nothing: method_id 5 has no name, got "Barge"
    {"method":"Barge","struct":"Bargain","fields":{}}
      struct: wanted a struct of the schema, got "Bargain"
    {"method":"Barge","struct":"AudioFrame","fields":{}}
      struct: wanted BargeRequest or Empty, as Barge has, got "AudioFrame"
    {"method":"Barge","struct":"BargeRequest","fields":[]}
      fields: wanted an object with the fields of BargeRequest, got []
    {"method":"Barge","fields":{"callsid":"a"}}
      fields.callsid: wanted a field of BargeRequest: call_sid, got another name
    {"method":"Barge","fields":{"call_sid":5}}
      fields.call_sid: wanted a string, got 5
    {"method":"Barge","fields":{"call_sid":"a","call_sid":"b"}}
      fields.call_sid: wanted the field once, got it again
    {"method":"Barge","fields":{"call_sid":"\ud800"}}
      fields.call_sid: wanted text, or {"$str":"hex"} for bytes that are not text, got half of a surrogate pair
    {"method":"Barge","fields":{},"tail":{"$bin":"00"}}
      tail: wanted nothing: without all fields there is no byte after the last, got bytes
    {"method":"Barge","fields":{"call_sid":"a"},"tail":"00"}
      tail: wanted {"$bin":"hex"}, got "00"
    {"method":"Barge","fields":{"call_sid":"a"},"note":1}
      note: wanted one of method method_id struct version compat_version length_mode fields tail after, got another name
    {"method":"Barge","version":256,"fields":{"call_sid":"a"}}
      version: wanted an integer of 0 to 255, got 256
    {"method":"Barge","length_mode":"auto","fields":{"call_sid":"a"}}
      length_mode: wanted exclusive or inclusive, got "auto"
    {"method":"Originate","fields":{"to":"b"}}
      fields.trunk_id: wanted a value, since to follows, got nothing
    {"struct":"BucketInfo","fields":{"bucket_id":"b","pending_count":2147483648}}
      fields.pending_count: wanted an integer of -2147483648 to 2147483647, got 2147483648
    {"struct":"AudioFrame","fields":{"call_sid":"a","payload":"pcm"}}
      fields.payload: wanted {"$bin":"hex"}, got "pcm"
    {"struct":"AudioFrame","fields":{"call_sid":"a","payload":{"$bin":"00"},"codec":"PCMU","sequence_number":-1}}
      fields.sequence_number: wanted an integer of 0 to 18446744073709551615, got -1
    {"struct":"ExecuteDialplanRequest","fields":{"call_sid":"a","action":"DANCE"}}
      fields.action: wanted one of HANGUP PARK MUSIC_ON_HOLD PLAYBACK UNPARK_AND_BRIDGE ANSWER AI_BIDIRECTIONAL_STREAM TRANSFER MUTE UNMUTE HOLD UNHOLD SEND_DTMF SUPERVISE LOOPBACK, or a number, got "DANCE"
    {"struct":"ListBucketsResponse","fields":{"buckets":{}}}
      fields.buckets: wanted an array, got {}
    {"struct":"ListBucketsResponse","fields":{"buckets":[{"bucket_id":"a"},{"bucket_id":1}]}}
      fields.buckets[1].bucket_id: wanted a string, got 1
    {"struct":"ListBucketsResponse","fields":{"buckets":[{"version":0,"fields":{},"rest":1}]}}
      fields.buckets[0].rest: wanted one of version compat_version fields tail, got another name
    {"method_id":5,"fields":{"a":1}}
      struct: wanted a name: no schema says which struct the fields are of, got nothing
    {"method_id":5,"fields":["a",4294967296]}
      fields[1]: wanted an integer of -2147483648 to 2147483647, got 4294967296
    {"method_id":5,"fields":[],"tail":{"$bin":"00"}}
      tail: wanted nothing: guessed fields are all there is, got {"$bin":"00"}
    "#);
}
