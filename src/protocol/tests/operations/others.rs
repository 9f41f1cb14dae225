//! Operations of the other protocols.

use super::{check, line};
use crate::encode::{EncodeOptions, Encoder};
use crate::protocol::Direction;
use crate::protocol::make::IdGen;
use crate::protocol::peer::with_json;
use crate::protocol::tests::of;

/// Returns a writer of messages of a protocol.
fn encoded(protocol: &'static str) -> impl Fn(char, &str) -> Vec<u8> {
    move |way, text| {
        let direction = match way {
            '>' => Direction::ToServer,
            _ => Direction::ToClient,
        };
        let mut encoder = Encoder::new(EncodeOptions::new(of(protocol)), IdGen::new(1));
        let written = with_json(text, |message| encoder.message(message, Some(direction)));
        let written = written.expect("JSON");
        written
            .unwrap_or_else(|error| panic!("{text}: {error}"))
            .bytes
    }
}

#[test]
fn executes_and_runs() {
    let cases = [
        (
            "callbacks of the only execute",
            r#"
            > {"id":"1","method":"initialize","params":{"runtime_protocol_version":1}}
            < {"id":"1","result":{"server_protocol_version":1}}
            > {"method":"initialized","params":{}}
            > {"id":"2","method":"components/execute","params":{"component":"/a","input":{},"attempt":1,"observability":{}}}
            < {"id":"a","method":"blobs/put","params":{"data":1,"blob_type":"data"}}  => inside 3 inferred
            < {"id":"2","result":{"output":{}}}
            < {"id":"b","method":"blobs/put","params":{"data":1,"blob_type":"data"}}
            "#,
        ),
        (
            "callbacks whose ids are those of another run or trace",
            r#"
            > {"id":"2","method":"components/execute","params":{"component":"/a","input":{},"attempt":1,"observability":{"run_id":"r","trace_id":"t"}}}
            < {"id":"a","method":"blobs/put","params":{"data":1,"observability":{"run_id":"other"}}}
            < {"id":"b","method":"blobs/put","params":{"data":1,"observability":{"trace_id":"other"}}}
            < {"id":"c","method":"blobs/put","params":{"data":1,"observability":{"step_id":"s"}}}  => inside 0 inferred
            "#,
        ),
        (
            "callbacks by their run, while two executes run",
            r#"
            > {"id":"2","method":"components/execute","params":{"component":"/a","input":{},"attempt":1,"observability":{"run_id":"r1"}}}
            > {"id":"3","method":"components/execute","params":{"component":"/a","input":{},"attempt":1,"observability":{"run_id":"r2"}}}
            < {"id":"a","method":"blobs/put","params":{"data":1,"observability":{"run_id":"r2"}}}  => inside 1 recorded
            < {"id":"b","method":"blobs/put","params":{"data":1,"observability":{"run_id":"r3"}}}
            < {"id":"c","method":"blobs/put","params":{"data":1}}
            "#,
        ),
        (
            "two executes of a run, of different traces",
            r#"
            > {"id":"2","method":"components/execute","params":{"component":"/a","input":{},"attempt":1,"observability":{"run_id":"r","trace_id":"t1"}}}
            > {"id":"3","method":"components/execute","params":{"component":"/a","input":{},"attempt":1,"observability":{"run_id":"r","trace_id":"t2"}}}
            < {"id":"a","method":"blobs/put","params":{"data":1,"observability":{"run_id":"r"}}}
            < {"id":"b","method":"blobs/put","params":{"data":1,"observability":{"run_id":"r","trace_id":"t1"}}}  => inside 0 recorded
            "#,
        ),
        (
            "runs",
            r#"
            > {"id":"2","method":"components/execute","params":{"component":"/a","input":{},"attempt":1,"observability":{"run_id":"r1"}}}
            < {"id":"a","method":"runs/submit","params":{"flowId":"f","inputs":[],"observability":{"run_id":"r1"}}}  => inside 0 recorded
            > {"id":"a","result":{"runId":"s","flowId":"f","status":"running","items":{}}}  => goes on
            < {"id":"b","method":"runs/get","params":{"runId":"s","observability":{"run_id":"r1"}}}  => part of 1 recorded, inside 0 recorded
            > {"id":"b","result":{"runId":"s","flowId":"f","status":"completed","items":{}}}
            < {"id":"c","method":"runs/get","params":{"runId":"other"}}  => inside 0 inferred
            < {"id":"d","method":"runs/submit","params":{"flowId":"f","inputs":[],"observability":{"run_id":"r1"}}}  => inside 0 recorded
            > {"id":"d","result":{"runId":"t","flowId":"f","status":"failed","items":{}}}  => fails
            > {"id":"3","method":"components/execute","params":{"component":"/a","input":{},"attempt":1,"observability":{"run_id":"s"}}}  => inside 1 recorded
            "#,
        ),
        (
            "executes of a run whose request is open, of two of one flow, and of a flow whose request is answered",
            r#"
            > {"id":"1","method":"components/execute","params":{"component":"/a","input":{},"attempt":1,"observability":{"run_id":"r","flow_id":"g"}}}
            < {"id":"a","method":"runs/submit","params":{"flowId":"f","inputs":[],"wait":true,"observability":{"run_id":"r","flow_id":"g"}}}  => inside 0 recorded
            2> {"id":"2","method":"components/execute","params":{"component":"/b","input":{},"attempt":1,"observability":{"run_id":"s","flow_id":"f"}}}  => inside 1 inferred
            2> {"id":"3","method":"components/execute","params":{"component":"/b","input":{},"attempt":1,"observability":{"run_id":"u","flow_id":"g"}}}
            < {"id":"b","method":"runs/submit","params":{"flowId":"f","inputs":[],"wait":true,"observability":{"run_id":"r","flow_id":"g"}}}  => inside 0 recorded
            2> {"id":"4","method":"components/execute","params":{"component":"/b","input":{},"attempt":1,"observability":{"run_id":"v","flow_id":"f"}}}
            > {"id":"b","error":{"code":-32000,"message":"m"}}
            > {"id":"a","result":{"runId":"s","flowId":"f","status":"completed","items":{}}}
            2> {"id":"5","method":"components/execute","params":{"component":"/b","input":{},"attempt":1,"observability":{"run_id":"w","flow_id":"f"}}}
            "#,
        ),
        (
            "attempts of a step",
            r#"
            > {"id":"2","method":"components/execute","params":{"component":"/a","input":{},"attempt":1,"run_id":"r","step_id":"s"}}  => may retry
            > {"id":"3","method":"components/execute","params":{"component":"/a","input":{},"attempt":2,"run_id":"r","step_id":"s"}}  => part of 0 recorded, may retry
            > {"id":"4","method":"components/execute","params":{"component":"/a","input":{},"attempt":3,"run_id":"r","step_id":"s"}}  => part of 0 recorded, may retry
            > {"id":"5","method":"components/execute","params":{"component":"/a","input":{},"attempt":2,"run_id":"r","step_id":"other"}}  => may retry
            > {"id":"6","method":"components/execute","params":{"component":"/a","input":{},"attempt":2,"run_id":"r"}}
            > {"id":"7","method":"components/execute","params":{"component":"/a","input":{},"attempt":4,"observability":{"run_id":"r","step_id":"s"}}}  => part of 0 recorded, may retry
            "#,
        ),
        (
            "attempts of one step on two connections",
            r#"
            1> {"id":"1","method":"components/execute","params":{"component":"/a","input":{},"attempt":1,"run_id":"r","step_id":"s"}}  => may retry
            2> {"id":"1","method":"components/execute","params":{"component":"/a","input":{},"attempt":1,"run_id":"r","step_id":"s"}}  => may retry
            1> {"id":"2","method":"components/execute","params":{"component":"/a","input":{},"attempt":2,"run_id":"r","step_id":"s"}}  => part of 0 recorded, may retry
            2> {"id":"2","method":"components/execute","params":{"component":"/a","input":{},"attempt":2,"run_id":"r","step_id":"s"}}  => part of 1 recorded, may retry
            3> {"id":"3","method":"components/execute","params":{"component":"/a","input":{},"attempt":3,"run_id":"r","step_id":"s"}}  => may retry
            "#,
        ),
        (
            "attempts after a restart, and of a step that runs twice",
            r#"
            1> {"id":"1","method":"components/execute","params":{"component":"/a","input":{},"attempt":1,"run_id":"r","step_id":"s"}}  => may retry
            2> {"id":"1","method":"components/execute","params":{"component":"/a","input":{},"attempt":2,"run_id":"r","step_id":"s"}}  => part of 0 recorded, may retry
            2> {"id":"2","method":"components/execute","params":{"component":"/a","input":{},"attempt":1,"run_id":"r","step_id":"s"}}  => may retry
            2> {"id":"3","method":"components/execute","params":{"component":"/a","input":{},"attempt":2,"run_id":"r","step_id":"s"}}  => may retry
            "#,
        ),
    ];
    check("stepflow", line, &cases);
}

