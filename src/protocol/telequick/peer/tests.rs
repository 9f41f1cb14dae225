//! Scripts for a gateway, and for a client that sends audio.

use crate::framing::Framing;
use crate::protocol::Direction;
use crate::protocol::peer::PeerConfig;
use crate::protocol::telequick::Telequick;
use crate::protocol::tests::script::run_script;
use insta::assert_snapshot;

fn run(framing: Framing, side: Direction, script: &str) -> String {
    run_script(
        &Telequick::builtin(),
        framing,
        side,
        &PeerConfig::default(),
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
        result {"timestamp_ms":"now"}
        item {}
        end
        result {"state":"x"}
        result 5
        < {"method":"Barge","struct":"BargeRequest","length_mode":"exclusive","fields":{"call_sid":"abc"}}
        result null
        error it cannot fail
        < {"method":"GetActiveBuckets","struct":"Empty","fields":{}}
        result {"buckets":[{"bucket_id":"b","pending_count":2}]}
        < {"method":"SuperviseSubscribe","method_id":2856173042,"struct":"SuperviseSubscribeRequest","fields":{"call_sid":"abc","supervisor_id":"s","tenant_id":"t","mode":0,"auth_token":"x"}}
        error you may not
        error 7: you may not
        < {"method_id":12345,"fields":[]}
        result {}
    "#;
    assert_snapshot!(run(Framing::Method, Direction::ToClient, script), @r#"
    open
    ready
        Ready
    < {"method":"Terminate","struct":"TerminateRequest","length_mode":"inclusive","fields":{"call_sid":"abc"}}
    result {"status":"TERMINATED"}
        1> {"method":"Terminate","method_id":3834253405,"struct":"TerminateResponse","version":0,"compat_version":0,"length_mode":"inclusive","fields":{"call_sid":"abc","status":"TERMINATED","error_message":"","error_code":0,"timestamp_ms":1700000000000}}
    error no such call
        1> {"method":"Terminate","method_id":3834253405,"struct":"TerminateResponse","version":0,"compat_version":0,"length_mode":"inclusive","fields":{"call_sid":"abc","status":"FAILED","error_message":"no such call","error_code":"ERR_INTERNAL_ERROR","timestamp_ms":1700000000000}}
        ! unasked: TerminateResponse of Terminate belongs to no request: no such request is open
    error 1: no such trunk | {"status":"NO_TRUNK"}
        1> {"method":"Terminate","method_id":3834253405,"struct":"TerminateResponse","version":0,"compat_version":0,"length_mode":"inclusive","fields":{"call_sid":"abc","status":"NO_TRUNK","error_message":"no such trunk","error_code":1,"timestamp_ms":1700000000000}}
        ! unasked: TerminateResponse of Terminate belongs to no request: no such request is open
    error ERR_RATE_LIMITED: slower
        1> {"method":"Terminate","method_id":3834253405,"struct":"TerminateResponse","version":0,"compat_version":0,"length_mode":"inclusive","fields":{"call_sid":"abc","status":"FAILED","error_message":"slower","error_code":"ERR_RATE_LIMITED","timestamp_ms":1700000000000}}
        ! unasked: TerminateResponse of Terminate belongs to no request: no such request is open
    error ERR_NONE: what
        refused: fields.error_code: wanted one of SUCCESS ERR_INVALID_TRUNK ERR_INVALID_DESTINATION ERR_RATE_LIMITED ERR_CIRCUIT_BREAKER ERR_INTERNAL_ERROR ERR_VALIDATION_FAILED ERR_UNAUTHORIZED, or a number, got "ERR_NONE"
    result {"timestamp_ms":"now"}
        refused: fields.timestamp_ms: wanted an integer of -9223372036854775808 to 9223372036854775807, got "now"
    item {}
        refused: reply: wanted result, error or tell: it has one answer, got item
    end
        refused: reply: wanted result, error or tell: it has one answer, got end
    result {"state":"x"}
        refused: fields: wanted a field of TerminateResponse: call_sid status error_message error_code timestamp_ms, got `state`
    result 5
        refused: result: wanted a JSON object, got `5`
    < {"method":"Barge","struct":"BargeRequest","length_mode":"exclusive","fields":{"call_sid":"abc"}}
    result null
        1> {"method":"Barge","method_id":3854301714,"struct":"Empty","version":0,"compat_version":0,"length_mode":"exclusive","fields":{}}
        ! flavour-change: length is exclusive, but frames of this kind have inclusive lengths since #1
    error it cannot fail
        refused: error: wanted a method that can fail, got Barge, whose answer has no place for one
    < {"method":"GetActiveBuckets","struct":"Empty","fields":{}}
    result {"buckets":[{"bucket_id":"b","pending_count":2}]}
        1> {"method":"GetActiveBuckets","method_id":2624504207,"struct":"ListBucketsResponse","version":0,"compat_version":0,"length_mode":"exclusive","fields":{"buckets":[{"bucket_id":"b","pending_count":2}]}}
    < {"method":"SuperviseSubscribe","method_id":2856173042,"struct":"SuperviseSubscribeRequest","fields":{"call_sid":"abc","supervisor_id":"s","tenant_id":"t","mode":0,"auth_token":"x"}}
    error you may not
        1> {"method":"SuperviseSubscribe","method_id":2856173042,"struct":"SuperviseSubscribeResponse","version":0,"compat_version":0,"length_mode":"exclusive","fields":{"status":"FAILED","error_message":"you may not"}}
        ! disputed-id: method id 2856173042 is not the standard id of SuperviseSubscribe, 425376200
    error 7: you may not
        refused: code: wanted nothing, got `7`: SuperviseSubscribeResponse has none
    < {"method_id":12345,"fields":[]}
    result {}
        refused: reply: wanted a request of a method that the schema has, got unknown
    "#);
}

#[test]
fn events_and_audio_are_pushed() {
    let script = r#"
        open
        < {"method":"StreamEvents","struct":"EventStreamRequest","length_mode":"inclusive","fields":{"client_id":"me"}}
        item {"call_sid":"abc","event_type":"CHANNEL_CREATE","status":"RINGING"}
        result {}
        tell CallEvent {"call_sid":"abc","event_type":2}
        tell AudioFrame {"call_sid":"abc","codec":"PCM16","payload":{"$bin":"ff00"}}
        tell AudioFrame {"call_sid":"abc","codec":"PCM16","payload":{"$bin":"0102"}}
        tell AudioFrame {"call_sid":"def","codec":"PCMU","sequence_number":7}
        tell AudioFrame {"call_sid":"def","codec":"PCMU","end_of_stream":true}
        tell Terminate {}
        closed
        tell AudioFrame {"call_sid":"abc"}
    "#;
    assert_snapshot!(run(Framing::Method, Direction::ToClient, script), @r#"
    open
    < {"method":"StreamEvents","struct":"EventStreamRequest","length_mode":"inclusive","fields":{"client_id":"me"}}
    item {"call_sid":"abc","event_type":"CHANNEL_CREATE","status":"RINGING"}
        1> {"method":"StreamEvents","method_id":959835745,"struct":"CallEvent","version":0,"compat_version":0,"length_mode":"exclusive","fields":{"call_sid":"abc","event_type":"CHANNEL_CREATE","status":"RINGING","start_timestamp_ms":0,"q850_cause":0,"recording_url":"","duration_seconds":0,"answer_timestamp_ms":0,"end_timestamp_ms":0,"packets_sent":0,"packets_received":0,"packets_lost":0,"bytes_sent":0,"jitter_ms":0.0,"estimated_mos":0.0,"trunk_id":"","tenant_id":"","codec":"","timestamp_ms":1700000000000,"client_id":"me"}}
    result {}
        refused: reply: wanted item or tell: it is pushed, and has no end, got result
    tell CallEvent {"call_sid":"abc","event_type":2}
        1> {"method":"StreamEvents","method_id":959835745,"struct":"CallEvent","version":0,"compat_version":0,"length_mode":"exclusive","fields":{"call_sid":"abc","event_type":2,"status":"","start_timestamp_ms":0,"q850_cause":0,"recording_url":"","duration_seconds":0,"answer_timestamp_ms":0,"end_timestamp_ms":0,"packets_sent":0,"packets_received":0,"packets_lost":0,"bytes_sent":0,"jitter_ms":0.0,"estimated_mos":0.0,"trunk_id":"","tenant_id":"","codec":"","timestamp_ms":1700000000000,"client_id":"me"}}
    tell AudioFrame {"call_sid":"abc","codec":"PCM16","payload":{"$bin":"ff00"}}
        1> {"method":"AudioFrame","method_id":2991054320,"struct":"AudioFrame","version":0,"compat_version":0,"length_mode":"exclusive","fields":{"call_sid":"abc","payload":{"$bin":"ff00"},"codec":"PCM16","sequence_number":0,"end_of_stream":false}}
    tell AudioFrame {"call_sid":"abc","codec":"PCM16","payload":{"$bin":"0102"}}
        1> {"method":"AudioFrame","method_id":2991054320,"struct":"AudioFrame","version":0,"compat_version":0,"length_mode":"exclusive","fields":{"call_sid":"abc","payload":{"$bin":"0102"},"codec":"PCM16","sequence_number":1,"end_of_stream":false}}
    tell AudioFrame {"call_sid":"def","codec":"PCMU","sequence_number":7}
        1> {"method":"AudioFrame","method_id":2991054320,"struct":"AudioFrame","version":0,"compat_version":0,"length_mode":"exclusive","fields":{"call_sid":"def","payload":{"$bin":""},"codec":"PCMU","sequence_number":7,"end_of_stream":false}}
        ! audio-empty: payload is empty, but end_of_stream is not set
    tell AudioFrame {"call_sid":"def","codec":"PCMU","end_of_stream":true}
        1> {"method":"AudioFrame","method_id":2991054320,"struct":"AudioFrame","version":0,"compat_version":0,"length_mode":"exclusive","fields":{"call_sid":"def","payload":{"$bin":""},"codec":"PCMU","sequence_number":8,"end_of_stream":true}}
    tell Terminate {}
        refused: tell: wanted what is pushed: StreamEvents AudioFrame, got `Terminate`
    closed
    tell AudioFrame {"call_sid":"abc"}
        1> {"method":"AudioFrame","method_id":2991054320,"struct":"AudioFrame","version":0,"compat_version":0,"length_mode":"exclusive","fields":{"call_sid":"abc","payload":{"$bin":""},"codec":"","sequence_number":0,"end_of_stream":false}}
        ! seq-back: sequence_number is 0; it should be 2, after #4
        ! codec-change: codec is "", but #4 has PCM16
        ! unknown-codec: codec is ""; known codecs are PCMU, PCMA, PCM16
        ! audio-empty: payload is empty, but end_of_stream is not set
    "#);
}

#[test]
fn an_answer_may_be_a_bare_envelope() {
    let script = r#"
        < {"struct":"ExecuteDialplanRequest","fields":{"call_sid":"abc","action":"PLAYBACK","app_args":"a.wav"}}
        result {"status":"PLAYING"}
        < {"struct":"TerminateRequest","fields":{"call_sid":"abc"}}
        result {"status":"TERMINATED"}
    "#;
    assert_snapshot!(run(Framing::Bare, Direction::ToClient, script), @r#"
    < {"struct":"ExecuteDialplanRequest","fields":{"call_sid":"abc","action":"PLAYBACK","app_args":"a.wav"}}
    result {"status":"PLAYING"}
        1> {"method":"ExecuteDialplan","method_id":80147304,"struct":"ExecuteDialplanResponse","version":0,"compat_version":0,"fields":{"status":"PLAYING","error_message":"","error_code":0}}
    < {"struct":"TerminateRequest","fields":{"call_sid":"abc"}}
    result {"status":"TERMINATED"}
        refused: reply: wanted a request of a method that the schema has, got unknown
    "#);
}
