//! A gateway, and a client that sends audio, in scripts.

use crate::framing::Framing;
use crate::protocol::Direction;
use crate::protocol::peer::Manner;
use crate::protocol::telequick::Telequick;
use crate::protocol::tests::played::played;
use insta::assert_snapshot;

fn told(framing: Framing, side: Direction, script: &str) -> String {
    played(
        &Telequick::builtin(),
        framing,
        side,
        &Manner::default(),
        script,
    )
}

#[test]
fn a_gateway_answers_in_the_struct_of_the_method() {
    let script = r#"
        open
        ready
        < {"method":"Terminate","struct":"TerminateRequest","length_mode":"inclusive","fields":{"call_sid":"abc"}}
        result {"status":"TERMINATED"}
        error no such call
        error 1: no such trunk | {"status":"NO_TRUNK"}
        error ERR_RATE_LIMITED: slower
        error ERR_NONE: what
        item {}
        end
        result {"state":"x"}
        result 5
        < {"method":"Barge","struct":"BargeRequest","length_mode":"exclusive","fields":{"call_sid":"abc"}}
        result null
        error it cannot fail
        < {"method":"GetActiveBuckets","struct":"Empty","fields":{}}
        result {"buckets":[{"bucket_id":"b","pending_count":2}]}
        < {"method":"SuperviseSubscribe","struct":"SuperviseSubscribeRequest","fields":{"call_sid":"abc","supervisor_id":"s","tenant_id":"t","mode":0,"auth_token":"x"}}
        error you may not
        error 7: you may not
        < {"method_id":12345,"fields":[]}
        result {}
    "#;
    assert_snapshot!(told(Framing::Method, Direction::ToClient, script), @"");
}

#[test]
fn events_and_audio_are_pushed() {
    let script = r#"
        open
        < {"method":"StreamEvents","struct":"EventStreamRequest","length_mode":"inclusive","fields":{"client_id":"me"}}
        item {"call_sid":"abc","event_type":"CHANNEL_CREATE","status":"RINGING"}
        result {}
        tell CallEvent {"call_sid":"abc","event_type":2}
        tell AudioFrame {"call_sid":"abc","codec":"PCMU","payload":{"$bin":"ff00"}}
        tell AudioFrame {"call_sid":"abc","codec":"PCMU"}
        tell AudioFrame {"call_sid":"def","codec":"PCMU","sequence_number":7}
        tell AudioFrame {"call_sid":"def","codec":"PCMU","end_of_stream":true}
        tell Terminate {}
        closed
        tell AudioFrame {"call_sid":"abc"}
    "#;
    assert_snapshot!(told(Framing::Method, Direction::ToClient, script), @"");
}

#[test]
fn an_answer_may_be_an_envelope_alone() {
    let script = r#"
        < {"struct":"TerminateRequest","version":0,"compat_version":0,"fields":{"call_sid":"abc"}}
        result {"status":"TERMINATED"}
    "#;
    assert_snapshot!(told(Framing::Bare, Direction::ToClient, script), @"");
}