#[test]
fn calls_subscriptions_and_spans() {
    let cases = [
        (
            "a subscription",
            r#"
            > {"kind":"HEY","seq":1,"agent":{"id":"a"}}
            < {"kind":"HEY","seq":1,"session_id":"s","granted_capabilities":[]}
            > {"kind":"SUB","seq":2,"topic":"t"}
            < {"kind":"RES","seq":2,"subscriptionId":2}
            < {"kind":"EVT","seq":2,"data":1}
            > {"kind":"UNS","seq":2}  => part of 2 recorded, ends
            > {"kind":"UNS","seq":9}
            "#,
        ),
        (
            "a cancelled stream",
            r#"
            > {"kind":"HEY","seq":1,"agent":{"id":"a"}}
            < {"kind":"HEY","seq":1,"session_id":"s","granted_capabilities":[]}
            > {"kind":"INV","seq":2,"tool":"t","input":{}}
            < {"kind":"STR","seq":2,"data":1}
            > {"kind":"CAN","seq":2}  => part of 2 recorded, cancels
            > {"kind":"INV","seq":3,"tool":"t","input":{}}
            < {"kind":"RES","seq":3,"output":1}
            > {"kind":"CAN","seq":3}  => part of 5 recorded, cancels
            > {"kind":"CAN","seq":4}
            "#,
        ),
        (
            "spans",
            r#"
            > {"kind":"HEY","seq":1,"agent":{"id":"a"}}
            < {"kind":"HEY","seq":1,"session_id":"s","granted_capabilities":[]}
            > {"kind":"INV","seq":2,"tool":"t","input":{},"trace_id":"0123456789abcdef0123456789abcdef","span_id":"00000000000000a1"}
            > {"kind":"INV","seq":3,"tool":"u","input":{},"trace_id":"0123456789abcdef0123456789abcdef","span_id":"00000000000000a2","parent_span_id":"00000000000000a1"}  => inside 2 recorded
            > {"kind":"INV","seq":4,"tool":"u","input":{},"trace_id":"1123456789abcdef0123456789abcdef","span_id":"00000000000000a3","parent_span_id":"00000000000000a1"}
            < {"kind":"RES","seq":2,"output":1,"trace_id":"0123456789abcdef0123456789abcdef"}
            > {"kind":"INV","seq":5,"tool":"u","input":{},"trace_id":"0123456789abcdef0123456789abcdef","span_id":"00000000000000a4","parent_span_id":"00000000000000a1"}
            > {"kind":"INV","seq":6,"tool":"u","input":{},"trace_id":"0123456789abcdef0123456789abcdef","span_id":"00000000000000a2"}
            > {"kind":"INV","seq":7,"tool":"u","input":{},"trace_id":"0123456789abcdef0123456789abcdef","parent_span_id":"00000000000000a2"}
            "#,
        ),
    ];
    check("sael", line, &cases);
}

#[test]
fn streams_channels_and_forwarded_calls() {
    let cases = [
        (
            "a channel",
            r#"
            > {"version":1,"type":"channel","id":"a1b2c3d4-e5f6-4890-abcd-000000000001","target":"m.c","args":[]}
            > {"id":"a1b2c3d4-e5f6-4890-abcd-000000000001","seq":0,"data":"x"}  => part of 0 recorded
            < {"id":"a1b2c3d4-e5f6-4890-abcd-000000000001","seq":0,"data":"x"}
            < {"id":"a1b2c3d4-e5f6-4890-abcd-000000000001","close":true}
            > {"id":"a1b2c3d4-e5f6-4890-abcd-000000000002","seq":1,"data":"x"}
            > {"id":"a1b2c3d4-e5f6-4890-abcd-000000000001","close":true}  => part of 0 recorded, ends
            "#,
        ),
        (
            "a channel whose items are acknowledged",
            r#"
            > {"version":1,"type":"channel","id":"a1b2c3d4-e5f6-4890-abcd-000000000001","target":"m.c","args":[]}
            < {"id":"a1b2c3d4-e5f6-4890-abcd-000000000001","ok":true}
            > {"version":1,"type":"channel","id":"a1b2c3d4-e5f6-4890-abcd-000000000001","target":"m.c","args":[1]}  => part of 0 recorded, item
            < {"id":"a1b2c3d4-e5f6-4890-abcd-000000000001","ok":true}  => 0 unacknowledged
            > {"version":1,"type":"channel","id":"a1b2c3d4-e5f6-4890-abcd-000000000001","target":"m.c","args":[2]}  => part of 0 recorded, item, 1 unacknowledged
            > {"version":1,"type":"channel","id":"a1b2c3d4-e5f6-4890-abcd-000000000001","target":"m.c","args":[3]}  => part of 0 recorded, item, 2 unacknowledged
            "#,
        ),
        (
            "a call that the runtime forwards",
            r#"
            1> {"version":1,"type":"call","id":"a1b2c3d4-e5f6-4890-abcd-000000000001","target":"m.c","args":[]}
            2< {"version":1,"type":"call","id":"a1b2c3d4-e5f6-4890-abcd-000000000001","target":"m.c","args":[]}  => inside 0 recorded
            1> {"version":1,"type":"call","id":"a1b2c3d4-e5f6-4890-abcd-000000000002","target":"m.c","args":[]}
            2< {"version":1,"type":"call","id":"a1b2c3d4-e5f6-4890-abcd-000000000003","target":"m.c","args":[]}
            2< {"version":1,"type":"call","id":"a1b2c3d4-e5f6-4890-abcd-000000000002","target":"m.d","args":[]}
            1< {"id":"a1b2c3d4-e5f6-4890-abcd-000000000002","ok":true,"result":1}
            2< {"version":1,"type":"call","id":"a1b2c3d4-e5f6-4890-abcd-000000000002","target":"m.c","args":[]}
            "#,
        ),
        (
            "a call of two clients with one id",
            r#"
            1> {"version":1,"type":"call","id":"a1b2c3d4-e5f6-4890-abcd-000000000001","target":"m.c","args":[1]}
            2> {"version":1,"type":"call","id":"a1b2c3d4-e5f6-4890-abcd-000000000001","target":"m.c","args":[2]}
            3> {"version":1,"type":"call","id":"a1b2c3d4-e5f6-4890-abcd-000000000001","target":"m.d","args":[2]}
            4< {"version":1,"type":"call","id":"a1b2c3d4-e5f6-4890-abcd-000000000001","target":"m.c","args":[1]}
            1< {"id":"a1b2c3d4-e5f6-4890-abcd-000000000001","ok":true,"result":1}
            5< {"version":1,"type":"call","id":"a1b2c3d4-e5f6-4890-abcd-000000000001","target":"m.c","args":[2]}  => inside 1 recorded
            6< {"version":1,"type":"call","id":"a1b2c3d4-e5f6-4890-abcd-000000000001","target":"m.d","args":[2]}  => inside 2 recorded
            "#,
        ),
        (
            "the items of a batch",
            r#"
            1> {"version":1,"type":"batch","id":"a1b2c3d4-e5f6-4890-abcd-000000000001","target":"","args":[],"batch_items":[{"version":1,"type":"call","id":"a1b2c3d4-e5f6-4890-abcd-000000000002","target":"m.c","args":[]},{"version":1,"type":"call","id":"a1b2c3d4-e5f6-4890-abcd-000000000003","target":"m.d","args":[]}]}
            2< {"version":1,"type":"call","id":"a1b2c3d4-e5f6-4890-abcd-000000000002","target":"m.c","args":[]}  => inside 0 recorded
            2< {"version":1,"type":"call","id":"a1b2c3d4-e5f6-4890-abcd-000000000003","target":"m.c","args":[]}
            3> {"version":1,"type":"call","id":"a1b2c3d4-e5f6-4890-abcd-000000000003","target":"m.d","args":[]}
            4< {"version":1,"type":"call","id":"a1b2c3d4-e5f6-4890-abcd-000000000003","target":"m.d","args":[]}
            1< {"id":"a1b2c3d4-e5f6-4890-abcd-000000000001","ok":true,"result":[1,2]}
            4< {"version":1,"type":"call","id":"a1b2c3d4-e5f6-4890-abcd-000000000003","target":"m.d","args":[]}  => inside 3 recorded
            "#,
        ),
    ];
    check("saikuro", encoded("saikuro"), &cases);
}

#[test]
fn phone_calls() {
    let cases = [
        (
            "from the request to the end",
            r#"
            > {"method":"StreamEvents","struct":"EventStreamRequest","fields":{"client_id":"c"}}
            > {"method":"Originate","struct":"OriginateRequest","fields":{"trunk_id":"t","to":"+1"}}
            < {"method":"Originate","struct":"OriginateResponse","fields":{"call_sid":"A"}}  => goes on
            < {"method":"StreamEvents","struct":"CallEvent","fields":{"call_sid":"A","event_type":"CHANNEL_CREATE"}}  => part of 1 recorded
            > {"method":"AudioFrame","struct":"AudioFrame","fields":{"call_sid":"A"}}  => part of 1 recorded, goes on
            > {"method":"Barge","struct":"BargeRequest","fields":{"call_sid":"A"}}  => part of 1 recorded
            < {"method":"Barge","struct":"Empty","fields":{}}  => goes on
            < {"method":"StreamEvents","struct":"CallEvent","fields":{"call_sid":"A","event_type":"CHANNEL_HANGUP_COMPLETE"}}  => part of 1 recorded, ends
            "#,
        ),
        (
            "a call of another peer",
            r#"
            > {"method":"StreamEvents","struct":"EventStreamRequest","fields":{"client_id":"c"}}
            < {"method":"StreamEvents","struct":"CallEvent","fields":{"call_sid":"B","event_type":"CHANNEL_CREATE"}}
            > {"method":"Barge","struct":"BargeRequest","fields":{"call_sid":"B"}}
            > {"method":"AudioFrame","struct":"AudioFrame","fields":{"call_sid":"B"}}  => part of 2 recorded, goes on
            > {"method":"AudioFrame","struct":"AudioFrame","fields":{"call_sid":"C"}}  => goes on
            > {"method":"AudioFrame","struct":"AudioFrame","fields":{"call_sid":"C"}}  => part of 4 recorded, goes on
            > {"method":"AudioFrame","struct":"AudioFrame","fields":{"call_sid":""}}
            "#,
        ),
        (
            "events whose subscription was not seen",
            r#"
            < {"method":"StreamEvents","struct":"CallEvent","fields":{"call_sid":"D","event_type":"CHANNEL_CREATE"}}  => goes on
            < {"method":"StreamEvents","struct":"CallEvent","fields":{"call_sid":"D","event_type":"CHANNEL_ANSWER"}}  => part of 0 recorded, goes on
            < {"method":"StreamEvents","struct":"CallEvent","fields":{"call_sid":"D","event_type":"CHANNEL_HANGUP_COMPLETE"}}  => part of 0 recorded, ends
            "#,
        ),
    ];
    check("telequick", encoded("telequick"), &cases);
}
